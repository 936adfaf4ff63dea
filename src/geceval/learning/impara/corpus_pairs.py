"""The ranked pairs that a training run of IMPARA learns from, made once from its corpora and saved in its folder."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from geceval.core.errors import InputError
from geceval.core.files import read_json, read_lines, read_parallel, write_text
from geceval.core.progress import bar, parts
from geceval.edits.m2 import read_m2
from geceval.learning.impara.job import PairJob
from geceval.learning.impara.ranked_pairs import RankedPair, Row, parallel_pairs, ranked_pairs, split_by_source
from geceval.models.checkpoints import resolve
from geceval.models.encoder import Encoder
from geceval.scorers.learned.edit_impact import Embed

FOLDS = ("train", "dev", "test")
SHARES = (8, 1, 1)  # section 2.4
_TOO_FEW = "too few corrected sentences: every fold (8:1:1 of the sources) needs at least one pair"


class Corpus(NamedTuple):
    """Corrected sentences: sources and edits, one row per annotator."""

    name: str
    rows: list[Row]
    divided: bool = True
    """Whether it is divided into folds; otherwise all of it is learnt from."""


def check_corpora(job: PairJob) -> None:
    """Read the files of a job, so that a mistake in them shows before anything is said, made or trained."""
    corpora = [*_read_m2(job), *(Corpus("", _changed(*_read_parallel(*files))) for files in job.parallel)]
    if not set(FOLDS) <= set(_folds(corpora).values()):
        raise InputError(_TOO_FEW)


def read_pairs(job: PairJob, run: Path, progress: bool) -> tuple[dict[str, list[RankedPair]], list[dict[str, Any]]]:
    """The pairs of each fold, saved in `run/pairs.json`, and a few counts of each corpus."""
    path = run / "pairs.json"
    if not path.is_file():
        write_text(path, json.dumps(_make_pairs(job, progress), ensure_ascii=False))
    saved = read_json(path)
    return {fold: [RankedPair(*row) for row in saved[fold]] for fold in FOLDS}, saved["data"]


def _make_pairs(job: PairJob, progress: bool) -> dict[str, list[Any]]:
    corpora = _read(job, progress)
    fold_of = _folds(corpora)
    encoder = Encoder.load(resolve(job.impact_model), max_length=job.recipe.max_length)

    made: dict[str, list[Any]] = {"train": [], "dev": [], "test": [], "data": []}
    dev, test = (job.pairs * share // sum(SHARES) for share in SHARES[1:])
    sizes = {"train": job.pairs - dev - test, "dev": dev, "test": test}
    with bar(progress, "ranked pairs"):
        for corpus in parts(corpora):
            counts = {}
            for fold in parts(FOLDS, lambda fold, name=corpus.name: f"{name}, {fold}"):
                some = [row for row in corpus.rows if fold_of.get(_key(row), "train") == fold]
                pairs = _pairs(job, some, encoder.embed, sizes[fold]) if fold == "train" or corpus.divided else []
                counts[fold] = len(pairs)
                made[fold] += [dataclasses.astuple(pair) for pair in pairs]
            edits = sum(len(edits) for _, edits in corpus.rows)
            made["data"].append(
                {"corpus": corpus.name, "corrections": len(corpus.rows), "edits": edits, "pairs": counts}
            )
    if not all(made[fold] for fold in FOLDS):
        raise InputError(_TOO_FEW)
    return made


def _pairs(job: PairJob, rows: list[Row], embed: Embed, total: int) -> list[RankedPair]:
    corrections = round(total * job.share_of_corrections)
    pairs = parallel_pairs(rows, total=corrections) if corrections else []
    if corrections < total:
        pairs += ranked_pairs(rows, embed, total=total - corrections, per_row=job.attempts)
    return pairs


def _folds(corpora: Iterable[Corpus]) -> dict[str, str]:
    """Map the sources of divided corpora to their folds; those in a dev or test fold are never learnt from."""
    rows = [row for corpus in corpora if corpus.divided for row in corpus.rows]
    return {_key(row): fold for fold, some in zip(FOLDS, split_by_source(rows, SHARES), strict=True) for row in some}


def _key(row: Row) -> str:
    return " ".join(row[0].split())


def _read(job: PairJob, progress: bool) -> list[Corpus]:
    corpora = _read_m2(job)
    for left, right in job.parallel:
        name = f"{left.name} to {right.name}"
        with bar(progress, f"edits, {name}"):
            corpora.append(Corpus(name, _annotate(*_read_parallel(left, right), job.nlp)))
    return corpora


def _read_m2(job: PairJob) -> list[Corpus]:
    corpora = []
    for path, divided in [*((path, True) for path in job.m2), *((path, False) for path in job.train_m2)]:
        sentences = read_m2(path)
        rows = [(sentence.source, edits) for sentence in sentences for edits in sentence.edits.values() if edits]
        corpora.append(Corpus(path.name, rows, divided))
    return corpora


def _read_parallel(left: Path, right: Path) -> tuple[list[str], list[str]]:
    sources = read_lines(left)
    return sources, read_parallel(right, left, len(sources))


def _changed(sources: Iterable[str], targets: Iterable[str]) -> list[tuple[str, Any]]:
    return [pair for pair in zip(sources, targets, strict=True) if pair[0].split() != pair[1].split()]


def _annotate(sources: Iterable[str], targets: Iterable[str], nlp: str) -> list[Row]:
    from geceval.edits.errant.annotator import get_annotator

    changed = _changed(sources, targets)
    edits = get_annotator(nlp).edits(changed)
    return [(source, found) for (source, _), found in zip(changed, edits, strict=True) if found]
