"""Russian: no tagger, and each changed word an edit of its own, as in the gold of LORuGEC."""

from __future__ import annotations

from typing import TYPE_CHECKING

from geceval.edits.errant.languages import merging
from geceval.edits.errant.languages.untagged import classify, tagger

if TYPE_CHECKING:
    from errant.alignment import Alignment
    from errant.edit import Edit as ErrantEdit

__all__ = ["classify", "get_rule_edits", "tagger"]


def get_rule_edits(alignment: Alignment) -> list[ErrantEdit]:
    """The edits of an alignment; called by ERRANT."""
    return merging.merge(alignment, frozenset())
