"""ERRANT: equal to the installed errant package's own programs, run here, on invented and on real sentences."""

import re
import sys
from pathlib import Path

import pytest
from errant.commands import compare_m2

from geceval.core.f_score import Counts
from geceval.edits.errant.annotator import get_annotator
from geceval.edits.m2 import M2Sentence, read_m2, write_m2
from geceval.scorers.errant import Errant, Settings, errant_order
from geceval.scorers.references.annotator_choice import best_annotator, counts_array

LEVELS = {"correction_with_type": "-cse", "detection_span": "-ds", "detection_token": "-dt"}
OPTIONS = [({}, []), *(({"level": level}, [flag]) for level, flag in LEVELS.items()), ({"beta": 1.0}, ["-b", "1.0"])]


@pytest.fixture
def errant_compare(monkeypatch, capsys):
    """Run the program of that name; returns (TP, FP, FN, P, R, F) overall and by category."""

    def run(proposed, gold, *arguments):
        monkeypatch.setattr(sys, "argv", ["errant_compare", "-hyp", str(proposed), "-ref", str(gold), *arguments])
        capsys.readouterr()
        compare_m2.main()
        text = capsys.readouterr().out
        overall = re.search(r"^TP\tFP.*\n(.*)$", text, re.MULTILINE).group(1).split("\t")
        rows = {}
        if "Category" in text:
            body = text.split("Category", 1)[1].split("\n\n")[0].split("\n")[1:]
            rows = {line.split()[0]: tuple(map(float, line.split()[1:])) for line in body if line.strip()}
        return tuple(map(float, overall)), rows

    return run


def as_printed(details):
    """The numbers as errant_compare prints them."""
    return tuple(round(details[name], 4) for name in ("tp", "fp", "fn", "precision", "recall", "f"))


def test_gold_spans_are_taken_as_they_stand(errant_compare, gjg15, conll_2014, tmp_path):
    part = tmp_path / "part.m2"
    part.write_text("\n\n".join(Path(conll_2014).read_text().split("\n\n")[200:240]) + "\n\n")
    sources = [sentence.source for sentence in read_m2(part)]
    outputs = [" ".join(line.split()) for line in gjg15.outputs["CAMB"][200:240]]
    edits = get_annotator("bundled").edits(list(zip(sources, outputs, strict=True)))
    write_m2(tmp_path / "own.m2", [M2Sentence(text, {0: row}) for text, row in zip(sources, edits, strict=True)])
    result = Errant(Settings(gold_m2=str(part))).score(sources, outputs)
    expected, _ = errant_compare(tmp_path / "own.m2", part)
    assert as_printed(result.details) == expected


HYPOTHESIS_M2 = """S a b c d e f
A 0 1|||R:NOUN|||x|||REQUIRED|||-NONE-|||0
A 1 2|||R:VERB|||y|||REQUIRED|||-NONE-|||0
A 3 3|||M:DET|||the|||REQUIRED|||-NONE-|||0

S g h
A 0 1|||UNK|||g|||REQUIRED|||-NONE-|||0
A 1 1|||M:PUNCT|||,|||REQUIRED|||-NONE-|||0
A 1 1|||M:PUNCT|||,|||REQUIRED|||-NONE-|||0

S i j

S k l
A 0 1|||R:SPELL|||m|||REQUIRED|||-NONE-|||0
"""
# The block of errant issue 49 comes first: 3 edits of the system, TP 4 because the annotator has one of them twice.
ADVERBS = "".join(f"A 4 4|||M:ADV|||{number}|||REQUIRED|||-NONE-|||0\n" for number in range(1, 10))
REFERENCE_M2 = f"""S a b c d e f
A 0 1|||R:NOUN|||x|||REQUIRED|||-NONE-|||0
A 1 2|||R:VERB|||y|||REQUIRED|||-NONE-|||0
A 3 3|||M:DET|||the|||REQUIRED|||-NONE-|||0
A 3 3|||M:ADV|||the|||REQUIRED|||-NONE-|||0
{ADVERBS}
S g h
A 0 1|||UNK|||g|||REQUIRED|||-NONE-|||1
A 1 1|||M:PUNCT|||,|||REQUIRED|||-NONE-|||1
A -1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||0

S i j
A 0 1|||R:SPELL|||m|||REQUIRED|||-NONE-|||0
A 1 2|||UNK|||j|||REQUIRED|||-NONE-|||1

S k l
A 0 1|||R:NOUN|||m|||REQUIRED|||-NONE-|||0
"""


def compare_files(proposed, gold, **options):
    """The scorer on the edits of two M2 files."""
    rows = read_m2(proposed)
    edits = [sentence.edits[0] for sentence in rows], [sentence.edits for sentence in read_m2(gold)]
    return Errant(Settings(**options))._compare([sentence.source for sentence in rows], *edits)


@pytest.fixture
def m2_files(tmp_path):
    """Files of M2 texts."""

    def write(*texts):
        paths = [tmp_path / f"{number}.m2" for number in range(len(texts))]
        for path, text in zip(paths, texts, strict=True):
            path.write_text(text)
        return paths

    return write


def test_duplicates_unk_and_noop_equal_errant(m2_files, errant_compare):
    proposed, gold = m2_files(HYPOTHESIS_M2, REFERENCE_M2)
    for options, arguments in OPTIONS:
        result = compare_files(proposed, gold, **options)
        expected, _ = errant_compare(proposed, gold, *arguments)
        assert as_printed(result.details) == expected
        assert round(result.score, 4) == expected[-1]
        for grain, number in (("operation", "1"), ("main", "2"), ("full", "3")):
            _, rows = errant_compare(proposed, gold, *arguments, "-cat", number)
            assert {kind: as_printed(row) for kind, row in result.details["by_type"][grain].items()} == rows


def test_errant_issue_49(m2_files, errant_compare):
    """TP 4 of 3 edits; F0.5 .6897 as reported there."""
    proposed, gold = m2_files(HYPOTHESIS_M2.split("\n\n")[0] + "\n", REFERENCE_M2.split("\n\n")[0] + "\n")
    result = compare_files(proposed, gold)
    assert as_printed(result.details) == errant_compare(proposed, gold)[0] == (4, 0, 9, 1, 0.3077, 0.6897)
    # By hand: each of the 3 edits is a hit, the 9 others are misses.
    each = compare_files(proposed, gold, counting="gec-metrics")
    assert as_printed(each.details) == (3, 0, 9, 1, 0.25, 0.625)
    # gec-metrics types a hit by the system's edit, ERRANT by the annotator's.
    hits = {kind: row["tp"] for kind, row in each.details["by_type"]["full"].items() if row["tp"]}
    assert hits == {"R:NOUN": 1, "R:VERB": 1, "M:DET": 1}
    assert result.details["by_type"]["full"]["M:ADV"]["tp"] == 1


def best(options: list[Counts], rounds: bool, before: Counts | None = None) -> int:
    counts = counts_array([dict(enumerate(options))])[0]
    return int(best_annotator(errant_order(0.5, rounds)(before or Counts(), Counts.of(counts))))


def test_rounding_of_the_reference_choice():
    """20,000 hits and misses: the second reference has the higher F, by .00002; the first, at 4 places, more hits."""
    before = Counts(20000, 20000, 20000)
    options = [Counts(1, 2, 2), Counts(0, 0, 0)]
    assert (before + options[0]).f() < (before + options[1]).f()
    assert round((before + options[0]).f(), 4) == round((before + options[1]).f(), 4)
    assert best(options, True, before) == 0
    assert best(options, False, before) == 1


def test_sentence_average():
    """By hand, with edits that no pipeline can type otherwise: one insertion at a time."""
    sources = ["a b", "a b", "a b", "a b"]
    predictions = ["a x b", "a b", "a x b y", "a b"]
    references = [["a x b", "a b"], ["a x b", "a b z"], ["a x b"], ["a b"]]
    result = Errant(Settings(average="sentence")).score(sources, predictions, references)
    # P = 1/2, R = 1: F0.5 = 1.25 * .5 / (.125 + 1)
    expected = [1.0, 0.0, 1.25 * 0.5 / 1.125, 1.0]
    assert result.scores == pytest.approx(expected)
    assert result.score == pytest.approx(sum(expected) / 4)
    corpus = Errant().score(sources, predictions, references)
    assert corpus.scores == result.scores
    assert [corpus.details[name] for name in ("tp", "fp", "fn")] == [2, 1, 1]
    assert corpus.details["annotators"] == [0, 0, 0, 0]
    assert corpus.score == corpus.details["f"] == result.details["f"]


def test_empty_and_blank_sentences():
    scorer = Errant()
    result = scorer.score(["", " ", "a b", "a"], ["", "a", "\t", "a"], [[""], ["a"], ["a b"], ["a", ""]])
    assert result.scores == [1.0, 1.0, 0.0, 1.0]
    assert [result.details[name] for name in ("tp", "fp", "fn")] == [1, 1, 0]


def test_references_may_differ_in_number_and_be_plain_strings():
    scorer = Errant()
    sources, predictions = ["She go home .", "He ran"], ["She goes home .", "He ran ."]
    references = [["She goes home .", "She went home ."], ["He ran ."]]
    ragged = scorer.score(sources, predictions, references)
    settings = r"\|language:en\|valid_edits:references\|judge_threshold:0.775\|refs:1-2\|errant:3[\d.]+\|"
    assert re.search(rf"\|nlp:en_\w+-[\d.]+@\w{{7}}{settings}", ragged.signature)
    plain = scorer.score(sources, predictions, [row[0] for row in references])
    assert plain == scorer.score(sources, predictions, [row[:1] for row in references])
    assert "|refs:1|" in plain.signature
