"""Means, and ratios of means with their intervals: all the statistics of a report, on plain numbers.

The interval of a ratio of two means is Fieller's (1954), at 95 %: all quotients q for which mean(a) - q mean(b) is not
told from zero by a t test. Runs of two kernels that had the same seeds, of which none was left out, are pairs, and
their covariance counts; otherwise the runs are independent, and the degrees of freedom are Welch's (1947). Nothing is drawn at random here.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import covariance, fmean, variance
from typing import Literal

CONFIDENCE = 0.95
ROUNDING = 1e-9  # what the last bits of a quotient may lack of a bound

Verdict = Literal["agree", "differ", "within noise", "not measured"]


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

    @property
    def side(self) -> int | None:
        """1: the interval lies above 1; -1: below; 0: 1 is in it; None: there is no interval."""
        if self.low is None or self.high is None:
            return None
        return 1 if self.low > 1 else -1 if self.high < 1 else 0


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


def ratio(a: Sample | None, b: Sample | None) -> Ratio | None:
    """@a's mean by @b's; None where one is missing, @b's is 0, or one is negative: then it says nothing (a z, say)."""
    if a is None or b is None or b.mean == 0 or a.mean * b.mean < 0:
        return None
    value = a.mean / b.mean
    if a.kept == b.kept and a.kept:
        return Ratio(1.0, 1.0, 1.0, paired=True)
    if a.error2 is None or b.error2 is None:
        alone = next(one for one in (a, b) if one.error2 is None)
        return Ratio(value, why="one run has no deviation" if alone.n == 1 else "the deviation is not known")
    paired = bool(a.kept) and [run.seed for run in a.kept] == [run.seed for run in b.kept]
    paired = paired and not a.dropped and not b.dropped  # or else the runs left out would decide on the method
    common = covariance([run.value for run in a.kept], [run.value for run in b.kept]) / len(a.kept) if paired else 0.0
    freedom = _freedom(a, b, value, paired)
    return _fieller(a, b, value, common, student(freedom), paired)


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
        return Ratio(value, value, value, paired)
    square = b.mean**2 - t**2 * b.error2
    if square <= 0:
        return Ratio(value, paired=paired, why="the reference's mean is not told from 0")
    middle = a.mean * b.mean - t**2 * common
    # The same as middle^2 - square (a^2 - t^2 var(a)), without the difference of two large numbers.
    spread = b.mean**2 * a.error2 - 2 * a.mean * b.mean * common + a.mean**2 * b.error2
    under = t**2 * (spread - t**2 * (a.error2 * b.error2 - common**2))
    half = math.sqrt(max(under, 0.0))
    return Ratio(value, (middle - half) / square, (middle + half) / square, paired)


def student(freedom: float) -> float:
    """The t below which CONFIDENCE of the distribution lies, both tails cut."""
    from scipy.special import stdtrit

    return float(stdtrit(freedom, (1 + CONFIDENCE) / 2))


def direction(paper: Ratio | None, ours: Ratio | None) -> Verdict:
    """Whether a kernel is above or below the reference in both, where the paper's effect is above its own noise."""
    if paper is None or ours is None:
        return "not measured"
    expected = _sign(paper) if paper.side is None else paper.side
    found = _sign(ours) if ours.side is None else ours.side
    if not expected or not found:
        return "within noise"
    return "agree" if expected == found else "differ"


def _sign(one: Ratio) -> int:
    return (one.value > 1) - (one.value < 1)


def judge(bound: float, ours: Ratio, paper: Ratio | None = None) -> Verdict:
    """Whether a ratio of ours is at least @bound, as the paper says.

    agree: the whole interval is. differ: none of it is, and it has nothing in common with the paper's own interval.
    within noise: anything else. Without an interval the ratio alone decides between the first two.
    """
    bound *= 1 - ROUNDING
    low, high = (ours.value, ours.value) if ours.low is None or ours.high is None else (ours.low, ours.high)
    if low >= bound:
        return "agree"
    if high >= bound:
        return "within noise"
    if ours.low is None or paper is None or paper.low is None or paper.high is None:
        return "differ"
    return "within noise" if low <= paper.high and high >= paper.low else "differ"
