"""GMEG: outputs of systems in several domains, rated by people from 0 to 100, and the pairs that follow from them."""

import itertools
import math
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from geceval.core.errors import InputError
from geceval.core.files import read_parallel
from geceval.corpora.ratings import number, read_rows
from geceval.meta.judgments import HumanData, Item

NAME = "gmeg"
DOMAINS = ("fce", "wiki")  # Yahoo's answers, the third, are not published with the others
GAP = 10.0  # least difference of ratings of a pair: smaller ones say little of single sentences
HIGHEST = 100.0
_FILES = {"ref": "ref0"}  # where the name of a column is not that of the file
_REFERENCES = ("ref1", "ref2", "ref3")

Rows = list[dict[str, Any]]


def ratings_file(folder: Path, domain: str) -> Path:
    """The file with a column for each output and a row for each sentence."""
    return folder / f"{domain}-segment-scores.csv"


def read_domain(folder: Path, domain: str) -> Rows:
    """The rows of a domain as it was published: source, references, and outputs with their mean ratings."""
    path, folder = ratings_file(folder, domain), folder / domain
    ratings = list(read_rows(path, ("source",)))
    names = dict.fromkeys([*_REFERENCES, *(ratings[0][1] if ratings else ())])
    texts = {name: read_parallel(folder / _FILES.get(name, name), path, len(ratings)) for name in names}
    return [
        {
            "line": line,
            "source": texts["source"][line],
            "references": [texts[name][line] for name in _REFERENCES],
            "hypotheses": [
                {"system": name, "text": texts[name][line], "rating": _rating(where, name, cell)}
                for name, cell in row.items()
            ],
        }
        for line, (where, row) in enumerate(ratings)
    ]


def _rating(where: str, name: str, cell: str) -> float | None:
    """A mean rating; `None` where nobody rated the output."""
    value = number(cell)
    if cell and not 0 <= value <= HIGHEST:  # also true for NaN
        raise InputError(f"{where}: the rating of {name} must be a number from 0 to {HIGHEST:g}, got {cell!r}")
    return value if cell else None


def to_human(domains: Mapping[str, Rows], gap: float = GAP) -> HumanData:
    """The rated sentences of all domains; judgments are the pairs whose ratings differ by at least `gap`."""
    rows, places, items, scores = [], {}, {}, {}
    for domain, table in domains.items():
        rated = [row for row in table if all(output["rating"] is not None for output in row["hypotheses"])]
        if not rated:
            raise InputError(f"{NAME}: no sentence of {domain} has ratings of all outputs")
        places[domain] = list(range(len(rows), len(rows) + len(rated)))
        items[domain] = [
            item for sentence, row in zip(places[domain], rated, strict=True) for item in _pairs(sentence, row, gap)
        ]
        if not items[domain]:
            raise InputError(f"{NAME}: no two outputs of one sentence of {domain} are rated {gap:g} points apart")
        means = np.array([[output["rating"] for output in row["hypotheses"]] for row in rated]).mean(axis=0)
        systems = [output["system"] for output in rated[0]["hypotheses"]]
        scores[domain] = dict(zip(systems, means.tolist(), strict=True))
        rows += rated
    if len({tuple(means) for means in scores.values()}) > 1:
        raise InputError(f"{NAME}: the domains {', '.join(scores)} have different systems")
    outputs = {
        system: [row["hypotheses"][place]["text"] for row in rows] for place, system in enumerate(scores[domain])
    }
    references = [row["references"] for row in rows]
    sources = [row["source"] for row in rows]
    return HumanData(NAME, sources, list(range(len(rows))), outputs, items, scores, references, places)


def _pairs(sentence: int, row: Mapping[str, Any], gap: float) -> Iterator[Item]:
    """One ranking for each two texts that differ enough; systems that wrote the same text share its mean rating."""
    ratings: defaultdict[str, dict[str, float]] = defaultdict(dict)
    for output in row["hypotheses"]:
        ratings[output["text"]][output["system"]] = output["rating"]
    texts = [(tuple(each), math.fsum(each.values()) / len(each)) for each in ratings.values()]
    for one, other in itertools.combinations(texts, 2):
        (better, high), (worse, low) = sorted((one, other), key=lambda text: -text[1])
        if high - low >= max(gap, 1e-9) - 1e-9:  # means of ratings are no exact decimals
            yield Item(sentence, "", ((better, 1), (worse, 2)))
