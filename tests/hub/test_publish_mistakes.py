"""What is not published, and what is left when something breaks."""

import shutil
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from geceval.cli.app import run
from geceval.cli.publish import publish_checkpoint
from geceval.models.checkpoints import CheckpointError, resolve

ROOT = Path(__file__).resolve().parents[2]
SPACE_CARD = (ROOT / "spaces" / "demo" / "README.md").read_text(encoding="utf-8")
# Built at run time, so that this file itself holds no such thing.
SECRETS = ["hf_" + "a1B2" * 9, "sk-" + "a1B2" * 12, "ghp_" + "a1B2" * 9, "AKIA" + "Z" * 16]
SECRETS += ["-----BEGIN PRIVATE " + "KEY-----"]


@pytest.fixture
def checkpoint(make_model):
    return make_model(3)


@pytest.fixture
def space(tmp_path):
    folder = tmp_path / "demo"
    (folder / "__pycache__").mkdir(parents=True)
    texts = {"README.md": SPACE_CARD, "app.py": "demo = None\n", "requirements.txt": "geceval\n", "rows.json": "[]\n"}
    for name, text in {**texts, ".env": "secret\n", "__pycache__/app.pyc": "x"}.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def publish(hub, at_home, capsys):
    """A function that runs `geceval publish` and returns its exit code, output and error."""

    def call(*arguments, **more):
        capsys.readouterr()  # what the fixtures said
        with at_home(hub, **more):
            code = run(["publish", *map(str, arguments), "--org", "ORG"])
        return code, *capsys.readouterr()

    return call


@pytest.fixture
def refused(publish):
    """A function that runs `geceval publish`, which must fail as a mistake of the user; its one line."""

    def call(*arguments, **more):
        code, out, error = publish(*arguments, **more)
        assert (code, out, error.count("\n")) == (2, "", 1)
        assert error.startswith("geceval: error: ")
        return error

    return call


def only_ours(repo):
    return set(repo.files) - {".gitattributes"}


def test_a_space(publish, hub, space):
    assert publish("space", space, "--name", "gec", "--tag", "v1")[0] == 0
    repo = hub.repos["space", "ORG/gec"]
    assert only_ours(repo) == {"README.md", "app.py", "requirements.txt", "rows.json"}
    assert repo.files["README.md"].data.decode() == SPACE_CARD


def test_a_space_installs_geceval_from_what_it_is_given(publish, refused, hub, space, tmp_path):
    (space / "requirements.txt").write_text("# ours\n.[neural,edits]\nmarkdown\n", encoding="utf-8")
    assert "which a Space does not have: build a wheel" in refused("space", space)
    wheel = tmp_path / "geceval-9.9-py3-none-any.whl"
    assert "expected a URL, or the file of a wheel" in refused("space", space, "--package", wheel)
    wheel.write_bytes(b"wheel")
    private = refused("space", space, "--package", wheel, "--private")
    assert "a private Space cannot fetch its own wheel" in private

    def requirement():
        lines = hub.repos["space", "ORG/demo"].files["requirements.txt"].data.decode().splitlines()
        assert [lines[0], lines[2]] == ["# ours", "markdown"]
        return Requirement(lines[1])

    assert publish("space", space, "--package", wheel)[0] == 0
    found, files = requirement(), hub.repos["space", "ORG/demo"].files
    assert (found.name, found.extras) == ("geceval", {"neural", "edits"})
    assert found.url.endswith(f"/spaces/ORG/demo/resolve/main/{wheel.name}") and wheel.name in files
    assert publish("space", space, "--package", "git+https://host/ORG/geceval")[0] == 0
    assert requirement().url == "git+https://host/ORG/geceval"
    assert wheel.name not in hub.repos["space", "ORG/demo"].files


def test_what_left_the_folder_leaves_the_repository(publish, hub, space):
    publish("space", space)
    (space / "rows.json").unlink()
    publish("space", space)
    repo = hub.repos["space", "ORG/demo"]
    assert only_ours(repo) == {"README.md", "app.py", "requirements.txt"}
    assert "rows.json" in repo.commits[1][2]


def test_a_dry_run_says_it_all_and_asks_nobody(publish, hub, space):
    code, out, _ = publish("space", space, "--dry-run", token=None)
    assert code == 0
    assert out.splitlines()[0] == "would publish the space ORG/demo:"
    assert "  requirements.txt (8 bytes)" in out.splitlines()
    assert hub.requests == []


@pytest.mark.parametrize("secret", SECRETS)
def test_no_secret_goes_out(refused, hub, space, secret):
    (space / "app.py").write_text(f'KEY = "{secret}"\n', encoding="utf-8")
    for more in ([], ["--dry-run"]):
        error = refused("space", space, *more)
        assert "ORG/demo: app.py holds what looks like a token or key" in error
        assert secret not in error
    assert hub.requests == []


def test_nor_the_token_in_use_whatever_its_form(refused, hub, hub_server, checkpoint):
    path, note = checkpoint / "config.json", f'{{"note": "{hub_server.TOKEN}", '
    path.write_text(path.read_text().replace("{", note, 1))
    assert "config.json holds what looks like a token or key" in refused("checkpoint", checkpoint)
    assert hub.requests == []


@pytest.mark.parametrize("name", ["corpus.m2", "train.txt", "pytorch_model.bin", "sentences/dev.json"])
def test_a_checkpoint_takes_nothing_else_along(refused, hub, checkpoint, name):
    (checkpoint / name).parent.mkdir(exist_ok=True)
    (checkpoint / name).write_text("He go to school .\n")
    error = refused("checkpoint", checkpoint)
    assert f"{name}: does not belong in what is published" in error
    assert hub.requests == []


def test_the_run_of_a_training_stays_here(hub, at_home, checkpoint):
    (checkpoint / "run").mkdir()
    (checkpoint / "run" / "pairs.json").write_text('{"test": [["He go to school ."]]}')
    with at_home(hub), pytest.raises(ValueError, match="no finished checkpoint; train first"):
        publish_checkpoint(checkpoint, "ORG/tiny")
    (checkpoint / "results.json").write_text("{}")
    with at_home(hub):
        publish_checkpoint(checkpoint, "ORG/tiny")
    names = only_ours(hub.repos["model", "ORG/tiny"])
    assert names == {path.name for path in checkpoint.iterdir()} - {"run"}


def test_an_adapter_over_a_folder_of_this_machine_is_refused(refused, hub, checkpoint, tmp_path):
    from safetensors.torch import save_file

    adapter = tmp_path / "adapter"
    adapter.mkdir()
    for name in ("README.md", "config.json"):
        shutil.copy(checkpoint / name, adapter)
    (adapter / "adapter_config.json").write_text(f'{{"base_model_name_or_path": "{checkpoint}"}}')
    save_file({}, adapter / "adapter_model.safetensors")
    assert f"its base is {checkpoint}, a folder of this machine" in refused("checkpoint", adapter)
    assert hub.requests == []


def test_a_similarity_estimator_of_this_machine_is_warned_of(publish, checkpoint):
    config = (checkpoint / "config.json").read_text().replace("{", f'{{"geceval_se_model": "{checkpoint}", ', 1)
    (checkpoint / "config.json").write_text(config)
    code, _, error = publish("checkpoint", checkpoint, "--dry-run")
    assert code == 0
    assert f"is {checkpoint}, a folder of this machine; elsewhere the checkpoint needs se_model=" in error


def test_texts_without_an_open_licence_stay_private(publish, refused, hub, write_data, tmp_path):
    folder = write_data(tmp_path / "notes", "conll14")
    error = refused("data", folder)
    assert "ORG/notes: its licence is 'other', which lets nobody pass the texts on; --private" in error
    assert hub.requests == []
    assert publish("data", folder, "--private")[0] == 0
    assert hub.repos["dataset", "ORG/notes"].private
    hub.repos["dataset", "ORG/notes"].private = False
    assert "ORG/notes is there already and public" in refused("data", folder, "--private")


def test_a_data_set_is_its_tables(publish, refused, hub, write_data, tmp_path):
    folder = write_data(tmp_path / "notes", "jfleg")
    assert publish("data", folder)[0] == 0
    assert not hub.repos["dataset", "ORG/notes"].private
    (folder / "raw" / "more.parquet").write_bytes(b"PAR1")
    assert "configs do not name raw/more.parquet" in refused("data", folder)
    (folder / "raw" / "more.parquet").rename(folder / "raw.m2")
    assert "raw.m2: does not belong" in refused("data", folder)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["modules", "nothing"], "unknown metric 'nothing'"),
        (["modules", "gleu", "--tag", "v1.2.3"], "evaluate takes three numbers for a release of its own"),
        (["modules", "gleu", "--tag", "a b"], "letters, digits, dots and dashes only"),
        (["checkpoint", "bundled:nothing"], "no checkpoint 'nothing' is bundled"),
        (["checkpoint", "bundled:impara", "--name", "a/b"], "is no name of the Hub"),
        (["checkpoint", "{space}"], "no finished checkpoint; train first"),
        (["space", "{space}/none"], "there is no card; nothing is published without one"),
        (["data", "{space}"], "pretty_name must be of type str, got None"),
    ],
)
def test_mistakes_are_one_line(refused, hub, space, arguments, message):
    assert message in refused(*[argument.format(space=space) for argument in arguments])
    assert hub.requests == []


def test_another_repository_of_that_name_is_left_alone(refused, hub, hub_server, space):
    repo = hub.create("space", "ORG/demo")
    repo.commit({**repo.files, "main.py": hub_server.File(b"print()\n", False)}, "mine")
    error = refused("space", space)
    assert "ORG/demo is there already and something else (no app.py); choose another name" in error
    assert len(repo.commits) == 2


@pytest.mark.parametrize(
    ("token", "message"),
    [
        (None, "no token of the Hub"),
        ("hf_wrong", "the token was not accepted (Invalid credentials in Authorization header)"),
        ("hf_reader", "the token may not do this (You don't have the rights to write under this namespace)"),
    ],
)
def test_tokens_that_do_not_do(refused, hub, space, token, message):
    assert message in refused("space", space, token=token)
    assert hub.repos == {}


def test_loading_with_a_wrong_token(publish, hub, at_home, checkpoint):
    publish("checkpoint", checkpoint, "--name", "tiny")
    with at_home(hub, token="hf_wrong"), pytest.raises(CheckpointError, match="the Hub does not accept your token"):
        resolve("ORG/tiny")
    hub.repos["model", "ORG/tiny"].private = True
    told = "nor a repository of the Hub that you may read"
    with at_home(hub, token=None), pytest.raises(CheckpointError, match=told):
        resolve("ORG/tiny")
    with at_home(hub):
        assert resolve("ORG/tiny").identity == f"ORG/tiny@{hub.repos['model', 'ORG/tiny'].head[:7]}"


def test_no_hub(refused, hub, space, at_home, capsys):
    from huggingface_hub import constants

    with at_home(hub), pytest.MonkeyPatch.context() as patch:  # undone first, or all tests after this would be online
        patch.setattr(constants, "HF_HUB_OFFLINE", True)
        patch.setenv("HF_HUB_OFFLINE", "1")
        assert run(["publish", "space", str(space), "--org", "ORG"]) == 2
    assert "the Hub is switched off (HF_HUB_OFFLINE)" in capsys.readouterr().err
    assert hub.requests == []
    hub.close()
    assert "the connection to the Hub failed" in refused("space", space)


def test_a_download_that_breaks_off(hub, hub_server, at_home):
    repo = hub.create("model", "ORG/tiny")
    files = {"config.json": hub_server.File(b"{}", False), "model.safetensors": hub_server.File(bytes(20000), True)}
    repo.commit(files, "weights")
    hub.fault = hub_server.Fault("GET", "/storage/", "drop", times=99)
    with at_home(hub), pytest.raises(CheckpointError, match="the Hub cannot be reached"):
        resolve("ORG/tiny")


@pytest.mark.parametrize(("how", "commits"), [("drop", 1), ("lose", 2)])
def test_a_commit_that_breaks_off(publish, refused, hub, hub_server, checkpoint, how, commits):
    """Whether the Hub had heard it all or not: the repository is whole, and the same command ends the work."""
    hub.fault = hub_server.Fault("POST", "/commit/", how)
    error = refused("checkpoint", checkpoint, "--name", "tiny", "--tag", "v1")
    repo = hub.repos["model", "ORG/tiny"]
    assert "A repository changes as a whole or not at all; run the same command again" in error
    assert len(repo.commits) == commits
    assert repo.tags == {}
    assert only_ours(repo) in (set(), {"README.md", "config.json", "model.safetensors", "tokenizer.json",
                                       "tokenizer_config.json"})  # fmt: skip
    assert publish("checkpoint", checkpoint, "--name", "tiny", "--tag", "v1")[0] == 0
    assert len(repo.commits) == 2
    assert repo.tags == {"v1": repo.head}
