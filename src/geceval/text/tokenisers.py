"""Tokenisers by name, and the way back from tokens to prose."""

import re
from typing import Any, Literal, TypeAlias

from geceval.core.cache import lru_cache
from geceval.core.errors import naming_the_extra

Tokeniser: TypeAlias = Literal["spacy-en", "ptb", "13a", "syntok", "char", "whitespace"]
"""spaCy's English rules, for which no pipeline is loaded (BEA-2019, FCE, CWEB); those of the Penn Treebank (CoNLL,
JFLEG); those of WMT's BLEU; the package syntok (MultiGEC); single characters, as for Chinese; white space and nothing
else."""

_CHARACTER = re.compile(r"\[缺失成分\]|\S")  # the placeholder of Chinese annotators for what nobody can know

# What `detokenise` leaves out, in this order, when runs of white space have become one space.
_JOINTS = (
    r"(?i) +(?=(?:n't|n’t|['’](?:s|m|re|ve|ll|d|t))(?:\s|$))",
    r" +(?=[.,!?;:%)\]}])",
    r"(?<=[(\[{]) +",
)
_CLITIC = r"['’´`](?:s|m|re|ve|ll|d)(?!\w)"
_ABBREVIATION = re.compile(r"(?i)(?:mr|mrs|ms|dr|prof|st|jr|sr|vs|inc|ltd|corp|etc|[^\W\d_])|.*\..*")
# Where a space goes by the Penn Treebank's conventions.
_TREEBANK = tuple(
    (re.compile(pattern, re.IGNORECASE), replacement)
    for pattern, replacement in (
        (r"(``|''|\.{2,}|-{2,})", r" \1 "),
        (r"([\"“”„«»…—;!?#$%&€£¥()\[\]{}<>])", r" \1 "),
        (r"(?<!\d)([,:])|([,:])(?!\d)", r" \1\2 "),
        (r"(?<=[^\s.])(\.)(?=[\s\"”'’)\]}]*$)", r" \1 "),
        (rf"(?<=\w)(n['’´`]t(?!\w)|{_CLITIC})", r" \1 "),
        (r"(?<=[^\s'])(['’])(?=\s)", r" \1 "),
        (r"(?<=\s)(?!['’‘`](?:tis|twas|em|cause|\d\ds?|s|m|re|ve|ll|d)(?!\w))(['‘`])(?=\w)", r"\1 "),
        (r"\b(can)(?=not\b)|\b(gon|wan)(?=na\b)|\b(got)(?=ta\b)|\b(gim|lem)(?=me\b)", r"\1\2\3\4 "),
    )
)
_INNER_STOP = re.compile(r"(?<!\S)(\S*[\w)])\.(?=\s)")
_WMT = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r"([!-&(-+/:-@\[-`{-~])", r" \1 "),
        (r"([^0-9])([.,])", r"\1 \2 "),
        (r"([.,])([^0-9])", r" \1 \2"),
        (r"([0-9])(-)", r"\1 \2 "),
    )
)


def tokenise(text: str, name: Tokeniser) -> str:
    """The tokens of a text, joined by one space; no character changes but white space, and what syntok drops."""
    if name == "spacy-en":
        return " ".join(token.text for token in _spacy()(" ".join(text.split())))
    if name == "syntok":  # without hyphens and underscores inside words, and with "not" for "n't", as is its default
        return " ".join(token.value for token in _syntok().tokenize(text) if token.value)
    if name == "char":
        return " ".join(_CHARACTER.findall(text))
    text = " ".join(text.split())
    for pattern, replacement in {"ptb": _TREEBANK, "13a": _WMT, "whitespace": ()}[name]:
        text = pattern.sub(replacement, f" {text} ")
    if name == "ptb":
        text = _INNER_STOP.sub(_split_stop, f"{text} ")
    return " ".join(text.split())


def _split_stop(match: re.Match[str]) -> str:
    """A full stop at a word within the text, apart unless the word is an abbreviation."""
    return match[0] if _ABBREVIATION.fullmatch(match[1]) else f"{match[1]} ."


@lru_cache(1)
def _spacy() -> Any:
    with naming_the_extra("text='spacy-en'"):
        import spacy
    return spacy.blank("en").tokenizer


@lru_cache(1)
def _syntok() -> Any:
    with naming_the_extra("text='syntok'"):
        from syntok.tokenizer import Tokenizer
    return Tokenizer()


def detokenise(text: str) -> str:
    """A tokenised sentence with spaces as in prose."""
    # No space before `. , ! ? ; : % ) ] }`, none after `( [ {`, contractions (`do n't`, `it 's`) joined; runs of white
    # space become one space. Quotation marks stay as they are, since they do not tell whether they open or close.
    text = " ".join(text.split())
    for rule in _JOINTS:
        text = re.sub(rule, "", text)
    return text
