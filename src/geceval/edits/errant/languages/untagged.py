"""ERRANT for any language: a pipeline that only knows punctuation, and types from form and universal part of speech."""

import unicodedata
from collections.abc import Iterable, Sequence

import spacy
from errant.edit import Edit as ErrantEdit
from rapidfuzz.distance import Levenshtein
from spacy.language import Language
from spacy.tokens import Doc, Token

COMPONENT = "geceval_punctuation"
SIMILAR = 0.55
"""Above this similarity, ERRANT takes a replacement of one word for a correction of its spelling."""

_NAMES = {"ADP": "PREP", "PROPN": "NOUN", "CCONJ": "CONJ"}
_UNTYPED = {"", "X", "SYM", "NUM", "INTJ", "SPACE"}


@Language.component(COMPONENT)
def _mark_punctuation(doc: Doc) -> Doc:
    for token in doc:
        token.pos_ = "PUNCT" if is_punctuation(token.text) else "X"
        token.lemma = token.lower
    return doc


def is_punctuation(text: str) -> bool:
    """Whether a token has nothing but punctuation marks and symbols."""
    return all(unicodedata.category(character)[0] in "PS" for character in text)


def tagger() -> tuple[Language, str]:
    """A pipeline in which a token is punctuation or nothing, and its lemma its lower case; and its name."""
    nlp = spacy.blank("xx")
    nlp.add_pipe(COMPONENT)
    return nlp, "none"


def classify(edit: ErrantEdit) -> ErrantEdit:
    """Give an edit its type; called by ERRANT."""
    old, new = list(edit.o_toks), list(edit.c_toks)
    if edit.o_str == edit.c_str:
        edit.type = "UNK"
        return edit
    # As in ERRANT, a last token that only changes its case says nothing: [Haus -> das haus].
    while old and new and len(old) + len(new) > 2 and old[-1].lower == new[-1].lower:
        old, new = old[:-1], new[:-1]
    operation = "R" if old and new else "M" if new else "U"
    edit.type = f"{operation}:{_category(old, new)}"
    return edit


def _category(old: Sequence[Token], new: Sequence[Token]) -> str:
    parts = {_NAMES.get(token.pos_, token.pos_) for token in (*old, *new)}
    if parts == {"PUNCT"}:
        return "PUNCT"
    if old and new:
        if letters(old) == letters(new):
            return "ORTH"
        if sorted(token.lower for token in old) == sorted(token.lower for token in new):
            return "WO"
    part = parts.pop() if len(parts) == 1 else ""
    if part not in _UNTYPED:
        same_word = len(old) == len(new) == 1 and old[0].lemma == new[0].lemma
        return f"{part}:FORM" if same_word else part
    if len(old) == len(new) == 1 and Levenshtein.normalized_similarity(old[0].lower_, new[0].lower_) > SIMILAR:
        return "SPELL"
    return "OTHER"


def letters(tokens: Iterable[Token]) -> str:
    """The letters of tokens without spaces, case, hyphens and apostrophes."""
    return "".join(token.lower_ for token in tokens).translate({ord(mark): None for mark in "-'’"})
