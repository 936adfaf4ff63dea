"""Every function that reads a file or parses a text, on broken and arbitrary input: a result, or one clear message."""

import contextlib
import logging
import re
from functools import partial
from math import isfinite
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import geceval
from geceval.cli.metric_options import parse_value
from geceval.cli.text_files import read_corpus
from geceval.core.files import read_json, read_lines, read_text
from geceval.corpora.judgments import read_human, read_rankings, to_items
from geceval.corpora.parallel import m2_rows
from geceval.corpora.ratings import read_tmu_gfm
from geceval.edits.essays import read_essays, to_sentences
from geceval.edits.m2 import read_m2, references
from geceval.hub.cards import lint_data_card, lint_metric_card, lint_model_card, lint_space_card, read_card
from geceval.meta.scores import read_scores
from geceval.scorers.difficulty.chunk_difficulty import format_difficulty, read_difficulty
from geceval.scorers.judge.session import read_grades
from geceval.scorers.learned.detection import parse_labels
from geceval.text.answer_files import read_answers, read_candidates

SYSTEMS = {"A": ["x", "y"], "B": ["x", "z"]}
LONG_NUMBER = "9" * 5000
NUMBER = "9" * 400

# Pieces of each format, right and wrong, that are put together at random.
M2 = ["S ", "S a b c", "A 0 1|||R:NOUN|||x|||REQUIRED|||-NONE-|||0", "A 1 0|||", "A -1 -1|||noop|||-NONE-|||", "|||"]
M2 += ["REQUIRED|||-NONE-|||1", "\r\n", "\n", "\n\n", "I x", "||", "-NONE-", " ", "A 9 9|||T|||y|||R|||N|||-5", "²"]
XML = ["<a>", "</a>", '<ranking-item src-id="1" user="u">', "</ranking-item>", '<translation system="A B" rank="1"/>']
XML += ['<translation system="A" rank="2"/>', '<ranking-item src-id="2" duration="1:1:nan"/>', "&lt;", "&#0;", "]]>"]
XML += ['<?xml version="1.0" encoding="rot13"?>', "<!DOCTYPE a>", "<!-- ", "<![CDATA[", f'<b c="{NUMBER}"/>']
XML += [f'<ranking-item src-id="1" duration="{NUMBER}:1:1"/>', '<translation system="" rank="-1"/>']
JSON = ["{", "}", "[", "]", ",", ":", '"a"', '"A"', '"text"', '"a b"', '"edits"', '"id"', "1", "-1", "NaN", "1e999"]
JSON += [NUMBER, "null", "true", '"\\ud800"', '"x"', '{"A": 1, "B": 2}', '{"A": [1, 2]}', '"systems": [', "\n"]
JSON += ['{"id": "1", "text": "a b", "edits": [[0, [[0, 1, "x"]]]]}', '{"scores": {"a": 5}}', '{"choices": [{"m": ']
TSV = ["system\tline\tm", "\n", "A\t1\t0.5", "B\t1\t0.25", "A\t2\t1", "B\t2\t0", "\t", "nan", "inf", "\r"]
TSV += ["m_signature", LONG_NUMBER, "A\t0\t1", '"', "\x00"]
CSV = ["source,output,grammer,fluency,meaning,system,ave_g,ave_f,ave_m", "source,output,ave_g,ave_f,ave_m", "\n", '"']
CSV += ['a,b,"1,1,1,1,1","4,4,4,4,4","1,1,1,1,1",smt,1.0,4.0,1.0', "a,b,1,2,3", ",", "nan", "\r", "\x00", "x" * 200_000]
ROWS = ['{"id": 1, "prediction": "a"}', '{"id": "2", "prediction": null}', '{"prediction": "\\ud800"}', "\n", "{}"]
ROWS += ['{"messages": [{"role": "assistant", "content": "a"}]}', '{"choices": [{"message": {}}]}', "[1]", '{"id": [']
ROWS += ['{"prediction": "a", "source": "s", "references": ["r", null]}', '{"prediction": "a", "references": {"a": 1}}']
TABLE = ["id,prediction\n", "id\tprediction\n", "1,a\n", "1\ta\n", '"', "\n", "\r", ",", ";", "\x00", "x" * 200_000]
DIFFICULTY = ["3", "\n", "1 2", "0", " ", "-1", "١", "²", LONG_NUMBER, "1.5", "\t"]
CARD = ["---\n", "a: 1\n", "license: mit\n", "tags: [evaluate]\n", "## X\n", "```", "&a ", "*a", "configs: 3\n"]
CARD += ["!!python/object:os.x {}\n", "title: [\n", "? {a: b}\n: c\n", "1: 2\n"]
PARQUET = ["PAR1", "\x15", "\x00"]
LINES = ["a b", "\n", "\r\n", "\ufeff", "\u2028", "\x00", " ", "é"]


def documents(pieces):
    """Bytes of a file: pieces of a format, arbitrary text among them, now and then cut, in UTF-16 or with noise."""
    text = st.lists(st.one_of(st.sampled_from(pieces), st.text(max_size=5)), max_size=14).map("".join)
    data = text.map(lambda t: t.encode("utf-8", "surrogatepass"))
    noise = st.tuples(data, st.binary(max_size=4), data).map(b"".join)
    other = st.one_of(text.map(lambda t: t.encode("utf-16", "surrogatepass")), data.map(lambda d: b"\xef\xbb\xbf" + d))
    return st.one_of(data, data, data, noise, other, st.binary(max_size=40))


def read_items(path):
    return to_items(read_rankings(path, first_line=1), path, {0: 0, 1: 1}, SYSTEMS)


def read_lists(path):
    return read_candidates(str(path))


def is_finite(rows):
    return all(row["duration_s"] is None or isfinite(row["duration_s"]) for row in rows)


def read_alone(path):
    return read_corpus(str(path), [f"{path.parent}/./f.txt"], [str(path)])


READERS = {  # name: (file, pieces, reader, what holds of a result)
    "core.files.read_text": ("f.txt", LINES, read_text, lambda text: text.encode()),
    "core.files.read_text of gzip": ("f.txt.gz", LINES, read_text, lambda text: text.encode()),
    "core.files.read_json": ("f.json", JSON, read_json, lambda value: True),
    "core.files.read_lines": ("f.txt", LINES, read_lines, lambda lines: all("\n" not in line for line in lines) + 1),
    "edits.m2.read_m2": ("f.m2", M2, read_m2, lambda found: [references(sentence) for sentence in found] or 1),
    "edits.essays.read_essays": ("f.json", JSON, read_essays, lambda essays: to_sentences(essays) or 1),
    "corpora.parallel.m2_rows": ("f.m2", M2, lambda path: m2_rows(path, "x", 1), lambda rows: len(rows) == 1),
    "corpora.judgments.read_rankings": ("f.xml", XML, partial(read_rankings, first_line=0), is_finite),
    "corpora.judgments.to_items": ("f.xml", XML, read_items, lambda items: {i.sentence for i in items} <= {0, 1}),
    "corpora.ratings.read_tmu_gfm": ("f.csv", CSV, read_tmu_gfm, lambda rows: all(isfinite(r.fluency) for r in rows)),
    "scorers.difficulty.chunk_difficulty.read_difficulty": ("f.txt", DIFFICULTY, read_difficulty, format_difficulty),
    "hub.cards.read_card": ("f.md", CARD, read_card, lambda card: isinstance(card.metadata, dict)),
    "corpora.text_files.read_corpus": ("f.txt", LINES, read_alone, lambda c: len(c.sources) == len(c.references)),
    "text.answer_files.read_candidates": ("f.jsonl", ROWS, read_lists, lambda r: len(r[0].texts) == len(r[1])),
    "text.answer_files.read_answers of parquet": ("f.parquet", PARQUET, read_answers, lambda _: True),
}
for kind, pieces in {"tsv": TSV, "json": JSON, "parquet": PARQUET}.items():
    reader = partial(read_scores, systems=SYSTEMS, sentences=2)
    holds = lambda tables: all(isfinite(table.sentences.sum()) for table in tables)  # noqa: E731
    READERS[f"meta.scores.read_scores of {kind}"] = f"f.{kind}", pieces, reader, holds
for kind, pieces in {"jsonl": ROWS, "json": ["[", "]", ",", *ROWS], "csv": TABLE, "tsv": TABLE}.items():
    holds = lambda answers: "\ud800" not in "".join(answers.predictions)  # noqa: E731
    READERS[f"text.answer_files.read_answers of {kind}"] = f"f.{kind}", pieces, read_answers, holds


def check(name, data, folder):
    """A result of which the property holds, or a documented error whose message names the file."""
    file, _, read, holds = READERS[name]
    path = folder / file
    path.write_bytes(data)
    logging.disable()  # what is repaired with a warning is no matter here
    try:
        result = read(path)
    except (ValueError, OSError) as error:
        assert file in str(error), repr(error)
        return
    finally:
        logging.disable(logging.NOTSET)
    assert holds(result) is not False


@pytest.mark.parametrize("name", READERS)
def test_readers(name, tmp_path):
    @given(documents(READERS[name][1]))
    def run(data):
        check(name, data, tmp_path)

    run()


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("corpora.judgments.to_items", f'<ranking-item src-id="0" duration="{NUMBER}:1:1"/>'),
        ("corpora.judgments.to_items", '<ranking-item src-id="0" duration="1:1:nan"/>'),
        ("corpora.judgments.to_items", '<ranking-item src-id="0"><translation system="A" rank="999"/></ranking-item>'),
        ("meta.scores.read_scores of json", f'{{"A": [1, {NUMBER}]}}'),
        ("meta.scores.read_scores of tsv", "system\tline\tm\n"),
        ("core.files.read_json", "[" * 100_000),
        ("core.files.read_text of gzip", b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03"),
    ],
)
def test_what_was_found(name, data, tmp_path):
    file, _, read, _ = READERS[name]
    (tmp_path / file).write_bytes(data if isinstance(data, bytes) else data.encode())
    with pytest.raises((ValueError, OSError), match=file):
        read(tmp_path / file)


VALUES = st.recursive(
    st.one_of(st.none(), st.integers(-3, 3), st.floats(), st.text(max_size=3), st.binary(max_size=2), st.booleans()),
    lambda inner: st.one_of(st.lists(inner, max_size=2), st.dictionaries(st.sampled_from(["system", "a"]), inner)),
    max_leaves=4,
)


@given(st.dictionaries(st.sampled_from(["system", "line", "m", "src_id", "groups"]), VALUES))
def test_tables_of_other_types(tmp_path_factory, row):
    import pyarrow
    from pyarrow import parquet

    folder = tmp_path_factory.mktemp("tables")
    try:
        table = pyarrow.Table.from_pylist([row] * 2)
        parquet.write_table(table, folder / "f.parquet")
    except (pyarrow.ArrowException, OverflowError):
        return
    with contextlib.suppress(ValueError):
        assert read_scores(folder / "f.parquet", SYSTEMS, 1)
    for name in ("outputs/full", "judgments/test", "system_scores/test"):
        path = folder / f"{name}.parquet"
        path.parent.mkdir(exist_ok=True)
        parquet.write_table(table, path)
    with contextlib.suppress(ValueError):
        assert read_human(folder)


@given(documents(CARD))
def test_cards(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("card") / "README.md"
    path.write_bytes(data)
    for lint in (lint_metric_card, lint_model_card, lint_data_card, lint_space_card):
        with contextlib.suppress(ValueError):
            assert all(isinstance(problem, str) for problem in lint(path))


@given(st.one_of(st.lists(st.sampled_from(JSON), max_size=12).map("".join), st.text(max_size=30)))
@example("{" * 20_000)
@example("9" * 5000)
def test_answers_of_models(text):
    with contextlib.suppress(ValueError):
        (grade,) = read_grades(text, ["a"])
        assert grade in range(1, 6)


@given(st.text(max_size=12), st.sampled_from([int, float, bool, str | None, list[int], tuple[float, ...] | None]))
def test_values_of_options(text, annotation):
    with contextlib.suppress(ValueError):
        value = parse_value("x", text, annotation)
        assert value is None or isinstance(value, (int, float, bool, str, list, tuple))


@given(st.lists(st.sampled_from(["C", "I", "0", "1", "99", "R:NOUN", "²", "CORRECT"]), max_size=4), st.integers(0, 4))
@example([LONG_NUMBER], 1)
def test_label_sequences(labels, tokens):
    for classes in (2, 4, 25, 55):
        try:
            ids = parse_labels("ged", "predictions[0]", " ".join(labels), "a " * tokens, classes)
        except ValueError as error:
            assert str(error).startswith("ged: predictions[0] has ")
        else:
            assert len(ids) == tokens and all(0 <= i < classes for i in ids)


# Functions that read or parse, with what tries them instead of this module.
ELSEWHERE = {
    "parse_m2": "read_m2",
    "read_side_by_side": "read_parallel",
    "read_human": "test_tables_of_other_types; a checkout's files: tests/corpora/test_bad_files.py",
    "read_grades": "test_answers_of_models",
    "parse_value": "test_values_of_options",
    "parse_labels": "test_label_sequences",
    "read_parallel": "read_corpus",
    "read_references": "read_corpus",
    "read_reference_columns": "read_corpus, tests/text/test_answer_files.py",
    "read_sources": "read_corpus, read_answers",
    "read_table": "read_answers: it takes out of rows what that gives",
    "read_rows": "read_tmu_gfm",
    "read_edit_labels": "a checkout's files: tests/corpora/test_edit_labels.py",
    "read_csv": "read_tmu_gfm, read_answers",
    "read_domain": "read_tmu_gfm, read_corpus: the rows and texts of GMEG; tests/corpora/test_gmeg.py",
    "read_rated_pairs": "read_tmu_gfm: it makes pairs of what that gives",
    "read_score_files": "read_scores: it checks further what that gives",
    "read_given": "read_corpus, read_candidates",
    "read_counts": "a file that is part of the package",
    "read_likeness": "tests/edits/errant/test_chinese.py: test_a_folder_without_the_data_is_refused",
    "read_config": "tests/faults/test_fault_checkpoints.py",
    "read_head": "tests/faults/test_fault_checkpoints.py",
    "read_weights": "tests/faults/test_fault_checkpoints.py",
    "read_model": "tests/faults/test_fault_checkpoints.py",
    "read_pairs": "a file that the same run has written",
    "read_results": "a file that the same run has written",
    "read_stored": "a file that is part of the package",
}


def test_no_reader_is_left_out():
    package = Path(geceval.__file__).parent
    texts = [path.read_text(encoding="utf-8") for path in package.rglob("*.py") if "assets" not in path.parts]
    found = {name for text in texts for name in re.findall(r"^def ((?:read|parse)_\w+)\(", text, flags=re.MULTILINE)}
    tried = {name.split(" ")[0].rsplit(".", 1)[1] for name in READERS}
    assert len(found) > 20
    assert found - tried == set(ELSEWHERE)


def test_readers_take_no_folder_and_no_device(tmp_path):
    for _, _, read, _ in READERS.values():
        with pytest.raises((ValueError, OSError)):
            read(tmp_path)
