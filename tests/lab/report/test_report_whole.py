"""The page of ./cw report with as many runs as Lever's tables have at full size: how large, how many charts, in which order."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from lab.build.setup import need_lab
from lab.report import summary
from lab.report.web import charts
from lab.report.web.page import CHARTS, alone
from lab.sweep.measures import value
from tests.lab.report import plausible_results
from tests.lab.report.page.test_report_page import Elements, said_on
from tests.lab.report.report_samples import SMALL, TEXT, section

need_lab()

LARGEST = 1_500_000  # bytes


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    return plausible_results.sections(tmp_path_factory.mktemp("whole") / "r", plausible_results.TABLES)


@pytest.fixture(scope="module")
def first(tables):
    return alone(list(reversed(tables)))


def test_the_first_page_is_small(first):
    pictures = Elements(first).all("svg")
    assert len(first.encode()) <= LARGEST
    assert len(pictures) == len(plausible_results.TABLES) <= CHARTS
    # The other experiments' tables are smaller than these: all of them are below the bound as well.
    assert len(first.encode()) / len(pictures) * CHARTS <= LARGEST


def test_the_sections_are_in_the_papers_order(first):
    ids = [found["id"] for found in Elements(first).all("section") if found.get("class") == "experiment"]
    assert ids == plausible_results.TABLES
    assert first.index('class="summary"') < first.index("<main>")


def test_the_summarys_counts_are_the_verdicts(first, tables):
    screen = first[first.index('<ul class="tally"') : first.index("</header>")]
    shown = re.findall(r"<b>(\d+)</b> <span class=\"word\"><span[^>]*>.</span> ([a-z ]+)</span>", screen)
    assert {word: int(number) for number, word in shown} == summary.total(tables)
    by_line = re.findall(r'title="([a-z ]+): (\d+)"', screen)
    for word, number in summary.total(tables).items():
        assert sum(int(count) for name, count in by_line if name == word) == number


def test_details_are_not_on_the_first_page(first):
    said = said_on(first)
    for word in (
        "Histogram",
        "Simulated memory caches",
        "Steps of lookups",
        "deviations and single runs",
        "under other costs, memories",
    ):
        assert word not in said


def test_no_more_charts_than_twenty(tmp_path, monkeypatch):
    monkeypatch.setattr("lab.report.web.page.CHARTS", 1)
    one = section(tmp_path / "a", SMALL.replace('name = "sample"', 'name = "first"'), "first")
    text = alone([one, section(tmp_path / "b", SMALL)])
    assert len(Elements(text).all("svg")) == 1


def test_a_demonstration_says_so_in_large_words(tmp_path):
    text = alone([section(tmp_path / "r", TEXT.replace("whole = true", "whole = false"))])
    large = re.findall(r'<p class="demonstration">([^<]+)', text)
    assert [words.strip() for words in large] == ["Demonstration: figures, no verdicts"] * 2  # of all, and of the table
    assert "found again" not in text and 'aria-label="All verdicts"' not in text
    judged = alone([section(tmp_path / "j", TEXT)])
    assert 'class="demonstration"' not in judged and "What was found again of Nobody 1999" in judged


def test_runs_without_a_result_are_told_on_top(tmp_path):
    text = alone([section(tmp_path / "r", failed=("twice",))])
    assert "5 of 15 runs have no result" in said_on(text[: text.index("<main>")])


def test_no_bar_stands_at_nothing(tmp_path):
    """Of what never happened: misses of the second level, removes, lookups that missed. As words, not as bars at 0."""

    def nothing(store):
        for _, cell in store.cells("sample", "reduced"):
            region = {"lookups": 1000, "accesses": 5000, "l1_misses": 250, "l2_misses": 0, "cycles": 9000}
            stats = {**cell.stats, "buffer": {**cell.stats["buffer"], "misses": 0, "bytes": 0}}
            store.record(replace(cell, cachesim={"buffer": region, "total": region}, stats=stats))

    text = SMALL + '\n[[measure]]\nname = "removes"\nfrom = "stats:buffer.removes"\n'
    found = section(tmp_path / "r", text, change=nothing)
    assert value("stats:buffer.removes", found.good("plain", "16 scripts")[0][1]) == 0
    drawn = {chart.name: chart for group in charts.charts(found).values() for chart in group}
    assert words_in(drawn["sample-misses-buffer"]).count("never") == 2
    assert words_in(drawn["sample-steps-buffer"]).count("never") == 2
    assert "sample-memory" not in drawn, "bytes of no table"
    assert "never" in drawn["sample-misses-buffer"].alt
    assert "sample-ratio-2" not in drawn, "a chart of nothing"


def test_never_beside_what_happened(tmp_path):
    """One kernel never removes, the other does: the table and the chart say so."""

    def only_plain(store):
        for use, cell in store.cells("sample", "reduced"):
            removes = 8 if use.kernel == "plain" else 0
            store.record(replace(cell, stats={**cell.stats, "buffer": {**cell.stats["buffer"], "removes": removes}}))

    text = SMALL.replace("stats:buffer.steps_per_lookup", "stats:buffer.removes")
    text += '\n[[kernel]]\nname = "half"\ndefconfig = "lever-b"\n'
    found = section(tmp_path / "r", text, change=only_plain)
    page = alone([found])
    assert "twice: steps never" in said_on(page) and ">0.000<" not in page


def words_in(chart) -> list[str]:
    return re.findall(r">([^<>]+)</text>", chart.inline)
