"""What to write in a paper: a sentence with the signatures, and the BibTeX of all that it cites."""

from __future__ import annotations

import re
from collections.abc import Mapping

from geceval.hub.cards import read_card
from geceval.hub.load import module_folder
from geceval.version import __version__
from geceval.workflows.test_sets import NamedTestSet

CITATION = f"""@software{{geceval,
  title   = {{geceval: metrics of grammatical error correction}},
  author  = {{{{The geceval authors}}}},
  year    = {{2026}},
  version = {{{__version__}}},
  note    = {{Please cite the paper of each metric as well; it is in the card of the metric}}
}}"""

_IN_CARD = re.compile(r"^## Citation\n.*?^```bibtex\n(.*?)\n```", re.MULTILINE | re.DOTALL)


def cite(signatures: Mapping[str, str], test_set: NamedTestSet | None, as_papers: bool) -> str:
    """The sentence in LaTeX, for metrics with the signatures of their scores, and the BibTeX."""
    # `as_papers`: whether the metric of the test set has the settings that papers report, which are then named.
    parts, entries = [], []
    for name, signature in signatures.items():
        card = read_card(module_folder(name) / "README.md")
        entries += _IN_CARD.findall(card.text)
        setting = f", {test_set.about.reports}," if as_papers and name == test_set.metric else ""
        exact = rf"\texttt{{\detokenize{{{signature}}}}}"
        parts.append(f"{card.metadata['title']} {_key(entries[-1])}{setting} with the signature {exact}")
    where = ""
    if test_set is not None:
        entries.append(test_set.citation)
        where = f" on {test_set.about.title} {_key(test_set.citation)}"
    sentence = f"Scores{where} were computed with geceval {__version__} {_key(CITATION)}: {'; '.join(parts)}."
    return "\n\n".join([sentence, *dict.fromkeys([*entries, CITATION])]) + "\n"


def _key(bibtex: str) -> str:
    """The command that cites these entries."""
    keys = re.findall(r"^@\w+{([^,]+),", bibtex, re.MULTILINE)
    return rf"\citep{{{','.join(keys)}}}"
