"""The difficulty of a reference, as a file of weights and as tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from geceval.edits.gotoscorer_chunks import Chunk
from geceval.scorers.difficulty.chunk_weights import (
    Difficulty,
    TypeRow,
    format_type_table,
    format_weights,
    type_table,
)


@dataclass(frozen=True, slots=True)
class DifficultyReport:
    """A reference in chunks, with the difficulty of each; the methods present it as text."""

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

    def chunk_table(self) -> str:
        """Source, correction, weight and type of every chunk as text; see `chunk_table`."""
        return chunk_table(self.chunks, self.weights)


def chunk_table(sentences: Iterable[Sequence[Chunk]], weights: Iterable[Sequence[float]]) -> str:
    """Every chunk with its weight: for each sentence a block of four lines, columns aligned."""
    # The lines are `orig` (the source), `gold` (the correction), `weight` and `cat` (the error type); an empty cell is
    # a gap between tokens, or a deletion.
    blocks = []
    for number, (chunks, numbers) in enumerate(zip(sentences, weights, strict=True), start=1):
        columns = [("orig", "gold", "weight", "cat")]
        for chunk, weight in zip(chunks, numbers, strict=True):
            columns.append((chunk.source, chunk.correction, f"{weight:.2f}", chunk.type))
        widths = [max(map(len, column)) for column in columns]
        lines = [
            " | ".join(column[row].ljust(width) for column, width in zip(columns, widths, strict=True)).rstrip()
            for row in range(4)
        ]
        blocks.append(f"# sentence {number}\n" + "\n".join(lines) + "\n")
    return "\n".join(blocks)
