"""Which metrics there are and how they are reached by name; the folder of modules is the list."""

from __future__ import annotations

import ast
import functools
import importlib
import os
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from geceval.core.options import replace_options
from geceval.core.result import Result

if TYPE_CHECKING:
    from geceval.core.inputs import References
    from geceval.hub.module import Module
    from geceval.scorers.base import Scorer


@dataclass(frozen=True, slots=True)
class Entry:
    """One metric, as `geceval list` and the README show it.

    Attributes:
        name: What `load` takes.
        description: One line.
        extra: The extra of the package that it needs (`"edits"`, `"neural"`), or `""`.
        references: Whether it needs references by default.
        higher_is_better: Its direction.
        bounds: Lowest and highest value of `score`; `None` for an open end.
        folder: Where its module lies.
    """

    name: str
    description: str
    extra: str
    references: bool
    higher_is_better: bool
    bounds: tuple[float | None, float | None]
    folder: Path


def modules_folder() -> Path:
    """The folder that holds one folder per metric: beside this package when installed, `metrics/` in a checkout."""
    package = Path(__file__).resolve().parents[1]
    installed = package / "modules"
    return installed if installed.is_dir() else package.parents[1] / "metrics"


def list_metrics() -> list[str]:
    """Names of all metrics, sorted."""
    return sorted(path.parent.name for path in modules_folder().glob("*/*.py") if path.stem == path.parent.name)


def module_folder(name: str) -> Path:
    """Folder of one metric, which `evaluate.load` takes.

    Raises:
        ValueError: If there is no such metric; the message lists those that exist.
    """
    if name not in list_metrics():
        raise ValueError(f"unknown metric {name!r}; the metrics are: {', '.join(list_metrics())}")
    return modules_folder() / name


def load(name: str, **options: Any) -> Module:
    """Load a metric as an `evaluate` module; nothing is downloaded unless an option names a model of the Hub.

    Args:
        name: One of `list_metrics()`.
        options: Settings of the metric, run-time options, and what `evaluate.load` takes (`keep_in_memory`,
            `experiment_id`, ...).

    Raises:
        ValueError: If there is no such metric or an option has a bad value.
        TypeError: If an option does not exist.
    """
    import evaluate

    return evaluate.load(str(module_folder(name)), **options)


def scorer_module(name: str) -> ModuleType:
    """The module of `geceval.scorers` behind a metric.

    Raises:
        ValueError: If there is no such metric.
    """
    module_folder(name)
    return importlib.import_module(f"geceval.scorers.{name}")


def scorer_class(name: str) -> type[Scorer]:
    """The class behind a metric: `scorers/pt_m2.py` holds `PtM2`.

    Raises:
        ValueError: If there is no such metric.
    """
    return getattr(scorer_module(name), "".join(part.capitalize() for part in name.split("_")))


def make_scorer(name: str, options: Mapping[str, Any] | None = None) -> Scorer:
    """A scorer with the given settings and run-time options, without `evaluate`; it gives the same numbers.

    Raises:
        ValueError: If there is no such metric or an option has a bad value.
        TypeError: If an option does not exist.
    """
    cls = scorer_class(name)
    return cls(*replace_options(name, cls.Settings(), cls.RunTime(), options or {}))


def score_systems(
    scorer: Scorer, sources: list[str], systems: Mapping[str, list[str]], references: References | None = None
) -> dict[str, Result]:
    """Score several systems on the same sentences.

    Args:
        scorer: From `make_scorer`. It is told of all systems first: for gotoscorer they define together how hard each
            correction is.
        sources: One string a sentence.
        systems: Name of each system to its predictions.
        references: One list of references a sentence, for scorers that need them.

    Returns:
        Name of each system to its result, in the order given.
    """
    scorer = scorer.among(list(systems.values()))
    return {name: scorer.score(sources, predictions, references) for name, predictions in systems.items()}


@functools.lru_cache
def entry(name: str) -> Entry:
    """What there is to know about a metric; loads no model."""
    folder = module_folder(name)
    cls = scorer_class(name)
    script = ast.parse((folder / f"{name}.py").read_text(encoding="utf-8"))
    requirement = (folder / "requirements.txt").read_text(encoding="utf-8")
    return Entry(
        name=name,
        description=(ast.get_docstring(script) or "").split("\n")[0],
        extra=requirement.partition("[")[2].partition("]")[0],
        references=cls().needs_references(),
        higher_is_better=cls.higher_is_better,
        bounds=cls.bounds,
        folder=folder,
    )


def register(names: list[str] | None = None) -> list[Path]:
    """Make `evaluate.load("impara")` work anywhere, by seeding the module cache of `evaluate`.

    Evaluate looks for a bare name on the Hub first and takes the newest module of that name in its cache when there
    is none. Running this again, or in two processes at once, does no harm: each folder appears complete or not at all.

    Args:
        names: Metrics to register; all by default.

    Returns:
        The scripts in the cache, one a metric.
    """
    from evaluate.loading import files_to_hash, init_dynamic_modules

    parent = Path(init_dynamic_modules()) / "metrics"
    scripts = []
    for name in names or list_metrics():
        source = module_folder(name) / f"{name}.py"
        home = parent / f"evaluate-metric--{name}"
        home.mkdir(parents=True, exist_ok=True)
        for folder in (parent, home):
            (folder / "__init__.py").touch()
        scripts.append(_place(source, home / files_to_hash([str(source)])))
    return scripts


def unregistered() -> tuple[list[str], list[str]]:
    """Metrics that `register` has never been run for, and those for which another version of the module is taken."""
    from evaluate import config
    from evaluate.loading import files_to_hash

    parent = Path(config.HF_MODULES_CACHE) / "evaluate_modules" / "metrics"
    missing, old = [], []
    for name in list_metrics():
        source = modules_folder() / name / f"{name}.py"
        scripts = list((parent / f"evaluate-metric--{name}").glob(f"*/{name}.py"))
        newest = max(scripts, key=lambda script: script.stat().st_mtime, default=None)
        if newest is None:
            missing.append(name)
        elif newest.parent.name != files_to_hash([str(source)]):
            old.append(name)
    return missing, old


def _place(source: Path, target: Path) -> Path:
    """Put a module script into a cache folder of its own, by one rename."""
    script = target / source.name
    if not script.exists():
        with tempfile.TemporaryDirectory(dir=target.parent, prefix=".new-") as temporary:
            fresh = Path(temporary) / "module"
            fresh.mkdir()
            (fresh / "__init__.py").touch()
            shutil.copyfile(source, fresh / source.name)
            try:
                fresh.rename(target)
            except OSError:
                if not script.exists():  # otherwise another process was faster
                    raise
    os.utime(script)  # evaluate takes the newest of several versions
    return script
