"""make docs: docs/results.md, each table's figures beside the paper's, out of results/. Nothing is run or built for it.

What cannot be computed, what differs and by what measured cause, is written by hand in docs/results/EXPERIMENT.md, and
joined in here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from lab.base.paths import TOP
from lab.kept import files
from lab.kept.files import KeptResults
from lab.kept.report import missing_words
from lab.report.reproduce import group
from lab.sweep.experiment import Experiment, Measure, load
from lab.sweep.store import Cell

if TYPE_CHECKING:
    from lab.report.collect import Section

PAGE, BY_HAND = TOP / "docs/results.md", TOP / "docs/results"

HEAD = """# Results: the papers' tables, and ours

<!-- made by `make docs` from results/ and docs/results/ -->

Full runs only, as [results/](../results/README.md) keeps them; how they are made, kept and checked:
[lab/experiments.md](lab/experiments.md#full-runs-in-pieces-kept-checked). The verdicts' words are those of
[lab/reports.md](lab/reports.md). Figures of other measures, histograms and steps: `./cw report --kept`."""


def page(place: Path | None = None, by_hand: Path = BY_HAND, names: list[str] | None = None) -> str:
    """docs/results.md as it has to be. @names: the experiments, files of others than experiments/ among them."""
    experiments = [load(name) for name in names or group("all")]
    kept = KeptResults(experiments, place)
    parts = [HEAD]
    if kept.experiments():
        parts += ["", *_made_with(kept)]
    else:
        parts += [
            "",
            "**Nothing is kept yet.** No full run has been put into results/, so there is no figure of ours here.",
        ]
    parts += ["", "| experiment | what | paper | runs kept |", "| --- | --- | --- | --- |"]
    for one in experiments:
        runs = f"{len(kept.kept[one.name])} of {len(kept.plan[one.name])}"
        parts.append(_row(f"`{one.name}`", one.title, one.paper, runs))
    lacking = dict(line.split(": ", 1) for line in missing_words(kept))
    for one, name in zip(experiments, names or group("all"), strict=True):
        said = _by_hand(one, by_hand)
        if kept.kept[one.name]:
            parts += ["", f"## {one.title} ({one.name})", "", one.paper, "", *_figures(kept, one, name)]
            parts += [f"**Missing:** {lacking[one.name]}.", ""] if one.name in lacking else []
            parts += [said or "Nothing is written yet on what differs, and why."]
        elif said:
            parts += ["", f"## {one.title} ({one.name})", "", one.paper, "", "No run is kept yet.", "", said]
    return "\n".join(parts).rstrip() + "\n"


def _made_with(kept: KeptResults) -> Iterator[str]:
    """Of which commits, and with which programs of the host."""
    cells = [cell for found in kept.kept.values() for cell in found.values()]
    yield f"Kept: {kept.summary()}.\n"
    yield "| | | runs |\n| --- | --- | --- |"
    yield from _counted("commit", [cell.revision for cell in cells])
    yield from _counted("QEMU", [cell.qemu for cell in cells])
    for tool in ("compiler", "busybox", "libc"):
        yield from _counted(tool, [cell.config["tools"][tool] for cell in cells])
    yield from _counted("kernels", [f"{len({_image(cell) for cell in cells})} images, their hashes in results/"])


def _image(cell: Cell) -> str:
    return str(cell.config.get("kernel_sha256", ""))


def _counted(what: str, values: list[str]) -> Iterator[str]:
    for value, count in sorted(Counter(values).items()):
        yield _row(what, value, str(count) if len(values) > 1 else "")


def _figures(kept: KeptResults, experiment: Experiment, name: str) -> Iterator[str]:
    """The tables of the measures that the paper has numbers for, and what the paper found."""
    from lab.build.setup import need_lab

    need_lab()
    from lab.report import words
    from lab.report.command import sections_of

    (section,) = sections_of(kept, [name], False, True)
    for table in section.tables:
        if not table.has_paper:
            continue
        yield f"{words.heading(table.measure, experiment.reference)}, {words.extent(section)}.\n"
        yield "| workload | kernel | paper | ours | paper's ratio | our ratio | verdict |"
        yield "| --- | --- | --- | --- | --- | --- | --- |"
        for row in table.rows:
            said = row.verdict.word if row.verdict else ""
            verdict = f"{said} ({row.missing})" if row.missing else said
            yield _row(
                row.place.name, row.kernel, words.mean_s_n(row.paper), words.mean_s_n(row.ours),
                words.quotient(row.paper_ratio), words.quotient(row.ratio), verdict,
            )  # fmt: skip
        yield ""
    if not any(table.has_paper for table in section.tables):
        yield from _means(section)
    if section.judgements:
        yield "| what the paper found | what it left open | ours | verdict | why |"
        yield "| --- | --- | --- | --- | --- |"
        for one in section.judgements:
            ratio = f"{one.expect.above} / {one.expect.than} = {words.quotient(one.ratio)}"
            told = ("", one.expect.question) if one.expect.question else (one.expect.text, one.expect.open)
            yield _row(*told, ratio, one.word, one.reason)
        yield ""


def _means(section: Section) -> Iterator[str]:
    """Of an experiment for which the paper has no numbers: what each kernel came to, a column a measure."""
    from lab.report import words

    tables = [table for table in section.tables if table.rows]
    yield f"Means of the seeds; {words.extent(section)}.\n"
    yield _row("workload", "kernel", *(_with_unit(table.measure) for table in tables))
    yield _row(*["---"] * (len(tables) + 2))
    for place in dict.fromkeys(place for table in tables for place in table.places):
        for kernel in section.experiment.kernel:
            rows = [table.row(place.name, kernel.name) for table in tables]
            if any(rows):
                yield _row(
                    place.name,
                    kernel.name,
                    *(words.number(row.ours.mean if row and row.ours else None) for row in rows),
                )
    yield ""


def _with_unit(measure: Measure) -> str:
    return f"{measure.name}, {measure.unit}" if measure.unit else measure.name


def _row(*cells: str) -> str:
    """A row of a table: no text may end its cell."""
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"


def _by_hand(experiment: Experiment, by_hand: Path) -> str:
    """What is written of it; links lead from docs/, where the page is."""
    path = by_hand / f"{experiment.name}.md"
    return path.read_text(encoding="utf-8").strip().replace("](../", "](") if path.exists() else ""


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print(f"wrote {files.shown(PAGE)}")
