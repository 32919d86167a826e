"""Verdicts where two builds of one kernel differ: what no number of seeds tells."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lab.build.setup import need_lab
from lab.report.numbers import Ratio, ratio
from lab.report.verdicts import Claim, judge
from tests.lab.report.verdicts.verdict_samples import PAPER, of, spread

need_lab()


def test_two_builds_of_a_kernel_set_a_limit_too():
    """Seeds alone do not show what another place in memory does: below it nothing is found, above it is."""
    claim = Claim(spread(1020, 0.5, first=100), spread(1000, 0.5), PAPER)
    (found,) = judge([claim], builds=0.034)
    assert found.word == "undecided" and "layouts of one kernel differed by up to 3.4%" in found.reason
    assert found.seeds_wanted is None, "no number of seeds would tell"
    exact = Claim(of([1020.0] * 3), of([1000.0] * 3), PAPER)
    assert [judge([one], builds=0.009)[0].word for one in (claim, exact)] == ["reproduced"] * 2
    assert judge([exact], builds=0.034)[0].word == "undecided"
    swapped = Claim(claim.than, claim.more, PAPER)
    assert [judge([swapped], builds=by)[0].word for by in (0.019, 0.034)] == ["contradicted", "undecided"]


def test_two_kernels_of_one_image_are_no_two_builds():
    claim = Claim(spread(1020, 0.5, first=100), spread(1000, 0.5), PAPER)
    assert [judge([replace(claim, one_image=one)], builds=0.034)[0].word for one in (False, True)] == [
        "undecided",
        "reproduced",
    ]


@pytest.mark.parametrize(
    ("goal", "held", "broken"), [(False, "no worse", "contradicted"), (True, "aim reached", "aim missed")]
)
def test_two_builds_limit_what_an_interval_alone_decides(goal, held, broken):
    """At least 0.99: 1.005 is, and 0.975 is not, but both are nearer to it than 1.9 % that two builds differ by."""
    for mean, word in ((1005, held), (975, broken)):
        for more in (spread(mean, 0.1, first=100), of([float(mean)] * 3)):
            claim = Claim(more, spread(1000, 0.1) if more.s else of([1000.0] * 3), at_least=0.99, goal=goal)
            assert judge([claim], builds=0.01)[0].word == word
            (found,) = judge([claim], builds=0.019)
            assert (
                found.word.endswith("undecided") and "layouts of one kernel" in found.reason and not found.seeds_wanted
            )
            assert judge([replace(claim, one_image=True)], builds=0.019)[0].word == word


def test_no_number_of_seeds_tells_an_effect_below_what_builds_differ_by():
    for effect, deviation, theirs, word in (
        (0.0, 15, PAPER, "undecided"),
        (0.05, 30, Ratio(1.0067, 1.003, 1.010), "direction only"),
    ):
        claim = Claim(spread(1000 * (1 + effect), deviation, first=100), spread(1000, deviation), theirs)
        less, more = 0.9 * (theirs.value - 1), 1.1 * (theirs.value - 1)
        told = {by: judge([claim], builds=by)[0] for by in (0.0, less, more)}
        assert {one.word for one in told.values()} == {word}
        assert told[0.0].seeds_wanted and told[less].seeds_wanted and not told[more].seeds_wanted
        assert "no number of seeds would: layouts of one kernel differed by" in told[more].reason
        assert judge([replace(claim, one_image=True)], builds=more)[0] == told[0.0]


def test_how_many_seeds_would_do_allows_for_builds():
    claim = Claim(spread(1030, 30, first=100), spread(1000, 30), at_least=0.99)
    alone, built = (judge([claim], builds=by)[0].seeds_wanted for by in (0.0, 0.03))
    assert alone and built and built > alone and judge([claim], builds=0.05)[0].seeds_wanted is None


def test_two_builds_limit_the_size_that_can_be_told():
    """An effect of 2 % beside 1.98 % that two builds differ by is one; how large it is, is not told."""
    claim = Claim(spread(1020, 0.05, first=100), spread(1000, 0.05), PAPER)
    exact = Claim(of([1020.0] * 3), of([1000.0] * 3), PAPER)
    for one in (claim, exact):
        (found,) = judge([one], builds=0.0198)
        assert found.word == "direction only" and found.reason == "too wide to say of the size"
        assert found.ratio == ratio(one.more, one.than), "the interval is shown as it was measured"
