"""`geceval.load`: a metric as an `evaluate` module, from the folder that ships with the package."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from geceval.hub.folders import module_folder

if TYPE_CHECKING:
    from geceval.hub.evaluate_module import Module


def load(name: str, **options: Any) -> Module:
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

    return cast("Module", evaluate.load(str(module_folder(name)), **options))
