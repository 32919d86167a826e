"""One submission while it is judged: what was handed in, its oracle, and what parts find out and share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

from lab.course.draw import Draw
from lab.course.keys import Seeds
from lab.course.labs import Lab
from lab.grade import oracle
from lab.grade.oracle import Buckets, Question, Refused


@dataclass
class Judged:
    """What came of a part: how much of its points, and what is said to who handed it in."""

    share: Fraction  # 0 to 1
    said: list[str] = field(default_factory=list)


def passed(*said: str) -> Judged:
    return Judged(Fraction(1), list(said))


def failed(*said: str) -> Judged:
    return Judged(Fraction(0), list(said))


@dataclass
class Work:
    lab: Lab
    seeds: Seeds
    text: bytes
    folder: Path  # the sandbox's
    boots: bool = True  # is the kernel to be built and run?
    compiled: str | None = None  # why it could not be compiled; "" when it was
    never_ends: str = ""  # how it used up a time limit: it is not asked again
    not_a_function: str = ""  # why the kernel is not to be booted with it

    def draw(self, *purpose: object) -> Draw:
        return Draw(self.seeds.seed(self.lab.number, *purpose))

    def ask(self, questions: Sequence[Question], form: str = "") -> Buckets:
        """The answers of one process."""
        with Watched(self):
            return oracle.ask(self.folder, questions, form)

    def ask_twice(self, questions: Sequence[Question], purpose: str) -> Buckets:
        """The answers, if they are those of a function."""
        with Watched(self):
            return oracle.ask_twice(self.folder, questions, self.draw("order", purpose))

    def questions(self, purpose: str, bits: Sequence[int]) -> list[Question]:
        """Keys of all kinds, for each size of @bits: first to last."""
        draw = self.draw("keys", purpose)
        words = [0, 1, (1 << 32) - 1, 1 << 32, (1 << 63) - 1, 1 << 63, (1 << 64) - 1]
        found = []
        for size in range(bits[0], bits[-1] + 1):
            for _ in range(300):
                first = draw.pick(words) if draw.below(8) == 0 else draw.word() >> draw.below(64)
                second = draw.pick(words) if draw.below(8) == 0 else draw.word() >> draw.below(64)
                found.append((first & 0xFFFFFFFF if self.lab.cache == "buffer" else first, second, size))
        return found


class Watched:
    """Who has used up a time limit once is not asked again."""

    def __init__(self, work: Work):
        self.work = work

    def __enter__(self) -> None:
        if self.work.compiled is None:
            raise Refused("it was not compiled")
        if self.work.compiled:
            raise Refused(f"not tried: {self.work.compiled}")
        if self.work.never_ends:
            raise Refused(f"not tried again: {self.work.never_ends}")

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, Refused) and error.slow:
            self.work.never_ends = str(error)
