"""German: parts of speech and lemmas of HanTa, and edits merged as in the gold of Falko-MERLIN (Boyd, 2018)."""

import spacy
from spacy.language import Language
from spacy.tokens import Doc

from geceval.core.cache import lru_cache
from geceval.core.errors import naming_the_extra
from geceval.core.signature import package_version
from geceval.edits.errant.languages import untagged

COMPONENT = "geceval_hanta"
LONGEST_WORD = 60
"""HanTa looks at all parts of a word: what is longer is no word of German, and is not analysed."""

# Only words with meaning of their own hold an edit together. Auxiliaries, particles (`zu`) and commas do not, and so
# [zu haben ->] and [-> , dass] are two edits each.
CONTENT = frozenset({"ADJ", "ADV", "NOUN", "PROPN", "VERB"})

_TAGS = {  # of the tagset STTS, without what stands in brackets
    "ADJ": "ADJ ADJA ADJD",
    "ADP": "APPO APPR APPRART APZR",
    "ADV": "ADV PAV PROAV PWAV",
    "AUX": "VA",
    "CCONJ": "KOKOM KON",
    "DET": "ART PDAT PIAT PIDAT PPOSAT PRELAT PWAT",
    "INTJ": "ITJ",
    "NOUN": "NN NNA NNI",
    "NUM": "CARD",
    "PART": "PTKA PTKANT PTKNEG PTKVZ PTKZU",
    "PRON": "PDS PIS PPER PPOSS PRELS PRF PWS",
    "PROPN": "NE NNE",
    "SCONJ": "KOUI KOUS",
    "VERB": "VV VM",
}
_PARTS = {tag: part for part, tags in _TAGS.items() for tag in tags.split()}


@Language.component(COMPONENT)
def _tag(doc: Doc) -> Doc:
    words = [token.text if len(token.text) <= LONGEST_WORD else "X" for token in doc]
    for token, tag in zip(doc, _tagger().tag_sent(words, taglevel=0), strict=True):
        part = "PUNCT" if untagged.is_punctuation(token.text) else _PARTS.get(tag.partition("(")[0], "X")
        token.pos_ = part
        token.lemma_ = token.lower_ if part in ("PUNCT", "X") else _lemma(token.text, tag)
    return doc


def tagger() -> tuple[Language, str]:
    """A pipeline of HanTa's parts of speech and lemmas, and its name; tokens stay as they are."""
    with naming_the_extra("language='de'"):
        _tagger()
    nlp = spacy.blank("xx")
    nlp.add_pipe(COMPONENT)
    return nlp, f"hanta-{package_version('HanTa')}"


@lru_cache(maxsize=1)
def _tagger():  # noqa: ANN202 - HanTa has no types
    from HanTa.HanoverTagger import HanoverTagger

    return HanoverTagger("morphmodel_ger.pgz")


@lru_cache(maxsize=65_536)
def _lemma(word: str, tag: str) -> str:
    return _tagger().analyze(word, pos=tag)[0].lower()
