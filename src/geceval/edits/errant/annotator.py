"""The annotator of a language and a pipeline."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING

from geceval.core.cache import lru_cache
from geceval.core.options import LANGUAGES, Language, check_choice
from geceval.edits.errant.base import Annotator

if TYPE_CHECKING:
    from spacy.language import Language as Pipeline

logger = logging.getLogger("geceval")


def get_annotator(nlp: str | Path | Pipeline = "bundled", language: Language = "en") -> Annotator:
    """The annotator of a language and a pipeline; the same object, with its caches, for the same two.

    Args:
        nlp: `"bundled"`, what comes with geceval: for English a pipeline, for others none; `"official"`,
            the installed `en_core_web_sm`, under any of its package names; the name of another installed pipeline, a
            folder, or a loaded pipeline. For Chinese, a folder with the data of ChERRANT; by default that of the
            environment variable `GECEVAL_CHERRANT`.
        language: See `geceval.core.options.Language`.

    Raises:
        TypeError: If `nlp` is neither a pipeline nor a name nor a path.
        ValueError: If the pipeline is missing, broken or unusable; the message says how to get one.
    """
    check_choice("language", language, LANGUAGES)
    if language == "zh":
        return _chinese(None if nlp == "bundled" else str(nlp))
    if language != "en" and nlp == "bundled":
        return _without_pipeline(language)
    from geceval.edits.errant import pipeline

    return _parsed(pipeline.resolve(nlp), language)


@lru_cache(maxsize=4)
def _parsed(nlp: str | Pipeline, language: str) -> Annotator:
    from geceval.edits.errant import pipeline
    from geceval.edits.errant.parsed import ParsedAnnotator

    if language == "en" and nlp == str(pipeline.BUNDLED) and (package := pipeline.official_package()):
        logger.info('ERRANT takes the bundled spaCy pipeline; %s is installed, too: nlp="official" takes it', package)
    return ParsedAnnotator(*pipeline.load(nlp, language), language)


@lru_cache(maxsize=4)
def _without_pipeline(language: str) -> Annotator:
    from geceval.edits.errant.parsed import RULES, ParsedAnnotator

    return ParsedAnnotator(*RULES[language].tagger(), language)


@lru_cache(maxsize=2)
def _chinese(folder: str | None) -> Annotator:
    from geceval.edits.errant.languages.chinese import ChineseAnnotator

    return ChineseAnnotator(folder)
