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
class Buffers:
    """The translation buffers (TLBs): (entries, ways) of that for data in pages of 4 KB, of that for data in pages of
    2 MB, of that for instructions."""

    data: tuple[int, int]
    large: tuple[int, int]
    code: tuple[int, int]

    def __str__(self) -> str:
        return "/".join(f"{entries}/{ways}" for entries, ways in (self.data, self.large, self.code))


@dataclass(frozen=True)
class Specification:
    """What is simulated. @cost: the cycles that an access takes besides its instruction's one when it is found in the
    second level, in the third (if there is one), and in memory; a fetch of instructions the same. @clock: millions of
    cycles a second."""

    levels: tuple[Level, ...]
    cost: tuple[float, ...]
    clock: int
    code: Level | None = None  # the first level for instructions; None: they come from nowhere
    tlb: Buffers | None = None
    tlb_cost: float = 0  # cycles that a walk of the page tables takes
    sensitivity: bool = False  # beside it all that SETTINGS of sensitivity.py want of the run
    from_mark: bool = False  # the caches stay empty until the program's first mark: what is before takes less time

    def __str__(self) -> str:
        levels = [f"{name}={level}" for name, level in zip(LEVELS, self.levels, strict=False)]
        code = [f"l1i={self.code}"] if self.code else []
        tlb = [f"tlb={self.tlb}", f"tlbcost={self.tlb_cost}"] if self.tlb else []
        costs = [f"cost={'/'.join(map(str, self.cost))}", f"clock={self.clock}"]
        words = ["sensitivity"] * self.sensitivity + ["from=mark"] * self.from_mark
        return ",".join([*levels, *code, *tlb, *costs, *words])

    def plain(self, code: bool = False, tlb: bool = False) -> Specification:
        """The processor alone, with its cache for instructions and its TLBs or without."""
        seen = replace(self, code=self.code if code else None, sensitivity=False, from_mark=False)
        return seen if tlb else replace(seen, tlb=None, tlb_cost=0)

    @property
    def whole(self) -> Specification:
        """The processor with all that is known of it."""
        plain = self.plain()
        return next((one for one in PROCESSORS.values() if one.plain() == plain), self.plain(code=True, tlb=True))

    @property
    def models(self) -> dict[str, Specification]:
        """What is simulated beside each other, by name; the first is what was asked for."""
        if not self.sensitivity:
            return {"": self.plain(code=True, tlb=True)}
        own = self.whole
        name = next((name for name, one in PROCESSORS.items() if one == own), "")
        return {name: own} | {other: one for other, one in PROCESSORS.items() if other != name}


KB, MB = 1 << 10, 1 << 20
P6_TLB = Buffers((64, 4), (8, 4), (32, 4))

# docs/lab/simulated/cache-simulation.md, "Where the numbers are from", names the source of each.
PROCESSORS = {
    # Pentium Pro 200 with 256 KB, 1996, one of Lever's machines. Assumed: 4 cycles more for the L2, which runs at the
    # core's clock, and 40 (200 ns) for EDO memory on the 66 MHz bus; 10 for a walk, whose two entries are in the caches.
    "ppro": Specification(
        (Level(8 * KB, 2, 32), Level(256 * KB, 4, 32)), (4, 40), 200, Level(8 * KB, 4, 32), P6_TLB, 10
    ),
    # Pentium II Xeon 450 with 512 KB, 1998, another of them (a Dell PowerEdge 6300). Assumed: 11 cycles more for the
    # L2, outside of the core at its clock, and 90 (200 ns) for that machine's buffered EDO memory, as slow to answer as
    # the Pentium Pro's: its bus of 100 MHz makes up for the buffers; 10 for a walk.
    "xeon-p2": Specification(
        (Level(16 * KB, 4, 32), Level(512 * KB, 4, 32)), (11, 90), 450, Level(16 * KB, 4, 32), P6_TLB, 10
    ),
    # Xeon MP 1.6 GHz with 1 MB of L3, 2002, one of those that the IBM x440 had, on which SDET ran for Santos as the name of
    # his results says; which it was, it does not. Its cache for instructions holds decoded ones, which are not simulated.
    # L2 and L3 take 5 and 12 cycles more than the L1's 2. Assumed: 320 (200 ns) for memory, without the machine's L4.
    "xeon-mp": Specification(
        (Level(8 * KB, 4, 64), Level(256 * KB, 8, 64), Level(1 * MB, 8, 64)), (5, 12, 320), 1600
    ),
    # A core of a Ryzen 9000 (Zen 5, 2024) at 5.5 GHz, with the whole L3 of its die. The L2's 14 cycles, 10 more than the
    # L1's 4, are AMD's. Assumed: 42 more for the L3, 440 (80 ns) for DDR5 memory, 30 for a walk. Of two levels of TLBs
    # the second is simulated.
    "current": Specification(
        (Level(48 * KB, 12, 64), Level(1 * MB, 16, 64), Level(32 * MB, 16, 64)), (10, 42, 440), 5500,
        Level(32 * KB, 8, 64), Buffers((4096, 16), (4096, 16), (2048, 8)), 30,
    ),
}  # fmt: skip
PRESETS = {name: processor.plain() for name, processor in PROCESSORS.items()}

ALLOWED = f"""There are the presets {", ".join(PRESETS)}, and caches of your own:
  l1d=SIZE/WAYS/LINE,l2=SIZE/WAYS/LINE[,l3=SIZE/WAYS/LINE][,l1i=SIZE/WAYS/LINE][,tlb=ENTRIES/WAYS/...[,tlbcost=CYCLES]]
  [,cost=L2[/L3]/MEMORY][,clock=MHZ]
for example l1d=32K/8/64,l2=1M/16/64,cost=10/300. Sizes are in bytes, K or M; lines have 16 to 256 bytes, no fewer than
the level before; size / ways / line, the sets, is a power of two. tlb= has entries and ways for data in pages of 4 KB, for
data in pages of 2 MB, for instructions. The cost is in cycles, 0 to 100000; the clock 1 to 100000 MHz, 5500 without it.
Behind a preset ,code and ,tlb add its cache for instructions and its translation buffers. Behind either, in this order:
  ,sensitivity  other presets, code and TLBs are simulated beside it
  ,from=mark    nothing is simulated before the program's first mark"""


def parse_specification(text: str) -> Specification:
    """--cache-sim's value. LabError says what is wrong and what is allowed."""
    if _ends(text, ",from=mark"):
        return replace(parse_specification(text.removesuffix(",from=mark")), from_mark=True)
    if _ends(text, ",sensitivity"):
        return replace(parse_specification(text.removesuffix(",sensitivity")), sensitivity=True)
    preset, *words = text.split(",")
    if preset in PROCESSORS:
        return _preset(text, preset, words)
    if "=" not in text:
        raise _wrong(text, f"there is no preset '{text}'")
    given: dict[str, str] = {}
    for part in text.split(","):
        name, _, value = part.partition("=")
        if name not in (*LEVELS, "l1i", "tlb", "tlbcost", "cost", "clock"):
            raise _wrong(text, f"'{part}' is none of {', '.join(LEVELS)}, l1i, tlb, tlbcost, cost, clock")
        if name in given:
            raise _wrong(text, f"{name} is there twice")
        given[name] = value
    cost, clock = given.pop("cost", None), given.pop("clock", str(PRESETS["current"].clock))
    code, tlb, tlb_cost = given.pop("l1i", ""), given.pop("tlb", ""), given.pop("tlbcost", "")
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
    if tlb_cost and not (tlb and re.fullmatch(r"\d{1,5}|100000", tlb_cost)):
        raise _wrong(text, f"tlbcost={tlb_cost} is not the cycles of a walk for a tlb=")
    return Specification(
        levels,
        _cost(text, cost, len(levels)),
        int(clock),
        _code(text, code, levels) if code else None,
        _buffers(text, tlb) if tlb else None,
        int(tlb_cost or PROCESSORS["current"].tlb_cost) if tlb else 0,
    )


def _ends(text: str, word: str) -> bool:
    """Does @text end with @word, and without it not with a word that must come behind it or the same again?"""
    return text.endswith(word) and not text.removesuffix(word).endswith((word, ",from=mark"))


def _preset(text: str, name: str, words: list[str]) -> Specification:
    processor, wrong = PROCESSORS[name], [word for word in words if word not in ("code", "tlb")]
    if wrong or len(set(words)) < len(words):
        raise _wrong(
            text, f"behind '{name}' there may be code, tlb, sensitivity and from=mark, in this order, once each"
        )
    for word in words:
        if not getattr(processor, word):
            raise _wrong(text, f"of {name} no {word} is known that could be simulated")
    return processor.plain(code="code" in words, tlb="tlb" in words)


def _code(text: str, value: str, levels: tuple[Level, ...]) -> Level:
    level = _level(text, "l1i", value)
    if level.line > levels[1].line:
        raise _wrong(text, f"lines of {levels[1].line} bytes behind lines of {level.line}")
    return level


def _buffers(text: str, value: str) -> Buffers:
    numbers = [int(number) for number in value.split("/") if re.fullmatch(r"[1-9]\d{0,4}", number)]
    pairs = list(zip(numbers[::2], numbers[1::2], strict=False))
    sets = [entries // ways if entries % ways == 0 else 0 for entries, ways in pairs]
    if value.count("/") != 5 or len(pairs) != 3 or not all(one and one & (one - 1) == 0 for one in sets):
        raise _wrong(text, f"tlb={value} is not three times ENTRIES/WAYS, whose quotient is a power of two")
    return Buffers(*pairs)


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


def _cost(text: str, cost: str | None, levels: int) -> tuple[float, ...]:
    if cost is None:
        current = PRESETS["current"].cost
        return (*current[: levels - 1], current[-1])
    if not re.fullmatch(r"\d{1,5}(/\d{1,5})*|100000", cost) or cost.count("/") != levels - 1:
        wanted = "L2/L3/MEMORY" if levels == 3 else "L2/MEMORY"
        raise _wrong(text, f"cost={cost} is not {wanted}, for {levels} levels")
    return tuple(map(int, cost.split("/")))
