"""What a sweep shows while it runs: on a terminal a bar with the estimated rest, elsewhere a line for each cell."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn

from lab.run.result import host
from lab.sweep.plan import Planned, kind_of
from lab.sweep.store import Cell, Store


class Estimate:
    """How long cells take, from those that were run: the same one, else others of its kind, else what the experiment
    says, else what this sweep has run so far, else all that are recorded. @kept: cells that were run elsewhere."""

    def __init__(self, store: Store, kept: Iterable[Cell] = ()) -> None:
        self.own: dict[str, float] = {}
        self.kinds: dict[str, list[float]] = {}
        self.here: list[float] = []
        self.timed: set[str] = set()  # the kinds of which one was run on such a machine as this
        timings = {id: (config, seconds) for id, config, seconds in store.timings()}
        timings = {cell.id: (cell.config, cell.seconds) for cell in kept} | timings
        for id, (config, seconds) in timings.items():
            self.own[id] = seconds
            self.kinds.setdefault(kind_of(config), []).append(seconds)
            if config.get("host") == host():
                self.timed.add(kind_of(config))

    def learn(self, cell: Planned, seconds: float) -> None:
        self.own[cell.id] = seconds
        self.kinds.setdefault(cell.kind, []).append(seconds)
        self.here.append(seconds)
        self.timed.add(cell.kind)

    def guessed(self, cells: Iterable[Planned]) -> int:
        """How many of @cells have none of their kind that was timed on such a machine."""
        return sum(cell.kind not in self.timed for cell in cells)

    def seconds(self, cell: Planned) -> float | None:
        known = (
            self.kinds.get(cell.kind) or ([cell.takes] if cell.takes else []) or self.here or list(self.own.values())
        )
        return self.own.get(cell.id) or (sum(known) / len(known) if known else None)

    def rest(self, cells: Iterable[Planned], jobs: int) -> float | None:
        """Seconds until @cells are done, of which those of this host are run one by one; None where nothing is known of one of them."""
        machines: list[float] = []
        alone = 0.0
        for cell in cells:
            seconds = self.seconds(cell)
            if seconds is None:
                return None
            if cell.kernel:
                machines.append(seconds)
            else:
                alone += seconds
        return max(sum(machines) / max(jobs, 1), max(machines, default=0.0)) + alone


def spoken(seconds: float | None) -> str:
    """A length of time in words: 8 s, 3 min 20 s, 2 h 5 min."""
    if seconds is None:
        return "unknown"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


class Display:
    """Use it as a context manager around the run."""

    def __init__(self, console: Console, cells: list[Planned], estimate: Estimate, jobs: int) -> None:
        self.console, self.estimate, self.jobs = console, estimate, jobs
        self.left = {cell.id: cell for cell in cells}
        self.total, self.failed = len(cells), 0
        self.began = time.monotonic()
        self.bar: Progress | None = None
        self.task = TaskID(0)
        if console.is_terminal:
            self.bar = Progress(
                TextColumn("{task.description}"), BarColumn(bar_width=None), MofNCompleteColumn(),
                TextColumn("{task.fields[failed]}"), TextColumn("{task.fields[rest]}"), console=console,
                transient=True, refresh_per_second=4,
            )  # fmt: skip
            self.task = self.bar.add_task("sweep", total=self.total, failed="", rest="")

    def __enter__(self) -> Display:
        if self.bar:
            self.bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self.bar:
            self.bar.stop()

    def building(self, number: int, total: int, name: str) -> None:
        self._say(f"building kernel {number + 1} of {total}: {name}")

    def waiting(self) -> None:
        self._say("waiting: another sweep on this host times a run; two at once would time each other")

    def running(self, cells: list[Planned]) -> None:
        """Called now and then, with the cells that run."""
        if self.bar:
            names = "; ".join(cell.name.partition(": ")[2] for cell in cells[:2]) or "sweep"
            more = f" and {len(cells) - 2} more" if len(cells) > 2 else ""
            self.bar.update(self.task, description=names + more, rest=self._rest())

    def ended(self, cell: Planned, result: Cell, taken: bool) -> None:
        """One is done and recorded. @taken: it was not run, since another run was of the same machine."""
        del self.left[cell.id]
        if not taken:
            self.estimate.learn(cell, result.seconds)
        done = self.total - len(self.left)
        how = f"the same machine as was run of commit {result.revision[:12]}" if taken else f"{result.seconds:.1f} s"
        how = how if result.ok else f"FAILED ({result.kind}): {result.message}"
        self.failed += not result.ok
        if self.bar:
            self.bar.update(self.task, completed=done, failed=f"{self.failed} failed" if self.failed else "")
            if result.ok:
                return
        rest = "" if self.bar else self._rest()
        self._say(f"[{done}/{self.total}] {cell.name}: {how}" + (f"; {rest}" if rest else ""))

    def _rest(self) -> str:
        rest = self.estimate.rest(self.left.values(), self.jobs)
        return f"about {spoken(rest)} left" if self.left and rest is not None else ""

    def _say(self, text: str) -> None:
        (self.bar.console if self.bar else self.console).print(text, markup=False, highlight=False, soft_wrap=True)


def table(rows: Iterable[tuple[str, ...]], header: tuple[str, ...]) -> Any:
    from rich import box
    from rich.table import Table

    made = Table(*header, box=box.SIMPLE)
    for row in rows:
        made.add_row(*row)
    return made
