"""The page that a metric's Space shows."""

import runpy
import sys
import types

import pytest

import geceval
from geceval.hub.repositories import content, module_repository

gradio = pytest.importorskip("gradio", reason="gradio is not installed (pip install 'geceval[space]')")


@pytest.fixture
def page(tmp_path, monkeypatch):
    """A function that writes the Space of a metric and runs its app.py as the Hub does; returns what it shows."""

    def show(name) -> types.SimpleNamespace:
        for path, file in module_repository(name, "ORG").files.items():
            (tmp_path / path).write_bytes(content(file))
        monkeypatch.syspath_prepend(str(tmp_path))
        return types.SimpleNamespace(**runpy.run_path(str(tmp_path / "app.py")))

    return show


def test_it_scores(page):
    app = page("gleu")
    sources, predictions = ["a cat sit .", "a dog"], ["a cat sat .", "a dog"]
    references = [["a cat sat .", "the cat sat ."], ["a dog"]]
    wanted = geceval.load("gleu").compute(sources=sources, predictions=predictions, references=references)
    shown = app.demo.fn("\n".join(sources), "\n".join(predictions), "a cat sat . || the cat sat .\na dog\n")
    assert shown[0] == wanted["score"]
    assert shown[1] == [[*row] for row in zip(sources, predictions, wanted["scores"], strict=True)]
    assert shown[2] == wanted["signature"]
    assert [box.label.split(",")[0] for box in app.demo.input_components] == ["Sources", "Corrections", "References"]


def test_a_module_does_not_hide_the_package_of_its_name(page, tmp_path):
    """errant.py lies beside app.py, in a folder that Python searches first."""
    app = page("errant")
    assert str(tmp_path) not in sys.path
    assert app.demo.fn("He go .", "He goes .", "He goes .")[0] == 1.0


def test_mistakes_are_shown(page):
    app = page("gleu")
    with pytest.raises(gradio.Error, match="2 sources but 1 prediction"):
        app.demo.fn("a\nb", "a", "a")
    with pytest.raises(gradio.Error, match="At most 200 sentences"):
        app.demo.fn("a\n" * 201, "a\n" * 201, "a\n" * 201)
