"""`geceval.load`: a metric as an `evaluate` module, from the folder that ships with the package."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from geceval.registry import check_name

if TYPE_CHECKING:
    import evaluate


def modules_folder() -> Path:
    """The folder that holds one folder per metric: beside this package when installed, `metrics/` in a checkout."""
    package = Path(__file__).resolve().parents[1]
    installed = package / "modules"
    return installed if installed.is_dir() else package.parents[1] / "metrics"


def module_folder(name: str) -> Path:
    """Folder of one metric, which `evaluate.load` takes."""
    check_name(name)
    return modules_folder() / name


def load(name: str, **options: Any) -> evaluate.EvaluationModule:
    """Load a metric as an `evaluate` module; nothing is downloaded unless an option names a model of the Hub.

    Args:
        name: One of `list_metrics()`.
        options: Settings of the metric, run-time options, and what `evaluate.load` takes (`keep_in_memory`,
            `experiment_id`, ...). A name that both have, such as `seed` and `timeout` of `llm_judge`, is the metric's.

    Raises:
        ValueError: If there is no such metric or an option has a bad value.
        TypeError: If an option does not exist.
    """
    import evaluate

    return evaluate.load(str(module_folder(name)), **options)
