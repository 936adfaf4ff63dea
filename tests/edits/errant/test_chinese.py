"""ChERRANT at character level: the authors' demo, and a slow implementation of the description."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import geceval
from geceval.edits.edit import Edit, apply
from geceval.edits.errant.annotator import get_annotator

pytest.importorskip("opencc", reason="the extra zh is not installed")
pytest.importorskip("pypinyin", reason="the extra zh is not installed")

from geceval.edits.errant.dynamic_programme import Table  # noqa: E402
from geceval.edits.errant.languages import chinese  # noqa: E402


@pytest.fixture(scope="module")
def annotator():
    return get_annotator(language="zh")


def slow_paths(source, corrected, cost):
    """All cheapest alignments, by the description: a table of costs, then every way back."""
    table, ways = {}, {}
    for i in range(len(source) + 1):
        for j in range(len(corrected) + 1):
            if not (i and j):
                table[i, j], ways[i, j] = float(i + j), [("D", 1, 0)] if i else [("I", 0, 1)] if j else []
                continue
            if source[i - 1] == corrected[j - 1]:
                table[i, j], ways[i, j] = table[i - 1, j - 1], [("M", 1, 1)]
                continue
            options = []
            for k in range(1, min(i, j)):
                if table[i - k, j - k] == table[i - k - 1, j - k - 1]:
                    break
                if sorted(source[i - k - 1 : i]) == sorted(corrected[j - k - 1 : j]):
                    options.append((table[i - k - 1, j - k - 1] + k, ("T", k + 1, k + 1)))
                    break
            options.append((table[i - 1, j - 1] + cost(source[i - 1], corrected[j - 1]), ("S", 1, 1)))
            options += [(table[i, j - 1] + 1, ("I", 0, 1)), (table[i - 1, j] + 1, ("D", 1, 0))]
            table[i, j] = min(option[0] for option in options)
            ways[i, j] = [way for value, way in options if value == table[i, j]]

    def back(i, j):
        if not (i or j):
            yield []
        for name, rows, columns in ways[i, j]:
            for earlier in back(i - rows, j - columns):
                yield [*earlier, (name, i - rows, i, j - columns, j)]

    paths = list(back(len(source), len(corrected)))
    return paths[:1] if abs(len(source) - len(corrected)) > 10 else paths


texts = st.text("天地人，。的了是", max_size=9)


@settings(max_examples=150, deadline=None)
@given(texts, texts)
def test_alignments_are_those_of_the_description(source, corrected):
    likeness = chinese.Likeness("invented", {"天": "Ab01", "地": "Ab02", "人": "Bc01"}, {"的": frozenset("是")})
    costs = np.array([[likeness.cost(old, new) for new in corrected] for old in source])
    table = Table(source, corrected, costs, (source, corrected))
    paths = [[tuple(step) for step in path] for path in table.paths(one=abs(len(source) - len(corrected)) > 10)]
    assert table.count() == len(paths) or abs(len(source) - len(corrected)) > 10
    assert paths == slow_paths(source, corrected, likeness.cost)


@settings(max_examples=150, deadline=None)
@given(st.text("天地人，的", min_size=1, max_size=12), st.text("天地人，的", min_size=1, max_size=12))
def test_every_alternative_makes_the_corrected_text(source, corrected):
    annotator = get_annotator(language="zh")
    source, corrected = " ".join(source), " ".join(corrected)
    for edits in annotator.alternatives(source.split(), corrected.split()):
        assert apply(source, edits) == corrected
    (first,) = annotator.edits([(source, corrected)])
    assert apply(source, first) == corrected


def test_costs_of_a_substitution():
    """Classes that agree in two parts of three: 2/6; then .25, .499 or 0 for marks, and .5 unless they sound alike."""
    likeness = chinese.Likeness("invented", {"天": "Ab01", "地": "Ab02"}, {"的": frozenset("是")})
    costs = {"天地": 2 / 6 + 0.25 + 0.5, "的是": 4 / 6 + 0.25, "，。": 4 / 6 + 0.5, "人。": 4 / 6 + 0.499 + 0.5}
    assert {pair: likeness.cost(*pair) for pair in costs} == pytest.approx(costs)


def test_alternatives_are_pooled_only_on_request(annotator):
    source, corrected = " ".join("我的中国"), " ".join("中国的人我")
    (pooled,) = annotator.edits([(source, corrected)], pooled=True)
    (first,) = annotator.edits([(source, corrected)])
    assert first == [edit for edit in pooled if edit.annotator == 0]


def test_types_for_edits_made_by_hand(annotator):
    edits = [Edit(0, 1, ""), Edit(1, 3, "国 中"), Edit(3, 3, "人"), Edit(3, 4, "的")]
    (typed,) = annotator.classify([("我 中 国 了", edits)])
    assert [edit.type for edit in typed] == ["R", "W", "M", "S"]


def test_a_folder_without_the_data_is_refused(tmp_path):
    with pytest.raises(ValueError, match="holds neither cilin.txt nor confusion_dict.txt.* git clone"):
        get_annotator(str(tmp_path), "zh")


def test_a_sentence_that_nobody_could_correct_is_skipped():
    columns = {"sources": ["我爱你", "他去"], "predictions": ["我爱他", "他走"]}
    columns["references"] = [["无法标注"], ["没有错误"]]
    result = geceval.load("errant", language="zh").compute(**columns)
    assert (result["tp"], result["fp"], result["fn"]) == (0, 1, 0)
    assert "|nlp:none|language:zh|" in result["signature"] and "|opencc:" in result["signature"]


def test_the_demo_of_the_authors_byte_for_byte(shared_data, tmp_path, capsys):
    """Its edits, and TP 8, FP 19, FN 35, .2963 .1860 .2649 (MuCGEC@3922193); the same without the thesaurus."""
    from geceval.cli.app import run

    folder = shared_data / "mucgec"
    rows = [line.split("\t") for line in (folder / "samples/demo.hyp.para").read_text("utf-8").splitlines()]
    for name, column in (("source", 1), ("corrected", 2)):
        (tmp_path / name).write_text("".join(f"{row[column]}\n" for row in rows), encoding="utf-8")
    files = [str(tmp_path / name) for name in ("source", "corrected")]
    assert run(["convert", *files, "--to", "m2", "--language", "zh", "--nlp", str(folder)]) == 0
    assert capsys.readouterr().out == (folder / "samples/demo.hyp.m2.char").read_text("utf-8")

    gold = folder / "samples/demo.ref.m2.char"  # one of its sources has another colon
    texts = [[text.replace("：", ":") for text in row] for row in rows]
    columns = {"sources": [row[1] for row in texts], "predictions": [row[2] for row in texts]}
    for nlp in (str(folder), "bundled"):
        result = geceval.load("errant", language="zh", nlp=nlp, gold_m2=str(gold)).compute(**columns)
        assert (result["tp"], result["fp"], result["fn"]) == (8, 19, 35)
    assert [round(result[name], 4) for name in ("precision", "recall", "f")] == [0.2963, 0.1860, 0.2649]
