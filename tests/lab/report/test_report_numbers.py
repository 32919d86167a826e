"""The arithmetic of reports: means, what is left out, ratios with intervals, verdicts at their borders."""

from __future__ import annotations

import math

import pytest

from lab.build.setup import need_lab
from lab.report.numbers import (
    Ratio,
    Run,
    Sample,
    as_printed,
    equality_p,
    identical_distance,
    of_deviations,
    ratio,
    sample,
    student,
)  # fmt: skip
from lab.sweep.experiment import load
from lab.sweep.toml.files import find

need_lab()


def runs(*values: float, first: int = 1) -> list[Run]:
    return [Run(seed, value, f"cell{seed}") for seed, value in enumerate(values, first)]


def of(*values: float, first: int = 1) -> Sample:
    found = sample(runs(*values, first=first))
    assert found is not None
    return found


def test_mean_and_deviation():
    found = of(2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0)
    assert (found.mean, found.n) == (5.0, 8)
    assert found.s == pytest.approx(math.sqrt(32 / 7))  # the squares of the distances add up to 32


def test_deviations_are_told_apart_by_an_f_test():
    """Five runs each: F(0.975; 4, 4) is 9.605 in every table, so that deviations have to be 3.1 times as large."""
    found = of_deviations(Sample(30.0, None, 5), Sample(10.0, None, 5))
    assert found is not None and found.low is not None and found.high is not None
    assert (found.value, found.low, found.high) == pytest.approx(
        (3.0, 3 / math.sqrt(9.60453), 3 * math.sqrt(9.60453)), rel=1e-5
    )
    assert found.side == 0
    apart = of_deviations(Sample(31.0, None, 5), Sample(10.0, None, 5))
    assert apart is not None and apart.side == 1
    few = of_deviations(Sample(30.0, None, 10), Sample(10.0, None, 3))  # F(9, 2) above, F(2, 9) below
    assert few is not None and (few.low, few.high) == pytest.approx(
        (3 / math.sqrt(39.387), 3 * math.sqrt(5.7147)), rel=1e-4
    )
    alone = of_deviations(Sample(30.0, None, 1), Sample(10.0, None, 5))
    assert alone is not None and alone.low is None and "how many runs" in alone.why
    assert of_deviations(Sample(30.0, None, 5), Sample(0.0, None, 5)) is None


def test_middle_leaves_out_the_least_and_the_greatest():
    found = sample(runs(5.0, 1.0, 3.0, 9.0, 4.0), "middle")
    assert found is not None
    assert [run.seed for run in found.dropped] == [2, 4]
    assert [run.value for run in found.kept] == [5.0, 3.0, 4.0]
    assert (found.mean, found.s, found.n) == (4.0, 1.0, 3)


def test_middle_of_equal_runs_leaves_out_two_and_keeps_one_of_three():
    found = sample(runs(4.0, 4.0, 4.0), "middle")
    assert found is not None
    assert [run.seed for run in found.kept] == [2]
    assert found.s is None


@pytest.mark.parametrize("count", [1, 2])
def test_of_two_runs_none_is_left_out(count):
    found = sample(runs(*[3.0] * count), "middle")
    assert found is not None
    assert (found.n, found.dropped) == (count, ())


def test_no_runs_are_no_sample():
    assert sample([]) is None


def test_students_quantiles():
    """As printed in every table."""
    assert student(4) == pytest.approx(2.776, abs=5e-4)
    assert student(2) == pytest.approx(4.303, abs=5e-4)


def test_a_ratio_is_that_of_the_means():
    found = ratio(of(2.0, 4.0, 6.0), of(1.0, 2.0, 6.0))
    assert found is not None
    assert found.value == pytest.approx(4 / 3)


def test_pairs_that_move_alike_have_a_narrow_interval():
    """Twice the other's value at each seed: what the seed does is the same to both, and nothing is left."""
    found = ratio(of(200.0, 220.0, 260.0), of(100.0, 110.0, 130.0))
    assert found is not None and found.paired
    assert (found.low, found.high) == (pytest.approx(2.0), pytest.approx(2.0))


def test_other_seeds_are_no_pairs():
    """The same numbers: now the seeds' part counts."""
    found = ratio(of(200.0, 220.0, 260.0, first=4), of(100.0, 110.0, 130.0))
    assert found is not None and not found.paired
    assert found.low is not None and found.high is not None
    assert found.low < 1.5 and found.high > 2.5


def test_the_interval_is_where_the_t_test_excludes():
    """Fieller's ends by the definition: at each, the mean of a - q b is t standard errors from 0."""
    a, b = of(10.0, 12.0, 11.0, 14.0), of(5.0, 5.5, 4.0, 6.0)
    found = ratio(a, b)
    assert found is not None and found.paired
    for end in (found.low, found.high):
        assert end is not None
        left = of(*[x.value - end * y.value for x, y in zip(a.kept, b.kept, strict=True)])
        assert left.s is not None
        assert abs(left.mean) / (left.s / 2) == pytest.approx(student(3))


def test_the_papers_interval_is_from_its_s_and_n():
    """Lever's table 3, reference and mult, shift 11: by hand, with Welch's 5.28 degrees of freedom."""
    found = ratio(Sample(4380.8, 12.09, 5), Sample(4282.8, 29.96, 5))
    assert found is not None
    assert found.value == pytest.approx(1.02288, abs=1e-5)
    first, second = 12.09**2 / 5, found.value**2 * 29.96**2 / 5
    freedom = (first + second) ** 2 / (first**2 / 4 + second**2 / 4)
    half = student(freedom) * math.sqrt(first + second) / 4282.8
    assert found.low == pytest.approx(found.value - half, abs=1e-4)  # Fieller's differs in the fifth digit here
    assert found.high == pytest.approx(found.value + half, abs=1e-4)
    assert not found.paired


def test_no_variation_is_an_interval_of_no_width():
    found = ratio(of(8.0, 8.0, 8.0), of(16.0, 16.0, 16.0, first=7))
    assert found is not None
    assert (found.low, found.value, found.high) == (0.5, 0.5, 0.5)


def test_one_run_has_no_interval():
    found = ratio(of(8.0), of(16.0))
    assert found is not None
    assert (found.value, found.low, found.why) == (0.5, None, "one run has no deviation")


def test_a_paper_without_s_has_no_interval():
    found = ratio(Sample(8.0, None, 5), Sample(16.0, 1.0, 5))
    assert found is not None
    assert (found.low, found.why) == (None, "the deviation is not known")


def test_a_reference_around_zero_has_no_interval():
    found = ratio(of(5.0, 6.0, 7.0), of(-1.0, 0.5, 1.5))  # 0.33 in the mean
    assert found is not None
    assert found.low is None and "not told from 0" in found.why


def test_a_reference_of_zero_has_no_ratio():
    assert ratio(of(1.0, 2.0), of(0.0, 0.0)) is None


def test_what_may_be_negative_has_no_ratio():
    assert ratio(of(-1.0, -2.0), of(1.0, 2.0)) is None
    assert ratio(of(0.0, 0.0), of(1.0, 1.0)) == Ratio(0.0, 0.0, 0.0, paired=True, exact=True)


def test_the_reference_to_itself_is_one():
    one = of(3.0, 5.0, 4.0)
    assert ratio(one, one) == Ratio(1.0, 1.0, 1.0, paired=True)


def test_equality_is_a_t_test():
    """By hand: pairs 3, 2 and 4 apart, t = 3 / (1 / sqrt 3) with 2 degrees of freedom."""
    p = equality_p(of(13.0, 14.0, 18.0), of(10.0, 12.0, 14.0))
    assert p == pytest.approx(0.0351, abs=1e-4)
    other = equality_p(of(13.0, 14.0, 18.0, first=4), of(10.0, 12.0, 14.0))  # no pairs: much is the seeds'
    assert other is not None and 0.1 < other < 0.2


def test_equality_of_what_does_not_vary_is_no_test():
    assert equality_p(of(3.0, 3.0), of(4.0, 4.0)) is None
    assert equality_p(of(3.0), of(4.0)) is None and equality_p(None, of(1.0, 2.0)) is None
    assert equality_p(of(4.0, 5.0), of(3.0, 4.0)) == 0.0  # every pair lies equally far apart


def test_how_far_identical_kernels_may_lie():
    """Two means of five runs with s = 2 each: t of 8 degrees of freedom times 2 sqrt(2/5)."""
    one = of(98.0, 99.0, 100.0, 101.0, 102.0)
    assert identical_distance(one, 0.95) == pytest.approx(2.306 * math.sqrt(2 * 2.5 / 5) / 100, rel=1e-3)
    assert identical_distance(of(5.0), 0.95) == math.inf


def test_a_papers_last_digit_is_not_exact():
    """0.2 and 0.4 may have been 0.25 and 0.35; where there are deviations, they say how sure it is."""
    a, b = Sample(0.2, None, None), Sample(0.4, None, None)
    found = as_printed(a, b, 0.1, 0.02)
    assert found and found.value == 0.5
    assert (found.low, found.high) == (pytest.approx(0.15 / 0.45), pytest.approx(0.25 / 0.35))
    wide = as_printed(Sample(99.6, None, None), Sample(90.4, None, None), 0.1, 0.02)
    assert wide and wide.high == pytest.approx(99.6 / 90.4 * 1.02), "no narrower than what counts"
    told = Sample(0.2, 0.01, 5), Sample(0.4, 0.01, 5)
    assert as_printed(*told, 0.1, 0.02) == ratio(*told) and as_printed(a, b, 0, 0.02) == ratio(a, b)


def test_what_a_paper_calls_noise_is_so_where_it_says_so():
    sdet, memory = load(find("santos-sdet")), load(find("seltzer-memory"))
    assert "up to 3% variability" in sdet.noise_at("64 threads", 1.0111) == sdet.noise_at("128 threads", 0.979)
    assert not sdet.noise_at("16 threads", 1.053) and not sdet.noise_at("1 thread", None)
    assert "uninteresting" in memory.noise_at("passwd memory", 1.33) and not memory.noise_at("dictionary memory", 1.001)
