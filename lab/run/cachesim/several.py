"""--cache-sim's value for a machine of several CPUs: its caches, what they cost, and what was counted, with sums.

The caches are coherent/mesi.c, the time coherent/clocks.c; docs/lab/simulated/several-cpus.md says what is modelled.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, replace
from typing import Any

from lab.base.paths import LabError
from lab.run.cachesim.specification import KB, MB, UNITS
from lab.run.cachesim.sums import CACHES, warn_of_untrusted, with_sums

COSTS = ("second", "third", "memory", "near", "far", "upgrade", "bus")
LEVELS = ("first", "second", "third")


@dataclass(frozen=True)
class Machine:
    """What is simulated. @group: CPUs that share a third level. @levels: (bytes, ways) of a CPU's first and second, and of
    the third, if there is one. @cost: cycles beside the instruction's one, in the order of COSTS: by where a line is
    found, in a cache of the same group (near) or another (far); to take others' copies away; for which the bus is taken by
    a transaction, 0: there is none. @clock: millions of cycles a second."""

    cpus: int
    group: int
    line: int
    levels: tuple[tuple[int, int], ...]
    cost: tuple[int, ...]
    clock: int
    from_mark: bool = False

    def __str__(self) -> str:
        words = [f"cpus={self.cpus}", f"group={self.group}", f"line={self.line}"]
        words += [f"{name}={size}/{ways}" for name, (size, ways) in zip(LEVELS, self.levels, strict=False)]
        words += [f"cost={'/'.join(map(str, self.cost))}", f"clock={self.clock}"]
        return ",".join(words + ["from=mark"] * self.from_mark)

    def arguments(self, cpus: int) -> str:
        """What the plugin is told, of a machine with @cpus of them."""
        words = [f"cpus={cpus}", *str(replace(self, from_mark=False)).split(",")[1:-1]]
        return "".join(f",{word}" for word in ["from=mark"] * self.from_mark + words)


# docs/lab/simulated/several-cpus.md, "Where the numbers are from", names the source of each.
MACHINES = {
    # Dell PowerEdge 6300, one of Lever's: four Pentium II Xeon 450 with 512 KB on one bus of 100 MHz. Assumed: memory as
    # of xeon-p2; what another processor has written comes as slowly as from memory, and ten cycles more; an address alone
    # takes ten of the bus's cycles. A line's 32 bytes take four of the bus's cycles, 18 of the processor's.
    "poweredge-6300": Machine(4, 4, 32, ((16 * KB, 4), (512 * KB, 4)), (11, 0, 90, 100, 100, 45, 18), 450),
    # IBM x440, on which SDET ran for Santos: eight Xeon MP as of xeon-mp, the third level each one's own. Assumed: 250 ns
    # from another's cache, half of that to take copies away. Two buses of 3.2 GB/s, four processors each, are taken for
    # one of twice the speed: 10 ns a line.
    "x440": Machine(
        8, 1, 64, ((8 * KB, 4), (256 * KB, 8), (1 * MB, 8)), (5, 12, 320, 400, 400, 200, 16), 1600
    ),
    # Ryzen 9 9950X, 2024: sixteen cores of Zen 5 as of current, on two dies with a third level each. Assumed: 18 ns from
    # another core of the die, 80 ns from the other die, 15 ns to take copies away on the die.
    "current-16": Machine(
        16, 8, 64, ((48 * KB, 12), (1 * MB, 16), (32 * MB, 16)), (10, 42, 440, 100, 440, 80, 0), 5500
    ),
}  # fmt: skip

ALLOWED = f"""Of several CPUs there are the presets {", ".join(MACHINES)}, and machines of your own:
  cpus=N,group=N,line=BYTES,first=SIZE/WAYS,second=SIZE/WAYS[,third=SIZE/WAYS],cost=SECOND/THIRD/MEMORY/NEAR/FAR/UPGRADE/BUS,clock=MHZ
for example cpus=4,group=4,line=64,first=32K/8,second=1M/16,cost=10/0/300/100/100/60/0,clock=3000. At most 16 CPUs, a
multiple of the group; lines of 16 to 256 bytes; costs in cycles, 0 to 99999. Behind either ,from=mark: nothing is simulated before
the program's first mark."""


def is_several(text: str) -> bool:
    """Is @text, --cache-sim's value, a machine of several CPUs?"""
    return text.partition(",")[0] in MACHINES or text.startswith("cpus=")


def parse_machine(text: str) -> Machine:
    """The machine of @text. LabError says what is wrong and what is allowed."""
    if text.endswith(",from=mark"):
        return replace(parse_machine(text.removesuffix(",from=mark")), from_mark=True)
    if text in MACHINES:
        return MACHINES[text]
    words = dict(word.partition("=")[::2] for word in text.split(","))
    wanted = ["cpus", "group", "line", "first", "second", "cost", "clock"]
    if sorted({*words} - {"third"}) != sorted(wanted) or text.count("=") != len(words):
        raise _wrong(text, f"there must be {', '.join(wanted)} and perhaps third, once each")
    for name in ("cpus", "group", "line", "clock"):
        if not re.fullmatch(r"[1-9]\d{0,4}", words[name]):
            raise _wrong(text, f"{name}={words[name]} is no number from 1 to 99999")
    if not re.fullmatch(r"\d{1,5}(/\d{1,5}){6}", words["cost"]):
        raise _wrong(text, f"cost={words['cost']} is not {'/'.join(COSTS).upper()}")
    cpus, group, line = (int(words[name]) for name in ("cpus", "group", "line"))
    if cpus > 16 or cpus % group:
        raise _wrong(text, f"{cpus} CPUs in groups of {group}")
    if line not in (16, 32, 64, 128, 256):
        raise _wrong(text, f"lines of {line} bytes")
    levels = tuple(_level(text, name, words[name], line) for name in LEVELS if name in words)
    if levels[1][0] < levels[0][0]:
        raise _wrong(text, "the second level holds what the first has: it cannot be smaller")
    return Machine(cpus, group, line, levels, tuple(map(int, words["cost"].split("/"))), int(words["clock"]))


def _level(text: str, name: str, value: str, line: int) -> tuple[int, int]:
    match = re.fullmatch(r"(\d{1,10})([KM]?)/([1-9]\d?)", value)
    if not match:
        raise _wrong(text, f"{name}={value} is not SIZE/WAYS")
    size, ways = int(match[1]) * UNITS[match[2]], int(match[3])
    sets, rest = divmod(size, ways * line)
    if rest or sets < 1 or sets & (sets - 1) or size > 1 << 30:
        raise _wrong(text, f"{name} would have {size / ways / line:g} sets")
    return size, ways


def _wrong(text: str, reason: str) -> LabError:
    return LabError(f"--cache-sim {text}: {reason}.\n{ALLOWED}")


# ---- what was counted --------------------------------------------------------------------------------------------


def digest(machine: Machine, counted: dict[str, Any]) -> dict[str, Any]:
    """The counts of the plugin with sums and cycles: the value of `cachesim` in a run's results. `parts` has the same
    of each part that the program marked. LabError: the kernel's marks do not fit together."""
    if counted["unbalanced"] or "?" in counted["whole"]["locks"]:
        raise LabError("the kernel's marks of locks and regions do not fit together: its counts are worth nothing")
    return {
        **_with_sums(counted["whole"], counted["cpus"]), "specification": str(machine), "clock": machine.clock,
        "cpus": counted["cpus"], "by_program": counted["by_program"],
        "unbalanced": counted["unbalanced"], "untranslated": counted["untranslated"], "lines": counted["lines"],
        "parts": [_with_sums(part, counted["cpus"]) for part in counted["parts"]],
    }  # fmt: skip


def _with_sums(part: dict[str, Any], cpus: int) -> dict[str, Any]:
    """`slowest`: the clock of the slowest CPU, of those that said to be done, if any did."""
    regions = {name: value for name, value in part.items() if isinstance(value, dict) and name != "locks"}
    found: dict[str, Any] = with_sums(regions, _cycles)
    counts = [clock for cpu, clock in enumerate(part["clocks"]) if not part["done"] or part["done"] >> cpu & 1]
    clocks = {
        "clocks": part["clocks"],
        "slowest": max(counts),
        "done": part["done"].bit_count(),
        "turns": part["turns"],
    }
    locks = dict(sorted(part["locks"].items(), key=lambda one: -one[1]["for_lock"] - one[1]["stall"]))
    return {**found, **clocks, "locks": locks}


def _cycles(region: dict[str, int]) -> int:
    return sum(region[key] for key in ("instructions", "stall", "for_line", "for_bus", "for_lock"))


COLUMNS = (
    "lookups", "instructions", "l2_misses", "transfers", "upgrades", "invalidations", "stall", "for_line", "for_bus",
    "for_lock", "cycles",
)  # fmt: skip
MOST_LOCKS = 12


def print_tables(found: dict[str, Any]) -> None:
    """The counts, one region a line, and those locks that cost most, to stderr: stdout is the program's."""
    from rich.console import Console

    what = "between the program's marks" if found["by_program"] else "of the whole job"
    console = Console(stderr=True, highlight=False, width=None if sys.stderr.isatty() else 200)
    rows = {name: found[name] for name in (*CACHES, "kernel", "user", "total") if name in found}
    rows = {{"kernel": "rest of kernel", "user": "programs"}.get(name, name): row for name, row in rows.items()}
    _print(console, f"{found['cpus']} CPUs {found['specification']}, {what}", COLUMNS, rows)
    locks = dict(list(found["locks"].items())[:MOST_LOCKS])
    _print(console, "Locks", ("taken", "waited", "for_lock", "transfers", "stall"), locks)
    console.print(f"slowest clock: {found['slowest']} cycles; turns of QEMU: {found['turns']}")
    warn_of_untrusted(console, found, "several-cpus.md")


def _print(console: Any, title: str, columns: tuple[str, ...], rows: dict[str, dict[str, Any]]) -> None:
    from rich.table import Table

    table = Table(title=title, title_justify="left", box=None)
    table.add_column("")
    for name in columns:
        table.add_column(name.replace("l2_", "L2 ").replace("_", " "), justify="right")
    for name, row in rows.items():
        table.add_row(name, *(str(row.get(column, "")) for column in columns))
    console.print(table)
