"""The pages of ./cw report as files: what is in it, that names stay names, that its charts are drawn and deterministic."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from lab.build.setup import need_lab
from lab.report.web import charts
from lab.report.web.drawing import INK, KERNELS, VARIABLES
from lab.report.web.page import LOG, alone, log_tail, pages
from tests.lab.report.report_samples import CURVE, HOSTILE, SMALL, TEXT, experiment, section

need_lab()


class Elements(HTMLParser):
    """Every element's name and attributes, and the text outside of style and script."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self.inside = ""
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.found.append((tag, dict(attributes)))
        self.inside = tag

    def handle_data(self, data):
        if self.inside not in ("style", "script"):
            self.text.append(data)

    def all(self, tag):
        return [attributes for name, attributes in self.found if name == tag]


@pytest.fixture(scope="module")
def sample_page(tmp_path_factory):
    """Two experiments; a kernel of the first failed, and another has a name that would be mischief."""
    folder = tmp_path_factory.mktemp("page")
    text = TEXT.replace('"twice"', json.dumps(HOSTILE)).replace("These results", "<b>These</b> results")
    first = section(folder / "a", text, failed=("four times",))
    second = section(folder / "b", CURVE, "curve")
    return pages([first, second], "results.sqlite", "report.html")


def said_on(text: str) -> str:
    return "".join(Elements(text).text)


def test_there_is_a_first_page_and_one_for_each_experiment(sample_page):
    assert list(sample_page.texts) == ["report.html", "report-sample.html", "report-curve.html"]


def test_a_page_needs_nothing_from_elsewhere(sample_page):
    for text in sample_page.texts.values():
        elements = Elements(text)
        assert text.startswith("<!DOCTYPE html>")
        assert not elements.all("img") and not elements.all("iframe") and not elements.all("base")
        assert [link["href"] for link in elements.all("link")] == ["data:,"]
        assert all("src" not in script for script in elements.all("script"))
        assert "@import" not in text and not re.search(r"url\((?!#)", text)
        for link in elements.all("a"):
            name = link["href"].partition("#")[0]
            assert name in ("", *sample_page.texts) or name.startswith("report-charts/"), link


def test_names_stay_names(sample_page):
    for text in (sample_page.first, sample_page.texts["report-sample.html"]):
        assert len(Elements(text).all("script")) == 1
        assert HOSTILE in said_on(text)
        assert "<b>These</b> results are made up." in said_on(text)


def test_links_inside_lead_somewhere_and_ids_are_unique(sample_page):
    ids = {
        name: [one["id"] for _, one in Elements(text).found if "id" in one] for name, text in sample_page.texts.items()
    }
    for name, text in sample_page.texts.items():
        elements = Elements(text)
        assert len(ids[name]) == len(set(ids[name]))
        for link in elements.all("a"):
            page, _, target = link["href"].partition("#")
            assert not target or target in ids[page or name]
        used = set(re.findall(r"url\(#([^)]+)\)", text)) | set(re.findall(r'xlink:href="#([^"]+)"', text))
        assert used <= set(ids[name])


def test_the_first_page_alone_leads_nowhere_else(tmp_path):
    """Of ./cw report --html -: what else there is, is not written."""
    text = alone([section(tmp_path / "r", SMALL)])
    assert all(link["href"].startswith("#") for link in Elements(text).all("a"))
    assert "Details of" not in text


def test_tables_have_headers_and_charts_have_words(sample_page):
    seen = 0
    for name, text in sample_page.texts.items():
        elements = Elements(text)
        assert all(head.get("scope") for head in elements.all("th"))
        pictures = [svg for svg in elements.all("svg") if svg.get("role") == "img"]
        assert len(pictures) == len(elements.all("svg"))
        seen += 0 if name == "report.html" else len(pictures)
        ids = {attributes["id"] for _, attributes in elements.found if "id" in attributes}
        assert all(set(svg["aria-labelledby"].split()) <= ids for svg in pictures)
    assert seen == len(sample_page.charts)
    ratios = next(chart for chart in sample_page.charts if chart.name == "sample-ratio-1")
    assert "four times at 16 scripts: –, paper 1.002" in ratios.alt


def test_what_failed_is_on_the_page_with_its_log(sample_page):
    said = said_on(sample_page.texts["report-sample.html"])
    assert said.count("seed 3: the kernel panicked: a test") == 1
    assert "5 of 15 runs gave no result" in said and "5 of 15 runs gave no result" in said_on(sample_page.first)
    assert "booted" in said


def test_every_run_is_on_the_page(sample_page):
    said = said_on(sample_page.texts["report-sample.html"])
    for seed in range(1, 6):
        assert f"./cw run --icount --defconfig lever-b -- workload sdm --scripts 16 --seed {seed}" in said


def test_links_to_charts_are_their_files(sample_page):
    text = "".join(sample_page.texts.values())
    links = {link["href"] for link in Elements(text).all("a") if link["href"].startswith("report-charts/")}
    assert links == {
        f"report-charts/{chart.name}.{ending}" for chart in sample_page.charts for ending in ("png", "svg")
    }


def test_charts_are_pictures(sample_page):
    drawn = sample_page.charts
    names = [chart.name for chart in drawn]
    assert len(set(names)) == len(names)
    assert {"sample-ratio-1", "sample-histogram-1", "sample-steps-buffer", "sample-memory", "curve-curve-1"} <= set(
        names
    )
    for chart in drawn:
        assert chart.files["png"].startswith(b"\x89PNG")
        assert ElementTree.fromstring(chart.files["svg"]).tag.endswith("svg")
        ElementTree.fromstring(chart.inline.replace("xlink:href", "href"))


def test_the_same_results_are_the_same_page(tmp_path):
    found = section(tmp_path / "r", SMALL)
    first, second = (pages([found], "results", "report.html") for _ in range(2))
    assert first == second


def test_a_kernel_has_one_colour_in_all_charts(sample_page):
    """Twice is the first kernel beside the reference: its colour is a variable on the page, itself in the files."""
    wanted = experiment()
    assert charts.colour(wanted, "plain") == INK
    assert charts.colour(wanted, "twice") == KERNELS[0]
    assert charts.colour(wanted, "four times") == KERNELS[1]
    for chart in (one for one in sample_page.charts if "histogram" not in one.name):
        assert "var(--kernel-1)" in chart.inline and "#0b62a8" not in chart.inline
        assert b"#0b62a8" in chart.files["svg"]


def test_what_chance_gives_is_the_binomial_distribution():
    """Two objects in four buckets: 9/16, 6/16, 1/16. Lever's histogram 3: 1686 empty buckets expected of 16384."""
    found = charts.binomial(2, 4)
    assert found[:3] == pytest.approx([9 / 16, 6 / 16, 1 / 16]) and sum(found) == pytest.approx(1)
    assert charts.binomial(37261, 16384)[0] * 16384 == pytest.approx(1686, abs=1)
    assert charts.binomial(9785, 256)[-1] == pytest.approx(1, abs=1e-4)


def test_the_style_sheet_has_the_charts_colours():
    from lab.report.web.page import FOLDER

    css = (FOLDER / "page.css").read_text()
    light = css[: css.index("data-theme")]
    for hex_colour, name in VARIABLES.items():
        assert f"--{name}: {hex_colour};" in light


def test_a_chart_survives_any_name(tmp_path):
    """Dollars are no formula, and what cannot be printed is a question mark."""
    text = SMALL.replace('"twice"', '"$x^2_$ \\u0007 \\u6F22 & a name that is far too long for a chart\'s margin"')
    drawn = pages([section(tmp_path / "r", text)], "results", "report.html").charts
    ElementTree.fromstring(drawn[0].files["svg"])
    assert "$x^2_$ ? " in drawn[0].inline


def test_no_measured_run_at_all_is_a_page(tmp_path):
    found = pages([section(tmp_path / "r", absent=("plain", "twice", "four times"))], "results", "report.html")
    for text in found.texts.values():
        assert "15 of 15 runs gave no result" in said_on(text)
        assert "not measured" in said_on(text)
    assert "none of the 15 runs has a result yet" in said_on(found.first)


def test_the_reference_alone_is_a_page(tmp_path):
    """With the paper's numbers, and nothing to compare them with yet."""
    head, _, rest = SMALL.partition('\n[[kernel]]\nname = "twice"')
    text = head + "paper = { steps = 2.155 }\n" + rest[rest.index("\n[[workload]]") :] + 'paper = "steps"\n'
    found = pages([section(tmp_path / "r", text)], "results", "report.html")
    assert "plain alone: there is nothing yet to compare it with" in said_on(found.first)


def test_memory_cache_misses_are_shown_where_there_are_any(tmp_path):
    def simulate(store):
        for _, cell in store.cells("sample", "reduced"):
            region = {"lookups": 1000, "accesses": 5000, "l1_misses": 250, "l2_misses": 40, "cycles": 9000}
            store.record(replace(cell, cachesim={"accesses": 1, "buffer": region, "inode": region, "total": region}))

    found = section(tmp_path / "r", SMALL, change=simulate)
    assert {one.region for one in found.misses} == {"buffer", "inode", "total"}
    made = pages([found], "results", "report.html")
    chart = next(one for one in made.charts if one.name == "sample-misses-buffer")
    assert "twice at 16 scripts: L1 0.25, L2 0.04" in chart.alt
    assert "l1 misses" in made.texts["report-sample.html"]


def test_no_memory_cache_misses_are_no_part_of_the_page(sample_page):
    assert not any("Simulated memory caches" in text for text in sample_page.texts.values())


def test_of_a_log_the_end_is_kept_without_what_moves_a_terminal():
    assert log_tail("\x1b[2J\x1b[31mred\x1b[0m\r\n\x00\x07end") == "red\nend"
    assert log_tail("x" * LOG + "end") == "x" * (LOG - 3) + "end"


def test_the_papers_table_stands_beside_ours_as_it_prints_it(tmp_path):
    """Of A and B, whose throughputs are 52 and 53 on one thread; in the paper 4341.93 and 4401.95."""
    found = section(tmp_path / "r", CURVE.replace("seeds =", "printed = true\nseeds =", 1), "curve")
    table = (
        pages([found], "results.sqlite", "report.html")
        .texts["report.html"]
        .partition('<table class="printed">')[2]
        .partition("</table>")[0]
    )
    said = [text.strip() for text in Elements(table).text if text.strip()]
    assert said[:8] == ["paper", "here", "B", "A", "saved", "B", "A", "saved"]
    assert said[8:16] == ["1 thread", "throughput, operations/s", "4401.9", "4341.9", "-1 %", "53", "52", "-2 %"]
    assert len(said) == 8 + 3 * 8
    without = section(tmp_path / "w", CURVE, "curve")
    assert '<table class="printed">' not in pages([without], "results.sqlite", "report.html").texts["report.html"]
