"""Every module of metrics/: columns, texts, cards, results, pickling, options and signatures."""

import dataclasses
import doctest
import json
import pickle
import re
import subprocess
import sys

import evaluate
import pytest
from evaluate.naming import camelcase_to_snakecase

import geceval
from geceval import registry
from geceval.hub.cards import lint_metric_card, read_card
from geceval.hub.folders import module_folder

NAMES = registry.list_metrics()
SOURCES = ["He go to school every days .", "She like cats .", "They are happy .", ""]
PREDICTIONS = ["He goes to school every day .", "She like the cats .", "They are happy .", ""]
REFERENCES = [["He goes to school every day .", "He goes to school each day ."], ["She likes cats ."]]
REFERENCES += [["They are happy ."], [""]]
COLUMNS = {"sources": SOURCES, "predictions": PREDICTIONS, "references": REFERENCES}


@pytest.fixture(scope="session")
def load(needed):
    """`geceval.load` with what the metric needs; each module is loaded once."""
    loaded = {}

    def load(name):
        if name not in loaded:
            loaded[name] = geceval.load(name, **needed.get(name, {}))
        return loaded[name]

    return load


@pytest.fixture(scope="session")
def results(load):
    found = {}

    def compute(name):
        if name not in found:
            found[name] = load(name).compute(**COLUMNS)
        return found[name]

    return compute


@pytest.mark.parametrize("name", NAMES)
def test_folder(name, extras):
    folder = module_folder(name)
    files = {path.name for path in folder.iterdir() if path.name != "__pycache__"}
    assert files == {"README.md", f"{name}.py", "requirements.txt"}
    script = (folder / f"{name}.py").read_text(encoding="utf-8")
    assert len(script.splitlines()) <= 130
    (requirement,) = (folder / "requirements.txt").read_text(encoding="utf-8").split()
    extra = registry.scorer_class(name).extra
    assert requirement == (f"geceval[{extra}]" if extra else "geceval")
    assert f"\nimport geceval.hub.evaluate_module  # From: {requirement}\n" in script  # what evaluate says to install
    assert set(filter(None, extra.split(","))) <= set(extras)
    assert lint_metric_card(folder / "README.md") == []


@pytest.mark.parametrize("name", NAMES)
def test_texts_and_columns(name, load):
    module, scorer = load(name), registry.make_scorer(name)
    assert camelcase_to_snakecase(type(module).__name__) == module.name == name
    for text in (module.description, module.citation, module.inputs_description, module.license, module.homepage):
        assert text.strip()
    assert module.reference_urls
    assert sys.modules[type(module).__module__].__doc__ == scorer.description == module.scorer.description
    assert scorer.description.endswith(".")
    assert len(scorer.description) <= 110
    for word in ("Args:", "Returns:", "Examples:"):
        assert word in module.inputs_description
    forms = module.features if isinstance(module.features, list) else [module.features]
    wanted = ["sources", "predictions", *(["references"] if scorer.needs_references() else [])]
    assert [list(form) for form in forms] == [wanted] * len(forms)
    scorer_class = registry.scorer_class(name)
    for field in (*dataclasses.fields(scorer_class.Settings), *dataclasses.fields(scorer_class.RunTime)):
        entry = rf"^    {field.name} \([^:]+\):( |\n {{8}})\S"
        described = re.search(entry, module.inputs_description, re.MULTILINE)
        assert described, f"the docstring of the dataclass does not describe {field.name}"


def plain(value):
    if isinstance(value, dict):
        return all(type(key) is str and plain(item) for key, item in value.items())
    if type(value) is list:
        return all(map(plain, value))
    return type(value) in (str, int, float, bool, type(None))


@pytest.mark.parametrize("name", NAMES)
def test_result_is_plain_and_within_bounds(name, results, tmp_path):
    result = results(name)
    assert plain(result), result
    assert len(result["scores"]) == len(SOURCES)
    low, high = registry.scorer_class(name).bounds
    for value in (result["score"], *result["scores"]):
        assert type(value) is float
        assert (low is None or value >= low - 1e-9) and (high is None or value <= high + 1e-9)
    assert result["signature"].startswith(f"{name}|")
    assert result["signature"].endswith(f"|geceval:{geceval.__version__}")
    saved = evaluate.save(tmp_path / "result.json", **result)
    assert json.loads(saved.read_text())["scores"] == result["scores"]


def same(result, other):
    assert other["scores"] == pytest.approx(result["scores"], abs=1e-5)
    assert other["score"] == pytest.approx(result["score"], abs=1e-5)
    assert other["signature"] == result["signature"]


@pytest.mark.parametrize("name", NAMES)
def test_rows_batches_memory_and_pickles_give_the_same(name, load, needed, results):
    expected = results(name)  # asked of the same module, before rows are added to it
    for module in (load(name), geceval.load(name, keep_in_memory=True, **needed.get(name, {}))):
        for part in (slice(0, 3), slice(3, None)):
            module.add_batch(**{column: rows[part] for column, rows in COLUMNS.items()})
        same(expected, module.compute())
    for source, prediction, reference in zip(SOURCES, PREDICTIONS, REFERENCES, strict=True):
        module.add(sources=source, prediction=prediction, reference=reference)
    same(expected, module.compute())
    same(expected, pickle.loads(pickle.dumps(load(name))).compute(**COLUMNS))


# The second of two processes: it unpickles what the first one pickled, then shares computations with it.
OTHER = f"""
import json, pickle, sys
import geceval
path, shared, needed = json.loads(sys.argv[1])
columns = {COLUMNS!r}
found = {{}}
for name, module in pickle.load(open(path, "rb")).items():
    alone = module.compute(**columns)
    part = geceval.load(name, process_id=1, **shared, experiment_id=name, **needed.get(name, {{}}))
    part.add_batch(**{{column: rows[2:] for column, rows in columns.items()}})
    found[name] = [alone, part.compute()]
print(json.dumps(found))
"""


@pytest.mark.parametrize("names", [["gleu", "impara"], pytest.param(NAMES, marks=pytest.mark.slow)], ids=["two", "all"])
def test_a_fresh_process_unpickles_modules_and_shares_computations(names, load, needed, results, tmp_path):
    pickles = tmp_path / "modules.pickle"
    pickles.write_bytes(pickle.dumps({name: load(name) for name in names}))
    shared = {"num_process": 2, "cache_dir": str(tmp_path)}
    asked = json.dumps([str(pickles), shared, needed])
    other = subprocess.Popen([sys.executable, "-c", OTHER, asked], stdout=subprocess.PIPE, text=True, cwd="/")
    for name in names:
        part = geceval.load(name, process_id=0, **shared, experiment_id=name, **needed.get(name, {}))
        part.add_batch(**{column: rows[:2] for column, rows in COLUMNS.items()})
        same(results(name), part.compute())
    output, _ = other.communicate(timeout=300)
    assert other.returncode == 0
    for name, (alone, second) in json.loads(output.splitlines()[-1]).items():
        same(results(name), alone)
        assert second is None


def test_all_of_them_combine(load, results, tmp_path):
    combined = evaluate.combine([load(name) for name in NAMES])
    at_once = combined.compute(**COLUMNS)
    for part in (slice(0, 1), slice(1, None)):
        combined.add_batch(**{column: rows[part] for column, rows in COLUMNS.items()})
    in_batches = combined.compute()
    for source, prediction, reference in zip(SOURCES, PREDICTIONS, REFERENCES, strict=True):
        combined.add(sources=source, prediction=prediction, reference=reference)
    for together in (at_once, in_batches, combined.compute()):
        for name in NAMES:
            same(results(name), {key: together[f"{name}_{key}"] for key in ("score", "scores", "signature")})
    json.loads(evaluate.save(tmp_path / "all.json", **at_once).read_text())


UNSET = {"max_length": 64, "layer": 1}  # settings that the network sets where they are None, and other values
OTHERS = {bool: lambda value: not value, int: lambda value: value + 1, float: lambda value: value / 2 + 0.01}


@pytest.mark.parametrize("name", NAMES)
def test_the_signature_names_every_setting_and_each_number_and_switch_changes_it(name, load, results):
    signature, settings = results(name)["signature"], registry.scorer_class(name).Settings()
    for field in dataclasses.fields(settings):
        assert f"|{field.name}:" in signature
        value = getattr(settings, field.name)
        if type(value) in OTHERS or field.name in UNSET:
            other = OTHERS[type(value)](value) if type(value) in OTHERS else UNSET[field.name]
            changed = load(name).compute(**COLUMNS, **{field.name: other})["signature"]
            assert changed != signature, field.name


@pytest.mark.parametrize("name", NAMES)
def test_checks_come_before_any_model(name):
    scorer = registry.make_scorer(name)
    scorer.load = lambda: pytest.fail("loaded before the columns were checked")
    with pytest.raises(ValueError, match=f"^{name}: 1 source but 2 predictions"):
        scorer.score(["a"], ["a", "b"], [["a"]])
    with pytest.raises(ValueError, match="^" + name + ": sources and predictions are empty"):
        scorer.score([], [], [])
    with pytest.raises(TypeError, match=rf"^{name}: predictions\[0\] must be a string, got int"):
        scorer.score(["a"], [1], [["a"]])
    if scorer.needs_references():
        with pytest.raises(ValueError, match=f"^{name}: needs references"):
            scorer.score(["a"], ["a"])


@pytest.mark.parametrize("name", NAMES)
def test_examples_of_module_and_card(name, load, needed):
    """Each text by itself, as a reader would run it."""
    card = read_card(module_folder(name) / "README.md").text
    texts = {"card": card} if name in needed else {"module": load(name).inputs_description, "card": card}
    for place, text in texts.items():
        example = doctest.DocTestParser().get_doctest(text, {}, f"{name} ({place})", None, 0)
        assert example.examples or name in needed, f"the {place} of {name} has no examples"
        report = []
        runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
        runner.run(example, out=report.append)
        assert not runner.failures, "".join(report)
