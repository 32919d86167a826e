"""The pages of ./cw report in a browser: on a phone and on a desk, light and dark, folded and unfolded.

Debian's chromium, driven by playwright; `make test` installs both. Elsewhere, without a chromium, these tests are
skipped, but never where CI is set.
"""

from __future__ import annotations

import json
import re

import pytest

from tests.lab.browser import CONTRASTS, DESK, OVERFLOW, PHONE, require_chromium, watched
from tests.lab.report.report_samples import CURVE, HOSTILE, TEXT, section

require_chromium("the page of ./cw report")

PAGES = ["report.html", "report-sample.html", "report-curve.html"]
DETAILS = "report-sample.html"
UNFOLD = "document.querySelectorAll('details').forEach((one) => one.open = true)"


@pytest.fixture(scope="module")
def page_file(tmp_path_factory):
    """The page of two experiments, as ./cw report --html writes it: with a failure and a name that is mischief."""
    from lab.report.command import write_page

    folder = tmp_path_factory.mktemp("browser")
    text = TEXT.replace('"twice"', json.dumps(HOSTILE + " " + "a long name" * 2))
    first = section(folder / "a", text, failed=("four times",))
    second = section(folder / "b", CURVE, "curve")
    write_page([first, second], "build/results.sqlite", folder / "report.html")
    return folder / "report.html"


@pytest.fixture
def visit(browser, page_file):
    """Open a page; at the end nothing may have been complained about, asked for elsewhere, or popped up."""
    with watched(browser, ("file:", "data:")) as window:
        yield lambda name="report.html", **options: window(page_file.with_name(name).as_uri(), **options)


@pytest.mark.turns(3)
@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize("size", [PHONE, DESK, {"width": 320, "height": 600}], ids=["phone", "desk", "narrow"])
def test_nothing_is_wider_than_the_window(visit, size, name):
    page = visit(name, viewport=size)
    assert page.evaluate(OVERFLOW) == 0
    page.evaluate(UNFOLD)
    assert page.evaluate(OVERFLOW) == 0
    wide = page.evaluate(
        "[...document.querySelectorAll('.scroll')].filter((one) => one.scrollWidth > one.clientWidth).length"
    )
    if size is PHONE:
        assert wide, "no table is wider than a phone: the test tests nothing"


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out(visit, scheme, name):
    page = visit(name, viewport=DESK, color_scheme=scheme)
    page.evaluate(UNFOLD)
    assert page.evaluate(CONTRASTS) == []


def background(page):
    return page.evaluate("getComputedStyle(document.body).backgroundColor")


def test_the_theme_is_the_systems_until_the_button_says_otherwise(visit):
    light, dark = visit(color_scheme="light"), visit(color_scheme="dark")
    assert background(light) == "rgb(255, 255, 255)" and background(dark) == "rgb(20, 24, 29)"
    ink = "getComputedStyle(document.querySelector('.chart svg text')).fill"
    before = light.evaluate(ink)
    light.get_by_role("button", name="Dark theme").click()
    assert background(light) == background(dark)
    assert light.evaluate(ink) == dark.evaluate(ink) != before
    light.reload()
    assert background(light) == background(dark), "the choice is forgotten"
    light.get_by_role("button", name="Light theme").click()
    assert background(light) == "rgb(255, 255, 255)"


def test_the_summary_leads_to_the_tables_and_their_details(visit):
    page = visit(viewport=PHONE)
    page.get_by_role("link", name="Operations a second against threads", exact=False).first.click()
    heading = page.get_by_role("heading", name="Operations a second against threads")
    assert 0 <= heading.bounding_box()["y"] < PHONE["height"] / 2
    page.get_by_role("link", name="details of").last.click()
    assert page.url.endswith("report-curve.html")
    page.get_by_role("link", name="Chainwalk report").click()
    assert page.url.endswith("report.html#curve")


def test_the_theme_goes_along_to_the_details(visit):
    page = visit(color_scheme="light")
    page.get_by_role("button", name="Dark theme").click()
    page.get_by_role("link", name="details of").first.click()
    page.wait_for_url(re.compile("/report-"))  # until it is loaded: a click returns before that on a busy host
    assert background(page) == "rgb(20, 24, 29)"


def test_folds_open_and_close(visit):
    page = visit(DETAILS, viewport=PHONE)
    fold = page.locator("details.absolute").first
    table = fold.locator("table")
    assert not table.is_visible()
    fold.locator("summary").click()
    assert table.is_visible() and "4282.8" in table.inner_text()
    fold.locator("summary").click()
    assert not table.is_visible()
    log = page.locator(".faults details").first
    log.locator("summary").click()
    assert log.locator("pre").inner_text().strip() == "booted"


def test_a_number_leads_to_its_run(visit):
    page = visit(DETAILS, viewport=DESK)
    runs = page.locator("details.runs").first
    assert not runs.locator("table").is_visible()
    page.locator("details.absolute summary").first.click()
    page.get_by_role("link", name="3: 1003", exact=True).first.click()
    row = page.locator("tr:target")
    assert row.is_visible() and runs.evaluate("one => one.open")
    assert "--seed 3" in row.inner_text() and "plain" in row.inner_text()


def test_a_link_unfolds_where_the_browser_does_not(visit):
    """Chromium opens what holds a link's target by itself; a changed address without a jump is as in other browsers."""
    page = visit(DETAILS, viewport=DESK)
    runs = page.locator("details.runs").first
    page.evaluate("history.replaceState(null, '', '#sample-run-2')")
    assert not runs.evaluate("one => one.open")
    page.evaluate("window.dispatchEvent(new HashChangeEvent('hashchange'))")
    assert runs.evaluate("one => one.open")


def kernels(table):
    return table.locator("tbody tr:not(.group) th[scope=row]").all_inner_texts()


def test_tables_sort_by_their_columns(visit):
    page = visit(viewport=DESK)
    table = page.locator("table.ratios").first
    names = kernels(table)
    table.get_by_role("button", name="here").click()
    head = table.locator("thead th", has_text="here")
    assert head.get_attribute("aria-sort") == "ascending"
    assert kernels(table) == names  # 1, then 1.02, and last what has no number
    table.get_by_role("button", name="here").click()
    assert head.get_attribute("aria-sort") == "descending"
    assert kernels(table) == [names[1], names[0], names[2]]  # what has no number stays last
    table.get_by_role("button", name="kernel").click()
    assert head.get_attribute("aria-sort") == "none"
    assert kernels(table) == sorted(names, key=lambda name: (name[0].isalnum(), name))


def test_sorting_stays_within_a_workload(visit):
    page = visit(viewport=DESK)
    table = page.locator("table.ratios", has_text="16 threads").first
    table.get_by_role("button", name="kernel").click()
    table.get_by_role("button", name="kernel").click()
    assert kernels(table) == ["B", "A"] * 3
    firsts = table.locator("tbody tr:first-child")
    assert firsts.all_inner_texts() == ["1 thread", "2 threads", "16 threads"]


def test_the_list_of_runs_is_filtered(visit):
    page = visit(DETAILS, viewport=DESK)
    runs = page.locator("details.runs").first
    runs.locator("summary").click()
    rows = runs.locator("tbody tr")
    assert rows.count() == 15
    runs.get_by_role("searchbox").fill("failed four")
    assert [row.is_visible() for row in rows.all()].count(True) == 5
    runs.get_by_role("searchbox").fill("")
    assert [row.is_visible() for row in rows.all()].count(True) == 15


def test_without_scripts_the_page_is_whole(visit):
    page = visit(viewport=PHONE, java_script_enabled=False)
    assert not page.get_by_role("button").count()
    assert page.get_by_text("What the paper found").is_visible()
    page = visit(DETAILS, viewport=PHONE, java_script_enabled=False)
    page.locator("details.absolute summary").first.click()
    assert page.locator("details.absolute table").first.is_visible()


@pytest.mark.parametrize(("name", "least"), [("report.html", 2), (DETAILS, 5)])
def test_charts_are_seen_and_their_files_are_there(visit, page_file, name, least):
    page = visit(name, viewport=PHONE)
    charts = page.locator("figure.chart")
    assert charts.count() >= least
    for chart in charts.all():
        box = chart.locator("svg").bounding_box()
        assert 250 < box["width"] <= 375 and box["height"] > 80
        for link in chart.locator("a").all():
            assert (page_file.parent / link.get_attribute("href")).stat().st_size > 1000


@pytest.fixture(scope="module")
def whole_file(tmp_path_factory):
    """The first page of Lever's and Santos's summary: every table of the texts, and a failure in each. With the 1991
    text's six lines, or the tables once more on four processors, it is more than a screen."""
    from lab.report.web import page
    from lab.sweep.toml.files import FOLDER, like_of
    from tests.lab.report import plausible_results

    folder = tmp_path_factory.mktemp("whole")
    files = [path for path in sorted(FOLDER.glob("*.toml")) if path.stem.startswith(("lever-", "santos-"))]
    names = [path.stem for path in files if path.stem != "lever-hashcost" and not like_of(path)]  # that one compiles
    sections = page.summary.in_order(plausible_results.sections(folder / "r", names, seeds=2))
    views = page._views(sections, [{} for _ in sections], "report")  # without charts: they are below the summary
    (folder / "report.html").write_text(page._first(views, "report-charts"))
    return folder / "report.html"


def test_the_summary_is_one_screen(visit, whole_file):
    page = visit(viewport=DESK)
    page.goto(whole_file.as_uri())
    lines = page.locator(".summary .text li")
    assert lines.count() >= 16
    assert page.locator(".summary").bounding_box()["y"] + page.locator(".summary").bounding_box()["height"] <= 800
    assert min(line.bounding_box()["height"] for line in lines.all()) >= 18
    page.set_viewport_size(PHONE)
    assert page.evaluate(OVERFLOW) == 0
    sizes = "[...document.querySelectorAll('.text li p')].map((one) => parseFloat(getComputedStyle(one).fontSize))"
    assert min(page.evaluate(sizes)) >= 12


@pytest.mark.turns(2)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_summary_is_one_sheet_of_paper(visit, whole_file, scheme):
    """In print it is light, as wide as A4 within its margins, and no higher; what comes next is on another sheet."""
    page = visit(color_scheme=scheme, viewport={"width": 703, "height": 1000})  # 186 mm
    page.goto(whole_file.as_uri())
    page.emulate_media(media="print", color_scheme=scheme)
    assert background(page) == "rgb(255, 255, 255)"
    assert page.locator(".summary").bounding_box()["height"] <= 273 * 96 / 25.4
    assert page.evaluate(OVERFLOW) == 0
    assert page.evaluate("getComputedStyle(document.querySelector('.summary')).breakAfter") == "page"
    assert not page.locator("#theme").is_visible()
    page.evaluate("document.querySelectorAll('main, footer').forEach((one) => one.remove())")
    sheets = re.findall(rb"/Type /Page\b", page.pdf(prefer_css_page_size=True, print_background=True))
    assert len(sheets) == 1
