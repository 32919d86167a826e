"""./cw sweep: from files to recorded results."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable, Generator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from rich.console import Console

from lab.base.paths import LabError
from lab.measure.host import alone
from lab.run.result import revision
from lab.sweep import kernels
from lab.sweep.experiment import Experiment
from lab.sweep.plan import Plan, Planned
from lab.sweep.progress import Display, Estimate, spoken, table
from lab.sweep.runner import run_local
from lab.sweep.store import Cell, Store, by_machine
from lab.sweep.validate import load

SHOWN_LOGS, SHOWN_LINES = 3, 5  # of the failed cells, and of each one's log


@dataclass
class Request:
    """What was asked for on the command line."""

    names: list[str]
    full: bool = False
    seeds: list[int] = field(default_factory=list)
    only: list[str] = field(default_factory=list)
    again: bool = False
    jobs: int = 0
    results: Path | None = None
    dask: str = ""
    dry_run: bool = False
    check: bool = False
    group: str = ""  # lever, santos, all: what names are of
    kept: Callable[[], Mapping[str, Cell]] | None = None  # the cells of results/, by id: of a full run


def number_list(text: str) -> list[int]:
    """1,2,5-7 as numbers."""
    found: list[int] = []
    for part in text.split(","):
        first, dash, last = part.partition("-")
        try:
            low, high = int(first), int(last) if dash else int(first)
        except ValueError:
            raise LabError(f"--seeds {text}: give numbers, such as 1,2,3 or 1-5") from None
        if not 0 <= low <= high < 1 << 31 or high - low > 10000:
            raise LabError(f"--seeds {text}: seeds are 0 to {(1 << 31) - 1}, the lower first")
        found += range(low, high + 1)
    return list(dict.fromkeys(found))


def sweep(request: Request) -> int:
    """Run what is not recorded yet. 0: all cells are there and ended well; 1: some failed."""
    console = Console(file=sys.stdout, highlight=False)
    experiments = _experiments(request.names)
    plan = Plan(make=not (request.check or request.dry_run))
    for experiment in experiments:
        plan.add(experiment, request.full, request.seeds or None)
    wanted = plan.only(request.only)
    jobs = request.jobs or os.cpu_count() or 1
    if request.check:
        for experiment in experiments:
            count = sum(use.experiment == experiment.name for use in plan.uses)
            console.print(f"{experiment.name}: right; {count} runs of {len(experiment.kernel)} kernels", soft_wrap=True)
        return 0
    with Store(request.results and request.results.absolute()) as store:
        kept = request.kept() if request.kept and request.full else {}
        estimate = Estimate(store, kept.values())
        recorded = set() if request.again else store.finished([cell.id for cell in wanted])
        taken = [] if request.again else [cell.id for cell in wanted if cell.id in kept and cell.id not in recorded]
        todo = [cell for cell in wanted if cell.id not in recorded.union(taken)]
        if request.full and revision().endswith("-dirty"):
            console.print("changes of this checkout are in no commit: what runs now is not kept before they are", soft_wrap=True)  # fmt: skip
        if request.dry_run:
            _show_plan(console, wanted, todo, estimate, jobs, len(taken))
            for path, goals in plan.lacking.items():
                console.print(f"{path} is not there: a sweep makes it (make {goals}). Until then runs that add it count as not recorded", soft_wrap=True)  # fmt: skip
            return 0
        for id in taken:
            store.record(kept[id])
        store.plan(plan.uses, whole=not request.seeds)  # those of other seeds stay in the report
        console.print(_summary(wanted, todo, estimate, jobs, len(taken)), soft_wrap=True)
        known = {} if request.again else by_machine(kept.values()) | store.by_machine()
        failed = _run(request, console, store, todo, estimate, jobs, known)
    return _closing_words(console, request, wanted, failed)


def _experiments(names: list[str]) -> list[Experiment]:
    """All that are named; the faults of all files together."""
    found, faults = [], []
    for name in dict.fromkeys(names):
        try:
            found.append(load(name))
        except LabError as error:
            faults.append(str(error))
    if faults:
        raise LabError("\n".join(faults))
    return found


def _summary(wanted: list[Planned], todo: list[Planned], estimate: Estimate, jobs: int, taken: int) -> str:
    there = f"{len(wanted) - len(todo)} recorded already" + (f" ({taken} taken from results/)" if taken else "")
    parts = [f"{len(wanted)} cells: {there}, {len(todo)} to run, {jobs} at a time"]
    builds = len(kernels.missing(cell.kernel for cell in todo if cell.kernel))
    parts += [f"{builds} kernel{'s' if builds != 1 else ''} to build first"] if builds else []
    rest = estimate.rest(todo, jobs)
    if todo:
        parts.append(f"about {spoken(rest)}" if rest is not None else "no earlier run tells how long that takes")
    guessed = estimate.guessed(todo)
    if todo and rest is not None:
        of_them = "" if guessed == len(todo) else f" {guessed} of them"
        parts.append(f"a guess:{of_them} like no run that was timed on such a machine" if guessed else "by like runs")
    return "; ".join(parts)


def _show_plan(
    console: Console, wanted: list[Planned], todo: list[Planned], estimate: Estimate, jobs: int, taken: int
) -> None:
    """--dry-run: a row for each kernel and workload, and the sum."""
    console.print(_summary(wanted, todo, estimate, jobs, taken), soft_wrap=True)
    missing = {cell.id for cell in todo}
    groups: dict[tuple[str, str, str], list[Planned]] = {}
    for cell in wanted:
        use = cell.uses[0]
        groups.setdefault((use.experiment, use.kernel, use.workload), []).append(cell)
    rows = []
    for names, cells in groups.items():
        run = [cell for cell in cells if cell.id in missing]
        seconds = [estimate.seconds(cell) for cell in run]
        known = None if None in seconds else sum(one or 0 for one in seconds)
        rows.append((*names, str(len(cells)), str(len(run)), spoken(known) if run else ""))
    console.print(table(rows, ("experiment", "kernel", "workload", "seeds", "to run", "time of one core")))


def _run(
    request: Request,
    console: Console,
    store: Store,
    todo: list[Planned],
    estimate: Estimate,
    jobs: int,
    known: Mapping[str, Cell],
) -> list[tuple[Planned, Cell]]:
    """Run @todo and record each as it ends; those that failed. @known: by the machine, what need not run again."""
    failed: list[tuple[Planned, Cell]] = []
    if not todo:
        return failed
    with Display(console, todo, estimate, jobs) as display:
        try:
            with closing(_cells(request, todo, display, jobs, known)) as ended:
                for cell, result in ended:
                    # With --again: what ended well is not lost by what did not.
                    if result.ok or not store.finished([result.id]):
                        store.record(result)
                    display.ended(cell, result, result.config.get("machine_sha256") in known)
                    if not result.ok:
                        failed.append((cell, result))
        except KeyboardInterrupt:
            done = len(todo) - len(display.left)
            console.print(f"interrupted: {done} of {len(todo)} cells are recorded; the same command goes on from there")
            if request.full:
                console.print(_how_to_keep(request), soft_wrap=True)
            raise
    return failed


def _cells(
    request: Request, todo: list[Planned], display: Display, jobs: int, known: Mapping[str, Cell]
) -> Generator[tuple[Planned, Cell]]:
    """The cells as they end, on this machine or on a cluster. What is timed on this host comes last, and one by one."""
    machines, of_host = [cell for cell in todo if cell.kernel], [cell for cell in todo if not cell.kernel]
    if machines:
        yield from _machines(request, machines, display, jobs, known)
    for cell in of_host:
        with alone(display.waiting):
            yield from run_local([cell], {}, 1, display.running, known)


def _machines(
    request: Request, todo: list[Planned], display: Display, jobs: int, known: Mapping[str, Cell]
) -> Generator[tuple[Planned, Cell]]:
    if request.dask:
        from lab.sweep.cluster import run_on_cluster

        yield from run_on_cluster(todo, request.dask, jobs, display.running, known)
        return

    def tell(number: int, total: int, choice: kernels.Choice) -> None:
        settings = "".join(f" {setting}" for setting in choice.settings)
        display.building(number, total, f"{choice.defconfig or 'default'}{settings}")

    builds = kernels.prepare([cell.kernel for cell in todo if cell.kernel], tell)
    yield from run_local(todo, builds, jobs, display.running, known)


def _closing_words(
    console: Console, request: Request, wanted: list[Planned], failed: list[tuple[Planned, Cell]]
) -> int:
    if failed:
        console.print(f"\n{len(failed)} of {len(wanted)} cells failed:", style="bold red")
        for number, (cell, result) in enumerate(failed):
            console.print(f"  {cell.name}: {result.kind}: {result.message}", markup=False, soft_wrap=True)
            for line in result.log.rstrip().splitlines()[-SHOWN_LINES:] if number < SHOWN_LOGS else []:
                console.print(f"      {line}", markup=False, soft_wrap=True)
            console.print(f"    again: {result.command}", markup=False, soft_wrap=True)
        console.print("Their whole logs are in the results; the same command runs them again.")
    else:
        console.print(f"{len(wanted)} cells are recorded", soft_wrap=True)
    if request.full:
        console.print(_how_to_keep(request), soft_wrap=True)
    return 1 if failed else 0


def _how_to_keep(request: Request) -> str:
    results = ["--results", str(request.results)] if request.results else []
    names = [request.group] if request.group else request.names
    return f"what of it is new goes into results/ by: {shlex.join(['./cw', 'keep', *names, *results])}"
