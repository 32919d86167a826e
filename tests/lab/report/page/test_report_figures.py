"""The text's figures, drawn of our runs: which kernels are in them, in which order, on which page."""

from __future__ import annotations

import re

import pytest

from lab.base.paths import LabError
from lab.build.setup import need_lab
from lab.report.web import charts
from lab.report.web.figures import amount
from lab.report.web.page import pages
from tests.lab.report.report_samples import experiment, section

need_lab()

KERNELS = ["256 bytes, fill 8", "256 bytes, fill 16", "1024 bytes, fill 16", "1024 bytes, fill 8", "other"]
TEXT = """
name = "figures"
title = "Curves and bars"
reference = "other"
seeds = [1, 2, 3]

[[workload]]
name = "both"
run = ["workload", "sdet"]

[[measure]]
name = "user time"
unit = "s"
from = "metric:user"

[[measure]]
name = "elapsed time"
unit = "s"
from = "metric:elapsed"

[[figure]]
title = "Curves by fill factor"
kernels = '(?P<line>\\d+ bytes), fill (?P<x>\\d+)'
x = "fill factor"
measures = ["user time"]

[[figure]]
title = "Bars"
kernels = '(?P<line>\\d+ bytes), fill (?P<x>\\d+)'
x = "fill factor"
measures = ["user time"]
bars = true
up_to = "elapsed time"
""" + "".join(f'\n[[kernel]]\nname = "{name}"\n' for name in KERNELS)


def results(store):
    """The user time of a kernel is its place in KERNELS, from 1 on, and elapsed is ten times that."""
    from dataclasses import replace

    for use, cell in store.cells("figures", "reduced"):
        user = KERNELS.index(use.kernel) + 1
        store.record(replace(cell, results=[{"user": user, "elapsed": 10 * user}]))


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    return section(tmp_path_factory.mktemp("figures") / "r", TEXT, "figures", change=results)


def test_what_is_drawn_is_what_the_kernels_are_called(found):
    curves, bars = charts.charts(found, "figures")["figures"]
    assert curves.alt == "256 bytes, user time: 8: 1, 16: 2; 1024 bytes, user time: 8: 4, 16: 3"
    assert bars.alt == f"{curves.alt}; 256 bytes, elapsed time: 8: 10, 16: 20; 1024 bytes, elapsed time: 8: 40, 16: 30"
    texts = re.findall(r">([^<>]+)</text>", curves.inline)
    assert [text for text in texts if text in ("8", "16", "fill factor", "256 bytes", "1024 bytes", "other")] == ["8", "16", "fill factor", "256 bytes", "1024 bytes"]  # fmt: skip
    assert "user time, s" in texts and "elapsed time" in re.findall(r">([^<>]+)</text>", bars.inline)


def test_they_stand_on_the_first_page_in_place_of_another_chart(found):
    made = pages([found], "results.sqlite", "report.html")
    first, detail = made.texts["report.html"], made.texts["report-figures.html"]
    assert first.count('<figure class="chart">') == 2 and first.count('id="figures-figure-') >= 2
    assert 'id="figures-figure-' not in detail
    assert {"figures-figure-1", "figures-figure-2"} <= {chart.name for chart in made.charts}


def test_without_runs_there_is_no_figure(tmp_path):
    nothing = section(tmp_path / "r", TEXT, "figures", failed=tuple(KERNELS))
    assert charts.charts(nothing, "figures")["figures"] == []


def test_places_are_in_the_order_of_what_they_say():
    assert sorted(["1 MB", "512 KB", "0", "32 KB", "all"], key=amount) == ["0", "32 KB", "512 KB", "1 MB", "all"]
    assert sorted(["16", "8", "1", "128"], key=amount) == ["1", "8", "16", "128"]


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("(?P<x>", "(?P<y>", "says not what of a kernel's name is its place"),
        ("bytes), fill", "bytes, fill", "is no pattern"),
        ("bytes), fill", "words), fill", "fits no kernel. There are: 256 bytes, fill 8"),
        ('measures = ["user time"]', 'measures = ["used time"]', "there is no measure 'used time'"),
        ('up_to = "elapsed time"', 'up_to = "lapsed"', "there is no measure 'lapsed'"),
    ],
)
def test_a_figure_that_cannot_be_is_told_with_its_line(old, new, says):
    with pytest.raises(LabError) as caught:
        experiment(TEXT.replace(old, new), "figures")
    assert says in str(caught.value) and int(str(caught.value).split(":")[1]) > TEXT[: TEXT.index("[[figure]]")].count(
        "\n"
    )
