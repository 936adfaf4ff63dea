"""Reading human judgments: the published files' counts, and every way in which a file can be wrong."""

from __future__ import annotations

import pytest

from geceval.meta.judgments.data import system_set
from geceval.meta.judgments.readers import read_gjg15, read_human, read_judgments, read_seeda, read_system_scores

OUTPUTS = {"A": ["x", "y"], "B": ["x", "z"], "C": ["w", "y"]}


def write(tmp_path, *rankings: str):
    path = tmp_path / "judgments.xml"
    body = "".join(rankings)
    path.write_text(f"<appraise-results><result>{body}</result></appraise-results>", encoding="utf-8")
    return path


def ranking(sentence, *translations: tuple[str, object]) -> str:
    inner = "".join(f'<translation system="{system}" rank="{rank}"/>' for system, rank in translations)
    return f'<ranking-item src-id="{sentence}" user="u">{inner}</ranking-item>'


def test_published_counts(shared_data):
    seeda = read_seeda(shared_data / "seeda")
    gjg15 = read_gjg15(shared_data / "gjg15")
    # Fact sheet, section 1.1: 600 items and 391 sentences; 2,319 items of which 13 are empty.
    assert (len(seeda.sources), len(seeda.judgments["sent"]), len(seeda.judgments["edit"])) == (391, 600, 600)
    assert (len(gjg15.sources), len(gjg15.judgments["all"])) == (1312, 2319 - 13)
    assert seeda.scores["ts_sent"]["REF-F"] == pytest.approx(0.992, abs=5e-4)
    assert (len(system_set(seeda)), len(system_set(seeda, "+INPUT")), len(system_set(gjg15, "all"))) == (12, 13, 13)
    subset = (shared_data / "seeda/outputs/subset/T5.txt").read_text(encoding="utf-8").split("\n")
    assert seeda.outputs["T5"] == [line.rstrip() for line in subset]


def test_groups_ranks_and_empty_items(tmp_path):
    path = write(tmp_path, ranking(1, ("A B", 1), ("C", 4)), ranking(2), ranking(2, ("C A", 2)))
    items = read_judgments(path, OUTPUTS, first_line=1)
    assert [(item.sentence, item.annotator, item.groups) for item in items] == [
        (0, "u", ((("A", "B"), 1), (("C",), 4))),
        (1, "u", ((("C", "A"), 2),)),
    ]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (ranking(1, ("A B", 1)), "share a rank but wrote different texts.*counted from 0"),
        (ranking(0, ("A", 1), ("X", 2)), "ranking 0: unknown system 'X'"),
        (ranking(7, ("A", 1)), "there is no sentence 7"),
        (ranking("one", ("A", 1)), "not a number"),
        (ranking(0, ("A", "best")), "not a number"),
        ('<ranking-item user="u"/>', "src-id"),
        ("<unclosed>", "not valid XML"),
        ("", "holds no ranking"),
        (ranking(0), "holds no ranking"),
        (ranking(0, ("A", 0)), "ranking 0: rank 0 of A; ranks count from 1"),
        (ranking(0, ("A", 1), ("C", 2), ("A", 3)), "ranking 0: A is ranked twice"),
    ],
)
def test_bad_files_are_named(tmp_path, body, message):
    with pytest.raises(ValueError, match=message) as error:
        read_judgments(write(tmp_path, body), OUTPUTS, first_line=0)
    assert "judgments.xml" in str(error.value)


def test_unknown_system_set(shared_data):
    with pytest.raises(ValueError, match="gjg15 has no system set 'base'"):
        system_set(read_gjg15(shared_data / "gjg15"))


def test_a_checkout_is_recognised(shared_data, tmp_path):
    assert [read_human(shared_data / name).name for name in ("seeda", "gjg15")] == ["seeda", "gjg15"]
    with pytest.raises(ValueError, match="neither a checkout of SEEDA"):
        read_human(tmp_path)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("scores.tsv", "GPT-3.5\t-0.25\r\nmy system\t1e-1\r\n\r\n"),
        ("scores.txt", "GPT-3.5 -0.25\nmy system 0.1"),
        ("scores.json", '{"GPT-3.5": -0.25, "my system": 0.1}'),
    ],
)
def test_scores_of_systems(tmp_path, name, text):
    (tmp_path / name).write_text(text, encoding="utf-8", newline="")
    assert read_system_scores(tmp_path / name) == {"GPT-3.5": -0.25, "my system": 0.1}


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("s.tsv", "A\t1\nB\n", "s.tsv, line 2: expected the name of a system and a finite number, got ''"),
        ("s.tsv", "A\tbest\n", "line 1: .* got 'best'"),
        ("s.tsv", "A\tnan\n", "line 1: .* got 'nan'"),
        ("s.tsv", "A\t1\nA\t2\n", "line 2: A has a score already"),
        ("s.json", '{"A": [1]}', r"s.json: A: .* got \[1\]"),
        ("s.json", '["A", 1]', "expected a JSON object"),
        ("s.json", "A 1", "not valid JSON"),
        ("s.json", '{"A": 1, "A": 2}', "an object has 'A' twice"),
    ],
)
def test_bad_scores_of_systems(tmp_path, name, text, message):
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=message):
        read_system_scores(tmp_path / name)
