"""Error detection: label sequences by hand, detectors against a plain loop, sentence scores, marks, bad input."""

import numpy as np
import pytest

import geceval
from geceval.edits.ged_labels import LABELS
from geceval.models.checkpoints import resolve
from geceval.models.detector import Detector
from geceval.scorers.ged import Ged, Settings
from geceval.scorers.impara_ged import ImparaGed
from geceval.scorers.learned.detection import in_scheme, kind_of, label_id, scheme

SOURCES = ["He go to school every days", "She like cat", "They are happy"]
GOLD = ["c i c c c i", "c i i", "c c c"]
PREDICTED = ["c i c c i c", "c i c", "c c i"]


@pytest.fixture(scope="module")
def two(make_checkpoint):
    return str(make_checkpoint(51, architecture="BertForTokenClassification", labels=LABELS[2]))


@pytest.fixture(scope="module")
def many(make_checkpoint):
    return str(make_checkpoint(52, architecture="BertForTokenClassification", labels=LABELS[25]))


def test_counts_by_hand():
    result = Ged().score(SOURCES, PREDICTED, GOLD)
    # errors found: 2 (go, like); false alarms: 2 (every, happy); missed: 2 (days, cat)
    counts = {name: result.details[name] for name in ("precision", "recall", "f", "tp", "fp", "fn")}
    assert counts == pytest.approx({"precision": 0.5, "recall": 0.5, "f": 0.5, "tp": 2, "fp": 2, "fn": 2})
    assert result.score == 0.5
    # F0.5 of each sentence: P = R = 1/2; P = 1, R = 1/2; a false alarm where nothing is wrong
    assert result.scores == pytest.approx([0.5, 1.25 * 0.5 / (0.25 + 0.5), 0.0])
    assert result.details["annotators"] == [0, 0, 0]
    assert "|prediction_kind:labels|reference_kind:labels|" in result.signature and "|nlp:unused|" in result.signature


def test_nothing_to_find_and_nothing_found():
    result = Ged().score(["a b", ""], ["c c", ""], ["c c", ""])
    assert (result.score, result.scores) == (1.0, [1.0, 1.0])


@pytest.mark.parametrize("beta", [0.5, 1.0])
def test_macro_is_that_of_the_public_scorer(beta):
    """F of the means of P and R over the classes that occur, a class without predictions having P = 0."""
    draw = np.random.default_rng(3)
    gold, predicted = draw.choice([0, 0, 0, 1, 5, 21], 60).tolist(), draw.choice([0, 0, 5, 5, 21, 24], 60).tolist()
    names = LABELS[25]
    columns = [[" ".join(names[number] for number in row)] for row in (predicted, gold)]
    expected = {}
    for number in {*gold, *predicted}:
        hits = sum(left == right == number for left, right in zip(predicted, gold, strict=True))
        p, r = hits / max(predicted.count(number), 1), hits / max(gold.count(number), 1)
        expected[names[number]] = p, r, (1 + beta**2) * p * r / (beta**2 * p + r) if p and r else 0.0
    p, r = (np.mean([row[place] for row in expected.values()]) for place in (0, 1))
    macro = (1 + beta**2) * p * r / (beta**2 * p + r)
    result = Ged(Settings(classes=25, average="macro", beta=beta)).score([" ".join(["a"] * 60)], *columns)
    assert [result.details[f"macro_{name}"] for name in ("precision", "recall", "f")] == pytest.approx([p, r, macro])
    assert result.score == pytest.approx(macro)
    by_class = result.details["by_class"]
    assert list(by_class) == sorted(expected, key=names.index)
    for name, row in expected.items():
        assert [by_class[name][figure] for figure in ("precision", "recall", "f")] == pytest.approx(row)
        assert by_class[name]["tp"] + by_class[name]["fn"] == gold.count(names.index(name))


def test_of_several_references_the_best_counts():
    result = Ged().score(["a b", "a b"], ["i c", "c i"], [["c i", "i c"], ["c i", "i c"]])
    assert (result.score, result.details["annotators"]) == (1.0, [1, 0])


def test_corrected_sentences_are_labelled_by_their_edits():
    source, better = "He go to school every days .", "He goes to school every day ."
    result = Ged(Settings(nlp="bundled")).score([source], ["He go to school every day ."], [[better]])
    # of two errors the prediction corrects one
    assert [result.details[name] for name in ("tp", "fp", "fn")] == [1, 0, 1]
    assert "|prediction_kind:corrections|reference_kind:corrections|" in result.signature
    mixed = Ged(Settings(nlp="bundled")).score([source], ["c c c c c i c"], [[better]])
    assert (mixed.score, "|prediction_kind:labels|reference_kind:corrections|" in mixed.signature) == (result.score, 1)
    typed = Ged(Settings(nlp="bundled", classes=55)).score([source], [better], [[better]])
    assert {"R:VERB:SVA", "R:NOUN:NUM"} <= set(typed.details["by_class"])


def test_insertions_at_the_end():
    columns = ["He left"], ["c i"], [["He left ."]]
    assert Ged(Settings(nlp="bundled")).score(*columns).details["tp"] == 1


def test_gold_of_an_m2_file(tmp_path):
    path = tmp_path / "gold.m2"
    path.write_text(
        "S He go home\nA 1 2|||R:VERB:SVA|||goes|||REQUIRED|||-NONE-|||0\nA 2 3|||UNK||||||REQUIRED|||-NONE-|||0\n"
        "A -1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||1\n\n"
    )
    scorer = Ged(Settings(gold_m2=str(path), classes=4))
    assert not scorer.needs_references()
    assert scorer.score(["He go home"], ["0 R 0"]).details["annotators"] == [0]
    assert scorer.score(["He go home"], ["0 0 0"]).details["annotators"] == [1]
    path.write_text("S He go home\nA 1 2|||SVA|||goes|||REQUIRED|||-NONE-|||0\n")
    with pytest.raises(ValueError, match=r"^ged: sources\[0\]: edit \(1, 2, 'goes'\) has the type 'SVA'"):
        scorer.score(["He go home"], ["0 R 0"])


def test_what_labels_mean():
    assert [label_id(text, 2) for text in ("CORRECT", "c", "0")] == [0] * 3
    assert [label_id(text, 2) for text in ("INCORRECT", "i", "1", "R:DET", "SPELL", "U")] == [1] * 6
    assert [label_id(text, 25) for text in ("R:SPELL", "SPELL", "21", "M:DET", "DET")] == [21, 21, 21, 5, 5]
    assert [label_id(text, 4) for text in ("R:SPELL", "R", "c", "3")] == [2, 2, 0, 3]
    unknown = [("2", 2), ("cat", 2), ("SPELL", 4), ("i", 25), ("SPELL", 55), ("M:SPELL", 55), ("25", 25), ("\u00b2", 4)]
    assert [label_id(*case) for case in unknown] == [None] * len(unknown)


def test_labels_are_told_from_sentences():
    assert kind_of(["c i c", "0 1", ""]) == kind_of(["CORRECT INCORRECT", "CORRECT WRONG", "CORRECT"]) == "labels"
    assert kind_of(["He goes .", "I", "She"]) == kind_of(["", " "]) == kind_of([]) == "corrections"


def test_bad_labels_are_named():
    with pytest.raises(ValueError, match=r"^ged: predictions\[1\] has 2 labels but its source has 3 tokens"):
        Ged().score(SOURCES, [PREDICTED[0], "c i", PREDICTED[2]], GOLD)
    with pytest.raises(ValueError, match=r"references\[2\]\[0\] has the label 'x' for token 1 \('are'\); with 2 cl"):
        Ged().score(SOURCES, PREDICTED, [*GOLD[:2], "c x c"])
    with pytest.raises(ValueError, match=r"predictions\[0\] has 6 labels but its source has 3"):
        Ged().score(SOURCES[2:], ["c c c c c c"], GOLD[2:])


def plain(folder, source):
    """Probabilities by the detector's own loop, which tests/models/test_detector.py holds against transformers."""
    return np.exp(Detector.load(resolve(folder)).log_probabilities([source])[0]).astype(float)


def test_a_detector_marks_the_sources(two):
    expected = [plain(two, source).argmax(axis=1) for source in SOURCES]
    marks = [" ".join(map(str, row)) for row in expected]
    result = Ged(Settings(model=two)).score(SOURCES, SOURCES, GOLD)
    assert result.scores == Ged().score(SOURCES, marks, GOLD).scores
    assert "|prediction_kind:model|" in result.signature and f"|model:{resolve(two).identity}|" in result.signature
    errors = np.concatenate([plain(two, source)[:, 1] for source in SOURCES])
    strict = Ged(Settings(model=two, threshold=float(np.median(errors)))).score(SOURCES, SOURCES, GOLD)
    assert strict.details["tp"] + strict.details["fp"] == (errors >= np.median(errors)).sum()
    everything = Ged(Settings(model=two, threshold=0.0)).score(SOURCES, SOURCES, GOLD)
    assert (everything.details["recall"], everything.details["fn"]) == (1.0, 0)


def test_a_detector_of_types(many):
    result = Ged(Settings(model=many)).score(SOURCES, SOURCES, ["0 1 0 0 0 5", "0 21 21", "0 0 0"])
    assert "|classes:25|" in result.signature
    binary = Ged(Settings(model=many, classes=2)).score(SOURCES, SOURCES, GOLD)
    assert all(binary.details[name] == result.details[name] for name in ("tp", "fp", "fn"))
    with pytest.raises(ValueError, match="its label 'ADJ' belongs to none of 4 classes; use classes=2"):
        Ged(Settings(model=many, classes=4)).score(SOURCES[2:], SOURCES[2:], ["0 0 3"])


def test_label_schemes_of_detectors(two, many, make_checkpoint):
    assert [scheme(Detector.load(resolve(folder))) for folder in (two, many)] == [2, 25]
    turned = make_checkpoint(53, architecture="BertForTokenClassification", labels=("i", "c"))
    assert in_scheme(Detector.load(resolve(turned)), 2) == [1, 0]
    numbered = Detector.load(resolve(make_checkpoint(54, architecture="BertForTokenClassification", num_labels=4)))
    assert (scheme(numbered), in_scheme(numbered, 4), in_scheme(numbered, 2)) == (4, [0, 1, 2, 3], [0, 1, 1, 1])
    worse = make_checkpoint(55, architecture="BertForTokenClassification", labels=("CORRECT", "bad", "worse"))
    other = Detector.load(resolve(worse))
    assert (scheme(other), in_scheme(other, 2)) == (2, [0, 1, 1])


def test_sentence_score_is_the_mean_log_probability(two, many, caplog):
    texts = ["the cat sat on the mat .", "dogs run", "", "a school"]
    for folder in (two, many):
        logs = [np.log(plain(folder, text)[:, 0]) for text in texts]
        expected = [row.mean() if len(row) else 0.0 for row in logs]
        scorer = Ged(Settings(task="sentence", model=folder))
        assert not scorer.needs_references()
        result = scorer.score(["the cat", "dogs runs", "the cat", ""], texts)
        assert result.scores == pytest.approx(expected, abs=1e-5)
        assert result.score == pytest.approx(np.mean(expected), abs=1e-5)
        assert scorer.bounds == (None, 0.0) and max(result.scores) <= 0.0
    assert "empty though the source is not: 1 prediction;" in caplog.text


def test_marks(two, many):
    (words, none, again) = geceval.detect(["the cat sat", "", "the cat sat"], model=two)
    assert [word.text for word in words] == ["the", "cat", "sat"] and none == [] and again == words
    assert [word.error for word in words] == pytest.approx(plain(two, "the cat sat")[:, 1].tolist(), abs=1e-5)
    assert [word.is_error for word in words] == [word.error > 0.5 for word in words]
    assert [word.is_error for word in geceval.detect(["the cat sat"], model=two, threshold=0.0)[0]] == [True] * 3
    typed = geceval.detect(["the cat sat"], model=many, threshold=0.0)[0]
    assert all(word.label in LABELS[25][1:] for word in typed)
    (binary,) = geceval.detect(["the cat sat"], model=many, classes=2, threshold=0.0)
    assert {word.label for word in binary} == {"INCORRECT"}
    with pytest.raises(TypeError, match=r"^detect: sources\[0\] must be a string, got int"):
        geceval.detect([1], model=two)


def test_a_detector_wants_the_sources_as_predictions(two):
    with pytest.raises(ValueError, match=r"^ged: predictions\[2\] is not its source: with model="):
        Ged(Settings(model=two)).score(SOURCES, [*SOURCES[:2], "They were happy"], GOLD)


WRONG = ["He go to school every days .", "I have two cat and a dog .", "She are happy because the weather are good ."]
RIGHT = ["He goes to school every day .", "I have two cats and a dog .", "She is happy because the weather is good ."]


def test_the_bundled_detectors_mark_clear_errors_and_not_their_corrections():
    for wrong, right in zip(geceval.detect(WRONG), geceval.detect(RIGHT), strict=True):
        assert any(word.is_error for word in wrong)
        assert sum(word.error for word in right) < sum(word.error for word in wrong)
    assert {word.label for row in geceval.detect(WRONG, classes=25) for word in row} & set(LABELS[25][1:])


@pytest.mark.parametrize("scorer", [Ged(Settings(task="sentence")), ImparaGed()])
def test_bundled_sentence_scores_prefer_corrections(scorer):
    better, same = scorer.score(WRONG, RIGHT), scorer.score(WRONG, WRONG)
    assert all(a > b for a, b in zip(better.scores, same.scores, strict=True))
    assert scorer.name != "impara_ged" or min(same.scores) > 0
