"""SEEDA, GJG15 and GMEG: human judgments, read from the tables that `geceval data build` writes or would write."""

import math
import xml.etree.ElementTree as ElementTree
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from geceval.core.errors import InputError
from geceval.core.files import read_lines, read_parallel
from geceval.corpora import gmeg
from geceval.meta.judgments import Groups, HumanData, Item

SEEDA_SYSTEMS = (
    *("BART", "BERT-fuse", "GECToR-BERT", "GECToR-ens", "GPT-3.5", "INPUT", "LM-Critic", "PIE"),
    *("REF-F", "REF-M", "Riken-Tohoku", "T5", "TemplateGEC", "TransGEC", "UEDIN-MS"),
)
# In the order of their Expected Wins, which is the order that order-dependent statistics are reported in.
GJG15_SYSTEMS = ("AMU", "RAC", "CAMB", "CUUI", "POST", "UFC", "PKU", "UMC", "IITB", "SJTU", "INPUT", "NTHU", "IPN")
# Grundkiewicz et al. (2015), Table 3b (Expected Wins) and 3c (TrueSkill).
_GJG15_SCORES = {
    "ew": (0.628, 0.566, 0.561, 0.550, 0.539, 0.513, 0.506, 0.495, 0.485, 0.463, 0.456, 0.437, 0.300),
    "ts": (0.273, 0.114, 0.182, 0.105, 0.080, -0.041, -0.001, -0.022, -0.055, -0.074, -0.062, -0.142, -0.358),
}
LOWEST_RANK = 127
SHIFTED = "are the sentence ids counted from 0 instead of 1, or the other way round?"
_DEPTH = 100  # of XML elements

Rows = list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Tables:
    """The rows of the tables of SEEDA or GJG15."""

    name: str
    outputs: Rows  # one a sentence, judged or not, with what each system wrote, systems in their canonical order
    judgments: dict[str, Rows]  # kind of judgments to one row a ranking
    scores: dict[str, dict[str, float]]  # human ranking of the systems to system to score
    files: dict[str, Path]  # kind of judgments to the file that they come from, for messages


def read_human(folder: str | Path, gap: float | None = None) -> HumanData:
    """Read SEEDA, GJG15 or GMEG: a checkout, or what `geceval data build` made of it.

    Args:
        folder: SEEDA (Kobayashi et al. 2024: 15 systems, 391 judged sentences, ranked by edits and by sentences), GJG15
            (Grundkiewicz et al. 2015: 12 submissions to CoNLL-2014 and the input, 1,312 sentences) or GMEG (Napoles et
            al. 2019: seven outputs and the source of FCE and Wikipedia sentences, rated from 0 to 100).
        gap: Least difference of two ratings of GMEG that makes a pair, in points; 10 by default.

    Raises:
        ValueError: If it is none of them, the files do not fit together, or `gap` is given for rankings.
    """
    try:
        if domains := _read_gmeg(Path(folder)):
            return gmeg.to_human(domains, gmeg.GAP if gap is None else gap)
        if gap is not None:
            raise InputError("gap is for ratings (GMEG); the judgments here are rankings")
        return to_human(_read_tables(Path(folder)))
    except (LookupError, TypeError) as error:
        raise InputError(
            f"{folder}: the tables do not fit together, or lack a column, sentence or system ({error!r}); build it "
            "again with `geceval data build`"
        ) from error


def _read_gmeg(folder: Path) -> dict[str, Rows]:
    """The rows of both domains of GMEG; none if the folder holds something else."""
    if gmeg.ratings_file(folder, gmeg.DOMAINS[0]).is_file():
        return {domain: gmeg.read_domain(folder, domain) for domain in gmeg.DOMAINS}
    if (folder / gmeg.DOMAINS[0] / "rated.parquet").is_file():
        return {domain: _read_rows(folder / domain / "rated.parquet") for domain in gmeg.DOMAINS}
    return {}


def _read_tables(folder: Path) -> Tables:
    if (folder / "judgments_sent/test.parquet").is_file():
        return _read_built(folder, "seeda", {kind: f"judgments_{kind}" for kind in ("sent", "edit")}, "subset")
    if (folder / "judgments/test.parquet").is_file():
        return _read_built(folder, "gjg15", {"all": "judgments"}, "full")
    if (folder / "outputs").is_dir():
        return seeda_tables(folder)
    if (folder / "data/judgments.xml").is_file():
        return gjg15_tables(folder)
    if not folder.is_dir():
        raise InputError(f"{folder}: there is no such folder")
    raise InputError(
        f"{folder}: no checkout of SEEDA (outputs/, data/), of GJG15 (data/judgments.xml) or of GMEG "
        "(fce-segment-scores.csv), nor what `geceval data build` makes of them (judgments_sent/test.parquet, "
        "judgments/test.parquet, fce/rated.parquet)"
    )


def to_human(tables: Tables) -> HumanData:
    """The judgments in tables; of SEEDA only the judged sentences."""
    rows = tables.outputs
    if tables.name == "seeda":
        judged = {row["src_id"] for row in tables.judgments["sent"]}
        rows = [row for row in rows if row["src_id"] in judged]
    index = {row["src_id"]: number for number, row in enumerate(rows)}
    texts = [{pair["system"]: pair["text"] for pair in row["hypotheses"]} for row in rows]
    outputs = {system: [row[system] for row in texts] for system in (texts[0] if texts else ())}
    judgments = {kind: to_items(table, tables.files[kind], index, outputs) for kind, table in tables.judgments.items()}
    return HumanData(tables.name, [row["source"] for row in rows], list(index), outputs, judgments, tables.scores)


def to_items(rows: Rows, file: Path, index: Mapping[int, int], outputs: Mapping[str, list[str]]) -> list[Item]:
    """The rankings that hold a system; `index` gives the place of each line in the outputs."""
    items = []
    for number, row in enumerate(rows):
        where = f"{file}, ranking {number}"
        groups = tuple((tuple(group["systems"]), group["rank"]) for group in row["groups"])
        sentence = index.get(row["src_id"])
        if sentence is None:
            raise InputError(f"{where}: there is no sentence {_short(row['src_id'])} among the outputs; {SHIFTED}")
        _check_groups(where, groups, sentence, outputs)
        if groups:
            items.append(Item(sentence, row["annotator"], groups))
    if not items:
        raise InputError(f"{file}: holds no ranking (ranking-item with translations)")
    return items


def _check_groups(where: str, groups: Groups, sentence: int, outputs: Mapping[str, list[str]]) -> None:
    """Raise a `ValueError` unless a ranking names each system once, counts ranks from 1, and groups equal texts."""
    for systems, rank in groups:
        if not 1 <= rank <= LOWEST_RANK:
            named = " and ".join(systems)[:60]
            raise InputError(f"{where}: rank {rank} of {named}; ranks count from 1, the best, to {LOWEST_RANK}")
        for system in systems or ("",):
            if system not in outputs:
                raise InputError(f"{where}: unknown system {_short(system)}; the systems are {', '.join(outputs)}")
        # Files that count sentences from 0 where others count from 1 would otherwise go unnoticed.
        if len({outputs[system][sentence] for system in systems}) > 1:
            raise InputError(
                f"{where}: {' and '.join(systems)} share a rank but wrote different texts for sentence {sentence}; "
                f"{SHIFTED}"
            )
    for system, times in Counter(system for systems, _ in groups for system in systems).items():
        if times > 1:
            raise InputError(f"{where}: {system} is ranked twice")


def _read_built(folder: Path, name: str, tables: Mapping[str, str], split: str) -> Tables:
    files = {kind: folder / table / "test.parquet" for kind, table in tables.items()}
    scored = _read_rows(folder / "system_scores/test.parquet")
    statistics = [column for column in scored[0] if column.split("_")[0] in ("ew", "ts")]
    scores = {statistic: {row["system"]: row[statistic] for row in scored} for statistic in statistics}
    outputs = _read_rows(folder / f"outputs/{split}.parquet")
    return Tables(name, outputs, {kind: _read_rows(file) for kind, file in files.items()}, scores, files)


def _read_rows(path: Path) -> Rows:
    import pyarrow
    from pyarrow import parquet

    try:
        rows = parquet.read_table(path).to_pylist()
    except pyarrow.ArrowException as error:
        raise InputError(f"{path}: not a parquet file ({error})") from error
    if not rows:
        raise InputError(f"{path}: no rows")
    return rows


def seeda_tables(folder: Path) -> Tables:
    """Tables of a checkout of SEEDA; its outputs are those of all sentences."""
    files = {kind: folder / f"data/judgments_{kind}.xml" for kind in ("sent", "edit")}
    scores = {
        f"{statistic.lower()}_{kind}": _read_scores(folder / f"scores/human/{statistic}_{kind}.txt")
        for statistic in ("EW", "TS")
        for kind in files
    }
    outputs = output_rows({name: folder / f"outputs/all/{name}.txt" for name in SEEDA_SYSTEMS})
    judgments = {kind: read_rankings(file, first_line=1) for kind, file in files.items()}
    return Tables("seeda", outputs, judgments, scores, files)


def gjg15_tables(folder: Path) -> Tables:
    """Tables of a checkout of GJG15."""
    file = folder / "data/judgments.xml"
    outputs = output_rows({name: folder / f"data/original/official_submissions/{name}" for name in GJG15_SYSTEMS})
    scores = {name: dict(zip(GJG15_SYSTEMS, values, strict=True)) for name, values in _GJG15_SCORES.items()}
    return Tables("gjg15", outputs, {"all": read_rankings(file, first_line=0)}, scores, {"all": file})


def output_rows(paths: Mapping[str, Path]) -> Rows:
    """One row a sentence; `INPUT` wrote the sources."""
    expected = len(read_lines(paths["INPUT"]))
    outputs = {name: read_parallel(path, paths["INPUT"], expected) for name, path in paths.items()}
    return [
        {
            "src_id": line,
            "source": source,
            "references": [],
            "hypotheses": [{"system": name, "text": texts[line]} for name, texts in outputs.items()],
        }
        for line, source in enumerate(outputs["INPUT"])
    ]


def _read_scores(path: Path) -> dict[str, float]:
    try:
        values = [float(line) for line in read_lines(path) if line]
    except ValueError as error:
        raise InputError(f"{path}: expected one number per line ({error})") from error
    if len(values) != len(SEEDA_SYSTEMS):
        raise InputError(f"{path}: {len(values)} scores, expected {len(SEEDA_SYSTEMS)}")
    return dict(zip(SEEDA_SYSTEMS, values, strict=True))


def read_rankings(path: str | Path, *, first_line: int) -> list[dict[str, Any]]:
    """The rows of a table `judgments`; `first_line` is what the file calls the first line, 0 or 1."""
    return [
        _to_row(f"{path}, ranking {number}", number, element, first_line)
        for number, element in enumerate(_elements(path))
    ]


class _Tree(ElementTree.TreeBuilder):
    """Refuses what rankings do not need: document types, whose entities may grow without limit, and deep nesting."""

    depth = 0

    def start(self, tag: str, attrs: dict[str, str]) -> ElementTree.Element:
        self.depth += 1
        if self.depth > _DEPTH:
            raise InputError(f"it nests more than {_DEPTH} elements, which rankings do not")
        return super().start(tag, attrs)

    def end(self, tag: str) -> ElementTree.Element:
        self.depth -= 1
        return super().end(tag)

    def doctype(self, name: str, pubid: str | None, system: str | None) -> None:
        raise InputError("it has a document type (<!DOCTYPE ...>), which rankings have not")


def _elements(path: str | Path) -> Iterator[ElementTree.Element]:
    data = Path(path).read_bytes()
    try:
        parser = ElementTree.XMLParser(target=_Tree())
        parser.feed(data)
        root = parser.close()
    except ElementTree.ParseError as error:
        raise InputError(f"{path}: not valid XML ({error})") from error
    except (ValueError, LookupError) as error:  # a LookupError is an encoding that is none of texts
        raise InputError(f"{path}: {error}") from error
    return root.iter("ranking-item")


def _to_row(where: str, number: int, element: ElementTree.Element, first_line: int) -> dict[str, Any]:
    try:
        line = int(element.attrib["src-id"])
        groups = [
            {"systems": translation.attrib["system"].split(), "rank": int(translation.attrib["rank"])}
            for translation in element.iter("translation")
        ]
    except (KeyError, ValueError) as error:
        raise InputError(f"{where}: src-id, system or rank is missing or not a number ({_short(error)})") from error
    return {
        "item": number,
        "src_id": line - first_line,
        "orig_src_id": line,
        "orig_id": element.attrib.get("id", ""),
        "annotator": element.attrib.get("user", ""),
        "duration_s": _seconds(where, element.attrib.get("duration")),
        "skipped": element.attrib.get("skipped") == "true",
        "groups": groups,
    }


def _seconds(where: str, duration: str | None) -> float | None:
    """Seconds of `HH:MM:SS.ffffff`."""
    if duration is None:
        return None
    try:
        hours, minutes, seconds = map(float, duration.split(":"))
    except ValueError:
        hours = minutes = seconds = math.nan
    if not all(0 <= part < math.inf for part in (hours, minutes, seconds)):
        raise InputError(f"{where}: duration must be HH:MM:SS, got {_short(duration)}")
    return hours * 3600 + minutes * 60 + seconds


def _short(value: object) -> str:
    """At most 60 characters of a value, for messages."""
    text = repr(value) if isinstance(value, str) else str(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
