"""The annotator of a language and a pipeline."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING

from geceval.core.cache import lru_cache
from geceval.core.options import LANGUAGES, Language, check_choice
from geceval.edits.errant import pipeline
from geceval.edits.errant.base import Annotator

if TYPE_CHECKING:
    from spacy.language import Language as Pipeline

logger = logging.getLogger("geceval")


def get_annotator(nlp: str | Path | Pipeline = "bundled", language: Language = "en") -> Annotator:
    """The annotator of a language and a pipeline; the same object, with its caches, for the same two."""
    # Bundled is a pipeline for English only. For Chinese, `nlp` is a folder with the data of ChERRANT.
    check_choice("language", language, LANGUAGES)
    if language != "en" and nlp == "bundled":
        return _made(None, language)
    return _made(str(nlp) if language == "zh" else pipeline.resolve(nlp), language)


@lru_cache(maxsize=8)
def _made(nlp: str | Pipeline | None, language: str) -> Annotator:
    """The annotator of a pipeline, or for Chinese of a folder, or of neither."""
    if language == "zh":
        from geceval.edits.errant.languages.chinese import ChineseAnnotator

        return ChineseAnnotator(nlp)
    from geceval.edits.errant.parsed import RULES, ParsedAnnotator

    if nlp is None:
        return ParsedAnnotator(*RULES[language].tagger(), language)
    if language == "en" and nlp == str(pipeline.BUNDLED) and (package := pipeline.official_package()):
        logger.info('ERRANT takes the bundled spaCy pipeline; %s is installed, too: nlp="official" takes it', package)
    return ParsedAnnotator(*pipeline.load(nlp, language), language)
