"""How many objects a lookup visits, on recorded and on held-out streams: the grader's own count, from buckets alone."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from lab.course import keys
from lab.course.draw import Draw
from lab.course.keys import Seeds
from lab.course.labs import Part
from lab.grade.function import oracle, streams
from lab.grade.function.asked import Asked
from lab.grade.function.model import Stream
from lab.grade.function.oracle import Buckets, Question
from lab.grade.work import Judged, Refused, Work, failed

PRACTICE = range(1, 9)  # numbers among which one is looked for that shows what the held-out streams have shown
Place = tuple[Stream, int]  # a stream in a table of so many bits


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


def sizes(draw: Draw, options: dict[str, Any]) -> list[list[int]]:
    """Bits of the tables in which each stream is tried: `each` different ones, drawn. All of `bits` (first to last) are dealt out first, so that
    a function which is bad in one size only is found; the others are of `usual`, in which there are chains."""
    first, last = options["bits"]
    least, most = options.get("usual", options["bits"])
    dealt = draw.shuffled(range(first, last + 1))
    number, each = len(options["streams"]), options["each"]
    hands = [dealt[i::number][:each] for i in range(number)]
    for hand in hands:
        others = [bits for bits in draw.shuffled(range(least, most + 1)) if bits not in hand]
        hand += others[: each - len(hand)]
    return [sorted(hand) for hand in hands]


def _places(work: Work, part: Part, seeds: Seeds, streams: list[Stream]) -> list[Place]:
    dealt = sizes(Draw(seeds.seed(work.lab.number, "bits", part.kind)), part.options)
    return [(stream, bits) for stream, hand in zip(streams, dealt, strict=True) for bits in hand]


def _made_places(work: Work, part: Part, seeds: Seeds) -> list[Place]:
    kinds = part.options["streams"]
    made = [made_stream(kind, seeds.seed(work.lab.number, "stream", i)) for i, kind in enumerate(kinds)]
    return _places(work, part, seeds, made)


def recorded(work: Work, part: Part) -> Judged:
    """On streams of real programs that everybody has."""
    cache = work.of(Asked).cache
    chosen = [recorded_stream(name, cache) for name in part.options["streams"]]
    found = _tried(work, part, _places(work, part, work.seeds, chosen), "recorded")
    if isinstance(found, Judged):
        return found
    judged = _judged(found)
    for one in _worst(found):
        judged.said.append(f"  to see it: ./cw replay lab/playground/streams/{one.stream.name}.keys --cache {cache} --bits {one.bits} --histogram --functions NAME, once it is hash/{cache}/NAME.h")  # fmt: skip
        break
    return judged


def made(work: Work, part: Part) -> Judged:
    """On streams of known kinds whose places nobody knows but who has the key."""
    found = _tried(work, part, _made_places(work, part, work.seeds), "made")
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


def _tried(work: Work, part: Part, places: list[Place], purpose: str) -> list[Found] | Judged:
    """All streams in all their tables, all questions asked together, so that no process knows which stream it is about."""
    questions = _questions(places)
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
    return _found(part, places, answers)


def _questions(places: list[Place]) -> list[Question]:
    return [(*key, bits) for stream, bits in places for key in stream.keys]


def _found(part: Part, places: list[Place], answers: Buckets) -> list[Found]:
    found, begin = [], 0
    for stream, bits in places:
        mine = answers[begin : begin + len(stream.keys)].astype(np.int64)
        begin += len(stream.keys)
        found.append(Found(stream, bits, marks(stream, bits, part.options["reference"]), stream.steps(mine)))
    return found


def _practice(work: Work, part: Part, like: Found) -> str:
    """A number whose streams, which anybody may make, show the same weakness: of such a stream, or in a table of that size."""
    for seed in PRACTICE:
        places = [
            place
            for place in _made_places(work, part, keys.practice(seed))
            if place[0].name == like.stream.name or place[1] == like.bits
        ]
        try:
            found = _found(part, places, work.of(Asked).ask_openly(_questions(places)))
        except Refused:
            break
        poor = [one for one in found if one.share < 1]
        if poor:
            one = min(poor, key=lambda one: (one.stream.name != like.stream.name, one.bits != like.bits))
            return f"{work.command} --seed {seed} has {one.line()}"
    return f"{work.command} --seed N, for several N"
