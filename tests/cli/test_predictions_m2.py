"""`--predictions-m2`: a system's own edits, one file per system, in `score` and `compare`."""

from pathlib import Path

import pytest

import geceval
from geceval.core.files import read_lines
from geceval.edits.errant.annotator import get_annotator
from geceval.edits.m2 import M2Sentence, write_m2
from geceval.registry import make_scorer

EXAMPLE = Path(geceval.__file__).parent / "assets" / "example"
SOURCE = EXAMPLE / "source.txt"
SYSTEMS = [EXAMPLE / "systems" / f"{name}.txt" for name in ("minimal", "strong")]
METRICS = {"errant": {}, "gotoscorer": {"difficulty": "uniform"}, "cleme": {}, "cleme2": {"weights": "length"}}


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> dict[str, Path]:
    """ERRANT's edits of both systems and of both references, as `errant_parallel` writes them."""
    folder, annotator, sources = tmp_path_factory.mktemp("m2"), get_annotator(), read_lines(SOURCE)

    def edits(path: Path) -> list:
        return annotator.edits(list(zip(sources, read_lines(path), strict=True)))

    found = {path.stem: folder / f"{path.stem}.m2" for path in SYSTEMS} | {"gold": folder / "gold.m2"}
    for path in SYSTEMS:
        rows = zip(sources, edits(path), strict=True)
        write_m2(found[path.stem], [M2Sentence(source, {0: own}) for source, own in rows])
    rows = zip(sources, *(edits(EXAMPLE / f"reference_{number}.txt") for number in (0, 1)), strict=True)
    write_m2(found["gold"], [M2Sentence(source, dict(enumerate(both))) for source, *both in rows])
    return found


@pytest.mark.parametrize("metric", METRICS)
def test_errants_own_edits_from_files_give_its_scores(metric, files):
    sources, predictions = read_lines(SOURCE), read_lines(SYSTEMS[0])
    references = [list(row) for row in zip(*(read_lines(EXAMPLE / f"reference_{n}.txt") for n in (0, 1)), strict=True)]
    own = make_scorer(metric, {**METRICS[metric], "predictions_m2": files["minimal"]})
    extracted = make_scorer(metric, METRICS[metric]).score(sources, predictions, references)
    found = own.score(sources, predictions, references)
    assert (found.score, found.scores) == (extracted.score, extracted.scores)
    assert found.details == extracted.details
    assert "|predictions_m2:minimal.m2@" in found.signature and "|predictions_m2:none|" in extracted.signature


def test_score_and_compare(files, answer):
    corpus = ["-s", SOURCE, "-p", *SYSTEMS, "--gold-m2", files["gold"]]
    own = ["--predictions-m2", files["minimal"], files["strong"]]
    systems = answer("score", "-m", "errant", "cleme", *corpus, *own)["systems"]
    for row in systems:
        options = {"gold_m2": files["gold"], "predictions_m2": files[row["system"]]}
        texts = read_lines(SOURCE), read_lines(EXAMPLE / "systems" / f"{row['system']}.txt")
        for metric in ("errant", "cleme"):
            assert row["metrics"][metric]["score"] == make_scorer(metric, options).score(*texts).score
    scores = {row["system"]: row["metrics"]["cleme"]["score"] for row in systems}
    rows = answer("compare", "-m", "cleme", *corpus, *own, "--resamples", "20")["rows"]
    assert {row["system"]: row["score"] for row in rows} == scores


@pytest.mark.parametrize(
    ("metric", "names", "message"),
    [
        ("gleu", ["minimal", "strong"], "--predictions-m2 is for cleme, cleme2, errant, gotoscorer"),
        ("errant", ["minimal"], "2 systems but 1 --predictions-m2; pass one for each, in the order of -p"),
        ("errant", ["strong", "minimal"], "errant: the edits of "),
        ("gotoscorer", ["minimal", "strong"], "gotoscorer: predictions_m2 does not say how hard corrections are"),
    ],
)
def test_mistakes(metric, names, message, files, fails):
    arguments = ["-s", SOURCE, "-p", *SYSTEMS, "-r", EXAMPLE / "reference_0.txt"]
    own = [files[name] for name in names]
    assert fails("score", "-m", metric, *arguments, "--predictions-m2", *own).startswith(message)
