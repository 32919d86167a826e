"""The parts of a lab that hands in sizing.h: it is built, it answers always the same, its predictions are right, its choice is cheap."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np

from lab.course import keys
from lab.course.draw import Draw
from lab.course.keys import Seeds
from lab.course.labs import Part
from lab.grade.function.parts import built
from lab.grade.sizing.asked import Sizing, draw_table, histogram, means, questions
from lab.grade.sizing.costs import FULL, Costs, drawn
from lab.grade.sizing.exact import Asked
from lab.grade.work import Judged, Refused, Work, failed, passed

PRACTICE = range(1, 5)  # numbers among which one is looked for that shows what the hidden questions have shown
MOST_LINES = 6
Lines = Callable[[Seeds], list[str]]  # what is wrong with the answers to the questions of these seeds


def builds(work: Work, part: Part) -> Judged:
    """Compiled with the kernel's flags it is five functions and no more."""
    wanted = "five functions, each `static inline`, that compute in whole numbers from their arguments alone; a division of 128 bits is no instruction"
    return built(work.of(Sizing), wanted)


def alike(work: Work, part: Part) -> Judged:
    """In other processes, in other orders, among other questions: the answer is the same."""
    asked = work.of(Sizing)
    try:
        asked.ask_twice(questions(asked.draw("alike"), tables=24, cases=12)[0], "alike")
    except Refused as error:
        return failed(f"{error}.", "Expected: the answer depends on the arguments, and on nothing else.")
    return passed()


def defined(work: Work, part: Part) -> Judged:
    """With the sanitizer, and without optimization, it answers as it does in the kernel. To questions that are no secret, since the sanitizer's words
    can be the submission's own."""
    asked = work.of(Sizing)
    tried, _ = questions(Draw(work.open_seeds.seed(work.lab.number, "defined")), tables=24, cases=8)
    try:
        usual = asked.ask_openly(tried)
        checked = asked.ask_openly(tried, "-checked")
        plain = asked.ask_openly(tried, "-plain")
    except Refused as error:
        return failed(f"{error}.", "Expected: only what C defines, for 16 to 1,000,000 objects and 4 to 20 bits.")
    if np.any(usual != checked) or np.any(usual != plain):
        return failed("Compiled without optimization it gives other answers: what it does the language leaves open.")
    return passed()


def histograms(work: Work, part: Part) -> Judged:
    """How many buckets have how many objects: a table counts when all of its histogram is right."""
    return _predicted(work, part, histogram, "histograms")


def steps(work: Work, part: Part) -> Judged:
    """The mean steps of hits and of misses, in a table that is filled and in one that is being filled."""
    return _predicted(work, part, means, "means")


def _tables(seeds: Seeds, part: Part, number: str, of: Callable[[tuple[int, int]], list[Asked]]) -> list[list[Asked]]:
    draw = Draw(seeds.seed(number, part.kind))
    return [of(draw_table(draw)) for _ in range(part.options["tables"])]


def _predicted(work: Work, part: Part, of: Callable[[tuple[int, int]], list[Asked]], purpose: str) -> Judged:
    asked = work.of(Sizing)
    tables = _tables(work.seeds, part, work.lab.number, of)
    try:
        answers = asked.ask_twice([one.question for table in tables for one in table], purpose)
    except Refused as error:
        return failed(f"{error}.")
    wrong, bad = _wrong(tables, answers.tolist())

    def lines(seeds: Seeds) -> list[str]:
        others = _tables(seeds, part, work.lab.number, of)
        found, _ = _wrong(others, asked.ask_openly([one.question for table in others for one in table]).tolist())
        return found

    said = [f"{bad} of {len(tables)} tables are wrong."] if bad else []
    return Judged(Fraction(len(tables) - bad, len(tables)), said + _shown(work, wrong, lines))


def _wrong(tables: list[list[Asked]], answers: list[int]) -> tuple[list[str], int]:
    """The worst of each table that is wrong, in words; how many are."""
    said, begin = [], 0
    for table in tables:
        mine = answers[begin : begin + len(table)]
        begin += len(table)
        bad = [(one, answer) for one, answer in zip(table, mine, strict=True) if not one.good(answer)]
        if bad:
            one, answer = bad[0]
            said.append(
                f"{one.call} gives {answer:,}; expected {round(one.exact):,} ({one.objects / (1 << one.bits):.2f} objects a bucket)"
            )
    return said, len(said)


def _shown(work: Work, wrong: Sequence[str], lines: Lines) -> list[str]:
    """Of questions that anybody can make, what is wrong; of hidden ones, where the like is to be seen."""
    if not work.seeds.hidden or not wrong:
        return list(wrong[:MOST_LINES])
    for number in PRACTICE:
        try:
            found = lines(keys.practice(number))
        except Refused:
            break
        if found:
            return [f"  to see the like: {work.command} --seed {number} has {found[0]}"]
    return [f"  to see the like: {work.command} --seed N, for several N"]


def sizes(work: Work, part: Part) -> Judged:
    """What the chosen sizes cost, by the grader's simulation, beside the best ones."""
    asked = work.of(Sizing)
    cases = _cases(work.seeds, part, work.lab.number)
    try:
        answers = asked.ask_twice([one.case.question for one in cases], "sizes").tolist()
    except Refused as error:
        return failed(f"{error}.")
    share = sum((one.share(bits) for one, bits in zip(cases, answers, strict=True)), Fraction(0)) / len(cases)
    if not work.seeds.hidden:
        return Judged(share, [line for one, bits in zip(cases, answers, strict=True) for line in _open(one, bits)])

    def lines(seeds: Seeds) -> list[str]:
        others = _cases(seeds, part, work.lab.number)
        chosen = asked.ask_openly([one.case.question for one in others]).tolist()
        return [_line(one, bits) for one, bits in zip(others, chosen, strict=True) if one.share(bits) < 1]

    wrong = [_line(one, bits) for one, bits in zip(cases, answers, strict=True) if one.share(bits) < 1]
    return Judged(share, wrong + _shown(work, wrong, lines))


def _cases(seeds: Seeds, part: Part, number: str) -> list[Costs]:
    return [drawn(seeds.seed(number, "case", i), kind) for i, kind in enumerate(part.options["cases"])]


def _line(one: Costs, bits: int) -> str:
    """Tells nothing from which the case could be made again."""
    if bits not in one.cycles:
        return f"{one.case.kind}: the size is none of least_bits to most_bits"
    other = "smaller" if one.best < bits else "larger"
    marks = f"all points up to {float(FULL):.2f}, none from {float(one.none):.2f}"
    where = f"a {other} table would be better" if one.best != bits else "it is the best"
    return f"{one.case.kind}: the chosen size costs {float(one.times(bits)):.2f} times the best one; {marks}; {where}"


def _open(one: Costs, bits: int) -> list[str]:
    """Everything, of a case that is no secret."""
    each = "  ".join(f"{size}: {one.each(size)}" for size in one.case.load.sizes)
    chosen = f"{bits} bits" if bits in one.cycles else f"{bits} bits, which are none of these"
    return [
        f"{one.case.kind}: {one.case.load}; {one.case.machine}",
        f"  cycles a lookup by bits: {each}",
        f"  chosen: {chosen}: {float(100 * one.share(bits)):.0f} % of its points; best: {one.best} bits",
    ]
