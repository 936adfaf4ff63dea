"""`geceval report`: one page that needs no other, escapes all text and sets the papers' numbers beside the measured."""

from __future__ import annotations

import base64
import html.parser
import json
import re

import pytest

from geceval.cli.app import run
from geceval.cli.evaluation import choose_systems, score_metrics
from geceval.cli.leaderboard import measure, offline_metrics, published_values
from geceval.meta.data import GJG15_SYSTEMS, read_seeda
from geceval.meta.papers import PUBLISHED

SENTENCES = ["a x c", "d y", "f"]


@pytest.fixture
def checkout(tmp_path):
    folder = tmp_path / "gjg15"
    outputs = folder / "data/original/official_submissions"
    outputs.mkdir(parents=True)
    for name in GJG15_SYSTEMS:
        lines = SENTENCES if name != "AMU" else ["a b c", "d e", "f"]
        (outputs / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    ranks = '<translation system="AMU" rank="1"/><translation system="RAC IPN" rank="2"/>'
    (folder / "data/judgments.xml").write_text(f'<r><ranking-item src-id="0" user="u">{ranks}</ranking-item></r>')
    scores = {name: [1.0 if name == "AMU" else place / 99] * 3 for place, name in enumerate(GJG15_SYSTEMS)}
    (tmp_path / "a<b>&.json").write_text(json.dumps(scores), encoding="utf-8")
    (tmp_path / "gleu.json").write_text(json.dumps({name: [-s for s in row] for name, row in scores.items()}))
    return folder


class Reader(html.parser.HTMLParser):
    """Collects tags with their attributes and checks that they close in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        if tag not in ("meta", "img"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


def make(checkout, *arguments: str) -> Reader:
    page = checkout.parent / "report.html"
    files = [str(checkout.parent / name) for name in ("gleu.json", "a<b>&.json")]
    assert run(["report", "--data", str(checkout), "--scores", *files, "-o", str(page), *arguments]) == 0
    return Reader(page.read_text(encoding="utf-8"))


def test_the_page_stands_alone_and_is_well_formed(checkout):
    page = make(checkout, "--title", "A & <B>")
    assert page.open == []
    assert not {tag for tag, _ in page.tags} & {"script", "link", "iframe", "object", "base"}
    sources = [attributes["src"] for tag, attributes in page.tags if tag == "img"]
    assert len(sources) == 5
    for source in sources:
        kind, _, content = source.partition(",")
        assert kind == "data:image/svg+xml;base64"
        assert base64.b64decode(content, validate=True).rstrip().endswith(b"</svg>")
    assert not [attributes for _, attributes in page.tags if "href" in attributes]
    policy = next(a["content"] for tag, a in page.tags if tag == "meta" and a.get("http-equiv"))
    assert policy.startswith("default-src 'none'")
    assert "A & <B>" in page.text and "a<b>&" in page.text  # as text, not as tags


def test_measured_and_published_numbers_share_a_cell(checkout):
    make(checkout)
    page = (checkout.parent / "report.html").read_text(encoding="utf-8")
    (row,) = re.findall(r'<tr><th class="name">gleu.*?</tr>', page)
    cells = re.findall(r"<td.*?</td>", row)
    # Expected Wins on corpus scores: measured r of -(1, 1/99, 2/99 ...) and Table 3b; .701 from PT-M2's Table 5.
    assert re.fullmatch(r'<td class="group">−\.\d{3}<small title="Gong et al\. .*: GLEU">\.701</small></td>', cells[0])
    # AMU against RAC and IPN: wrong twice, without ties.
    assert [re.sub("<.*?>", "", cell) for cell in cells[-3:]] == [".000", "−1.000", ".000"]
    order = re.findall(r'<tr><th class="name">(.*?)(?:<|$)', page)
    assert order == ["a&lt;b&gt;&amp;", "gleu"]  # the better one first
    assert '<th class="name">IMPARA<small>' in page  # published only
    assert "gleu: from a file, without a signature" in page


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--data", "{data}", "{data}", "-m", "gleu"], "the same data is given twice"),
        (["--data", "{data}", "-m", "gleu"], "gleu needs references: pass --gold-m2"),
        (["--data", "{data}", "--scores", "{short}"], "scores of 1 lines, but the data has 3 sentences"),
        (["--data", "{data}", "-m", "nothing"], "unknown metric 'nothing'"),
    ],
)
def test_mistakes_are_one_line_and_leave_no_page(checkout, capsys, arguments, message):
    short = checkout.parent / "short.json"
    short.write_text('{"AMU": [1]}', encoding="utf-8")
    page = checkout.parent / "report.html"
    assert run(["report", *(each.format(data=checkout, short=short) for each in arguments), "-o", str(page)]) == 2
    error = capsys.readouterr().err
    assert message in error and error.count("\n") == 1
    assert not page.exists()


def test_offline_metrics_are_those_that_need_no_model_of_others():
    chosen, left = offline_metrics()
    assert {"errant", "gleu", "green", "impara", "m2", "pt_errant"} <= set(chosen)
    assert "bartscore" in left and "not bundled" in left["bartscore"]


# Goto et al.'s Table 2 was made with gec-metrics, whose GLEU counts as the formula of the paper says, unsmoothed.
@pytest.mark.parametrize(("metric", "options"), [("green", {}), ("gleu", {"counting": "paper", "smoothing": False})])
def test_rows_of_impara_ged_table_2(shared_data, conll_2014, metric, options):
    human = read_seeda(shared_data / "seeda")
    (table,) = score_metrics({metric: options}, human, choose_systems(human), conll_2014)
    found = measure(human, table)
    published = published_values([row for row in PUBLISHED if row.data == "seeda"], metric)
    assert len(published) == 8
    for key, (value, _) in published.items():
        assert found[key] == pytest.approx(value, abs=1e-3), key
