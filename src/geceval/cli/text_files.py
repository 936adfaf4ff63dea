"""Reading sources, system outputs and references from files, one sentence per line or row."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from geceval.core.errors import InputError
from geceval.core.inputs import references_by_sentence
from geceval.text.answer_files import Sources, read_answers, read_reference_columns, read_sources
from geceval.text.tables import is_table


@dataclass(frozen=True, slots=True)
class Corpus:
    """Files of one `geceval score`, checked against each other."""

    sources: list[str]
    systems: dict[str, list[str]]
    files: dict[str, str]
    references: list[list[str | None]] | None


def read_corpus(source: str | Sources, predictions: Sequence[str], references: Sequence[str] = ()) -> Corpus:
    """Read and check all files; `"-"` (standard input) may stand for one of them, a folder for the outputs in it."""
    others = [*([source] if isinstance(source, str) else []), *references]
    predictions = [file for path in predictions for file in files_of(path, besides=others)]
    if [*predictions, *others].count("-") > 1:
        raise InputError("standard input (-) can stand for one file only")
    files = name_systems(predictions)
    sources = read_sources(source) if isinstance(source, str) else source
    if not sources.texts:
        raise InputError(f"{source} is empty")
    systems = {name: read_answers(path, sources).predictions for name, path in files.items()}
    shown = {name: readable(path) for name, path in files.items()}
    return Corpus(sources.texts, systems, shown, read_references(references, sources))


def files_of(path: str, besides: Sequence[str] = ()) -> list[str]:
    """The file itself, or the files of a folder by name, without hidden ones, folders and those given elsewhere."""
    if not path:  # an unset variable of the shell, not the folder here
        raise InputError("the name of a file is empty")
    folder = Path(path)
    if path == "-" or not folder.is_dir() or is_table(path):
        return [path]
    excluded = {Path(other).resolve() for other in besides}
    visible = sorted(file for file in folder.iterdir() if file.is_file() and not file.name.startswith("."))
    files = [str(file) for file in visible if file.resolve() not in excluded]
    if not files:
        raise InputError(f"{path} is a folder without files of predictions")
    return files


def text_of(predictions: Sequence[str] | None) -> str | None:
    """The setting `text` of metrics for these files: answers of language models are cleaned by default."""
    files = [file for path in predictions or () for file in files_of(path)]
    return "answers" if any(is_table(file) and not file.endswith((".md", ".md.gz")) for file in files) else None


def read_references(paths: Sequence[str], sources: Sources) -> list[list[str | None]] | None:
    """Read one file per annotator, or one whose rows have all references."""
    if repeated := [path for number, path in enumerate(paths) if path in paths[:number]]:
        raise InputError(f"{repeated[0]} is given twice")
    columns = [column for path in paths for column in read_reference_columns(path, sources)]
    return references_by_sentence(sources.texts, columns, paths)


def read_side_by_side(
    verb: str,
    texts: Sequence[str],
    sources: str | None,
    predictions: str | None,
    references: Sequence[str],
    gold_m2: str | None,
    predictions_m2: str | None,
) -> tuple[list[str] | None, list[str] | None, list[list[str | None]] | None]:
    """Read what `geceval chunks` and `geceval transport` compare: texts, or files."""
    if texts and (sources or predictions):
        raise InputError(f"{verb} takes either texts, SOURCE CORRECTION REFERENCE..., or -s FILE and -p FILE")
    if texts and (len(texts) < 2 or (references and len(texts) > 2)):
        raise InputError(f"{verb} takes SOURCE CORRECTION REFERENCE...; beside two texts -r A -r B, one file each")
    if gold_m2 and (references or len(texts) > 2):
        raise InputError("--gold-m2 FILE takes the place of references")
    if not (references or gold_m2 or len(texts) > 2):
        raise InputError(f"{verb} needs references: as texts, as -r FILE..., or --gold-m2 FILE")
    if texts:
        check_texts(texts, "files as -s FILE -p FILE -r FILE")
        known = Sources("the source", [texts[0]])
        return known.texts, [texts[1]], read_references(references, known) or [[*texts[2:]]]
    if not sources and not gold_m2 and not predictions_m2:
        raise InputError(f"{verb} needs the sources: -s FILE, or an M2 file")
    if not predictions and not predictions_m2:
        raise InputError(f"{verb} needs the corrections: -p FILE, or --predictions-m2 FILE")
    if references and not sources:
        raise InputError(f"{verb} needs the sources of the references: -s FILE")
    if not sources:
        return None, read_answers(predictions).predictions if predictions else None, None
    known = read_sources(sources)
    outputs = read_answers(predictions, known).predictions if predictions else None
    return known.texts, outputs, read_references(references, known)


def check_texts(texts: Sequence[str], advice: str) -> None:
    """Refuse names of files where sentences are expected."""
    for text in texts:
        if len(text) < 256 and Path(text).is_file():
            raise InputError(f"{text} is a file, and a sentence is expected here: pass {advice}")


def name_systems(paths: Sequence[str]) -> dict[str, str]:
    """A short, distinct name for each file: its stem, preceded by as many folders as necessary."""
    parts = []
    whole = [Path(path) for path in paths]  # ./a.txt and a.txt are equal
    for path in paths:
        absolute = Path(readable(path)).absolute()
        if whole.count(Path(path)) > 1:
            raise InputError(f"{path} is given twice")
        parts.append(("stdin",) if path == "-" else (*absolute.parts[:-1], _stem(absolute.name)))
    names = []
    for path_parts in parts:
        depth = 1
        while sum(other[-depth:] == path_parts[-depth:] for other in parts) > 1 and depth < len(path_parts):
            depth += 1
        names.append("/".join(path_parts[-depth:]))
    if len(set(names)) < len(names):  # x.txt and x.out of one folder
        names = [readable(path) for path in paths]
    return dict(zip(names, paths, strict=True))


def readable(path: str) -> str:
    """A path as text that can be written; bytes that are not UTF-8 arrive as lone surrogates, which cannot."""
    return os.fsencode(path).decode("utf-8", errors="replace")


def _stem(name: str) -> str:
    """`GPT-3.5.txt.gz` is the system `GPT-3.5`, and so is a file of that very name."""
    name = name.removesuffix(".gz")
    stem, _, suffix = name.rpartition(".")
    return stem if stem and suffix.isalpha() else name
