"""The source's token borders, and its marks, in prose."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from rapidfuzz.distance import Indel, Levenshtein

from geceval.text.tokenisers import Tokeniser, tokenise

# Letters, digits, contractions, and any other character by itself: tokenisers hardly cut finer.
_APOSTROPHE = "['’‘´`]"
_UNITS = re.compile(
    rf"``|''|\.{{3}}|--|-[LR][RCS]B-|[^\W\d_]+?(?=n{_APOSTROPHE}t(?!\w))|n{_APOSTROPHE}t(?!\w)"
    rf"|{_APOSTROPHE}(?:s|m|re|ve|ll|d)(?!\w)|[^\W\d_]+|\d+|\S",
    re.IGNORECASE,
)
_CLITICS = frozenset(["not", "nt", "m", "s", "re", "ve", "ll", "d", "na", "ta", "me"])
"""Words that tokenisers cut from the word before although there is no apostrophe: `can not`, `do nt`, `gon na`."""

_PLAIN = {**dict.fromkeys("’‘‚‛", "'"), **dict.fromkeys("“”„‟", '"'), **dict.fromkeys("–—‐‑―−", "-"), "…": "..."}
_TO_PLAIN = str.maketrans(_PLAIN)
_BRACKETS = {"-lrb-": "(", "-rrb-": ")", "-lsb-": "[", "-rsb-": "]", "-lcb-": "{", "-rcb-": "}"}
_HYPHEN = re.compile(r"(?<=[^\W\d_])[-–](?=[^\W\d_])")
_KEYS = {"``": '"', "''": '"', "--": "-", **_BRACKETS}


@dataclass(frozen=True, slots=True)
class _Units:
    """The pieces of a text, and whether each starts a token, or a word between spaces."""

    texts: list[str]
    starts: list[bool]

    @classmethod
    def of(cls, words: Sequence[str], pairs: dict[str, int]) -> _Units:
        parts = [[part for unit in _UNITS.findall(word) for part in _cut(unit, pairs)] for word in words]
        return cls([text for row in parts for text in row], [not number for row in parts for number in range(len(row))])


def project(prose: str, tokens: Sequence[str], tokeniser: Tokeniser, hyphens: bool = False) -> str:
    """The tokens of a prose text, given its source's tokens; only white space changes."""
    # Where text and source agree, borders are the source's; elsewhere they are the tokeniser's and, with `hyphens`, on
    # both sides of a hyphen between letters. A space of the prose is always a border.
    words = prose.split()
    if words == list(tokens):
        return " ".join(words)
    pairs = {a.lower() + b.lower(): len(a) for a, b in pairwise(tokens) if a.isalpha() and b.lower() in _CLITICS}
    ours, theirs = _Units.of(words, pairs), _Units.of(tokens, {})
    partners = _partners(theirs.texts, ours.texts)
    intact = _intact(partners, theirs, ours)
    offsets = list(accumulate(map(len, ours.texts), initial=0))
    text = "".join(ours.texts)
    cuts = _borders(tokenise(prose, tokeniser))
    if hyphens:
        cuts |= {edge for match in _HYPHEN.finditer(text) for edge in match.span()}
    borders = set()
    for number, (partner, start) in enumerate(zip(partners, ours.starts, strict=True)):
        here, end = offsets[number : number + 2]
        if partner is None:
            borders |= cuts.intersection(range(here + 1, end))
        follows = number > 0 and partner is not None and partners[number - 1] == partner - 1
        if start or (follows and theirs.starts[partner]) or (here in cuts and partner not in intact):
            borders.add(here)
    return " ".join(text[start:end] for start, end in pairwise([*sorted(borders), len(text)]))


def with_spaces_of(tokens: str, texts: Mapping[str, str]) -> str:
    """Join each two tokens as the first text with the same two does, else by a space; `texts`: tokens to text."""
    gaps: dict[tuple[str, str], str] = {}
    for words, text in texts.items():
        starts, offsets = _borders(text), accumulate(map(len, words.split()))
        if len("".join(words.split())) == len("".join(text.split())):  # else marks differ in form
            for pair, offset in zip(pairwise(words.split()), offsets, strict=False):
                gaps.setdefault(pair, " " if offset in starts else "")
    return "".join([*tokens.split()[:1], *(gaps.get(pair, " ") + pair[1] for pair in pairwise(tokens.split()))])


def _intact(partners: Sequence[int | None], theirs: _Units, ours: _Units) -> set[int]:
    """The units, but for each token's first, of source tokens that the text has in one piece."""
    # If a learner glued words and the system parted them, the source's one token is no model.
    positions = {partner: number for number, partner in enumerate(partners) if partner is not None}
    starts = [number for number, start in enumerate(theirs.starts) if start]
    intact: set[int] = set()
    for first, end in pairwise([*starts, len(theirs.starts)]):
        inner = range(first + 1, end)
        if all(
            unit in positions and positions.get(unit - 1) == positions[unit] - 1 and not ours.starts[positions[unit]]
            for unit in inner
        ):
            intact.update(inner)
    return intact


def _cut(unit: str, pairs: dict[str, int]) -> list[str]:
    """A word as the source's tokens cut it: `cannot` in two where the source has `can not`."""
    size = pairs.get(unit.lower())
    return [unit] if size is None else [unit[:size], unit[size:]]


def borders(old: Sequence[str], new: Sequence[str]) -> list[int]:
    """The place in `new` of each border between items of `old`, both ends included."""
    places = [*range(len(old)), len(new)]
    for block in Levenshtein.opcodes(old, new) if old != new else ():
        for place in range(block.src_start, block.src_end):
            places[place] = min(block.dest_start + place - block.src_start, block.dest_end)
    return places


def _borders(tokens: str) -> set[int]:
    """Where tokens start, counted in characters without spaces."""
    return set(accumulate(map(len, tokens.split()), initial=0))


def _partners(theirs: Sequence[str], ours: Sequence[str]) -> list[int | None]:
    """For each unit of a text, the number of its equal in the source."""
    partners: list[int | None] = [None] * len(ours)
    for block in Indel.opcodes([*map(_key, theirs)], [*map(_key, ours)]):
        if block.tag == "equal":
            partners[block.dest_start : block.dest_end] = range(block.src_start, block.src_end)
    return partners


def _key(unit: str) -> str:
    """A unit without regard to case and the form of marks, for comparisons."""
    lowered = unit.lower()
    return lowered if lowered.isalnum() else _KEYS.get(lowered) or lowered.translate(_TO_PLAIN)


def with_marks_of(prose: str, tokens: Sequence[str], paired: bool = False) -> str:
    """A text with quotation marks, apostrophes, dashes and brackets in the form that they have in its source."""
    # A mark that agrees with one of the source takes its form; any other becomes plain unless the source has it, too.
    # If `paired`, quotation marks are the Penn Treebank's, `` and ''.
    source = " ".join(tokens)
    if prose.isascii() and source.isascii() and not paired and "-LRB-" not in source:
        return prose
    ours, theirs = _Units.of(prose.split(), {}), _Units.of(tokens, {})
    known = set(theirs.texts)
    words: list[str] = []
    for unit, start, partner in zip(ours.texts, ours.starts, _partners(theirs.texts, ours.texts), strict=True):
        form = unit if unit in known else unit.translate(_TO_PLAIN)
        if partner is not None and _is_form_of(theirs.texts[partner], unit, paired):
            form = theirs.texts[partner]
        elif paired and form == '"':
            form = "``" if start or unit == "“" else "''"
        words += [form] if start else []
        words[-1] += "" if start else form
    return " ".join(words)


def _is_form_of(mark: str, unit: str, paired: bool) -> bool:
    """Whether a mark of the source is the same as one of the text, only written otherwise."""
    if unit.lower() == mark.lower() or unit.isalnum():
        return False
    return not (unit + mark).isascii() or mark.lower() in _BRACKETS or (paired and mark in ("``", "''"))
