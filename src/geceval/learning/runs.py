"""The frame of every training run: claim the folder, read the data, learn with each seed, write results and card."""

# The finished checkpoint lies at the top of the folder. `run/` below it holds what an interrupted run needs to
# continue, and with it sentences of the corpora: it is never uploaded to the Hub.

import contextlib
import dataclasses
import hashlib
import json
import shutil
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from geceval.core.errors import InputError
from geceval.core.files import read_json, unused_name, write_text
from geceval.learning.loop import Objective, best_of, fit
from geceval.learning.recipe import Recipe
from geceval.models.devices import pick_device

# Files that take long to compute: of the network, and the scores of a teacher.
_COSTLY = ("checkpoint-*", "history.json", "shard-*")


def train(
    job: Any,
    folder: str | Path,
    read: Callable[[Path], Any],
    learn: Callable[[Any, Path], Any],
    finish: Callable[[Any, Any], Mapping[str, Any]],
    card: Callable[[Mapping[str, Any], Path], str],
) -> dict[str, Any]:
    """Train from files to a finished checkpoint with its results and card."""
    # A second call with the same job continues where the first was interrupted, or returns its results. A new run that
    # fails before anything costly is saved is removed, so that the corrected command can use the same folder. Under
    # `torchrun` or `accelerate launch` the processes share the work; the first one writes.
    from accelerate import PartialState

    folder = Path(folder)
    run = folder / "run"
    state = PartialState(cpu=pick_device("auto").type == "cpu")  # else processes on CPUs would not know of each other
    with warnings.catch_warnings(), contextlib.ExitStack() as cleaning:
        warnings.simplefilter("ignore", FutureWarning)  # of transformers and peft about each other
        with state.main_process_first():
            settings = check_folder(job, run)
            if claim(settings, run):
                cleaning.enter_context(_removed_on_failure(run))
            else:
                check_folder(job, run)  # another process may have claimed it since
            if (folder / "results.json").is_file():
                return read_results(folder)
            data = read(run)
        outcome = learn(data, run)
        if state.is_main_process:
            write_results(folder, {"settings": settings, **finish(data, outcome)}, card)
        state.wait_for_everyone()
    return read_results(folder)


class Material(NamedTuple):
    """The data of a run: to learn from, to choose a checkpoint by, counts for the card, and a test set."""

    rows: Sequence[Any]
    evaluation: Any
    counts: Any
    test: Any


def train_network(
    job: Any,
    folder: Path,
    objective: Objective,
    read: Callable[[Path], Material],
    finish: Callable[[Material, Path], Mapping[str, Any]],
    card: Callable[[Mapping[str, Any], Path], str],
    progress: bool = False,
    start: str | None = None,
) -> dict[str, Any]:
    """Train a network with each seed of a job, and let `finish` write the best one and measure it."""
    # `start` is a folder below `run/` that `read` has made, in place of the recipe's base.

    def learn(material: Material, run: Path) -> list[dict[str, Any]]:
        recipe = dataclasses.replace(job.recipe, base=str(run / start)) if start else job.recipe
        return fit_seeds(objective, job, recipe, material.rows, material.evaluation, run, progress)

    def write(material: Material, runs: list[dict[str, Any]]) -> dict[str, Any]:
        seed = best_of(objective, runs)["seed"]
        measured = finish(material, network_file(folder / "run", seed))
        return {"data": material.counts, "runs": runs, "seed": seed, **measured}

    return train(job, folder, read, learn, write, card)


@contextlib.contextmanager
def _removed_on_failure(run: Path) -> Iterator[None]:
    """Remove what a new run has written if it fails before hours were spent on it; a kill leaves everything."""
    try:
        yield
    except Exception:
        if not any(file for name in _COSTLY for file in run.rglob(name)):
            shutil.rmtree(run, ignore_errors=True)
            with contextlib.suppress(OSError):
                run.parent.rmdir()
        raise


def claim(settings: Mapping[str, Any], run: Path) -> bool:
    """Begin a new run by writing its settings; whether no run was there before."""
    if (run / "settings.json").is_file():
        return False
    draft = unused_name(run)
    draft.mkdir(parents=True)
    write_text(draft / "settings.json", json.dumps(settings, indent=2) + "\n")
    try:
        draft.rename(run)  # of several processes, all but the first meet a folder that is not empty
    except OSError:
        shutil.rmtree(draft)
        if not (run / "settings.json").is_file():
            raise
        return False
    return True


def check_folder(job: Any, run: Path) -> dict[str, Any]:
    """The settings of a job that may run in this folder; nothing is written."""
    if not job.seeds:
        raise InputError("give at least one seed")
    settings = {f.name: getattr(job, f.name) for f in dataclasses.fields(job) if f.name != "recipe"}
    recipe = dataclasses.asdict(job.recipe)
    del recipe["seed"]
    settings = json.loads(json.dumps({**settings, **recipe}, default=_identity))
    path = run / "settings.json"
    if path.is_file():
        if read_json(path) != settings:
            raise InputError(f"{run.parent}: holds a run with other settings or data; take another folder or remove it")
    elif any(path.is_file() for path in run.parent.rglob("*")):
        raise InputError(f"{run.parent}: holds files, but no training run to continue; choose a new folder")
    return settings


def _identity(path: Path) -> dict[str, str]:
    """The identity of a file wherever it is: its name and SHA-256."""
    return {"file": path.name, "sha256": hashlib.sha256(path.read_bytes()).hexdigest()}


def fit_seeds(
    objective: Objective, job: Any, recipe: Recipe, rows: Sequence[Any], evaluation: Any, run: Path, progress: bool
) -> list[dict[str, Any]]:
    """Call `geceval.learning.loop.fit` with each seed of a job, each in its own folder below `run`."""
    recipes = [dataclasses.replace(recipe, seed=seed) for seed in job.seeds]
    return [fit(objective, each, rows, evaluation, network_file(run, each.seed).parent, progress) for each in recipes]


def network_file(run: Path, seed: int) -> Path:
    """The file to which `fit_seeds` writes the network of a seed."""
    return run / f"seed-{seed}" / "network.safetensors"


def write_results(folder: Path, results: Mapping[str, Any], card: Callable[[Mapping[str, Any], Path], str]) -> None:
    """Write the card that is made from the results, then `results.json`, which marks the run as finished."""
    write_text(folder / "README.md", card(results, folder))
    write_text(folder / "results.json", json.dumps(results, indent=2) + "\n")


def read_results(folder: Path) -> dict[str, Any]:
    """The content of `results.json`."""
    return read_json(folder / "results.json")
