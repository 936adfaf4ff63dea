"""`geceval train`: train a metric on the user's own corrections."""

from __future__ import annotations

import dataclasses
import json
import shlex
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import typer

from geceval.cli.arguments import ManyValuesCommand
from geceval.core.errors import InputError

train = typer.Typer(help="Train a metric on corrections of your own.", no_args_is_help=True, rich_markup_mode=None)


@train.command("impara", cls=ManyValuesCommand)
def impara(
    output: Annotated[str, typer.Option("-o", "--output", help="Folder of the checkpoint; new, or of the same run.")],
    m2: Annotated[list[str] | None, typer.Option(help="M2 files, each a corpus of its own.")] = None,
    parallel: Annotated[
        list[str] | None,
        typer.Option(
            metavar="SOURCE CORRECTED", help="Two text files, one tokenised sentence per line; may be repeated."
        ),
    ] = None,
    init_from: Annotated[str, typer.Option(help="bundled, a folder, or a Hub id[@revision].")] = "bundled",
    pairs: Annotated[int, typer.Option(help="Ranked pairs from each corpus, split 8:1:1.")] = 4096,
    epochs: Annotated[int | None, typer.Option(help="Largest number of epochs; the best one is kept.")] = None,
    seeds: Annotated[list[str] | None, typer.Option(help="One run each, the best is kept: 1 2 3 or 1,2,3.")] = None,
    learning_rate: Annotated[float | None, typer.Option("--lr", help="Learning rate.")] = None,
    batch_size: Annotated[int | None, typer.Option(help="Pairs per step.")] = None,
    dtype: Annotated[str | None, typer.Option(help="float32, or bfloat16 for mixed precision.")] = None,
    threshold: Annotated[
        float | None,
        typer.Option(help="Similarity that a correction must pass; by default the bundled IMPARA's, or 0.9."),
    ] = None,
    nlp: Annotated[str | None, typer.Option(help="--parallel: spaCy pipeline for ERRANT.")] = None,
    push_to_hub: Annotated[str | None, typer.Option(metavar="ORG/NAME", help="Push the finished checkpoint.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Push nothing, only say what would be pushed.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress bars.")] = False,
) -> None:
    """Train the quality estimator of IMPARA on your own corrections; if interrupted, the same command continues.

    Example: geceval train impara --m2 mine.m2 --output my-impara

    Over the bundled encoder the recipe is that of the bundled IMPARA: a LoRA adapter of rank 16 for 3 epochs with
    learning rate 1e-3, and a logit scaled to log-odds; it needs no network and no GPU. Over any other base it is the
    paper's: all weights, at most 10 epochs, learning rate 1e-5.
    """
    from geceval.hub.publish.push import push_and_print
    from geceval.learning.impara.job import Job, suited_recipe
    from geceval.learning.impara.train import bundled_scores, train_impara

    recipe, log_odds = suited_recipe(init_from)
    given = {"epochs": epochs, "learning_rate": learning_rate, "batch_size": batch_size, "dtype": dtype}
    job = Job(
        m2=tuple(map(Path, m2 or [])),
        parallel=_two_by_two(parallel or []),
        recipe=dataclasses.replace(recipe, **{name: value for name, value in given.items() if value is not None}),
        seeds=_numbers(seeds or ["1"]),
        pairs=pairs,
        nlp=nlp,
        threshold=threshold,
        log_odds=log_odds,
    )
    print(_plan(job))
    results = train_impara(job, output, progress=not quiet)
    print(_report(results, bundled_scores(output)["accuracy"], output))
    if push_to_hub:
        push_and_print(output, push_to_hub, dry_run)


def _two_by_two(files: list[str]) -> tuple[tuple[Path, Path], ...]:
    if len(files) % 2:
        raise InputError(f"--parallel takes a source and a corrected file, got {len(files)}: {', '.join(files)}")
    return tuple(zip(map(Path, files[::2]), map(Path, files[1::2]), strict=True))


def _numbers(texts: Iterable[str]) -> tuple[int, ...]:
    parts = [part.strip() for text in texts for part in text.split(",")]
    for part in parts:
        if not part.isdecimal():
            raise InputError(f"--seeds must be whole numbers, got {part!r}")
    return tuple(dict.fromkeys(map(int, parts)))


def _plan(job: Any) -> str:
    recipe = job.recipe
    corpora = [path.name for path in job.m2] + [f"{left.name} to {right.name}" for left, right in job.parallel]
    weights = f"a LoRA adapter of rank {recipe.lora_rank}" if recipe.lora_rank else "all weights"
    base = "the bundled encoder" if recipe.base == "bundled" else recipe.base
    return (
        f"IMPARA over {base}: {weights}, learning rate {recipe.learning_rate:g}, at most {recipe.epochs} epochs, "
        f"seed {', '.join(map(str, job.seeds))}\n"
        f"from {', '.join(corpora)}: at most {job.pairs} ranked pairs each"
    )


def _report(results: dict[str, Any], before: float, folder: str) -> str:
    learnt, dev, test = (sum(corpus["pairs"][fold] for corpus in results["data"]) for fold in ("train", "dev", "test"))
    seed = results["seed"]
    epoch = next(run["epoch"] for run in results["runs"] if run["seed"] == seed)
    return "\n".join(
        [
            f"{learnt} pairs to learn from, {dev} to choose by, {test} held out; kept: epoch {epoch} of seed {seed}",
            f"held-out pairs in the right order: {results['test']['accuracy']:.3f} (bundled IMPARA: {before:.3f})",
            f"the checkpoint and its card are in {folder}; to use it:",
            f"  geceval score -m impara -o model={shlex.quote(folder)} -s SOURCE -p SYSTEM...",
            f'  geceval.load("impara", model={json.dumps(folder, ensure_ascii=False)})',
        ]
    )
