"""Human judgments, read from the folders of parquet files that `geceval data build` writes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from geceval.core.errors import InputError
from geceval.meta.judgments.appraise import check_groups
from geceval.meta.judgments.data import HumanData, Item


def is_built(folder: str | Path) -> bool:
    """Whether a folder holds judgments in parquet files."""
    return _name(Path(folder)) is not None


def read_folder(folder: str | Path) -> HumanData:
    """Read a folder that was built from SEEDA or GJG15; the result equals that of reading the checkout."""
    folder = Path(folder)
    name = _name(folder)
    if name is None:
        raise InputError(f"{folder}: no judgments as parquet (judgments_sent/test.parquet or judgments/test.parquet)")
    try:
        return _assemble(folder, name)
    except (LookupError, TypeError) as error:
        raise InputError(
            f"{folder}: the tables do not fit together, or lack a column, sentence or system ({error!r}); build it "
            "again with `geceval data build`"
        ) from error


def _assemble(folder: Path, name: str) -> HumanData:
    kinds = {"seeda": ("sent", "edit"), "gjg15": ("all",)}[name]
    files = {kind: f"judgments_{kind}/test" if name == "seeda" else "judgments/test" for kind in kinds}
    rows = _read(folder, "outputs/subset" if name == "seeda" else "outputs/full")
    index = {row["src_id"]: number for number, row in enumerate(rows)}
    outputs = {pair["system"]: [] for pair in rows[0]["hypotheses"]}
    for row in rows:
        texts = {pair["system"]: pair["text"] for pair in row["hypotheses"]}
        for system, column in outputs.items():
            column.append(texts[system])
    judgments = {}
    for kind, path in files.items():
        judged = enumerate(_read(folder, path), start=1)
        items = [(number, _item(row, index)) for number, row in judged if row["groups"]]
        for number, item in items:
            check_groups(f"{folder / path}.parquet, row {number}", item.groups, item.sentence, outputs)
        judgments[kind] = [item for _, item in items]
    scored = _read(folder, "system_scores/test")
    statistics = [column for column in scored[0] if column.split("_")[0] in ("ew", "ts")]
    scores = {statistic: {row["system"]: row[statistic] for row in scored} for statistic in statistics}
    return HumanData(name, [row["source"] for row in rows], list(index), outputs, judgments, scores)


def _item(row: dict[str, Any], index: dict[int, int]) -> Item:
    groups = tuple((tuple(group["systems"]), group["rank"]) for group in row["groups"])
    return Item(index[row["src_id"]], row["annotator"], groups)


def _name(folder: Path) -> str | None:
    for name, file in (("seeda", "judgments_sent/test.parquet"), ("gjg15", "judgments/test.parquet")):
        if (folder / file).is_file():
            return name
    return None


def _read(folder: Path, name: str) -> list[dict[str, Any]]:
    import pyarrow
    from pyarrow import parquet

    path = folder / f"{name}.parquet"
    try:
        rows = parquet.read_table(path).to_pylist()
    except pyarrow.ArrowException as error:
        raise InputError(f"{path}: not a parquet file ({error})") from error
    if not rows:
        raise InputError(f"{path}: no rows")
    return rows
