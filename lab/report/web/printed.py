"""A table as a text prints it: two systems' values, and by how many percent of the old one's the new one's is less."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from lab.report.collect import Row, Section
from lab.report.numbers import Sample


@dataclass(frozen=True)
class Pair:
    """The new system's value and the old one's."""

    new: Sample | None
    old: Sample | None

    @property
    def saved(self) -> float | None:
        """Percent of the old one's: 100 (old - new) / old, as in Seltzer and Yigit 1991."""
        if not self.new or not self.old or not self.old.mean:
            return None
        return 100 * (self.old.mean - self.new.mean) / self.old.mean


@dataclass(frozen=True)
class Line:
    measure: str
    paper: Pair
    ours: Pair


@dataclass(frozen=True)
class Group:
    """What stands under a place's name: a kernel against the reference."""

    place: str
    kernel: str
    lines: list[Line]


def printed(section: Section) -> list[Group]:
    """A group for each kernel and place of which the text has a number; the reference is the old one."""
    found: dict[tuple[str, str], list[Line]] = {}
    for place, row, old, measure in _rows(section):
        line = Line(measure, Pair(row.paper, old.paper), Pair(row.ours, old.ours))
        found.setdefault((place, row.kernel), []).append(line)
    return [Group(place, kernel, lines) for (place, kernel), lines in found.items()]


def _rows(section: Section) -> Iterator[tuple[str, Row, Row, str]]:
    for table in section.tables if section.experiment.printed else ():
        for place in table.places:
            rows = table.at(place)
            old = next((row for row in rows if row.is_reference), None)
            for row in rows:
                if old and row is not old and row.paper and old.paper:
                    yield place.name, row, old, ", ".join(filter(None, (table.measure.name, table.measure.unit)))
