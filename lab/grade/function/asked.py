"""One submitted function while it is judged: was it compiled, may it be asked again, and the questions that parts share."""

from __future__ import annotations

from collections.abc import Sequence

from lab.course.draw import Draw
from lab.course.keys import Seeds
from lab.grade.function import oracle
from lab.grade.function.oracle import Buckets, Interface, Question
from lab.grade.work import Refused, Work


class Oracle:
    """What was handed in, of any lab that is asked."""

    def __init__(self, work: Work, interface: Interface):
        self.work = work
        self.interface = interface
        self.compiled: str | None = None  # why it could not be compiled; "" when it was
        self.never_ends = ""  # how it used up a time limit: it is not asked again

    def draw(self, *purpose: object) -> Draw:
        return self.work.draw(*purpose)

    def ask(self, questions: Sequence[Question]) -> Buckets:
        """The answers of one process."""
        with Watched(self):
            return oracle.ask(self.work.folder, questions, "", self.work.seeds.hidden)

    def ask_openly(self, questions: Sequence[Question], form: str = "") -> Buckets:
        """The same of questions that anybody can make (Work.open_seeds): what it says of itself is told."""
        with Watched(self):
            return oracle.ask(self.work.folder, questions, form, False)

    def ask_twice(self, questions: Sequence[Question], purpose: str) -> Buckets:
        """The answers, if they are those of a function."""
        with Watched(self):
            return oracle.ask_twice(self.work.folder, questions, self.draw("order", purpose), self.work.seeds.hidden)


class Asked(Oracle):
    """Work.of(Asked): the oracle of the hash function that was handed in."""

    def __init__(self, work: Work):
        self.cache: str = work.lab.options["cache"]  # whose function it is
        super().__init__(work, oracle.FUNCTIONS[self.cache])

    def questions(self, purpose: str, bits: Sequence[int], seeds: Seeds | None = None) -> list[Question]:
        """Keys of all kinds, for each size of @bits: first to last. By the work's own seeds, unless by @seeds."""
        draw = Draw((seeds or self.work.seeds).seed(self.work.lab.number, "keys", purpose))
        words = [0, 1, (1 << 32) - 1, 1 << 32, (1 << 63) - 1, 1 << 63, (1 << 64) - 1]
        found: list[Question] = []
        for size in range(bits[0], bits[-1] + 1):
            for _ in range(300):
                first = draw.pick(words) if draw.below(8) == 0 else draw.word() >> draw.below(64)
                second = draw.pick(words) if draw.below(8) == 0 else draw.word() >> draw.below(64)
                found.append((first & 0xFFFFFFFF if self.cache == "buffer" else first, second, size))
        return found


class Watched:
    """Who has used up a time limit once is not asked again."""

    def __init__(self, asked: Oracle):
        self.asked = asked

    def __enter__(self) -> None:
        if self.asked.compiled is None:
            raise Refused("it was not compiled")
        if self.asked.compiled:
            raise Refused(f"not tried: {self.asked.compiled}")
        if self.asked.never_ends:
            raise Refused(f"not tried again: {self.asked.never_ends}")

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, Refused) and error.slow:
            self.asked.never_ends = str(error)
            self.asked.work.not_booted(str(error))
