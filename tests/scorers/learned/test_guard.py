"""The guard of metrics without references: its rules, how penalties enter scores, the reasons it gives."""

import dataclasses
import json
import math
import shutil

import numpy as np
import pytest

import geceval
from geceval import registry
from geceval.core.files import ASSETS, read_lines
from geceval.core.options import RunTime
from geceval.models.checkpoints import resolve
from geceval.models.encoder import Encoder
from geceval.models.regressors import load_regressor
from geceval.scorers.learned import guard as rules
from geceval.scorers.learned.estimators import similarities
from geceval.scorers.learned.guard import DEFAULT, LOWEST, Effect, penalties, reasons
from geceval.scorers.learned.guarded import GuardedScorer

GUARDED = [name for name in registry.list_metrics() if issubclass(registry.scorer_class(name), GuardedScorer)]
OURS = ["impara", "impara_ged", "impara_lm", "some"]  # with their bundled checkpoints
SOURCE = "He go to school every day with his friends ."
SOURCES = [SOURCE, "She like cats .", "The weather are nice today ."]
CORRECTED = ["He goes to school every day with his friends .", "She likes cats .", "The weather is nice today ."]
EXAMPLE = ASSETS / "example"


def surface(sources, predictions, guard="surface"):
    return penalties(sources, predictions, guard, RunTime())


def test_every_metric_without_references_has_it():
    free = {name for name in registry.list_metrics() if not registry.scorer_class(name).reads_references}
    assert set(GUARDED) == free - {"ged", "meaning", "edit_quality"}
    assert set(GUARDED) == {*OURS, "asano2017", "fluency", "llm_judge", "scribendi"}


def test_shares_by_hand():
    # " abc " has _ab abc bc_, " abd " has _ab abd bd_: (1 + 1) / (3 + 1).
    assert rules.kept_trigrams("abc", "ABD") == 0.5
    assert rules.kept_trigrams("a  b c", "a b c") == 1.0
    assert rules.kept_words("a b b c d e f g", "b b") == 0.5  # two granted
    assert rules.length_ratio("a b c", "abc d") == 0.75
    assert rules.length_ratio("a b c d", "ab", 1) == 0.75
    assert rules.length_ratio("", "") == 1.0
    # Three characters more or fewer are none.
    growths = {"abcde": 1, "abcd": 7 / 8, "": 3 / 8, "abcd efgh ij k": 1, "a" * 15: 1.5}
    assert {text: rules.growth("abcd efgh", text) for text in growths} == growths
    assert rules.words("I do n't have 1,000 cats") == rules.words("I don\u2019t have 1,000 cats.")


@pytest.mark.parametrize(
    ("guard", "factor", "knees", "granted"), [("surface", 4, (0.7, 0.9, 0.85), 0), ("strict", 8, (0.9, 0.9, 0.95), 3)]
)
def test_the_rule_by_hand(guard, factor, knees, granted):
    prediction = "He goes to school with friends ."
    kept = rules.kept_trigrams(SOURCE, prediction) if guard == "surface" else 7 / 9  # 5 words, and two
    encoder = Encoder.load(resolve("bundled"))
    (cosine,) = similarities(encoder, [SOURCE], [prediction], RunTime())
    shares = (kept, cosine, rules.length_ratio(SOURCE, prediction, granted))
    total = sum(math.log(min(1, share / knee)) for share, knee in zip(shares, knees, strict=True))
    assert 0 > total > math.log(0.05)
    further = surface([SOURCE], [prediction], "faithful")[0] if guard == "strict" else 0.0
    assert surface([SOURCE], [prediction], guard) == pytest.approx([factor * total + further], abs=1e-6)


def test_no_penalty_is_worse_than_that_of_a_foreign_sentence_but_for_texts_without_words():
    found = surface([SOURCE] * 4 + ["..."], ["The weather is mild .", SOURCE, "", "!?", "!"])
    assert found[:4].tolist() == [4 * math.log(0.05), 0.0, LOWEST, LOWEST]
    assert found[4] > LOWEST  # its source has no word either
    assert surface([SOURCE], ["anything"], "off").tolist() == [0.0]


def test_a_row_does_not_depend_on_the_others():
    predictions = ["He goes .", "She does like cats a lot .", "Nice weather today ."]
    together = surface(SOURCES * 20, predictions * 20)
    geceval.clear_caches()
    alone = [surface([source], [text])[0] for source, text in zip(SOURCES, predictions, strict=True)]
    assert together == pytest.approx(alone * 20, abs=1e-5)


def test_the_estimator_has_a_dead_zone_a_slope_and_a_floor():
    config = {"slope": 2.0, "dead_zone": 1.4, "floor": 6.0, "length_factor": 4.0, "shorter_knee": 0.8}
    config["longer_knee"] = 0.5
    config = {f"geceval_guard_{name}": value for name, value in config.items()}
    checkpoint = dataclasses.replace(resolve("bundled"), config=config)
    growths = np.array([1.0, 0.8, 2.0, 1.0, 0.4, 0.4, 4.0, 0.0])
    found = rules.estimated(np.array([3.0, -1.4, -2.4, -100.0, 3.0, -2.4, 3.0, np.nan]), growths, checkpoint)
    twice = 4 * math.log(2)
    assert found.tolist() == pytest.approx([0.0, 0.0, -2.0, -12.0, -twice, -2 - twice, -twice, -12.0])


def test_penalties_as_they_enter_scores():
    lost = np.array([0.0, -2.0, -20.0, LOWEST])
    added = Effect(0.5, lowest=-3.0).on(np.array([0.1, 1.0, 1.0, 1.0]), lost)
    assert added.tolist() == [0.1, 0.0, -3.0, -3.0]
    odds = Effect(1.0, lowest=0.0, on_logit=True).on(np.array([0.3, 0.5, 0.0, 0.9]), lost)
    assert odds.tolist() == pytest.approx([0.3, 1 / (1 + math.exp(2)), 0.0, 0.0])
    assert odds[0] == 0.3 and odds[3] == 0.0
    below = Effect(1.0, lowest=-1.0).on(np.array([-5.0, math.nan]), np.array([-1.0, -1.0]))
    assert below[0] == -5.0 and math.isnan(below[1])  # never raised, and a judge's failure stays one


@pytest.mark.parametrize("name", GUARDED)
def test_off_is_the_published_number(name, needed):
    predictions = ["The weather is mild .", CORRECTED[1], CORRECTED[2]]
    make = registry.make_scorer
    plain = make(name, {**needed.get(name, {}), "guard": "off"}).score(SOURCES, predictions)
    scorer = make(name, {**needed.get(name, {}), "guard": "surface"})
    guarded = scorer.score(SOURCES, predictions)
    details = guarded.details
    assert details["unguarded_scores"] == plain.scores
    assert plain.scores[0] > guarded.scores[0] or name in ("impara", "scribendi")
    assert plain.scores[1:] == guarded.scores[1:]
    assert details["guarded"] == 1 and details["penalties"][1:] == [0.0, 0.0] and details["penalties"][0] < -11
    assert details["guard_reasons"] == ["says something else", "", ""]
    assert {key: value for key, value in details.items() if key in plain.details} == dict(plain.details)
    assert guarded.score == scorer.aggregate(np.array(guarded.scores))
    assert "guarded" not in plain.details and "|guard:off|" in plain.signature
    assert f"|guard:surface,{Encoder.load(resolve('bundled')).name}|" in guarded.signature


@pytest.mark.parametrize("name", GUARDED)
def test_texts_without_words_have_the_lowest_score(name, needed):
    scorer = registry.make_scorer(name, {**needed.get(name, {}), "guard": "surface"})
    scores = scorer.score([SOURCE] * 4, ["", " . ", "The weather is mild .", SOURCE]).scores
    assert scores[0] == scores[1] <= min(scores[2:])
    assert scores[0] == scorer.effect.lowest


def systems():
    """The honest systems of the example corpus, and attacks that were ranked first without a guard."""
    sources = read_lines(EXAMPLE / "source.txt")
    honest = {name: read_lines(EXAMPLE / "systems" / f"{name}.txt") for name in ("strong", "minimal", "unchanged")}
    size = len(sources)
    return sources, {
        **{"constant": ["The weather is mild ."] * size, "mark": ["."] * size, "empty": [""] * size},
        "half": [" ".join(text.split()[: len(text.split()) // 2] + ["."]) for text in sources],
        "next": read_lines(EXAMPLE / "reference_0.txt")[1:] + read_lines(EXAMPLE / "reference_0.txt")[:1],
        "twice": [f"{text} {text}" for text in sources],
        **honest,
    }


@pytest.mark.parametrize("name", OURS)
def test_attacks_rank_last(name):
    sources, outputs = systems()
    found = registry.score_systems(registry.make_scorer(name), sources, outputs)
    order = sorted(found, key=lambda system: found[system].score, reverse=True)
    assert order[:3] == ["strong", "minimal", "unchanged"]


def test_auto_guards_what_is_ours(make_checkpoint, tmp_path, caplog):
    scorer = registry.make_scorer("impara_ged", {"model": published(make_checkpoint, tmp_path)})
    assert "|guard:off|" in scorer.score(SOURCES, CORRECTED).signature
    assert not caplog.records
    result = registry.make_scorer("impara_ged").score(SOURCES, CORRECTED)
    assert f"|guard:{DEFAULT}," in result.signature and result.details["guarded"] == 0


def published(make_checkpoint, folder):
    """A checkpoint as papers publish them: nothing in it is geceval's."""
    shutil.copytree(make_checkpoint(3), folder / "published")
    path = folder / "published" / "config.json"
    config = json.loads(path.read_text())
    path.write_text(json.dumps({key: value for key, value in config.items() if not key.startswith("geceval_")}))
    return str(folder / "published")


def test_a_published_metric_warns_of_what_it_lets_pass(make_checkpoint, tmp_path, caplog):
    model = published(make_checkpoint, tmp_path)
    scorer = registry.make_scorer("impara_ged", {"model": model})
    scorer.score(SOURCES, [CORRECTED[0], "The weather is mild .", ""])
    told = "impara_ged: 2 of 3 predictions would be penalised by guard='surface', first on line 2, which says something"
    assert caplog.messages == [f"{told} else"]
    caplog.clear()
    registry.make_scorer("impara_ged", {"model": model, "guard": "off"}).score(SOURCES, ["a", "b", "c"])
    assert not caplog.records


def test_sentences_of_another_corpus_are_reported(caplog):
    registry.make_scorer("impara_lm", {"guard": "surface"}).score(SOURCES * 2, ["Nothing fits here !"] * 6)
    told = "impara_lm: predictions keep only 0 % of the sources' tokens; are they in the order of the sources?"
    assert caplog.messages == [told]


@pytest.mark.parametrize(
    ("prediction", "reason"),
    [
        (SOURCE, ""),
        ("He goes to school every day with his friends .", "may change the meaning"),
        (" . ", "leaves nothing of the sentence"),
        (f"{SOURCE} {SOURCE}", "repeats the sentence"),
        ("He go to school every .", "drops half of the sentence"),
        ("He go .", "drops most of the sentence"),
        ("He go to school every day .", "drops 3 words"),
        ("He go to school every day with his .", "drops a word"),
        ("He does not go to school every day with his friends .", "negates it"),
        ("He goes to school 2 day with his friends .", "changes a number"),
        (f"{SOURCE} The weather is mild .", "adds a sentence"),
        ("I think that he go to school every single day with his friends .", "adds 4 words"),
        ("The weather is mild .", "says something else"),
        ("Each morning he went schoolwards every day , friends with him .", "rewrites it"),
    ],
)
def test_reasons(prediction, reason):
    assert reasons(SOURCE, prediction) == reason


def test_a_reason_names_a_negation_or_number_only_where_little_else_changed():
    long = "They was tired , and so we went home early with all the others , who was tired too , and slept ."
    assert reasons(long, f"{long} We had not seen that film .") == "adds a sentence"
    other = "They was not young , and he went out late to see some friends , who never slept before noon ."
    assert reasons(long, other) == "rewrites it"
    assert reasons("He does n't like two cats .", "He likes two cats .") == "drops a negation"
    assert reasons("He likes two cats .", "He likes 2 cats .") == "may change the meaning"  # not the number
    assert reasons("We met in 1999 .", "We met in 1998 .") == "changes a number"


def test_marks_before_a_sentence_are_penalised():
    marks = ('" {} "', "“ {} ”", "« {} »", "' {}", "• {}", "- {}", "**{}**", "> {}", "<b>{}</b>")
    outputs = [mark.format(text) for mark in marks for text in (SOURCE, CORRECTED[0])]
    assert surface([SOURCE] * len(outputs), outputs, "faithful").max() <= -2.0
    assert reasons(SOURCE, f"- {CORRECTED[0]}") == "begins with other marks"
    assert not rules.is_decorated("‘ I go home he said .", '" I go home " , he said .')


def test_texts_are_read_as_people_see_them():
    assert rules.visible(" a\u00a0 b\r\n\tc\u3000d ") == "a b c d"
    assert rules.visible("sc\u200bho\u00adol \u2060ok\ufeff\u3164") == "school ok"
    assert rules.visible("“Ça va ?” 🙂 naïve") == "“Ça va ?” 🙂 naïve"
    for name in ("impara_lm", "some"):
        scorer = registry.make_scorer(name)
        plain = scorer.score([SOURCE], [CORRECTED[0]])
        hidden = scorer.score([SOURCE.replace(" ", "  ")], ["\u200b".join(CORRECTED[0]).replace(" ", "\u00a0 ") + "\r"])
        assert hidden == plain, name
        off = registry.make_scorer(name, {"guard": "off"})
        assert off.score([SOURCE], [f"{CORRECTED[0]}\u200b x"]).scores != off.score([SOURCE], [CORRECTED[0]]).scores


@pytest.mark.parametrize(("source", "prediction"), [
    ("She like cats .", "She likes cats ."),
    ("He go home .", "He goes home ."),
    ("The weather are nice .", "The weather is nice ."),
    ("I am agree .", "I agree ."),
    ("Good moning .", "Good morning ."),
    ("Its nice .", "It's nice ."),
    ('He said " yes " .', "He said “ yes ” ."),
    ("He said « yes » .", "He said \" yes \" ."),
    ("He do n't know , she say .", "He doesn't know, she says."),
    ("I like it 🙂 .", "I like it ."),
])  # fmt: skip
def test_no_guard_but_the_surface_penalises_small_corrections(source, prediction):
    for name in ("faithful", "strict"):
        assert surface([source], [prediction], name).tolist() == [0.0], name


def test_two_long_texts_are_aligned():
    numbers = [str(number) for number in range(100)]
    source = " ".join(numbers)
    tenth = " ".join(numbers[:9] + ["x"] + numbers[10:])
    assert rules.aligned(source, tenth) == [(" ".join(numbers[:40]), " ".join(numbers[:9] + ["x"] + numbers[10:40]))]
    second, third = (" ".join(numbers[40:80]), " ".join(numbers[40:50])), (" ".join(numbers[80:]), "")
    assert rules.aligned(source, " ".join(numbers[:50])) == [second, third]
    assert rules.aligned(source, f"a b {source}") == [(" ".join(numbers[:40]), "a b " + " ".join(numbers[:40]))]


def test_what_lies_beyond_the_length_of_the_estimator_counts():
    """Of 20 sentences, 255 words: it reads 128 tokens of source and prediction together, and long texts in parts."""
    learner, corrected = (read_lines(EXAMPLE / f"{name}.txt") for name in ("source", "reference_0"))
    rows = {"corrected": corrected[:20], "half": corrected[:10], "other half": corrected[10:20]}
    rows |= {"late half exchanged": corrected[:10] + corrected[24:34], "twice": corrected[:20] * 2}
    rows["more"] = [*corrected[:20], corrected[30]]
    texts = {name: " ".join(sentences) for name, sentences in rows.items()}
    source = " ".join(learner[:20])
    found = dict(zip(texts, surface([source] * len(texts), list(texts.values()), "faithful").tolist(), strict=True))
    assert found.pop("corrected") == 0.0
    assert all(penalty < -2 for penalty in found.values()), found
    alone = surface([source], [texts["half"]], "faithful")
    assert alone == pytest.approx([found["half"]], abs=1e-5)


def test_what_keeps_its_content_words_is_not_read_by_the_estimator():
    assert rules.keeps_content("He work at the school every days .", "He works at school every day .")
    assert not rules.keeps_content("He goes to school .", "He does not go to school .")
    assert not rules.keeps_content("He goes to school .", "She goes to school .")
    assert not rules.keeps_content("I have 2 cats .", "I have 3 cats .")
    assert not rules.keeps_content("Dogs bite men .", "Men bite dogs .")
    assert not rules.keeps_content("He goes .", "He goes to the of at the a an .")
    geceval.clear_caches()
    surface([SOURCE, "They has two cat ."], ["He never went .", "They have two cats ."], "faithful")
    reader = load_regressor(resolve("bundled:meaning"), RunTime())
    assert [text for _, text in reader._answers._values] == [(SOURCE, "He never went .")]
