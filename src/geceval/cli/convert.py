"""`geceval convert`: between M2 files and plain text."""

from __future__ import annotations

import dataclasses
import enum
from typing import Annotated

import typer

from geceval.cli.corpus import read_corpus
from geceval.cli.report import check_outputs, write


class Target(str, enum.Enum):
    """What to convert to."""

    text = "text"
    m2 = "m2"


def convert(
    files: Annotated[
        list[str],
        typer.Argument(help="--to text: one M2 file. --to m2: the source, then one corrected file per annotator."),
    ],
    to: Annotated[Target, typer.Option(help="What to write.")] = Target.text,
    annotator: Annotated[int | None, typer.Option(help="--to text: whose corrections; the first by default.")] = None,
    source: Annotated[bool, typer.Option("--source", help="--to text: the sources instead.")] = False,
    nlp: Annotated[str | None, typer.Option(help="--to m2: spaCy pipeline for ERRANT.")] = None,
    workers: Annotated[int, typer.Option(min=1, help="--to m2: processes that parse sentences.")] = 1,
    output: Annotated[str | None, typer.Option("-o", "--output", help="File to write.")] = None,
) -> None:
    """Make the corrected text of an annotator from an M2 file, or an M2 file from parallel texts (with ERRANT).

    A blank line stands for a sentence that the annotator did not annotate, both ways.
    """
    check_outputs(output)
    if to is Target.m2:
        if annotator is not None or source:
            raise ValueError(f"{'--source' if source else '--annotator'} is an option of --to text")
        write(_to_m2(files, nlp, workers), output)
        return
    if len(files) != 1:
        raise ValueError(f"--to text takes one M2 file, got {len(files)}")
    lines = _sources(files[0]) if source else _corrections(files[0], annotator)
    write("".join(f"{line}\n" for line in lines), output)


def _sources(path: str) -> list[str]:
    from geceval.edits.m2 import read_m2

    return [sentence.source for sentence in read_m2(path)]


def _corrections(path: str, annotator: int | None) -> list[str]:
    from geceval.edits.m2 import read_m2, references

    texts = [references(sentence) for sentence in read_m2(path)]
    if not texts:
        raise ValueError(f"{path} holds no sentence")
    known = sorted({who for row in texts for who in row})
    if annotator is None:
        annotator = known[0]
    if annotator not in known:
        raise ValueError(f"{path} has no annotator {annotator}; its annotators are: {', '.join(map(str, known))}")
    return [row.get(annotator, "") for row in texts]


def _to_m2(files: list[str], nlp: str | None, workers: int) -> str:
    from geceval.edits.annotate import get_annotator
    from geceval.edits.m2 import M2Sentence, format_m2

    if len(files) < 2:
        raise ValueError("--to m2 takes the source and at least one corrected file")
    corpus = read_corpus(files[0], [], files[1:])
    pairs = [
        (row, who, (source, corrected))
        for row, source in enumerate(corpus.sources)
        for who, corrected in enumerate(corpus.references[row])
        if corrected is not None
    ]
    sentences = [M2Sentence(source, {}) for source in corpus.sources]
    found = get_annotator(nlp).edits([pair for _, _, pair in pairs], workers=workers)
    for (row, who, _), edits in zip(pairs, found, strict=True):
        sentences[row].edits[who] = [dataclasses.replace(edit, annotator=who) for edit in edits]
    return format_m2(sentences)
