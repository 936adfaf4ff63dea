"""Test sets that a page can score on by name: the corpus that comes with geceval, and those whose files are here."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence

from geceval.core.errors import InputError
from geceval.core.files import read_lines
from geceval.corpora import test_sets
from geceval.workflows.test_sets import NamedTestSet, test_set
from limits import Refused
from scoring import EXAMPLE
from uploads import MAX_ROWS, Corpus, Text, fit_together

OWN, BUNDLED = "own", "example"


@functools.lru_cache
def choices() -> dict[str, str]:
    """Label of each choice to its name: texts of one's own, or a test set that is on this machine and not too large."""
    files = test_sets.files_below(test_sets.folders())
    return {"my own texts": OWN, "geceval's example: 44 sentences": BUNDLED} | {
        f"{about.title}: {about.sentences:,} sentences, for {about.metric}": name
        for name, about in test_sets.TEST_SETS.items()
        if about.gold != "hidden" and about.sentences <= MAX_ROWS and _is_here(name, files)
    }


def _is_here(name: str, files: dict) -> bool:
    try:
        return bool(test_sets.find(name, files))
    except InputError:
        return False


def title(name: str) -> str:
    """The title of a choice; none for one's own texts."""
    return "" if name == OWN else "geceval's example" if name == BUNDLED else test_sets.entry(name).title


def corpus(name: str, systems: Sequence[Text]) -> Corpus:
    """Systems on a test set."""
    if name == BUNDLED:
        source, *references = (read_lines(EXAMPLE / f"{each}.txt") for each in ("source", "reference_0", "reference_1"))
        texts = [Text(f"reference {number}", lines) for number, lines in enumerate(references)]
        return fit_together([Text(title(name), source)], systems, texts)
    if name not in choices().values():
        raise Refused(f"The test sets of this page are: {', '.join(list(choices().values())[1:])}.")
    named: NamedTestSet = test_set(name)
    alone = fit_together([Text(title(name), named.sources)], systems, [])
    return dataclasses.replace(alone, references=named.references, named=named)
