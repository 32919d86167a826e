"""What a report shows besides its tables: histograms, chains, memory-cache misses, curves, conclusions under other settings,
runs without a result."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lab.report.numbers import Ratio, Sample
from lab.sweep.experiment import Histogram, Measure, PaperHistogram
from lab.sweep.store import Cell


@dataclass(frozen=True)
class Buckets:
    """A bucket histogram of one run, what chance would give, and the paper's."""

    wanted: Histogram
    title: str
    place: str
    cell: Cell | None
    seed: int | None
    report: dict[str, Any]  # the cache's, docs/kernel/counters.md
    missing: str

    @property
    def buckets(self) -> list[int]:
        return self.report.get("histogram", {}).get("buckets", [])

    @property
    def expected(self) -> list[float]:
        return self.report.get("histogram", {}).get("expected", []) if self.report.get("buckets") else []

    @property
    def paper(self) -> PaperHistogram:
        return self.wanted.paper


@dataclass(frozen=True)
class Chains:
    """The lookups of a cache in the runs of a kernel: steps of hits and misses, and the table's memory."""

    kernel: str
    place: str
    cache: str
    hit: float | None
    expected_hit: float | None
    miss: float | None
    expected_miss: float | None
    lookups: float
    hits: float | None  # None: not told
    misses: float | None
    bytes: float
    structure: str
    runs: int


@dataclass(frozen=True)
class Misses:
    """Memory-cache misses of a region of the code, a mean over runs."""

    kernel: str
    place: str
    region: str
    counts: dict[str, float]
    runs: int


@dataclass(frozen=True)
class Point:
    count: int
    ours: Sample | None
    paper: Sample | None


@dataclass(frozen=True)
class Curve:
    """A measure against a count in the places' names: `8 threads`."""

    measure: Measure
    noun: str
    kernels: dict[str, list[Point]]


@dataclass(frozen=True)
class Fault:
    """A run that gave no result."""

    kernel: str
    variant: str
    seed: int
    kind: str
    message: str
    cell: Cell | None


@dataclass(frozen=True)
class Outcome:
    """What came of a conclusion under a setting: a verdict, or where there is none, the direction of the ratio."""

    setting: str
    word: str
    ratio: Ratio | None


@dataclass(frozen=True)
class Sensitivity:
    """A conclusion that rests on cycles, under all settings."""

    what: str
    measure: str
    place: str
    measured: Outcome
    others: list[Outcome]
    missing: str = ""  # why there are no other settings

    @property
    def changed(self) -> list[Outcome]:
        return [one for one in self.others if one.word != self.measured.word]

    @property
    def keeps_direction(self) -> bool:
        """Whether its ratio is on the same side of 1 under all settings."""
        sides = {(one.ratio.value > 1) - (one.ratio.value < 1) for one in (self.measured, *self.others) if one.ratio}
        return len(sides) == 1

    @property
    def ends(self) -> tuple[Outcome, Outcome] | None:
        """The settings of the least and of the greatest ratio."""
        known = [one for one in (self.measured, *self.others) if one.ratio]
        if not known:
            return None
        return min(known, key=_value), max(known, key=_value)


@dataclass(frozen=True)
class Standing:
    """Of the conclusions by cycles that tell a direction: how many there are, how many keep it under all other settings of
    the simulated processor, how many their word, and how many were not simulated under others."""

    told: int
    direction: int
    word: int
    alone: int


def _value(one: Outcome) -> float:
    assert one.ratio
    return one.ratio.value
