"""The ranked pairs of sentences that IMPARA learns from (Maeda et al. 2022, sections 2.3 and 2.4), and their corpora.

A row is a source with the edits that correct it. Leaving out one edit of the corrected text moves its embedding by the
impact of that edit. Two random subsets of the edits give two partly corrected texts; the one whose edits have more
impact counts as the better one.
"""

import dataclasses
import json
import logging
import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, NamedTuple

from geceval.core.errors import InputError
from geceval.core.files import read_json, read_lines, read_parallel, write_text
from geceval.core.options import Count, Language, Options, Range
from geceval.core.progress import bar, parts
from geceval.corpora.ratings import rated_pairs, read_tmu_gfm
from geceval.edits.edit import Edit, apply, in_order, without_overlaps
from geceval.edits.errant.annotator import get_annotator
from geceval.edits.m2 import read_m2
from geceval.learning.negatives import make_negatives
from geceval.learning.recipe import Recipe
from geceval.models.checkpoints import resolve
from geceval.models.encoder import Encoder
from geceval.scorers.learned.impara_impact import Embed, Row, cosine_impacts
from geceval.text.languages import warn_unless_english

logger = logging.getLogger("geceval")

PAIRS = 4096
ATTEMPTS = 30
RATED_PAIRS = 1024  # of people, which help to choose seed and evaluation
TIE = 1e-6  # cosines of float32 vectors differ by about 1e-7 for nothing

FOLDS = ("train", "dev", "test")
SHARES = (8, 1, 1)  # section 2.4
_TOO_FEW = "too few corrected sentences: every fold (8:1:1 of the sources) needs at least one pair"


@dataclass(frozen=True, slots=True)
class PairJob(Options):
    """Everything that any training run on ranked pairs depends on."""

    m2: tuple[Path, ...] = ()
    parallel: tuple[tuple[Path, Path], ...] = ()
    recipe: Recipe = dataclasses.field(default_factory=Recipe)
    seeds: tuple[int, ...] = (1,)
    pairs: Annotated[int, Range(10)] = PAIRS  # so that each fold has some
    attempts: Count = ATTEMPTS
    ratings: Path | None = None
    nlp: str = "bundled"
    language: Language = "en"
    negatives: Annotated[float, Range(0, 1)] = 0.0  # for each training pair, how many of a text and a worse one of it

    def __post_init__(self) -> None:
        super(PairJob, self).__post_init__()
        if not self.m2 and not self.parallel:
            raise InputError("nothing to learn from: give an M2 file, or a source and a corrected file")
        if self.language == "zh":
            raise InputError("language='zh' has edits of characters, and pairs are made of words; take 'any'")


@dataclass(frozen=True, slots=True)
class RankedPair:
    """Two versions of one sentence, the worse and the better."""

    source: str
    low: str
    high: str


def ranked_pairs(
    rows: Iterable[Row], embed: Embed, *, total: int = PAIRS, per_row: int = ATTEMPTS, seed: int = 1
) -> list[RankedPair]:
    """Pairs of partly corrected sentences, ranked by impact (section 2.4)."""
    # For each row, up to `per_row` times: E1 is a random subset of k edits, k uniform on 1..n; E2 is E1 with the
    # membership of every edit flipped with probability 1/n. A pair is dropped if E1 = E2, if the subsets or the texts
    # repeat an earlier pair, if the texts are equal or one is empty, if the sums of impacts are equal, or if an impact
    # is NaN. Edits that overlap an earlier one of their row are left out first. The pairs that remain are shuffled over
    # all rows.
    usable = _usable(rows)
    rng = random.Random(seed)
    drawn = [(number, *subsets) for number, row in enumerate(usable) for subsets in _subsets(len(row[1]), per_row, rng)]
    rng.shuffle(drawn)
    pairs: dict[RankedPair, None] = {}
    impacts: dict[int, list[float]] = {}
    start = 0
    while start < len(drawn) and len(pairs) < total:
        chunk = drawn[start : start + total - len(pairs)]
        start += len(chunk)
        missing = [number for number in dict.fromkeys(d[0] for d in chunk) if number not in impacts]
        impacts.update(zip(missing, cosine_impacts([usable[number] for number in missing], embed), strict=True))
        for number, one, other in chunk:
            pair = _rank(usable[number], impacts[number], one, other)
            if pair is not None:
                pairs[pair] = None
    return _enough(list(pairs), total)


def parallel_pairs(rows: Iterable[Row], *, total: int = PAIRS, seed: int = 1) -> list[RankedPair]:
    """Pairs of source and full correction, the paper's ablation "parallel data only" (section 3.2)."""
    texts = ((" ".join(source.split()), apply(source, edits)) for source, edits in _usable(rows))
    pairs = list(dict.fromkeys(RankedPair(low, low, high) for low, high in texts if low != high and low and high))
    random.Random(seed).shuffle(pairs)
    return _enough(pairs[:total], total)


def read_rated_pairs(path: Path, limit: int | None = None, gap: float = 0.0) -> list[RankedPair]:
    """The outputs of TMU-GFM-Dataset in pairs, ranked by people in place of impacts, see `rated_pairs`."""
    return [RankedPair(*row) for row in rated_pairs(read_tmu_gfm(path), limit, gap=gap)]


def split_by_source(rows: Iterable[Row], shares: Sequence[int] = SHARES, seed: int = 1) -> list[list[Row]]:
    """Divide rows so that no source is in two folds; the rows of one source (annotators) stay together."""
    rows = list(rows)
    keys = [_key(row) for row in rows]
    shuffled = sorted(set(keys))
    random.Random(seed).shuffle(shuffled)
    ends = [len(shuffled) * sum(shares[: number + 1]) // sum(shares) for number in range(len(shares))]
    fold = {key: sum(index >= end for end in ends) for index, key in enumerate(shuffled)}
    return [[row for key, row in zip(keys, rows, strict=True) if fold[key] == number] for number in range(len(shares))]


def _usable(rows: Iterable[Row]) -> list[tuple[str, list[Edit]]]:
    cleaned = [(source, in_order(without_overlaps(edits))) for source, edits in rows]
    return [(source, edits) for source, edits in cleaned if edits]


def _subsets(size: int, attempts: int, rng: random.Random) -> Iterator[tuple[frozenset[int], frozenset[int]]]:
    """Distinct unordered pairs of different subsets of range(size)."""
    seen = set()
    for _ in range(attempts):
        one = frozenset(rng.sample(range(size), rng.randint(1, size)))
        other = one ^ {index for index in range(size) if rng.random() < 1 / size}
        pair = frozenset((one, other))
        if one != other and pair not in seen:
            seen.add(pair)
            yield one, other


def _rank(row: Row, impacts: list[float], one: frozenset[int], other: frozenset[int]) -> RankedPair | None:
    source, edits = row
    difference = sum(impacts[index] for index in one) - sum(impacts[index] for index in other)
    if not abs(difference) > TIE:  # also true for NaN
        return None
    low, high = (one, other) if difference < 0 else (other, one)
    texts = [apply(source, [edits[index] for index in sorted(subset)]) for subset in (low, high)]
    if texts[0] == texts[1] or not all(texts):
        return None
    return RankedPair(" ".join(source.split()), *texts)


def _enough(pairs: list[RankedPair], total: int) -> list[RankedPair]:
    if len(pairs) < total:
        logger.warning("only %d of the %d pairs asked for could be made; more sentences give more", len(pairs), total)
    return pairs


class Corpus(NamedTuple):
    """Corrected sentences: sources and edits, one row per annotator."""

    name: str
    rows: list[Row]


def check_corpora(job: PairJob) -> None:
    """Read the files of a job, so that a mistake in them shows before anything is said, made or trained."""
    rows = [row for path in job.m2 for row in read_rows(path)]
    rows += [row for files in job.parallel for row in _changed(*_read_parallel(*files))]
    if not all(split_by_source(rows)):
        raise InputError(_TOO_FEW)


def read_pairs(
    job: PairJob, run: Path, impacts_by: str, parallel_only: bool = False, progress: bool = False
) -> tuple[dict[str, list[RankedPair]], list[dict[str, Any]]]:
    """The pairs of each fold, made once and saved in `run/pairs.json`, and a few counts of each corpus."""
    path = run / "pairs.json"
    if not path.is_file():
        corpora = _read(job, progress)
        length = job.recipe.max_length
        embed = None if parallel_only else Encoder.load(resolve(impacts_by), max_length=length).embed
        made = _make_pairs(job, corpora, embed, progress)
        write_text(path, json.dumps(made, ensure_ascii=False))
    saved = read_json(path)
    return {fold: [RankedPair(*row) for row in saved[fold]] for fold in FOLDS}, saved["data"]


def _make_pairs(job: PairJob, corpora: list[Corpus], embed: Embed | None, progress: bool) -> dict[str, list[Any]]:
    folds = split_by_source(row for corpus in corpora for row in corpus.rows)
    fold_of = {_key(row): fold for fold, rows in zip(FOLDS, folds, strict=True) for row in rows}
    made: dict[str, list[Any]] = {"train": [], "dev": [], "test": [], "data": []}
    dev, test = (job.pairs * share // sum(SHARES) for share in SHARES[1:])
    sizes = {"train": job.pairs - dev - test, "dev": dev, "test": test}
    with bar(progress, "ranked pairs"):
        for corpus in parts(corpora):
            counts = {}
            for fold in parts(FOLDS, lambda fold, name=corpus.name: f"{name}, {fold}"):
                rows = [row for row in corpus.rows if fold_of[_key(row)] == fold]
                if embed is None:
                    pairs = parallel_pairs(rows, total=sizes[fold])
                else:
                    pairs = ranked_pairs(rows, embed, total=sizes[fold], per_row=job.attempts)
                counts[fold] = len(pairs)
                made[fold] += [dataclasses.astuple(pair) for pair in pairs]
            edits = sum(len(edits) for _, edits in corpus.rows)
            made["data"].append(
                {"corpus": corpus.name, "corrections": len(corpus.rows), "edits": edits, "pairs": counts}
            )
    if not all(made[fold] for fold in FOLDS):
        raise InputError(_TOO_FEW)
    count = round(job.negatives * len(made["train"]))
    source_of = {text: source for source, *texts in made["train"] for text in (source, *texts)}
    made["train"] += [(source_of[text], worse, text) for worse, text in make_negatives(source_of, count)]
    return made


def _key(row: Row) -> str:
    return " ".join(row[0].split())


def _read(job: PairJob, progress: bool) -> list[Corpus]:
    corpora = [Corpus(path.name, read_rows(path)) for path in job.m2]
    for left, right in job.parallel:
        name = f"{left.name} to {right.name}"
        with bar(progress, f"edits, {name}"):
            corpora.append(Corpus(name, _annotate(*_read_parallel(left, right), job)))
    return corpora


def read_rows(path: Path) -> list[Row]:
    """The corrected sentences of an M2 file, one row per annotator."""
    return [(sentence.source, edits) for sentence in read_m2(path) for edits in sentence.edits.values() if edits]


def _read_parallel(left: Path, right: Path) -> tuple[list[str], list[str]]:
    sources = read_lines(left)
    return sources, read_parallel(right, left, len(sources))


def _changed(sources: Iterable[str], targets: Iterable[str]) -> list[tuple[str, Any]]:
    return [pair for pair in zip(sources, targets, strict=True) if pair[0].split() != pair[1].split()]


def _annotate(sources: Iterable[str], targets: Iterable[str], job: PairJob) -> list[Row]:
    changed = _changed(sources, targets)
    if job.language == "en":
        warn_unless_english([source for source, _ in changed])
    edits = get_annotator(job.nlp, job.language).edits(changed)
    return [(source, row) for (source, _), row in zip(changed, edits, strict=True) if row]
