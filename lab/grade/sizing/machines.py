"""Tables that want a size, and the machines that they stand in: drawn from a seed."""

from __future__ import annotations

from dataclasses import dataclass

from lab.course.draw import Draw
from lab.grade.sizing.exact import BITS
from lab.run.cachesim.specification import Level

CACHES = 3
FEWEST = 100  # objects
LARGEST = 256 << 10  # bytes of a cache that objects are to fill: more is more of the same, and takes longer
KINDS = ("tight", "roomy", "small", "vast")


@dataclass(frozen=True)
class Machine:
    """Its memory caches, the nearest first, and what an access costs that is found there, and in memory (given.h)."""

    levels: tuple[Level, ...]
    cost: tuple[int, ...]

    @property
    def line(self) -> int:
        return self.levels[0].line

    @property
    def words(self) -> tuple[int, ...]:
        none = [0] * (CACHES - len(self.levels))
        sizes, ways = [level.size for level in self.levels], [level.ways for level in self.levels]
        return (self.line, len(self.levels), *sizes, *none, *ways, *none, *self.cost, *none)

    def __str__(self) -> str:
        costs = "/".join(map(str, self.cost))
        return f"caches {', '.join(map(str, self.levels))} (size/ways/line), cost {costs}"


@dataclass(frozen=True)
class Load:
    """What the table is for (given.h)."""

    objects: int
    hits: int
    bucket_bytes: int
    object_bytes: int
    least_bits: int
    most_bits: int

    @property
    def words(self) -> tuple[int, ...]:
        return (
            self.objects, self.hits, self.bucket_bytes, self.object_bytes, self.least_bits, self.most_bits
        )  # fmt: skip

    @property
    def sizes(self) -> range:
        return range(self.least_bits, self.most_bits + 1)

    def nearest(self, load_factor: int, to: int = 1) -> int:
        """The bits of the table that has this load (@load_factor / @to), or the next lower one."""
        bits = (self.objects * to // load_factor - 1).bit_length()
        return min(max(bits, self.least_bits), self.most_bits)

    def __str__(self) -> str:
        return (
            f"{self.objects:,} objects {self.object_bytes} bytes apart, buckets of {self.bucket_bytes} bytes, {self.hits} hits in 1,000,"
            f" bits {self.least_bits} to {self.most_bits}"
        )


@dataclass(frozen=True)
class Case:
    """A table in a machine. @kind: what makes its size a question."""

    kind: str
    load: Load
    machine: Machine

    @property
    def question(self) -> tuple[int, ...]:
        return (BITS, *self.load.words, *self.machine.words)

    def bytes(self, bits: int) -> int:
        """That the table and its objects have in caches."""
        return (self.load.bucket_bytes << bits) + self.load.objects * self.machine.line


def draw_machine(draw: Draw) -> Machine:
    line, deep = draw.pick((32, 64, 64, 128)), draw.below(2)
    first = 4096 << draw.between(0, 2)
    second = first << draw.between(2, 4)
    sizes = [first, second, second << draw.between(2, 3)][: 2 + deep]
    cost = [draw.between(1, 4)]
    for least, most in ((6, 16), (15, 40), (60, 300))[:: 1 if deep else 2]:
        cost.append(cost[-1] + draw.between(least, most))
    return Machine(tuple(_level(draw, size, line) for size in sizes), tuple(cost))


def _level(draw: Draw, size: int, line: int) -> Level:
    """With twelve ways it is as large as half of that and that: sets are a power of two."""
    ways = draw.pick((8, 12, 16))
    return Level(size * 3 // 2 if ways == 12 else size, ways, line)


def draw_case(draw: Draw, kind: str) -> Case:
    """`tight`: with large buckets, objects that nearly fill a cache; `roomy`: few objects beside it; `small`: what is about
    the first cache; `vast`: more objects than the last one holds. Never so that what is decided lies within a tenth of a cache's size."""
    while True:
        case = _drawn(draw, kind)
        edges = [level.size for level in case.machine.levels]
        if case.load.objects >= FEWEST and all(
            10 * abs(case.bytes(bits) - edge) > edge for bits in case.load.sizes for edge in edges
        ):
            return case


def _drawn(draw: Draw, kind: str) -> Case:
    machine = draw_machine(draw)
    line, levels = machine.line, machine.levels
    size = draw.pick([level.size for level in levels[1:] if level.size <= LARGEST] or [levels[1].size])
    buckets: tuple[int, ...]
    if kind == "tight":
        percent, buckets, hits = (43, 65), (line, line // 2), (50, 400)
    elif kind == "roomy":
        percent, buckets, hits = (4, 12), (8, 8, 16), (50, 500)
    elif kind == "small":
        size, percent, buckets, hits = levels[0].size, (15, 90), (8, 8, 16), (50, 500)
    else:
        size, percent, buckets, hits = min(levels[-1].size, LARGEST // 4), (130, 300), (8, 16), (50, 500)
    objects = size // line * draw.between(*percent) // 100
    usual = (objects * 1000 // 707).bit_length() - 1  # the nearest power of two
    return Case(
        kind,
        Load(
            objects,
            draw.between(*hits),
            draw.pick(buckets),
            line * draw.pick((1, 1, 1, 3, 5)),
            max(4, usual - 5),
            usual + 4,
        ),
        machine,
    )
