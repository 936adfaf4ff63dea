"""The page in a real Chromium: typing, scoring, uploading, mistakes, light and dark, wide and narrow."""

import csv
import os
import shutil
from pathlib import Path

import pytest

CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: pip install playwright")
pytestmark = pytest.mark.skipif(not CHROMIUM, reason="there is no Chromium here: apt-get install chromium")

PATIENCE = 90_000  # milliseconds; models load at the first click, and the machine may be busy
EVIL = "<img src=x onerror=alert(1)><script>alert(1)</script>"


@pytest.fixture(scope="module")
def browser():
    playwright.expect.set_options(timeout=PATIENCE)
    with playwright.sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield chromium
        chromium.close()


@pytest.fixture(scope="module")
def visit(browser, address):
    """A function that opens the page; in the end, it must have asked nobody else, and nothing went wrong in it."""
    pages = []

    def open_page(width=1280, height=900, scheme="light", link=None):
        viewport = {"width": width, "height": height}
        context = browser.new_context(viewport=viewport, color_scheme=scheme, accept_downloads=True)
        page = context.new_page()
        page.set_default_timeout(PATIENCE)
        page.strangers, page.mishaps = [], []
        page.on("request", lambda request: page.strangers.append(request.url) if is_strange(request.url) else None)
        page.on("pageerror", lambda error: page.mishaps.append(str(error)))
        page.on("dialog", lambda dialog: (page.mishaps.append(dialog.message), dialog.dismiss()))
        page.goto(link or address)
        page.locator("#score-button").wait_for(state="attached")
        pages.append(page)
        return page

    def is_strange(url):
        return not url.startswith((address, "data:", "blob:"))

    yield open_page
    for page in pages:
        assert page.strangers == [] and page.mishaps == []
        page.context.close()


@pytest.fixture
def page(visit):
    return visit()


def tab(page, name):
    page.get_by_role("tab", name=name, exact=True).click()


def fill(page, source, correction, references=""):
    for label, text in (("Source", source), ("Correction", correction), ("References", references)):
        page.get_by_label(label).locator("visible=true").first.fill(text)


def cells(page, view):
    """The rows of the first table of a result, as text."""
    rows = page.locator(f"{view} tbody").first.locator("tr").all()
    return [[cell.inner_text() for cell in row.locator("th, td").all()] for row in rows]


def dimmed(page, view):
    """Expect a result that says that its input has changed."""
    playwright.expect(page.locator(f"{view} .gv-stale")).to_contain_text("The input has changed since")


def fresh(page, view):
    """Expect a result that belongs to the inputs."""
    playwright.expect(page.locator(f"{view} .gv-stale")).to_have_count(0)


def test_a_correction_is_typed_and_scored(page):
    """The smoke test: an example is scored at first sight; markup in what is typed is text; nobody else is asked."""
    names = ["impara_lm\n(−∞, ∞) ↑", "errant\n[0, 1] ↑", "gleu\n[0, 1] ↑"]
    assert [row[0] for row in cells(page, "#score-view")] == names
    assert page.locator("#score-examples").bounding_box()["y"] < 300  # above the fold
    corrected = [f"He and I {verb} late because the train was cancelled {EVIL}." for verb in ("was", "were")]
    fill(page, f"Him and me was late because the train were cancel {EVIL}.", *corrected)
    page.keyboard.press("Shift+Enter")
    fresh(page, "#score-view")
    playwright.expect(page.locator("#score-view")).to_contain_text("onerror")
    assert {row[0].split()[0]: row[1] for row in cells(page, "#score-view")}["errant"] == "0.9524"
    assert page.locator("#score-view .gv-edit").count() == 4 + 5  # of the correction and of the reference
    assert page.locator("#score-view img, #score-view script").count() == 0
    assert page.strangers == [] and page.mishaps == []


@pytest.mark.slow
def test_a_click_on_an_example_scores_it(page):
    page.get_by_text("another meaning").locator("visible=true").first.click()
    playwright.expect(page.locator("#score-view")).to_contain_text("brother")
    assert page.get_by_label("Source").first.input_value() == "My sister have two cats."
    fresh(page, "#score-view")


@pytest.mark.slow
def test_a_link_opens_the_page_with_its_input_scored(page, visit):
    fill(page, "He go home .", "He goes home .", "")
    page.locator('input[name="errant"]:visible').uncheck()
    page.locator("#score-share").click()
    page.locator("#score-link a").wait_for()
    page.wait_for_url("**/#score=*")
    other = visit(link=page.url)
    playwright.expect(other.locator("#score-view")).to_contain_text("goes")
    fresh(other, "#score-view")
    assert other.get_by_label("Source").first.input_value() == "He go home ."
    assert not other.locator('input[name="errant"]:visible').is_checked()
    tab(other, "Edit impacts")
    for label, text in (("Source", "She have it ."), ("Correction", "She has it .")):
        other.get_by_label(label).locator("visible=true").first.fill(text)
    other.locator("#impacts-share").click()
    other.locator("#impacts-link a").wait_for()
    other.wait_for_url("**/#impacts=*")
    third = visit(link=other.url)
    playwright.expect(third.locator("#impacts-view")).to_contain_text("She")


@pytest.mark.slow
def test_a_result_does_not_outlive_its_input(page):
    source = page.get_by_label("Source").locator("visible=true").first
    before, some = source.input_value(), page.locator('input[name="some"]:visible')
    for change, back in (
        (lambda: source.press_sequentially("x"), lambda: source.fill(before)),
        (lambda: source.fill("Something else ."), lambda: source.fill(before)),
        (some.check, some.uncheck),
    ):
        change()
        dimmed(page, "#score-view")
        back()
        fresh(page, "#score-view")  # it is the input of the result again


@pytest.mark.slow
def test_a_result_that_comes_too_late_is_dimmed(page):
    fill(page, "She have no time for this today .", "She has no time for this today .", "")
    page.locator("#score-button").click()
    page.get_by_label("Source").locator("visible=true").first.press_sequentially("!")
    playwright.expect(page.locator("#score-view")).to_contain_text("today")
    dimmed(page, "#score-view")


@pytest.mark.slow
def test_a_mistake_is_told_where_the_result_would_stand(page):
    fill(page, "word " * 5_000, "word", "")
    page.locator("#score-button").click()
    message = "This page takes 400 words at most, but the source has 5,000 words."
    playwright.expect(page.locator("#score-view .gv-problem")).to_have_text(message)
    fill(page, "He go .", "", "")
    page.locator("#score-button").click()
    playwright.expect(page.locator("#score-view")).to_contain_text("type the correction first")
    large, defaults = page.locator('input[name="fluency"]:visible'), ("impara_lm", "errant", "gleu")
    large.check()
    fill(page, "He go .", "He goes .", "")
    page.locator("#score-button").click()
    playwright.expect(page.locator("#score-view tbody")).to_contain_text("fluency")
    for name in (*defaults, "fluency"):
        page.locator(f'input[name="{name}"]:visible').uncheck()
    page.locator("#score-button").click()  # below the fold, and the answer is in sight
    playwright.expect(page.locator("#score-view .gv-problem")).to_have_text("Choose at least one metric.")
    playwright.expect(page.locator("#score-view .gv-problem")).to_be_in_viewport()
    assert page.locator(".toast-body, #score-view table").count() == 0


@pytest.mark.slow
def test_the_scores_of_all_metrics_are_in_sight(page):
    for name in page.locator(".gv-names input:visible").evaluate_all("boxes => boxes.map(box => box.name)"):
        page.locator(f'input[name="{name}"]:visible').set_checked("smollm2" not in name)
    page.locator("#score-button").click()
    playwright.expect(page.locator("#score-view tbody")).to_contain_text("asano2017")
    heights = page.locator("#score-view .gv-wide").evaluate("box => [box.scrollHeight, box.clientHeight]")
    assert len(cells(page, "#score-view")) > 15 and heights[0] == heights[1]


@pytest.mark.slow
def test_edits_are_weighed(page):
    tab(page, "Edit impacts")
    page.locator("#impacts-examples").get_by_text("another meaning").click()
    playwright.expect(page.locator("#impacts-view")).to_contain_text("brother")
    fresh(page, "#impacts-view")
    assert all(float(row[1]) > 0 for row in cells(page, "#impacts-view"))
    page.get_by_label("Weigh edits by").click()
    page.get_by_role("option", name="gleu:").click()
    page.get_by_text("left out alone").click()
    page.locator("#impacts-button").click()
    playwright.expect(page.locator("#impacts-view")).to_contain_text("sum of shares")


@pytest.mark.slow
def test_chunks_are_shown(page):
    tab(page, "Chunks")
    fill(page, "He go to school .", "He goes to the school .", "He goes to school .")
    page.locator("#chunks-button").click()
    for label, colour in (("hit", "rgb(211, 240, 227)"), ("over", "rgb(247, 220, 235)")):
        cell = page.locator(f"#chunks-view td.ck-{label}").first
        playwright.expect(cell).to_have_css("background-color", colour)


@pytest.mark.slow
def test_files_are_uploaded_compared_and_downloaded(page, tmp_path):
    tab(page, "Rank systems")
    texts = {"source": "He go to school .\n", "mine": "He goes to school .\n", "gold": "He goes to school .\n"}
    names = {"source": "test.src", "mine": "mine.txt", "gold": "test.ref0"}  # two of them as JFLEG has them
    for key, name in names.items():
        (tmp_path / name).write_text(texts[key] * 3, encoding="utf-8")
    for field, key in (("source", "source"), ("systems", "mine"), ("references", "gold")):
        page.locator(f"#compare-{field} input[type=file]").set_input_files(tmp_path / names[key])
        playwright.expect(page.locator(f"#compare-{field}")).to_contain_text(names[key])
    page.locator("#compare-button").click()
    with page.expect_download() as download:
        page.get_by_text("Download CSV").click()
    with Path(download.value.path()).open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["score"] for row in rows if row["metric"] == "gleu" and row["system"] == "mine"] == ["1.0"]


@pytest.mark.slow
def test_the_example_corpus_is_compared(page):
    tab(page, "Rank systems")
    page.locator("#compare-example").click()
    playwright.expect(page.locator("#compare-view table").first).to_contain_text("overcorrect")
    fresh(page, "#compare-view")
    box = page.locator("#compare-systems").bounding_box()
    files = [row.bounding_box() for row in page.locator("#compare-systems tr.file").all()]
    assert len(files) == 4 and files[-1]["y"] + files[-1]["height"] <= box["y"] + box["height"]  # all in sight
    assert len(cells(page, "#compare-view")) == 5 and page.locator("#compare-view svg").count() == 3


@pytest.mark.slow
def test_a_comparison_tells_how_long_it_takes_and_is_stopped(page, tmp_path):
    """Nothing of an earlier one is left then, and the next one runs."""
    tab(page, "Rank systems")
    page.locator("#compare-example").click()
    playwright.expect(page.get_by_text("Download JSON")).to_be_enabled()
    for field in ("source", "systems", "references"):
        page.locator(f"#compare-{field}").get_by_label("Clear").click()
    for name in ("source", "mine"):
        (tmp_path / f"{name}.txt").write_text("".join(f"He go to {name} {n} .\n" for n in range(1_500)))
        field = "systems" if name == "mine" else name
        page.locator(f"#compare-{field} input[type=file]").set_input_files(tmp_path / f"{name}.txt")
        playwright.expect(page.locator(f"#compare-{field}")).to_contain_text("txt")
    page.locator("#compare-button").click()
    playwright.expect(page.locator("#compare-view")).to_contain_text("left")
    playwright.expect(page.locator("#compare-view table").first).to_be_hidden()  # of the earlier one
    page.locator("#compare-stop").click()
    playwright.expect(page.locator("#compare-view")).to_have_text("Stopped.")
    playwright.expect(page.get_by_text("Download JSON")).to_be_disabled()
    page.locator("#compare-example").click()
    playwright.expect(page.locator("#compare-view table").first).to_contain_text("overcorrect")


@pytest.mark.slow
def test_the_report_is_ranked_anew(page):
    tab(page, "Meta-evaluation")
    playwright.expect(page.locator("#meta-view")).to_contain_text("SEEDA")
    page.get_by_label("GJG15").check()
    playwright.expect(page.locator("#meta-view")).to_contain_text("GJG15")
    assert "gleu" in page.locator("#meta-view").inner_text()


@pytest.mark.slow
def test_on_a_phone_numbers_are_in_sight(visit):
    """Without scrolling sideways: scores and recall, impacts, and the column that metrics are ranked by."""
    page = visit(390, 780)

    def sideways(box):
        return page.locator(box).first.evaluate("e => e.scrollWidth - e.clientWidth")

    assert sideways("#score-view .gv-wide") == 0
    assert page.locator("#score-view thead th").last.is_visible()  # recall
    tab(page, "Edit impacts")
    assert sideways("#impacts-view .gv-wide") == 0
    tab(page, "Chunks")
    columns = page.locator("#chunks-view tr").evaluate_all("rows => rows.map(row => row.children[1].offsetLeft)")
    assert len(set(columns)) == 1  # each chunk stands below its words
    tab(page, "Meta-evaluation")
    ranked = page.locator("#meta-view th[aria-sort]").bounding_box()
    assert ranked["x"] + ranked["width"] < 390
    tab(page, "Rank systems")
    assert page.locator("#compare-button").bounding_box()["y"] < 780  # in sight, and so is what it does
    page.locator("#compare-button").click()
    playwright.expect(page.locator("#compare-view .gv-problem")).to_be_in_viewport()


@pytest.mark.slow
@pytest.mark.parametrize(("width", "scheme"), [(1400, "dark"), (1280, "light"), (390, "light")])
def test_every_tab_in_dark_and_narrow(visit, width, scheme):
    page = visit(width, 780, scheme)
    fill(page, "We was tired , because of we walked all morning .", "We were tired because we walked .", "We .")
    page.locator("#score-button").click()
    playwright.expect(page.locator("#score-view")).to_contain_text("walked")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate("document.body.classList.contains('dark')") is (scheme == "dark")
    for title in ("Edit impacts", "Chunks", "Detect errors", "Rank systems", "Meta-evaluation", "About"):
        tab(page, title)  # each is in sight
        assert page.evaluate("document.documentElement.scrollWidth") <= width, title
