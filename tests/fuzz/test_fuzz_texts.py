"""Every function that takes sentences or edits, on arbitrary Unicode: bounds, the best score for a perfect correction,
the same numbers in any order, texts that survive the way there and back, and inputs that stay what they were."""

import copy
import dataclasses
import html
import json
import logging
import math
import re
from functools import partial

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from geceval import registry
from geceval.cli.pages import heat_map_page
from geceval.core.errors import InputTypeError
from geceval.core.inputs import check_columns
from geceval.core.signature import signature
from geceval.edits.edit import Edit, apply, in_order, without_overlaps
from geceval.edits.errant.annotator import get_annotator
from geceval.edits.ged_labels import token_labels
from geceval.edits.gotoscorer_chunks import cut
from geceval.edits.m2 import M2Sentence, format_m2, parse_m2, references
from geceval.edits.maxmatch.extraction import EXTRACTING, Lattice
from geceval.scorers.difficulty.chunk_difficulty import Difficulty, ReferenceDifficulty, chunk_table

# Words that meet often, and any others: marks, emoji of several code points, both directions, white space of all kinds.
WORDS = st.sampled_from(["a", "b", "A", "the", "cat", ".", "|||", "||", "-NONE-", "<b>", "&amp;", "\\", ":", "|", "''"])
MARKS = ["e\u0301", "👩‍👩‍👧", "\u202eabc", "\u200b", "\ufeff", "\x00", "\x1b[31m", "ǅ", "ß", "İ", "٣"]
STRANGE = st.sampled_from(MARKS)
SPACES = st.sampled_from([" ", " ", " ", "\t", "\u00a0", "\u2028", "\x85", "\n", "\r\n", ""])
PIECES = st.one_of(WORDS, WORDS, STRANGE, st.text(st.characters(exclude_categories=["Cs"]), max_size=3))
TEXTS = st.lists(st.tuples(PIECES, SPACES).map("".join), max_size=6).map("".join)
ROWS = st.tuples(TEXTS, TEXTS, st.lists(TEXTS, min_size=1, max_size=2))
CORPORA = st.lists(ROWS, min_size=1, max_size=3).map(lambda rows: [list(column) for column in zip(*rows, strict=True)])


@st.composite
def sources_with_edits(draw):
    """A source, and edits of it that do not overlap, in any order."""
    source = draw(TEXTS)
    size = len(source.split())
    spans = draw(st.lists(st.tuples(st.integers(0, size), st.integers(0, size)).map(sorted), max_size=4))
    kinds = st.sampled_from(["", "R:NOUN", "M:DET", "UNK"])
    edits = [Edit(start, end, " ".join(draw(TEXTS).split()), draw(kinds)) for start, end in spans]
    return source, draw(st.permutations(without_overlaps(edits)))


def tokens(text):
    return " ".join(text.split())


@pytest.fixture(autouse=True)
def _quiet():
    logging.disable()
    yield
    logging.disable(logging.NOTSET)


TEXT_METRICS = {"gleu": {"iterations": 3}, "green": {}, "m2": {}, "errant": {}, "i_measure": {}, "gotoscorer": {}}


@pytest.mark.parametrize("metric", TEXT_METRICS)
def test_metrics_of_texts(metric):
    scorer = registry.make_scorer(metric, TEXT_METRICS[metric])
    low, high = scorer.bounds

    @given(CORPORA, st.randoms(use_true_random=False))
    @example([[""], [""], [[""]]], None)
    @example([["\u2028"], ["a"], [["\x1b[31m"]]], None)
    def run(corpus, shuffler):
        before = copy.deepcopy(corpus)
        result = scorer.score(*corpus)
        assert corpus == before
        values = [result.score, *result.scores]
        assert all(low <= value <= high for value in values), values
        assert len(result.scores) == len(corpus[0]) and "\n" not in result.signature
        json.dumps(result.details, allow_nan=False)
        assert scorer.score(*corpus) == result
        order = list(range(len(corpus[0])))[::-1]
        turned = scorer.score(*([column[place] for place in order] for column in corpus))
        if metric != "m2":  # which chooses annotators by what came before
            assert turned.scores == pytest.approx([result.scores[place] for place in order])
        perfect = scorer.score(corpus[0], [row[0] for row in corpus[2]], [row[:1] for row in corpus[2]])
        if metric == "errant":  # the others: test_gleu.py, test_green.py, test_m2_metric.py, test_gotoscorer.py
            assert perfect.score == high
        if metric == "i_measure":
            assert perfect.score >= 0

    run()


@pytest.fixture(scope="module")
def neural(make_checkpoint, make_causal):
    """Options of neural metrics: the bundled networks, or some that are small enough for many examples."""
    classifier = str(make_checkpoint(7))
    detector = str(make_checkpoint(8, architecture="BertForTokenClassification", num_labels=2))
    return {
        "impara": {},
        "pt_errant": {"nlp": "bundled"},
        "pt_m2": {},
        "impara_ged": {"model": classifier},
        "ged": {"model": detector, "task": "sentence"},
        "scribendi": {"model": str(make_causal(3))},
        "fluency": {"model": str(make_causal(3)), "normalization": "slor"},
        "impara_lm": {"model": str(make_causal(3))},
        "asano2017": {"model": str(make_causal(3)), "grammar_model": detector},
    }


@pytest.mark.parametrize(
    "metric", ["impara", "pt_errant", "pt_m2", "impara_ged", "ged", "scribendi", "fluency", "asano2017", "impara_lm"]
)
def test_metrics_with_networks(metric, neural):
    scorer = registry.make_scorer(metric, neural[metric])
    low, high = scorer.bounds

    @settings(max_examples=settings().max_examples // 5)
    @given(CORPORA)
    @example([["", "\x00 \u200b"], ["a", "👩‍👩‍👧 \ud7ff"], [[""], ["x"]]])
    @example([["a" * 20_000], ["a " * 3_000], [["b"]]])
    def run(corpus):
        columns = corpus if scorer.needs_references() else corpus[:2]
        result = scorer.score(*columns)
        for value in [result.score, *result.scores]:
            assert math.isfinite(value)
            assert (low is None or low - 1e-6 <= value) and (high is None or value <= high + 1e-6)
        if len(corpus[0]) > 1:
            turned = scorer.score(*(column[::-1] for column in columns))
            assert turned.scores[::-1] == pytest.approx(result.scores, abs=1e-4)

    run()


@given(sources_with_edits())
def test_edits_are_made_and_found(case):
    source, edits = case
    target = apply(source, edits)
    assert apply(source, in_order(edits)) == apply(source, [*edits, Edit(-1, -1, "", "noop")])
    assert apply(source, []) == tokens(source)
    assert apply(source, Lattice(source, target).extract().edits) == tokens(target)
    assert apply(source, Lattice(source, target, EXTRACTING).extract(edits).edits) == tokens(target)
    if edits:
        with pytest.raises(ValueError):
            apply("", [Edit(0, 1, "x")])


@given(TEXTS, TEXTS)
@example("a", "a " * 300)
@example("\x00", "\x1b[31m a")
def test_errant_edits_give_the_correction(source, target):
    annotator = get_annotator("bundled")
    (edits,) = annotator.edits([(source, target)])
    assert apply(source, edits) == tokens(target)
    assert annotator.classify([(source, edits)]) == [edits]
    assert len(token_labels(source, edits, 25)) == len(source.split())


@given(st.lists(sources_with_edits(), min_size=1, max_size=3), st.integers(0, 10**17))
@example([("", [Edit(0, 0, "|| |")])], 0)
def test_m2_there_and_back(cases, annotator):
    sentences = [M2Sentence(source, {annotator: in_order(edits)}) for source, edits in cases]
    if any("|||" in edit.correction for sentence in sentences for edit in sentence.edits[annotator]):
        with pytest.raises(ValueError, match=r"sentence \d+: edit .* M2 cannot express"):
            format_m2(sentences)
        return
    text = format_m2(sentences)
    again = parse_m2(text)
    assert [tokens(each.source) for each in again] == [tokens(each.source) for each in sentences]
    assert format_m2(parse_m2(format_m2(again))) == format_m2(again)
    for old, new in zip(sentences, again, strict=True):
        plain = all("||" not in edit.correction and edit.correction != "-NONE-" for edit in old.edits[annotator])
        if plain and old.edits[annotator]:
            assert references(new) == references(old)


@given(sources_with_edits(), st.text(max_size=8))
@example(("<script>", [Edit(0, 1, '"><img src=x onerror=alert(1)>', "</style>")]), "</title><script>")
def test_heat_maps_show_text_as_text(case, title):
    source, edits = case
    chunks = [cut(source, edits)]
    difficulty = Difficulty(2, [[place % 3 for place in range(len(chunks[0]))]])
    reference = ReferenceDifficulty(chunks, difficulty)
    assert chunk_table(reference)
    page = heat_map_page(reference, title=title)
    body = page.split("<main>")[1].split("</main>")[0]
    tags = re.findall(r"<[^>]*>", body)
    assert {re.match(r"</?(\w+)", tag)[1] for tag in tags} <= {"ol", "li", "span"}
    shown = tokens(html.unescape(re.sub(r"<[^>]*>", "", body)))
    assert shown == tokens(source) and "<script" not in page


@given(st.text(max_size=12), st.dictionaries(st.text(min_size=1, max_size=6), st.text(max_size=8), max_size=3))
@example("a|b:c\\", {"x\r": "y\u2028\x85z", "|": ":"})
def test_signatures_can_be_taken_apart(metric, facts):
    @dataclasses.dataclass
    class Settings:
        beta: float = 0.5

    facts = {name: value for name, value in facts.items() if name not in ("geceval", "beta", "metric", "settings")}
    line = signature(metric, Settings(), **facts)
    assert len(line.splitlines()) <= 1
    parts = re.split(r"(?<!\\)(?:\\\\)*\|", line)
    assert len(parts) == len(facts) + 3 or "\\" in "".join([metric, *facts, *facts.values()])
    other = signature(metric, Settings(), **{**facts, "more": "x"})
    assert other != line


VALUES = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=4), st.lists(st.integers()))


@given(st.one_of(VALUES, st.lists(VALUES, max_size=3)), st.one_of(VALUES, st.lists(VALUES, max_size=3)), VALUES)
@example(["\ud800"], ["a"], None)
def test_columns_of_any_kind(sources, predictions, references):
    try:
        columns = check_columns("gleu", sources, predictions, references)
    except (TypeError, ValueError) as error:
        assert str(error).startswith("gleu: ")
        return
    assert len(columns.sources) == len(columns.predictions) > 0


@pytest.mark.parametrize("metric", registry.list_metrics())
def test_every_option_is_checked_by_its_annotation(metric):
    """No option is made of bytes; what each annotation takes: tests/core/test_options.py."""
    cls = registry.scorer_class(metric)
    for kind in (cls.Settings, cls.RunTime):
        for name in (field.name for field in dataclasses.fields(kind)):
            for make in (partial(registry.make_scorer, metric), lambda options, kind=kind: kind(**options)):
                with pytest.raises(InputTypeError, match=f"{name} must be"):
                    make({name: b"x"})
