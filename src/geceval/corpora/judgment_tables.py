"""Build SEEDA, GJG15, GMEG and TMU-GFM: human judgments as tables, checked against what is known of the files."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from geceval.core.errors import InputError
from geceval.core.files import read_lines
from geceval.corpora import gmeg
from geceval.corpora.folder import Config, check_count, find
from geceval.corpora.judgments import SEEDA_SYSTEMS, Rows, Tables, gjg15_tables, seeda_tables, to_human
from geceval.corpora.ratings import read_rows
from geceval.edits.m2 import read_m2, references
from geceval.meta.aggregation import human_expected_wins
from geceval.meta.judgments import HumanData, Item, system_set

# What Chollampatt and Ng (2018) computed from the judgments of GJG15, where it differs from what its authors published.
_GJG15_NUS = {
    "ew": {"CUUI": 0.549, "INPUT": 0.457},
    "ts": {"CAMB": 0.18, "RAC": 0.115, "POST": 0.081, "UMC": -0.023, "IITB": -0.054, "INPUT": -0.061, "SJTU": -0.073},
}
_KINDS = {"GPT-3.5": "llm", "REF-F": "human", "REF-M": "human", "INPUT": "input"}

# Counts of the published files.
SENTENCES = 1312
_COUNTS = {
    "seeda": {"rankings": 600, "empty rankings": 0, "annotators": 3, "sentences": 391, "ranked outputs": 2808},
    "gjg15": {"rankings": 2319, "empty rankings": 13, "annotators": 8, "sentences": 663, "ranked outputs": 10768},
}
_RATINGS = 4221
_RATED = "Ratings are means from 0 to 100, null where nobody rated. The system `ref` is a person, who wrote `ref0`."
_TOLERANCE = 0.001 + 1e-9  # published Expected Wins are means over bootstrap samples, with three decimals

_TEXTS = pa.list_(pa.string())
_OUTPUT = {"system": pa.string(), "text": pa.string()}
_RATED_OUTPUT = {**_OUTPUT, "rating": pa.float64()}
_GROUP = {"systems": _TEXTS, "rank": pa.int8()}
_SENTENCE = {"source": pa.string(), "references": _TEXTS}
_OUTPUTS = pa.schema({"src_id": pa.int32(), **_SENTENCE, "hypotheses": pa.list_(pa.struct(_OUTPUT))})
_GMEG = pa.schema({"line": pa.int32(), **_SENTENCE, "hypotheses": pa.list_(pa.struct(_RATED_OUTPUT))})
_JUDGMENTS = pa.schema(
    dict.fromkeys(("item", "src_id", "orig_src_id"), pa.int32())
    | dict.fromkeys(("orig_id", "annotator"), pa.string())
    | {"duration_s": pa.float32(), "skipped": pa.bool_(), "groups": pa.list_(pa.struct(_GROUP))}
)
TMU_GFM_SYSTEMS = ("smt", "lstm", "copy-net", "transformer", "cnn")
_ASPECTS = {"grammaticality": ("grammer", "ave_g"), "fluency": ("fluency", "ave_f"), "meaning": ("meaning", "ave_m")}
_TMU_GFM = pa.schema(
    {"source": pa.string(), "output": pa.string(), "systems": _TEXTS}
    | dict.fromkeys(_ASPECTS, pa.list_(pa.int8()))
    | dict.fromkeys((mean for _, mean in _ASPECTS.values()), pa.float32())
)


def build_seeda(folder: Path, gold_m2: Path | None) -> list[Config]:
    """Tables of SEEDA."""
    tables = seeda_tables(folder)
    human = to_human(tables)
    _check_counts(tables)
    check_count(folder / "outputs/all", "sentences", len(tables.outputs), SENTENCES)
    for name in SEEDA_SYSTEMS:
        path = folder / f"outputs/subset/{name}.txt"
        if read_lines(path) != human.outputs[name]:
            raise InputError(f"{path}: not the judged lines of outputs/all/{name}.txt")
    for kind, items in human.judgments.items():
        _check_expected_wins(folder / f"scores/human/EW_{kind}.txt", items, human.scores[f"ew_{kind}"])
    rows = _with_references(tables.outputs, gold_m2)
    outputs = {"subset": [rows[line] for line in human.lines], "full": rows}
    return [
        *(Config(f"judgments_{kind}", _JUDGMENTS, {"test": ranked}) for kind, ranked in tables.judgments.items()),
        Config("outputs", _OUTPUTS, outputs, _note(gold_m2)),
        _system_scores("system_scores", human, human.scores, ("base", "+INPUT", "+fluency", "all"), "neural"),
    ]


def build_gjg15(folder: Path, gold_m2: Path | None) -> list[Config]:
    """Tables of GJG15."""
    tables = gjg15_tables(folder)
    human = to_human(tables)
    _check_counts(tables)
    check_count(folder / "data/original/official_submissions", "sentences", len(tables.outputs), SENTENCES)
    _check_expected_wins(tables.files["all"], human.judgments["all"], human.scores["ew"])
    nus = {statistic: {**human.scores[statistic], **changed} for statistic, changed in _GJG15_NUS.items()}
    return [
        Config("judgments", _JUDGMENTS, {"test": tables.judgments["all"]}),
        Config("outputs", _OUTPUTS, {"full": _with_references(tables.outputs, gold_m2)}, _note(gold_m2)),
        _system_scores("system_scores", human, human.scores, ("all",), "team"),
        _system_scores("system_scores_nus", human, nus, ("all",), "team"),
    ]


def _check_counts(tables: Tables) -> None:
    for kind, rows in tables.judgments.items():
        counts = {
            "rankings": len(rows),
            "empty rankings": sum(not row["groups"] for row in rows),
            "annotators": len({row["annotator"] for row in rows}),
            "sentences": len({row["src_id"] for row in rows}),
            "ranked outputs": sum(len(row["groups"]) for row in rows),
        }
        for what, expected in _COUNTS[tables.name].items():
            check_count(tables.files[kind], what, counts[what], expected)


def _check_expected_wins(path: Path, items: Sequence[Item], published: Mapping[str, float]) -> None:
    computed = human_expected_wins(items, list(published))
    for system, value in published.items():
        if abs(computed[system] - value) > _TOLERANCE:
            raise InputError(
                f"{path}: published Expected Wins of {system} are {value:.3f}, the judgments give "
                f"{computed[system]:.4f}"
            )


def _note(gold_m2: Path | None) -> str:
    if gold_m2 is None:
        return "Without references: build with `--gold-m2`, the M2 file of CoNLL-2014, to have them."
    return f"References: all annotators of `{gold_m2.name}`; one without edits left the sentence as it is."


def _with_references(rows: Rows, gold_m2: Path | None) -> Rows:
    """Add the corrections of all annotators; an annotator without a line left the sentence unchanged."""
    if gold_m2 is None:
        return rows
    sentences = read_m2(gold_m2)
    check_count(gold_m2, "sentences", len(sentences), len(rows))
    annotators = sorted({annotator for sentence in sentences for annotator in sentence.edits})
    corrected = []
    for sentence, row in zip(sentences, rows, strict=True):
        if sentence.source.split() != row["source"].split():
            raise InputError(f"{gold_m2}, line {sentence.line}: not sentence {row['src_id']} of the outputs")
        texts = references(sentence)
        corrected.append({**row, "references": [texts.get(each, sentence.source) for each in annotators]})
    return corrected


def _system_scores(
    name: str, human: HumanData, scores: Mapping[str, Mapping[str, float]], sets: Sequence[str], kind: str
) -> Config:
    """The table of human scores; `kind` is that of most systems."""
    members = {each: system_set(human, each) for each in sets}
    rows = [
        {
            "system": system,
            "position": position,
            "kind": _KINDS.get(system, kind),
            **{statistic: values[system] for statistic, values in scores.items()},
            "sets": [each for each in sets if system in members[each]],
        }
        for position, system in enumerate(human.outputs)
    ]
    about = {"system": pa.string(), "position": pa.int8(), "kind": pa.string()}
    schema = pa.schema(about | dict.fromkeys(scores, pa.float64()) | {"sets": _TEXTS})
    return Config(name, schema, {"test": rows})


def build_gmeg(folder: Path) -> list[Config]:
    """The tables of GMEG, one a domain, split `rated`."""
    domains = {domain: gmeg.read_domain(folder, domain) for domain in gmeg.DOMAINS}
    gmeg.to_human(domains)  # checks that they fit together
    return [Config(domain, _GMEG, {"rated": rows}, _RATED) for domain, rows in domains.items()]


def build_tmu_gfm(folder: Path) -> list[Config]:
    """The table of TMU-GFM, split `train`."""
    path = find(folder, "tmu-gfm-dataset.csv")
    lists, means = zip(*_ASPECTS.values(), strict=True)
    rows = [_to_row(where, row) for where, row in read_rows(path, ["source", "output", *lists, "system", *means])]
    check_count(path, "rows", len(rows), _RATINGS)
    return [Config("default", _TMU_GFM, {"train": rows})]


def _to_row(where: str, line: dict[str, str]) -> dict[str, Any]:
    systems = line["system"].split(",")
    for system in systems:
        if system not in TMU_GFM_SYSTEMS:
            raise InputError(f"{where}: unknown system {system!r}; the systems are {', '.join(TMU_GFM_SYSTEMS)}")
    row: dict[str, Any] = {"source": line["source"], "output": line["output"], "systems": systems}
    for aspect, (column, mean) in _ASPECTS.items():
        row[aspect], row[mean] = _ratings(f"{where}, {column}", line[column], line[mean])
    return row


def _ratings(where: str, ratings: str, average: str) -> tuple[list[int], float]:
    """Five ratings from 1 to 4, or 0 for "other", and the mean of those that are not 0."""
    try:
        values, mean = [int(rating) for rating in ratings.split(",")], float(average)
    except ValueError as error:
        raise InputError(f"{where}: a rating or an average is not a number ({error})") from error
    if len(values) != 5 or not all(0 <= value <= 4 for value in values):
        raise InputError(f"{where}: expected five ratings from 0 to 4, got {ratings!r}")
    rated = [value for value in values if value]
    if not rated or abs(sum(rated) / len(rated) - mean) > 1e-3:
        raise InputError(f"{where}: the average of {ratings} without zeros is not {average}")
    return values, mean
