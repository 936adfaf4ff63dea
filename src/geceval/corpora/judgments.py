"""Build SEEDA and GJG15: outputs of systems, human rankings of them, and human scores of the systems."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from geceval.core.errors import InputError
from geceval.core.files import read_lines
from geceval.corpora.folder import Config, check_count
from geceval.edits.m2 import read_m2, references
from geceval.meta.aggregation import human_expected_wins
from geceval.meta.judgments.appraise import Ranking, read_rankings
from geceval.meta.judgments.data import HumanData, Item, system_set
from geceval.meta.judgments.readers import GJG15_SYSTEMS, SEEDA_SYSTEMS, read_gjg15, read_outputs, read_seeda

SENTENCES = 1312
_TOLERANCE = 0.001 + 1e-9  # published Expected Wins are means over bootstrap samples, with three decimals
_OUTPUTS = pa.schema(
    [
        ("src_id", pa.int32()),
        ("source", pa.string()),
        ("references", pa.list_(pa.string())),
        ("hypotheses", pa.list_(pa.struct([("system", pa.string()), ("text", pa.string())]))),
    ]
)
_JUDGMENTS = pa.schema(
    [
        ("item", pa.int32()),
        ("src_id", pa.int32()),
        ("orig_src_id", pa.int32()),
        ("orig_id", pa.string()),
        ("annotator", pa.string()),
        ("duration_s", pa.float32()),
        ("skipped", pa.bool_()),
        ("groups", pa.list_(pa.struct([("systems", pa.list_(pa.string())), ("rank", pa.int8())]))),
    ]
)
# Items, empty items, annotators, distinct sentences and translations of each file, counted in the published ones.
_SEEDA = {"rankings": 600, "empty rankings": 0, "annotators": 3, "sentences": 391, "ranked outputs": 2808}
_GJG15 = {"rankings": 2319, "empty rankings": 13, "annotators": 8, "sentences": 663, "ranked outputs": 10768}
# What Chollampatt and Ng (2018) computed from the same judgments, where it differs from Grundkiewicz et al. (2015).
_GJG15_NUS = {
    "ew": {"CUUI": 0.549, "INPUT": 0.457},
    "ts": {"CAMB": 0.18, "RAC": 0.115, "POST": 0.081, "UMC": -0.023, "IITB": -0.054, "INPUT": -0.061, "SJTU": -0.073},
}


def build_seeda(folder: Path, gold_m2: Path | None) -> list[Config]:
    """Tables of SEEDA."""
    outputs = read_outputs({name: folder / "outputs/all" / f"{name}.txt" for name in SEEDA_SYSTEMS})
    rankings = {
        kind: _read_checked(folder / f"data/judgments_{kind}.xml", outputs, 1, _SEEDA) for kind in ("sent", "edit")
    }
    human = read_seeda(folder)
    check_count(folder / "outputs/all", "sentences", len(outputs["INPUT"]), SENTENCES)
    for name in SEEDA_SYSTEMS:
        path = folder / "outputs/subset" / f"{name}.txt"
        if read_lines(path) != human.outputs[name]:
            raise InputError(f"{path}: not the judged lines of outputs/all/{name}.txt")
    for kind in rankings:
        _check_expected_wins(folder / "scores/human" / f"EW_{kind}.txt", rankings[kind], human.scores[f"ew_{kind}"])
    rows = _outputs(outputs, gold_m2)
    tables = {kind: Config(f"judgments_{kind}", _JUDGMENTS, {"test": _judgments(r)}) for kind, r in rankings.items()}
    kinds = {"GPT-3.5": "llm", "REF-F": "human", "REF-M": "human", "INPUT": "input"}
    return [
        tables["sent"],
        tables["edit"],
        Config("outputs", _OUTPUTS, {"subset": [rows[line] for line in human.lines], "full": rows}, _note(gold_m2)),
        _system_scores("system_scores", human, human.scores, ("base", "+INPUT", "+fluency", "all"), kinds, "neural"),
    ]


def build_gjg15(folder: Path, gold_m2: Path | None) -> list[Config]:
    """Tables of GJG15; see `build_seeda`."""
    submissions = folder / "data/original/official_submissions"
    outputs = read_outputs({name: submissions / name for name in GJG15_SYSTEMS})
    path = folder / "data/judgments.xml"
    rankings = _read_checked(path, outputs, 0, _GJG15)
    human = read_gjg15(folder)
    check_count(submissions, "sentences", len(outputs["INPUT"]), SENTENCES)
    _check_expected_wins(path, rankings, human.scores["ew"])
    nus = {statistic: {**human.scores[statistic], **other} for statistic, other in _GJG15_NUS.items()}
    kinds = {"INPUT": "input"}
    return [
        Config("judgments", _JUDGMENTS, {"test": _judgments(rankings)}),
        Config("outputs", _OUTPUTS, {"full": _outputs(outputs, gold_m2)}, _note(gold_m2)),
        _system_scores("system_scores", human, human.scores, ("all",), kinds, "team"),
        _system_scores("system_scores_nus", human, nus, ("all",), kinds, "team"),
    ]


def _read_checked(
    path: Path, outputs: dict[str, list[str]], first_line: int, expected: dict[str, int]
) -> list[Ranking]:
    """Read rankings and check their groups both ways: one text per group, and one group per text."""
    rankings = read_rankings(path, outputs, first_line=first_line)
    for number, ranking in enumerate(rankings):
        texts = [outputs[systems[0]][ranking.sentence] for systems, _ in ranking.groups]
        if len(set(texts)) < len(texts):
            raise InputError(
                f"{path}, ranking {number}: two groups of systems wrote the same text for sentence "
                f"{ranking.sentence}; are the sentence ids counted from 0 instead of 1, or the other way round?"
            )
    found = {
        "rankings": len(rankings),
        "empty rankings": sum(not ranking.groups for ranking in rankings),
        "annotators": len({ranking.annotator for ranking in rankings}),
        "sentences": len({ranking.sentence for ranking in rankings}),
        "ranked outputs": sum(len(ranking.groups) for ranking in rankings),
    }
    for what, count in expected.items():
        check_count(path, what, found[what], count)
    return rankings


def _check_expected_wins(path: Path, rankings: Sequence[Ranking], published: dict[str, float]) -> None:
    items = [Item(ranking.sentence, ranking.annotator, ranking.groups) for ranking in rankings]
    computed = human_expected_wins(items, list(published))
    for system, value in published.items():
        if abs(computed[system] - value) > _TOLERANCE:
            raise InputError(
                f"{path}: published Expected Wins of {system} are {value:.3f}, the judgments give "
                f"{computed[system]:.4f}"
            )


def _outputs(outputs: dict[str, list[str]], gold_m2: Path | None) -> list[dict[str, Any]]:
    sources = outputs["INPUT"]
    corrected = _references(gold_m2, sources) if gold_m2 else [[] for _ in sources]
    return [
        {
            "src_id": line,
            "source": source,
            "references": corrected[line],
            "hypotheses": [{"system": name, "text": texts[line]} for name, texts in outputs.items()],
        }
        for line, source in enumerate(sources)
    ]


def _note(gold_m2: Path | None) -> str:
    if gold_m2 is None:
        return "Without references: build with `--gold-m2`, the M2 file of CoNLL-2014, to have them."
    return f"References: all annotators of `{gold_m2.name}`; one without edits left the sentence as it is."


def _references(path: Path, sources: list[str]) -> list[list[str]]:
    """The corrections of all annotators; an annotator without a line left the sentence unchanged."""
    sentences = read_m2(path)
    check_count(path, "sentences", len(sentences), len(sources))
    for line, (sentence, source) in enumerate(zip(sentences, sources, strict=True)):
        if sentence.source.split() != source.split():
            raise InputError(f"{path}, line {sentence.line}: not sentence {line} of the outputs, {source!r}")
    annotators = sorted({annotator for sentence in sentences for annotator in sentence.edits})
    rows = [references(sentence) for sentence in sentences]
    return [
        [row.get(annotator, sentence.source) for annotator in annotators]
        for row, sentence in zip(rows, sentences, strict=True)
    ]


def _judgments(rankings: Sequence[Ranking]) -> list[dict[str, Any]]:
    return [
        {
            "item": number,
            "src_id": ranking.sentence,
            "orig_src_id": ranking.source_id,
            "orig_id": ranking.name,
            "annotator": ranking.annotator,
            "duration_s": ranking.seconds,
            "skipped": ranking.skipped,
            "groups": [{"systems": list(systems), "rank": rank} for systems, rank in ranking.groups],
        }
        for number, ranking in enumerate(rankings)
    ]


def _system_scores(
    name: str,
    human: HumanData,
    scores: dict[str, dict[str, float]],
    sets: Sequence[str],
    kinds: dict[str, str],
    otherwise: str,
) -> Config:
    members = {each: system_set(human, each) for each in sets}
    rows = [
        {
            "system": system,
            "position": position,
            "kind": kinds.get(system, otherwise),
            **{statistic: values[system] for statistic, values in scores.items()},
            "sets": [each for each in sets if system in members[each]],
        }
        for position, system in enumerate(human.outputs)
    ]
    schema = pa.schema(
        [
            ("system", pa.string()),
            ("position", pa.int8()),
            ("kind", pa.string()),
            *((statistic, pa.float64()) for statistic in scores),
            ("sets", pa.list_(pa.string())),
        ]
    )
    return Config(name, schema, {"test": rows})
