"""How many objects a lookup visits, on recorded and on held-out streams: the grader's own count, from buckets alone."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np

from lab.course import keys
from lab.course.labs import Part
from lab.grade.function import oracle, streams
from lab.grade.function.asked import Asked
from lab.grade.function.model import Stream
from lab.grade.work import Judged, Refused, Work, failed

PRACTICE = range(1, 9)  # numbers among which one is looked for that shows what the held-out streams have shown


@lru_cache(maxsize=32)
def recorded_stream(name: str, cache: str) -> Stream:
    return streams.recorded_stream(name, cache)


@lru_cache(maxsize=32)
def made_stream(kind: str, seed: int) -> Stream:
    return streams.made_stream(kind, seed)


@dataclass(frozen=True)
class Marks:
    """Of one stream in one table: from which number of steps there is everything, nothing."""

    mean: Fraction  # what chance makes
    full: int  # all points up to here: what chance seldom exceeds
    none: int  # no points from here: the function to beat, or four times the extra steps of chance

    def share(self, steps: int) -> Fraction:
        return min(max(Fraction(self.none - steps, self.none - self.full), Fraction(0)), Fraction(1))


@lru_cache(maxsize=256)
def marks(stream: Stream, bits: int, reference: str) -> Marks:
    """Where the function to beat is no worse than chance it is no mark: then there are none as far above `full` as chance is above no chains at all."""
    mean, full = stream.mean(bits), stream.by_chance(bits)
    extra = max(mean - stream.hits, full - mean)
    beaten = stream.steps(streams.reference(reference, stream.keys, bits))
    return Marks(mean, full, int(min(max(Fraction(beaten), full + extra), full + 4 * extra) // 1) + 1)


@dataclass(frozen=True)
class Found:
    """What a function did on one stream in one table."""

    stream: Stream
    bits: int
    marks: Marks
    steps: int

    @property
    def share(self) -> Fraction:
        return self.marks.share(self.steps)

    def line(self) -> str:
        """For who handed it in: steps a lookup."""
        finds = self.stream.hits + self.stream.misses
        numbers = [self.steps, float(self.marks.mean), self.marks.full, self.marks.none]
        mine, mean, full, none = (f"{number / finds:.2f}" for number in numbers)
        return f"{self.stream.name}, {1 << self.bits:,} buckets: {mine} steps a lookup; chance {mean}, all points up to {full}, none from {none}"


def recorded(work: Work, part: Part) -> Judged:
    """On streams of real programs that everybody has."""
    cache = work.of(Asked).cache
    chosen = [recorded_stream(name, cache) for name in part.options["streams"]]
    found = _tried(work, part, chosen, "recorded")
    if isinstance(found, Judged):
        return found
    judged = _judged(found)
    for one in _worst(found):
        judged.said.append(f"  to see it: ./cw replay lab/playground/streams/{one.stream.name}.keys --cache {cache} --bits {one.bits} --histogram --functions NAME, once it is hash/{cache}/NAME.h")  # fmt: skip
        break
    return judged


def made(work: Work, part: Part) -> Judged:
    """On streams of known kinds whose places nobody knows but who has the key."""
    kinds = part.options["streams"]
    chosen = [made_stream(kind, work.seeds.seed(work.lab.number, "stream", i)) for i, kind in enumerate(kinds)]
    found = _tried(work, part, chosen, "made")
    if isinstance(found, Judged):
        return found
    judged = _judged(found)
    if work.seeds.hidden:
        for one in _worst(found)[:1]:
            judged.said.append(f"  to see the like: {_practice(work, part, one)}")
    return judged


def _judged(found: list[Found]) -> Judged:
    share = sum((one.share for one in found), Fraction(0)) / len(found)
    return Judged(share, [one.line() for one in found if one.share < 1])


def _worst(found: list[Found]) -> list[Found]:
    return sorted((one for one in found if one.share < 1), key=lambda one: one.share)


def _tried(work: Work, part: Part, chosen: list[Stream], purpose: str) -> list[Found] | Judged:
    """All streams in tables of all sizes, all questions asked together, so that no process knows which stream it is about."""
    sizes = part.options["bits"]
    places = [(stream, bits) for stream in chosen for bits in sizes]
    questions = [(*key, bits) for stream, bits in places for key in stream.keys]
    try:
        answers = work.of(Asked).ask_twice(questions, purpose)
    except Refused as error:
        return failed(
            f"{error}: lookups would not find what was inserted."
            if not (work.of(Asked).compiled or work.of(Asked).never_ends)
            else str(error)
        )
    if oracle.outside(questions, answers) is not None:
        return failed("It gives buckets that the table has not.")
    found, begin = [], 0
    for stream, bits in places:
        mine = answers[begin : begin + len(stream.keys)].astype(np.int64)
        begin += len(stream.keys)
        found.append(Found(stream, bits, marks(stream, bits, part.options["reference"]), stream.steps(mine)))
    return found


def _practice(work: Work, part: Part, like: Found) -> str:
    """A number whose streams, which anybody may make, show the same weakness."""
    number = part.options["streams"].index(like.stream.name)
    for seed in PRACTICE:
        stream = made_stream(like.stream.name, keys.practice(seed).seed(work.lab.number, "stream", number))
        try:
            buckets = work.of(Asked).ask([(*key, like.bits) for key in stream.keys]).astype(np.int64)
        except Refused:
            break
        one = Found(stream, like.bits, marks(stream, like.bits, part.options["reference"]), stream.steps(buckets))
        if one.share < 1:
            return f"{work.command} --seed {seed} has {one.line()}"
    return f"{work.command} --seed N, for several N"
