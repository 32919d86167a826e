"""Keys that are to break a function: how many of them are in one bucket, by the grader's own computation of the function."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from lab.course import keys as numbers
from lab.course.draw import Draw
from lab.course.labs import Part
from lab.grade.flood import asked
from lab.grade.flood.asked import Flood
from lab.grade.flood.broken import Broken, drawn, fullest
from lab.grade.work import Judged, Refused, Work

PRACTICE = range(1, 5)  # numbers among which one is looked for that shows what the hidden ones have shown

# Of all keys: everything from nine tenths of them in one bucket, nothing up to an eighth.
FULL, NONE = Fraction(9, 10), Fraction(1, 8)


def share(together: int, of: int) -> Fraction:
    """How much of its points a flood gets that has so many of its keys in one bucket."""
    return min(max((Fraction(together, of) - NONE) / (FULL - NONE), Fraction(0)), Fraction(1))


def judge(work: Work, part: Part) -> Judged:
    """Each kind of function that the part names, so many times, with numbers drawn from the seeds."""
    said: list[str] = []
    shares: list[Fraction] = []
    for kind in part.options["functions"]:
        functions = of_kind(work.of(Flood).draw("broken", kind), part, kind)
        try:
            found = [len_in_one(one, keys) for one, keys in zip(functions, work.of(Flood).keys(functions), strict=True)]
        except Refused as error:
            said.append(f"{kind}: {error}.")
            shares += [Fraction(0)] * len(functions)
            continue
        shares += [share(together, asked.COUNT) for together, _ in found]
        poor = [i for i, (together, _) in enumerate(found) if share(together, asked.COUNT) < 1]
        said += [f"{kind}: {line(functions[i], *found[i], told=not work.seeds.hidden)}" for i in poor]
        if poor and work.seeds.hidden:
            said.append(f"  to see the like: {_practice(work, part, kind)}")
    return Judged(sum(shares, Fraction(0)) / len(shares), said)


def of_kind(draw: Draw, part: Part, kind: str) -> list[Broken]:
    return [drawn(kind, draw) for _ in range(int(part.options["times"]))]


def len_in_one(function: Broken, keys: Sequence[int] | Sequence[bytes]) -> tuple[int, int]:
    """How many of them the fullest bucket has, and how many there are."""
    return fullest([function.bucket(key) for key in keys]), len(keys)


def line(function: Broken, together: int, real: int, told: bool) -> str:
    """For who handed it in. The function's numbers are @told where everybody may know them."""
    wanted = f"{together:,} of {asked.COUNT:,} keys are in one bucket; all points from {int(FULL * asked.COUNT) + 1:,}"
    few = f"; only {real:,} of them are different and can be real" if real < asked.COUNT else ""
    return f"{wanted}{few}{f': {function.formula()}' if told else ''}"


def _practice(work: Work, part: Part, kind: str) -> str:
    """A number whose functions, which anybody may know, show the same weakness."""
    for seed in PRACTICE:
        functions = of_kind(Draw(numbers.practice(seed).seed(work.lab.number, "broken", kind)), part, kind)
        try:
            found = [len_in_one(one, keys) for one, keys in zip(functions, work.of(Flood).keys(functions), strict=True)]
        except Refused:
            break
        for one, (together, real) in zip(functions, found, strict=True):
            if share(together, asked.COUNT) < 1:
                return f"{work.command} --seed {seed} has {line(one, together, real, told=True)}"
    return f"{work.command} --seed N, for several N"
