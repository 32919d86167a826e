"""Numbers drawn from a seed: the same ones on every machine and by every version of Python."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

One = TypeVar("One")
MASK = (1 << 64) - 1


class Draw:
    """SplitMix64 (Steele 2014), as core/random.h has it."""

    def __init__(self, seed: int):
        self._state = seed & MASK

    def word(self) -> int:
        """64 bits."""
        self._state = (self._state + 0x9E3779B97F4A7C15) & MASK
        z = self._state
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & MASK
        z = (z ^ z >> 27) * 0x94D049BB133111EB & MASK
        return z ^ z >> 31

    def below(self, limit: int) -> int:
        return self.word() * limit >> 64

    def between(self, least: int, most: int) -> int:
        """Both may come."""
        return least + self.below(most - least + 1)

    def pick(self, of: Sequence[One]) -> One:
        return of[self.below(len(of))]

    def shuffled(self, of: Sequence[One]) -> list[One]:
        found = list(of)
        for i in range(len(found) - 1, 0, -1):
            j = self.below(i + 1)
            found[i], found[j] = found[j], found[i]
        return found
