"""HTML of results: everything escaped, everything closed."""

import re

import pytest
from markup import Markup

import render
from geceval.edits.edit import Edit

EVIL = ["<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "\"><svg onload='alert(1)'>"]
EVIL += ["${alert(1)}", "{{constructor}}", "`x`", "</p></div>"]


def harmless(text: str) -> Markup:
    page = Markup(text)
    assert not {tag for tag, _ in page.tags} & {"script", "img", "svg", "iframe", "object", "a", "form"}
    assert not [name for _, attributes in page.tags for name in attributes if name.startswith("on")]
    assert not set(text) & set("${}`")  # a template engine could read these
    return page


@pytest.mark.parametrize("evil", EVIL)
def test_texts_are_shown_and_not_run(evil):
    word = evil.replace(" ", "")
    edits = [Edit(0, 1, evil, evil), Edit(2, 2, evil)]
    for shown in (
        render.diff(f"{word} b c", edits, [True, False]),
        render.weights(f"{word} b c", edits, [1.0, -0.5]),
        render.heat([(word, 0.7, evil)], 0.5),
        render.table([evil], [[render.escape(evil)]], evil),
        render.bars([(render.edit(word, edits[0]), 0.5)], evil),
        render.fields({evil: evil}),
        render.block(render.heading(evil), render.note(evil), render.empty(evil)),
    ):
        assert evil in harmless(shown).text or word in harmless(shown).text


def test_a_diff_keeps_every_word_and_names_operation_and_type():
    edits = [Edit(0, 1, "She", "R:PRON"), Edit(1, 1, "has", "M:VERB"), Edit(3, 4, "", "U:DET")]
    page = harmless(render.diff("Her lived in the Rome .", edits, [True, False, False]))
    classes = [attributes.get("class", "") for _, attributes in page.tags]
    assert [name for name in classes if "gv-edit" in name] == ["gv-edit gv-R", "gv-edit gv-M", "gv-edit gv-U"]
    assert page.text == "HerShepronoun✓ hasverb✗ lived in thedeterminer✗ Rome ."
    titles = [attributes["title"] for _, attributes in page.tags if "title" in attributes]
    assert titles[0] == "R:PRON: replaced; a reference has it too"
    assert titles[1] == "M:VERB: missing, inserted; no reference has it"


@pytest.mark.parametrize(
    ("edit", "kind"),
    [(Edit(0, 0, "x"), "M"), (Edit(0, 1, "x"), "R"), (Edit(0, 1, ""), "U"), (Edit(0, 1, "x", "UNK"), "R")],
)
def test_an_edit_without_a_type_has_an_operation(edit, kind):
    assert render.operation(edit) == kind


@pytest.mark.parametrize(
    ("value", "shown"), [(0.5, "0.5000"), (-0.25, "−0.2500"), (-0.00001, "0.0000"), (None, "–"), (float("nan"), "–")]
)
def test_numbers(value, shown):
    assert render.number(value) == shown


def test_bars_go_left_below_zero():
    below, above = (
        ["left:50.0%;width:50.0%", "left:25.0%;width:25.0%"],
        ["left:0.0%;width:100.0%", "left:0.0%;width:50.0%"],
    )
    for value, styles in ((-1.0, below), (1.0, above)):
        page = harmless(render.bars([("a", 2.0), ("b", value)], "c"))
        assert [attributes["style"] for tag, attributes in page.tags if tag == "i"] == styles
    assert "0.0000" in render.bars([("a", 0.0)], "c")


def test_a_gauge_needs_a_closed_range():
    assert "width:75.0%" in render.gauge(0.5, (-1.0, 1.0))
    assert render.gauge(-3.0, (None, 0.0)) == ""


def test_a_legend_is_drawn_in_the_colours_that_it_explains():
    assert render.heat_scale().count('class="gv-word"') == 5
    assert '<span class="gv-word" style="--heat:0.750">75%</span>' in render.heat_scale()
    one_way, both_ways = (
        [" ".join(found) for found in re.findall(r'gv-(lower|higher)" style="--heat:(.*?)">(.*?)<', scale)]
        for scale in (render.weight_scale([0.5, 2.0]), render.weight_scale([-1.0, 0.5]))
    )
    assert one_way == ["higher 0.000 0.0000", "higher 0.500 1.0000", "higher 1.000 2.0000"]
    assert both_ways[:2] == ["lower 1.000 −1.0000", "lower 0.500 −0.5000"]
    assert both_ways[2:] == ["higher 0.000 0.0000", "higher 0.500 0.5000", "higher 1.000 1.0000"]


def test_heat_underlines_what_reaches_the_threshold():
    page = harmless(render.heat([("He", 0.1, "CORRECT"), ("go", 0.5, "INCORRECT")], 0.5))
    assert [attributes["class"] for tag, attributes in page.tags if tag == "span"] == ["gv-word", "gv-word gv-wrong"]
    assert page.tags[2][1]["style"] == "--heat:0.500"


def test_a_sentence_and_the_parts_of_an_edit_have_their_own_direction():
    shown = render.diff("ذهب الى المدرسة", [Edit(1, 2, "to", "R:PREP")])
    assert shown.startswith('<p class="gv-text" dir="auto">ذهب <span class="gv-edit gv-R"')
    assert '<del dir="auto">الى</del><ins dir="auto">to</ins><small dir="ltr">preposition</small>' in shown


def test_an_edit_has_the_colour_of_how_likely_it_is_right_where_that_is_known():
    edits = [Edit(0, 1, "She", "R:PRON"), Edit(1, 1, "has"), Edit(2, 3, "", "U:DET")]
    page = harmless(render.diff("Her lived the", edits, [True, False, False], [0.9, 0.8, 0.7]))
    classes = [attributes.get("class", "") for _, attributes in page.tags]
    assert [name for name in classes if "gv-edit" in name] == ["gv-edit gv-right", "gv-edit gv-R", "gv-edit gv-U"]
    assert page.text == "HerShepronoun · 90%✓ has80%✗ lived thedeterminer · 70%✗"
    titles = [attributes["title"] for _, attributes in page.tags if "title" in attributes]
    assert titles[2] == "U:DET: unnecessary, deleted; doubtful; no reference has it"
    assert [render.legend(judged).count("gv-key") for judged in (True, False)] == [3, 3]
