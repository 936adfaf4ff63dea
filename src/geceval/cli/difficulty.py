"""`geceval difficulty`: how hard each chunk of a reference is to get right (GoToScorer)."""

from typing import Annotated, Any

import typer

import geceval.cli.options as shared
from geceval import registry
from geceval.cli.tables import check_outputs, table_text, write
from geceval.cli.text_files import Corpus, read_corpus, text_of
from geceval.core.errors import InputError
from geceval.core.progress import bar


def difficulty(
    sources: Annotated[
        str | None, typer.Option("-s", "--sources", help="What the learners wrote; by default that of --gold-m2.")
    ] = None,
    predictions: Annotated[
        list[str] | None,
        typer.Option("-p", "--predictions", help="One file per system; together they say what is hard."),
    ] = None,
    references: shared.References = None,
    gold_m2: shared.GoldM2 = None,
    ref_id: Annotated[int | None, typer.Option(help="Which annotator, from 0; needed if there are several.")] = None,
    difficulty_file: Annotated[
        str | None, typer.Option("-d", "--difficulty", help="Difficulty file to show, in place of -p.")
    ] = None,
    output: Annotated[str | None, typer.Option(help="Difficulty file to write; - for standard output.")] = None,
    types: Annotated[
        int | None, typer.Option(min=1, max=3, help="Difficulty by error type: 1 operation, 2 type, 3 both.")
    ] = None,
    errant_types: Annotated[
        bool, typer.Option("--errant-types", help="Put ERRANT's types on the edits of --gold-m2.")
    ] = False,
    heat_map: Annotated[str | None, typer.Option(help="HTML file to write: the heat map.")] = None,
    chunks: Annotated[str | None, typer.Option(help="Text file to write: every chunk; - for standard output.")] = None,
    plot: Annotated[
        str | None, typer.Option(help="Figure to write, .png, .svg or .pdf: difficulty by error type.")
    ] = None,
    nlp: shared.Nlp = "bundled",
    workers: shared.Workers = 1,
    progress: shared.Progress = False,
) -> None:
    """Count how many systems get each chunk right.

    Writes the difficulty file for gotoscorer, the table by error type and the heat map.

    Example: geceval difficulty -s source.txt -p systems/*.txt -r reference.txt --output hard.txt --heat-map map.html

    Without --types, --heat-map, --chunks and --plot the difficulty goes to standard output.
    """
    # numpy: the help of a verb is to start at once
    from geceval.cli.pages import heat_map_page
    from geceval.meta import figures
    from geceval.scorers.difficulty.chunk_difficulty import chunk_table, format_difficulty, type_table

    if (difficulty_file is None) == (not predictions):
        raise InputError("difficulty takes either -p FILE..., the systems, or -d FILE, what was counted before")
    if gold_m2 is None:
        shared.refuse("puts types on the edits of --gold-m2", errant_types=errant_types)
    check_outputs(output, heat_map, chunks, plot)
    if plot is not None:
        figures.check_suffix(plot)
    corpus = _read(sources, predictions or [], references or [], gold_m2)
    options: dict[str, Any] = {"gold_m2": gold_m2, "ref_id": ref_id, "difficulty": difficulty_file, "nlp": nlp}
    options |= {"workers": workers, "progress": progress, "text": text_of(predictions) or "auto"}
    scorer = registry.make_scorer("gotoscorer", options)
    systems = list(corpus.systems.values()) or None
    with bar(progress, "gotoscorer"):
        reference = scorer.reference_difficulty(corpus.sources, systems, corpus.references, errant_types=errant_types)
    texts = []
    if output is not None or not (types or heat_map or chunks or plot):
        texts.append((format_difficulty(reference.difficulty), output))
    if types is not None:
        cells = [[row.type, row.mean, row.sd, row.frequency] for row in type_table(reference, types)]
        texts.append((table_text(["error type", "mean", "sd", "frequency"], cells), None))
    if heat_map is not None:
        texts.append((heat_map_page(reference), heat_map))
    if chunks is not None:
        texts.append((chunk_table(reference), chunks))
    figure = figures.difficulty(type_table(reference, types or 2)) if plot is not None else None
    for text, path in texts:
        write(text, path)
    if figure is not None and plot is not None:
        figures.save(figure, plot)


def _read(sources: str | None, predictions: list[str], references: list[str], gold_m2: str | None) -> Corpus:
    if bool(references) == (gold_m2 is not None):
        raise InputError("difficulty needs references: either -r FILE... or --gold-m2 FILE")
    if sources is not None:
        return read_corpus(sources, predictions, references)
    if gold_m2 is None or predictions:
        raise InputError("difficulty needs the sources: -s FILE")
    from geceval.edits.m2 import read_m2

    return Corpus([sentence.source for sentence in read_m2(gold_m2)], {}, {}, None)
