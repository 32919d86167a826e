"""The functions that are to be broken, computed by the grader itself, and their numbers drawn: no list of answers fits all of them.

Each takes whole numbers and gives whole numbers; a test holds them against the kernel's own functions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from lab.course.draw import MASK, Draw

U32 = (1 << 32) - 1
LINE = 64  # HASH_L1_BYTES of hash/shared.h

Words = npt.NDArray[np.uint64]


@dataclass(frozen=True)
class Broken:
    """One function that is to be broken: its kind, and its numbers."""

    kind: str
    first: int
    second: int
    bits: int  # of the table; of a name hash 0: all its bits

    def bucket(self, key: int | bytes) -> int:
        if isinstance(key, bytes):
            return multiplied(self.first, key) if self.kind == "names" else rotated(key)
        return FORMULAS[self.kind](key, self.first, self.second) & ((1 << self.bits) - 1) if self.kind != "top" else key * self.first % (1 << 64) >> 64 - self.bits  # fmt: skip

    def formula(self) -> str:
        """For people; with the numbers."""
        if self.kind == "product":
            return f"(block * {self.first:#x} >> {self.second}) & mask, {1 << self.bits:,} buckets"
        if self.kind == "folded":
            return f"(block ^ block >> {self.first} ^ block >> {self.second}) & mask, {1 << self.bits:,} buckets"
        if self.kind == "top":
            return f"block * {self.first:#x} >> {64 - self.bits}, {1 << self.bits:,} buckets"
        return f"h = {self.first} * h + c" if self.kind == "names" else "h = rotl(h, 4) ^ c"


FORMULAS: dict[str, Callable[[int, int, int], int]] = {
    "product": lambda block, multiplier, shift: block * multiplier % (1 << 64) >> shift,
    "folded": lambda block, s, t: block ^ block >> s ^ block >> t,
}


def multiplied(multiplier: int, name: bytes) -> int:
    """h = multiplier * h + c in 32 bits, as the functions of Seltzer and Yigit's package."""
    h = 0
    for c in name:
        h = multiplier * h + c & U32
    return h


def rotated(name: bytes) -> int:
    """The name hash of Linux 2.2, in 64 bits."""
    h = 0
    for c in name:
        h = (h << 4 | h >> 60) & MASK ^ c
    return h + (h >> 32) & U32


def dentry_buckets(parents: Any, hashes: Any, bits: int) -> npt.NDArray[np.int64]:
    """The buckets of the kernel that the lab runs: linux-2.4's dentry hash, in 64 bits."""
    h = np.asarray(hashes, np.uint64) + np.asarray(parents, np.uint64) // np.uint64(LINE)
    h = h ^ h >> np.uint64(bits) ^ h >> np.uint64(2 * bits)
    return (h & np.uint64((1 << bits) - 1)).astype(np.int64)


def fullest(buckets: Sequence[int]) -> int:
    return max(np.unique(np.array(buckets, np.uint64), return_counts=True)[1].tolist(), default=0)


def drawn(kind: str, draw: Draw) -> Broken:
    """A function of this kind: tables so large that one cannot just try blocks until 1,024 of them meet."""
    bits = draw.between(24, 26)
    if kind == "product":
        return Broken(kind, draw.word() & U32 | 1 << 31 | 1, draw.between(4, 12), bits)
    if kind == "folded":
        s = draw.between(7, 20)
        return Broken(kind, s, draw.between(s + 3, 30), bits)
    if kind == "top":
        return Broken(kind, draw.word() | 1 << 63 | 1, 0, bits)
    if kind == "small":
        return Broken("names", 2 * draw.between(8, 30) + 1, 0, 0)
    if kind == "large":
        return Broken("names", draw.word() & U32 | 1 << 31 | 1, 0, 0)
    return Broken("flood", 0, 0, 0)
