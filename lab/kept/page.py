"""make docs: docs/results.md, each table's figures beside the paper's, out of results/. Nothing is run or built for it.

What cannot be computed, what differs and by what measured cause, is written by hand in docs/results/EXPERIMENT.md, and
joined in here. How many rows have a word such a text need not count itself, of rows of the measure throughput:

    {throughput: reproduced}            how many have this verdict
    {throughput: rows}                  how many have any
    {throughput: reproduced kept}       under how many of the other settings those with this verdict keep it: 7 to 11
    {throughput: reproduced ratios}     between which ratios they lie under all settings: 1.028 to 1.384
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from lab.base.paths import TOP, LabError
from lab.kept import files
from lab.kept.files import KeptResults
from lab.kept.report import missing_words, outdated_words
from lab.report.reproduce import group
from lab.sweep.experiment import Experiment, Measure, load
from lab.sweep.plan import of_host
from lab.sweep.store import Cell

if TYPE_CHECKING:
    from lab.report.collect import Section
    from lab.report.figures import Sensitivity
    from lab.report.summary import Line, Text

PAGE, BY_HAND = TOP / "docs/results.md", TOP / "docs/results"

HEAD = """# Results: the papers' tables, and ours

<!-- made by `make docs` from results/ and docs/results/ -->

Full runs only: the papers' loads, whole. How they are made, kept and checked:
[lab/experiments.md](lab/experiments.md#full-runs-in-pieces-kept-checked); how a verdict is reached, and what its word
means: [lab/reports.md](lab/reports.md); of each claim of the texts, the command that measures it: [lab/claims.md](lab/claims.md).
Histograms, steps, pictures: `./cw report --kept`."""
ELSEWHERE = "under other settings"  # of the simulated processor's memory, costs, instruction cache and TLBs
UNTOLD = "not recorded"  # of runs that were kept before it was
COUNTED = re.compile(r"\{([^{}]+): ([^{}:]+?)( kept| ratios)?\}")
NOTHING = "**Nothing is kept yet.** No full run has been put into results/, so there is no figure of ours here."


def page(place: Path | None = None, by_hand: Path = BY_HAND, names: list[str] | None = None) -> str:
    """docs/results.md as it has to be: what it comes to, each text's tables in its order, what all was made with.
    @names: the experiments, files of others than experiments/ among them."""
    names = names or group("all")
    experiments = [load(name) for name in names]
    kept = KeptResults(experiments, place)
    if not kept.experiments():
        return f"{HEAD}\n\n{NOTHING}\n"
    there = [name for name, one in zip(names, experiments, strict=True) if kept.kept[one.name]]
    texts = _texts(kept, there)
    parts = [HEAD, "", *_summary(texts, kept, experiments)]
    for text in texts:
        parts += ["", f"## {text.name}"]
        for line in text.lines:
            parts += ["", *_section(kept, line, by_hand)]
    parts += ["", "## What all was made with", "", *_made_with(kept)]
    return "\n".join(parts).rstrip() + "\n"


def _texts(kept: KeptResults, names: list[str]) -> list[Text]:
    from lab.build.setup import need_lab

    need_lab()
    from lab.report import summary
    from lab.report.command import sections_of

    return summary.texts(sections_of(kept, names, False, True))


def _summary(texts: list[Text], kept: KeptResults, experiments: list[Experiment]) -> Iterator[str]:
    """The first screen: all verdicts by their word; of each table of a text its own, and the main finding."""
    from lab.report import summary, words

    sections = [line.section for text in texts for line in text.lines]
    judged = [section for section in sections if section.judged]
    total = summary.total(judged)
    yield f"**{sum(total.values())} verdicts** on what the papers say, from {kept.summary().partition(';')[0]}:\n"
    yield from _table(
        *(f"{words.SIGNS[word]} {word}" for word in total),
        rows=[[str(count) for count in total.values()], [summary.MEANINGS[word] for word in total]],
    )
    aims = words.aims(summary.aims(judged))
    if aims:
        yield f"\n{aims}"
    stands = summary.standing(sections)
    if stands:
        yield f"\n{words.standing(stands)} Of each, the last column of its table tells under how many it keeps its word, and between which ratios it lies."
    yield "\n## What it comes to"
    for text in texts:
        yield f"\n### {text.name}: what it comes to\n"
        rows = []
        for line in text.lines:
            found = " ".join(f"{words.SIGNS[word]}{summary.SPACE}{count}" for word, count in line.counts.items())
            rows.append(
                [
                    f"[{line.name}](#{_anchor(_heading(line))}): {line.section.experiment.title}",
                    found,
                    line.finding.said,
                ]
            )
        yield from _table(
            "part",
            "verdicts",
            "of what was measured: where the paper has its greatest effect, or else the greatest",
            rows=rows,
        )
        lacking = [
            _lacking(one, kept) for one in experiments if not kept.kept[one.name] and summary.author(one) == text.author
        ]
        if lacking:
            yield f"\nNo full run is kept yet of {', '.join(lacking)}."
    authors = {text.author for text in texts}
    others = [
        _lacking(one, kept) for one in experiments if not kept.kept[one.name] and summary.author(one) not in authors
    ]
    if others:
        yield f"\nNo full run is kept yet, either, of {', '.join(others)}."


def _lacking(experiment: Experiment, kept: KeptResults) -> str:
    return f"{experiment.title} (`{experiment.name}`, {len(kept.plan[experiment.name])} runs)"


def _heading(line: Line) -> str:
    return f"{line.name}: {line.section.experiment.title} ({line.section.experiment.name})"


def _anchor(heading: str) -> str:
    """As links name it: lower case, blanks as dashes, nothing but letters, digits and dashes."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-")


def _section(kept: KeptResults, line: Line, by_hand: Path) -> Iterator[str]:
    """A table of a text: its figures, what is missing of it, what is written on it by hand."""
    experiment = line.section.experiment
    yield from (f"### {_heading(line)}", "", experiment.paper, "", *_figures(line.section))
    for what, found in (
        ("Missing", missing_words(kept)),
        ("Of an earlier form of the experiment", outdated_words(kept)),
    ):
        of_this = dict(one.split(": ", 1) for one in found)
        if experiment.name in of_this:
            yield f"**{what}:** {of_this[experiment.name]}.\n"
    yield from (f"{remark}\n" for remark in line.section.remarks)
    yield _by_hand(line.section, by_hand) or "Nothing is written yet on what differs, and why."


def _made_with(kept: KeptResults) -> Iterator[str]:
    """Of which commits, and with which programs of the host; of what ran on a host itself, with what of it."""
    cells = [cell for found in kept.kept.values() for cell in found.values()]
    machines = [cell for cell in cells if not of_host(cell.config)]
    hosts = [cell for cell in cells if of_host(cell.config)]
    yield f"Kept: {kept.summary()}.\n"
    rows = _counted("commit", [cell.revision for cell in cells])
    rows += _counted("QEMU", [cell.qemu for cell in machines])
    rows += _counted("compiler", [cell.config["tools"]["compiler"] for cell in cells])
    for tool in ("busybox", "libc"):
        rows += _counted(tool, [cell.config["tools"][tool] for cell in machines])
    images = {cell.config.get("kernel_sha256") for cell in machines} - {"", None}
    rows.append(["kernels", f"{len(images)} images, their hashes in results/", ""])
    yield from _table("", "", "runs", rows=[*rows, *_of_hosts(hosts)])


def _of_hosts(cells: list[Cell]) -> Iterator[list[str]]:
    """What is known of the hosts on which programs were timed."""
    systems = [cell.config.get("system", {}) for cell in cells]
    yield from _counted("kernel of a host that timed programs", [one.get("kernel", UNTOLD) for one in systems])
    packages = [", ".join(one["packages"]) or "none" if one else UNTOLD for one in systems]
    yield from _counted("libraries of what was timed", packages)
    loads = [cell.config["load_average"] for cell in cells if "load_average" in cell.config]
    for end in ("start", "end") if loads else ():
        last_minute = sorted(one[end][0] for one in loads)
        said = f"{last_minute[0]:g} to {last_minute[-1]:g}"
        yield [f"such a host's load average at a run's {end}", said, str(len(loads))]


def _counted(what: str, values: list[str]) -> list[list[str]]:
    return [[what, value, str(count)] for value, count in sorted(Counter(values).items())]


def _figures(section: Section) -> Iterator[str]:
    """The tables of the measures that the paper has numbers for, and what the paper found."""
    from lab.report import words

    experiment = section.experiment
    others = {(one.what, one.measure, one.place): one for one in section.sensitivities}
    for table in section.tables:
        if not table.has_paper:
            continue
        yield f"{words.heading(table.measure, experiment.reference)}, {words.extent(section)}.\n"
        rows = []
        for row in table.rows:
            word, why = (row.verdict.word, row.verdict.said) if row.verdict else ("", "")
            verdict = f"{word} ({row.missing})" if row.missing else word
            rows.append([
                row.place.name, row.kernel, words.mean_s_n(row.paper), words.mean_s_n(row.ours),
                words.quotient(row.paper_ratio), words.quotient(row.ratio), verdict, why,
                _elsewhere(others.get((row.kernel, table.measure.name, row.place.name))),
            ])  # fmt: skip
        yield from _judged(
            "workload", "kernel", "paper", "ours", "paper's ratio", "our ratio", "verdict", "why", rows=rows
        )
        yield ""
    if not any(table.has_paper for table in section.tables):
        yield from _means(section)
    if section.judgements:
        rows = []
        for one in section.judgements:
            ratio = f"{one.expect.above} / {one.expect.than} = {words.quotient(one.ratio)}"
            told = ("", one.expect.question) if one.expect.question else (one.expect.text, one.expect.open)
            under = others.get((one.expect.text, one.expect.measure, one.place))
            rows.append([*told, ratio, one.word, one.reason, _elsewhere(under)])
        yield from _judged("what the paper found", "what it left open", "ours", "verdict", "why", rows=rows)
        yield ""


def _elsewhere(one: Sensitivity | None) -> str:
    """Under how many other settings of the simulated processor a conclusion keeps its word, and its ratio under all."""
    from lab.report import words
    from lab.report.verdicts import NOT_MEASURED

    if one is None or one.measured.word in NOT_MEASURED:
        return ""
    return "not simulated" if one.missing else f"{words.kept(one)}: {words.range_of(one)}"


def _judged(*heads: str, rows: list[list[str]]) -> Iterator[str]:
    """A table whose last column, what is under other settings, goes where it is empty in all @rows."""
    if any(row[-1] for row in rows):
        yield from _table(*heads, ELSEWHERE, rows=rows)
    else:
        yield from _table(*heads, rows=[row[:-1] for row in rows])


def _means(section: Section) -> Iterator[str]:
    """Of an experiment for which the paper has no numbers: what each kernel came to, a column a measure."""
    from lab.report import words

    tables = [table for table in section.tables if table.rows]
    yield f"Means of the seeds; {words.extent(section)}.\n"
    found = []
    for place in dict.fromkeys(place.name for table in tables for place in table.places):
        for kernel in section.experiment.kernel:
            rows = [table.row(place, kernel.name) for table in tables]
            if any(rows):
                means = (words.number(row.ours.mean if row and row.ours else None) for row in rows)
                found.append([place, kernel.name, *means])
    yield from _table("workload", "kernel", *(_with_unit(table.measure) for table in tables), rows=found)
    yield ""


def _with_unit(measure: Measure) -> str:
    return f"{measure.name}, {measure.unit}" if measure.unit else measure.name


def _table(*heads: str, rows: Iterable[Iterable[str]]) -> Iterator[str]:
    yield from (_row(*heads), _row(*["---"] * len(heads)), *(_row(*row) for row in rows))


def _row(*cells: str) -> str:
    """A row of a table: no text may end its cell."""
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"


def _by_hand(section: Section, by_hand: Path) -> str:
    """What is written of it, its counts filled in; links lead from docs/, where the page is."""
    path = by_hand / f"{section.experiment.name}.md"
    text = path.read_text(encoding="utf-8").strip().replace("](../", "](") if path.exists() else ""
    return COUNTED.sub(partial(_counted_rows, section, path), text)


def _counted_rows(section: Section, path: Path, asked: re.Match[str]) -> str:
    """What a text by hand leaves to be counted."""
    from lab.report.verdicts import WORDS
    from lab.report.words import factor

    measure, word, of_settings = asked.groups()
    judged = [row for table in section.tables if table.measure.name == measure for row in table.rows if row.verdict]
    rows = [row for row in judged if row.verdict and word in ("rows", row.verdict.word)]
    if not judged or word not in ("rows", *WORDS):
        raise LabError(f"{files.shown(path)}: {asked[0]} counts nothing: there are no such verdicts")
    if not of_settings:
        return str(len(rows))
    names = {(row.kernel, measure, row.place.name) for row in rows}
    found = [one for one in section.sensitivities if (one.what, one.measure, one.place) in names and one.ends]
    if not found:
        raise LabError(f"{files.shown(path)}: {asked[0]} counts nothing: none was simulated under other settings")
    if of_settings == " kept":
        kept = [len(one.others) - len(one.changed) for one in found]
        return _from_to(str(min(kept)), str(max(kept)))
    ratios = [end.ratio.value for one in found for end in one.ends or () if end.ratio]
    return _from_to(factor(min(ratios)), factor(max(ratios)))


def _from_to(least: str, most: str) -> str:
    return least if least == most else f"{least} to {most}"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print(f"wrote {files.shown(PAGE)}")
