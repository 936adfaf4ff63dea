"""Files of scores: what is written is read again, and every way in which such a file can be wrong."""

import json

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from geceval.meta.scores import MetricScores, read_scores, write_scores

SYSTEMS = ("A", "B-2", "C")
SENTENCES = np.array([[0.1, 1 / 3], [0.5, -2.0], [1e-17, 3.0]])
TABLES = [
    MetricScores("mine", SYSTEMS, SENTENCES, np.array([7.0, 8.0, 9.0]), "mine|beta:0.5"),
    MetricScores("theirs", SYSTEMS, SENTENCES[::-1], np.array([1.0, 2.0, 3.0])),
]


@pytest.mark.parametrize("suffix", ["tsv", "parquet"])
def test_what_is_written_is_read(tmp_path, suffix):
    path = tmp_path / f"scores.{suffix}"
    write_scores(path, TABLES)
    found = read_scores(path, SYSTEMS, 2)
    tables = [(table.metric, table.systems, table.signature) for table in found]
    assert tables == [("mine", SYSTEMS, "mine|beta:0.5"), ("theirs", SYSTEMS, "")]
    for table, expected in zip(found, TABLES, strict=True):
        assert table.sentences.tolist() == expected.sentences.tolist()
        assert table.corpus.tolist() == expected.corpus.tolist()


def test_a_plain_table_of_another_program(tmp_path):
    path = tmp_path / "bleu.tsv"
    path.write_text("line\tsystem\tmine\r\n2\tB-2\t4\r\n1\tA\t1\n1\tB-2\t2\n2\tA\t3\n", encoding="utf-8")
    (found,) = read_scores(path, SYSTEMS, 2)
    assert (found.metric, found.systems, found.sentences.tolist()) == ("mine", ("A", "B-2"), [[1, 3], [2, 4]])
    assert found.corpus.tolist() == [2.0, 3.0]  # no line 0: the means


def test_a_plain_object_is_one_metric_named_like_the_file(tmp_path):
    path = tmp_path / "my-metric.json"
    path.write_text(json.dumps({"C": [1, 2], "A": [3, 5]}), encoding="utf-8")
    (found,) = read_scores(path, SYSTEMS, 2)
    assert (found.metric, found.systems, found.corpus.tolist()) == ("my-metric", ("A", "C"), [4.0, 1.5])


def test_selection_and_aggregation():
    chosen = TABLES[0].select(["C", "A"])
    assert chosen.sentences.tolist() == SENTENCES[[2, 0]].tolist()
    assert chosen.of_systems("corpus") == {"C": 9.0, "A": 7.0}
    assert chosen.of_systems("average") == pytest.approx({"C": 1.5, "A": (0.1 + 1 / 3) / 2})
    with pytest.raises(ValueError, match="mine: no scores of D"):
        chosen.select(["A", "D"])


TSV = "system\tline\tm\nA\t1\t0.5\nA\t2\t0.25\n"


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("s.csv", TSV, "scores are read from .tsv, .json, .parquet, not from '.csv'"),
        ("s.tsv", TSV.replace("A\t", "X\t"), "m: unknown system 'X'; the systems are A, B-2, C"),
        ("s.tsv", TSV + "A\t3\t1\n", "m, A: scores of 3 lines, but the data has 2 sentences"),
        ("s.tsv", TSV.replace("A\t2", "A\t3"), "no score of line 2; lines are 1 to 2"),
        ("s.tsv", TSV.replace("A\t2", "A\t1"), "row 2: m has two scores of A, line 1"),
        ("s.tsv", TSV.replace("0.25", "nan"), "m, A, line 2: the score is nan"),
        ("s.tsv", TSV.replace("0.25", "good"), "row 2: m: 'good' is no number"),
        ("s.tsv", TSV.replace("A\t2", "A\ttwo"), "row 2: line 'two' is no whole number"),
        ("s.tsv", TSV.replace("\t0.25", ""), "line 3: 2 columns, but the header has 3"),
        ("s.tsv", TSV.replace("line", "row"), "no column 'line'"),
        ("s.tsv", "system\tline\nA\t1\n", "holds no metric"),
        ("s.tsv", "", "no column 'system'"),
        ("s.tsv", TSV + "A\t0\tinf\n", "m, A, line 0: the score is inf"),
        ("s.tsv", "system\tline\tm\nA\t0\t1\nA\t1\t2\n", "sentences count from 1, line 0 is the whole corpus"),
        ("s.tsv", "system\tline\tm\tm\nA\t1\t1\t2\nA\t2\t1\t2\n", "two columns are called 'm'"),
        ("s.tsv", TSV.replace("A\t2", "A\t\n\nA\t2"), "line 3: 2 columns, but the header has 3"),
        ("s.json", '{"A": [1, 2], "B-2": [1, 2], "A": [3, 4]}', "an object has 'A' twice"),
        (
            "s.json",
            json.dumps({"systems": [{"system": "A", "metrics": {"m": {"score": 1, "scores": [1, 2]}}}] * 2}),
            "m has scores of A twice",
        ),
        ("s.json", "{", "not valid JSON"),
        ("s.json", "[1]", "expected an object"),
        ("s.json", "{}", "holds no metric"),
        ("s.json", '{"A": 1}', "A: expected a list, one score per sentence"),
        ("s.json", '{"A": [1, null]}', "A, line 2: the score is nan"),
        ("s.json", '{"systems": [{"metrics": {}}]}', "entry 1 of systems"),
        ("s.json", '{"systems": [{"system": "A", "metrics": {"m": {"score": 1}}}]}', "geceval score --sentence writes"),
        ("s.parquet", "no parquet", "not a parquet file"),
    ],
)
def test_bad_files_are_named(tmp_path, name, text, message):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError) as error:
        read_scores(path, SYSTEMS, 2)
    assert message in str(error.value) and str(path) in str(error.value)


def test_an_unknown_suffix_is_not_written(tmp_path):
    with pytest.raises(ValueError, match="end the name in one of them"):
        write_scores(tmp_path / "scores.txt", TABLES)


@pytest.mark.parametrize("line", [1.5, float("inf")])
def test_lines_are_whole_numbers_in_parquet_too(tmp_path, line):
    path = tmp_path / "s.parquet"
    parquet.write_table(pa.table({"system": ["A", "A"], "line": [line, 2.0], "m": [0.5, 0.25]}), path)
    with pytest.raises(ValueError, match=f"row 1: line {line} is no whole number"):
        read_scores(path, SYSTEMS, 2)


def test_a_missing_parquet_file_and_a_folder_are_os_errors_that_say_so(tmp_path):
    with pytest.raises(FileNotFoundError) as error:
        read_scores(tmp_path / "none.parquet", SYSTEMS, 2)
    assert error.value.strerror == "No such file or directory"
    (tmp_path / "folder.parquet").mkdir()
    with pytest.raises(IsADirectoryError):
        read_scores(tmp_path / "folder.parquet", SYSTEMS, 2)
