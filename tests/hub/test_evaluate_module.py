"""The base of the evaluate modules, by way of that of GREEN; for every metric: tests/test_modules.py."""

import copy
import pickle
import re
from concurrent.futures import ThreadPoolExecutor

import evaluate
import pytest

import geceval
from geceval import registry
from geceval.hub.folders import module_folder

FOLDER = str(module_folder("green"))
SOURCES = ["a b c d e", "c d e f", "e f g h i"]
PREDICTIONS = ["a b c d x", "c d e f", "e f g y i"]
REFERENCES = [["a b c d x y", "a b c d e"], ["c d e f"], ["e f g h i"]]
COLUMNS = {"sources": SOURCES, "predictions": PREDICTIONS, "references": REFERENCES}
RESULT = registry.make_scorer("green").score(SOURCES, PREDICTIONS, REFERENCES).to_dict()


def score(sources, predictions, references, **options):
    """The scorer's own corpus score."""
    return registry.make_scorer("green", options).score(sources, predictions, references).score


@pytest.fixture
def green():
    return evaluate.load(FOLDER)


@pytest.fixture(params=[False, True], ids=["disk", "memory"])
def either(request):
    return evaluate.load(FOLDER, keep_in_memory=request.param)


def test_the_base_itself_is_no_metric():
    from geceval.hub.evaluate_module import Module

    with pytest.raises(TypeError, match="abstract"):
        Module()


ENTRIES = [  # from the annotations, defaults and docstrings of the dataclasses
    "Args:\n    sources (`list` of `str`): ",
    "or one string, per sentence; not\n        needed with `gold_m2`.\n",
    "\n    beta (`float`, *optional*, defaults to `2.0`): Weight of recall in F. ",
    '\n    zero_recall (`"authors"` or `"gec-metrics"`, *optional*, defaults to `"authors"`): ',
    "\n    gold_m2 (`str`, *optional*): M2 file ",
    "\n    workers (`int`, *optional*, defaults to `1`): Processes that ",
    "\n\nReturns:\n",
]


def test_options_are_described_wherever_help_is_sought(green):
    for text in (green.compute.__doc__, type(green).__doc__, repr(green)):
        assert [entry for entry in ENTRIES if entry not in text] == []


@pytest.mark.parametrize(
    "references",
    [["a b c d e", "c d e f", "e f g h i"], [("a b c d e",), ["c d e f"], ["e f g h i", None]],
     [["a b c d e"], "c d e f", ["e f g h i"]]],
)  # fmt: skip
def test_forms_of_references(either, references):
    plain = either.compute(sources=SOURCES, predictions=PREDICTIONS, references=[[row[-1]] for row in REFERENCES])
    assert "|refs:1|" in plain["signature"] and plain["scores"] != RESULT["scores"]
    assert either.compute(sources=SOURCES, predictions=PREDICTIONS, references=references) == plain


def test_batches_and_single_sentences_may_follow_each_other(either):
    assert either.compute(**COLUMNS) == RESULT
    either.add_batch(sources=SOURCES[:2], predictions=PREDICTIONS[:2], references=REFERENCES[:2])
    either.add(source=SOURCES[2], prediction=PREDICTIONS[2], reference="e f g h i")
    assert either.compute() == RESULT


def test_options_of_load_last_and_those_of_compute_do_not():
    module = evaluate.load(FOLDER, beta=0.5, batch_size=7)
    expected = score(*COLUMNS.values(), beta=0.5)
    assert module.compute(**COLUMNS)["score"] == expected != RESULT["score"]
    once = module.compute(**COLUMNS, beta=1.0, batch_size=3)
    assert once["score"] == score(*COLUMNS.values(), beta=1.0) != expected and "|beta:1.0|" in once["signature"]
    assert module.compute(**COLUMNS)["score"] == expected and module.scorer.runtime.batch_size == 7


def test_options_that_evaluate_has_too_are_those_of_the_metric():
    endpoint = {"model": "any", "base_url": "http://127.0.0.1:9", "api_key_env": None}
    module = geceval.load("llm_judge", **endpoint, seed=7, timeout=5)
    assert (module.scorer.settings.seed, module.scorer.runtime.timeout) == (7, 5)
    assert module.timeout == 100  # seconds that evaluate waits for other processes
    again = pickle.loads(pickle.dumps(module))
    assert (again.scorer.settings.seed, again.scorer.runtime.timeout) == (7, 5)
    assert geceval.load("gleu", seed=7, timeout=5).timeout == 5  # a metric without options of these names


def test_models_load_once_at_load(monkeypatch):
    loads = []
    monkeypatch.setattr(registry.scorer_class("green"), "load", lambda scorer: loads.append(scorer.settings.beta))
    module = evaluate.load(FOLDER, beta=3.0)
    assert loads == [3.0]
    for _ in range(2):
        module.compute(**COLUMNS)
    assert loads == [3.0]


def test_config_name_is_the_model(make_checkpoint):
    folder = make_checkpoint(0)
    module = evaluate.load(str(module_folder("bertscore")), str(folder), layer=1)
    assert f"|model:{folder.name}@" in module.compute(**COLUMNS)["signature"]
    with pytest.raises(TypeError, match="bertscore: config_name and model both name the model"):
        evaluate.load(str(module_folder("bertscore")), "ORG/name", model="other")


def test_no_references_where_the_settings_bring_their_own(green, tmp_path):
    gold = tmp_path / "gold.m2"
    gold.write_text("S a b c d e\nA 4 5|||R|||x|||REQUIRED|||-NONE-|||0\n\n", encoding="utf-8")
    columns = {"sources": SOURCES[:1], "predictions": PREDICTIONS[:1]}
    assert evaluate.load(FOLDER, gold_m2=gold).compute(**columns)["scores"] == [1.0]
    assert green.compute(**columns, gold_m2=gold)["scores"] == [1.0]
    green.add(sources=SOURCES[0], prediction=PREDICTIONS[0])
    assert green.compute(gold_m2=gold)["scores"] == [1.0]


BAD = [
    ({}, ValueError, "green: nothing to score; pass sources and predictions, or add_batch first"),
    ({"sources": [], "predictions": [], "references": []}, ValueError, "are empty"),
    ({"sources": ["a"], "predictions": ["a"]}, ValueError, "green: needs references"),
    ({"sources": ["a"], "predictions": ["a", "b"], "references": [["a"]]}, ValueError, "1 source but 2 predictions"),
    ({"predictions": ["a"], "references": [["a"]]}, TypeError, "green: needs sources, the learners' sentences"),
    ({"sources": ["a"], "references": [["a"]]}, TypeError, "green: predictions must be a list of strings, got None"),
    ({"sources": ["a"], "predictions": ["a"], "references": [None]}, TypeError, r"references\[0\] must be"),
    ({**COLUMNS, "betta": 2}, TypeError, "unknown option 'betta'"),
    ({"source": ["a"]}, TypeError, "unknown column 'source'; did you mean 'sources'"),
    ({**COLUMNS, "beta": 0}, ValueError, "beta must lie between"),
]


@pytest.mark.parametrize(("arguments", "error", "message"), BAD, ids=[message[:30] for _, _, message in BAD])
def test_mistakes_are_named_and_leave_the_module_usable(either, arguments, error, message):
    with pytest.raises(error, match=message):
        either.compute(**arguments)
    result = either.compute(**COLUMNS)
    assert result == RESULT


def test_a_bad_batch_adds_nothing(either):
    either.add_batch(**COLUMNS)
    with pytest.raises(ValueError, match="1 source but 2 predictions"):
        either.add_batch(sources=["a"], predictions=["a", "b"], references=[["a"]])
    with pytest.raises(TypeError, match="green: unknown column 'predicted'; the columns are: sources, predictions"):
        either.add_batch(sources=["a"], predicted=["a"], references=[["a"]])
    assert either.compute() == RESULT


def test_warnings_come_once(green, caplog):
    sources = [f"{letter} {letter} {letter}" for letter in "abcdefg"]
    green.compute(sources=sources, predictions=sources[::-1][1:] + ["x"], references=sources)
    assert sum("are they in the order of the sources?" in record.message for record in caplog.records) == 1


def test_bad_options_of_load():
    with pytest.raises(TypeError, match="green: unknown option 'betta'; the options are: beta, gold_m2, text, unit, "):
        evaluate.load(FOLDER, betta=2)
    for options, message in (({"beta": -1}, "beta must lie between"), ({"batch_size": 0}, "batch_size must be at le")):
        with pytest.raises(ValueError, match=message):
            evaluate.load(FOLDER, **options)


def test_pickling_before_and_after_compute(either):
    assert pickle.loads(pickle.dumps(either)).compute(**COLUMNS) == RESULT
    assert either.compute(**COLUMNS) == RESULT
    assert pickle.loads(pickle.dumps(either)).compute(**COLUMNS) == RESULT
    assert copy.deepcopy(either).compute(**COLUMNS) == RESULT
    either.add(sources="a", prediction="a", reference="a")
    with pytest.raises(pickle.PicklingError, match=r"green: sentences were added but not scored; call compute"):
        pickle.dumps(either)


def test_unpickling_where_the_script_was_never_cached():
    """Another machine: the module comes from the package (a fresh process is tested in test_modules.py)."""
    pickled = pickle.dumps(geceval.load("gleu", unit="char"))
    (here,) = set(re.findall(rb"gleu\.([0-9a-f]{64})\.gleu", pickled))
    module = pickle.loads(pickled.replace(here, b"0" * 64))
    assert module.compute(sources=["a b c"], predictions=["a b c"], references=["a b c"])["score"] == 1.0


def test_threads_that_share_a_module_keep_their_rows_apart(either):
    """Without a lock the rows of several calls end up in one computation, or its file is closed by another thread."""

    def work(row):
        return either.compute(**{name: column[row : row + 1] for name, column in COLUMNS.items()})["scores"]

    with ThreadPoolExecutor(6) as pool:
        assert list(pool.map(work, [0, 1, 2] * 6)) == [[score] for score in RESULT["scores"]] * 6


def test_a_failing_score_leaves_no_file_behind(tmp_path):
    module = evaluate.load(FOLDER, cache_dir=str(tmp_path))
    module.add_batch(sources=["a"], predictions=["a"])
    assert list(tmp_path.rglob("*.arrow"))
    with pytest.raises(ValueError, match="needs references"):
        module.compute()
    assert not list(tmp_path.rglob("*.arrow"))
    assert module.compute(**COLUMNS) == RESULT
