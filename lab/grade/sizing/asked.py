"""One submitted sizing.h while it is judged: how it is asked, and questions of all kinds."""

from __future__ import annotations

from pathlib import Path

from lab.base.paths import TOP
from lab.course.draw import Draw
from lab.grade.function.asked import Oracle
from lab.grade.function.oracle import Interface, Question
from lab.grade.sizing.exact import BUCKETS, FILLING, HIT, MISS, WORDS, Asked
from lab.grade.sizing.machines import KINDS, Case, draw_case
from lab.grade.work import Work

INTERFACE = Interface(
    Path(__file__).with_name("submission.c"),
    TOP / "coursework/lab2/starter/sizing.h",
    WORDS,
    ("lab/grade/sizing/given.h",),
)
LEAST_BITS, MOST_BITS, LEAST_OBJECTS, MOST_OBJECTS, MOST_SIZE = 4, 20, 16, 1_000_000, 12


class Sizing(Oracle):
    """Work.of(Sizing): the predictions and the choice that were handed in."""

    def __init__(self, work: Work):
        super().__init__(work, INTERFACE)


def draw_table(draw: Draw) -> tuple[int, int]:
    """Objects and bits: loads from a sixteenth to eight; half of the tables are small, where a bucket more or less counts."""
    bits = draw.between(LEAST_BITS, 8) if draw.below(2) else draw.between(9, MOST_BITS)
    least = (1 << draw.between(0, 6)) << bits >> 4
    return min(max(draw.between(least, 2 * least), LEAST_OBJECTS), MOST_OBJECTS), bits


def histogram(table: tuple[int, int]) -> list[Asked]:
    return [Asked(BUCKETS, *table, size) for size in range(MOST_SIZE + 1)]


def means(table: tuple[int, int]) -> list[Asked]:
    return [Asked(what, *table) for what in (HIT, MISS, FILLING)]


def questions(draw: Draw, tables: int, cases: int) -> tuple[list[Question], list[Case]]:
    """Of all kinds: predictions for @tables of them, and the choice for @cases, the last ones."""
    found = []
    for _ in range(tables):
        table = draw_table(draw)
        found += [one.question for one in (*histogram(table), *means(table))]
    chosen = [draw_case(draw, KINDS[i % len(KINDS)]) for i in range(cases)]
    return found + [case.question for case in chosen], chosen
