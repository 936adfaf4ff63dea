"""What a training script says, whatever it trains."""

import argparse
import warnings

from geceval.learning.scripts import run_script

OPTIONS = argparse.Namespace(push_to_hub=None)


def test_libraries_do_not_speak_about_their_future(capsys):
    def train():
        warnings.warn("will be removed in v6", FutureWarning, stacklevel=1)
        return {"seed": 1, "history": []}

    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        assert run_script("train_x", OPTIONS, train, lambda results: {"seed": results["seed"]}) == 0
    assert (seen, capsys.readouterr().out) == ([], '{"seed": 1}\n')


def test_a_mistake_is_one_line(capsys):
    def train():
        raise ValueError("no such thing")

    assert run_script("train_x", OPTIONS, train, dict) == 2
    assert capsys.readouterr() == ("", "train_x: no such thing\n")
