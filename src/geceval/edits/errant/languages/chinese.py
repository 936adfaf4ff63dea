"""ChERRANT at character level (Zhang et al., 2022): the edits of Chinese sentences, as MuCGEC is scored."""

import hashlib
import itertools
import os
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from rapidfuzz.distance import Levenshtein

from geceval.core.cache import lru_cache
from geceval.core.errors import InputError, naming_the_extra
from geceval.edits.edit import NOOP, Edit, common_ends, in_order
from geceval.edits.errant.base import Annotator, Pair
from geceval.edits.errant.dynamic_programme import Step, Table, common_ending
from geceval.text.tokenisers import tokenise

VARIABLE = "GECEVAL_CHERRANT"
UNCHANGED, UNANNOTATED = "没有错误", "无法标注"
"""What stands in place of a reference that changes nothing, or of a sentence that nobody could correct."""

CELLS = 2**21
MOST_PATHS = 10_000
"""More cheapest paths than this, and only the first is followed: their number grows exponentially."""

_FILES = ("cilin.txt", "confusion_dict.txt")
_FOLDERS = ("", "data", "scorers/ChERRANT/data")
_FAR_APART = 10  # texts whose lengths differ by more have one alignment only
_CODES = {"insert": "I", "delete": "D", "replace": "S"}
_TYPES = {"T": "W", "D": "R", "I": "M", "S": "S"}


@dataclass(frozen=True, slots=True)
class Likeness:
    """What is known of characters: their classes in a thesaurus, and with which others they are confused."""

    name: str
    classes: dict[str, str]
    confused: dict[str, frozenset[str]]

    def cost(self, old: str, new: str) -> float:
        """The cost of replacing one character by another: meaning, punctuation, then sound and shape."""
        marks = is_punctuation(old) + is_punctuation(new)
        return self._meaning(old, new) / 6 + (0.25, 0.499, 0.0)[marks] + self._form(old, new)

    def _meaning(self, old: str, new: str) -> int:
        left, right = self.classes.get(old), self.classes.get(new)
        if left is None or right is None:
            return 4
        return 2 * (3 - (left[0] == right[0]) - (left[1] == right[1]) - (left[2:4] == right[2:4]))

    def _form(self, old: str, new: str) -> float:
        if not (_is_han(old) and _is_han(new)):
            return 0.5
        confused = new in self.confused.get(old, ()) or old in self.confused.get(new, ())
        return 0.0 if confused or not _readings(old).isdisjoint(_readings(new)) else 0.5


def read_likeness(folder: str | Path | None) -> Likeness:
    """The thesaurus and the confusion set in a checkout of ChERRANT, or in its folder `data`; `None` has neither."""
    if folder is None:
        return Likeness("none", {}, {})
    paths = [Path(folder, below, name) for name in _FILES for below in _FOLDERS]
    texts = {path.name: path.read_bytes() for path in paths if path.is_file()}
    if not texts:
        raise InputError(
            f"{folder} holds neither {_FILES[0]} nor {_FILES[1]}, the data of ChERRANT; get them by: git clone "
            "https://github.com/HillZhang1999/MuCGEC"
        )
    classes: dict[str, str] = {}
    for line in texts.get(_FILES[0], b"").decode("gbk", errors="replace").splitlines():
        code, *words = line.split()
        classes |= dict.fromkeys(words, code)
    rows = [line.split() for line in texts.get(_FILES[1], b"").decode().splitlines()]
    confused = {row[0]: frozenset(row[1:]) for row in rows if row}
    names = (f"{name.partition('.')[0]}@{hashlib.sha256(data).hexdigest()[:7]}" for name, data in texts.items())
    return Likeness(",".join(names), classes, confused)


class ChineseAnnotator(Annotator):
    """ChERRANT's edits; tokens are characters."""

    packages = ("opencc", "pypinyin", "rapidfuzz")
    skips_equal_texts = False  # a source is not simplified, its corrections are

    def __init__(self, folder: str | Path | None = None) -> None:
        folder = folder or os.environ.get(VARIABLE) or None
        self._likeness = read_likeness(folder)
        super().__init__("zh", self._likeness.name)
        self._folder = folder
        self._cost = lru_cache(None)(self._likeness.cost)
        with naming_the_extra("language='zh'"):
            import pypinyin  # noqa: F401
            from opencc import OpenCC
        self._simplify = OpenCC("t2s").convert

    def __reduce__(self) -> tuple[Any, ...]:
        return ChineseAnnotator, (self._folder,)

    def extract(self, pairs: Sequence[Pair]) -> Iterator[tuple[Edit, ...]]:
        """The edits of each pair, those of each cheapest alignment with its number."""
        for source, corrected in pairs:
            numbered = enumerate(self.alternatives(source.split(), self.corrected(source, corrected)))
            yield tuple(replace(edit, annotator=number) for number, edits in numbered for edit in edits)

    def format_m2(self, source: str, references: Sequence[str | None]) -> str:
        """The block of a sentence in ChERRANT's M2: each alternative under a `T` line with the corrected text."""
        source = tokenise(source, "char")
        lines = [f"S {source}"]
        for number, reference in enumerate(references):
            if reference is None:
                continue
            text = self.corrected(source, reference)
            if text == source.split():
                unknown = "".join(reference.split()) == UNANNOTATED
                verdict, kind = (UNANNOTATED, "NA") if unknown else (UNCHANGED, NOOP)
                lines += [f"T{number} {verdict}", f"A -1 -1|||{kind}|||-NONE-|||REQUIRED|||-NONE-|||{number}"]
                continue
            for index, edits in enumerate(self.alternatives(source.split(), text)):
                lines.append(f"T{number}-A{index} {' '.join(text)}")
                named = (replace(edit, correction=edit.correction or "-NONE-", annotator=number) for edit in edits)
                lines += [edit.to_m2() for edit in named]
        return "\n".join(lines) + "\n\n"

    def corrected(self, source: str, corrected: str) -> list[str]:
        """The characters of a corrected text, simplified; those of the source where it says that nothing changes."""
        text = "".join(corrected.split())
        if text in (UNCHANGED, UNANNOTATED):
            return source.split()
        return tokenise(self._simplify(text), "char").split()

    def alternatives(self, source: Sequence[str], corrected: Sequence[str]) -> list[list[Edit]]:
        """The distinct lists of edits that the cheapest alignments make."""
        if source == corrected:
            return [[]]
        if len(source) * len(corrected) > CELLS:
            blocks = map(tuple, Levenshtein.opcodes(source, corrected))
            coarse = [Step(_CODES[block[0]], *block[1:]) for block in blocks if block[0] != "equal"]
            return [_to_edits(coarse, corrected)]
        lists: dict[tuple[Edit, ...], None] = {}
        ending = common_ending(source, corrected)  # matched whatever comes before it
        old, new = source[: len(source) - ending], corrected[: len(corrected) - ending]
        table = Table(old, new, np.array([[self._cost(a, b) for b in new] for a in old]), (old, new))
        for steps in table.paths(abs(len(old) - len(new)) > _FAR_APART or table.count() > MOST_PATHS):
            lists[tuple(_to_edits(merge(steps, source, corrected), corrected))] = None
        return [list(edits) for edits in lists]

    def is_coarse(self, pair: Pair, edits: Sequence[Edit]) -> bool:
        """Whether the texts were too long."""
        return len(pair[0].split()) * len(pair[1].split()) > CELLS

    def classify(self, rows: Sequence[tuple[str, Sequence[Edit]]]) -> list[list[Edit]]:
        """Give manual edits the types M, R, W and S."""
        typed = []
        for source, edits in rows:
            tokens = source.split()
            typed.append([replace(edit, type=_type(edit, tokens[edit.start : edit.end])) for edit in in_order(edits)])
        return typed


def merge(steps: Sequence[Step], source: Sequence[str], corrected: Sequence[str]) -> list[Step]:
    """The changes of an alignment, merged by ChERRANT's rules."""
    pieces = []
    for operation, group in itertools.groupby(steps, lambda step: step.operation if step.operation in "MT" else ""):
        run = list(group)
        operations = {step.operation for step in run}
        if len(run) == 1 or operation == "T" or operations == {"D", "I"}:
            pieces += run
        else:
            pieces.append(_joined(run, operations.pop() if len(operations) == 1 else "S"))
    changes, index = [], 0
    while index < len(pieces):
        three = pieces[index : index + 3]
        if len(three) == 3 and _moves(three, source, corrected):
            changes.append(_joined(three, "T"))
            index += 3
            continue
        if pieces[index].operation != "M":
            changes.append(pieces[index])
        index += 1
    differing = (step for step in changes if _old(step, source) != _new(step, corrected))
    return [_trimmed(step, source, corrected) if step.operation == "S" else step for step in differing]


def _moves(three: Sequence[Step], source: Sequence[str], corrected: Sequence[str]) -> bool:
    """Whether the outer two of three pieces have changed their places."""
    left, middle, right = three
    between = left.operation + middle.operation + right.operation
    if between == "SMS":
        old, new = _old(left, source), _new(left, corrected)
        later_old, later_new = _old(right, source), _new(right, corrected)
        if min(map(len, (old, new, later_old, later_new))) == 1:
            return old == later_new and new == later_old
        return Levenshtein.distance(old, later_new) <= 1 and Levenshtein.distance(new, later_old) <= 1
    if between not in ("DMI", "DTI", "IMD", "ITD"):
        return False
    deletion, insertion = (left, right) if left.operation == "D" else (right, left)
    shorter, longer = sorted((_new(insertion, corrected), _old(deletion, source)), key=len)
    if is_punctuation("".join(longer)) or is_punctuation("".join(shorter)) or len(longer) - len(shorter) > 1:
        return False
    if len(shorter) == 1:
        return longer == shorter
    rotations = (longer[k:] + longer[:k] for k in range(len(longer)))
    return Levenshtein.distance(longer, shorter) <= 1 or (len(longer) == len(shorter) and shorter in rotations)


def _trimmed(step: Step, source: Sequence[str], corrected: Sequence[str]) -> Step:
    """A substitution without the characters that both sides share at the start, then at the end."""
    old, new = _old(step, source), _new(step, corrected)
    start, end = common_ends(old, new)
    operation = "I" if start + end == len(old) else "D" if start + end == len(new) else "S"
    return Step(operation, step.start + start, step.end - end, step.new_start + start, step.new_end - end)


def _joined(steps: Sequence[Step], operation: str) -> Step:
    return Step(operation, steps[0].start, steps[-1].end, steps[0].new_start, steps[-1].new_end)


def _old(step: Step, source: Sequence[str]) -> list[str]:
    return list(source[step.start : step.end])


def _new(step: Step, corrected: Sequence[str]) -> list[str]:
    return list(corrected[step.new_start : step.new_end])


def _to_edits(steps: Sequence[Step], corrected: Sequence[str]) -> list[Edit]:
    return [Edit(step.start, step.end, " ".join(_new(step, corrected)), _TYPES[step.operation]) for step in steps]


def _type(edit: Edit, old: Sequence[str]) -> str:
    new = edit.correction.split()
    if not (old and new):
        return "M" if new else "R"
    return "W" if sorted(old) == sorted(new) else "S"


def is_punctuation(text: str) -> bool:
    """Whether a text is one mark of punctuation."""
    return len(text) == 1 and unicodedata.category(text)[0] in "PS"


def _is_han(text: str) -> bool:
    return len(text) == 1 and "\u4e00" <= text <= "\u9fff"


@lru_cache(maxsize=32_768)
def _readings(character: str) -> frozenset[str]:
    """All readings of a character, without tones."""
    from pypinyin import Style, pinyin

    return frozenset(pinyin(character, style=Style.NORMAL, heteronym=True)[0])
