"""geceval: metrics of grammatical error correction as Hugging Face evaluate modules, also offline."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from geceval.version import __version__

if TYPE_CHECKING:
    from geceval.hub.attribution import attribute
    from geceval.hub.batches import BatchScorer
    from geceval.hub.compare import compare
    from geceval.hub.maege import maege
    from geceval.hub.registry import list_metrics, load, register
    from geceval.hub.reward import reward
    from geceval.hub.trainer import trainer_metrics
    from geceval.scorers.impara import edit_impacts

__all__ = [
    "BatchScorer",
    "__version__",
    "attribute",
    "compare",
    "edit_impacts",
    "list_metrics",
    "load",
    "maege",
    "register",
    "reward",
    "trainer_metrics",
]

_HOMES = {
    "BatchScorer": "geceval.hub.batches",
    "attribute": "geceval.hub.attribution",
    "compare": "geceval.hub.compare",
    "edit_impacts": "geceval.scorers.impara",
    "list_metrics": "geceval.hub.registry",
    "load": "geceval.hub.registry",
    "maege": "geceval.hub.maege",
    "register": "geceval.hub.registry",
    "reward": "geceval.hub.reward",
    "trainer_metrics": "geceval.hub.trainer",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'geceval' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
