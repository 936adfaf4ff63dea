"""geceval: metrics of grammatical error correction as Hugging Face evaluate modules, also offline."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from geceval.version import __version__

if TYPE_CHECKING:
    from geceval.core.cache import clear_caches
    from geceval.hub.load import load
    from geceval.hub.register import register
    from geceval.registry import list_metrics
    from geceval.text.answer_files import read_answers
    from geceval.workflows.attack import attack
    from geceval.workflows.attribution import attribute
    from geceval.workflows.batches import BatchScorer
    from geceval.workflows.choose import mbr, oracle, rerank, vote
    from geceval.workflows.compare import compare
    from geceval.workflows.detect import detect
    from geceval.workflows.edit_filter import filter_edits
    from geceval.workflows.error_types import error_types
    from geceval.workflows.gate import gate
    from geceval.workflows.impacts import edit_impacts
    from geceval.workflows.maege import maege
    from geceval.workflows.reward import reward
    from geceval.workflows.test_sets import test_set
    from geceval.workflows.trainer import trainer_metrics

__all__ = [
    "BatchScorer",
    "__version__",
    "attack",
    "attribute",
    "clear_caches",
    "compare",
    "detect",
    "edit_impacts",
    "error_types",
    "filter_edits",
    "gate",
    "list_metrics",
    "load",
    "maege",
    "mbr",
    "oracle",
    "read_answers",
    "register",
    "rerank",
    "reward",
    "test_set",
    "trainer_metrics",
    "vote",
]

_HOMES = {
    "BatchScorer": "geceval.workflows.batches",
    "attack": "geceval.workflows.attack",
    "attribute": "geceval.workflows.attribution",
    "clear_caches": "geceval.core.cache",
    "compare": "geceval.workflows.compare",
    "detect": "geceval.workflows.detect",
    "edit_impacts": "geceval.workflows.impacts",
    "error_types": "geceval.workflows.error_types",
    "filter_edits": "geceval.workflows.edit_filter",
    "gate": "geceval.workflows.gate",
    "list_metrics": "geceval.registry",
    "load": "geceval.hub.load",
    "maege": "geceval.workflows.maege",
    "mbr": "geceval.workflows.choose",
    "oracle": "geceval.workflows.choose",
    "read_answers": "geceval.text.answer_files",
    "register": "geceval.hub.register",
    "rerank": "geceval.workflows.choose",
    "reward": "geceval.workflows.reward",
    "test_set": "geceval.workflows.test_sets",
    "trainer_metrics": "geceval.workflows.trainer",
    "vote": "geceval.workflows.choose",
}


if not TYPE_CHECKING:  # a checker would take every name for an attribute

    def __getattr__(name: str) -> Any:
        if name not in _HOMES:
            raise AttributeError(f"module 'geceval' has no attribute {name!r}")
        return getattr(importlib.import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
