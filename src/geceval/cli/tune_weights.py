"""`geceval meta tune-weights`: weights of SOME's three sub-metrics, tuned on human judgments."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

import numpy as np
import typer

import geceval.cli.options as shared
from geceval import registry
from geceval.cli.metric_options import metric_options
from geceval.cli.tables import show
from geceval.core.errors import InputError
from geceval.corpora.judgments import read_human
from geceval.meta.agreement import Pairs, agreement, judged_pairs
from geceval.meta.correlation import correlate
from geceval.meta.tune_weights import Tuned, split_pairs, tune_on_sentences, tune_on_systems, weight_grid
from geceval.scorers.some import SUBMETRICS, WEIGHTS
from geceval.workflows.meta_evaluation import choose_systems

Level = Literal["system", "sentence"]

METRIC = "some"
DEFAULTS = {"seeda": {"system": "ts_sent", "sentence": "sent"}, "gjg15": {"system": "ts"}}

Rows = tuple[list[str], list[list[Any]]]


def tune_weights(
    data: Annotated[str, typer.Option("--data", help="A checkout of SEEDA, GJG15 or GMEG.")],
    human: Annotated[
        str | None,
        typer.Option(help="A ranking of systems (ts_sent, ew, ...) or, for sentences, judgments (sent, edit, all)."),
    ] = None,
    level: Annotated[Level, typer.Option(help="Maximise Pearson on systems, or Kendall on sentences.")] = "system",
    systems: Annotated[
        list[str] | None, typer.Option(help="base, +INPUT, +fluency or all, or names of systems.")
    ] = None,
    share: Annotated[
        float | None, typer.Option(help="For sentences: part to tune on, 0.1 by default; the rest is reported on.")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="For sentences: which of them to tune on; 1 by default.")] = None,
    option: shared.OneMetricOptions = None,
    form: shared.Form = None,
    output: shared.Output = None,
) -> None:
    """Find the weights of SOME that agree best with people.

    Tries all weights of its sub-metrics in steps of .01 that add up to 1.

    Example: geceval meta tune-weights --data SEEDA --level sentence

    The table shows them beside the two sets of weights of the paper, and the line below it the option for `geceval
    score` and `geceval meta`.
    """
    form = shared.check_format(form, output, shared.Format)
    if level == "system":
        shared.refuse("counts with --level sentence", share=share, seed=seed)
    options = metric_options([METRIC], option)[METRIC]
    if "weights" in options:
        raise InputError("tune-weights finds the weights itself; leave out -o weights=...")
    split = (0.1 if share is None else share, 1 if seed is None else seed)
    (columns, rows), notes = _from_data(data, human, level, systems, options, split)
    show(columns, rows, form, output, notes[0], notes[1:])


def _from_data(
    folder: str,
    name: str | None,
    level: Level,
    systems: Sequence[str] | None,
    options: Mapping[str, Any],
    split: tuple[float, int],
) -> tuple[Rows, list[str]]:
    human = read_human(folder)
    chosen = choose_systems(human, systems)
    known: Mapping[str, Any] = human.scores if level == "system" else human.judgments
    name = name or DEFAULTS.get(human.name, {}).get(level) or next(iter(known))
    if name not in known:
        raise InputError(f"{human.name} has no {level} ranking {name!r}; choose one of {', '.join(known)}")
    outputs = {system: human.outputs[system] for system in chosen}
    if level == "system":
        parts = _sub_scores(human.sources, outputs, options)
        parts = parts[:, human.domains.get(name, slice(None))]
        best, rows = _on_systems(parts, [human.scores[name][system] for system in chosen])
    else:
        divided = split_pairs(judged_pairs(human.judgments[name], chosen), *split)  # a bad share is said at once
        best, rows = _on_sentences(_sub_scores(human.sources, outputs, options), *divided)
    described = f"{human.name} {name}, {len(chosen)} systems"
    return rows, _notes(best, described, options, human.sources[0])


def _sub_scores(sources: list[str], outputs: Mapping[str, list[str]], options: Mapping[str, Any]) -> np.ndarray:
    """[systems, sentences, 3]; the guard changes their sum only."""
    scorer = registry.make_scorer(METRIC, {**options, "guard": "off"})
    results = registry.score_systems(scorer, sources, outputs)
    return np.array(
        [[result.details[f"{part}_scores"] for part in SUBMETRICS] for result in results.values()]
    ).swapaxes(1, 2)


def _on_systems(parts: np.ndarray, human: Sequence[float]) -> tuple[Tuned, Rows]:
    means = parts.mean(axis=1)
    best = tune_on_systems(means, human)
    rows = []
    for name, weights in _compared(best).items():
        correlation = correlate(means @ weights, human)
        rows.append([name, *weights.tolist(), correlation.pearson, correlation.spearman])
    return best, (["weights", *SUBMETRICS, "pearson", "spearman"], rows)


def _on_sentences(parts: np.ndarray, dev: Pairs, test: Pairs) -> tuple[Tuned, Rows]:
    best = tune_on_sentences(parts, dev)
    rows = []
    for name, weights in _compared(best).items():
        scores = parts @ weights
        tuned_on, held_out = (agreement(some, scores, "drop") for some in (dev, test))
        every = agreement(test, scores, "zero")  # the paper's accuracy counts tied pairs, its tau does not
        rows.append([name, *weights.tolist(), tuned_on.kendall, held_out.kendall, every.accuracy, every.pairs])
    return best, (["weights", *SUBMETRICS, "kendall tuned on", "kendall", "accuracy", "pairs"], rows)


def _compared(best: Tuned) -> dict[str, np.ndarray]:
    named = {"tuned": best.weights, **WEIGHTS}
    return {name: np.array(weights) for name, weights in named.items()}


def _notes(best: Tuned, described: str, options: Mapping[str, Any], source: str) -> list[str]:
    """A caption, the option to paste, and the signature of the metric with it."""
    scorer = registry.make_scorer(METRIC, {**options, "weights": best.weights})
    ties = f", {best.tied} of them equally good, of which the middle one" if best.tied > 1 else ""
    return [
        f"{described}; the best of {len(weight_grid())} triples{ties}",
        f"-o {METRIC}.weights={','.join(f'{weight:g}' for weight in best.weights)}",
        scorer.score([source], [source]).signature,
    ]
