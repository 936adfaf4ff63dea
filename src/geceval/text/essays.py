"""Essays in the Markdown of MultiGEC-2025, and their sentences."""

import logging
import re
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

from geceval.core.cache import lru_cache
from geceval.core.errors import InputError, counted, naming_the_extra
from geceval.core.files import read_text

logger = logging.getLogger("geceval")

_HEADER = re.compile(r"^### essay_id = (.+)$", re.MULTILINE)


def markdown_essays(path: str) -> list[tuple[str, str]]:
    """The id and the text of each essay that stands after a line `### essay_id = ID`; none in any other file."""
    if not path.lower().removesuffix(".gz").endswith(".md") or not Path(path).is_file():
        return []
    state = Path(path).stat()
    _, *parts = _split(path, state.st_mtime_ns, state.st_size)
    return [(name.strip(), text.strip()) for name, text in zip(parts[::2], parts[1::2], strict=True)]


@lru_cache(maxsize=16)
def _split(path: str, modified: int, size: int) -> list[str]:
    """What stands before the first header, then each id and what follows; a changed file is another entry."""
    return _HEADER.split(read_text(path))


def sentence_lines(path: str, corrected: str | None = None) -> list[str]:
    """The sentences of essays, or what they became in corrected ones; blank where an essay is missing there."""
    essays = _by_id(path)
    sentences = [[" ".join(part.split()) for part in _sentences(text)] for text in essays.values()]
    if corrected is None:
        return [sentence for row in sentences for sentence in row]
    from geceval.text.sentences import sentence_parts  # numpy: whether a file holds essays is asked of every file

    texts = _by_id(corrected)
    if not texts:
        name = next(iter(essays))
        raise InputError(f"{corrected}: no essay; a line such as `### essay_id = {name}` stands before each")
    if missing := [name for name in essays if name not in texts]:
        shown = counted(len(missing), "essay")
        logger.warning("%s lacks %s of %s, %s first; the lines are blank", corrected, shown, path, missing[0])
    rows = zip(essays, sentences, strict=True)
    parts = [part for name, row in rows for part in sentence_parts(row, [texts.get(name, "")])]
    return [" ".join(part.split()) for part in parts]


def _by_id(path: str) -> dict[str, str]:
    """The text of each essay by its id."""
    essays: dict[str, str] = {}
    for name, text in markdown_essays(path):
        if name in essays:
            raise InputError(f"{path}: two essays have the id {name}; keep one")
        essays[name] = text
    return essays


def with_lines(path: str, lines: Sequence[str], name: str) -> str:
    """A file of essays with other texts in their places: one for each essay, or for each sentence."""
    essays = [text for _, text in markdown_essays(path)]
    pieces = [[text] for text in essays] if len(lines) == len(essays) else [_sentences(text) for text in essays]
    count = sum(map(len, pieces))
    if len(lines) != count:
        had, expected = counted(len(lines), "line"), f"{counted(len(essays), 'essay')} of {counted(count, 'sentence')}"
        raise InputError(f"{name} has {had}, but {path} has {expected}; pass one for each essay, or for each sentence")
    content, texts, end = [], iter(lines), 0
    whole = read_text(path)
    for header, row in zip(_HEADER.finditer(whole), pieces, strict=True):
        start = header.end()
        for piece in row:
            start = whole.index(piece, start)
            text = next(texts)
            content += [whole[end:start], text if piece or not text else f"\n\n{text}"]
            start = end = start + len(piece)
    return "".join([*content, whole[end:]])


def _sentences(essay: str) -> list[str]:
    """The sentences of an essay by syntok, at least one."""
    with naming_the_extra("sentences of essays"):
        from syntok.segmenter import analyze
    starts = [tokens[0].offset for paragraph in analyze(essay) for tokens in paragraph]
    pieces = [essay[start:end].strip() for start, end in pairwise([0, *starts[1:], len(essay)])]
    return [piece for piece in pieces if piece] or [essay]
