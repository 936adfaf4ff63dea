"""GMEG: ratings of outputs, and the pairs that follow from them."""

import pytest

from geceval.core.errors import InputError
from geceval.corpora.build import build
from geceval.corpora.judgments import read_human
from geceval.meta.judgments import Item, system_set


def test_pairs_are_those_that_are_rated_far_enough_apart(gmeg):
    human = read_human(gmeg)
    assert human.sources == ["a", "b", "d"]  # c has no ratings
    assert human.outputs["ref"] == ["a y", "b", "d y"]
    better = [("source", "nus"), ("ref", "source"), ("ref", "nus")]
    assert human.judgments == {
        "fce": [Item(0, "", ((("ref",), 1), (("source",), 2)))],
        "wiki": [Item(2, "", (((first,), 1), ((second,), 2))) for first, second in better],
    }
    assert human.scores == {"fce": {"source": 50, "nus": 64.5, "ref": 60}, "wiki": {"source": 80, "nus": 20, "ref": 90}}
    assert human.domains == {"fce": [0, 1], "wiki": [2]}
    assert human.references == [["a 1", "a 2", "a 3"], ["b 1", "b 2", "b 3"], ["d 1", "d 2", "d 3"]]
    assert system_set(human, "all") == ["source", "nus", "ref"]


def test_gap(gmeg):
    assert [len(read_human(gmeg, gap).judgments["fce"]) for gap in (0, 9, 9.5)] == [3, 2, 1]
    with pytest.raises(InputError, match="no two outputs of one sentence of fce are rated 11 points apart"):
        read_human(gmeg, 11)


def test_equal_texts_share_a_place_and_their_mean_rating(gmeg):
    (gmeg / "fce" / "nus").write_text("a\nb\nc\n")
    # a of source and nus: (50 + 59) / 2 = 54.5, 5.5 below "a y"
    assert read_human(gmeg, 5.5).judgments["fce"] == [Item(0, "", ((("ref",), 1), (("source", "nus"), 2)))]


def test_build(gmeg, tmp_path):
    configs = build("gmeg", gmeg, tmp_path / "tables")
    assert [(config.name, len(config.splits["rated"])) for config in configs] == [("fce", 3), ("wiki", 1)]
    assert configs[0].splits["rated"][2]["hypotheses"][0] == {"system": "source", "text": "c", "rating": None}
    assert read_human(tmp_path / "tables") == read_human(gmeg)


@pytest.mark.parametrize(
    ("path", "content", "message"),
    [
        ("fce/nus", "a\nb\n", "nus has 2 lines but .*fce-segment-scores.csv has 3; they must be parallel"),
        ("fce-segment-scores.csv", "source,nus\n50,101\n1,2\n3,4\n", "line 2: the rating of nus must be a number from"),
        ("fce-segment-scores.csv", "source,nus\n50,x\n1,2\n3,4\n", "got 'x'"),
        ("fce-segment-scores.csv", "nus,ref\n1,2\n1,2\n1,2\n", "no column 'source'"),
        ("fce-segment-scores.csv", "source,ref\n1,90\n1,2\n1,2\n", "the domains fce, wiki have different systems"),
        ("fce-segment-scores.csv", "source,nus,ref\n,,\n,,\n,,\n", "no sentence of fce has ratings of all outputs"),
    ],
)
def test_bad_files(gmeg, path, content, message):
    (gmeg / path).write_text(content)
    with pytest.raises(InputError, match=message):
        read_human(gmeg)


def test_the_dev_half(shared_data):
    human = read_human(shared_data / "gmeg")
    assert {domain: len(lines) for domain, lines in human.domains.items()} == {"fce": 962, "wiki": 980}
    assert {domain: len(items) for domain, items in human.judgments.items()} == {"fce": 4488, "wiki": 3235}
    assert human.scores["wiki"]["ref"] == pytest.approx(82.178, abs=1e-3)  # mean of the column
