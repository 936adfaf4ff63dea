"""Reading human judgments: the published files' counts, and every way in which a file can be wrong."""

from __future__ import annotations

import pytest

from geceval.meta.data import read_gjg15, read_judgments, read_seeda, system_set

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
    ],
)
def test_bad_files_are_named(tmp_path, body, message):
    with pytest.raises(ValueError, match=message) as error:
        read_judgments(write(tmp_path, body), OUTPUTS, first_line=0)
    assert "judgments.xml" in str(error.value)


def test_unknown_system_set(shared_data):
    with pytest.raises(ValueError, match="gjg15 has no system set 'base'"):
        system_set(read_gjg15(shared_data / "gjg15"))
