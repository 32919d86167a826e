"""./cw report, reproduce, keep."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from lab.base.paths import LabError
from lab.cli.options import finish
from lab.cli.sweep import Full, with_request


def make_report(
    experiment: Annotated[list[str] | None, typer.Argument(metavar="EXPERIMENT...", help="Names of experiments/NAME.toml, or files.")] = None,
    every: Annotated[bool, typer.Option("--all", help="Every experiment that has results.")] = False,
    results: Annotated[Path | None, typer.Option("--results", metavar="FILE", help="The results of sweeps; build/results.sqlite without it.")] = None,
    full: Annotated[bool, typer.Option("--full", help="The results of the full size.")] = False,
    kept: Annotated[bool, typer.Option("--kept", help="What results/ keeps of full runs, of all experiments unless some are named; in every form in build/report/kept unless another form is asked for.")] = False,
    text: Annotated[bool, typer.Option("--text", help="Print plain text, without colours and at one width.")] = False,
    csv: Annotated[Path | None, typer.Option("--csv", metavar="FILE", help="Write the tables as CSV; `-`: to stdout.")] = None,
    json: Annotated[Path | None, typer.Option("--json", metavar="FILE", help="Write everything as JSON; `-`: to stdout.")] = None,
    html: Annotated[Path | None, typer.Option("--html", metavar="FILE", help="Write one HTML page, its charts as PNG and SVG in a folder beside it.")] = None,
    output: Annotated[Path | None, typer.Option("--output", metavar="DIR", help="Write all forms into a folder.")] = None,
) -> None:  # fmt: skip
    """What sweeps measured beside what the papers found: tables of ratios with intervals, histograms, judgements."""
    if kept:
        from lab.kept.report import report_kept

        if results:
            raise LabError("--kept reads results/, --results another file: give one of them")
        report_kept(experiment or [], text, csv, json, html, output)
        return
    from lab.report.command import report

    report(experiment or [], every, results, full, text, csv, json, html, output)


@with_request
def reproduce(
    request: Any,
    group: Annotated[str, typer.Argument(metavar="lever|santos|seltzer|tsai|all|...", help="Whose tables and histograms; lever-tables, tsai-tables or tsai-figures: only those; or one experiment.")],
    full: Full = False,
    report: Annotated[Path | None, typer.Option("--report", metavar="DIR", help="Where the report goes; build/report/GROUP without it.")] = None,
) -> None:  # fmt: skip
    """Run all experiments of a paper, and write the report: what was measured beside what the paper found."""
    from lab.kept.keep import kept_cells
    from lab.record.keys import reproduce as reproduce_keys
    from lab.report.reproduce import reproduce as reproduce_group

    finish(reproduce_group(group, replace(request, full=full, kept=kept_cells), report, reproduce_keys))


def keep(
    experiment: Annotated[list[str], typer.Argument(metavar="lever|santos|seltzer|tsai|all|EXPERIMENT...", help="A paper's experiments, or names of experiments/NAME.toml.")],
    results: Annotated[Path | None, typer.Option("--results", metavar="FILE", help="The results of sweeps; build/results.sqlite without it.")] = None,
) -> None:  # fmt: skip
    """Put what sweeps recorded of the full size into results/, which is kept with the source (docs/lab/experiments.md).

    A full run begins with what is there. Exit status 0: all that is recorded is kept; 1: some is of sources that are in
    no commit; 125: results/ is damaged, or cannot be written.
    """
    from lab.kept.keep import keep as keep_cells
    from lab.report.reproduce import GROUPS, group

    names = [name for one in experiment for name in (group(one, full=True) if one in GROUPS else [one])]
    finish(keep_cells(list(dict.fromkeys(names)), results))
