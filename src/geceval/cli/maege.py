"""`geceval meta maege`: meta-evaluation without human judgments."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

import geceval.cli.options as shared
from geceval.cli.metric_options import metric_options
from geceval.cli.tables import show
from geceval.cli.text_files import read_references
from geceval.core.errors import InputError
from geceval.edits.m2 import references as texts_of
from geceval.scorers.references.gold import gold_sentences
from geceval.text.answer_files import Sources
from geceval.workflows.maege import Maege, Norm, Source
from geceval.workflows.maege import maege as run_maege


def maege(
    metrics: shared.Metrics,
    m2: Annotated[str, typer.Option("--m2", help="M2 file whose edits are made one after the other.")],
    references: Annotated[
        list[str] | None,
        typer.Option(
            "-r",
            "--references",
            help="References by further annotators: one M2 file, or one text file each; a blank line is no reference.",
        ),
    ] = None,
    all_references: Annotated[
        bool, typer.Option("--all-references", help="All annotators of --m2, not only the others, are references.")
    ] = False,
    norm: Annotated[Norm, typer.Option(help="Edits by words, or by characters as in the published code.")] = "words",
    source: Annotated[Source, typer.Option(help="Shown as source: a random text of a chain, first or last.")] = "rand",
    max_permutations: Annotated[int, typer.Option(min=1, help="Random orders of an annotator's edits.")] = 1,
    min_chains: Annotated[int, typer.Option(min=1, help="Fewest chains of a sentence; 1 for one annotator.")] = 2,
    max_edits: Annotated[int, typer.Option(min=1, help="Edits per sentence in the most corrected corpus.")] = 10,
    seed: Annotated[int, typer.Option(min=0, help="Of all draws.")] = 1,
    option: shared.MetricOptions = None,
    form: shared.PaperForm = None,
    output: shared.Output = None,
    quiet: shared.Quiet = False,
) -> None:
    """Test whether metrics reward each further correction.

    This is MAEGE, on any M2 file.

    Example: geceval meta maege -m impara gleu --m2 official-2014.combined.m2
    """
    form = shared.check_format(form, output, shared.PaperFormat)
    shared.no_warnings(quiet)
    metrics = list(dict.fromkeys(metrics))
    if references and all_references:
        raise InputError("pass -r FILE... or --all-references, not both")
    results = run_maege(
        metrics,
        m2,
        (_read_references(references, m2) if references else None) or ("all" if all_references else "others"),
        options=metric_options(metrics, option),
        norm=norm,
        source=source,
        max_permutations=max_permutations,
        min_chains=min_chains,
        max_edits=max_edits,
        seed=seed,
    )
    columns, rows = _table(list(results.values()))
    every = results.values()
    notes = list(dict.fromkeys([*(each.signature for each in every), *(each.data for each in every)]))
    first = next(iter(results.values()))
    caption = f"{Path(m2).name}: {first.chains} chains with {first.texts} texts and {first.chain.pairs} pairs"
    show(columns, rows, form, output, caption, notes)


def _read_references(paths: Sequence[str], m2: str) -> Sequence[Sequence[str | None]] | None:
    if len(paths) == 1 and paths[0].removesuffix(".gz").endswith(".m2"):
        return [list(texts_of(sentence).values()) for sentence in gold_sentences(paths[0])]
    return read_references(paths, Sources(m2, [sentence.source for sentence in gold_sentences(m2)]))


def _table(results: Sequence[Maege]) -> tuple[list[str], list[list[Any]]]:
    columns = ["metric", "corpus r", "corpus ρ", "sentence r", "sentence ρ", "chain τ", "τ no ties", "ties"]
    rows = []
    for each in results:
        row = [each.metric]
        for correlation in (each.corpus, each.sentence):
            row += [correlation.pearson, correlation.spearman]
        chain = each.chain
        rows.append([*row, chain.kendall, chain.kendall_without_ties, chain.tie_share, each.lines])
    return [*columns, "corpus lines"], rows
