"""What a table of each size costs in a machine, by the grader's own simulation (simulate.c), and from which cost on there are points."""

from __future__ import annotations

import ctypes
import subprocess
import tempfile
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, lru_cache
from pathlib import Path

from lab.base.paths import TOP, LabError
from lab.course.draw import Draw
from lab.grade.sizing.machines import CACHES, Case, Load, draw_case
from lab.record.engine import CC

SOURCE = Path(__file__).with_name("simulate.c")
FULL = Fraction(103, 100)  # all points up to so many times the best size's cost
NONE = Fraction(6, 5)  # none from here, or from what a rule of thumb costs
# Rules of thumb that do not do: so many objects for so many buckets. One object a bucket is what Linux had of pages from 2.2.16 on.
ONE, HALF = (1, 1), (1, 2)
RULES = {"tight": (ONE,), "roomy": (ONE, HALF), "small": (ONE, HALF), "vast": (ONE,)}
WORTH = Fraction(11, 10)  # they cost so much at least, or the case is not taken


class _Load(ctypes.Structure):
    _fields_ = [
        ("objects", ctypes.c_uint64),
        *((name, ctypes.c_uint32) for name in "hits bucket_bytes object_bytes least_bits most_bits".split()),
    ]


class _Machine(ctypes.Structure):
    _fields_ = [
        ("bytes", ctypes.c_uint64 * CACHES),
        ("ways", ctypes.c_uint32 * CACHES),
        ("cost", ctypes.c_uint32 * (CACHES + 1)),
        ("caches", ctypes.c_uint32),
        ("line", ctypes.c_uint32),
    ]


class _Lookups(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint64) for name in "seed before counted".split()]


@cache
def _simulator() -> ctypes.CDLL:
    """Compiled anew by each process: it takes a fifth of a second."""
    with tempfile.TemporaryDirectory(prefix="sizing-") as folder:
        made = Path(folder) / "simulate.so"
        flags = ["-std=gnu11", "-O2", "-w", "-DHOSTED", "-shared", "-fPIC", f"-I{TOP}"]
        result = subprocess.run([CC, *flags, "-o", made, SOURCE], capture_output=True, text=True, check=False)
        if result.returncode:
            raise LabError(f"the simulation of memory caches cannot be built:\n{result.stderr}")
        library = ctypes.CDLL(str(made))
    library.simulate.restype = ctypes.c_bool
    return library


@dataclass(frozen=True)
class Costs:
    """Of one case: cycles of the same lookups in a table of each size, by its bits."""

    case: Case
    cycles: dict[int, int]
    lookups: int

    @property
    def best(self) -> int:
        """The bits that cost least."""
        return min(self.cycles, key=lambda bits: self.cycles[bits])

    def times(self, bits: int) -> Fraction:
        """The cost of that size, the best one's being 1."""
        return Fraction(self.cycles[bits], self.cycles[self.best])

    @property
    def none(self) -> Fraction:
        return min(NONE, *self.rules)

    @property
    def rules(self) -> list[Fraction]:
        """What the rules of thumb cost."""
        return [self.times(self.case.load.nearest(*rule)) for rule in RULES[self.case.kind]]

    def share(self, bits: int) -> Fraction:
        """Of the points, for who chooses @bits."""
        if bits not in self.cycles:
            return Fraction(0)
        return min(max((self.none - self.times(bits)) / (self.none - FULL), Fraction(0)), Fraction(1))

    def each(self, bits: int) -> str:
        """Cycles a lookup."""
        return f"{self.cycles[bits] / self.lookups:.1f}"


def _lookups(load: Load) -> tuple[int, int]:
    """So many before it is counted, and so many that are."""
    return 4_000 + load.objects, 12_000 + 2 * load.objects


def costs(case: Case, seed: int) -> Costs:
    """Of all sizes, with objects and lookups drawn from @seed."""
    load = case.load
    before, lookups = _lookups(load)
    line, caches, *words = case.machine.words
    sizes, ways, cost = words[:CACHES], words[CACHES : 2 * CACHES], words[2 * CACHES :]
    machine = _Machine(tuple(sizes), tuple(ways), tuple(cost), caches, line)
    found = (ctypes.c_uint64 * len(load.sizes))()
    given = _Load(*load.words), machine, _Lookups(seed, before, lookups)
    if not _simulator().simulate(*(ctypes.byref(one) for one in given), found):
        raise LabError(f"the simulation of memory caches does not work for {case.load}; {case.machine}")
    return Costs(case, dict(zip(load.sizes, found, strict=True)), lookups)


@lru_cache(maxsize=64)
def drawn(seed: int, kind: str) -> Costs:
    """A case of @kind by @seed, in which no rule of thumb does: each costs a tenth more than the best size, or worse."""
    draw = Draw(seed)
    while True:
        found = costs(draw_case(draw, kind), draw.word())
        if min(found.rules) >= WORTH:
            return found
