"""`geceval meta report`: one page that escapes all text and sets the papers' numbers beside the measured."""

import json
import re

import numpy as np
import pytest
from docs_corpora import write_gjg15

import geceval
from geceval import registry
from geceval.cli.app import run
from geceval.cli.report import summary
from geceval.core.errors import install_command
from geceval.corpora.judgments import GJG15_SYSTEMS, read_human
from geceval.meta.judgments import HumanData, Item
from geceval.meta.papers import PUBLISHED
from geceval.meta.scores import MetricScores
from geceval.workflows.meta_evaluation import choose_systems, score_metrics
from geceval.workflows.report import Report, measure, published_values


def report(*arguments) -> int:
    return run(["meta", "report", *map(str, arguments)])


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    outputs = {name: ["a x c", "d y", "f"] for name in GJG15_SYSTEMS} | {"AMU": ["a b c", "d e", "f"]}
    ranks = '<translation system="AMU" rank="1"/><translation system="RAC IPN" rank="2"/>'
    items = f'<ranking-item src-id="0" user="u">{ranks}</ranking-item>'
    folder = write_gjg15(tmp_path_factory.mktemp("invented") / "gjg15", outputs, items)
    scores = {name: [1.0 if name == "AMU" else rank / 99] * 3 for rank, name in enumerate(GJG15_SYSTEMS)}
    (folder.parent / "a<b>&.json").write_text(json.dumps(scores), encoding="utf-8")
    (folder.parent / "gleu.json").write_text(json.dumps({name: [-s for s in row] for name, row in scores.items()}))
    return folder


@pytest.fixture(scope="module")
def page(checkout) -> str:
    target = checkout.parent / "page.html"
    files = [str(checkout.parent / name) for name in ("gleu.json", "a<b>&.json")]
    assert report("--data", checkout, "--scores", *files, "-o", target, "--title", "A & <B>") == 0
    return target.read_text(encoding="utf-8")


def test_the_page_stands_alone_and_is_well_formed(page, read_page):
    found = read_page(page)
    figures = [attributes for tag, attributes in found.tags if tag == "svg"]
    assert len(figures) == 5 and all(figure["fill"] == "currentColor" for figure in figures)
    ids = [attributes["id"] for _, attributes in found.tags if "id" in attributes]
    assert len(set(ids)) == len(ids)  # though several figures stand in one page
    links = [value for _, attributes in found.tags for key, value in attributes.items() if key.endswith("href")]
    assert all(link.startswith("data:image/png;base64,") or link.removeprefix("#") in ids for link in links)
    assert not re.search(r"#(000000|ffffff|dddddd)", "".join(re.findall(r"<svg.*?</svg>", page, re.DOTALL)))
    assert "A & <B>" in found.text and "a<b>&" in found.text  # as text, not as tags


def test_a_summary_in_words_stands_on_top(page):
    """One pair of outputs, which one metric orders as people do and the other does not: nothing can be significant."""
    [text] = re.findall(r'<p class="summary">(.*?)</p>', page)
    assert text == (
        "a&lt;b&gt;&amp; agrees best with people: it orders 100.0% of the pairs of outputs as they do. That is 100.0 "
        "points more than gleu, the second, which is no significant difference (p = 1.000). No metric is significantly "
        "worse than the best."
    )
    assert page.index('class="summary"') < page.index("<table>") < page.index("<svg")


def lead_of(scores: dict[str, list[float]]) -> str:
    """The summary where people prefer A to B on each of 40 sentences, and each metric says so for some."""
    items = [Item(number, "u", ((("A",), 1), (("B",), 2))) for number in range(40)]
    outputs = {"A": ["x"] * 40, "B": ["y"] * 40}
    human = HumanData("seeda", ["x"] * 40, list(range(40)), outputs, {"sent": items}, {})
    tables = [MetricScores(name, ("A", "B"), np.array([row, [0.5] * 40]), np.zeros(2)) for name, row in scores.items()]
    values = {name: {"sent acc": np.mean(np.array(row) > 0.5)} for name, row in scores.items()}
    return summary(Report(human, ["A", "B"], tables, values, [], {}))


def test_the_summary_says_what_is_significant():
    def right(count):
        return [1.0] * count + [0.0] * (40 - count)

    two, three = ({"one": right(36), "two": right(12)}, {"one": right(36), "two": right(35), "three": right(10)})
    assert lead_of(two).endswith("than two, the second, a significant difference (p < .001).")
    worse = "no significant difference (p = 1.000). The first that is significantly worse is three, by 65.0 points."
    assert lead_of(three).endswith(worse)
    alone = "90.0% of the pairs of outputs as they do. No other metric was measured."
    assert lead_of({"one": right(36)}).endswith(alone)


def test_measured_and_published_numbers_share_a_cell(page):
    (row,) = re.findall(r'<tr><th class="name">gleu.*?</tr>', page)
    cells = re.findall(r"<td.*?</td>", row)
    # Expected Wins on corpus scores: measured r of -(1, 1/99, 2/99 ...) and Table 3b; .701 from PT-M2's Table 5.
    assert re.fullmatch(r'<td class="group">−\.\d{3}<small title="Gong et al\. .*: GLEU">\.701</small></td>', cells[3])
    # AMU against RAC and IPN: wrong twice, without ties. What metrics are ranked by stands first.
    assert [re.sub("<.*?>", "", cell) for cell in cells[:3]] == [".000", "−1.000", ".000"]
    assert re.findall('aria-sort="descending">(.*?)<', page) == ["acc"]
    order = re.findall(r'<tr><th class="name">(.*?)(?:<|$)', page)
    assert order == ["a&lt;b&gt;&amp;", "gleu"]  # the better one first
    assert '<th class="name">IMPARA<small>' in page  # published only
    (errant,) = re.findall(r'<tr class="paper"><th class="name">ERRANT<.*?</tr>', page)  # two parts of one table
    assert ".642" in errant and ".870" in errant
    assert "gleu: from a file, without a signature" in page


def test_the_numbers_alone(checkout):
    target = checkout.parent / "numbers.json"
    files = [str(checkout.parent / name) for name in ("gleu.json", "a<b>&.json")]
    assert report("--data", checkout, "--scores", *files, "-o", target) == 0
    text = target.read_text(encoding="utf-8")
    [board] = json.loads(text)["boards"]
    assert (board["name"], board["sentences"], board["judgments"]) == ("GJG15", 3, 1)
    assert [row["metric"] for row in board["rows"]] == ["a<b>&", "gleu"]  # perfect, and its opposite
    assert [row["values"]["all acc"] for row in board["rows"]] == [1.0, 0.0]
    assert board["rows"][1]["published"]["corpus ew r"]["value"] == 0.701  # as the table of the paper has it
    assert set(board["rows"][0]["values"]) == {key for keys in board["columns"].values() for key in keys}
    assert "a x c" not in text and str(checkout) not in text


M2 = "S a x c\nA 1 2|||R|||b|||REQUIRED|||-NONE-|||0\n\nS d y\nA 1 2|||R|||e|||REQUIRED|||-NONE-|||0\n\nS f\n\n"


def test_a_metric_that_cannot_be_had_is_named(checkout, read_page, monkeypatch):
    everything = (["m2", "gotoscorer", "errant"], {"bartscore": "its model is elsewhere"})
    monkeypatch.setattr("geceval.registry.metrics_at_hand", lambda: everything)
    gold, page = checkout.parent / "gold.m2", checkout.parent / "all.html"
    gold.write_text(M2, encoding="utf-8")
    shared = ["--data", checkout, "--gold-m2", gold, "-o", page]
    assert report(*shared, "--option", "errant.nlp=no_such_pipeline") == 0
    found = read_page(page.read_text(encoding="utf-8"))
    assert re.findall(r'<tr><th class="name">(.*?)<', page.read_text(encoding="utf-8")) == ["m2", "gotoscorer"]
    assert "bartscore: its model is elsewhere" in found.text
    assert re.search(r"errant: .*no_such_pipeline", found.text)


def test_attacks_stand_beside_agreement(checkout, tmp_path, read_page, make_checkpoint):
    """Only of the metric that reads no references: the numbers of `geceval attack` on the example corpus."""
    gold, model = tmp_path / "gold.m2", str(make_checkpoint(3))
    gold.write_text(M2, encoding="utf-8")
    data = ["--data", checkout, "--gold-m2", gold, "-m", "impara_ged", "green", "--option", f"impara_ged.model={model}"]
    assert [report(*data, "-o", tmp_path / name) for name in ("numbers.json", "page.html")] == [0, 0]
    (board,) = json.loads((tmp_path / "numbers.json").read_text(encoding="utf-8"))["boards"]
    keys = board["columns"]["attacks by rule"]
    values = {row["metric"]: [row["values"].get(key) for key in keys] for row in board["rows"]}
    found = geceval.attack("impara_ged", options={"impara_ged": {"model": model}}, resamples=1)["impara_ged"]
    line, flips = found.headlines[0], found.flips[-1].share.value
    expected = [line.worst.beaten.value / 2, line.ceiling.above_reference.value, flips]
    assert values == {"impara_ged": pytest.approx(expected, abs=1e-6), "green": [None] * 3}
    page = read_page((tmp_path / "page.html").read_text(encoding="utf-8"))
    assert "attacks by rule" in page.text and "lower is better" in page.text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--data", "{data}", "{data}", "-m", "gleu"], "the same data is given twice"),
        (["--data", "{data}", "-m", "gleu"], "gleu needs references: pass --gold-m2"),
        (["--data", "{data}", "--scores", "{short}"], "scores of 1 lines, but the data has 3 sentences"),
        (["--data", "{data}", "-m", "nothing"], "unknown metric 'nothing'"),
        (["--data", "{data}", "--scores", "{short}", "--gold-m2", "x.m2"], "--gold-m2 is for metrics: add -m NAME..."),
    ],
)
def test_mistakes_are_one_line_and_leave_no_page(checkout, fails, arguments, message):
    short = checkout.parent / "short.json"
    short.write_text('{"AMU": [1]}', encoding="utf-8")
    page = checkout.parent / "report.html"
    words = (each.format(data=checkout, short=short) for each in arguments)
    assert message in fails("meta", "report", *words, "-o", page) and not page.exists()


def test_offline_metrics_are_those_that_need_no_model_of_others():
    chosen, left = registry.offline_metrics()
    assert {"errant", "gleu", "green", "impara", "m2", "pt_errant"} <= set(chosen)
    assert "bartscore" in left and "not bundled" in left["bartscore"]
    assert left["scribendi"] == "its default model, gpt2, is not bundled"


def test_metrics_of_a_large_model_are_taken_by_default_only_where_it_is(nowhere, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    names, model = registry.large_metrics()
    assert {"asano2017", "fluency"} <= set(names)
    assert model.obstacle.startswith(f"smollm2 is not on this machine; get it by one of: {install_command('lm')}")
    chosen, needs = registry.metrics_at_hand()
    assert chosen == registry.offline_metrics()[0] and needs["fluency"] == model.obstacle


def test_metrics_of_a_large_model_are_taken_where_it_is(smollm2):
    assert registry.large_metrics()[1].obstacle == ""
    chosen, needs = registry.metrics_at_hand()
    assert {"asano2017", "fluency", "gleu"} <= set(chosen) and not set(chosen) & set(needs)
    assert set(chosen) | set(needs) == set(registry.list_metrics())


# Goto et al.'s Table 2 was made with gec-metrics, whose GLEU counts as the formula of the paper says, unsmoothed.
@pytest.mark.parametrize(("metric", "options"), [("green", {}), ("gleu", {"counting": "paper", "smoothing": False})])
def test_rows_of_impara_ged_table_2(shared_data, conll_2014, metric, options):
    human = read_human(shared_data / "seeda")
    (table,) = score_metrics({metric: options}, human, choose_systems(human), conll_2014)
    found = measure(human, table)
    published = published_values([row for row in PUBLISHED if row.data == "seeda"], metric)
    assert len(published) == 8
    for key, (value, _) in published.items():
        assert found[key] == pytest.approx(value, abs=1e-3), key


def by_meta(call, *arguments: str) -> dict[str, float]:
    """The values of `geceval meta` under the keys of the leaderboard."""
    found: dict[str, float] = {}
    arguments = (*arguments, "--format", "json")
    for how in ("corpus", "average"):
        for row in json.loads(call("meta", *arguments, "--aggregation", how)[1])["rows"]:
            found |= {f"{how} {row['human']} r": row["pearson"], f"{how} {row['human']} ρ": row["spearman"]}
    (row,) = json.loads(call("meta", *arguments, "--level", "sentence")[1])["rows"]
    return found | {f"all {name}": row[key] for name, key in (("acc", "accuracy"), ("τ", "kendall"), ("ties", "ties"))}


def by_report(target, *arguments: str) -> dict[str, float]:
    assert report(*arguments, "-o", target) == 0
    ((row,),) = [board["rows"] for board in json.loads(target.read_text(encoding="utf-8"))["boards"]]
    return row["values"]


def test_the_leaderboard_has_the_numbers_of_meta(checkout, call, tmp_path):
    """One of the two annotators has no line for the second sentence, and so no part in its references."""
    gold = tmp_path / "gold.m2"
    other = "-NONE-|||0\nA 1 2|||R|||q|||REQUIRED|||-NONE-|||1\n\nS d"
    gold.write_text(M2.replace("-NONE-|||0\n\nS d", other), encoding="utf-8")
    data = ["--data", str(checkout), "--gold-m2", str(gold), "-m", "green"]
    expected = by_meta(call, *data, "--format", "json")
    assert by_report(tmp_path / "numbers.json", *data) == pytest.approx(expected, abs=1e-6)
