"""What the model cards of all trained checkpoints share: front matter, tables of settings, runs and evaluations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from geceval.models.checkpoints import is_bundled
from geceval.models.origins.named import large_model


def table(columns: Iterable[Any], rows: Iterable[Iterable[Any]]) -> str:
    """A Markdown table for a card; floats with three decimals."""
    lines = [[f"{cell:.3f}" if isinstance(cell, float) else str(cell) for cell in row] for row in (columns, *rows)]
    lines.insert(1, ["---"] * len(lines[0]))
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def front_matter(base: str, task: str, tags: Sequence[str]) -> str:
    """What the Hub reads from a card: licence and base model of a bundled or named `base`, the task and the tags."""
    licence, large = "license: other", large_model(base)
    if large is not None:
        licence = f"license: {large.licence.lower()}\nbase_model: {large.hub_id}"
    elif is_bundled(base):
        licence = "license: apache-2.0\nbase_model: sentence-transformers/all-MiniLM-L6-v2"
    return (
        f"---\nlibrary_name: transformers\nlanguage: en\npipeline_tag: {task}\n"
        f"{licence}\ntags: [{', '.join(tags)}]\n---"
    )


def evaluation_tables(results: Mapping[str, Any]) -> str:
    """A paragraph and a table for each of `evaluations`: `title`, `command`, `columns`, `rows`."""
    return "".join(
        f"\n{entry['title']} (`{entry['command']}`):\n\n{table(entry['columns'], entry['rows'])}\n"
        for entry in results.get("evaluations", [])
    )


def recipe_rows(settings: Mapping[str, Any], base: str, best_seed: Any) -> list[tuple[str, Any]]:
    """The lines of a card's table of settings that every fine-tuning has: (setting, value)."""
    rank = settings["lora_rank"]
    return [
        ("start", base),
        ("weights", f"a LoRA adapter of rank {rank} on every linear layer" if rank else "all weights tuned"),
        ("learning rate", f"{settings['learning_rate']:g}, {settings['schedule']}, warm-up {settings['warmup']:g}"),
        ("batch size", settings["batch_size"]),
        ("epochs", settings["epochs"]),
        ("precision", settings["dtype"]),
        ("seeds", f"{', '.join(map(str, settings['seeds']))}; kept: {best_seed}"),
    ]


def pooling_row(settings: Mapping[str, Any]) -> tuple[str, str]:
    """The line of that table for the pooling, which every sequence classifier has."""
    return "pooling", {"first": "first token", "mean": "mean of the tokens", "last": "last token"}[settings["pooling"]]


def run_rows(runs: Iterable[Mapping[str, Any]], scores: Sequence[str]) -> list[list[Any]]:
    """Seed, best epoch, the scores after it, and seconds of each run."""
    rows = []
    for run in runs:
        best = next(entry for entry in run["history"] if entry["epoch"] == run["epoch"])
        rows.append([run["seed"], run["epoch"], *(best[score] for score in scores), f"{run['seconds']:.0f}"])
    return rows
