"""Answers of systems and of language models, each beside its source, from files of lines or of rows."""

import itertools
import logging
import os
import re
import reprlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rapidfuzz.fuzz import partial_ratio

from geceval.core.errors import InputError, InputTypeError, counted, named
from geceval.core.files import read_lines
from geceval.core.inputs import check_columns
from geceval.text.answers import is_refusal
from geceval.text.tables import ESSAY, Cells, Table, is_table, read_table

logger = logging.getLogger("geceval")

_IDS = ("custom_id", "id")
_SOURCES = ("source", "sources", "src", "input", "original", "sentence")
_PREDICTIONS = ("prediction", "predictions", "output", "response", "completion", "answer", "correction", "corrected")
_PREDICTIONS += ("generated_text", "choices", "result", "messages")
_CANDIDATES = ("candidates", "hypotheses", "n_best", "nbest", "predictions", "outputs")
_REFERENCES = ("references", "reference", "corrections", "target", "targets")
# What lies around the text of a service's answer; an error is none.
_WRAPPERS = ("body", "choices", "message", "content", "text", "generated_text", "error")
_ANSWERS, _QUESTIONS = ("assistant", "model"), ("user",)
_SAME_SOURCE = 75  # of 100, by letters; there may be a prompt around it
_ESSAY, _KEPT, _MISSING = 1.5, 0.5, 0.1  # least sentences a text, least share of tokens kept, most sentences left out
_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Answers:
    """Answers in the order of their sources.

    Attributes:
        predictions: One text per source; `""` for an empty answer.
        sources: The sources that were passed, or those of the file, if it has any.
        references: One list per source, if the file has references.
        ids: The ids of the sources, if they have any.
        empty: Indices of the answers that are empty, though their sources are not.
        refusals: Indices of the answers that refuse to correct.
    """

    predictions: list[str]
    sources: list[str] | None
    references: list[list[str]] | None
    ids: list[str] | None
    empty: list[int]
    refusals: list[int]


@dataclass(frozen=True, slots=True)
class Sources:
    """Sources by row, with their ids if they have any."""

    name: str
    texts: list[str]
    ids: list[str] | None = None


def read_answers(path: str | Path, sources: str | Path | Sequence[str] | Sources | None = None) -> Answers:
    """Read the answers of a system or a language model, each beside its source.

    Rows are matched by id where the answers and the sources have ids; where only the answers have them and they count
    the rows, by number; else by order. Texts that are fewer than the sources, but say the same, are cut where the
    sentences of the sources end, and a warning says so (`geceval.text.sentences`).

    Args:
        path: A file of one answer a line; one of rows, which its name shows: `.jsonl`, `.json`, `.csv`, `.tsv` or
            `.parquet`; a folder that `datasets` saved; or `hf:ORG/NAME/SPLIT`. After a file of rows, `:COLUMN` names
            the answers, if they have no usual name. A value is a text, chat messages, or a service's whole answer.
        sources: One text per row, or the path of a file of the same kinds; by default those of the file itself.

    Raises:
        ValueError: If a row cannot be read or matched; the message says which, and what to do.
        OSError: If a file cannot be read.
    """
    if not isinstance(path, str | os.PathLike):
        raise InputTypeError(f"read_answers: path must name a file, got {type(path).__name__}")
    path = os.fspath(path)
    table = read_table(path) if is_table(path) else None
    if isinstance(sources, str | Path):
        sources = read_sources(os.fspath(sources))
    elif sources is None and table and table.cells(_SOURCES):
        sources = _sources(table)
    elif sources is not None and not isinstance(sources, Sources):
        sources = Sources("sources", check_columns("read_answers", sources, sources).sources)
    ids, known = (sources.ids, sources.texts) if sources else (None, None)
    if table is None:
        return Answers(_one_each(_lines(path), path, sources), known, None, ids, [], [])
    table = _in_order(table, sources)
    texts = _one_each(_texts(table.cells(_PREDICTIONS, "answers")), path, sources)
    references = None
    if len(texts) == len(table.rows):
        references = _references(table.cells(_REFERENCES)) or None
        _check_sources(table.cells(_SOURCES) or table.cells(["messages"]), sources)
    pairs = list(enumerate(zip(texts, known or itertools.repeat("?"), strict=False)))
    empty = [index for index, (text, source) in pairs if source and not text]
    refusals = [index for index, pair in pairs if is_refusal(*pair)]
    names = ids or range(1, len(texts) + 1)
    for what, rows in (("empty", empty), ("refusals, which stay", refusals)):
        if rows:
            logger.warning("%s: answers that are %s: %s", path, what, _some([names[index] for index in rows], "row"))
    return Answers(texts, known, references, ids, empty, refusals)


def _lines(path: str) -> list[str]:
    lines = read_lines(path)
    if any(line.startswith("A ") and line.count("|||") == 5 for line in lines):
        raise InputError(
            f"{path}: an M2 file, and texts are expected, one a line: pass gold edits as --gold-m2 FILE, a system's as "
            f"--predictions-m2 FILE, or make texts of it with `geceval convert`"
        )
    return lines


def read_sources(path: str) -> Sources:
    """Read the sources of a corpus."""
    return _sources(read_table(path), "sources") if is_table(path) else Sources(path, _lines(path))


def read_reference_columns(path: str, sources: Sources) -> list[list[str]]:
    """Read references as columns; a file of rows has as many as any row has references, with `""` for none."""
    columns: list[Sequence[str]] = [] if is_table(path) else [_lines(path)]
    if is_table(path):
        lists = _references(_in_order(read_table(path), sources, "").cells(_REFERENCES, "references"))
        columns += itertools.zip_longest(*lists, fillvalue="")
    return [_one_each(list(column), path, sources) for column in columns]


def read_candidates(path: str, sources: Sources | None = None) -> tuple[Sources, list[list[str]]]:
    """Read lists of candidates from a file of rows, which may also hold the sources."""
    if not is_table(path):
        raise InputError(f"{path}: lists of candidates are rows of a .jsonl file; files of lines are -p FILE...")
    table = read_table(path)
    sources = sources or _sources(replace(table, column=""))
    if not sources.texts:
        raise InputError(f"{path}: no column {_SOURCES[0]!r} with the sources; pass them as -s FILE")
    table = _in_order(table, sources)
    rows = _references(table.cells(_CANDIDATES, "candidates"))
    if len(rows) != len(sources.texts):
        count = counted(len(rows), "row")
        raise InputError(f"{path} has {count} but {sources.name} has {len(sources.texts):,}; they must be parallel")
    _check_sources(table.cells(_SOURCES), sources)
    return sources, rows


def _sources(table: Table, what: str = "") -> Sources:
    return Sources(table.name, _texts(table.cells(_SOURCES, what), _QUESTIONS), _ids(table) or None)


def _ids(table: Table) -> list[str]:
    for where, key in (cells := table.cells(_IDS)):
        if not isinstance(key, str | int):
            raise InputError(f"{where}: the id must be text or a whole number, got {key!r}")
    return [str(key).strip() for _, key in cells]


def _in_order(table: Table, sources: Sources | None, stand_in: str = "!") -> Table:
    """The table in the order of the sources; as it stands, if there are no ids to match."""
    ids = _ids(table)
    if sources is None or sources.ids is None or not ids:
        return replace(table, rows=_by_number(table.rows, ids))
    rows, known = dict(zip(ids, table.rows, strict=True)), set(sources.ids)
    if len(ids) < len(sources.ids) and not rows.keys() & known:
        return table  # ids of longer texts
    repeated = [key for keys in (ids, sources.ids) for key, count in Counter(keys).items() if count > 1]
    missing, extra = [key for key in sources.ids if key not in rows], [key for key in ids if key not in known]
    if repeated:
        files = ", ".join(dict.fromkeys([table.name, sources.name]))
        raise InputError(f"{files}: {_some(list(dict.fromkeys(repeated)), 'id')} in several rows; keep one row of each")
    if missing and table.column == ESSAY:  # as MultiGEC's script scores an essay that a system left out
        stands = f"{stand_in!r} stands in" if stand_in else "other references count alone"
        logger.warning("%s lacks %s of %s; %s", table.name, _some(missing, "essay"), sources.name, stands)
        rows |= {key: (f"{table.name}, essay {key}", {"id": key, ESSAY: stand_in}) for key in missing}
    elif missing:
        fix = "add rows, with empty answers if need be"
        raise InputError(f"{table.name}: no row for {_some(missing, 'id')} of {sources.name}; {fix}")
    if extra:
        logger.warning("%s: %s not in %s, left out", table.name, _some(extra, "id"), sources.name)
    return replace(table, rows=[rows[key] for key in sources.ids])


def _by_number(rows: list[Any], ids: Sequence[str]) -> list[Any]:
    """Rows in the order of ids such as `7` or `request-7`, if these count them from 0 or 1."""
    parts = [re.fullmatch(r"(\D*)([0-9]{1,9})", key) for key in ids]
    numbered = {int(part[2]): row for part, row in zip(parts, rows, strict=False) if part}
    counts = sorted(numbered) in (list(range(len(rows))), list(range(1, len(rows) + 1)))
    one_name = len({part[1] for part in parts if part}) == 1
    return [numbered[number] for number in sorted(numbered)] if counts and one_name else rows


def _one_each(texts: list[str], path: str, sources: Sources | None) -> list[str]:
    """One text per source: those of the file, or parts of longer ones."""
    if sources is None or len(texts) == len(sources.texts):
        return texts
    from geceval.text.sentences import sentence_parts, shared_tokens  # numpy: few files hold essays

    count = counted(len(texts), "row" if is_table(path) else "line")
    long = len(texts) * _ESSAY <= len(sources.texts) and shared_tokens(sources.texts, texts) >= _KEPT
    with named(path):
        parts = sentence_parts(sources.texts, texts) if long else []
    pairs = enumerate(zip(sources.texts, parts, strict=False), start=1)
    missing = [line for line, (source, part) in pairs if source and not part]
    if not parts or len(missing) > _MISSING * len(sources.texts):
        raise InputError(f"{path} has {count} but {sources.name} has {len(sources.texts):,}; they must be parallel")
    shown = _some(missing, "line")
    logger.warning("%s: %s cut where the sentences of %s end; without a text: %s", path, count, sources.name, shown)
    return parts


def _check_sources(cells: Cells, sources: Sources | None) -> None:
    """Refuse rows whose own sources, with any prompt around them, are others."""
    texts = zip(cells, _texts(cells, _QUESTIONS), sources.texts if sources else [], strict=False)
    for (where, _), text, source in texts:
        left, right = ("".join(filter(str.isalnum, each.lower())) for each in (text, source))
        if left and right and partial_ratio(left, right) < _SAME_SOURCE:
            both = f"its source is {text[:60]!r}, and that of {sources.name} is {source[:60]!r}"
            raise InputError(f"{where}: {both}; order the rows alike, or give both an id")


def _texts(cells: Cells, roles: Sequence[str] = _ANSWERS) -> list[str]:
    return [_text(value, where, roles) for where, value in cells]


def _text(value: Any, where: str, roles: Sequence[str]) -> str:
    """The text in a value: itself, that of messages or of what a service returned; `""` where there is none."""
    whole = value
    while not isinstance(value, str):
        parts = value if isinstance(value, list) and all(isinstance(part, Mapping) for part in value) else []
        names = [name for name in _WRAPPERS if name in value] if isinstance(value, Mapping) else []
        if value is None or value == [] or names == ["error"]:
            value = ""
        elif parts and "role" in parts[0]:  # what is not the last message may answer an example before the question
            turns = [turn for turn in (parts[-1:] if roles is _ANSWERS else parts) if turn.get("role") in roles]
            value = turns[-1].get("content") if turns else ""
        elif parts and "type" in parts[0]:
            value = "".join(str(part.get("text", "")) for part in parts)
        elif names or (isinstance(value, list) and len(value) == 1):
            value = value[names[0] if names else 0]
        else:
            raise InputError(f"{where}: expected a text, messages or a service's answer, got {reprlib.repr(whole)}")
    if re.search("[\ud800-\udfff]", value):
        raise InputError(f"{where}: half a surrogate pair, which is no character; was the text decoded wrongly?")
    return value.strip()


def _references(cells: Cells) -> list[list[str]]:
    """The references of each row: a text, or a list of them."""
    lists = [(where, value if isinstance(value, list) else [value]) for where, value in cells]
    return [[_text(text, where, _ANSWERS) for text in texts if text is not None] for where, texts in lists]


def _some(items: Sequence[object], noun: str) -> str:
    """How many there are, and the first of them."""
    shown = ", ".join(map(str, items[:_SHOWN])) + (", ..." if len(items) > _SHOWN else "")
    return f"{counted(len(items), noun)} ({shown})" if items else f"no {noun}"
