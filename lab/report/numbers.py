"""Means, and ratios of means with their intervals: all the statistics of a report, on plain numbers.

The interval of a ratio of two means is Fieller's (1954), at 95 %: all quotients q for which mean(a) - q mean(b) is not
told from zero by a t test. Runs of two kernels that had the same seeds, of which none was left out, are pairs, and
their covariance counts; otherwise the runs are independent, and the degrees of freedom are Welch's (1947). Nothing is drawn at random here.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import covariance, fmean, variance
from typing import Any

CONFIDENCE = 0.95
WIDE = 10.0  # an interval around 1 that spans such a factor says neither direction nor size
ROUNDING = 1e-9  # what is left of a difference of two equal variances


@dataclass(frozen=True)
class Run:
    """A number of one run."""

    seed: int
    value: float
    cell: str  # its id in the results


@dataclass(frozen=True)
class Sample:
    """A mean, and what it is the mean of; a paper's has no runs."""

    mean: float
    s: float | None  # standard deviation of the kept runs; None: of one run, or not told
    n: int | None  # kept runs; None: not told
    kept: tuple[Run, ...] = ()
    dropped: tuple[Run, ...] = ()

    @property
    def error2(self) -> float | None:
        """The square of the mean's standard error."""
        return None if self.s is None or not self.n or self.n < 2 else self.s**2 / self.n


@dataclass(frozen=True)
class Ratio:
    """A quotient of two means. Without an interval (low and high are None), `why` says why."""

    value: float
    low: float | None = None
    high: float | None = None
    paired: bool = False
    why: str = ""
    exact: bool = False  # neither of the two means varies with the seed: there is nothing to estimate

    @property
    def side(self) -> int | None:
        """1: the interval lies above 1; -1: below; 0: 1 is in it; None: there is no interval."""
        if self.low is None or self.high is None:
            return None
        return 1 if self.low > 1 else -1 if self.high < 1 else 0

    @property
    def telling(self) -> bool:
        """Whether the interval says anything: not [-23.7, 24.7], which no quotient of such means could leave."""
        if self.low is None or self.high is None:
            return False
        return self.side != 0 or (self.low > 0 and self.high <= WIDE * self.low)


def finite(found: Any) -> float | None:
    """@found, if it is a number."""
    if isinstance(found, bool) or not isinstance(found, (int, float)) or not math.isfinite(found):
        return None
    return found


def known_mean(numbers: Sequence[Any]) -> float | None:
    """Of those that are numbers."""
    known = [number for number in map(finite, numbers) if number is not None]
    return sum(known) / len(known) if known else None


def sample(runs: Sequence[Run], keep: str = "all") -> Sample | None:
    """Mean and deviation of @runs; keep = "middle" leaves out the least and the greatest, if one is left then."""
    ordered = sorted(runs, key=lambda run: (run.value, run.seed))
    if not ordered:
        return None
    dropped: list[Run] = []
    if keep == "middle" and len(ordered) >= 3:
        dropped = [ordered[0], ordered[-1]]
        ordered = ordered[1:-1]
    kept = sorted(ordered, key=lambda run: run.seed)
    values = [run.value for run in kept]
    s = math.sqrt(variance(values)) if len(values) > 1 else None
    return Sample(fmean(values), s, len(values), tuple(kept), tuple(sorted(dropped, key=lambda run: run.seed)))


def ratio(a: Sample | None, b: Sample | None, confidence: float = CONFIDENCE) -> Ratio | None:
    """@a's mean by @b's; None where one is missing, @b's is 0, or one is negative: then it says nothing (a z, say)."""
    if a is None or b is None or b.mean == 0 or a.mean * b.mean < 0:
        return None
    value = a.mean / b.mean
    if a.kept == b.kept and a.kept:
        return Ratio(1.0, 1.0, 1.0, paired=True, exact=a.s == 0)
    if a.error2 is None or b.error2 is None:
        alone = next(one for one in (a, b) if one.error2 is None)
        return Ratio(value, why="one run has no deviation" if alone.n == 1 else "the deviation is not known")
    paired, common = _common(a, b)
    freedom = _freedom(a, b, value, paired)
    return _fieller(a, b, value, common, student(freedom, confidence), paired)


def as_printed(a: Sample | None, b: Sample | None, digit: float, smallest: float) -> Ratio | None:
    """A paper's ratio. Of means without deviations, printed to @digit: with what they may have been before they were rounded as
    its interval, or as far as @smallest counts, whichever is wider."""
    found = ratio(a, b)
    if not found or not a or not b or not digit or found.low is not None:
        return found
    half = digit / 2
    low, high = (a.mean - half) / (b.mean + half), (a.mean + half) / max(b.mean - half, half / 1000)
    return replace(found, low=min(low, found.value / (1 + smallest)), high=max(high, found.value * (1 + smallest)))


def of_deviations(a: Sample | None, b: Sample | None, confidence: float = CONFIDENCE) -> Ratio | None:
    """As ratio(), where the means are themselves standard deviations, each of so many runs: with the interval of an F test."""
    if a is None or b is None or a.mean <= 0 or b.mean <= 0:
        return None
    if not a.n or not b.n or a.n < 2 or b.n < 2:
        return Ratio(a.mean / b.mean, why="of how many runs is not known")
    from scipy.special import fdtri

    tail, value = (1 + confidence) / 2, a.mean / b.mean
    low, high = fdtri(a.n - 1, b.n - 1, tail), fdtri(b.n - 1, a.n - 1, tail)
    return Ratio(value, value / math.sqrt(low), value * math.sqrt(high))


def limit(most: float | None, of: Sample | None) -> Sample | None:
    """A number that does not vary, to be compared with the runs @of."""
    return None if most is None or of is None else Sample(float(most), 0.0, of.n)


def _common(a: Sample, b: Sample) -> tuple[bool, float]:
    """Whether the runs are pairs, and then the covariance of the two means."""
    paired = bool(a.kept) and [run.seed for run in a.kept] == [run.seed for run in b.kept]
    paired = paired and not a.dropped and not b.dropped  # or else the runs left out would decide on the method
    if not paired:
        return False, 0.0
    return True, covariance([run.value for run in a.kept], [run.value for run in b.kept]) / len(a.kept)


def equality_p(a: Sample | None, b: Sample | None) -> float | None:
    """The chance of means at least so far apart, were they equal: of a t test, of pairs or else Welch's.

    None where there is nothing to test: no deviation, or none that varies with the seed."""
    if a is None or b is None or a.error2 is None or b.error2 is None or a.error2 == b.error2 == 0:
        return None
    from scipy.special import stdtr

    paired, common = _common(a, b)
    error2 = a.error2 + b.error2 - 2 * common
    freedom = _freedom(a, b, 1.0, paired)
    if error2 <= ROUNDING * (a.error2 + b.error2):  # every pair lies equally far apart
        return 1.0 if a.mean == b.mean else 0.0
    return float(2 * stdtr(freedom, -abs(a.mean - b.mean) / math.sqrt(error2)))


def identical_distance(one: Sample, confidence: float) -> float:
    """How far from 1 the ratio of two such kernels may lie by chance, were they the same but run with other seeds."""
    if one.error2 is None or not one.n or not one.mean:
        return math.inf
    return student(2 * one.n - 2, confidence) * math.sqrt(2 * one.error2) / abs(one.mean)


def _freedom(a: Sample, b: Sample, value: float, paired: bool) -> float:
    """Degrees of freedom of mean(a) - value mean(b)."""
    assert a.n and b.n and a.error2 is not None and b.error2 is not None
    if paired:
        return a.n - 1
    first, second = a.error2, value**2 * b.error2
    if first + second == 0:
        return a.n + b.n - 2
    return (first + second) ** 2 / (first**2 / (a.n - 1) + second**2 / (b.n - 1))


def _fieller(a: Sample, b: Sample, value: float, common: float, t: float, paired: bool) -> Ratio:
    assert a.error2 is not None and b.error2 is not None
    if a.error2 == b.error2 == 0:
        return Ratio(value, value, value, paired, exact=True)
    square = b.mean**2 - t**2 * b.error2
    if square <= 0:
        return Ratio(value, paired=paired, why="the reference's mean is not told from 0")
    middle = a.mean * b.mean - t**2 * common
    # The same as middle^2 - square (a^2 - t^2 var(a)), without the difference of two large numbers.
    spread = b.mean**2 * a.error2 - 2 * a.mean * b.mean * common + a.mean**2 * b.error2
    under = t**2 * (spread - t**2 * (a.error2 * b.error2 - common**2))
    half = math.sqrt(max(under, 0.0))
    return Ratio(value, (middle - half) / square, (middle + half) / square, paired)


def student(freedom: float, confidence: float = CONFIDENCE) -> float:
    """The t below which @confidence of the distribution lies, both tails cut."""
    from scipy.special import stdtrit

    return float(stdtrit(freedom, (1 + confidence) / 2))
