"""Metrics whose networks read what several systems wrote in one go."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from geceval.core.errors import InputError, InputTypeError
from geceval.core.inputs import check_columns
from geceval.scorers.base import Scorer

if TYPE_CHECKING:
    from typing_extensions import Self


class ReadAheadScorer(Scorer):
    """A metric whose first call of `score` reads what the next ones, for the other systems, will ask for."""

    _systems: Sequence[Sequence[str]] = ()

    def with_systems(self, systems: Sequence[Sequence[str]]) -> Self:
        """This scorer; the first call of `score` reads the rows of all systems, so that the others find them read."""
        scorer = copy.copy(self)
        scorer._systems = systems
        return scorer

    def _rows_of_systems(self, sources: Sequence[str]) -> tuple[list[str], list[str]]:
        """Sources and predictions of the distinct rows of all systems, the first time; then none."""
        systems, self._systems = self._systems, ()
        rows: dict[tuple[str, str], None] = {}
        for predictions in systems:
            with suppress(InputError, InputTypeError):  # raised again when it is the turn of this system
                checked = check_columns(self.name, sources, predictions, warn=False)
                rows.update(dict.fromkeys(zip(checked.sources, checked.predictions, strict=True)))
        return [source for source, _ in rows], [prediction for _, prediction in rows]
