"""Parts that the model cards of trained checkpoints share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any


def table(heads: Iterable[Any], rows: Iterable[Iterable[Any]]) -> str:
    """A Markdown table for a card; floats with three decimals."""
    lines = [[f"{cell:.3f}" if isinstance(cell, float) else str(cell) for cell in row] for row in [list(heads), *rows]]
    lines.insert(1, ["---"] * len(lines[0]))
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def evaluation_tables(results: Mapping[str, Any]) -> str:
    """A paragraph and a table for each of `evaluations`: `title`, `command`, `columns`, `rows`."""
    return "".join(
        f"\n{entry['title']} (`{entry['command']}`):\n\n{table(entry['columns'], entry['rows'])}\n"
        for entry in results.get("evaluations", [])
    )


def recipe_rows(settings: Mapping[str, Any], base: str, kept: int) -> list[tuple[str, Any]]:
    """The lines of a card's table of settings that every fine-tuning has: (setting, value)."""
    rank = settings["lora_rank"]
    return [
        ("start", base),
        ("weights", f"a LoRA adapter of rank {rank} on every linear layer" if rank else "all weights tuned"),
        ("learning rate", f"{settings['learning_rate']:g}, {settings['schedule']}, warm-up {settings['warmup']:g}"),
        ("batch size", settings["batch_size"]),
        ("epochs", settings["epochs"]),
        ("precision", settings["dtype"]),
        ("seeds", f"{', '.join(map(str, settings['seeds']))}; kept: {kept}"),
    ]
