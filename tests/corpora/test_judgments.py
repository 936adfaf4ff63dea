"""Reading human judgments: published counts, Appraise's XML, built tables, and every way in which a file is wrong."""

import pyarrow as pa
import pytest
from pyarrow import parquet

from geceval.corpora.judgments import read_human, read_rankings, to_items
from geceval.meta.judgments import HumanData, Item, system_set

OUTPUTS = {"A": ["x", "y"], "B": ["x", "z"], "C": ["w", "y"]}


def read(tmp_path, text, first_line=0):
    """Rows and items of an XML file; `OUTPUTS` has the lines 0 and 1."""
    path = tmp_path / "judgments.xml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    rows = read_rankings(path, first_line=first_line)
    return rows, to_items(rows, path, {0: 0, 1: 1}, OUTPUTS)


def xml(*rankings: str) -> str:
    return f"<appraise-results><result>{''.join(rankings)}</result></appraise-results>"


def ranking(sentence, *translations: tuple[str, object]) -> str:
    inner = "".join(f'<translation system="{system}" rank="{rank}"/>' for system, rank in translations)
    return f'<ranking-item src-id="{sentence}" user="u">{inner}</ranking-item>'


def test_published_counts(shared_data):
    seeda, gjg15 = (read_human(shared_data / name) for name in ("seeda", "gjg15"))
    # Fact sheet, section 1.1: 600 items and 391 sentences; 2,319 items of which 13 are empty.
    assert (len(seeda.sources), len(seeda.judgments["sent"]), len(seeda.judgments["edit"])) == (391, 600, 600)
    assert (len(gjg15.sources), len(gjg15.judgments["all"])) == (1312, 2319 - 13)
    assert seeda.scores["ts_sent"]["REF-F"] == pytest.approx(0.992, abs=5e-4)
    assert (len(system_set(seeda)), len(system_set(seeda, "+INPUT")), len(system_set(gjg15, "all"))) == (12, 13, 13)
    subset = (shared_data / "seeda/outputs/subset/T5.txt").read_text(encoding="utf-8").split("\n")
    assert seeda.outputs["T5"] == [line.rstrip() for line in subset]
    with pytest.raises(ValueError, match="gjg15 has no system set 'base'"):
        system_set(gjg15)


def test_groups_ranks_and_empty_items(tmp_path):
    text = xml(ranking(1, ("A B", 1), ("C", 4)), ranking(2), ranking(2, ("C A", 2)))
    first, second = Item(0, "u", ((("A", "B"), 1), (("C",), 4))), Item(1, "u", ((("C", "A"), 2),))
    assert read(tmp_path, text, first_line=1)[1] == [first, second]


def test_attributes(tmp_path):
    text = (
        '<a><b><ranking-item src-id="1" id="7" user="u" duration="01:02:03.5"><translation system="A B" rank="2"/>'
        '</ranking-item><ranking-item src-id="2" skipped="true"/></b></a>'
    )
    names = ("item", "src_id", "orig_src_id", "orig_id", "annotator", "duration_s", "skipped", "groups")
    assert read(tmp_path, text, first_line=1)[0] == [
        dict(zip(names, (0, 0, 1, "7", "u", 3723.5, False, [{"systems": ["A", "B"], "rank": 2}]), strict=True)),
        dict(zip(names, (1, 1, 2, "", "", None, True, []), strict=True)),
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (xml(ranking(1, ("A B", 1))), "share a rank but wrote different texts.*counted from 0"),
        (xml(ranking(0, ("A", 1), ("X", 2))), "ranking 0: unknown system 'X'"),
        (xml(ranking(0, ("", 1))), "ranking 0: unknown system ''"),
        (xml(ranking(7, ("A", 1))), "ranking 0: there is no sentence 7 .*counted from 0"),
        (xml(ranking("one", ("A", 1))), "not a number"),
        (xml(ranking(0, ("A", "best"))), "not a number"),
        (xml('<ranking-item user="u"/>'), "src-id"),
        (xml('<ranking-item src-id="1" duration="soon"/>'), "must be HH:MM:SS, got 'soon'"),
        (xml(), "holds no ranking"),
        (xml(ranking(0)), "holds no ranking"),
        (xml(ranking(0, ("A", 0))), "ranking 0: rank 0 of A; ranks count from 1"),
        (xml(ranking(0, ("A", 1), ("C", 2), ("A", 3))), "ranking 0: A is ranked twice"),
        ('<!DOCTYPE a SYSTEM "file:///etc/passwd"><a/>', "it has a document type"),
        *((text, "not valid XML") for text in ("", "<a>", b"<a>\xff</a>", b"<a>\x00</a>", "<a>&b;</a>")),
        ('<?xml encoding="x"?><a/>', "not valid XML"),
    ],
)
def test_bad_files_are_named(tmp_path, text, message):
    with pytest.raises(ValueError, match=f"judgments.xml.*{message}"):
        read(tmp_path, text)


def test_neither_a_checkout_nor_built(tmp_path):
    with pytest.raises(ValueError, match="no checkout of SEEDA"):
        read_human(tmp_path)
    with pytest.raises(ValueError, match=r"gone: there is no such folder$"):
        read_human(tmp_path / "gone")


def write(path, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    parquet.write_table(pa.Table.from_pylist(rows), path)


@pytest.fixture
def folder(tmp_path):
    """Tables of GJG15 in parquet; that those of the published files are read like the files is in `test_build.py`."""
    rows = [(4, "s", "a", "b"), (9, "t", "c", "d")]
    outputs = [
        {"src_id": line, "source": source, "hypotheses": [{"system": "A", "text": a}, {"system": "B", "text": b}]}
        for line, source, a, b in rows
    ]
    write(tmp_path / "outputs/full.parquet", outputs)
    groups = [{"systems": ["A"], "rank": 2}, {"systems": ["B"], "rank": 1}]
    judged = [{"src_id": 9, "annotator": "x", "groups": groups}, {"src_id": 4, "annotator": "y", "groups": []}]
    write(tmp_path / "judgments/test.parquet", judged)
    write(tmp_path / "system_scores/test.parquet", [{"system": "A", "ew": 0.1}, {"system": "B", "ew": 0.9}])
    return tmp_path


def test_built_tables(folder):
    outputs, judgments = {"A": ["a", "c"], "B": ["b", "d"]}, {"all": [Item(1, "x", ((("A",), 2), (("B",), 1)))]}
    expected = HumanData("gjg15", ["s", "t"], [4, 9], outputs, judgments, {"ew": {"A": 0.1, "B": 0.9}})
    assert read_human(folder) == expected
    (folder / "outputs/full.parquet").write_text("no parquet", encoding="utf-8")
    with pytest.raises(ValueError, match="full.parquet: not a parquet file"):
        read_human(folder)
    (folder / "outputs/full.parquet").unlink()
    with pytest.raises(FileNotFoundError):
        read_human(folder)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"src_id": 5}, "test.parquet, ranking 0: there is no sentence 5"),  # ids shifted by one
        ({"groups": [{"systems": ["A"]}]}, "do not fit together.*'rank'"),
    ],
)
def test_judgments_that_do_not_fit_are_refused(folder, change, message):
    row = {"src_id": 9, "annotator": "x", "groups": [{"systems": ["A"], "rank": 2}]}
    write(folder / "judgments/test.parquet", [{**row, **change}])
    with pytest.raises(ValueError, match=message):
        read_human(folder)


def test_outputs_without_a_column_or_a_system_are_refused(folder):
    write(folder / "outputs/full.parquet", [{"src_id": 9, "source": "s"}])
    with pytest.raises(ValueError, match="do not fit together.*'hypotheses'"):
        read_human(folder)
    both, one = [{"system": "A", "text": "a"}, {"system": "B", "text": "b"}], [{"system": "A", "text": "c"}]
    rows = [{"src_id": 9, "source": "s", "hypotheses": both}, {"src_id": 4, "source": "t", "hypotheses": one}]
    write(folder / "outputs/full.parquet", rows)
    with pytest.raises(ValueError, match="do not fit together.*'B'"):
        read_human(folder)
