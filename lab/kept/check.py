"""Do kept cells count the same when they run again? Two short ones of them, drawn by a word; or a long one.

Where QEMU is given what it was given then (lab/run/qemu/given.py), everything is compared to the last byte. A kernel that
has changed runs other instructions, so that its clock, and who waits for whom, are a little others, and so is what all
of the simulation counts. Of it is asked what is kept for: the caches' loads and chains, to within TOLERANCE. What two
builds of one kernel differ by is far less (SPINLOCK=ticket, lever-shrink: at most 0.6 %), but in one thing: keys of pages,
inodes and dentries hold addresses of objects, and a kernel of another size, or another seed, has its objects elsewhere, so
that other keys share a bucket. So steps in those caches may be what another seed could have made of them, too: as far beyond
those of the kept seeds as these are apart.

With another QEMU, compiler, busybox, libc or package than the kept run's nothing is to be expected, and nothing is run. Nor
is anything to be expected of another machine that counts nothing of caches (Linux): that is skipped, not equal.
"""

from __future__ import annotations

import json
import random
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lab.base.paths import LabError
from lab.kept import files
from lab.kept.form import KERNEL, Place, spoken
from lab.sweep import kernels
from lab.sweep.experiment import CACHES, load
from lab.sweep.plan import WORDS_ONLY, Plan, Planned
from lab.sweep.runner import run_local
from lab.sweep.store import Cell, repeatable, same_machine


@dataclass(frozen=True)
class Length:
    """How many cells to draw, of those that took as many seconds as lie between."""

    count: int
    least: float
    most: float


SHORT = Length(2, 0, 60)
LONG = Length(1, 60, 240)  # most whole runs of table 1, and some of each other kind
TOLERANCE, FEW = 0.03, 1000  # of a changed kernel: a part of each count, or so many at once
ADDRESSES_IN_KEYS = ("page", "inode", "dentry")
# Of a configuration: what may be another and the run is still the one that was asked for.
MAY_DIFFER = {*WORDS_ONLY, *KERNEL, "sources", "qemu", "packages", "add"}


@dataclass(frozen=True)
class Drawn:
    """A kept cell to be run again."""

    experiment: str
    place: Place
    cell: Cell

    @property
    def name(self) -> str:
        return f"{self.experiment}: {spoken(self.place)}"


@dataclass
class Outcome:
    """What became of a check."""

    equal: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)  # reasons


def of_length(length: Length, place: Path | None = None) -> list[Drawn]:
    """Every kept cell that is repeatable and took so long, once each."""
    found: dict[str, Drawn] = {}
    for name in files.names(place):
        for where, cell in sorted(files.read(name, place).items()):
            if repeatable(cell.config) and length.least <= cell.seconds < length.most:
                found.setdefault(cell.id, Drawn(name, where, cell))
    return list(found.values())


def draw(cells: list[Drawn], word: str, count: int = SHORT.count) -> list[Drawn]:
    """@count of @cells, by @word alone."""
    return random.Random(word).sample(cells, min(count, len(cells)))


def check(
    word: str, place: Path | None = None, experiments: dict[str, Path] | None = None, length: Length = SHORT
) -> Outcome:
    """Run the cells that @word draws of those in @place, and compare. @experiments: files that are not in experiments/."""
    outcome = Outcome()
    if not files.cells(place):
        outcome.skipped.append(f"{files.shown(place or files.folder())}/ keeps no runs yet")
        return outcome
    cells = of_length(length, place)
    if not cells:
        outcome.skipped.append(f"no kept cell took {length.least:.0f} to {length.most:.0f} s")
    for drawn in draw(cells, word, length.count):
        planned = _planned(drawn, (experiments or {}).get(drawn.experiment))
        reason = planned if isinstance(planned, str) else "; ".join(other_tools(drawn.cell, planned))
        if isinstance(planned, str) or reason:
            outcome.skipped.append(f"{drawn.name}: {reason}")
            continue
        now = _run(planned)
        fault = fault_of(drawn, now, planned, _seeds_of(drawn, place))
        if not fault and not same_machine(drawn.cell, now) and not _counts_of_caches(drawn.cell):
            outcome.skipped.append(f"{drawn.name}: QEMU is given something else by now, and there are no counters of caches to compare")  # fmt: skip
            continue
        (outcome.faults if fault else outcome.equal).append(fault or drawn.name)
    return outcome


def _counts_of_caches(cell: Cell) -> bool:
    return any(_load(cell.stats.get(cache, {})) for cache in CACHES)


def _planned(drawn: Drawn, path: Path | None) -> Planned | str:
    """The same place as this checkout would run it, or why there is none."""
    plan = Plan()
    try:
        plan.add(load(path or drawn.experiment), full=True)
    except LabError as error:
        return f"it cannot be run here: {error}"
    for cell in plan.cells.values():
        if any((use.kernel, use.workload, use.seed) == drawn.place for use in cell.uses):
            kept = drawn.cell.config
            other = [name for name in cell.config if name not in MAY_DIFFER and cell.config[name] != kept.get(name)]
            return f"its experiment asks for another {', '.join(other)} by now" if other else cell
    return "its experiment asks for it no longer"


def other_tools(kept: Cell, planned: Planned) -> Iterator[str]:
    """What of the host is another than when @kept ran."""
    here = planned.config
    for name in ("qemu", *here["tools"]):
        was, is_now = (config.get(name) or config["tools"].get(name) for config in (kept.config, here))
        if was != is_now:
            yield f"another {'QEMU' if name == 'qemu' else name}: kept with {was}, here is {is_now}"
    was, is_now = kept.config["packages"], here["packages"]
    if was != is_now:
        only = [f"kept with {one}" for one in was if one not in is_now]
        only += [f"here is {one}" for one in is_now if one not in was]
        yield f"other packages: {', '.join(only) or 'another order'}"


def _run(planned: Planned) -> Cell:
    builds = kernels.prepare([planned.kernel] if planned.kernel else [], lambda *_: None)
    ((_, cell),) = run_local([planned], builds, 1, lambda _: None)
    return cell


def _seeds_of(drawn: Drawn, place: Path | None) -> list[Cell]:
    """What is kept of its kernel and workload, with all seeds."""
    kernel, workload, _ = drawn.place
    return [cell for (k, w, _), cell in files.read(drawn.experiment, place).items() if (k, w) == (kernel, workload)]


def fault_of(drawn: Drawn, now: Cell, planned: Planned, seeds: list[Cell]) -> str:
    """In words what is another in @now than was kept, and what to do; "": nothing. @seeds: the kept cells of its place."""
    kept = drawn.cell
    if not now.ok:
        found = f"it failed: {now.kind}: {now.message}"
    else:
        was, found_now = files.counted(kept), files.counted(now)
        if same_machine(kept, now):
            differing = list(differences(was, found_now))
        else:
            differing = list(departures(was, found_now, [files.counted(cell) for cell in seeds]))
        if not differing:
            return ""
        more = f", and {len(differing) - 1} more are others" if len(differing) > 1 else ""
        found = f"{differing[0]}{more}"
    others = [
        what
        for name, what in (
            ("sources", "the sources"), ("kernel_sha256", "the kernel's image"), ("kernel_config", "its configuration"),
            ("add", "a file of the load"),
        )
        if kept.config.get(name) != now.config.get(name)
    ]  # fmt: skip
    because = f"not as then: {', '.join(others)}" if others else "all that determines the run is as then"
    because = "QEMU is given what it was given then, to the last byte" if same_machine(kept, now) else because
    kernel, workload, seed = drawn.place
    only = shlex.quote(f"{kernel}/{workload}")
    # What is recorded, or kept, under the same identity or of the same machine is taken and not run.
    again = " --again" if kept.id == now.id or same_machine(kept, now) else ""
    return (
        f"{drawn.name}: {found}. Kept of commit {kept.revision}; {because}.\n"
        f"  If the kernel was not meant to count otherwise: look which commit since then did it, with\n    {planned.command}\n"
        f"  If it was: what is kept is of an older kernel. Run it anew, first this cell and then all,\n"
        f"    ./cw sweep {drawn.experiment} --full --again --only {only} --seeds {seed}\n"
        f"    ./cw sweep {drawn.experiment} --full{again}; ./cw keep {drawn.experiment}; make docs"
    )


def departures(was: dict[str, Any], now: dict[str, Any], seeds: list[dict[str, Any]]) -> Iterator[str]:
    """Each count of a cache that is further from what was kept than a kernel with the same caches would be.

    @seeds: what is kept of the same place with every seed, @was among them.
    """
    for cache in CACHES:
        before, after = (_load(counted["stats"].get(cache, {})) for counted in (was, now))
        for name, count in before.items():
            found = after.get(name, 0)
            if abs(found - count) <= max(TOLERANCE * count, FEW):
                continue
            others = ""
            if name == "steps" and cache in ADDRESSES_IN_KEYS:
                steps = [_load(counted["stats"].get(cache, {})).get("steps", 0) for counted in (was, *seeds)]
                apart = max(steps) - min(steps)
                if min(steps) - apart <= found <= max(steps) + apart:
                    continue
                others = f", and seeds made {min(steps)} to {max(steps)}"
            yield f"{cache}.{name} was {count}, is {found}, more than {TOLERANCE:.0%} off{others}"


def _load(stats: dict[str, Any]) -> dict[str, int]:
    """What a cache was asked and what it came to, as counts of which each is of many."""
    counts: dict[str, int] = {}
    for name in ("lookups", "hits", "inserts", "objects", "hit_steps", "miss_steps"):
        if name in stats:
            of = "steps" if name.endswith("_steps") else name
            counts[of] = counts.get(of, 0) + int(stats[name])
    return counts


def differences(was: Any, now: Any, name: str = "") -> Iterator[str]:
    """Each counter that is another, in the order of their names."""
    if isinstance(was, dict) and isinstance(now, dict):
        for key in sorted({*was, *now}):
            inner = f"{name}.{key}" if name else key
            if key not in now or key not in was:
                yield f"{inner} is {'not there any more' if key in was else 'new'}"
            else:
                yield from differences(was[key], now[key], inner)
    elif isinstance(was, list) and isinstance(now, list) and len(was) == len(now):
        for at, (one, other) in enumerate(zip(was, now, strict=True)):
            yield from differences(one, other, f"{name}[{at}]")
    elif json.dumps(was) != json.dumps(now):
        yield f"{name} was {json.dumps(was)[:60]}, is {json.dumps(now)[:60]}"
