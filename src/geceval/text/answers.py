"""Answers of language models, without the text around a correction.

Each rule removes one thing. No rule removes what the source has too, or words of the source that are not struck out.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

from rapidfuzz.distance import Indel

from geceval.text.projection import with_marks_of


@dataclass(frozen=True, slots=True)
class Cleaned:
    """The correction in an answer, and the names of the rules that removed anything else."""

    text: str
    rules: tuple[str, ...] = ()


_REVISED = r"(?:(?:grammatically\s+)?correct(?:ed)?|revised|edited|improved|fixed|rewritten|proofread|polished)"
_THING = r"(?:sentences?|versions?|texts?|paragraph|passage|essay|grammar|form|output|answer)"
_YES = r"(?:sure(?:\s+thing)?|of\s+course|certainly|absolutely|okay|ok|no\s+problem|here\s+you\s+go)"
_LABEL = (
    rf"(?:(?:here\s+(?:is|are)|here['’]s|below\s+is|this\s+is|the|your|my|a)\s+(?:(?:the|your|a)\s+)?)?"
    rf"(?:{_REVISED}(?:\s+{_THING})?|correction|output|answer|corrected)"
    r"(?:\s+(?:of|for|with|without|in)\s[^:\n]{0,80})?(?:\s+(?:is|would\s+be|reads|should\s+be))?(?:\s+as\s+follows)?"
)
_MARKED = r"[*_#>\s\"“]{0,9}"
_PREAMBLE = re.compile(rf"{_MARKED}(?:{_YES}\b\s*[!.,:-]*\s*)?{_MARKED}{_LABEL}[*_]*\s*(?:\([^)\n]*\))?:[*_]*\s*", re.I)
_INTERJECTION = re.compile(rf"{_YES}(?:[!.,]?\s+{_YES})?(?:\s*[!:]\s*|[.,]?\s*\n\s*)", re.I)
_ORIGINAL = re.compile(rf"\A{_MARKED}(?:original|input|source|incorrect)(?:\s+{_THING})?[*_]*\s*:[^\n]*\n+", re.I)
_COMMENT = re.compile(
    r"\n[ \t]*[*_#(\[]*(?:explanations?|notes?|reason(?:s|ing)?|changes?(?:\s+made)?|corrections?(?:\s+made)?|edits?"
    r"|key\s+changes|the\s+(?:changes?|corrections?|errors?|original)\b[^\n]{0,60}|what\s+(?:i|was)\s+changed"
    r"|here['’]?s\s+(?:what|why)[^\n:]*|i\s+(?:changed|corrected|replaced|fixed|removed|added|made)\b[^\n]*"
    r"|let\s+me\s+know[^\n]*|(?:i\s+)?hope\s+this\s+helps[^\n]*|is\s+there\s+anything\s+else[^\n]*)[*_]*\s*(?::|[.!?]?\s*(?:\n|$)).*",
    re.I | re.S,
)
_ASIDE = re.compile(
    r"[(\[](?:note|explanation|changed?|corrected|no\s+(?:changes?|corrections?|errors?))\b[^()\[\]]*[)\]]\s*", re.I
)
_UNCHANGED = re.compile(
    r"(?:(?:the|this|your)\s+(?:\w+\s+)?(?:sentence|text)\s+is\s+(?:already\s+)?(?:grammatically\s+)?correct(?:\s+as\s+(?:it\s+)?is)?"
    r"|no\s+(?:changes?|corrections?|errors?|mistakes?)(?:\s+(?:are|is|were))?(?:\s+(?:needed|necessary|required|found))?)"
    r"(?:[.,;]?\s+(?:and\s+)?(?:no|there\s+are\s+no)\s[^.\n]*)?\s*[.!]?",
    re.I,
)
_REFUSAL = re.compile(
    r"\W*(?:(?:i['’]?m|i\s+am)\s+(?:very\s+|really\s+)?(?:sorry|unable|not\s+able|afraid)|sorry|i\s+apologi[sz]e|unfortunately"
    r"|as\s+an?\s+(?:ai|(?:large\s+)?language\s+model)|i\s+(?:cannot|can['’]?t|can\s+not|won['’]?t|will\s+not|do\s+not|don['’]?t))\b"
    r".*\b(?:assist|help|provide|correct|comply|fulfil\w*|process|respond|request|language\s+model|content|complete|understand)\b",
    re.I | re.S,
)
_WORD = re.compile(r"\w+")
_PAIRS = {'"': '"', "“": "”", "'": "'", "‘": "’", "`": "`", "«": "»", "„": "“"}
_INVISIBLE = {
    **dict.fromkeys("\u00a0\u2007\u2009\u200a\u202f\u3000", " "),
    **dict.fromkeys("\u200b\u200c\u200d\u2060\ufeff\u00ad"),
}


def clean(answer: str, source: str) -> Cleaned:
    """The correction of a source in a language model's answer; the order of the rules is that of `RULES`."""
    rules = []
    answer = answer.strip() if answer.strip() else answer
    for name, rule in RULES.items():
        text = rule(answer, source)
        keeps = rule is markdown or _likeness(text, source) >= _likeness(answer, source)  # struck-out words go
        if text.strip() and text != answer and keeps:
            answer = text
            rules.append(name)
    return Cleaned(answer, tuple(rules))


def is_answer(text: str, source: str) -> bool:
    """Whether a text begins like an answer to a request and not like a correction, see `preamble`."""
    return text != source and preamble(text, source) != text and "preamble" in clean(text, source).rules


def is_refusal(answer: str, source: str) -> bool:
    """Whether an answer refuses to correct, and its source does not."""
    return bool(_REFUSAL.match(answer)) and not _REFUSAL.match(source) and _likeness(answer, source) < 0.6


def _likeness(left: str, right: str) -> float:
    """The likeness of two texts, word by word, in [0, 1]."""
    return Indel.normalized_similarity(_WORD.findall(left.lower()), _WORD.findall(right.lower()))


def reasoning(answer: str, source: str) -> str:
    """Without `<think>...</think>` and all text before its end."""
    return answer if "think>" in source else re.sub(r"(?s)^(?:.*</think>|<think>.*?</think>)\s*", "", answer)


def fence(answer: str, source: str) -> str:
    """The content of the only code fence of an answer."""
    blocks = re.findall(r"(?s)```(?:[\w-]*\n)?(.*?)```", answer)
    return blocks[0].strip() if len(blocks) == 1 and "```" not in source else answer


def tags(answer: str, source: str) -> str:
    """The content of `<corrected>...</corrected>`."""
    tag = re.fullmatch(r"(?s)\s*<(\w+)>(.*)</\1>\s*", answer)
    return tag[2].strip() if tag and f"<{tag[1]}>" not in source else answer


def original(answer: str, source: str) -> str:
    """Without the line that repeats the source, `Original: ...`."""
    return _ORIGINAL.sub("", answer, count=1)


def preamble(answer: str, source: str) -> str:
    """Without `Sure!`, `Here is the corrected sentence:` or `Corrected:` before the correction."""
    for opening in (_PREAMBLE, _INTERJECTION):
        match = opening.match(answer)
        if match and not opening.match(f"{source}\n"):
            rest = answer[match.end() :]
            # The mark at the end closes the one before the preamble.
            return '"' + rest if match[0].lstrip()[:1] in ('"', "“") and rest.rstrip()[-1:] in ('"', "”") else rest
    return answer


def unchanged(answer: str, source: str) -> str:
    """The source, if the answer only says that nothing is to be corrected."""
    return source if _UNCHANGED.fullmatch(answer.strip()) and not _UNCHANGED.fullmatch(source.strip()) else answer


def comment(answer: str, source: str) -> str:
    """Without the explanation after a correction, on lines of its own or in parentheses at the end."""
    text = _COMMENT.sub("", answer)
    match = _ASIDE.search(text)
    text = text[: match.start()] if match and match.end() == len(text) else text
    return answer if text == answer else text.rstrip()


def lines(answer: str, source: str) -> str:
    """One line for a source of one line: the first of several versions, or the lines of one joined."""
    parts = [part.strip() for part in answer.splitlines() if part.strip()]
    if len(source.strip().splitlines()) > 1 or len(parts) < 2:
        return answer
    numbered = [re.sub(r"^(?:\d+[.)]|[-*•])\s+", "", part) for part in parts]
    versions = all(_likeness(part, source) > 0.6 for part in numbered)
    return numbered[0] if versions else " ".join(parts)


def markdown(answer: str, source: str) -> str:
    """Without bold and italic type, struck-out words, and the mark of a list, quotation or heading."""
    text = answer
    for pattern, replacement, mark in (
        (r"~~[^~]+~~ ?", "", "~~"),
        (r"(\*\*|__)(?=\S)(.+?)(?<=\S)\1", r"\2", "**"),
        (r"(?<![\w*])\*(?=[^\s*])([^*]+?)(?<=\S)\*(?![\w*])", r"\1", "*"),
        (r"^\s*(?:[-*•>]|#+)\s+", "", ""),
    ):
        listed = re.match(r"\s*[-*•>#]", source) if not mark else mark in source
        text = text if listed else re.sub(pattern, replacement, text)
    return text


def quotes(answer: str, source: str) -> str:
    """Without quotation marks around the whole, if the source has none at either end."""
    text, outer = answer.strip(), source.strip()
    close = _PAIRS.get(text[:1])
    if close is None or len(text) < 3 or text[-1] != close or outer[:1] in _PAIRS or outer[-1:] in _PAIRS.values():
        return answer
    inner = text[1:-1]
    return answer if text[0] in inner or (close in inner and close not in "'’") else inner.strip()


def spaces(answer: str, source: str) -> str:
    """With plain spaces, and without characters of no width, unless the source has them."""
    table = {ord(character): plain for character, plain in _INVISIBLE.items() if character not in source}
    return answer.translate(table).strip()


def marks(answer: str, source: str) -> str:
    """With typographic marks or plain ones, as the source has them."""
    text = with_marks_of(answer, source.split())
    return answer if text.split() == answer.split() else text


_AROUND = (reasoning, tags, fence, original, preamble, unchanged, comment, lines)
_WITHIN = (markdown, quotes, spaces, marks)
RULES: dict[str, Callable[[str, str], str]] = {rule.__name__: rule for rule in (*_AROUND, *_WITHIN)}
