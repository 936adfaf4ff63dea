"""Whether columns are prose or tokens, and what a metric is given in their place."""

from __future__ import annotations

import logging
import operator
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import repeat
from typing import Any, Literal, TypeAlias, get_args

from geceval.core.cache import lru_cache
from geceval.core.errors import counted
from geceval.core.inputs import Columns
from geceval.text.answers import clean, is_answer, is_refusal
from geceval.text.projection import project, with_marks_of
from geceval.text.tokenisers import Tokeniser, tokenise

logger = logging.getLogger("geceval")

TextSetting: TypeAlias = Literal[
    "auto", "tokens", "prose", "answers", "spacy-en", "ptb", "13a", "syntok", "char", "whitespace"
]
Form: TypeAlias = Literal["tokens", "sources", "prose"]
"""What a metric reads: tokens; texts in the form of their sources; or prose, which is left as it is."""

# Marks that stand apart in tokens, and those that touch a word in prose; ambiguous marks are in neither pattern.
_APART = re.compile(r"""[.,!?;:()\[\]]|``|''|\.{3}|n['’]t|['’](?:s|m|re|ve|ll|d)|-[LR]RB-""", re.IGNORECASE)
_TOUCHING = re.compile(
    r"""[^(\[]*[^\W_]["'”’)\]]*[,;:!?]["'”’)\]]* | .*[^\W\d_]{3}\.["'”’)\]]* | .*\w(?:n['’]t|['’](?:s|m|re|ve|ll|d))
    | ["“(\[]\w[^)\]]* | [^("“\[]*\w["”)\]]""",
    re.IGNORECASE | re.VERBOSE,
)
_UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u9fff]")  # scripts without spaces, of which marks say nothing
_LAST = re.compile(r""".*\w{2}[.]["'”’)\]]*""")
_HYPHENATED = re.compile(r"[^\W\d_]-[^\W\d_]")


@dataclass(frozen=True, slots=True)
class Reading:
    """What was done to columns."""

    tokeniser: str = ""  # where tokens come from, which may be `"source"`
    converted: dict[str, int] = field(default_factory=dict)  # column to texts that became other tokens
    cleaned: dict[str, int] = field(default_factory=dict)  # rule to predictions, see `geceval.text.answers`
    refusals: int = 0
    answers: int = 0  # predictions that should have been cleaned

    def details(self) -> dict[str, Any]:
        """The detail `text` of a result; empty where nothing was done."""
        parts: dict[str, Any] = {"converted": {name: count for name, count in self.converted.items() if count}}
        parts |= {"tokeniser": self.tokeniser} if parts["converted"] else {}
        parts |= {"cleaned": self.cleaned, "refusals": self.refusals}
        return {name: value for name, value in parts.items() if value}

    def __add__(self, other: Reading) -> Reading:
        return Reading(
            self.tokeniser or other.tokeniser,
            dict(Counter(self.converted) + Counter(other.converted)),
            dict(Counter(self.cleaned) + Counter(other.cleaned)),
            self.refusals + other.refusals,
            self.answers + other.answers,
        )


def evidence(text: str, source_words: frozenset[str] = frozenset()) -> int:
    """1 for prose, -1 for tokens, 0 if a text is undecided; words of its source are no evidence of prose."""
    words = [word for word in text.split() if not word.isalnum() and not _UNSPACED.search(word)]
    touching = sum(word not in source_words and _TOUCHING.fullmatch(word) is not None for word in words)
    last = words[-1] if words and text.rstrip().endswith(words[-1]) else ""
    if _LAST.fullmatch(last) and not _TOUCHING.fullmatch(last):
        touching += last not in source_words
    apart = sum(_APART.fullmatch(word) is not None for word in words)
    return (touching > apart) - (touching < apart)


def kind(texts: Sequence[str], sources: Sequence[str] | None = None) -> Literal["tokens", "prose", ""]:
    """What a column holds, by majority of the texts that show a form; `""` for a tie, or if none does."""
    return _kind(tuple(texts), sources if sources is None else tuple(sources))


@lru_cache(maxsize=8)  # the systems of a table share their sources and references
def _kind(texts: tuple[str, ...], sources: tuple[str, ...] | None) -> Literal["tokens", "prose", ""]:
    words = map(frozenset, map(str.split, sources)) if sources is not None else repeat(frozenset())
    balance = sum(map(evidence, texts, words))
    return "prose" if balance > 0 else "tokens" if balance < 0 else ""


def read(
    columns: Columns,
    text: TextSetting = "auto",
    form: Form = "tokens",
    tokeniser: Tokeniser = "ptb",
    sources_are_tokens: bool = False,
) -> tuple[Columns, Reading]:
    """The columns as a metric with this setting `text` compares them; with `sources_are_tokens` no source is prose."""
    # The tokeniser is for sources in prose; but `"char"` is that of all texts, whatever they hold.
    if text == "tokens" and tokeniser != "char":
        return columns, Reading()
    done = Reading()
    if text == "answers":
        predictions, done = clean_answers(columns.predictions, columns.sources)
        columns = replace(columns, predictions=predictions)
    if tokeniser == "char":  # of Chinese, whichever form the columns had
        return _by_name(columns, tokeniser), done
    if text in get_args(Tokeniser):
        words, source = _by_name(columns, text), text
    else:
        words, source = _by_source(columns, text, form, tokeniser, sources_are_tokens)
    answers = 0 if text == "answers" else sum(map(is_answer, columns.predictions, columns.sources))
    return words, done + Reading(source, _changes(columns, words), answers=answers)


def clean_answers(predictions: Sequence[str], sources: Sequence[str]) -> tuple[list[str], Reading]:
    """The corrections in answers of language models."""
    pairs = list(zip(predictions, sources, strict=True))
    answers = [clean(*pair) for pair in pairs]
    cleaned = Counter(rule for answer in answers for rule in answer.rules)
    return [answer.text for answer in answers], Reading(
        cleaned=dict(cleaned), refusals=sum(is_refusal(*pair) for pair in pairs)
    )


def as_tokens(columns: Columns, text: TextSetting = "auto") -> Columns:
    """The columns over whose tokens edits are extracted and shown."""
    return read(columns, text, tokeniser="spacy-en")[0]


def read_rows(columns: Columns, *how: Any) -> tuple[Columns, Reading]:
    """As `read`, but each row by itself, without regard to the other rows."""
    references = columns.references or [None] * len(columns.sources)
    rows = zip(columns.sources, columns.predictions, references, strict=True)
    alone = [read(Columns([source], [text], row and [row]), *how) for source, text, row in rows]
    together = Columns(
        [each.sources[0] for each, _ in alone],
        [each.predictions[0] for each, _ in alone],
        columns.references and [each.references[0] for each, _ in alone],
    )
    return together, sum((reading for _, reading in alone), Reading())


def sources_of_file(texts: Sequence[str], sources: Sequence[str]) -> list[str]:
    """Sources with the tokens of an M2 file, wherever both differ in white space and the form of marks alone."""
    if len(texts) != len(sources):
        return list(texts)
    style = _Style.of(tuple(sources), "spacy-en")
    pairs = zip(texts, sources, strict=True)
    return [source if style.apply(text, source).split() == source.split() else text for text, source in pairs]


def warn(metric: str, reading: Reading) -> None:
    """Say what was done to the columns of a metric."""
    if any(reading.converted.values()):
        counts = ", ".join(counted(number, name[:-1]) for name, number in reading.converted.items() if number)
        how = "to match the sources" if reading.tokeniser == "source" else f"by {reading.tokeniser}"
        logger.warning("%s: read as prose and tokenised %s: %s; text='tokens' turns this off",
                       metric, how, counts)  # fmt: skip
    warn_of_answers(metric, reading)


def warn_of_answers(user: str, reading: Reading) -> None:
    """Say how answers of language models were cleaned, or how many predictions should have been."""
    if reading.cleaned or reading.refusals:
        rules = ", ".join(f"{rule} {count:,}" for rule, count in sorted(reading.cleaned.items()))
        refusals = f"{'; ' if rules else ''}{counted(reading.refusals, 'refusal')}" if reading.refusals else ""
        logger.warning("%s: answers were cleaned: %s%s", user, rules, refusals)
    if reading.answers:
        logger.warning(
            "%s: %s text around the correction, as answers of language models do; text='answers' cleans them",
            user, counted(reading.answers, "prediction has", "predictions have"))  # fmt: skip


def _by_name(columns: Columns, name: Tokeniser) -> Columns:
    """All texts, tokenised alike."""

    def column(texts: Sequence[str]) -> list[str]:
        return [_kept(text, tokenise(text, name)) for text in texts]

    return Columns(
        column(columns.sources),
        column(columns.predictions),
        columns.references and list(map(column, columns.references)),
    )


def _by_source(
    columns: Columns, text: TextSetting, form: Form, tokeniser: Tokeniser, sources_are_tokens: bool
) -> tuple[Columns, str]:
    """Prose tokenised like its sources, and the name of what tokenised it: a tokeniser, or `"source"`."""
    prose_sources = not sources_are_tokens and (text == "prose" or kind(columns.sources) == "prose")
    if form == "prose" or (form == "sources" and prose_sources):
        return columns, ""
    sources, style = columns.sources, _Style(tokeniser)
    if prose_sources:
        sources = [_kept(each, tokenise(each, tokeniser)) for each in sources]
    else:
        style = _Style.of(tuple(sources), tokeniser)

    def column(texts: Sequence[str], rows: Sequence[int]) -> list[str]:
        found = kind(texts, None if prose_sources else [columns.sources[row] for row in rows])
        # If a column's form is unclear, assume that of its sources; for text="answers", assume prose.
        if text != "prose" and found != "prose" and (found or (text == "auto" and not prose_sources)):
            return list(texts)
        return [style.apply(each, sources[row]) for each, row in zip(texts, rows, strict=True)]

    references = columns.references and [list(row) for row in columns.references]
    for number in range(max(map(len, references or [()]))):
        rows = [row for row, texts in enumerate(references) if number < len(texts)]
        for row, each in zip(rows, column([references[row][number] for row in rows], rows), strict=True):
            references[row][number] = each
    predictions = column(columns.predictions, range(len(sources)))
    return Columns(sources, predictions, references), tokeniser if prose_sources else "source"


@dataclass(frozen=True, slots=True)
class _Style:
    """How tokens are written: the tokeniser of words that a source lacks, and whether hyphens and quotes differ."""

    tokeniser: Tokeniser
    hyphens: bool = False
    paired: bool = False

    @classmethod
    @lru_cache(maxsize=8)
    def of(cls, sources: tuple[str, ...], tokeniser: Tokeniser) -> _Style:
        """The style of tokenised sources; if they do not show whether hyphens are split, follow `tokeniser`."""
        whole = sum(_HYPHENATED.search(word) is not None for source in sources for word in source.split())
        apart = sum(source.split().count("-") for source in sources)
        hyphens = apart > whole or (apart == whole and tokeniser == "spacy-en")
        return cls("ptb", hyphens, any("``" in source.split() for source in sources))

    def apply(self, text: str, source: str) -> str:
        """The tokens of a text, given those of its source."""
        tokens = source.split()
        return _kept(text, project(with_marks_of(text, tokens, self.paired), tokens, self.tokeniser, self.hyphens))


def _kept(old: str, new: str) -> str:
    """A text, as it was if its tokens are the same."""
    return old if old.split() == new.split() else new


def _changes(old: Columns, new: Columns) -> dict[str, int]:
    """Column to how many of its texts have changed."""
    references = [[text for row in columns.references or [] for text in row] for columns in (old, new)]
    pairs = {"sources": (old.sources, new.sources), "predictions": (old.predictions, new.predictions)}
    pairs["references"] = tuple(references)
    return {name: sum(map(operator.ne, *pair)) for name, pair in pairs.items()}
