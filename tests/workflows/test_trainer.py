"""`geceval.trainer_metrics`: from what a trainer hands over to numbers by name."""

import numpy as np
import pytest
import transformers

import geceval
from geceval.core.errors import InputError
from geceval.registry import make_scorer, scorer_class
from geceval.workflows.trainer import trainer_metrics

SOURCES = ["the cats sit on mat", "a dog run", "the cat likes school"]
PREDICTIONS = ["the cats sat on the mat", "", "the cat likes school"]
TARGETS = ["the cats sat on the mat", "a dog runs", "the cat likes the school"]


@pytest.fixture(scope="module")
def checkpoint(make_checkpoint):
    """A quality estimator with random weights; its tokenizer serves as that of the corrector."""
    return str(make_checkpoint(5))


@pytest.fixture(scope="module")
def tokenizer(checkpoint):
    return transformers.AutoTokenizer.from_pretrained(checkpoint)


@pytest.fixture(scope="module")
def evaluated(tokenizer):
    """A function that makes what a trainer would: ids, of which some are padded with -100 and some with the token."""

    def make(sources=SOURCES, predictions=PREDICTIONS, targets=TARGETS):
        ids = {"padding": True, "return_tensors": "np"}
        inputs, answers, labels = (tokenizer(texts, **ids)["input_ids"] for texts in (sources, predictions, targets))
        labels = np.where(labels == tokenizer.pad_token_id, -100, labels)
        inputs[-1] = np.where(inputs[-1] == tokenizer.pad_token_id, -100, inputs[-1])
        return transformers.EvalPrediction(predictions=answers, label_ids=labels, inputs=inputs)

    return make


def test_the_numbers_are_those_of_the_metrics(tokenizer, checkpoint, evaluated):
    options = {"impara": {"model": checkpoint, "threshold": -2}, "gleu": {"unit": "char"}}
    compute = geceval.trainer_metrics(tokenizer, ["gleu", "impara", "m2"], options=options)
    found = compute(evaluated())
    references = [[target] for target in TARGETS]
    gleu = make_scorer("gleu", {"unit": "char"}).score(SOURCES, PREDICTIONS, references)
    impara = make_scorer("impara", options["impara"]).score(SOURCES, PREDICTIONS)
    m2 = make_scorer("m2").score(SOURCES, PREDICTIONS, references)
    expected = {"gleu": gleu.score, "gleu_sd": gleu.details["sd"], "impara": impara.score, "impara_zeroed": 0}
    numbers = ("precision", "recall", "f", "tp", "fp", "fn")
    assert found == expected | {"m2": m2.score, **{f"m2_{name}": m2.details[name] for name in numbers}}
    assert all(type(value) in (int, float) for value in found.values())
    assert 0 < found["m2_f"] < 1


def test_models_load_once_and_before_the_training(tokenizer, checkpoint, evaluated, monkeypatch):
    loads = []
    impara = scorer_class("impara")
    original = impara.load
    monkeypatch.setattr(impara, "load", lambda self: (loads.append(self._loaded is None), original(self)))
    compute = geceval.trainer_metrics(tokenizer, "impara", options={"impara": {"model": checkpoint, "threshold": -2}})
    assert loads == [True]
    assert compute(evaluated()) == compute(evaluated())
    assert loads == [True, False, False]


def test_the_prefix_is_removed_and_texts_may_be_given(tokenizer, evaluated):
    plain = geceval.trainer_metrics(tokenizer, "gleu")(evaluated())
    prefixed = evaluated(sources=[f"a cat: {source}" for source in SOURCES])
    # The word pieces of BERT put a space before the colon; white space at the ends of the prefix does not matter.
    assert geceval.trainer_metrics(tokenizer, "gleu", prefix="a cat : ")(prefixed) == plain
    with pytest.raises(ValueError, match=r"inputs\[0\] does not start with the prefix 'a cat :', got 'the cats"):
        geceval.trainer_metrics(tokenizer, "gleu", prefix="a cat : ")(evaluated())
    references = [[target, "a dog runs"] for target in TARGETS]
    given = geceval.trainer_metrics(tokenizer, "gleu", sources=SOURCES, references=references)
    without = transformers.EvalPrediction(predictions=evaluated().predictions, label_ids=None)
    direct = make_scorer("gleu").score(SOURCES, PREDICTIONS, references)
    assert given(without) == {"gleu": direct.score, "gleu_sd": direct.details["sd"]}


def test_metrics_without_references_need_no_labels(tokenizer, checkpoint, evaluated):
    options = {"impara": {"model": checkpoint, "threshold": -2}}
    whole = evaluated()
    unlabelled = transformers.EvalPrediction(predictions=whole.predictions, label_ids=None, inputs=whole.inputs)
    compute = geceval.trainer_metrics(tokenizer, "impara", options=options)
    assert compute(unlabelled) == compute(whole)
    with pytest.raises(ValueError, match="there are no labels; the trainer needs labels in the evaluation set"):
        geceval.trainer_metrics(tokenizer, "gleu")(unlabelled)


def test_logits_and_missing_inputs_are_told_what_to_set(tokenizer, evaluated):
    compute = geceval.trainer_metrics(tokenizer, "gleu")
    whole = evaluated()
    logits = np.zeros((3, 8, 20), dtype=np.float32)
    for predictions in (logits, (logits, np.zeros((3, 8, 4)))):  # as of T5, which adds the encoder's states
        wrong = transformers.EvalPrediction(predictions=predictions, label_ids=whole.label_ids, inputs=whole.inputs)
        with pytest.raises(ValueError, match="ids.* 3x8x20, perhaps logits; the trainer needs predict_with_generate=T"):
            compute(wrong)
    without = transformers.EvalPrediction(predictions=whole.predictions, label_ids=whole.label_ids)
    with pytest.raises(ValueError, match=r'there are no inputs; the trainer needs include_for_metrics=\["inputs"\]'):
        compute(without)


@pytest.fixture
def arguments(tmp_path):
    """A function that makes the trainer's arguments, which are right but for those that are given."""

    def make(**changes):
        right = {"predict_with_generate": True, "include_for_metrics": ["inputs"], "report_to": "none"}
        return transformers.Seq2SeqTrainingArguments(str(tmp_path), **{**right, **changes})

    return make


def test_what_the_arguments_lack_is_found_before_the_training(tokenizer, arguments):
    def check(changes, **given):
        geceval.trainer_metrics(tokenizer, ["gleu", "errant"], arguments=arguments(**changes), **given)

    check({})
    check({"metric_for_best_model": "eval_errant_f"})
    check({"include_for_metrics": []}, sources=SOURCES)
    with pytest.raises(ValueError, match=r'must have predict_with_generate=True, include_for_metrics=\["inputs"\]$'):
        check({"predict_with_generate": False, "include_for_metrics": ["loss"]})
    with pytest.raises(ValueError, match="must have prediction_loss_only=False"):
        check({"prediction_loss_only": True})
    with pytest.raises(ValueError, match="another train_sampling_strategy than group_by_length"):
        check({"train_sampling_strategy": "group_by_length"}, references=[[target] for target in TARGETS])
    older = arguments()  # of transformers before 5.2
    older.group_by_length = True
    with pytest.raises(ValueError, match="another train_sampling_strategy than group_by_length"):
        geceval.trainer_metrics(tokenizer, "gleu", arguments=older, sources=SOURCES)
    with pytest.raises(ValueError, match="metric_for_best_model is 'impara', no number of gleu, errant"):
        check({"metric_for_best_model": "impara"})
    with pytest.raises(ValueError, match="is 'errant_f05', no number of errant, errant_precision, errant_recall"):
        check({"metric_for_best_model": "errant_f05"})
    dev = {"dev": [["a dog runs"]], "test": [["the cat"], ["a dog"]]}  # the trainer puts the set's name before numbers
    check({"metric_for_best_model": "eval_dev_errant_f"}, references=dev)
    check({"metric_for_best_model": "eval_dev_errant_f"})
    check({"metric_for_best_model": "dev_big_errant"}, references={**dev, "dev_big": [["a cat"], ["a dog"], ["dogs"]]})
    best = arguments(metric_for_best_model="impara_ged")  # which begins with the name of another metric
    geceval.trainer_metrics(tokenizer, ["gleu", "impara_ged"], arguments=best)
    for best in ("dev_errant_f05", "development_errant_f"):
        with pytest.raises(ValueError, match=f"is '{best}', no number of errant, errant_precision"):
            check({"metric_for_best_model": best}, references=dev)
    with pytest.raises(ValueError, match="is 'pt_errant', no number of errant, errant_precision"):
        check({"metric_for_best_model": "pt_errant"})
    plain = transformers.TrainingArguments(arguments().output_dir, report_to="none", include_for_metrics=["inputs"])
    with pytest.raises(ValueError, match="must have predict_with_generate=True$"):
        geceval.trainer_metrics(tokenizer, "gleu", arguments=plain)


def test_predictions_that_fit_no_source_are_warned_of_once(tokenizer, evaluated, caplog):
    """An untrained model writes nonsense after every epoch."""
    compute = geceval.trainer_metrics(tokenizer, ["gleu", "green"])
    nonsense = evaluated(SOURCES * 2, ["school school"] * 6, TARGETS * 2)
    compute(nonsense)
    compute(nonsense)
    (message,) = caplog.messages
    assert message.startswith("gleu: predictions keep only") and "file" not in message


def test_the_number_of_rows_tells_the_data_set():
    class Words:
        def batch_decode(self, rows, **options):
            return [" ".join("abcd"[token] for token in row) for row in rows]

    class Evaluated:
        def __init__(self, rows):
            self.predictions, self.inputs, self.label_ids = [[0, 1, 2, 3]] * rows, None, None

    sets = {"dev": ["a b c d"], "test": ["a b c d", "d c b a"]}
    score = trainer_metrics(Words(), "gleu", sources=sets, references=sets)
    assert score(Evaluated(1))["gleu"] == 1.0
    assert score(Evaluated(2))["gleu"] < 1.0  # the second sentence has another reference
    with pytest.raises(InputError, match="3 predictions, and sources for sets of other sizes: dev 1, test 2"):
        score(Evaluated(3))
    with pytest.raises(InputError, match="told apart by their number of rows, and these have dev 1, test 1"):
        trainer_metrics(Words(), "gleu", references={"dev": ["a"], "test": ["b"]})


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (
            {"references": [["a"], None]},
            r"trainer_metrics: references\[1\] must be a list of strings or a string, got N",
        ),
        (
            {"references": {"dev": 5}},
            "trainer_metrics, dev: references must be a list, one entry per sentence, got int",
        ),
        ({"references": {"dev": [["a"]], "test": [["a"], []]}}, r"trainer_metrics, test: references\[1\] is empty"),
        ({"sources": ["a", "b"], "references": [["a", "b"]]}, "1 reference but 2 sources. They look transposed"),
        ({"sources": ["a", None]}, r"trainer_metrics: sources\[1\] must be a string, got None"),
        ({"sources": {"dev": ["a"]}, "references": {"test": ["a"]}}, "sources of 'dev' and references of 'test'; pass"),
    ],
)
def test_columns_are_checked_before_the_training(columns, message):
    with pytest.raises((TypeError, ValueError), match=message):
        trainer_metrics(None, "gleu", **columns)
