"""`geceval score -t NAME`: published systems beside one's own, submissions; what to write in a paper."""

import io
import logging
import math
import re
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from geceval import registry
from geceval.cli.tables import write
from geceval.cli.text_files import files_of, name_systems, readable
from geceval.core.errors import InputError, counted
from geceval.core.files import read_text, write_bytes
from geceval.core.result import Result
from geceval.corpora import test_sets
from geceval.hub.cards import read_card
from geceval.hub.folders import module_folder
from geceval.text.answer_files import read_answers
from geceval.text.columns import kind
from geceval.text.tokenisers import tokenise
from geceval.version import __version__
from geceval.workflows.test_sets import NamedTestSet

logger = logging.getLogger("geceval")

CITATION = read_text(Path(__file__).with_name("templates") / "citation.bib").rstrip().replace("VERSION", __version__)

_IN_CARD = re.compile(r"^## Citation\n.*?^```bibtex\n(.*?)\n```", re.MULTILINE | re.DOTALL)
STAR = "* the output that is published with this row gives another score: the row is of another run"


def write_submissions(name: str, predictions: Sequence[str]) -> None:
    """Write a zip for each system, as the organisers of a test set take it whose gold only they have."""
    about = test_sets.entry(name)
    for system, file in name_systems([file for path in predictions for file in files_of(path)]).items():
        lines = [" ".join(answer.split("\n")) for answer in read_answers(file).predictions]
        if len(lines) != about.sentences:
            raise InputError(f"{readable(file)} has {counted(len(lines), 'line')}, but {name} has {about.sentences:,}")
        if kind(lines) == "prose":
            lines = [tokenise(line, about.tokens) for line in lines]
            logger.warning("%s: read as prose and tokenised by %s", readable(file), about.tokens)
        path, buffer = f"{name}.{system.replace('/', '.')}.zip", io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as archive:
            text = "".join(f"{line}\n" for line in lines)
            archive.writestr(zipfile.ZipInfo(f"{name}.txt"), text, zipfile.ZIP_DEFLATED)  # its date is always the same
        write_bytes(path, buffer.getvalue())
        write(f"{path}: {counted(len(lines), 'sentence')}, to submit to {about.data.url}\n", None)


def as_papers(test_set: NamedTestSet | None, scorers: Mapping[str, Any]) -> bool:
    """Whether the metric of a test set is among these, with the settings that papers report."""
    if test_set is None or test_set.metric not in scorers:
        return False
    settings, standard = scorers[test_set.metric].settings, registry.make_scorer(test_set.metric, test_set.settings)
    return replace(settings, text=standard.settings.text) == standard.settings  # what prose becomes is no other score


def published(test_set: NamedTestSet | None, scorers: Mapping[str, Any]) -> dict[str, dict[str, Result]]:
    """What papers print of other systems, in the form of one's own results."""
    if test_set is None or not test_set.about.published:
        names = [name for name, about in test_sets.TEST_SETS.items() if about.published]
        raise InputError(f"--beside needs a test set by name with published scores: -t {', '.join(names)}")
    metric = test_set.metric
    if list(scorers) != [metric] or not as_papers(test_set, scorers):
        raise InputError(f"{test_set.name}: published scores are those of {metric} alone, with its defaults")
    details = {key for row in test_set.about.published for key in row if key in ("precision", "recall")}
    return {
        f"{row['system']}{' *' if row.get('other_file') else ''} ({row['origin']})": {
            metric: Result(row["score"], [], "", {key: row.get(key, math.nan) for key in details})
        }
        for row in test_set.about.published
    }


def cite(signatures: Mapping[str, str], test_set: NamedTestSet | None, as_papers: bool) -> str:
    """The sentence in LaTeX, for metrics with the signatures of their scores, and the BibTeX."""
    # `as_papers`: whether the metric of the test set has the settings that papers report, which are then named.
    parts, entries = [], []
    for name, signature in signatures.items():
        card = read_card(module_folder(name) / "README.md")
        entries += _IN_CARD.findall(card.text)
        setting = f", {test_set.about.reports}," if as_papers and name == test_set.metric else ""
        exact = rf"\texttt{{\detokenize{{{signature}}}}}"
        model = ", with the model of geceval's authors," if "|model:bundled" in signature else ""
        parts.append(f"{card.metadata['title']} {_key(entries[-1])}{setting}{model} with the signature {exact}")
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
