"""The published files become folders that `datasets` loads; counts are those of the published files."""

import json
import os
import shutil

import datasets
import pyarrow.parquet
import pytest

from geceval.corpora import parallel
from geceval.corpora.build import build
from geceval.corpora.catalogue import DATA_SETS
from geceval.corpora.folder import Config, write_folder
from geceval.corpora.judgments import read_human


@pytest.fixture(scope="module")
def built(shared_data, tmp_path_factory):
    """A function that builds a data set once and returns its folder."""
    root = tmp_path_factory.mktemp("built")
    names = {"conll13": "conll2013", "conll14": "conll2014", "tmu_gfm": "tmu-gfm"}

    def build_once(name):
        if not (root / name).is_dir():
            options = {}
            if name in ("seeda", "gjg15"):
                options["gold_m2"] = shared_data / "conll2014" / "official-2014.combined.m2"
            build(name, shared_data / names.get(name, name), root / name, **options)
        return root / name

    return build_once


@pytest.fixture
def load(built, tmp_path):
    def load(name, *config, split):
        return datasets.load_dataset(str(built(name)), *config, split=split, cache_dir=str(tmp_path))

    return load


def test_seeda(load):
    judgments = load("seeda", "judgments_sent", split="test")
    columns = ["item", "src_id", "orig_src_id", "orig_id", "annotator", "duration_s", "skipped", "groups"]
    assert judgments.column_names == columns
    assert judgments[0]["groups"][0] == {"systems": ["T5", "Riken-Tohoku"], "rank": 2}  # the first lines of the file
    assert (judgments[0]["src_id"], judgments[0]["orig_src_id"], judgments[0]["orig_id"]) == (11, 12, "1")
    assert judgments[0]["duration_s"] == pytest.approx(121.519)
    assert judgments["item"][:] == list(range(600))
    assert (len(load("seeda", split="test")), len(load("seeda", "judgments_edit", split="test"))) == (600, 600)
    scores = load("seeda", "system_scores", split="test")
    assert scores["position"][:] == list(range(15))
    published = {"ew_sent": 0.781, "ew_edit": 0.792, "ts_sent": 0.743, "ts_edit": 0.583}
    assert scores[4] == {"system": "GPT-3.5", "position": 4, "kind": "llm", **published, "sets": ["+fluency", "all"]}


def test_outputs_and_references(load):
    full, subset = (load("seeda", "outputs", split=split) for split in ("full", "subset"))
    assert (len(full), len(subset)) == (1312, 391)
    by_line = {row["src_id"]: row for row in full}
    assert all(row == by_line[row["src_id"]] for row in subset)
    # Fact sheet, section 1.2: 365 and 270 corrected texts of the two annotators equal the source.
    same = [sum(row["references"][annotator] == row["source"] for row in full) for annotator in (0, 1)]
    assert same == [365, 270]
    assert {"system": "INPUT", "text": full[7]["source"]} in full[7]["hypotheses"]
    assert load("gjg15", "outputs", split="full")["source"][:] == full["source"][:]


def test_gjg15(load):
    judgments = load("gjg15", "judgments", split="test")
    assert len(judgments) == 2319
    empty = [row for row in judgments if not row["groups"]]
    assert (len(empty), sum(row["skipped"] for row in judgments)) == (13, 13)  # fact sheet, section 1.1
    assert (judgments[0]["src_id"], judgments[0]["orig_src_id"]) == (135, 135)
    scores, nus = (load("gjg15", name, split="test") for name in ("system_scores", "system_scores_nus"))
    assert (scores["system"][0], scores["ew"][0], scores["kind"][10]) == ("AMU", 0.628, "input")
    others = [row["system"] for row, other in zip(scores, nus, strict=True) if row["ew"] != other["ew"]]
    assert others == ["CUUI", "INPUT"]


@pytest.mark.parametrize("name", ["seeda", "gjg15", "gmeg"])
def test_judgments_read_back_are_those_of_the_checkout(built, shared_data, name):
    assert read_human(built(name)) == read_human(shared_data / name)


@pytest.mark.parametrize(
    ("name", "config", "sizes"),
    [
        ("conll13", "revised", {"test": 1381}),
        ("conll13", "original", {"test": 1381}),
        ("conll14", "noalt", {"test": 1312}),
        ("conll14", "alt", {"test": 1312}),
        ("cweb", "cweb_g", {"validation": 3867, "test": 3981}),
        ("cweb", "cweb_s", {"validation": 2862, "test": 2864}),
        ("jfleg", "default", {"validation": 754, "test": 747}),
        ("tmu_gfm", "default", {"train": 4221}),
    ],
)
def test_sizes(built, tmp_path, name, config, sizes):
    found = datasets.load_dataset(str(built(name)), config, cache_dir=str(tmp_path))
    assert {split: len(rows) for split, rows in found.items()} == sizes


def test_edits_carry_what_the_file_says_of_them(tmp_path):
    path = tmp_path / "f.m2"
    path.write_text(
        "S She go home\n"
        "A 1 2|||R:VERB|||goes|||REQUIRED|||agreement|||1\n"
        "A -1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||0\n"
        "A 1 2|||R:VERB|||goes||went|||OPTIONAL|||-NONE-|||1\n"
        "A 2 3|||U:NOUN||||||OPTIONAL||||||2\n\n",
        encoding="utf-8",
    )
    (row,) = parallel.m2_rows(path, "mine", 1, "ABCN")
    assert row["meta"]["corpus"] == "ABCN"
    fields = ("annotator", "start", "correction", "required", "comment")
    assert [tuple(edit[field] for field in fields) for edit in row["edits"]] == [
        (1, 1, "goes", "REQUIRED", "agreement"),
        (1, 1, "goes||went", "OPTIONAL", "-NONE-"),
        (2, 2, "", "OPTIONAL", ""),
    ]
    references = {1: "She goes home", 0: "She go home", 2: "She go"}
    assert dict(zip(row["annotators"], row["references"], strict=True)) == references


def test_cweb_annotators(load):
    # Fact sheet, section 9: noops of CWEB-S dev 4,483; a noop is an annotator without an edit.
    rows = load("cweb", "cweb_s", split="validation")
    assert sum(len({*row["annotators"]} - {edit["annotator"] for edit in row["edits"]}) for row in rows) == 4483


def test_jfleg(load):
    rows = load("jfleg", split="test")
    assert rows[0]["annotators"] == [0, 1, 2, 3]
    assert (rows[0]["edits"], rows[0]["spellchecked"]) == ([], None)
    assert len(rows[0]["references"]) == 4


def test_tmu_gfm(load):
    row = load("tmu_gfm", split="train")[0]
    assert (row["systems"], row["grammaticality"]) == (["lstm", "cnn"], [3, 4, 3, 4, 3])
    assert row["ave_m"] == pytest.approx(3.6)


def test_fce_from_json(shared_data, tmp_path):
    lines = (shared_data / "fce" / "fce-dev.json").read_text(encoding="utf-8").split("\n")[:2]
    (tmp_path / "few.json").write_text("\n".join(lines), encoding="utf-8")
    rows = parallel.essay_rows(tmp_path / "few.json", "fce.dev", 2)
    assert rows[3]["meta"] == {"corpus": "fce", "doc": json.loads(lines[0])["id"]}
    (edit,) = rows[3]["edits"]
    assert (edit["start"], edit["end"], edit["correction"], edit["type"][:2]) == (3, 4, "received", "R:")
    assert rows[3]["references"] == [rows[3]["source"].replace("recieved", "received")]


def test_folders_have_the_mode_that_the_user_wants(tmp_path):
    schema = pyarrow.schema({"source": pyarrow.string()})
    before = os.umask(0o027)
    try:
        write_folder(tmp_path / "notes", [Config("all", schema, {"test": [{"source": "a"}]})], "card")
    finally:
        os.umask(before)
    modes = {path.stat().st_mode & 0o777 for path in ((tmp_path / "notes"), *(tmp_path / "notes").rglob("*"))}
    assert modes == {0o750, 0o640}


def test_files_are_plain(built):
    """What datasets 5 writes into the schema, version 3 cannot read."""
    for path in built("seeda").rglob("*.parquet"):
        assert b"huggingface" not in (pyarrow.parquet.read_schema(path).metadata or {})


def test_the_card_says_where_texts_and_references_come_from(built):
    card = (built("jfleg") / "README.md").read_text(encoding="utf-8")
    assert "license: cc-by-nc-sa-4.0" in card
    assert DATA_SETS["jfleg"].url in card
    assert "path: default/validation.parquet" in card
    card = (built("gjg15") / "README.md").read_text(encoding="utf-8")
    assert "References: all annotators of `official-2014.combined.m2`" in card


@pytest.fixture
def seeda_copy(shared_data, tmp_path):
    return shutil.copytree(shared_data / "seeda", tmp_path / "copy")


@pytest.mark.parametrize(
    ("file", "change", "message"),
    [
        ("scores/human/EW_sent.txt", ("0.363", "0.365"), "EW_sent.txt: published Expected Wins of BART are 0.365"),
        ("data/judgments_sent.xml", ('user="annotator1"', 'user="annotator7"'), "4 annotators, but .* has 3"),
        ("data/judgments_sent.xml", ('rank="1"', 'rank="4"'), "published Expected Wins of"),
        ("outputs/subset/T5.txt", ("a", "b"), "T5.txt: not the judged lines of outputs/all/T5.txt"),
    ],
)
def test_files_that_were_changed(seeda_copy, tmp_path, file, change, message):
    text = (seeda_copy / file).read_text(encoding="utf-8")
    assert change[0] in text
    count = -1 if file.endswith("xml") and "rank" in change[0] else 1
    (seeda_copy / file).write_text(text.replace(*change, count), encoding="utf-8")
    with pytest.raises(ValueError, match=message):
        build("seeda", seeda_copy, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_the_wrong_m2_file(shared_data, tmp_path):
    with pytest.raises(ValueError, match="1,381 sentences, but the published file has 1,312"):
        gold_m2 = shared_data / "conll2013" / "official-preprocessed.m2"
        build("gjg15", shared_data / "gjg15", tmp_path / "out", gold_m2=gold_m2)
