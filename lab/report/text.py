"""A report as text: tables by rich, in colour on a terminal, plain in a file."""

from __future__ import annotations

import io

from rich import box
from rich.console import Console
from rich.padding import Padding
from rich.table import Table as RichTable
from rich.text import Text

from lab.report import summary, words
from lab.report.collect import TOLERANCE, Section, Table, concerned
from lab.report.figures import Buckets, Curve
from lab.sweep.experiment import ROWS

STYLES = {
    "reproduced": "green", "direction only": "cyan", "no worse": "cyan", "no effect here": "bold red",
    "contradicted": "bold red", "answered": "green", "undecided": "yellow", "left open": "dim", "not measured": "dim", "demonstration": "dim",
    "aim reached": "green", "aim missed": "red", "aim undecided": "yellow", "aim not measured": "dim",
}  # fmt: skip
WIDTH = 160  # of text that is on no terminal
LAST_LINES = 5  # of a failed run's log


def plain(sections: list[Section], width: int = WIDTH) -> str:
    """The whole report for a file or a pipe."""
    console = Console(file=io.StringIO(), width=width, color_system=None, force_terminal=False, legacy_windows=False)
    show(sections, console)
    written = console.file
    assert isinstance(written, io.StringIO)
    return "\n".join(line.rstrip() for line in written.getvalue().splitlines()) + "\n"


def show(sections: list[Section], console: Console) -> None:
    """All of @sections; what it comes to first, if there are several."""
    if len(sections) > 1:
        _summary(sections, console)
    for section in summary.in_order(sections):
        _section(section, console)
    console.print(Text("How to read this", style="bold"))
    for paragraph in words.METHOD:
        console.print(Padding(Text(paragraph), (0, 0, 1, 2)))


def _summary(sections: list[Section], console: Console) -> None:
    """The page's first screen: all verdicts, then for each table of a text its own and the main finding."""
    if any(section.judged for section in sections):
        whole = [section for section in sections if section.judged]
        total = summary.total(whole)
        console.print(Text("All verdicts", style="bold"))
        for word, count in total.items():
            console.print(Text(f"  {count:4} ").append_text(_verdict(word)).append(f": {summary.MEANINGS[word]}"))
        stands = summary.standing(sections)
        below = [words.aims(summary.aims(whole)), words.standing(stands) if stands else ""]
        console.print(Text("".join(f"{one}\n" for one in below if one)))
    for text in summary.texts(sections):
        grid = _grid(
            f"<{text.name}",
            "<verdicts",
            "<of what was measured: where the paper has its greatest effect, or else the greatest",
        )
        for line in text.lines:
            judged = line.section.judged
            counts = [f"{words.SIGNS[word]} {count}" for word, count in line.counts.items()]
            faults = [f"{len(line.section.faults)} without result"] if line.section.faults else []
            said = " ".join([*counts, *faults]) if judged else "no verdicts"
            _add(grid, Text(f"{line.name}: {line.section.experiment.title}"), said, Text(line.finding.said))
        console.print(grid)


def _line(console: Console, text: str, style: str = "") -> None:
    """A line of ours: never broken, since it may be a command, and never read as markup."""
    console.print(Text(text, style=style), soft_wrap=True)


def _section(section: Section, console: Console) -> None:
    experiment = section.experiment
    _line(console, words.title(section), "bold")
    for line in (experiment.paper, f"again: {words.sweep_command(section)}"):
        _line(console, line) if line else None
    for remark in section.remarks:
        console.print(Text(f"! {remark}", style="yellow"))
    console.print()
    for table in section.tables:
        _measure(section, table, console)
    _judgements(section, console)
    _sensitivity(section, console)
    for curve in section.curves:
        if curve.noun == "threads":
            _tolerance(section, curve, console)
    for histogram in section.histograms:
        _histogram(histogram, console)
    _chains(section, console)
    _misses(section, console)
    _faults(section, console)
    if experiment.notes:
        console.print(Padding(Text(f"Notes: {experiment.notes}"), (0, 0, 1, 0)))
    _runs(section, console)


def _grid(*columns: str) -> RichTable:
    """A table whose columns are numbers but for those that begin with `<`."""
    table = RichTable(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in columns:
        left = column.startswith("<")
        table.add_column(Text(column.lstrip("<")), justify="left" if left else "right", overflow="fold")
    return table


def _print(title: str, grid: RichTable, console: Console) -> None:
    _line(console, title, "bold")
    console.print(grid)


def _add(table: RichTable, *cells: str | Text, end: bool = False) -> None:
    table.add_row(*[cell if isinstance(cell, Text) else Text(cell) for cell in cells], end_section=end)


def _verdict(verdict: str) -> Text:
    return Text(f"{words.SIGNS[verdict]} {verdict}", style=STYLES[verdict])


def _measure(section: Section, table: Table, console: Console) -> None:
    title = words.heading(table.measure, section.experiment.reference)
    ratios = ["paper's ratio"] if table.has_paper else []
    absolute = ["paper's mean", "<verdict"] if table.has_paper else []
    grid = _grid("<kernel", *ratios, "our ratio", *absolute, "our mean", "<seeds", "<remarks")
    for place in table.places:
        if len(table.places) > 1:
            _add(grid, Text(place.name, style="italic"))
        rows = table.at(place)
        for row in rows:
            verdict = _verdict(row.verdict.word) if row.verdict else Text("")
            theirs = "1" if row.paper_ratio and row.is_reference else words.quotient(row.paper_ratio)
            shown = [theirs, words.ratio_of(row, table.measure)]
            both: list[str | Text] = [words.mean_s_n(row.paper), verdict] if table.has_paper else []
            end = row is rows[-1]
            _add(
                grid, row.kernel, *shown[0 if table.has_paper else 1 :], *both, words.mean_of(row, table.measure), words.seeds(row),
                words.note(row, table), end=end,
            )  # fmt: skip
    _print(title, grid, console)
    _line(console, f" {words.interval_note(table)}\n")


def _judgements(section: Section, console: Console) -> None:
    if not section.judgements:
        return
    console.print(Text("What the paper found, what it asks, and what we aim at", style="bold"))
    for one in section.judgements:
        expect = one.expect
        console.print(Text("  ").append_text(_verdict(one.word)).append(f": {expect.question or expect.text}"))
        paper = f"; paper {words.quotient(one.paper_ratio)}" if one.paper_ratio else ""
        wanted = f", wanted {expect.wanted}" if expect.wanted else ""
        _line(
            console,
            f"      {expect.measure}, {one.place}: {expect.above} / {expect.than} = {words.quotient(one.ratio)}"
            f"{wanted}{paper}; {one.reason}",
        )
        for what, text in (("left open by the paper", expect.open), ("we conclude", expect.conclusion)):
            if text:
                console.print(Padding(Text(f"{what}: {text}"), (0, 0, 0, 6)))
    console.print()


def _sensitivity(section: Section, console: Console) -> None:
    if not section.sensitivities:
        return
    grid = _grid("<conclusion", "<measure", "<as measured", "kept", "<ratio from", "<to", "<changed by")
    for one in section.sensitivities:
        ends = [words.of_setting(end) for end in one.ends or ()] or [words.NONE] * 2
        _add(
            grid, f"{one.what}, {one.place}", one.measure, one.measured.word, words.kept(one), *ends, words.changed(one)
        )
    _print(
        "What rests on cycles, under other costs, memories, with and without instruction cache and TLB", grid, console
    )


def _tolerance(section: Section, curve: Curve, console: Console) -> None:
    """The table of Santos 2004: A is the reference, differences above the tolerance are marked."""
    reference = section.experiment.reference
    for name, points in curve.kernels.items():
        if name == reference:
            continue
        title = f"{curve.measure.name}: A = {reference}, B = {name}; tolerance = {TOLERANCE:.0%} of A"
        grid = _grid(curve.noun, "A", "B", "% diff", "diff", "tolerance", "<", "paper's % diff")
        for line in words.tolerance_rows(curve.kernels[reference], points):
            _add(grid, *line)
        _print(title, grid, console)


def _histogram(histogram: Buckets, console: Console) -> None:
    title = f"{words.histogram_title(histogram)}: {histogram.place}, " + (histogram.missing or f"seed {histogram.seed}")
    paper = histogram.paper
    grid = _grid("size", "buckets", "expected", *(["paper's buckets"] if paper.buckets else []))
    for size in range(ROWS if histogram.buckets else 0):
        beside = [str(paper.buckets[size])] if paper.buckets else []
        expected = f"{histogram.expected[size]:.1f}" if histogram.expected else words.NONE
        _add(grid, words.size_name(size), str(histogram.buckets[size]), expected, *beside)
    _print(title, grid, console)
    for name, ours, theirs in words.figures(histogram):
        _line(console, f"  {name}: {ours}" + (f" (paper {theirs})" if theirs else ""))
    if histogram.cell:
        _line(console, f"  {histogram.cell.command}")
    console.print()


def _chains(section: Section, console: Console) -> None:
    if not section.chains:
        return
    title = "Steps in whole runs, against those of uniform hashing, and memory of the tables"
    grid = _grid(
        title, "<cache", "<kernel", "<workload", "steps/hit", "uniform", "steps/miss", "uniform", "bytes", "<function"
    )
    about = concerned(section.experiment)
    for cache in about:
        lines = [one for one in section.chains if one.cache == cache]
        for one in lines:
            shown = [
                words.steps(one.hit, one.hits), words.number(one.expected_hit), words.steps(one.miss, one.misses),
                words.number(one.expected_miss), words.number(one.bytes),
            ]  # fmt: skip
            _add(grid, cache, one.kernel, one.place, *shown, one.structure, end=one is lines[-1])
    _print(title, grid, console)


def _misses(section: Section, console: Console) -> None:
    if not section.misses:
        return
    title = "Simulated memory caches"
    names = list(dict.fromkeys(name for one in section.misses for name in one.counts))
    grid = _grid(
        "simulated memory caches", "<kernel", "<workload", "<region", *(name.replace("_", " ") for name in names)
    )
    for one in section.misses:
        _add(grid, one.kernel, one.place, one.region, *(words.number(one.counts.get(name)) for name in names))
    _print(title, grid, console)


def _faults(section: Section, console: Console) -> None:
    if not section.faults:
        return
    console.print(Text("Runs without a result", style="bold"))
    for fault in section.faults:
        _line(console, f"  {fault.kernel}, {fault.variant}, seed {fault.seed}: {fault.kind}: {fault.message}", "red")
        if fault.cell:
            for line in fault.cell.log.strip().splitlines()[-LAST_LINES:]:
                _line(console, f"      | {line}")
            _line(console, f"      {fault.cell.command}")
    console.print()


def _runs(section: Section, console: Console) -> None:
    found = words.commands(section)
    if not found:
        return
    console.print(Text("The runs behind these numbers", style="bold"))
    _line(console, "; ".join([f"  revision {', '.join(section.revisions)}", *section.qemus]))
    for kernel, place, command in found:
        _line(console, f"  {kernel}, {place}:")
        _line(console, f"    {command}")
    console.print()
