"""./cw run --cache-sim SPEC: what a processor's memory caches would make of the job's accesses.

cachesim.c, a plugin of QEMU, has the caches; here are the processors that they can be, the costs from which cycles are
estimated, and the kernel with marks around its lookups. docs/cache-simulation.md says what is modelled.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from lab.base.paths import TOP, LabError, output_folder

if TYPE_CHECKING:
    from lab.run.machine import Options, Result

FOLDER = TOP / "lab/run/cachesim"
LEVELS = ("l1d", "l2", "l3")
CACHES = ("page", "buffer", "inode", "dentry")
UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20}
LARGEST = 1 << 30
MARKS = "REGION_MARKS=y"


@dataclass(frozen=True)
class Level:
    """One cache."""

    size: int
    ways: int
    line: int

    def __str__(self) -> str:
        unit = "M" if self.size % UNITS["M"] == 0 else "K" if self.size % UNITS["K"] == 0 else ""
        return f"{self.size // UNITS[unit]}{unit}/{self.ways}/{self.line}"


@dataclass(frozen=True)
class Specification:
    """What is simulated. @cost: the cycles that an access takes besides its instruction's one when it is found in the
    second level, in the third (if there is one), and in memory. @clock: millions of cycles a second."""

    levels: tuple[Level, ...]
    cost: tuple[int, ...]
    clock: int
    from_mark: bool = False  # the caches stay empty until the program's first mark: what is before takes less time

    def __str__(self) -> str:
        levels = [f"{name}={level}" for name, level in zip(LEVELS, self.levels, strict=False)]
        return ",".join(
            [*levels, f"cost={'/'.join(map(str, self.cost))}", f"clock={self.clock}", *["from=mark"] * self.from_mark]
        )


KB, MB = 1 << 10, 1 << 20

PRESETS = {
    # Pentium Pro 200 with 256 KB, 1996, one of Lever's machines. The caches are Intel's data sheet's. Assumed: 4 cycles
    # more for the L2, which runs at the core's clock, and 40 (200 ns) for EDO memory on the 66 MHz bus.
    "ppro": Specification((Level(8 * KB, 2, 32), Level(256 * KB, 4, 32)), (4, 40), 200),
    # Pentium II Xeon 450 with 512 KB, 1998, another of them. The caches are Intel's data sheet's. Assumed: 11 cycles more
    # for the L2, outside of the core at its clock, and 65 (145 ns) for SDRAM on the 100 MHz bus.
    "xeon-p2": Specification((Level(16 * KB, 4, 32), Level(512 * KB, 4, 32)), (11, 65), 450),
    # A core of a Ryzen 9000 (Zen 5, 2024) at 5.5 GHz, with the whole L3 of its die. The caches and the L2's 14 cycles, 10
    # more than the L1's 4, are AMD's. Assumed: 42 more for the L3, 440 (80 ns) for DDR5 memory.
    "current": Specification(
        (Level(48 * KB, 12, 64), Level(1 * MB, 16, 64), Level(32 * MB, 16, 64)), (10, 42, 440), 5500
    ),
}

ALLOWED = f"""There are the presets {", ".join(PRESETS)}, and caches of your own:
  l1d=SIZE/WAYS/LINE,l2=SIZE/WAYS/LINE[,l3=SIZE/WAYS/LINE][,cost=L2[/L3]/MEMORY][,clock=MHZ]
for example l1d=32K/8/64,l2=1M/16/64,cost=10/300. Sizes are in bytes, K or M; lines have 16 to 256 bytes, no fewer than
the level before; size / ways / line, the sets, is a power of two. The cost is in cycles, 0 to 100000; the clock 1 to
100000 MHz, 5500 without it. Behind either ,from=mark: nothing is simulated before the program's first mark."""


def parse_specification(text: str) -> Specification:
    """--cache-sim's value. LabError says what is wrong and what is allowed."""
    text, from_mark, more = text.partition(",from=mark")
    if from_mark and not more:
        return replace(parse_specification(text), from_mark=True)
    text += from_mark + more
    if text in PRESETS:
        return PRESETS[text]
    if "=" not in text:
        raise _wrong(text, f"there is no preset '{text}'")
    given: dict[str, str] = {}
    for part in text.split(","):
        name, _, value = part.partition("=")
        if name not in (*LEVELS, "cost", "clock"):
            raise _wrong(text, f"'{part}' is none of {', '.join(LEVELS)}, cost, clock")
        if name in given:
            raise _wrong(text, f"{name} is there twice")
        given[name] = value
    cost, clock = given.pop("cost", None), given.pop("clock", str(PRESETS["current"].clock))
    levels = tuple(_level(text, name, given[name]) for name in LEVELS if name in given)
    if list(given) != list(LEVELS[: len(given)]) or len(given) < 2:
        raise _wrong(
            text, f"the levels are {' and '.join(given) or 'none'}; they must be l1d, l2 and perhaps l3, in order"
        )
    for before, level in zip(levels, levels[1:], strict=False):
        if level.line < before.line:
            raise _wrong(text, f"lines of {level.line} bytes behind lines of {before.line}")
    if not re.fullmatch(r"[1-9]\d{0,4}|100000", clock):
        raise _wrong(text, f"clock={clock} is not 1 to 100000 MHz")
    return Specification(levels, _cost(text, cost, len(levels)), int(clock))


def _wrong(text: str, reason: str) -> LabError:
    return LabError(f"--cache-sim {text}: {reason}.\n{ALLOWED}")


def _level(text: str, name: str, value: str) -> Level:
    match = re.fullmatch(r"(\d{1,10})([KM]?)/(\d{1,3})/(\d{1,3})", value)
    if not match:
        raise _wrong(text, f"{name}={value} is not SIZE/WAYS/LINE")
    level = Level(int(match[1]) * UNITS[match[2]], int(match[3]), int(match[4]))
    if level.line not in (16, 32, 64, 128, 256):
        raise _wrong(text, f"{name} has lines of {level.line} bytes")
    if not 1 <= level.ways <= 64 or not level.size <= LARGEST:
        raise _wrong(
            text, f"{name} has {level.ways} ways and {level.size} bytes: up to 64 ways and 1024M are simulated"
        )
    sets, rest = divmod(level.size, level.ways * level.line)
    if rest or sets < 1 or sets & (sets - 1):
        raise _wrong(text, f"{name} would have {level.size / level.ways / level.line:g} sets")
    return level


def _cost(text: str, cost: str | None, levels: int) -> tuple[int, ...]:
    if cost is None:
        current = PRESETS["current"].cost
        return (*current[: levels - 1], current[-1])
    if not re.fullmatch(r"\d{1,5}(/\d{1,5})*|100000", cost) or cost.count("/") != levels - 1:
        wanted = "L2/L3/MEMORY" if levels == 3 else "L2/MEMORY"
        raise _wrong(text, f"cost={cost} is not {wanted}, for {levels} levels")
    return tuple(map(int, cost.split("/")))


# ---- running ---------------------------------------------------------------------------------------------------


def check_options(options: Options) -> None:
    """Refuse what cannot be simulated, before anything is built."""
    parse_specification(options.cache_sim)
    if options.smp != 1:
        raise LabError("--cache-sim has the caches of one CPU: leave out --smp")
    if options.accel != "tcg":
        raise LabError("--cache-sim sees the accesses of translated instructions: leave out --accel")
    if "REGION_MARKS=n" in options.settings:
        raise LabError("--cache-sim needs the marks that REGION_MARKS=n leaves out: leave that out")


def run(options: Options, sink: BinaryIO | None, source: BinaryIO | None) -> Result:
    """lab.run.machine.run() with the caches; Result.cachesim has what they counted, {} if the job did not end."""
    from lab.run import machine
    from lab.run.qemu.plugin import plugin

    check_options(options)
    specification = parse_specification(options.cache_sim)
    library = plugin(FOLDER / "cachesim.c", FOLDER / "model.h")
    with tempfile.TemporaryDirectory(prefix="cachesim-") as folder, _marked(options) as marked:
        out = Path(folder) / "counts"
        levels = "".join(f",level={level.size}/{level.ways}/{level.line}" for level in specification.levels)
        levels += ",from=mark" * specification.from_mark
        given = ["-plugin", f"file={library},out={out}{levels}"]
        if options.icount:
            marked, source = machine.without_input(marked), None
        result = machine.run(replace(marked, cache_sim="", extra_qemu=[*marked.extra_qemu, *given]), sink, source)
        if result.kind != "exit":
            return result
        try:
            counted = json.loads(out.read_text())
        except (OSError, ValueError):
            raise LabError(
                "this QEMU has counted nothing: was it built with plugins (qemu-system-x86_64 -plugin)?"
            ) from None
        if specification.from_mark and not counted["by_program"]:
            raise LabError(
                f"--cache-sim {options.cache_sim}: the program has set no mark (user/region.h), so nothing was counted: "
                "leave out from=mark"
            )
    result.cachesim = digest(specification, counted)
    return result


@contextlib.contextmanager
def _marked(options: Options) -> Iterator[Options]:
    """@options for a kernel that has the marks: in another build folder, unless the one that is there has them."""
    from lab.build.kernel import config_file

    if options.linux or (
        (os.environ.get("CW_BUILD") == "no" or not options.build)
        and not options.settings
        and not options.defconfig
        and config_file().exists()
        and "CONFIG_REGION_MARKS=y" in config_file().read_text().splitlines()
    ):
        yield options
        return
    before = os.environ.get("CW_OUTPUT")
    os.environ["CW_OUTPUT"] = f"{output_folder()}-marks"
    try:
        yield replace(options, settings=[*dict.fromkeys([*options.settings, MARKS])], build=True)
    finally:
        if before is None:
            del os.environ["CW_OUTPUT"]
        else:
            os.environ["CW_OUTPUT"] = before


# ---- what it came to -------------------------------------------------------------------------------------------


def digest(specification: Specification, counted: dict[str, Any]) -> dict[str, Any]:
    """The counts of the plugin with sums and cycles: the value of `cachesim` in a run's results. `parts` has the same
    regions of each part that the program marked."""
    regions = {name: counts for name, counts in counted.items() if isinstance(counts, dict)}
    found = _with_sums(specification, regions)
    return {
        "accesses": found["total"]["accesses"], **found, "specification": str(specification),
        "clock": specification.clock, "by_program": counted["by_program"], "interrupts": regions["interrupt"]["lookups"],
        "unbalanced": counted["unbalanced"], "untranslated": counted["untranslated"],
        "parts": [_with_sums(specification, part) for part in counted.get("parts", [])],
    }  # fmt: skip


def _with_sums(specification: Specification, regions: dict[str, dict[str, int]]) -> dict[str, dict[str, Any]]:
    rest = ("kernel", "interrupt", "user")
    found: dict[str, Any] = {name: dict(regions[name]) for name in CACHES}
    found["kernel"] = {**_sum(regions[name] for name in ("kernel", "interrupt")), "lookups": 0}
    found["user"] = dict(regions["user"])
    found["rest"] = {**_sum(regions[name] for name in rest), "lookups": 0}
    found["total"] = _sum([*(regions[name] for name in CACHES), found["rest"]])
    for name, region in found.items():
        region["cycles"] = cycles(specification, region)
        if name in CACHES:
            lookups = region["lookups"] or 1
            names = [key for key in region if key != "lookups"]
            region.update({f"{key}_per_lookup": round(region[key] / lookups, 4) for key in names})
        else:
            del region["lookups"]
    return found


def _sum(regions) -> dict[str, int]:
    total: dict[str, int] = {}
    for region in regions:
        for name, value in region.items():
            total[name] = total.get(name, 0) + value
    return total


def cycles(specification: Specification, region: dict[str, int]) -> int:
    """One for each instruction, and what it costs to find a line where it is."""
    misses = [region[f"l{number + 1}_misses"] for number in range(len(specification.levels))]
    found_behind = [here - next_one for here, next_one in zip(misses, [*misses[1:], 0], strict=True)]
    return region["instructions"] + sum(
        cost * number for cost, number in zip(specification.cost, found_behind, strict=True)
    )


def print_table(found: dict[str, Any]) -> None:
    """The counts, one region a line, to stderr: stdout is the program's."""
    from rich.console import Console
    from rich.table import Table

    levels = [name for name in ("l1_misses", "l2_misses", "l3_misses") if name in found["total"]]
    what = "between the program's marks" if found["by_program"] else "of the whole job"
    table = Table(title=f"Memory caches {found['specification']}, {what}", title_justify="left", box=None)
    table.add_column("")
    names = ["lookups", "instructions", "accesses", *levels, "cycles"]
    for name in [*names, "misses/lookup", "cycles/lookup"]:
        table.add_column(
            name.replace("_", " ").replace("l1", "L1").replace("l2", "L2").replace("l3", "L3"), justify="right"
        )
    for region in (*CACHES, "kernel", "user", "total"):
        counts = found[region]
        cells = [str(counts.get(name, "")) for name in names]
        per = (
            [f"{counts[key]:.2f}" for key in ("l1_misses_per_lookup", "cycles_per_lookup")] if region in CACHES else []
        )
        table.add_row(
            "rest of kernel" if region == "kernel" else "programs" if region == "user" else region, *cells, *per
        )
    console = Console(stderr=True, highlight=False, width=None if sys.stderr.isatty() else 160)
    console.print(table)
    for name in ("unbalanced", "untranslated"):
        if found[name]:
            console.print(f"cw: {found[name]} {name}: these counts cannot be trusted (docs/cache-simulation.md)")
