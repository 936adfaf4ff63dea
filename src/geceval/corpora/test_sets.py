"""Test sets by name: of which published files each is made, where these are on this machine, and their texts."""

import hashlib
import json
import logging
import os
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from geceval.core.errors import InputError, did_you_mean
from geceval.core.files import ASSETS, expanded, read_json, read_lines, read_text, write_text
from geceval.core.warnings import muted
from geceval.corpora.catalogue import DATA_SETS, DataSet
from geceval.edits.m2 import read_m2, references, write_m2
from geceval.text.answer_files import read_reference_columns, read_sources
from geceval.version import __version__

logger = logging.getLogger("geceval")

VARIABLE = "GECEVAL_DATA"
MEMORY = "folders.txt"
MULTIGEC = "multigec-"
"""The first part of the names of MultiGEC-2025; words of a corpus follow."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A test set of the catalogue; `gold` is what the metric of the papers compares with, in the words of `reports`."""

    # files: role (`m2`, `essays`, `rows` of a number, a source and its references, or `sources`, `reference_0`, ...) to
    # the copies that go round: name, bytes, sha256, and a note on what is wrong with one. settings: of all metrics that
    # have them. hub: a data set with the same texts: id, split, sha256. published: rows of papers; `other_file` where
    # the output that is published with one scores otherwise. words: of a corpus of MultiGEC, whose files are found by
    # them, as none is public.

    title: str
    data: DataSet
    sentences: int
    tokens: str
    metric: str
    gold: Literal["edits", "texts", "hidden"]
    reports: str
    files: dict[str, list[dict[str, Any]]]
    settings: dict[str, str] = field(default_factory=dict)
    hub: dict[str, str] = field(default_factory=dict)
    published: list[dict[str, Any]] = field(default_factory=list)
    words: frozenset[str] | None = None


_CONTENT = read_json(ASSETS / "test_sets.json")
_DATA = DATA_SETS | {name: DataSet(**each) for name, each in _CONTENT["data sets"].items()}
TEST_SETS = {name: Entry(**{**each, "data": _DATA[each["data"]]}) for name, each in _CONTENT["test sets"].items()}


def entry(name: str) -> Entry:
    """The entry of a test set."""
    if isinstance(name, str) and name.startswith(MULTIGEC):
        about = _CONTENT["multigec"]
        if not (words := _words(name.removeprefix(MULTIGEC))):
            raise InputError(f"{name}: add the language or name of a corpus: {MULTIGEC}LANGUAGE-CORPUS")
        title = f"{about['title']} ({' '.join(words)})"
        return Entry(**{**about, "title": title, "data": _DATA[about["data"]], "words": frozenset(words)})
    if name not in TEST_SETS:
        hint = did_you_mean(name, TEST_SETS) or f"; the test sets are {', '.join(TEST_SETS)}, {MULTIGEC}LANGUAGE-CORPUS"
        raise InputError(f"unknown test set {name!r}{hint}")
    return TEST_SETS[name]


def _ours() -> Path:
    return expanded(os.environ.get("XDG_CONFIG_HOME") or "~/.config") / "geceval"


def folders() -> list[Path]:
    """Where files are looked for: below `GECEVAL_DATA`, then below what `remember` was told."""
    return [expanded(part) for part in [*os.environ.get(VARIABLE, "").split(os.pathsep), *_told()] if part]


def _told() -> list[str]:
    return read_lines(_ours() / MEMORY) if (_ours() / MEMORY).is_file() else []


def remember(name: str, path: str | Path) -> dict[str, Path]:
    """Look for files in this folder, or this file, from now on, if those of a test set are there; they are returned."""
    entry(name)
    if not expanded(path).exists():
        raise InputError(f"{path}: no such file or folder")
    paths = find(name, files_below([expanded(path).absolute()]))
    _ours().mkdir(parents=True, exist_ok=True)
    write_text(_ours() / MEMORY, "\n".join(dict.fromkeys([*_told(), str(expanded(path).absolute()), ""])))
    return paths


def files_below(places: Iterable[Path]) -> dict[Path, int]:
    """The files at any depth below some folders, or files themselves, with their sizes in bytes."""
    below = (path for place in places for path in [place, *sorted(place.rglob("*"))])
    return {path: path.stat().st_size for path in below if path.is_file()}


def find(name: str, sizes: Mapping[Path, int]) -> dict[str, Path]:
    """The file of each role among `files_below` some folders, by its content and not by its name."""
    about = entry(name)
    if about.gold == "hidden":
        raise InputError(f"{name}: its gold is not public; geceval score -t {name} writes what to submit")
    if about.words is not None:
        return _find_essays(name, about.words, sizes)
    paths: dict[str, Path] = {}
    for role, copies in about.files.items():
        bytes_ = {copy["bytes"] for copy in copies}
        named = [path for path in sizes if path.name.removesuffix(".gz") == copies[0]["name"]]
        digests = {path: _digest(path) for path in [*named, *sizes] if path in named or sizes[path] in bytes_}
        matches = [(path, copy) for copy in copies for path, digest in digests.items() if digest == copy["sha256"]]
        if not matches:
            raise _not_found(name, copies[0], named)
        paths[role], copy = matches[0]
        if "note" in copy:
            logger.warning("%s: %s: %s", name, paths[role], copy["note"])
    return paths


def _words(text: str) -> list[str]:
    return re.findall(r"[^\W_]+", text.lower())


def _split(words: Iterable[str]) -> str:
    return next((word for word in words if word in ("train", "test")), "dev")


def essays(words: Collection[str], files: Iterable[Path]) -> list[Path]:
    """The sources among files, dev by default, whose names and folders have the words of a corpus of MultiGEC."""
    named = [path for path in files if {"orig", "md", _split(words)} <= {*_words(path.name)}]
    return [path for path in named if {*words} <= {*_words(" ".join(path.parts[-3:]))}]


def _find_essays(name: str, words: Collection[str], files: Iterable[Path]) -> dict[str, Path]:
    """The sources of a corpus of MultiGEC, and the references beside them."""
    sources = essays(words, files)
    if len(sources) != 1:
        several = f"several files have these words: {', '.join(map(str, sources))}; add another of one's words"
        none = (
            f"no file such as xx-corpus-orig-{_split(words)}.md whose name and folders have the words "
            f"{' '.join(sorted(words))}; {_where_from(name)}"
        )
        raise InputError(f"{name}: {several if sources else none}")
    before, _, after = sources[0].name.rpartition("orig")
    form = re.compile(rf"{re.escape(before)}ref\d*{re.escape(after)}")
    references = [path for path in sorted(sources[0].parent.iterdir()) if form.fullmatch(path.name)]
    if not references:
        raise InputError(f"{name}: no references beside {sources[0]}, such as {before}ref1{after}")
    return {"sources": sources[0]} | {f"reference_{number}": path for number, path in enumerate(references)}


def _digest(path: Path) -> str:
    """SHA-256 of the text, for which line ends of Windows and compression do not matter."""
    try:
        return hashlib.sha256(read_text(path).replace("\r\n", "\n").encode()).hexdigest()
    except (InputError, OSError):  # no text, or not ours to read
        return ""


def _not_found(name: str, copy: dict[str, Any], named: list[Path]) -> InputError:
    other = f" ({named[0]}, {named[0].stat().st_size:,} bytes, is another or was converted)" if named else ""
    text = f"{copy['name']}, {copy['bytes']:,} bytes, SHA-256 {copy['sha256'][:12]}..."
    return InputError(f"{name}: no file with the text of {text}{other}; {_where_from(name)}")


def _where_from(name: str) -> str:
    about = entry(name)
    hub = f" or, where there is a network, {about.hub['id']} on the Hub" if about.hub else ""
    return (
        f"get it from {about.data.url}{hub}, then run: geceval data add {name} FOLDER (or: export {VARIABLE}=FOLDER). "
        f"Terms: {about.data.terms}"
    )


def load(name: str) -> dict[str, Any]:
    """`sources`, `references` (one list per sentence), and `gold_m2`, the file of the gold edits, and `ids`, if any."""
    about = entry(name)
    try:
        paths = find(name, files_below(folders()))
    except InputError as error:
        if not about.hub:
            raise
        return _from_hub(name, error)
    if about.words is not None:
        return _load_essays(*paths.values())
    if "sources" in paths:
        sources, *texts = (read_lines(path) for path in paths.values())
        return {"sources": sources, "references": [list(row) for row in zip(*texts, strict=True)]}
    if "rows" in paths:
        rows = [line.split("\t")[1:] for line in read_lines(paths["rows"])]
        return {"sources": [row[0] for row in rows], "references": [row[1:] for row in rows]}
    path = paths["m2"] if "m2" in paths else _m2_of_essays(paths["essays"])
    with muted():  # of its oddities, which are those of the published file, its reader tells when it is scored
        rows = read_m2(path)
    corrected = [list(references(row).values()) for row in rows]
    return {"sources": [row.source for row in rows], "references": corrected, "gold_m2": path}


def _load_essays(sources: Path, *references: Path) -> dict[str, Any]:
    known = read_sources(str(sources))
    with muted():
        columns = [column for path in references for column in read_reference_columns(str(path), known)]
    rows = zip(*columns, strict=True)
    # An essay that a file lacks has the first reference once more, as in the organisers' script.
    filled = [[text or next(filter(None, row), "") for text in row] for row in rows]
    return {"sources": known.texts, "references": filled, "ids": known.ids}


def _m2_of_essays(path: Path) -> Path:
    """The M2 file of a JSON file of essays, with ERRANT's types, made once and kept."""
    from geceval.edits.errant.annotator import get_annotator
    from geceval.edits.essays import read_essays, to_sentences

    m2 = _ours() / f"{_digest(path)[:12]}-{__version__}" / "fce-test.m2"
    if not m2.is_file():
        sentences = get_annotator("bundled").classify_sentences(to_sentences(read_essays(path)))
        m2.parent.mkdir(parents=True, exist_ok=True)
        write_m2(m2, sentences)
    return m2


def _from_hub(name: str, not_here: InputError) -> dict[str, Any]:
    import datasets

    hub = entry(name).hub
    try:
        rows = list(datasets.load_dataset(hub["id"], split=hub["split"]))
    except (OSError, ValueError) as error:  # no network, or forbidden to use it and nothing in the cache
        raise InputError(f"{not_here} The Hub gave nothing: {' '.join(str(error).split())[:200]}") from error
    while rows and not rows[-1]["sentence"].strip():  # the blank end of the published files is a row there
        rows.pop()
    texts = [[text.rstrip() for text in (row["sentence"], *row["corrections"])] for row in rows]
    if hashlib.sha256(json.dumps(texts).encode()).hexdigest() != hub["sha256"]:
        logger.warning("%s: the texts of %s on the Hub are not those of the published files", name, hub["id"])
    return {"sources": [row[0] for row in texts], "references": [row[1:] for row in texts]}
