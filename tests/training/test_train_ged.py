"""The training script of error detectors on a tiny checkpoint, and what it learns from."""

import itertools
import json

import numpy as np
import pytest
import torch
import transformers

import geceval
import train_ged as script
from geceval.edits.edit import Edit, apply
from geceval.edits.ged_labels import LABELS
from geceval.edits.m2 import M2Sentence, read_m2, write_m2
from geceval.learning.ranked_pairs import split_by_source
from geceval.scorers.ged import Ged, Settings
from recipes.ged import Detection, Job, TokenCollator, class_scores, detection_scores, partly_corrected, read_folds

QUICK = ["--batch-size", "8", "--lr", "1e-2", "--max-length", "32", "--quiet"]


@pytest.fixture(scope="module")
def finished(corpus, base, tmp_path_factory):
    """A run with 25 classes: its folder and results."""
    folder = tmp_path_factory.mktemp("finished") / "toy-ged"
    arguments = ["--m2", str(corpus), "--init-from", str(base), "--output", str(folder), "--classes", "25"]
    assert script.main([*arguments, "--test-m2", str(corpus), "--epochs", "12", *QUICK]) == 0
    return folder, json.loads((folder / "results.json").read_text())


def test_it_learns_and_keeps_the_best_epoch(finished):
    _, results = finished
    (only,) = results["runs"]
    losses = [entry["train_loss"] for entry in only["history"]]
    assert losses[-1] < losses[0] / 2
    # of more than two classes the macro score chooses
    assert only["selection"] == max(entry["macro_f"] for entry in only["history"])
    assert results["test"]["test fold"]["f"] > 0.9  # "sit" and "run" are always wrong
    assert {entry["fold"]: entry["sentences"] for entry in results["data"]} == {
        "train": 50, "dev": 4, "test fold": 6, "toy.m2": 60}  # fmt: skip
    assert set(results["test"]["toy.m2"]["by_class"]) == {"CORRECT", "VERB:TENSE", "VERB:SVA"}
    assert results["test"]["toy.m2"]["errors"] == 120


def test_the_checkpoint_marks_errors_in_geceval(finished):
    folder, _ = finished
    words = geceval.detect(["the cat sit on mat dog run school"], model=str(folder))[0]
    names = [word.label for word in words]
    assert names == ["CORRECT"] * 2 + ["VERB:TENSE"] + ["CORRECT"] * 3 + ["VERB:SVA", "CORRECT"]


def test_the_loss_weighs_errors(make_checkpoint):
    # Against the definition, with word pieces and padding: "catz" is three pieces, of which the first has the label.
    folder = make_checkpoint(3, "BertForTokenClassification", num_labels=2)
    network = transformers.AutoModelForTokenClassification.from_pretrained(folder).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    rows = [("the catz sat", [0, 1, 0]), ("dogs", [1])]
    objective = Detection(LABELS[2], error_weight=3.0)
    batch = TokenCollator(tokenizer.pad_token_id)(list(objective.encode(rows, tokenizer, 32)))
    with torch.no_grad():
        found = objective.cost(network, batch)[0].item()
        total = weight = 0.0
        for source, labels in rows:
            encoded = tokenizer(source.split(), is_split_into_words=True, return_tensors="pt")
            logs = network(**{k: v for k, v in encoded.items() if k != "token_type_ids"}).logits[0].log_softmax(-1)
            for word, label in enumerate(labels):
                own = 3.0 if label else 1.0
                total -= own * logs[encoded.word_ids().index(word), label].item()
                weight += own
    assert found == pytest.approx(total / weight, abs=1e-5)


def test_scores_of_labels():
    gold = np.array([0, 0, 1, 2, 2, 0])
    predicted = np.array([0, 1, 1, 1, 0, 0])
    scores = detection_scores(predicted, gold, 4)
    # errors: 3 marked, 3 present, 2 of them marked
    assert (scores["precision"], scores["recall"]) == (2 / 3, 2 / 3)
    assert scores["f"] == pytest.approx(2 / 3)
    # CORRECT 2/3 2/3, class 1 1/3 1, class 2 0 0; class 3 does not occur
    assert (scores["macro_precision"], scores["macro_recall"]) == pytest.approx((1 / 3, 5 / 9))
    assert scores["macro_f"] == pytest.approx(1.25 * (1 / 3) * (5 / 9) / (0.25 / 3 + 5 / 9))
    by_class = class_scores(predicted, gold, ["CORRECT", "A", "B", "C"])
    assert set(by_class) == {"CORRECT", "A", "B"}
    assert by_class["A"] == {"precision": 1 / 3, "recall": 1.0, "f": pytest.approx(0.3846, abs=1e-4), "tokens": 1}
    columns = ["a a a a a a"], [" ".join(map(str, predicted))], [" ".join(map(str, gold))]
    metric = Ged(Settings(classes=4)).score(*columns).details  # what training reports must be what the metric says
    assert {name: metric[name] for name in scores} == pytest.approx(scores)


def test_corrected_sentences_fall_where_the_quality_estimator_has_them(corpus, tmp_path):
    # Sentences without edits, which train_impara does not read, must not move the others between the folds.
    sentences = read_m2(corpus) + [M2Sentence(f"the dog number {n} runs", {0: []}) for n in range(40)]
    write_m2(tmp_path / "mixed.m2", sentences)
    folds, tests, _ = read_folds(Job(m2=(tmp_path / "mixed.m2",)))
    rows = [(sentence.source, sentence.edits[0]) for sentence in read_m2(corpus)]
    for fold, part in zip((folds["train"], folds["dev"], tests["test fold"]), split_by_source(rows), strict=True):
        assert {source for source, labels in fold if any(labels)} == {source for source, _ in part}
    assert sum(not any(labels) for fold in (*folds.values(), *tests.values()) for _, labels in fold) == 40


LEARNER = "this are sentence with with errors"
SPANS = [(0, 1, "These"), (2, 2, "a"), (2, 3, "long sentence"), (4, 5, ""), (6, 6, ". Indeed .")]
CORRECTIONS = [Edit(*span) for span in SPANS]


def test_what_is_made_and_what_is_left_give_the_full_correction():
    full = apply(LEARNER, CORRECTIONS)
    assert full == "These are a long sentence with errors . Indeed ."
    for size in range(len(CORRECTIONS) + 1):
        for made in itertools.combinations(range(len(CORRECTIONS)), size):
            text, left = partly_corrected(LEARNER, CORRECTIONS, made)
            assert len(left) == len(CORRECTIONS) - size
            assert text == apply(LEARNER, [CORRECTIONS[index] for index in made])
            assert apply(text, left) == full


def test_partly_corrected_sentences_come_on_top(corpus):
    plain, _, _ = read_folds(Job(m2=(corpus,)))
    mixed, _, _ = read_folds(Job(m2=(corpus,), partial=1.0))
    more = mixed["train"][len(plain["train"]) :]
    assert mixed["train"][: len(plain["train"])] == plain["train"]
    assert len(more) == len(plain["train"])
    for source, labels in more:  # what was corrected is not labelled any more, what was left is
        assert [word in ("sit", "run") for word in source.split()] == [bool(label) for label in labels]
    assert {sum(labels) for _, labels in more} == {0, 1}
    assert mixed["dev"] == plain["dev"]


def test_an_insertion_at_the_end(tmp_path):
    sentences = [M2Sentence(f"a cat number {n} sat", {0: [Edit(5, 5, ".", "M:PUNCT")]}) for n in range(20)]
    write_m2(tmp_path / "end.m2", sentences)
    for rule, last in (("last", 1), ("lost", 0)):
        folds, _, _ = read_folds(Job(m2=(tmp_path / "end.m2",), final_insertion=rule))
        assert {tuple(labels) for _, labels in folds["train"]} == {(0, 0, 0, 0, last)}
