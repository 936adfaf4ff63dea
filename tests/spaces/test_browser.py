"""The page in a real Chromium: typing, scoring, uploading, mistakes, light and dark, wide and narrow.

Pictures go to build/screenshots, which git ignores, for people to look at.
"""

import csv
import os
import shutil
from pathlib import Path

import pytest

CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
PICTURES = Path(__file__).resolve().parents[2] / "build" / "screenshots"
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
    """A function that opens the page; what the page asked of others and what went wrong in it is recorded."""
    pages = []

    def open_page(width=1280, height=900, scheme="light"):
        context = browser.new_context(
            viewport={"width": width, "height": height}, color_scheme=scheme, accept_downloads=True
        )
        page = context.new_page()
        page.set_default_timeout(PATIENCE)
        page.strangers, page.mishaps = [], []
        page.on("request", lambda request: page.strangers.append(request.url) if is_strange(request.url) else None)
        page.on("pageerror", lambda error: page.mishaps.append(str(error)))
        page.on("dialog", lambda dialog: (page.mishaps.append(dialog.message), dialog.dismiss()))
        page.goto(address)
        page.locator("#score-button").wait_for()
        pages.append(page)
        return page

    def is_strange(url):
        return not url.startswith((address, "data:", "blob:"))

    yield open_page
    for page in pages:
        page.context.close()


@pytest.fixture(scope="module")
def page(visit):
    return visit()


def picture(page, name):
    PICTURES.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=PICTURES / f"{name}.png", full_page=True)


def tab(page, name):
    page.get_by_role("tab", name=name, exact=True).click()


def fill(page, source, correction, references=""):
    for label, text in (("Source", source), ("Correction", correction), ("References", references)):
        page.get_by_label(label).locator("visible=true").first.fill(text)


def cells(page, view):
    """The rows of the first table of a result, as text."""
    rows = page.locator(f"{view} tbody").first.locator("tr").all()
    return [[cell.inner_text() for cell in row.locator("th, td").all()] for row in rows]


def toast(page):
    """The text of the message that is shown, which is then closed."""
    message = page.locator(".toast-body").first
    message.wait_for()
    text = message.inner_text()
    page.locator(".toast-close").first.click()
    message.wait_for(state="detached")
    return text


def test_a_correction_is_typed_and_scored_by_keyboard(page):
    fill(
        page,
        "Him and me was late because the train were cancel.",
        "He and I was late because the train was cancelled.",
        "He and I were late because the train was cancelled.",
    )
    page.keyboard.press("Shift+Enter")
    page.locator("#score-view table").wait_for()
    rows = {row[0]: row for row in cells(page, "#score-view")}
    assert list(rows) == ["impara", "errant", "gleu"]
    assert rows["errant"][1] == "0.9524"
    assert page.locator("#score-view .gv-edit").count() == 4 + 5  # of the correction and of the reference
    picture(page, "score-light")


def test_an_example_is_chosen_and_scored_by_mouse(page):
    page.get_by_text("My brother has two dogs.").locator("visible=true").first.click()
    page.locator("#score-button").click()
    playwright.expect(page.locator("#score-view")).to_contain_text("brother")
    assert page.get_by_label("Source").first.input_value() == "My sister have two cats."


def test_html_in_a_sentence_is_text(page):
    fill(page, f"He go {EVIL} home .", f"He goes {EVIL} home .", "")
    page.locator("#score-button").click()
    playwright.expect(page.locator("#score-view")).to_contain_text("onerror")
    assert page.locator("#score-view img, #score-view script").count() == 0
    assert page.mishaps == []


def test_a_mistake_is_told_in_one_sentence(page):
    fill(page, "word " * 5_000, "word", "")
    page.locator("#score-button").click()
    assert "This page takes 400 words at most, but the source has 5,000 words." in toast(page)
    fill(page, "", "", "")
    page.locator("#score-button").click()
    page.locator(".toast-body").first.wait_for()
    page.wait_for_timeout(400)  # it fades in
    picture(page, "mistake")
    assert "type the source first" in toast(page)


def test_edits_are_weighed(page):
    tab(page, "Edit impacts")
    page.get_by_text("which sleeps the whole day").locator("visible=true").first.click()
    page.locator("#impacts-button").click()
    page.locator("#impacts-view table").wait_for()
    assert all(float(row[-1]) > 0 for row in cells(page, "#impacts-view"))
    picture(page, "impacts-light")
    page.get_by_label("Weigh edits by").click()
    page.get_by_role("option", name="gleu (references)").click()
    page.get_by_text("left out alone").click()
    page.locator("#impacts-button").click()
    playwright.expect(page.locator("#impacts-view")).to_contain_text("sum of shares")
    picture(page, "shares-light")


def test_chunks_are_shown(page):
    tab(page, "Chunks")
    fill(page, "He go to school .", "He goes to the school .", "He goes to school .")
    page.locator("#chunks-button").click()
    page.locator("#chunks-view table").wait_for()
    assert [text.split() for text in cells(page, "#chunks-view")[1]] == [
        ["hypothesis"], ["He"], ["goes", "hit"], ["to"], ["the", "over"], ["school", "."]
    ]  # fmt: skip
    colours = [
        page.locator(f"#chunks-view td.ck-{label}").first.evaluate("e => getComputedStyle(e).backgroundColor")
        for label in ("hit", "over")
    ]
    assert colours == ["rgb(211, 240, 227)", "rgb(247, 220, 235)"]
    picture(page, "chunks-light")


def test_errors_are_found(page):
    tab(page, "Detect errors")
    page.get_by_label("Sentences").fill("Him and me was late because the train were cancel.")
    page.locator("#detect-button").click()
    page.locator("#detect-view .gv-word").first.wait_for()
    assert page.locator("#detect-view .gv-word").count() == 11
    picture(page, "detect-light")


def test_files_are_uploaded_compared_and_downloaded(page, tmp_path):
    tab(page, "Compare systems")
    texts = {"source": "He go to school .\n", "mine": "He goes to school .\n", "gold": "He goes to school .\n"}
    for name, text in texts.items():
        (tmp_path / f"{name}.txt").write_text(text * 3, encoding="utf-8")
    for field, name in (("source", "source"), ("systems", "mine"), ("references", "gold")):
        page.locator(f"#compare-{field} input[type=file]").set_input_files(tmp_path / f"{name}.txt")
        playwright.expect(page.locator(f"#compare-{field}")).to_contain_text("txt")
    page.locator("#compare-button").click()
    page.locator("#compare-view table").first.wait_for()
    assert page.locator("#compare-view table").count() == 3
    page.locator("#compare-view h3", has_text="gleu").wait_for()
    with page.expect_download() as download:
        page.get_by_text("Download CSV").click()
    with Path(download.value.path()).open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["score"] for row in rows if row["metric"] == "gleu" and row["system"] == "mine"] == ["1.0"]


def test_a_zip_that_says_it_is_text_is_refused(page, tmp_path):
    (tmp_path / "archive.txt").write_bytes(b"PK\x03\x04\x00\x00")
    page.locator("#compare-source").get_by_label("Clear").or_(
        page.locator("#compare-source button[aria-label*=lear], #compare-source button[aria-label*=emove]")
    ).first.click()
    page.locator("#compare-source input[type=file]").set_input_files(tmp_path / "archive.txt")
    playwright.expect(page.locator("#compare-source")).to_contain_text("archive")
    page.locator("#compare-button").click()
    assert "archive.txt is no plain text but a zip archive" in toast(page)


def test_the_example_corpus_is_compared(page):
    page.get_by_role("button", name="Use the example corpus").click()
    playwright.expect(page.locator("#compare-systems")).to_contain_text("overcorrect")
    page.locator("#compare-button").click()
    playwright.expect(page.locator("#compare-view")).to_contain_text("overcorrect")
    rows = cells(page, "#compare-view")
    scores = [float(row[1]) for row in rows]
    assert len(rows) == 5 and scores == sorted(scores, reverse=True)
    picture(page, "compare-light")


def test_the_leaderboard_is_ranked_anew(page):
    tab(page, "Meta-evaluation")
    playwright.expect(page.locator("#meta-view")).to_contain_text("SEEDA")
    page.get_by_label("GJG15").check()
    playwright.expect(page.locator("#meta-view")).to_contain_text("GJG15")
    assert "gleu" in page.locator("#meta-view").inner_text()
    picture(page, "meta-light")


def test_about(page):
    tab(page, "About")
    page.get_by_text("Metrics of this page").wait_for()
    picture(page, "about-light")
    assert page.strangers == [] and page.mishaps == []


@pytest.mark.parametrize(("width", "scheme"), [(1280, "dark"), (360, "light")])
def test_dark_and_narrow(visit, width, scheme):
    page = visit(width, 780, scheme)
    name = "dark" if scheme == "dark" else "narrow"
    fill(
        page, "We was very tired , because of we walked all the morning .", "We were tired because we walked .", "We ."
    )
    page.locator("#score-button").click()
    page.locator("#score-view table").wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate("document.body.classList.contains('dark')") is (scheme == "dark")
    picture(page, f"score-{name}")
    for title in ("Edit impacts", "Detect errors", "Compare systems", "Meta-evaluation", "About"):
        if not page.get_by_role("tab", name=title, exact=True).is_visible():
            page.locator(".overflow-menu > button").click()
            page.locator(".overflow-dropdown").get_by_text(title).click()
        else:
            tab(page, title)
        assert page.evaluate("document.documentElement.scrollWidth") <= width, title
        picture(page, f"{title.split()[0].lower()}-{name}")
    assert page.strangers == [] and page.mishaps == []
