"""Samples whose mean and deviation are known, and the verdict on one claim about them."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np

from lab.report.numbers import Ratio, Run, Sample, sample
from lab.report.verdicts import Claim, Verdict, judge

PAPER = Ratio(1.02, 1.015, 1.025)
SEEDS = 5


def spread(mean: float, deviation: float, count: int = SEEDS, first: int = 1) -> Sample:
    """A sample whose mean and deviation are exactly these, its values those of a normal distribution's quantiles."""
    quantiles = np.array([NormalDist().inv_cdf((i + 0.5) / count) for i in range(count)])
    shape = quantiles / quantiles.std(ddof=1) if count > 1 else quantiles
    return of(mean + deviation * shape, first)


def of(values, first: int = 1) -> Sample:
    found = sample([Run(seed, float(value), f"cell{seed}") for seed, value in enumerate(values, first)])
    assert found is not None
    return found


def one(effect: float, deviation: float = 0.5, paper: Ratio | None = PAPER, count: int = SEEDS, **claim) -> Verdict:
    """A kernel @effect above a reference of 1000, with other seeds."""
    more = spread(1000 * (1 + effect), deviation, count, first=100)
    return judge([Claim(more, spread(1000, deviation, count), paper, **claim)])[0]
