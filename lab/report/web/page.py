"""A report as HTML: a first page that says what came of it, and a page of details for each experiment, beside it.

The first page is a summary of one screen and one sheet of paper, then each experiment's findings, its tables that have
the paper's numbers, and one chart. Histograms, other settings, single runs and all other charts are on further pages,
which are linked as any page is: that works from a folder on a disk as from a server, with and without scripts, and in
print. (What a script would fetch when a part is unfolded, browsers refuse to pages that have no server; a frame would
not have its content's height, and a picture not the page's colours.)

Every page needs nothing but itself: style, script and charts are inside. page.html and detail.html are the templates,
parts.html what both have; every name that comes from a file or from results is escaped by them. page.css has both
themes, page.js what moves: without it the pages are whole, only tables do not sort and the theme is the system's.
"""

from __future__ import annotations

import multiprocessing
import os
import re
import signal
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lab.report import summary, words
from lab.report.collect import CACHES, Judgement, Section, Table, concerned, short_revision
from lab.report.figures import Chains, Misses
from lab.report.numbers import Sample
from lab.report.web import charts
from lab.report.web.drawing import Chart, variable
from lab.report.web.printed import Group, printed
from lab.sweep.toml import files

FOLDER = Path(__file__).parent
CHARTS = 20  # at most on the first page
LOG = 20_000  # characters of a failed run's log, from its end
CONTROL = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|[\x00-\x08\x0b-\x1f\x7f]")


class View:
    """A section as the template sees it: ids, charts, and what is put together for it."""

    def __init__(self, section: Section, name: str, drawn: dict[str, list[Chart]], detail: str) -> None:
        self.section = section
        self.experiment = section.experiment
        self.id = name
        self.name = summary.name_of(section.experiment)
        self.charts = drawn
        self.detail = detail  # the page of the details; "": it is not written
        self.run_ids: dict[tuple[str, str, int], str] = {}
        for one, key in enumerate(section.cells, 1):
            self.run_ids[key] = f"{self.id}-run-{one}"

    @property
    def counts(self) -> dict[Any, int]:
        return summary.counts(self.section)

    @property
    def shown(self) -> list[Table]:
        """The tables of the first page: those with the paper's numbers, or else the main one."""
        return [table for table in self.section.tables if table.has_paper] or self.section.tables[:1]

    @property
    def printed(self) -> list[Group]:
        """The text's own table, ours beside it."""
        return printed(self.section)

    @property
    def figures(self) -> list[Chart]:
        """The text's own figures, all of which stand on the first page."""
        return self.charts.get("figures", [])

    @property
    def main(self) -> Chart | None:
        """The chart of the first page, where the text has no figures."""
        return None if self.figures else next(iter(self.charts.get(main_part(self.section), [])), None)

    @property
    def contents(self) -> str:
        """What stands on the page of details."""
        section = self.section
        parts = [
            f"{len(section.tables)} measures with means, deviations and every seed", "histograms" if section.histograms else "",
            "other settings of the simulated processor" if section.sensitivities else "", "steps and memory" if section.chains else "",
            "memory caches" if section.misses else "", f"the {len(section.cells)} runs and their commands",
        ]  # fmt: skip
        return ", ".join(part for part in parts if part)

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
        return variable(charts.colour(self.experiment, kernel))

    def runs_of(self, one: Sample | None, kernel: str, variant: str) -> list[tuple[int, float, str, bool]]:
        """(seed, value, id on the page, dropped) of what a mean is of."""
        if one is None:
            return []
        found = [(run, False) for run in one.kept] + [(run, True) for run in one.dropped]
        return sorted((run.seed, run.value, self.run_ids[kernel, variant, run.seed], gone) for run, gone in found)

    def judged(self, one: Judgement) -> str:
        """The numbers of a judgement, short."""
        paper = f"; paper {words.quotient(one.paper_ratio)}" if one.paper_ratio else ""
        wanted = f", wanted {one.expect.wanted}" if one.expect.wanted else ""
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


def main_part(section: Section) -> str:
    """Which of an experiment's charts stand on the first page: the text's figures; or one, the curves of threads or the first table's ratios."""
    if section.experiment.figure:
        return "figures"
    if any(curve.noun == "threads" for curve in section.curves):
        return "curves"
    shown = next((table for table in section.tables if table.has_paper), section.tables[0])
    return f"measure {shown.measure.name}"


def draw(sections: list[Section], only_main: bool = False) -> list[dict[str, list[Chart]]]:
    """The charts of each section, on all CPUs: one takes about half a second, and some experiments have twenty."""
    wanted = [(section, main_part(section) if only_main else "") for section in sections]
    workers = min(os.cpu_count() or 1, len(sections))
    if workers < 2:
        return [charts.charts(*one) for one in wanted]
    for section in sections:
        _ = section.tables, section.judgements  # which the page needs as well: made once, they travel along
    with multiprocessing.get_context("spawn").Pool(workers, _let_the_parent_decide) as pool:  # at its end they are gone
        return pool.starmap(charts.charts, wanted, chunksize=1)


def _let_the_parent_decide() -> None:
    """A worker is ended by its parent, which hears of Ctrl-C itself."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


@dataclass(frozen=True)
class Pages:
    """By their files' names, the first one first, and the files of charts."""

    texts: dict[str, str]
    charts: list[Chart]

    @property
    def first(self) -> str:
        return next(iter(self.texts.values()))


def pages(sections: list[Section], results: str, first: str) -> Pages:
    """All pages: @first, say report.html, report-EXPERIMENT.html, and their charts, whose files belong into report-charts."""
    ordered, name = summary.in_order(sections), Path(first).stem
    drawn = draw(ordered)
    views = _views(ordered, drawn, name)
    texts = {first: _first(views, f"{name}-charts")}
    for view in views:
        texts[view.detail] = _render("detail.html", view=view, first=first, folder=f"{name}-charts", results=results)
    return Pages(texts, [chart for found in drawn for group in found.values() for chart in group])


def alone(sections: list[Section]) -> str:
    """The first page without others: nothing in it is a link to another file."""
    ordered = summary.in_order(sections)
    return _first(_views(ordered, draw(ordered, only_main=True), ""), "")


def _views(sections: list[Section], drawn: list[dict[str, list[Chart]]], name: str) -> list[View]:
    """@name: of the first page's file; "": there are no others."""
    views: list[View] = []
    for section, found in zip(sections, drawn, strict=True):
        slug = re.sub(r"[^a-z0-9]+", "-", section.experiment.name.lower()).strip("-") or "experiment"
        slug += f"-{len(views) + 1}" if slug in {"summary", "theme", *(view.id for view in views)} else ""
        views.append(View(section, slug, found, f"{name}-{slug}.html" if name else ""))
    return views


def _first(views: list[View], folder: str) -> str:
    for view in views[CHARTS:]:
        view.charts = {part: charts for part, charts in view.charts.items() if part != main_part(view.section)}
    sections = [view.section for view in views]
    return _render(
        "page.html", views=views, folder=folder, summary=_summary(sections),
        of=lambda section: next(view for view in views if view.section is section),
    )  # fmt: skip


def _summary(sections: list[Section]) -> dict[str, Any]:
    """What the first screen says."""
    texts = summary.texts(sections)
    named = " and ".join(text.name for text in texts if text.name != summary.OTHERS)
    judged = [section for section in sections if section.judged]
    found = "What was found again" + (f" of {named}" if named else "")
    stands = summary.standing(sections)
    return {
        "headline": found if 2 * len(judged) > len(sections) else f"{named or 'Experiments'}, measured in part",
        "judged": bool(judged), "demonstrations": sum(not section.judged for section in sections), "total": summary.total(judged),
        "texts": texts, "meanings": summary.MEANINGS, "faults": sum(len(section.faults) for section in sections),
        "runs": sum(words.runs_asked(section) for section in sections), "absent": absent(sections),
        "standing": words.standing(stands) if stands else "", "aims": words.aims(summary.aims(judged)),
    }  # fmt: skip


def absent(sections: list[Section]) -> list[str]:
    """The experiments of the same texts that the report has nothing of."""
    authors = {section.experiment.paper.split(" ")[0] for section in sections} - {""}
    known = {section.experiment.name for section in sections}
    found = []
    for path in sorted(files.FOLDER.glob("*.toml")):
        try:
            told = tomllib.loads(path.read_text(encoding="utf-8"))
        except tomllib.TOMLDecodeError:
            continue  # ./cw sweep says what is wrong with it
        if told.get("paper", "").split(" ")[0] in authors and path.stem not in known:
            found.append(path.stem)
    return found


def _render(template: str, **values: Any) -> str:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=FileSystemLoader(FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    text = environment.get_template(template).render(
        words=words, log_tail=log_tail, log_length=LOG, short_revision=short_revision, Markup=Markup,
        css=Markup((FOLDER / "page.css").read_text(encoding="utf-8")),
        script=Markup((FOLDER / "page.js").read_text(encoding="utf-8")),
        paragraphs=lambda text: [part.strip() for part in re.split(r"\n\s*\n", text) if part.strip()], **values,
    )  # fmt: skip
    return text.strip() + "\n"
