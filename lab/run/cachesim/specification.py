"""--cache-sim's value: the processors that can be simulated, and the costs from which cycles are estimated."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from lab.base.paths import LabError

LEVELS = ("l1d", "l2", "l3")
UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20}
LARGEST = 1 << 30


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
    # Pentium II Xeon 450 with 512 KB, 1998, another of them (a Dell PowerEdge 6300). The caches are Intel's data sheet's.
    # Assumed: 11 cycles more for the L2, outside of the core at its clock, and 90 (200 ns) for that machine's buffered EDO
    # memory, as slow to answer as the Pentium Pro's: its bus of 100 MHz makes up for the buffers.
    "xeon-p2": Specification((Level(16 * KB, 4, 32), Level(512 * KB, 4, 32)), (11, 90), 450),
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
