"""./cw sweep, worker."""

from __future__ import annotations

import inspect
import os
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from lab.cli.options import finish, with_shared

Results = Annotated[Path | None, typer.Option("--results", metavar="FILE", help="The file of results; build/results.sqlite without it.")]  # fmt: skip
Full = Annotated[bool, typer.Option("--full", help="The full size, as in the paper.")]
Jobs = Annotated[int, typer.Option("--jobs", metavar="N", min=0, help="Machines at once; 0: as many as this host has CPUs.")]  # fmt: skip
Dask = Annotated[str, typer.Option("--dask", metavar="ADDRESS|local", help="Run on a dask.distributed cluster, tcp://HOST:8786 (docs/lab/experiments.md).")]  # fmt: skip


def _request(
    again: Annotated[bool, typer.Option("--again", help="Run what is recorded already, too.")] = False,
    jobs: Jobs = 0,
    results: Results = None,
    dask: Dask = "",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would be run, and how long it would take.")
    ] = False,
    check: Annotated[bool, typer.Option("--check", help="Only look whether the files are right.")] = False,
) -> Any:  # Request
    """What both commands that run cells can be told of how; which cells is each one's own."""
    from lab.sweep.command import Request

    return Request([], again=again, jobs=jobs, results=results, dask=dask, dry_run=dry_run, check=check)


with_request = with_shared("request", _request, inspect.signature(_request).parameters)


@with_request
def run_sweep(
    request: Any,
    experiment: Annotated[list[str], typer.Argument(metavar="EXPERIMENT...", help="Names of experiments/NAME.toml, or files.")],
    full: Full = False,
    seeds: Annotated[str, typer.Option("--seeds", metavar="1,2,5-7", help="Other seeds than the file's.")] = "",
    only: Annotated[list[str] | None, typer.Option("--only", metavar="KERNEL[/WORKLOAD]", help="Run only these cells; * and ? as in a shell; may be repeated.")] = None,
) -> None:  # fmt: skip
    """Run an experiment's kernels x workloads x machines x seeds, and record each run as it ends.

    What is recorded is not run again, so after Ctrl-C the same command goes on. Exit status 0: every cell ended
    well; 1: some failed, which are named; 125: a file is wrong, or results cannot be written.
    """
    from lab.kept.keep import kept_cells
    from lab.sweep.command import number_list, sweep

    chosen = number_list(seeds) if seeds else []
    finish(sweep(replace(request, names=experiment, full=full, seeds=chosen, only=only or [], kept=kept_cells)))


def worker(
    address: Annotated[str, typer.Argument(metavar="ADDRESS", help="The scheduler's, tcp://HOST:8786.")],
    jobs: Jobs = 0,
) -> None:
    """Let this machine run cells of sweeps: a dask worker in this checkout (docs/lab/experiments.md)."""
    from lab.sweep.cluster import worker as join

    finish(join(address, jobs or os.cpu_count() or 1))
