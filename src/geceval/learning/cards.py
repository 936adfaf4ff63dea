"""The model cards of trained checkpoints, made from the numbers of their runs, nothing typed by hand."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from geceval.core.files import read_json
from geceval.models.checkpoints import BUNDLED, is_bundled
from geceval.models.origins.named import large_model, name_of_asset


def _render(template: str, **values: Any) -> str:
    loader = PackageLoader("geceval.learning")
    environment = Environment(loader=loader, undefined=StrictUndefined, trim_blocks=True, keep_trailing_newline=True)  # noqa: S701
    return environment.get_template(template).render(**values)


def table(columns: Iterable[Any], rows: Iterable[Iterable[Any]]) -> str:
    """A Markdown table for a card; floats with three decimals."""
    lines = [[f"{cell:.3f}" if isinstance(cell, float) else str(cell) for cell in row] for row in (columns, *rows)]
    lines.insert(1, ["---"] * len(lines[0]))
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def front_matter(base: str, task: str, tags: Sequence[str]) -> str:
    """The front matter of a card: licence and base model of a bundled or named `base`, the task and the tags."""
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
    return "pooling", {"first": "first token", "mean": "mean of the tokens"}[settings["pooling"]]


def run_rows(runs: Iterable[Mapping[str, Any]], scores: Sequence[str]) -> list[list[Any]]:
    """Seed, best epoch, the scores after it, and seconds of each run."""
    rows = []
    for run in runs:
        best = next(entry for entry in run["history"] if entry["epoch"] == run["epoch"])
        rows.append([run["seed"], run["epoch"], *(best[score] for score in scores), f"{run['seconds']:.0f}"])
    return rows


_TAGS = ["grammatical-error-correction", "evaluate"]


def impara_card(results: Mapping[str, Any], folder: Path) -> str:
    """The card as Markdown."""
    settings, config = results["settings"], read_json(folder / "config.json")
    metric = "impara" if config["geceval_threshold"] >= -1 else "impara_ged"
    similarity_model = config["geceval_se_model"]
    return _render(
        "impara.md",
        front=front_matter(settings["base"], "text-classification", [*_TAGS, metric]),
        metric=metric,
        name=folder.name,
        bundled=is_bundled(settings["base"]),
        made=_impara_made(settings, results),
        corpora=corpora_table(results["data"], settings),
        runs=runs_table(results["runs"]),
        evaluations=evaluation_tables(results),
        se_model="the bundled encoder" if similarity_model == BUNDLED else f"`{similarity_model}`",
        calibration=results.get("calibration"),
        results=results,
        config=config,
    )


def _impara_made(settings: Mapping[str, Any], results: Mapping[str, Any]) -> str:
    base = "the encoder bundled with geceval" if settings["base"] == BUNDLED else f"`{settings['base']}`"
    rows = recipe_rows(settings, base, results["seed"])
    rows[2:2] = [
        pooling_row(settings),
        ("start of pooler, head", f"{settings['pooler']}, {settings['head_deviation'] or 'default'}"),
    ]
    if "log_odds" in results:
        change = "times {scale:.3g}, plus {shift:.3g}".format(**results["log_odds"])
        rows.append(("finished logit", f"{change}: differences are log-odds on the dev fold, the mean there is 0"))
    return table(("setting", "value"), rows)


def corpora_table(data: Sequence[Mapping[str, Any]], settings: Mapping[str, Any]) -> str:
    """The corpora of a run on ranked pairs: name, hash, sizes."""
    hashes = {entry["file"]: entry["sha256"][:12] for entry in settings["m2"]}
    rows = [
        (d["corpus"], hashes.get(d["corpus"], ""), d["corrections"], d["edits"], *d["pairs"].values()) for d in data
    ]
    return table(("corpus", "SHA-256", "corrected sentences", "edits", "training pairs", "dev", "test"), rows)


def runs_table(runs: Sequence[Mapping[str, Any]]) -> str:
    """The runs of all seeds: the best evaluation, losses and accuracies there, seconds."""
    names = [name for name in runs[0]["history"][0] if name.endswith(("_loss", "_accuracy"))]
    columns = [name.replace("_", " ").replace("rated", "rated pairs") for name in names]
    return table(("seed", "best epoch", *columns, "seconds"), run_rows(runs, names))


def impara_lm_card(results: Mapping[str, Any], folder: Path) -> str:
    """The card as Markdown."""
    settings = results["settings"]
    return _render(
        "impara_lm.md",
        front=front_matter(settings["base"], "text-generation", [*_TAGS, "impara_lm"]),
        name=name_of_asset(folder.name).removeprefix("bundled:"),
        made=_lm_made(settings, results["seed"]),
        corpora=corpora_table(results["data"], settings),
        runs=runs_table(results["runs"]),
        head={**settings, **results["head"]} if "head" in results else None,
        evaluations=evaluation_tables(results),
        results=results,
        config=read_json(folder / "config.json"),
    )


def _lm_made(settings: Mapping[str, Any], seed: int) -> str:
    rows = recipe_rows(settings, f"`{settings['base']}`", seed)
    if rank := settings.get("keep_rank"):
        rows.insert(2, ("kept", f"its best approximation of rank {rank}"))
    return table(("setting", "value"), rows)
