"""A report as one HTML page that needs nothing but itself: style, script and charts are inside.

page.html is the template; every name that comes from a file or from results is escaped by it. page.css has both
themes, page.js what moves: without it the page is whole, only tables do not sort and the theme is the system's.
"""

from __future__ import annotations

import multiprocessing
import os
import re
import signal
from pathlib import Path
from typing import Any

from lab.report import words
from lab.report.collect import CACHES, Judgement, Section, Table, concerned, short_revision
from lab.report.figures import Chains, Misses
from lab.report.numbers import Sample
from lab.report.web import charts
from lab.report.web.charts import Chart

FOLDER = Path(__file__).parent
LOG = 20_000  # characters of a failed run's log, from its end
CONTROL = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|[\x00-\x08\x0b-\x1f\x7f]")


class View:
    """A section as the template sees it: ids, charts, and what is put together for it."""

    def __init__(self, section: Section, number: int, drawn: dict[str, list[Chart]]) -> None:
        self.section = section
        self.experiment = section.experiment
        self.id = f"experiment-{number}"
        self.charts = drawn
        self.run_ids: dict[tuple[str, str, int], str] = {}
        for one, key in enumerate(section.cells, 1):
            self.run_ids[key] = f"{self.id}-run-{one}"

    @property
    def counts(self) -> list[tuple[str, int]]:
        """(verdict, how many), those that there are."""
        verdicts = [one.word for one in self.section.judgements]
        return [(verdict, verdicts.count(verdict)) for verdict in words.SIGNS if verdict in verdicts]  # type: ignore[arg-type]

    @property
    def loops(self) -> list[tuple[str, str, str]]:
        return words.commands(self.section)

    @property
    def steps(self) -> list[Chains]:
        about = concerned(self.experiment)
        return [one for cache in CACHES for one in self.section.chains if one.cache == cache and cache in about]

    @property
    def other_steps(self) -> list[Chains]:
        """Of the caches that the experiment is not about."""
        about = concerned(self.experiment)
        return [one for cache in CACHES for one in self.section.chains if one.cache == cache and cache not in about]

    @property
    def misses(self) -> list[Misses]:
        return [one for one in self.section.misses if one.region in (*concerned(self.experiment), "rest", "total")]

    @property
    def other_misses(self) -> list[Misses]:
        return [one for one in self.section.misses if one not in self.misses]

    @property
    def region_columns(self) -> list[str]:
        return list(dict.fromkeys(name for one in self.section.misses for name in one.counts))

    def style(self, kernel: str) -> str:
        """The variable of a kernel's colour, for the dot before its name."""
        return charts.variable(charts.colour(self.experiment, kernel))

    def runs_of(self, one: Sample | None, kernel: str, variant: str) -> list[tuple[int, float, str, bool]]:
        """(seed, value, id on the page, dropped) of what a mean is of."""
        if one is None:
            return []
        found = [(run, False) for run in one.kept] + [(run, True) for run in one.dropped]
        return sorted((run.seed, run.value, self.run_ids[kernel, variant, run.seed], gone) for run, gone in found)

    def judged(self, one: Judgement) -> str:
        """The numbers of a judgement, short."""
        paper = f"; paper {words.quotient(one.paper_ratio)}" if one.paper_ratio else ""
        wanted = f", wanted ≥\N{NO-BREAK SPACE}{one.expect.at_least:g}" if one.expect.at_least > 1 else ""
        return f"{words.quotient(one.ratio)}{wanted}{paper}"

    def noted(self, table: Table) -> bool:
        """Whether a table of ratios needs a column for remarks."""
        return any(words.note(row, table) for row in table.rows)

    def extra(self, row: dict[str, Any]) -> str:
        """What else the paper printed of a kernel."""
        return ", ".join(f"{name} {value}" for name, value in row.items())


def log_tail(text: str) -> str:
    """The end of a log, without what moves a terminal's cursor."""
    return CONTROL.sub("", text.replace("\r\n", "\n"))[-LOG:]


def draw(sections: list[Section]) -> list[dict[str, list[Chart]]]:
    """The charts of each section, on all CPUs: one takes about half a second, and some experiments have twenty."""
    workers = min(os.cpu_count() or 1, len(sections))
    if workers < 2:
        return [charts.charts(section) for section in sections]
    for section in sections:
        _ = section.tables, section.judgements  # which the page needs as well: made once, they travel along
    with multiprocessing.get_context("spawn").Pool(workers, _let_the_parent_decide) as pool:  # at its end they are gone
        return pool.map(charts.charts, sections, chunksize=1)


def _let_the_parent_decide() -> None:
    """A worker is ended by its parent, which hears of Ctrl-C itself."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def page(sections: list[Section], results: str, folder: str) -> tuple[str, list[Chart]]:
    """The page, and its charts; @folder: where their files are, as the page is to link them."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=FileSystemLoader(FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    drawn = zip(sections, draw(sections), strict=True)
    views = [View(section, number, found) for number, (section, found) in enumerate(drawn, 1)]
    text = environment.get_template("page.html").render(
        views=views, words=words, results=results, folder=folder, log_tail=log_tail, log_length=LOG, short_revision=short_revision, Markup=Markup,
        css=Markup((FOLDER / "page.css").read_text(encoding="utf-8")),
        script=Markup((FOLDER / "page.js").read_text(encoding="utf-8")),
        verdicts=[(verdict, sum(dict(view.counts).get(verdict, 0) for view in views)) for verdict in words.SIGNS],
        faults=sum(len(view.section.faults) for view in views),
        paragraphs=lambda text: [part.strip() for part in re.split(r"\n\s*\n", text) if part.strip()],
    )  # fmt: skip
    return text, [chart for view in views for group in view.charts.values() for chart in group]
