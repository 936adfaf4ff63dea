"""`geceval train`: train a metric on the user's own corrections."""

import contextlib
import dataclasses
import json
import math
import shlex
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from geceval.cli.options import ManyValuesCommand, refuse
from geceval.core.errors import InputError, Interrupted, counted
from geceval.core.options import Language
from geceval.core.warnings import once

FEW = 50  # held-out pairs, of which two standard errors are a tenth or more

NEGATIVES = 0.25  # measured in training/what-did-not-help.md: people's order gains, most attacks lose

train = typer.Typer(no_args_is_help=True)


@train.callback()
def callback() -> None:
    """Train a metric on corrections of your own."""


Output = Annotated[str, typer.Option("-o", "--output", help="Folder of the checkpoint; new, or of the same run.")]
M2 = Annotated[list[str] | None, typer.Option(help="M2 files, each a corpus of its own.")]
Parallel = Annotated[
    list[str] | None,
    typer.Option(metavar="SOURCE CORRECTED", help="Two text files, one tokenised sentence per line; may be repeated."),
]
Pairs = Annotated[int, typer.Option(help="Ranked pairs from each corpus, split 8:1:1.")]
Epochs = Annotated[int | None, typer.Option(help="Largest number of epochs; the best one is kept.")]
Seeds = Annotated[list[str] | None, typer.Option(help="One run each, the best is kept: 1 2 3 or 1,2,3.")]
Rate = Annotated[float | None, typer.Option("--lr", help="Learning rate.")]
BatchSize = Annotated[int | None, typer.Option(help="Pairs per step.")]
Negatives = Annotated[
    float, typer.Option(help="For each pair, so many of a text and one with words added, repeated or cut off: 0 to 1.")
]
DType = Annotated[str | None, typer.Option(help="float32, or bfloat16 for mixed precision.")]
Nlp = Annotated[str | None, typer.Option(help="--parallel: spaCy pipeline for ERRANT; bundled by default.")]
Edits = Annotated[Language | None, typer.Option(help="--parallel: whose edits are extracted; English by default.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="No progress bars.")]


@train.command("impara", cls=ManyValuesCommand)
def impara(
    output: Output,
    m2: M2 = None,
    parallel: Parallel = None,
    init_from: Annotated[str, typer.Option(help="bundled, a folder, or a Hub id[@revision].")] = "bundled",
    pairs: Pairs = 4096,
    epochs: Epochs = None,
    seeds: Seeds = None,
    learning_rate: Rate = None,
    batch_size: BatchSize = None,
    dtype: DType = None,
    negatives: Negatives = NEGATIVES,
    threshold: Annotated[
        float | None,
        typer.Option(help="Similarity that a correction must pass; by default the bundled IMPARA's, or 0.9."),
    ] = None,
    nlp: Nlp = None,
    language: Edits = None,
    quiet: Quiet = False,
) -> None:
    """Train IMPARA on your own corrections.

    If interrupted, the same command continues.

    Example: geceval train impara --m2 mine.m2 --output my-impara

    Over the bundled encoder the recipe is that of the bundled IMPARA: a LoRA adapter of rank 16 for 3 epochs with
    learning rate 1e-3, and a logit scaled to log-odds; it needs no network and no GPU. Over any other base it is the
    paper's: all weights, at most 10 epochs, learning rate 1e-5.
    """
    from geceval.learning.impara import Job, bundled_scores, suited_recipe, train_impara

    recipe, log_odds = suited_recipe(init_from)
    recipe = _changed(recipe, epochs=epochs, learning_rate=learning_rate, batch_size=batch_size, dtype=dtype)
    material = _material(m2, parallel, nlp, language, pairs, negatives, seeds)
    job = Job(recipe=recipe, threshold=threshold, log_odds=log_odds, **material)
    plan = _plan("IMPARA", "the bundled encoder" if recipe.base == "bundled" else recipe.base, job)
    with _run(job, output, plan):
        results = train_impara(job, output, progress=not quiet)
        print(_report("impara", results, "bundled IMPARA", bundled_scores(output)["accuracy"], output))


@train.command("impara-lm", cls=ManyValuesCommand)
def impara_lm(
    output: Output,
    m2: M2 = None,
    parallel: Parallel = None,
    init_from: Annotated[
        str, typer.Option(help="A causal language model: a name, a folder, or a Hub id[@revision].")
    ] = "smollm2",
    pairs: Pairs = 4096,
    epochs: Epochs = None,
    seeds: Seeds = None,
    learning_rate: Rate = None,
    batch_size: BatchSize = None,
    dtype: DType = None,
    negatives: Negatives = NEGATIVES,
    ratings: Annotated[
        str | None, typer.Option(help="TMU-GFM-Dataset: chooses seed and evaluation; a head learns from it.")
    ] = None,
    nlp: Nlp = None,
    language: Edits = None,
    quiet: Quiet = False,
) -> None:
    """Train IMPARA-LM, a language model, on your corrections.

    If interrupted, the same command continues.

    Example: geceval train impara-lm --m2 mine.m2 --output my-impara-lm

    The recipe is that of smollm2-impara: a LoRA adapter of rank 16, one pass with learning rate 5e-4.
    """
    from geceval.learning.impara_lm import RECIPE, Job, train_impara_lm

    changes = {"epochs": epochs, "learning_rate": learning_rate, "batch_size": batch_size, "dtype": dtype}
    recipe = _changed(RECIPE, base=init_from, **changes)
    rated = Path(ratings) if ratings else None
    job = Job(recipe=recipe, ratings=rated, **_material(m2, parallel, nlp, language, pairs, negatives, seeds))
    with _run(job, output, _plan("IMPARA-LM", init_from, job)):
        results = train_impara_lm(job, output, progress=not quiet)
        print(_report("impara_lm", results, f"{init_from}, untrained", results["untrained"]["accuracy"], output))


@contextlib.contextmanager
def _run(job: Any, folder: str, plan: str) -> Iterator[None]:
    """Check a job before the block that does it; an interrupted one can go on."""
    from geceval.learning.ranked_pairs import check_corpora
    from geceval.learning.runs import check_folder

    with once(set()):  # the files are read again
        check_corpora(job)
        check_folder(job, Path(folder) / "run")
        print(plan)
        try:
            yield
        except KeyboardInterrupt as error:
            raise Interrupted("the same command goes on") from error


def _changed(recipe: Any, **changes: Any) -> Any:
    return dataclasses.replace(recipe, **{name: value for name, value in changes.items() if value is not None})


def _material(
    m2: list[str] | None,
    parallel: list[str] | None,
    nlp: str | None,
    language: Language | None,
    pairs: int,
    negatives: float,
    seeds: list[str] | None,
) -> dict[str, Any]:
    """The fields that the jobs of both metrics have."""
    files = parallel or []
    if not files:
        refuse("is about the texts of --parallel", nlp=nlp, language=language)
    if len(files) % 2:
        raise InputError(f"--parallel takes a source and a corrected file, got {len(files)}: {', '.join(files)}")
    return {
        "m2": tuple(map(Path, m2 or [])),
        "parallel": tuple(zip(map(Path, files[::2]), map(Path, files[1::2]), strict=True)),
        "nlp": nlp or "bundled",
        "language": language or "en",
        "pairs": pairs,
        "negatives": negatives,
        "seeds": _numbers(seeds or ["1"]),
    }


def _numbers(texts: Iterable[str]) -> tuple[int, ...]:
    parts = [part.strip() for text in texts for part in text.split(",")]
    for part in parts:
        if not part.isdecimal():
            raise InputError(f"--seeds must be whole numbers, got {part!r}")
    return tuple(dict.fromkeys(map(int, parts)))


def _plan(metric: str, base: str, job: Any) -> str:
    recipe = job.recipe
    corpora = [path.name for path in job.m2] + [f"{left.name} to {right.name}" for left, right in job.parallel]
    weights = f"a LoRA adapter of rank {recipe.lora_rank}" if recipe.lora_rank else "all weights"
    return (
        f"{metric} over {base}: {weights}, learning rate {recipe.learning_rate:g}, "
        f"at most {counted(recipe.epochs, 'epoch')}, seed {', '.join(map(str, job.seeds))}\n"
        f"from {', '.join(corpora)}: at most {job.pairs} ranked pairs each"
    )


def verdict(accuracy: float, before: float, pairs: int, other: str) -> str:
    """A sentence on the gain of training, as far as the held-out pairs tell."""
    error = math.sqrt((accuracy * (1 - accuracy) + before * (1 - before)) / max(pairs, 1))
    if pairs < FEW:
        return f"{counted(pairs, 'held-out pair')}: too few to judge; train on more corrections"
    if accuracy <= before:
        return f"no better than {other}: stay with it"
    if accuracy - before <= 2 * error:
        return f"not clearly better than {other}: it may be chance; train on more corrections, or stay with it"
    return f"better than {other}, by more than chance"


def _report(metric: str, results: dict[str, Any], other: str, before: float, folder: str) -> str:
    learnt, dev, test = (sum(corpus["pairs"][fold] for corpus in results["data"]) for fold in ("train", "dev", "test"))
    seed = results["seed"]
    epoch = next(run["epoch"] for run in results["runs"] if run["seed"] == seed)
    return "\n".join(
        [
            f"{learnt} pairs to learn from, {dev} to choose by, {test} held out; kept: epoch {epoch} of seed {seed}",
            f"held-out pairs in the right order: {results['test']['accuracy']:.3f} ({other}: {before:.3f})",
            verdict(results["test"]["accuracy"], before, test, other),
            f"the checkpoint and its card are in {folder}; to use it:",
            f"  geceval score -m {metric} -o model={shlex.quote(folder)} -s SOURCE -p SYSTEM...",
            f'  geceval.load("{metric}", model={json.dumps(folder, ensure_ascii=False)})',
        ]
    )
