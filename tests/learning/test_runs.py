"""The frame of a training run: what a run leaves when it ends, fails or is killed."""

import dataclasses
import json
import warnings
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from geceval.core.errors import InputError
from geceval.learning.recipe import Recipe
from geceval.learning.runs import claim, read_results, train, write_results


@dataclasses.dataclass(frozen=True)
class Job:
    """The least that a run depends on."""

    number: int = 1
    recipe: Recipe = dataclasses.field(default_factory=Recipe)
    seeds: tuple[int, ...] = (1,)


def run(job, folder, read=lambda run: 2, learn=lambda data, run: 3):
    """A run whose result is its data and what was learnt."""
    return train(job, folder, read, learn, lambda data, outcome: {"data": data, "outcome": outcome}, card)


def card(results, folder):
    return "card"


def fail(*_):
    raise InputError("no such thing")


def test_a_second_call_returns_the_results(tmp_path):
    first = run(Job(), tmp_path / "out")
    assert (first["settings"]["number"], first["data"], first["outcome"]) == (1, 2, 3)
    assert run(Job(), tmp_path / "out", read=fail, learn=fail) == first
    with pytest.raises(InputError, match="other settings"):
        run(Job(2), tmp_path / "out")


@pytest.mark.parametrize("step", ["read", "learn"])
def test_the_mended_command_may_use_the_folder_of_a_failed_one(tmp_path, step):
    def fail_late(*arguments):
        (arguments[-1] / "pairs.json").write_text("{}")
        (arguments[-1] / "seed-1").mkdir()
        fail()

    with pytest.raises(InputError, match="no such thing"):
        run(Job(), tmp_path / "out", **{step: fail_late})
    assert list(tmp_path.iterdir()) == []
    assert run(Job(2), tmp_path / "out")["settings"]["number"] == 2


def test_a_folder_with_other_files_is_left_alone(tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "mine").write_text("mine")
    with pytest.raises(InputError, match="holds files, but no training run to continue; choose a new"):
        run(Job(), tmp_path)
    assert [path.name for path in tmp_path.rglob("*")] == ["run", "mine"]


def test_of_runs_that_begin_at_once_one_has_the_folder(tmp_path):
    with ThreadPoolExecutor(4) as pool:
        for round_number in range(50):
            folder, start = tmp_path / str(round_number), Barrier(4)

            def begin(number, folder=folder, start=start):
                start.wait()
                return claim({"number": number}, folder / "run")

            begun = list(pool.map(begin, range(4)))
            assert sorted(begun) == [False, False, False, True]
            assert json.loads((folder / "run/settings.json").read_text()) == {"number": begun.index(True)}
            assert [path.name for path in folder.rglob("*")] == ["run", "settings.json"]


def test_a_run_that_comes_too_late_leaves_the_other_alone(tmp_path):
    class Data(type(tmp_path)):
        """A file whose bytes are read while another run begins."""

        def read_bytes(self):
            if not (tmp_path / "out").exists():
                run(Job(), tmp_path / "out")
            return b""

    with pytest.raises(InputError, match="holds a run with other settings or data"):
        run(Job(Data("data.m2")), tmp_path / "out")
    assert read_results(tmp_path / "out")["outcome"] == 3
    assert (tmp_path / "out/run/settings.json").is_file()


@pytest.mark.parametrize("name", ["seed-1/checkpoint-10", "scores/shard-00000.safetensors"])
def test_what_has_cost_hours_survives_a_failure(tmp_path, name):
    def learn(data, run):
        (run / name).mkdir(parents=True)
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        run(Job(), tmp_path, learn=learn)
    assert (tmp_path / "run" / name).is_dir()
    with pytest.raises(InputError, match="other settings"):
        run(Job(2), tmp_path)
    assert run(Job(), tmp_path)["outcome"] == 3


def test_a_killed_run_is_not_cleared_by_a_later_failure(tmp_path):
    def kill(run):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(Job(), tmp_path, read=kill)
    with pytest.raises(InputError, match="other settings"):
        run(Job(2), tmp_path)
    with pytest.raises(InputError, match="no such thing"):
        run(Job(), tmp_path, read=fail)
    assert json.loads((tmp_path / "run/settings.json").read_text())["number"] == 1


def test_libraries_do_not_speak_about_their_future(tmp_path):
    def learn(data, run):
        warnings.warn("will be removed in v6", FutureWarning, stacklevel=1)

    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        run(Job(), tmp_path, learn=learn)
    assert seen == []


def test_a_run_that_cannot_be_finished_does_not_count_as_finished(tmp_path):
    (tmp_path / "README.md").mkdir()
    with pytest.raises(IsADirectoryError):
        write_results(tmp_path, {"seed": 1}, card)
    assert not (tmp_path / "results.json").exists()
    (tmp_path / "README.md").rmdir()
    write_results(tmp_path, {"seed": 1}, card)
    assert read_results(tmp_path) == {"seed": 1} and (tmp_path / "README.md").read_text() == "card"
