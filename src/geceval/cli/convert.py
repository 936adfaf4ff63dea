"""`geceval convert`: between M2 files, plain text and essays."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from geceval.cli.options import check_lines, refuse
from geceval.cli.tables import check_outputs, write
from geceval.cli.text_files import read_corpus
from geceval.core.errors import InputError
from geceval.core.files import read_lines
from geceval.core.options import Language
from geceval.text.answer_files import read_answers, read_sources
from geceval.text.essays import markdown_essays, sentence_lines, with_lines
from geceval.text.languages import warn_unless_english
from geceval.text.tables import is_table

if TYPE_CHECKING:
    from geceval.edits.m2 import M2Sentence


def convert(
    files: Annotated[
        list[str],
        typer.Argument(
            help="--to text: one M2 or JSON file. --to m2: the source, then one corrected file per annotator; or one "
            "JSON file of essays with edits by character, as FCE and W&I+LOCNESS are published. Essays in Markdown "
            "become sentences, with corrected ones their parts; --to essays: the essays, then one file of lines."
        ),
    ],
    to: Annotated[
        Literal["text", "m2", "essays"] | None, typer.Option(help="What to write; m2 for a JSON file, else text.")
    ] = None,
    annotator: Annotated[int | None, typer.Option(help="--to text: whose corrections; the first by default.")] = None,
    source: Annotated[bool, typer.Option("--source", help="--to text: the sources instead.")] = False,
    nlp: Annotated[str | None, typer.Option(help="--to m2: spaCy pipeline for ERRANT; bundled by default.")] = None,
    language: Annotated[
        Language | None, typer.Option(help="--to m2: whose edits are extracted; English by default.")
    ] = None,
    workers: Annotated[int | None, typer.Option(min=1, help="--to m2: processes that parse sentences.")] = None,
    output: Annotated[
        str | None, typer.Option("-o", "--output", help="File to write, in place of standard output.")
    ] = None,
) -> None:
    """Convert M2 files to text, and text to M2 files.

    Edits come from ERRANT; essays with edits by character are read, too. Essays of MultiGEC's Markdown become their
    sentences, one a line, corrected ones along those of their sources; --to essays puts such lines back.

    In both directions, a blank line stands for a sentence that the annotator did not annotate.
    """
    check_outputs(output)
    if to is None:
        to = "m2" if len(files) == 1 and _holds_essays(files[0]) else "text"
        check_lines(output if to == "text" else None)
    if to == "m2":
        refuse("is an option of --to text", source=source, annotator=annotator)
        write(_to_m2(files, nlp or "bundled", language or "en", workers or 1), output)
        return
    refuse("is an option of --to m2", nlp=nlp, language=language, workers=workers)
    if to == "essays" or markdown_essays(files[0]):
        refuse("is for M2 and JSON files", source=source, annotator=annotator)
        write(_of_essays(files, to), output)
        return
    if source:
        refuse("chooses corrections, and --source prints the sources", annotator=annotator)
    if len(files) != 1:
        raise InputError(f"--to text takes one M2 or JSON file, got {len(files)}")
    lines = [each.source for each in _read(files[0])] if source else _corrections(files[0], annotator)
    write("".join(f"{line}\n" for line in lines), output)


def _of_essays(files: list[str], to: str) -> str:
    if len(files) > 2 or (to == "essays" and (len(files) < 2 or not markdown_essays(files[0]))):
        raise InputError("essays in Markdown are converted with one corrected file, and --to essays needs both")
    if to == "text":
        return "".join(f"{line}\n" for line in sentence_lines(*files))
    answers = read_answers(files[1], read_sources(files[0])).predictions if is_table(files[1]) else read_lines(files[1])
    return with_lines(files[0], answers, files[1])


def _holds_essays(path: str) -> bool:
    return path.endswith((".json", ".json.gz", ".jsonl", ".jsonl.gz"))


def _read(path: str) -> list[M2Sentence]:
    if _holds_essays(path):
        from geceval.edits.essays import read_essays, to_sentences

        return to_sentences(read_essays(path))
    from geceval.edits.m2 import read_m2

    return read_m2(path)


def _corrections(path: str, annotator: int | None) -> list[str]:
    from geceval.edits.m2 import references

    texts = [references(sentence) for sentence in _read(path)]
    if not texts:
        raise InputError(f"{path} holds no sentence")
    known = sorted({name for row in texts for name in row})
    if annotator is None:
        annotator = known[0]
    if annotator not in known:
        raise InputError(f"{path} has no annotator {annotator}; its annotators are: {', '.join(map(str, known))}")
    return [row.get(annotator, "") for row in texts]


def _to_m2(files: list[str], nlp: str, language: Language, workers: int) -> str:
    from geceval.edits.errant.annotator import get_annotator
    from geceval.edits.m2 import M2Sentence, format_m2

    if len(files) == 1 and _holds_essays(files[0]):
        return format_m2(get_annotator(nlp, language).classify_sentences(_read(files[0]), workers))
    if len(files) < 2:
        raise InputError("--to m2 takes the source and at least one corrected file, or one JSON file of essays")
    corpus = read_corpus(files[0], [], files[1:])
    if language == "en":
        warn_unless_english(corpus.sources)
    if language == "zh":
        annotator = get_annotator(nlp, language)
        rows = zip(corpus.sources, corpus.references, strict=True)
        return "".join(annotator.format_m2(source, references) for source, references in rows)
    pairs = [
        (row, annotator, (source, corrected))
        for row, source in enumerate(corpus.sources)
        for annotator, corrected in enumerate(corpus.references[row])
        if corrected is not None
    ]
    sentences = [M2Sentence(source, {}) for source in corpus.sources]
    extracted = get_annotator(nlp, language).edits([pair for _, _, pair in pairs], workers=workers)
    for (row, annotator, _), edits in zip(pairs, extracted, strict=True):
        sentences[row].edits[annotator] = [dataclasses.replace(edit, annotator=annotator) for edit in edits]
    return format_m2(sentences)
