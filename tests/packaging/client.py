"""A typed program that uses the public API; test_typing.py checks it with `mypy --strict` and runs `cheap`."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import geceval
import geceval.ray

SOURCES = ["She have two dog ."]
PREDICTIONS = ["She has two dog ."]
REFERENCES = [["She has two dogs .", "She has a dog ."]]
SYSTEMS = {"a": PREDICTIONS, "b": SOURCES}


def cheap() -> float:
    m2 = geceval.load("m2", beta=1.0)
    result: dict[str, Any] = m2.compute(sources=SOURCES, predictions=PREDICTIONS, references=REFERENCES)
    m2.add(source=SOURCES[0], prediction=PREDICTIONS[0], reference="She has two dogs .")
    m2.add_batch(sources=SOURCES, predictions=PREDICTIONS, references=["She has two dogs ."])
    again = m2.compute(batch_size=8)
    rows = geceval.BatchScorer("m2")({"sources": SOURCES, "predictions": PREDICTIONS, "references": REFERENCES})
    rewards: list[float] = geceval.reward("gleu", clip=(0.0, 1.0))(SOURCES, PREDICTIONS, REFERENCES)
    best: list[str] = geceval.rerank("m2", SOURCES, SYSTEMS, REFERENCES).predictions
    voted: list[str] = geceval.vote(SOURCES, [PREDICTIONS * 2 + SOURCES]).predictions
    compared = geceval.compare(["green"], SOURCES * 2, {"a": PREDICTIONS * 2, "b": SOURCES * 2}, REFERENCES * 2, seed=1)
    first: float = compared["green"].standings[0].score
    assert geceval.list_metrics() and geceval.__version__ and rows["m2"] and rewards and again
    assert best == voted == PREDICTIONS and first > 0
    geceval.clear_caches()
    return float(result["f"])


if TYPE_CHECKING:
    resistance = geceval.attack("impara", SOURCES, SYSTEMS, REFERENCES)["impara"].headlines
    shares: tuple[float, ...] = geceval.attribute("gleu", SOURCES, PREDICTIONS, REFERENCES)[0].scores
    errors: list[float] = [word.error for word in geceval.detect(SOURCES)[0]]
    impact: float = geceval.edit_impacts(SOURCES, PREDICTIONS)[0][0][1]
    passed: bool = geceval.gate("errant", SOURCES, SOURCES, PREDICTIONS, REFERENCES, max_drop=1.0).passed
    kept: list[str] = geceval.filter_edits(SOURCES, PREDICTIONS, least=0.3)
    medoid: list[int] = geceval.mbr("errant", SOURCES, SYSTEMS).indices
    upper: list[list[float]] = geceval.oracle("errant", SOURCES, SYSTEMS, REFERENCES).values
    answers: list[str] = geceval.read_answers(Path("answers.jsonl"), SOURCES).predictions
    copies: list[Path] = geceval.register(["gleu"])
    metrics = geceval.trainer_metrics(object(), ["gleu"], references=REFERENCES)
    types = geceval.error_types(SOURCES, SYSTEMS, REFERENCES).estimates
    chains: int = geceval.maege(["gleu"], "gold.m2")["gleu"].chains
    texts: list[str] = geceval.test_set("conll14").sources

    # What is wrong: mypy tells of an ignore that it has no use for.
    geceval.load(3)  # type: ignore[arg-type]
    geceval.load("gleu").compute(SOURCES)  # type: ignore[call-arg]
    geceval.load("gleu").compute(sources=3)  # type: ignore[arg-type]
    geceval.load("gleu").compute(sources=SOURCES) + 1  # type: ignore[operator]
    geceval.compare(["gleu"], SOURCES, PREDICTIONS)  # type: ignore[arg-type]
    geceval.lode("gleu")  # type: ignore[attr-defined]
