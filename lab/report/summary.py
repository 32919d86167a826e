"""What a reader is told first: of each text and each of its tables how many verdicts there are of each word, and the
table's main finding in a line of numbers.

Every verdict counts, of rows and of findings alike; aims of our own, of which no text says anything, are counted apart. Of comparisons whose runs are equal to a hundred-thousandth, the later
ones count only where their word is another one.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from lab.report import words
from lab.report.collect import Judgement, Row, Section, Table
from lab.report.figures import Standing
from lab.report.numbers import Ratio
from lab.report.verdicts import AIMS, UNDECIDED, WORDS, Verdict, Word
from lab.sweep.experiment import Experiment

MEANINGS: dict[Word, str] = {  # of a line's length
    "reproduced": "direction and size",
    "direction only": "size other or untold",
    "no worse": "as identical kernels",
    "no effect here": "would have been seen",
    "contradicted": "the other direction",
    "answered": "what the paper asks",
    "undecided": "too wide, or too small, to tell",
    "left open": "by the paper itself",
    "not measured": "not run, or failed",
}
SPACE = "\N{NO-BREAK SPACE}"  # between a number and what belongs to it
OTHERS = "Other experiments"  # of those that name no text
SIGNS_OF_A_TEXT = re.compile(r"(?P<author>\w+(?: and \w+)?) (?P<year>\d{4}), (?P<where>.+)")


@dataclass(frozen=True)
class Finding:
    """The most important one of a table; @word: "" in a demonstration."""

    word: Word | str
    said: str


@dataclass(frozen=True)
class Line:
    """A table of a text, or another part of it."""

    section: Section
    name: str
    counts: dict[Word, int]
    finding: Finding


@dataclass(frozen=True)
class Text:
    """Its lines in the order of the summary."""

    name: str
    author: str  # "": of none
    lines: list[Line]


def in_order(sections: Iterable[Section]) -> list[Section]:
    """As the papers have them: texts by their year, tables before histograms before sections; what hash functions cost is last."""
    found = list(sections)
    years: dict[str, int] = {}
    for section in found:
        author, year, _ = _cited(section.experiment)
        years[author] = min(year, years.get(author, year))

    def place(section: Section) -> tuple[bool, int, str, tuple[int, ...]]:
        author, _, where = _cited(section.experiment)
        return is_cost(section.experiment), years[author], author, _place(where)

    return sorted(found, key=place)


def is_cost(experiment: Experiment) -> bool:
    return experiment.measure[0].source.startswith("hashcost:")


def author(experiment: Experiment) -> str:
    """Whose text it is after; "": nobody's."""
    return _cited(experiment)[0]


def _cited(experiment: Experiment) -> tuple[str, int, str]:
    """Author, year, and where in the text."""
    match = SIGNS_OF_A_TEXT.fullmatch(experiment.paper)
    return (match["author"], int(match["year"]), match["where"]) if match else ("", 9999, experiment.paper)


def _place(where: str) -> tuple[int, ...]:
    cited = where.partition(":")[0]
    for rank, pattern in enumerate(
        (r"table(?: (\d+))?", r"figure (\d+)", r"histograms? (\d+)", r"section (\d+)(?:\.(\d+))?")
    ):
        match = re.search(pattern, cited)
        if match:
            return rank, *(int(number or 0) for number in match.groups())
    return 3, 0


def name_of(experiment: Experiment) -> str:
    """Table 1; where there is no number, what the file has: Patch's text."""
    where = _cited(experiment)[2].partition(":")[0].removeprefix("the ")
    table = re.search(r"table \d+", where)
    shown = table[0] if table else where or experiment.name
    return shown[:1].upper() + shown[1:]


def texts(sections: Iterable[Section]) -> list[Text]:
    """What the summary shows; a text that had several editions is one: Lever 1999/2000."""
    lines: dict[str, list[Line]] = {}
    years: dict[str, set[int]] = {}
    for section in in_order(sections):
        author, year, _ = _cited(section.experiment)
        years.setdefault(author, set()).add(year)
        lines.setdefault(author, []).append(
            Line(section, name_of(section.experiment), counts(section), finding(section))
        )
    named = {author: f"{author} {'/'.join(map(str, sorted(found)))}" for author, found in years.items()}
    return [Text(named[author] if author else OTHERS, author, found) for author, found in lines.items()]


def counts(section: Section) -> dict[Word, int]:
    """How many verdicts there are of each word, those that there are; the aims' behind the text's."""
    found: Counter[Word] = Counter()
    for table in section.tables:
        rows = [(f"{row.kernel}, {row.place.name}", row.verdict) for row in table.rows if row.verdict]
        of_it = [one for one in section.judgements if one.verdict and one.expect.measure == table.measure.name]
        findings = [(one.expect.text, one.verdict) for one in of_it if one.verdict]
        said = {_which(one) for _, one in rows}
        found.update(_once(rows))
        found.update(_once([(text, one) for text, one in findings if one.ratio is None or _which(one) not in said]))
    return {word: found[word] for word in (*WORDS, *AIMS) if found[word]}


def _which(one: Verdict) -> tuple[Word, tuple[float, ...]]:
    """The word, and of which comparison: two kernels in either order are the same one."""
    ratio = one.ratio
    if ratio is None:
        return one.word, ()
    ends = [ratio.value if end is None else end for end in (ratio.low, ratio.high)]
    numbers = (
        [1 / n for n in (ratio.value, *reversed(ends))]
        if 0 < ratio.value < 1 and min(ends) > 0
        else [ratio.value, *ends]
    )
    return one.word, tuple(float(f"{n:.9g}") for n in numbers)


def _once(named: list[tuple[str, Verdict]]) -> Iterator[Word]:
    """The words of comparisons that were judged together, without those that say again what an earlier one says."""
    earlier = {name: one.word for name, one in named if not one.same_as}
    for _, one in named:
        if not one.same_as or earlier.get(one.same_as) != one.word:
            yield one.word


def total(sections: Iterable[Section]) -> dict[Word, int]:
    """The same of all, and of what the texts say alone."""
    return _total(sections, WORDS)


def aims(sections: Iterable[Section]) -> dict[Word, int]:
    """What came of our own aims, in all."""
    return _total(sections, AIMS)


def _total(sections: Iterable[Section], of: Sequence[Word]) -> dict[Word, int]:
    found: Counter[Word] = Counter()
    for section in sections:
        found.update(counts(section))
    return {word: found[word] for word in of}


def standing(sections: Iterable[Section]) -> Standing | None:
    """None: nothing that was concluded rests on cycles."""
    found = [
        one
        for section in sections
        if section.judged
        for one in section.sensitivities
        if one.measured.word in ("reproduced", "direction only", "contradicted")
    ]
    under = [one for one in found if not one.missing]
    direction, word = sum(one.keeps_direction for one in under), sum(not one.changed for one in under)
    return Standing(len(found), direction, word, len(found) - len(under)) if found else None


def finding(section: Section) -> Finding:
    """Of the first table that has any, the row with the paper's greatest effect; or else the greatest of what the file expects; or else of
    what was measured."""
    for table in section.tables:
        rows = [row for row in table.rows if row.paper_ratio and row.paper_ratio.side != 0 and not row.is_reference]
        measured = [row for row in rows if row.ratio or words.never(row.ours, table.measure)]
        if measured:
            row = max(measured, key=lambda row: _size(row.paper_ratio))
            return Finding(row.verdict.word if row.verdict else "", _row(table, row))
    told = [one for one in section.judgements if one.ratio]
    if told:
        decided = [one for one in told if one.verdict and one.verdict.word not in UNDECIDED]
        one = max(decided or told, key=lambda one: _size(one.ratio))
        return Finding(one.verdict.word if one.verdict else "", _expected(one, section))
    for table in section.tables:
        others = [row for row in table.rows if row.ratio and not row.is_reference]
        if others:
            return Finding("", _row(table, max(others, key=lambda row: _size(row.ratio))))
    if len(section.experiment.kernel) == 1 and any(row.ours for table in section.tables for row in table.rows):
        return Finding("", f"{section.experiment.reference} alone: there is nothing yet to compare it with")
    return Finding("not measured" if section.judged else "", f"none of the {len(section.faults)} runs has a result yet")


def _size(one: Ratio | None) -> float:
    return abs(math.log(one.value)) if one and one.value > 0 else math.inf if one else 0.0


def _row(table: Table, row: Row) -> str:
    where = f", {row.place.name}" if len(table.places) > 1 else ""
    ours = words.NEVER if words.never(row.ours, table.measure) else change(row.ratio)
    paper = f"; paper {change(row.paper_ratio, with_interval=False)}" if row.paper_ratio else ""
    return f"{row.kernel}{where}: {table.measure.name} {ours}{paper}"


def _expected(one: Judgement, section: Section) -> str:
    where = f", {one.place}" if len(section.places) > 1 and one.place else ""
    paper = f"; paper {change(one.paper_ratio, with_interval=False)}" if one.paper_ratio else ""
    return f"{one.expect.above} against {one.expect.than}{where}: {one.expect.measure} {change(one.ratio)}{paper}"


def change(one: Ratio | None, with_interval: bool = True) -> str:
    """+1.9 % [+1.2, +2.6]; × 3.82 [3.70, 3.94] where it is a half or less or twice or more, or may be."""
    if one is None:
        return words.NONE
    if one.value == 1 and (one.exact or not with_interval):
        return "the same"
    if all(0.5 < value < 2 for value in (one.value, *(_ends(one) if one.telling else ()))):
        decimals = 1 if abs(one.value - 1) >= 0.01 else 2
        value, ends = f"{_percent(one.value, decimals)}{SPACE}%", [_percent(end, decimals) for end in _ends(one)]
    else:
        value, ends = f"×{SPACE}{words.factor(one.value, 2)}", [words.factor(end, 2) for end in _ends(one)]
    if not with_interval or one.low is None or one.exact:
        return value
    if not one.telling:
        return f"{value} ({words.TOO_WIDE})"
    return value if ends[0] == ends[1] else f"{value} [{', '.join(ends)}]"


def _ends(one: Ratio) -> list[float]:
    return [] if one.low is None or one.high is None else [max(one.low, 0.0), one.high]


def _percent(ratio: float, decimals: int) -> str:
    return f"{100 * (ratio - 1):+.{decimals}f}".replace("-", "−")
