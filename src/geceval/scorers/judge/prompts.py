"""The prompts of the judge: up to five distinct outputs of one sentence, to be graded from 1 to 5."""

# The protocols are those of Kobayashi, Mita and Komachi (2024): whole outputs (GPT-4-S) or their edits (GPT-4-E); the
# wording is our own. Sentences go into a JSON object, in a message of their own, so that nothing in them can be taken
# for the end of a field; reading the JSON gives each text back exactly.

import hashlib
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from geceval.core.cache import lru_cache
from geceval.core.files import ASSETS, read_json
from geceval.edits.edit import Edit
from geceval.models.chat import Messages, json_escape

Level: TypeAlias = Literal["sentence", "edit"]
Criterion: TypeAlias = Literal["none", "grammaticality", "fluency", "meaning"]

MAX_GRADE = 5
IDS = "ABCDE"

# What begins a control token of some model (`<|im_end|>`, `[INST]`); no JSON has it but within its strings, where the
# escape of its first character breaks it.
_CONTROL = re.compile(r"<|\[(?=/?[A-Z_]+\])")
_CONTEXT = 3  # source tokens shown on either side of an edit

_TEXTS = read_json(ASSETS / "judge_prompts.json")


@dataclass(frozen=True, slots=True)
class Question:
    """Distinct outputs of one source that are graded in one prompt."""

    source: str
    outputs: tuple[str, ...]

    @property
    def ids(self) -> str:
        """One letter per output."""
        return IDS[: len(self.outputs)]


def questions(source: str, outputs: Iterable[str]) -> list[Question]:
    """Divide the distinct outputs of one source into as few questions as possible, of nearly equal size."""
    # Neither their order nor repetitions matter: outputs are sorted by a hash, so that no system is first in all
    # prompts.
    ordered = sorted(set(outputs), key=lambda text: hashlib.sha256(f"{source}\n{text}".encode()).digest())
    count = -(-len(ordered) // len(IDS))
    bounds = [len(ordered) * number // count for number in range(count + 1)]
    return [Question(source, tuple(ordered[low:high])) for low, high in zip(bounds, bounds[1:], strict=False)]


def messages(
    question: Question, level: Level, criterion: Criterion, edits: Sequence[Sequence[Edit]] | None = None
) -> Messages:
    """The chat that asks a question."""
    tokens = question.source.split()
    entries = []
    for index, (name, text) in enumerate(zip(question.ids, question.outputs, strict=True)):
        entry: dict[str, Any] = {"id": name, "text": text}
        if edits is not None:
            entry["edits"] = [_show(edit, tokens) for edit in edits[index]]
        entries.append(entry)
    material = json.dumps({"source": question.source, "outputs": entries}, ensure_ascii=False, indent=1)
    return [
        {"role": "system", "content": _instructions(level, criterion, question.ids)},
        {"role": "user", "content": _CONTROL.sub(lambda match: json_escape(match[0]), material)},
    ]


@lru_cache(maxsize=None)
def version(level: Level, criterion: Criterion) -> str:
    """A short hash of the wording, for the signature."""
    shape = Question("source", ("output",))
    example = messages(shape, level, criterion, [[Edit(0, 1, "output")]] if level == "edit" else None)
    texts = [_instructions(level, criterion, IDS), *(message["content"] for message in example)]
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()[:8]


def _instructions(level: Level, criterion: Criterion, ids: str) -> str:
    example = ", ".join(f'"{name}": <1-{MAX_GRADE}>' for name in ids)
    parts = [_TEXTS["task"], *([_TEXTS["edits"]] if level == "edit" else [])]
    parts.append(f"{_TEXTS['sentences']} {_TEXTS['criteria'][level][criterion]}")
    return "\n\n".join([*parts, _TEXTS["answer"].format(example="{" + example + "}")])


def _show(edit: Edit, tokens: list[str]) -> dict[str, str]:
    return {
        "left": " ".join(tokens[max(0, edit.start - _CONTEXT) : edit.start]),
        "from": " ".join(tokens[edit.start : edit.end]),
        "to": edit.correction,
        "right": " ".join(tokens[edit.end : edit.end + _CONTEXT]),
    }
