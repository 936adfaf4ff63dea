"""Human judgments read back from the folders of parquet files that `geceval data build` writes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from geceval.meta.data import HumanData, Item


def is_built(folder: str | Path) -> bool:
    """Whether a folder holds judgments as parquet."""
    return _name(Path(folder)) is not None


def read_folder(folder: str | Path) -> HumanData:
    """Read what was built from SEEDA or GJG15; the same as reading the checkout.

    Args:
        folder: A folder with `outputs/`, `system_scores/` and `judgments_sent/` (SEEDA) or `judgments/` (GJG15).

    Raises:
        OSError: If a file is missing.
        ValueError: If the folder holds neither, or a file is not such parquet.
    """
    folder = Path(folder)
    name = _name(folder)
    if name is None:
        raise ValueError(f"{folder}: no judgments as parquet (judgments_sent/test.parquet or judgments/test.parquet)")
    kinds = {"seeda": ("sent", "edit"), "gjg15": ("all",)}[name]
    files = {kind: f"judgments_{kind}/test" if name == "seeda" else "judgments/test" for kind in kinds}
    rows = _read(folder, "outputs/subset" if name == "seeda" else "outputs/full")
    position = {row["src_id"]: place for place, row in enumerate(rows)}
    outputs = {pair["system"]: [] for pair in rows[0]["hypotheses"]}
    for row in rows:
        for pair in row["hypotheses"]:
            outputs[pair["system"]].append(pair["text"])
    judgments = {
        kind: [
            Item(
                position[row["src_id"]],
                row["annotator"],
                tuple((tuple(g["systems"]), g["rank"]) for g in row["groups"]),
            )
            for row in _read(folder, path)
            if row["groups"]
        ]
        for kind, path in files.items()
    }
    scored = _read(folder, "system_scores/test")
    statistics = [column for column in scored[0] if column.split("_")[0] in ("ew", "ts")]
    scores = {statistic: {row["system"]: row[statistic] for row in scored} for statistic in statistics}
    return HumanData(name, [row["source"] for row in rows], list(position), outputs, judgments, scores)


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
        raise ValueError(f"{path}: not a parquet file ({error})") from error
    if not rows:
        raise ValueError(f"{path}: no rows")
    return rows
