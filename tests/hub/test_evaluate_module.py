"""The base of the evaluate modules, on a small metric that is written here."""

import copy
import logging
import pickle
import re
import sys
from concurrent.futures import ThreadPoolExecutor

import evaluate
import pytest

import geceval

SCRIPT = '''
"""Share of a reference's tokens that the prediction has."""
from dataclasses import dataclass

import evaluate

import geceval.hub.evaluate_module  # From: geceval
from geceval.core.inputs import check_columns
from geceval.core.options import RunTime
from geceval.core.result import Result
from geceval.core.signature import signature

_DESCRIPTION, _CITATION, _KWARGS_DESCRIPTION = "Toy.", "@misc{toy}", "Returns:\\n    score: a text of the module."

loads = []


@dataclass(frozen=True, slots=True)
class Settings:
    """Options.

    Attributes:
        weight: What a token
            weighs.
        gold_m2, model: Not used.
    """

    weight: float = 1.0
    gold_m2: str | None = None
    model: str = "bundled"

    def __post_init__(self):
        if self.weight <= 0:
            raise ValueError("toy: weight must be positive")


class Scorer:
    name, Settings, RunTime, higher_is_better, bounds = "toy", Settings, RunTime, True, (0.0, 1.0)

    def __init__(self, settings=None, runtime=None):
        self.settings, self.runtime = settings or Settings(), runtime or RunTime()

    def needs_references(self):
        return self.settings.gold_m2 is None

    def load(self):
        loads.append(self.settings.model)

    def score(self, sources, predictions, references=None):
        columns = check_columns(
            self.name, sources, predictions, references, needs_references=self.needs_references()
        )
        rows = columns.references or [[source] for source in columns.sources]
        scores = [
            self.settings.weight * max(len(set(p.split()) & set(r.split())) / len(r.split()) for r in row)
            for p, row in zip(columns.predictions, rows)
        ]
        details = {"references": sum(map(len, rows)), "batch_size": self.runtime.batch_size}
        return Result(sum(scores) / len(scores), scores, signature(self.name, self.settings), details)


class Toy(geceval.hub.evaluate_module.Module):
    reference_urls = ["https://example.org/toy"]

    @classmethod
    def scorer_class(cls):
        return Scorer
'''

SOURCES = ["a b", "c d", "e f"]
PREDICTIONS = ["a x", "c d", "x y"]
REFERENCES = [["a b", "a b c d"], ["c d"], ["e f"]]
COLUMNS = {"sources": SOURCES, "predictions": PREDICTIONS, "references": REFERENCES}
SCORES = [0.5, 1.0, 0.0]  # by hand: max(1/2, 1/4), 2/2, 0/2


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("metrics") / "toy"
    folder.mkdir()
    (folder / "toy.py").write_text(SCRIPT)
    return str(folder)


@pytest.fixture
def toy(folder):
    return evaluate.load(folder)


@pytest.fixture(params=[False, True], ids=["disk", "memory"])
def either(request, folder):
    return evaluate.load(folder, keep_in_memory=request.param)


def test_the_base_itself_is_no_metric():
    from geceval.hub.evaluate_module import Module

    with pytest.raises(TypeError, match="abstract"):
        Module()


ENTRIES = [  # from the annotations, defaults and docstrings of the dataclasses
    "or one string, per sentence; not\n        needed with `gold_m2`.\n",
    "\n    weight (`float`, *optional*, defaults to `1.0`): What a token weighs.\n",
    "\n    gold_m2 (`str`, *optional*): Not used.\n",
    '\n    model (`str`, *optional*, defaults to `"bundled"`): Not used.\n',
    "\n    workers (`int`, *optional*, defaults to `1`): Processes that ",
]


def test_texts_and_columns(toy):
    assert (toy.name, toy.license, toy.citation, toy.module_type) == ("toy", "Apache-2.0", "@misc{toy}", "metric")
    assert [list(form) for form in toy.features] == [["sources", "predictions", "references"]] * 2
    for text in (toy.compute.__doc__, type(toy).__doc__, repr(toy)):
        for entry in (
            "Args:\n    sources (`list` of `str`): ",
            "\n\nReturns:\n    score: a text of the module.\n",
            *ENTRIES,
        ):
            assert entry in text


@pytest.mark.parametrize(
    "references", [["a b", "c d", "e f"], [("a b",), ["c d"], ["e f", None]], [["a b"], "c d", ["e f"]]]
)
def test_forms_of_references(either, references):
    result = either.compute(sources=SOURCES, predictions=PREDICTIONS, references=references)
    assert result["scores"] == SCORES
    assert result["references"] == 3


def test_columns_of_a_data_set(toy):
    import datasets

    table = datasets.Dataset.from_dict({"s": SOURCES, "p": PREDICTIONS, "r": REFERENCES})
    assert toy.compute(sources=table["s"], predictions=table["p"], references=table["r"])["scores"] == SCORES


def test_at_once_in_batches_and_one_by_one_are_the_same(either):
    whole = either.compute(**COLUMNS)
    assert (whole["score"], whole["scores"], whole["references"]) == (0.5, SCORES, 4)
    either.add_batch(sources=SOURCES[:2], predictions=PREDICTIONS[:2], references=REFERENCES[:2])
    either.add_batch(sources=SOURCES[2:], predictions=PREDICTIONS[2:], references=["e f"])
    assert either.compute() == whole
    for source, prediction, reference in zip(SOURCES, PREDICTIONS, REFERENCES, strict=True):
        either.add(sources=source, prediction=prediction, reference=reference)
    assert either.compute() == whole
    either.add_batch(sources=SOURCES[:2], predictions=PREDICTIONS[:2], references=REFERENCES[:2])
    either.add(source=SOURCES[2], prediction=PREDICTIONS[2], reference="e f")
    assert either.compute() == whole


def test_options_of_load_last_and_those_of_compute_do_not(folder):
    module = evaluate.load(folder, weight=0.5, batch_size=7)
    assert module.compute(**COLUMNS)["score"] == 0.25
    once = module.compute(**COLUMNS, weight=2.0, batch_size=3)
    assert (once["score"], once["batch_size"]) == (1.0, 3)
    assert "|weight:2.0|" in once["signature"]
    again = module.compute(**COLUMNS)
    assert (again["score"], again["batch_size"]) == (0.25, 7)


def test_options_that_evaluate_has_too_are_those_of_the_metric():
    endpoint = {"model": "any", "base_url": "http://127.0.0.1:9", "api_key_env": None}
    module = geceval.load("llm_judge", **endpoint, seed=7, timeout=5)
    assert (module.scorer.settings.seed, module.scorer.runtime.timeout) == (7, 5)
    assert module.timeout == 100  # seconds that evaluate waits for other processes
    again = pickle.loads(pickle.dumps(module))
    assert (again.scorer.settings.seed, again.scorer.runtime.timeout) == (7, 5)
    assert geceval.load("gleu", seed=7, timeout=5).timeout == 5  # a metric without options of these names


def test_models_load_once_at_load(folder):
    module = evaluate.load(folder, model="x")
    loads = sys.modules[type(module).__module__].loads
    before = list(loads)
    assert before[-1] == "x"
    for _ in range(2):
        module.compute(**COLUMNS)
    assert loads == before


def test_config_name_is_the_model(folder):
    module = evaluate.load(folder, "ORG/name")
    result = module.compute(**COLUMNS)
    assert "|model:ORG/name|" in result["signature"]
    with pytest.raises(TypeError, match="toy: config_name and model both name the model"):
        evaluate.load(folder, "ORG/name", model="other")


def test_no_references_where_the_settings_bring_their_own(folder):
    wanted = [0.5, 1.0, 0.0]  # against the sources
    loaded_with = evaluate.load(folder, gold_m2="gold.m2")
    assert loaded_with.compute(sources=SOURCES, predictions=PREDICTIONS)["scores"] == wanted
    given_later = evaluate.load(folder)
    assert given_later.compute(sources=SOURCES, predictions=PREDICTIONS, gold_m2="gold.m2")["scores"] == wanted
    given_later.add(sources="a b", prediction="a x")
    assert given_later.compute(gold_m2="gold.m2")["scores"] == [0.5]


BAD = [
    ({}, ValueError, "toy: nothing to score; pass sources and predictions, or call add_batch first"),
    ({"sources": [], "predictions": [], "references": []}, ValueError, "are empty"),
    ({"sources": ["a"], "predictions": ["a"]}, ValueError, "toy: needs references"),
    ({"sources": ["a"], "predictions": ["a", "b"], "references": [["a"]]}, ValueError, "1 source but 2 predictions"),
    ({"predictions": ["a"], "references": [["a"]]}, TypeError, "toy: sources must be a list of strings, got None"),
    ({"sources": ["a"], "references": [["a"]]}, TypeError, "toy: predictions must be a list of strings, got None"),
    ({"sources": ["a"], "predictions": ["a"], "references": [None]}, TypeError, r"references\[0\] must be"),
    ({**COLUMNS, "wieght": 2}, TypeError, "unknown option 'wieght'"),
    ({**COLUMNS, "weight": 0}, ValueError, "must be positive"),
]


@pytest.mark.parametrize(("arguments", "error", "message"), BAD, ids=[message[:30] for _, _, message in BAD])
def test_mistakes_are_named_and_leave_the_module_usable(either, arguments, error, message):
    with pytest.raises(error, match=message):
        either.compute(**arguments)
    result = either.compute(**COLUMNS)
    assert result["scores"] == SCORES


def test_a_bad_batch_adds_nothing(either):
    either.add_batch(**COLUMNS)
    with pytest.raises(ValueError, match="1 source but 2 predictions"):
        either.add_batch(sources=["a"], predictions=["a", "b"], references=[["a"]])
    with pytest.raises(TypeError, match="toy: unknown column 'predicted'; the columns are: sources, predictions"):
        either.add_batch(sources=["a"], predicted=["a"], references=[["a"]])
    assert either.compute()["scores"] == SCORES


def test_warnings_come_once(toy, caplog):
    sources = [f"{letter} {letter} {letter}" for letter in "abcdefg"]
    with caplog.at_level(logging.WARNING, logger="geceval"):
        toy.compute(sources=sources, predictions=sources[::-1][1:] + ["x"], references=sources)
    assert sum("are they in the order of the sources?" in record.message for record in caplog.records) == 1


def test_bad_options_of_load(folder):
    with pytest.raises(TypeError, match="toy: unknown option 'wieght'; the options are: gold_m2, model, weight, "):
        evaluate.load(folder, wieght=2)
    with pytest.raises(ValueError, match="weight must be positive"):
        evaluate.load(folder, weight=-1)
    with pytest.raises(ValueError, match="batch_size must be at least 1"):
        evaluate.load(folder, batch_size=0)


def test_pickling_before_and_after_compute(either):
    assert pickle.loads(pickle.dumps(either)).compute(**COLUMNS)["scores"] == SCORES
    wanted = either.compute(**COLUMNS)
    assert pickle.loads(pickle.dumps(either)).compute(**COLUMNS) == wanted
    assert copy.deepcopy(either).compute(**COLUMNS) == wanted
    either.add(sources="a", prediction="a", reference="a")
    with pytest.raises(pickle.PicklingError, match=r"toy: sentences were added but not scored; call compute\(\) first"):
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
        assert list(pool.map(work, [0, 1, 2] * 6)) == [[score] for score in SCORES] * 6


def test_a_failing_score_leaves_no_file_behind(folder, tmp_path):
    module = evaluate.load(folder, cache_dir=str(tmp_path))
    module.add_batch(sources=["a"], predictions=["a"])
    assert list(tmp_path.rglob("*.arrow"))
    with pytest.raises(ValueError, match="needs references"):
        module.compute()
    assert not list(tmp_path.rglob("*.arrow"))
    assert module.compute(**COLUMNS)["scores"] == SCORES
