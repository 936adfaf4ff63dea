"""Publishing to a Hub on this machine and loading from it, with the real client libraries on our side."""

import json
import shutil
import subprocess
import sys

import pytest

import geceval
from geceval import registry
from geceval.cli.app import run
from geceval.hub.folders import module_folder

COLUMNS = {
    "sources": ["This are a sentence .", "He go to school every days ."],
    "predictions": ["This is a sentence .", "He goes to school every day ."],
}
REFERENCES = [["This is a sentence ."], ["He goes to school each day ."]]

# Runs in a process of its own with an empty cache; prints one JSON object.
LOADER = """
import json, sys, warnings
import datasets, evaluate, transformers
from evaluate.loading import evaluation_module_factory, import_main_class
from geceval.models.checkpoints import CheckpointError

columns, references, names = json.loads(sys.argv[1])
found = {}
found["scripts"] = [
    import_main_class(evaluation_module_factory(f"ORG/{name}").module_path).__name__.lower() for name in names
]
impara = evaluate.load("ORG/impara", model="ORG/impara-minilm")
found["impara"] = impara.compute(**columns)
found["pinned"] = [
    impara.compute(**columns, model=f"ORG/tiny@{revision}", threshold=-2)["score"] for revision in ("v1", "v2", "main")
]
found["gleu"] = [
    evaluate.load("ORG/gleu", revision=revision).compute(**columns, references=references).get("edition")
    for revision in ("v1", "v2", None)
]
for name, revision in {"first": "v1", "second": "v2", "newest": "main"}.items():
    rows = datasets.load_dataset("ORG/notes", split="test", revision=revision)
    found[name] = rows["source"][:]
    model = transformers.AutoModelForSequenceClassification.from_pretrained("ORG/tiny", revision=revision)
    tokenizer = transformers.AutoTokenizer.from_pretrained("ORG/tiny", revision=revision)
    found[name + " logit"] = model(**tokenizer(columns["predictions"][0], return_tensors="pt")).logits.item()
found["configs"] = datasets.get_dataset_config_names("ORG/notes")
found["errors"] = []
for model in ("ORG/nothing", "ORG/tiny@v9"):
    try:
        impara.compute(**columns, model=model)
    except CheckpointError as error:
        found["errors"].append(str(error))
try:
    evaluate.load("ORG/nothing")
except FileNotFoundError as error:
    found["errors"].append(str(error))
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def tiny(make_model):
    """Two versions of a tiny checkpoint."""
    return [make_model(seed) for seed in (1, 2)]


@pytest.fixture(scope="module")
def published(hub_server, at_home, tiny, write_data, tmp_path_factory):
    """A Hub on which everything was published, some of it twice."""
    server = hub_server.HubServer()
    with at_home(server):

        def publish(*arguments):
            assert run(["publish", *map(str, arguments)]) == 0

        publish("modules", "--org", "ORG", "--tag", "v1")
        copy = tmp_path_factory.mktemp("modules")
        shutil.copytree(module_folder("gleu"), copy / "gleu")
        script = copy / "gleu" / "gleu.py"
        edition = "    def compute(self, **columns):\n        'Score.'\n"
        edition += "        return {**super().compute(**columns), 'edition': 2}\n"
        script.write_text(script.read_text(encoding="utf-8").rstrip() + "\n\n" + edition, encoding="utf-8")
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("geceval.hub.folders.modules_folder", lambda: copy)
            publish("modules", "gleu", "--org", "ORG", "--tag", "v2")
        publish("checkpoint", "bundled:impara", "--org", "ORG", "--name", "impara-minilm")
        folder = tmp_path_factory.mktemp("data")
        for number, checkpoint in enumerate(tiny, start=1):
            publish("checkpoint", checkpoint, "--org", "ORG", "--name", "tiny", "--tag", f"v{number}")
            notes = write_data(folder / f"{number}", "jfleg", [f"note {number}", "a second note"][:number])
            publish("data", notes, "--org", "ORG", "--name", "notes", "--tag", f"v{number}")
    yield server
    server.close()


@pytest.fixture(scope="module")
def loaded(published, environment, tmp_path_factory):
    """What a process finds that has never seen any of it."""
    asked = json.dumps([COLUMNS, REFERENCES, registry.list_metrics()])
    home = tmp_path_factory.mktemp("empty")
    line, stranger = [sys.executable, "-c", LOADER, asked], environment(published, home, token=None)
    done = subprocess.run(line, capture_output=True, text=True, cwd="/", env=stranger)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.slow
def test_every_metric_has_its_space(published):
    for name in registry.list_metrics():
        repo = published.repos["space", f"ORG/{name}"]
        assert set(repo.files) == {".gitattributes", "README.md", "app.py", "requirements.txt", f"{name}.py"}
        assert repo.files["requirements.txt"].data.startswith(b"geceval")
        assert len(repo.commits) == (3 if name == "gleu" else 2)  # that of the Hub, and one of ours a version
        assert repo.tags["v1"] == repo.commits[1][0]


@pytest.mark.slow
def test_modules_load_by_their_name_on_the_hub(loaded):
    assert loaded["scripts"] == [name.replace("_", "") for name in registry.list_metrics()]


@pytest.mark.slow
def test_a_metric_and_a_checkpoint_of_the_hub_give_the_score_of_this_machine(loaded, published):
    here = geceval.load("impara").compute(**COLUMNS)
    assert loaded["impara"]["scores"] == here["scores"]
    commit = published.repos["model", "ORG/impara-minilm"].head[:7]
    assert f"|model:ORG/impara-minilm@{commit}|" in loaded["impara"]["signature"]


@pytest.mark.slow
def test_a_revision_pins(loaded, tiny):
    module = geceval.load("impara", threshold=-2)
    scores = [module.compute(**COLUMNS, model=str(folder))["score"] for folder in tiny]
    assert scores[0] != scores[1]
    assert loaded["pinned"] == pytest.approx([*scores, scores[1]], abs=1e-6)
    assert loaded["gleu"] == [None, 2, 2]
    assert loaded["first"] == ["note 1"]
    assert loaded["second"] == loaded["newest"] == ["note 2", "a second note"]
    assert loaded["first logit"] != loaded["second logit"] == loaded["newest logit"]
    assert loaded["configs"] == ["corrected", "raw"]


@pytest.mark.slow
def test_what_is_missing_is_named(loaded):
    nothing, revision, module = loaded["errors"]
    assert nothing.startswith("impara: ORG/nothing: neither a folder here nor a repository of the Hub")
    assert revision == "impara: ORG/tiny: the Hub has no revision 'v9' of it"
    assert "ORG/nothing" in module


def test_the_card_names_the_checkpoint_as_the_hub_does(published):
    card = published.repos["model", "ORG/tiny"].files["README.md"].data.decode()
    assert 'geceval.load("impara", model="ORG/tiny")' in card
    card = published.repos["model", "ORG/impara-minilm"].files["README.md"].data.decode()
    assert 'impara = geceval.load("impara", model="ORG/impara-minilm")' in card


def test_published_again_nothing_is_sent(published, at_home, tiny, capsys):
    repo = published.repos["model", "ORG/tiny"]
    before = len(repo.commits)

    def publish(folder, tag):
        return run(["publish", "checkpoint", str(folder), "--org", "ORG", "--name", "tiny", "--tag", tag])

    with at_home(published):
        assert [publish(tiny[0], "v1"), publish(tiny[1], "v2"), publish(tiny[0], "v2")] == [0, 0, 2]
    captured = capsys.readouterr()
    assert captured.out.count("unchanged http://127.0.0.1") == 2
    assert "ORG/tiny: the tag v2 already names another version; choose a new tag" in captured.err
    assert len(repo.commits) == before
