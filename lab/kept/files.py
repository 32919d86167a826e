"""The folder results/: a file for each experiment, read as reports read a sweep's results, written as a whole or not at all."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from lab.base.files import written_whole
from lab.base.paths import TOP, LabError
from lab.kept import form
from lab.kept.form import Kept, Place
from lab.sweep.experiment import Experiment
from lab.sweep.plan import asked_for, at_seed
from lab.sweep.store import Cell, Use, repeatable

FULL = "full"  # the only scale that is kept


def folder() -> Path:
    return TOP / "results"


def shown(path: Path) -> str:
    """From the checkout's top, where it lies there."""
    return str(path.relative_to(TOP)) if path.is_relative_to(TOP) else str(path)


def file_of(experiment: str, place: Path | None = None) -> Path:
    return (place or folder()) / f"{experiment}.jsonl"


def read(experiment: str, place: Path | None = None) -> dict[Place, Cell]:
    """What is kept of @experiment; LabError where the file is damaged."""
    path = file_of(experiment, place)
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise LabError(f"{shown(path)} cannot be read: {error}") from None
    return {one.place: one.cell for one in form.read(experiment, text, shown(path))}


def names(place: Path | None = None) -> list[str]:
    """The experiments of which something is kept."""
    return sorted(path.stem for path in (place or folder()).glob("*.jsonl"))


def cells(place: Path | None = None) -> dict[str, Cell]:
    """Every kept cell by its id. One that stands in the files of two experiments has to be the same in both; but of what is not
    repeatable a keep may have been interrupted between the two, and the later run counts."""
    found: dict[str, Cell] = {}
    for name in names(place):
        for where, cell in read(name, place).items():
            other = found.setdefault(cell.id, cell)
            if counted(other) == counted(cell):
                continue
            if not repeatable(cell.config):
                found[cell.id] = max(other, cell, key=lambda one: one.finished)
            else:
                raise LabError(
                    f"{shown(file_of(name, place))}: {form.spoken(where)} is another experiment's cell, too, and has other"
                    f" counts there: one of them is wrong ({cell.id})"
                )
    return found


def counted(cell: Cell) -> dict[str, object]:
    """All of a kept cell that another run of it has again."""
    stats = {
        name: {key: value for key, value in one.items() if key != "hashcost"} if isinstance(one, dict) else one
        for name, one in cell.stats.items()
    }
    seen = form.small(cell)
    return {"results": cell.results, "stats": stats, "cachesim": seen.cachesim, "virtual_ns": cell.virtual_ns}


def write(experiment: str, kept: Iterable[Kept], place: Path | None = None) -> None:
    """The file of @experiment anew. What was there stays until all of the new one is on the disk."""
    path, kept = file_of(experiment, place), list(kept)
    text = "".join(f"{line}\n" for line in form.lines(experiment, kept))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with written_whole(path) as new, new.open("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        if not kept:
            path.unlink()
    except OSError as error:
        reason = "the disk is full" if error.errno in (errno.ENOSPC, errno.EDQUOT) else error.strerror or str(error)
        raise LabError(
            f"{shown(path)} cannot be written: {reason}. It is as it was, and so is what sweeps have recorded: make room,"
            " and give the same command again"
        ) from None


def places(experiment: Experiment) -> dict[Place, dict[str, Any]]:
    """All that a full run of @experiment fills, with what its file asks for there (lab/sweep/plan.py)."""
    return {
        (kernel.name, variant.name, seed): asked_for(kernel, at_seed(experiment, variant, seed, full=True), seed)
        for kernel in (one.at(True) for one in experiment.kernel)
        for variant in experiment.variants(full=True)
        for seed in experiment.seeds_at(full=True)
    }


def outdated(plan: dict[Place, dict[str, Any]], kept: dict[Place, Cell]) -> list[Place]:
    """Of the places of @plan, those whose kept run was of other words than the experiment's file has by now."""
    return [
        place
        for place, asked in plan.items()
        if place in kept and any(kept[place].config.get(name) != value for name, value in asked.items())
    ]


class KeptResults:
    """results/ as a report reads a sweep's file: the places of @experiments at full size, with what is kept of them."""

    def __init__(self, experiments: Sequence[Experiment], place: Path | None = None) -> None:
        self.path = place or folder()
        self.plan = {experiment.name: places(experiment) for experiment in experiments}
        cells(place)  # all of it is right, or nothing is shown
        self.kept = {name: read(name, place) for name in self.plan}
        self.outdated = {name: outdated(asked, self.kept[name]) for name, asked in self.plan.items()}

    def experiments(self) -> list[tuple[str, str]]:
        return [(name, FULL) for name, found in self.kept.items() if found]

    def cells(self, experiment: str, scale: str) -> list[tuple[Use, Cell | None]]:
        """The places of the plan, and those that are kept though the file asks for them no longer."""
        found = self.kept.get(experiment, {}) if scale == FULL else {}
        asked = sorted({*self.plan[experiment], *found}) if found else []
        return [(Use(experiment, *where, FULL), found.get(where)) for where in asked]

    def missing(self) -> dict[str, list[Place]]:
        """The places of each experiment that nothing fills."""
        return {name: [one for one in asked if one not in self.kept[name]] for name, asked in self.plan.items()}

    def summary(self) -> str:
        """How much there is, in one sentence."""
        total, lacking = sum(map(len, self.plan.values())), self.missing()
        left = sum(map(len, lacking.values()))
        if not left:
            return f"all {total} runs of {len(self.plan)} experiments"
        none = [f"{name} ({len(self.plan[name])} runs)" for name in self.plan if not self.kept[name]]
        return f"{total - left} of {total} runs" + (f"; nothing of {', '.join(none)}" if none else "")
