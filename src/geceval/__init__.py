"""geceval: metrics of grammatical error correction as Hugging Face evaluate modules, also offline."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from geceval.version import __version__ as __version__

if TYPE_CHECKING:
    from geceval.core.cache import clear_caches as clear_caches
    from geceval.hub.load import load as load
    from geceval.hub.register import register as register
    from geceval.registry import list_metrics as list_metrics
    from geceval.text.answer_files import read_answers as read_answers
    from geceval.workflows.attack import attack as attack
    from geceval.workflows.attribution import attribute as attribute
    from geceval.workflows.batches import BatchScorer as BatchScorer
    from geceval.workflows.choose import mbr as mbr
    from geceval.workflows.choose import oracle as oracle
    from geceval.workflows.choose import rerank as rerank
    from geceval.workflows.choose import vote as vote
    from geceval.workflows.compare import compare as compare
    from geceval.workflows.detect import detect as detect
    from geceval.workflows.edit_filter import filter_edits as filter_edits
    from geceval.workflows.error_types import error_types as error_types
    from geceval.workflows.gate import gate as gate
    from geceval.workflows.impacts import edit_impacts as edit_impacts
    from geceval.workflows.maege import maege as maege
    from geceval.workflows.reward import reward as reward
    from geceval.workflows.test_sets import test_set as test_set
    from geceval.workflows.trainer import trainer_metrics as trainer_metrics

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
    __all__ = ["__version__", *_HOMES]

    def __getattr__(name: str) -> Any:
        if name not in _HOMES:
            raise AttributeError(f"module 'geceval' has no attribute {name!r}")
        return getattr(importlib.import_module(_HOMES[name]), name)

    def __dir__() -> list[str]:
        return sorted(__all__)
