"""Files of answers: each answer stands beside its source, or an error says why it cannot."""

import csv
import gzip
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import geceval
from geceval.cli.text_files import read_corpus

SOURCES = ["He go home .", "She have two dog .", "I likes it ."]
ANSWERS = ["He goes home .", "She has two dogs .\n\nI changed two words.", "I like it ."]
REFERENCES = [["He goes home .", "He went home ."], ["She has two dogs ."], ["I like it ."]]
ROWS = [
    {"id": number, "source": source, "prediction": answer, "references": references}
    for number, (source, answer, references) in enumerate(zip(SOURCES, ANSWERS, REFERENCES, strict=True), start=7)
]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("source.txt").write_text("".join(f"{line}\n" for line in SOURCES), encoding="utf-8")
    return tmp_path


def write(name, rows, end="\n"):
    Path(name).write_text(end.join(json.dumps(row) for row in rows) + end, encoding="utf-8")
    return name


def write_csv(name, rows, delimiter=","):
    with Path(name).open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, delimiter=delimiter).writerows(rows)
    return name


def chat(source, answer):
    return [
        {"role": "system", "content": "You correct errors."},
        {"role": "user", "content": "a b"},
        {"role": "assistant", "content": "a c"},
        {"role": "user", "content": f"Correct this: {source}"},
        *([{"role": "assistant", "content": answer}] if answer is not None else []),
    ]


def completion(answer):
    return {"id": "chatcmpl-1", "choices": [{"index": 0, "message": {"role": "assistant", "content": answer}}]}


SHAPES = {
    "text": lambda source, answer: {"prediction": answer},
    "synonym": lambda source, answer: {"Output": answer, "model": "m"},
    "white space around it": lambda source, answer: {"response": f" {answer}\n"},
    "messages": lambda source, answer: {"messages": chat(source, answer)},
    "completion": lambda source, answer: completion(answer),
    "several generations": lambda source, answer: {"prediction": [{"generated_text": answer}]},
    "parts of content": lambda source, answer: {"prediction": {"content": [{"type": "text", "text": answer}]}},
    "batch of one service": lambda source, answer: {"response": {"status_code": 200, "body": completion(answer)}},
    "batch of another": lambda source, answer: {
        "result": {"type": "succeeded", "message": {"content": [{"type": "text", "text": answer}]}}
    },
}


@pytest.mark.parametrize("shape", SHAPES)
def test_shapes_of_rows(shape):
    rows = [SHAPES[shape](*pair) for pair in zip(SOURCES, ANSWERS, strict=True)]
    assert geceval.read_answers(write("a.jsonl", rows), "source.txt").predictions == ANSWERS


def test_kinds_of_files():
    import datasets

    data = datasets.Dataset.from_list(ROWS)
    data.save_to_disk("saved")
    datasets.DatasetDict({"test": data}).save_to_disk("splits")
    data.to_parquet("a.parquet")
    Path("a.json").write_text(json.dumps(ROWS, indent=1), encoding="utf-8")
    Path("bom.jsonl").write_bytes(b"\xef\xbb\xbf" + "\r\n".join(map(json.dumps, ROWS)).encode())
    Path("a.jsonl.gz").write_bytes(gzip.compress("\n\n".join(map(json.dumps, ROWS)).encode()))
    for name in ("saved", "splits/test", "a.parquet", "a.json", "bom.jsonl", "a.jsonl.gz", write("a.ndjson", ROWS)):
        answers = geceval.read_answers(name)
        assert (answers.sources, answers.predictions, answers.references) == (SOURCES, ANSWERS, REFERENCES), name
        assert answers.ids == ["7", "8", "9"] and answers.empty == []
    with pytest.raises(ValueError, match="^splits holds several data sets; pass one: splits/test$"):
        geceval.read_answers("splits")


@pytest.mark.parametrize(("name", "delimiter"), [("a.csv", ","), ("a.csv", ";"), ("a.tsv", "\t")])
def test_columns(name, delimiter):
    rows = [["id", "gpt, 4", "prediction"], *([str(n), a, "x"] for n, a in enumerate(ANSWERS))]
    if delimiter == ";":
        rows[0][1] = "gpt"
    write_csv(name, rows, delimiter)
    assert geceval.read_answers(f"{name}:{rows[0][1]}", SOURCES).predictions == ANSWERS  # line breaks within quotes
    assert geceval.read_answers(name, SOURCES).predictions == ["x"] * 3
    with pytest.raises(ValueError, match=rf"^{name}: no column 'predictoin' .*; did you mean 'prediction'\?$"):
        geceval.read_answers(f"{name}:predictoin", SOURCES)


def test_an_only_column_has_empty_answers():
    Path("a.csv").write_text("prediction\na\n\nb\n", encoding="utf-8")
    assert geceval.read_answers("a.csv").predictions == ["a", "", "b"]


@given(st.permutations(range(12)), st.permutations(range(12)), st.sampled_from(["{}", "a-{}", "{}.x"]))
def test_ids_undo_any_order(tmp_path_factory, left, right, name):
    folder = tmp_path_factory.mktemp("orders")
    sources = write(folder / "s.jsonl", [{"id": name.format(n), "source": f"s {n}"} for n in left])
    rows = [{"id": name.format(n), "prediction": f"p {n}", "references": [f"r {n}"] * (1 + n % 2)} for n in right]
    path = write(folder / "p.jsonl", rows)
    corpus = read_corpus(str(sources), [str(path)], [str(path)])
    assert corpus.sources == [f"s {n}" for n in left]
    assert corpus.systems == {"p": [f"p {n}" for n in left]}
    assert [[text for text in row if text] for row in corpus.references] == [[f"r {n}"] * (1 + n % 2) for n in left]


@given(st.permutations(range(12)), st.sampled_from([0, 1]), st.sampled_from(["{}", "request-{}"]))
def test_ids_that_count_rows(tmp_path_factory, order, first, name):
    rows = [{"custom_id": name.format(n + first), "id": "x", "prediction": f"p {n}"} for n in order]
    path = write(tmp_path_factory.mktemp("orders") / "p.jsonl", rows)
    assert geceval.read_answers(path, ["s"] * 12).predictions == [f"p {n}" for n in range(12)]
    assert geceval.read_answers(path).predictions == [f"p {n}" for n in range(12)]


def test_ids_that_do_not_count_keep_the_order():
    for ids in (["9", "7", "5"], ["a3", "b2", "c1"], ["b", "a", "c"]):
        rows = [{"id": key, "prediction": answer} for key, answer in zip(ids, ANSWERS, strict=True)]
        assert geceval.read_answers(write("a.jsonl", rows), SOURCES).predictions == ANSWERS


def test_rows_beyond_the_sources_are_left_out(caplog):
    write("s.jsonl", ROWS[1:])
    assert geceval.read_answers(write("a.jsonl", ROWS), "s.jsonl").predictions == ANSWERS[1:]
    assert caplog.messages == ["a.jsonl: 1 id (7) not in s.jsonl, left out"]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (ROWS[:2], r"a\.jsonl: no row for 1 id \(9\) of s\.jsonl; add rows"),
        ([*ROWS, ROWS[0]], r"1 id \(7\) in several rows; keep one row of each$"),
        ([{**row, "id": f"x{row['id']}"} for row in ROWS], r"no row for 3 ids \(7, 8, 9\)"),
        ([*ROWS[:2], {"id": 9, "output": "x"}], r"a\.jsonl, line 3: no 'prediction', which other rows have"),
        ([*ROWS[:2], {"prediction": "x"}], r"a\.jsonl, line 3: no 'id', which other rows have"),
        ([*ROWS[:2], {**ROWS[2], "id": 9.0}], r"a\.jsonl, line 3: the id must be text or a whole number, got 9\.0"),
        ([*ROWS[:2], {**ROWS[2], "prediction": 3}], r"a\.jsonl, line 3: expected a text, .*, got 3"),
        ([*ROWS[:2], {**ROWS[2], "prediction": ["a", "b"]}], r"line 3: expected a text, .*, got \['a', 'b'\]"),
        ([*ROWS[:2], {**ROWS[2], "prediction": "\ud800"}], r"a\.jsonl, line 3: half a surrogate pair"),
        ([*ROWS[:2], {**ROWS[2], "source": "Another."}], r"line 3: its source is 'Another\.', and that of s\.j"),
        ([*ROWS[:2], ["x"]], r"a\.jsonl, line 3: expected one object a line"),
        ([{"id": n, "text": ""} for n in (7, 8, 9)], r"no column 'prediction' with the answers, of 'id', 'text'; na"),
        ([{"output": "", "answer": ""}] * 3, r"'output' and 'answer' may be the answers"),
    ],
)
def test_what_does_not_fit(rows, message):
    write("s.jsonl", ROWS)
    with pytest.raises(ValueError, match=message):
        geceval.read_answers(write("a.jsonl", rows), "s.jsonl")


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("a.jsonl", b'{"id": 1}\n{"id": \n', r"^a\.jsonl, line 2: not valid JSON .*; expected one object a line"),
        ("a.jsonl", '{"prediction": "é"}\n'.encode("latin-1"), r"^a\.jsonl, line 1: not valid UTF-8"),
        ("a.jsonl", b"\n", r"^a\.jsonl has no rows$"),
        ("a.csv", b"id,prediction\n1,a\n2,b,c\n", r"^a\.csv, line 3: 3 columns, expected 2$"),
        ("a.csv", b'id,prediction\n1,"a" b\n', r"^a\.csv, line 2: not CSV .*; write a text with quotation marks"),
        ("a.csv", b"id,id\n1,a\n", r"^a\.csv, line 1: 2 columns, expected different names$"),
        ("a.parquet", b"PAR1", r"a\.parquet"),
    ],
)
def test_broken_files(name, data, message):
    Path(name).write_bytes(data)
    with pytest.raises(ValueError, match=message):
        geceval.read_answers(name)


def test_other_orders_without_ids_are_refused():
    rows = [{"messages": chat(*pair)} for pair in zip(SOURCES, ANSWERS, strict=True)]
    told = r"^a\.jsonl, line 1: its source is 'Correct this: I likes it \.', and that of"
    with pytest.raises(ValueError, match=told):
        geceval.read_answers(write("a.jsonl", rows[::-1]), "source.txt")


def test_sources_in_other_marks_are_the_same():
    rows = [{"source": "“Yes” (he said).", "prediction": "a"}, {"source": "Correct: ...", "prediction": "b"}]
    sources = ["`` Yes '' ( he said ) .", "..."]
    assert geceval.read_answers(write("a.jsonl", rows), sources).predictions == ["a", "b"]


def test_refusals_are_counted(caplog):
    answers = ["I'm sorry, but I cannot assist with that request.", *ANSWERS[1:]]
    read = geceval.read_answers(write("a.jsonl", [{"prediction": answer} for answer in answers]), SOURCES)
    assert (read.predictions, read.refusals, read.empty) == (answers, [0], [])
    assert caplog.messages == ["a.jsonl: answers that are refusals, which stay: 1 row (1)"]


def test_empty_answers_stay(caplog):
    answers = ["", None, "x", "y", *[""] * 5]
    rows = [{"id": f"r{n}", "prediction": answer} for n, answer in enumerate(answers)]
    read = geceval.read_answers(write("a.jsonl", rows), [*["s"] * 8, ""])
    assert read.predictions == ["", "", "x", "y", "", "", "", "", ""]
    assert read.empty == [0, 1, 4, 5, 6, 7]  # nothing is missing from the last, whose source is empty
    assert caplog.messages == ["a.jsonl: answers that are empty: 6 rows (1, 2, 5, 6, 7, ...)"]
    rows = [{"messages": chat("s", None)}, {"messages": chat("s", "t")}]
    assert geceval.read_answers(write("b.jsonl", rows), ["s", "s"]).predictions == ["", "t"]  # not the example's answer
    failed = [{"response": {"body": {"error": "no such model"}}}, {"response": None}, {"response": completion(None)}]
    assert geceval.read_answers(write("c.jsonl", failed), ["s"] * 3).predictions == [""] * 3


def test_lines_are_read_as_ever(caplog):
    Path("dataset_info.json").write_text("{}", encoding="utf-8")  # in a folder that `datasets` saved
    Path("out.txt").write_text('{"id": 1}\n  a \n\n', encoding="utf-8")
    assert geceval.read_answers("out.txt", "source.txt").predictions == ['{"id": 1}', "  a", ""]
    assert not caplog.messages
    with pytest.raises(FileNotFoundError, match=r"nothing\.txt"):
        geceval.read_answers("nothing.txt", "source.txt")


def test_the_command_line_takes_any(capsys):
    from geceval.cli.app import run

    write("all.jsonl", ROWS)
    write_csv("a.csv", [["gpt", "llama"], *([answer, source] for answer, source in zip(ANSWERS, SOURCES, strict=True))])
    words = "score -m gleu -s all.jsonl -p all.jsonl a.csv:gpt a.csv:llama -r all.jsonl --format json --quiet"
    assert run(words.split()) == 0
    systems = json.loads(capsys.readouterr().out)["systems"]
    scores = {system["system"]: system["metrics"]["gleu"]["score"] for system in systems}
    assert scores["all"] == scores["a.csv:gpt"] > scores["a.csv:llama"]
    signatures = {system["metrics"]["gleu"]["signature"] for system in systems}
    assert all("|text:answers|" in signature for signature in signatures)
    words = "score -m gleu -s all.jsonl -p all.jsonl -r all.jsonl -o text=tokens --quiet"
    assert run(words.split()) == 0
    assert "|text:tokens|" in capsys.readouterr().out


def test_one_text_for_several_sentences(caplog):
    essays = ["He goes home. She has two dogs, and", "I like it."]
    sources = ["He go home .", "She have two dog .", "And I likes it ."]
    Path("essays.txt").write_text("".join(f"{line}\n" for line in essays), encoding="utf-8")
    read = geceval.read_answers("essays.txt", sources)
    assert read.predictions == ["He goes home.", "She has two dogs,", "and\nI like it."]
    assert caplog.messages == ["essays.txt: 2 lines cut where the sentences of sources end; without a text: no line"]
    rows = [{"id": name, "prediction": text} for name, text in zip("ab", essays, strict=True)]
    assert geceval.read_answers(write("a.jsonl", rows), sources).predictions == read.predictions


@pytest.mark.parametrize(
    ("path", "sources", "message"),
    [
        (None, None, "read_answers: path must name a file, got NoneType"),
        ("source.txt", 3, "read_answers: sources must be a list of strings, got int"),
        ("source.txt", [*SOURCES[:2], None], r"read_answers: sources\[2\] must be a string, got None"),
    ],
)
def test_what_is_no_path_and_no_texts(path, sources, message):
    with pytest.raises(TypeError, match=message):
        geceval.read_answers(path, sources)


def test_a_file_that_was_cut_off_is_no_essay():
    sources = [f"This is sentence number {n} of the text ." for n in range(20)]
    Path("out.txt").write_text("".join(f"{line}\n" for line in sources[:9]), encoding="utf-8")
    with pytest.raises(ValueError, match=r"^out\.txt has 9 lines but sources has 20; they must be parallel$"):
        geceval.read_answers("out.txt", sources)


def test_essays_in_markdown_are_matched_by_id(caplog):
    essay = "### essay_id = {}\n\n{}\n\n"
    Path("orig.md").write_text(essay.format("a", "He go home.\n\nI stay.") + essay.format("b 2", "No."), "utf-8")
    Path("hyp.md").write_text(essay.format("a", "He goes home.\n\nI stay."), "utf-8")
    Path("ref.md").write_text(essay.format("b 2", "No!") + essay.format("a", "He goes home. I stay."), "utf-8")
    corpus = read_corpus("orig.md", ["hyp.md"], ["ref.md"])
    assert corpus.sources == ["He go home. I stay.", "No."]
    assert corpus.systems == {"hyp": ["He goes home. I stay.", "!"]}
    assert corpus.references == [["He goes home. I stay."], ["No!"]]
    assert caplog.messages == ["hyp.md lacks 1 essay (b 2) of orig.md; '!' stands in"]
    assert read_corpus("orig.md", ["hyp.md"], ["ref.md", "hyp.md"]).references[1] == ["No!", None]
