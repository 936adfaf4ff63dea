"""Whether texts are English, by their letters and their commonest words."""

import logging
import re
from collections import Counter
from collections.abc import Sequence

from geceval.core.cache import lru_cache

logger = logging.getLogger("geceval")

_WORD = re.compile(r"(?<![\w.@/:-])[^\W\d_]+(?![\w@/:-]|\.\w)")  # none of an address
_LETTER = re.compile(r"[^\W\d_]")
_LATIN = re.compile("[A-Za-zªºÀ-ɏḀ-ỿﬀ-ﬆＡ-Ｚａ-ｚ]")
_ENGLISH = (
    "the of and to in is that it for was with as be this are you not have from they his at by we which or an but were "
    "all their there been has would what will if can her she he my your our do so me him them am very i"
)
# Common words of twenty other languages with Latin letters. None is English or a part of names, such as `de` and `van`;
# words with other letters than those of English count without being here.
_FOREIGN = (
    "und ist nicht das ich mit auf ein eine es sich auch wir aber dass wenn sie dem zu het een ik niet dat zijn voor "
    "maar och att det som jag inte har av ett vi och er og jeg ikke til et les est une pas pour dans que qui sur avec "
    "je il ce nous mais los las por para una pero como muy um uma mais che non sono anche nel sunt nu din cu pentru "
    "nie na jest jak ale po tak od se jsem jako ze jen pa bi za sem ei oli ta kui un ir ar kad yra az egy nem hogy bir "
    "ve bu ile yang ini itu tidak"
)
_LEAST, _SHARE, _SCRIPT = 2, 0.1, 0.4  # words and share of the words, share of the letters that show another language


@lru_cache(maxsize=8)  # the systems of a table share their sources
def is_english(texts: tuple[str, ...]) -> bool:
    """Whether nothing shows that most of the texts are of another language; names and code show nothing."""
    letters, latin, words = 0, 0, Counter[str]()
    for text in texts:
        letters += len(_LETTER.findall(text))
        latin += len(_LATIN.findall(text))
        words.update(_WORD.findall(text))
    if letters - latin > _SCRIPT * letters:
        return False
    ours, others = set(_ENGLISH.split()), set(_FOREIGN.split())
    english = sum(count for word, count in words.items() if word.lower() in ours)
    foreign = sum(count for word, count in words.items() if word.lower() in others or _is_marked(word))
    return foreign <= english or foreign < max(_LEAST, _SHARE * words.total())


def _is_marked(word: str) -> bool:
    """Whether letters show that a word, and no name, is not English."""
    return word.islower() and not word.isascii()


RULES = "but the setting language is 'en', whose rules are those of English: pass language='any', or that of the texts"
MODEL = "and models that come with geceval have read little else: name one that reads them, model='FOLDER OR HUB ID'"


def warn_unless_english(sources: Sequence[str], advice: str = RULES) -> None:
    """Say which setting is meant for texts that are not English."""
    if not is_english(tuple(sources)):
        logger.warning("the sources are not English, %s (see docs/languages.md)", advice)
