"""Judgments from folders of parquet files; the whole way round is in tests/hub/test_data_build.py."""

from __future__ import annotations

import pyarrow as pa
import pytest
from pyarrow import parquet

from geceval.meta.judgments.data import HumanData, Item
from geceval.meta.judgments.folders import is_built, read_folder
from geceval.meta.judgments.readers import read_human


def write(path, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    parquet.write_table(pa.Table.from_pylist(rows), path)


@pytest.fixture
def folder(tmp_path):
    write(
        tmp_path / "outputs/full.parquet",
        [
            {"src_id": 4, "source": "s", "hypotheses": [{"system": "A", "text": "a"}, {"system": "B", "text": "b"}]},
            {"src_id": 9, "source": "t", "hypotheses": [{"system": "A", "text": "c"}, {"system": "B", "text": "d"}]},
        ],
    )
    groups = [{"systems": ["A"], "rank": 2}, {"systems": ["B"], "rank": 1}]
    write(
        tmp_path / "judgments/test.parquet",
        [
            {"src_id": 9, "annotator": "x", "groups": groups},
            {"src_id": 4, "annotator": "y", "groups": []},
        ],
    )
    write(tmp_path / "system_scores/test.parquet", [{"system": "A", "ew": 0.1}, {"system": "B", "ew": 0.9}])
    return tmp_path


def test_a_folder_is_read(folder):
    expected = HumanData(
        "gjg15",
        ["s", "t"],
        [4, 9],
        {"A": ["a", "c"], "B": ["b", "d"]},
        {"all": [Item(1, "x", ((("A",), 2), (("B",), 1)))]},
        {"ew": {"A": 0.1, "B": 0.9}},
    )
    assert read_folder(folder) == expected == read_human(folder)


def test_bad_folders(folder, tmp_path):
    (folder / "outputs/full.parquet").write_text("no parquet", encoding="utf-8")
    with pytest.raises(ValueError, match="full.parquet: not a parquet file"):
        read_folder(folder)
    (folder / "outputs/full.parquet").unlink()
    with pytest.raises(FileNotFoundError):
        read_folder(folder)
    (folder / "judgments/test.parquet").unlink()
    assert not is_built(folder)
    with pytest.raises(ValueError, match="no judgments as parquet"):
        read_folder(folder)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"src_id": 5}, "do not fit together.*5"),  # ids shifted by one
        ({"annotator": None, "groups": [{"systems": ["X"], "rank": 1}]}, "unknown system 'X'"),
        ({"groups": [{"systems": ["A", "B"], "rank": 1}]}, "row 1: A and B share a rank but wrote different texts"),
        ({"groups": [{"systems": ["A"], "rank": 0}]}, "rank 0 of A; ranks count from 1"),
        ({"groups": [{"systems": ["A"]}]}, "do not fit together.*'rank'"),
    ],
)
def test_judgments_that_do_not_fit_are_refused(folder, change, message):
    row = {"src_id": 9, "annotator": "x", "groups": [{"systems": ["A"], "rank": 2}]}
    write(folder / "judgments/test.parquet", [{**row, **change}])
    with pytest.raises(ValueError, match=message):
        read_folder(folder)


def test_outputs_without_a_column_or_a_system_are_refused(folder):
    write(folder / "outputs/full.parquet", [{"src_id": 9, "source": "s"}])
    with pytest.raises(ValueError, match="do not fit together.*'hypotheses'"):
        read_folder(folder)
    both, one = [{"system": "A", "text": "a"}, {"system": "B", "text": "b"}], [{"system": "A", "text": "c"}]
    write(
        folder / "outputs/full.parquet",
        [{"src_id": 9, "source": "s", "hypotheses": both}, {"src_id": 4, "source": "t", "hypotheses": one}],
    )
    with pytest.raises(ValueError, match="do not fit together.*'B'"):
        read_folder(folder)
