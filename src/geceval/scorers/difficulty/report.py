"""The difficulty of a reference, as files, tables and a heat map."""

from __future__ import annotations

from dataclasses import dataclass

from geceval.edits.gotoscorer_chunks import Chunk
from geceval.scorers.difficulty.chunk_weights import (
    Difficulty,
    TypeRow,
    format_type_table,
    format_weights,
    type_table,
)
from geceval.scorers.difficulty.heat_map import chunk_table, heat_map


@dataclass(frozen=True, slots=True)
class DifficultyReport:
    """A reference in chunks, with the difficulty of each; the methods present it as text or HTML."""

    chunks: list[list[Chunk]]
    difficulty: Difficulty
    weights: list[list[float]]

    def weight_file(self) -> str:
        """The text of a weight file, which the option `weights` takes."""
        return format_weights(self.difficulty)

    def types(self, level: int = 2) -> list[TypeRow]:
        """Difficulty by error type, the hardest first; see `geceval.scorers.difficulty.chunk_weights.type_table`."""
        return type_table(self.chunks, self.weights, level)

    def type_table(self, level: int = 2) -> str:
        """The same as text."""
        return format_type_table(self.types(level))

    def heat_map(self, title: str = "Difficulty heat map") -> str:
        """An HTML page; see `geceval.scorers.difficulty.heat_map.heat_map`."""
        return heat_map(self.chunks, self.difficulty, self.weights, title)

    def chunk_table(self) -> str:
        """Source, correction, weight and type of every chunk as text; see `heat_map.chunk_table`."""
        return chunk_table(self.chunks, self.weights)
