"""Verdicts that can fail: identical kernels, the pair swapped, half and ten times the effect, one seed, the same run twice."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lab.build.setup import need_lab
from lab.report.numbers import Ratio, Sample, equality_p
from lab.report.verdicts import AIMS, ALPHA, WORDS, Claim, judge
from tests.lab.report.verdicts.verdict_samples import PAPER, SEEDS, of, one, spread

need_lab()


def test_the_papers_effect_is_reproduced():
    assert one(0.02).word == "reproduced"


def test_a_pair_swapped_is_contradicted():
    assert one(-0.02).word == "contradicted"
    assert judge([Claim(spread(1000, 0.5), spread(1020, 0.5, first=100), PAPER)])[0].word == "contradicted"
    below = Ratio(0.98, 0.975, 0.985)
    assert one(-0.02, paper=below).word == "reproduced" and one(0.02, paper=below).word == "contradicted"


@pytest.mark.parametrize(("times", "said"), [(0.5, "0.5 times"), (10, "10 times")])
def test_another_size_is_a_direction_only(times, said):
    found = one(0.02 * times)
    assert found.word == "direction only" and said in found.reason


def test_no_effect_is_named_as_one_where_it_would_have_been_seen():
    found = one(0.0)
    assert found.word == "no effect here" and found.seeds_wanted is None


def test_what_is_seen_but_not_beyond_the_tables_level_is_no_missing_effect():
    """An interval without 1 is never called no effect: of 28 comparisons it may be chance, so nothing is decided."""
    more, than = spread(1012, 6, first=100), spread(1000, 6)
    many = [Claim(spread(1012 + i / 10, 6, first=100), spread(1000, 6), PAPER, name=str(i)) for i in range(40)]
    found = judge([Claim(more, than, Ratio(1.05, 1.045, 1.055)), *many])[0]
    assert found.ratio and found.ratio.low and found.ratio.low > 1 and found.word == "undecided"


def test_too_wide_to_say_tells_how_many_more_seeds():
    """As many as it says are enough, and half as many are not."""
    found = one(0.0, deviation=15)
    assert found.word == "undecided" and found.seeds_wanted and found.seeds_wanted > 5
    assert one(0.0, 15, count=SEEDS + found.seeds_wanted).word == "no effect here"
    assert one(0.0, 15, count=SEEDS + found.seeds_wanted // 4).word == "undecided"


def test_a_wide_interval_does_not_reproduce_a_small_effect():
    """It meets the paper's, as it meets everything: of the size it says nothing."""
    found = one(0.05, 30, paper=Ratio(1.0067, 1.003, 1.010))
    assert found.word == "direction only" and "too wide" in found.reason and found.seeds_wanted


@pytest.mark.parametrize(
    ("effect", "paper", "claim", "word", "said"),
    [
        (0.05, None, {}, "answered", "yes"),
        (0.05, None, {"at_least": 1.02}, "answered", "yes; 1.02 would count"),
        (0.01, None, {"at_least": 1.02}, "answered", "yes; 1.02 would count: 0.5 times"),
        (-0.05, None, {}, "answered", "no, the other way round"),
        (0.0, None, {"at_least": 1.02}, "answered", "no: no effect that counts"),
        (0.0, None, {}, "undecided", "gives no size"),
    ],
)
def test_what_the_paper_asks_is_answered_and_not_reproduced(effect, paper, claim, word, said):
    found = one(effect, paper=paper, asked=True, **claim)
    assert found.word == word and said in found.reason
    assert one(effect, paper=paper, **claim).word != "answered"


@pytest.mark.parametrize(
    ("effect", "deviation", "word", "said"),
    [
        (0.0, 0.5, "no worse", "the whole interval is at least 0.99"),
        (0.02, 0.5, "no worse", "the whole interval is at least 0.99"),
        (-0.005, 0.5, "no worse", "the whole interval is at least 0.99"),
        (-0.02, 0.5, "contradicted", "the whole interval is below 0.99"),
        (0.0, 15, "undecided", "0.99 lies in the interval"),
        (-0.011, 15, "undecided", "0.99 lies in the interval"),
    ],
)
def test_no_worse_is_decided_by_the_interval(effect, deviation, word, said):
    found = one(effect, deviation, paper=None, at_least=0.99)
    assert found.word == word and said in found.reason
    assert bool(found.seeds_wanted) == (word == "undecided" and effect > -0.01)


@pytest.mark.parametrize(
    ("effect", "deviation", "least", "word", "said"),
    [
        (0.02, 0.5, 1.0, "aim reached", "the whole interval is at least 1"),
        (0.02, 0.5, 1.5, "aim missed", "the whole interval is below 1.5"),
        (-0.02, 0.5, 1.0, "aim missed", "the whole interval is below 1"),
        (0.0, 0.5, 1.0, "aim undecided", "1 lies in the interval"),
    ],
)
def test_an_aim_of_ours_is_reached_or_not_and_never_reproduced(effect, deviation, least, word, said):
    found = one(effect, deviation, paper=None, at_least=least, goal=True)
    assert found.word == word and said in found.reason
    open_paper = one(effect, deviation, paper=Ratio(1.001, 0.99, 1.012), noise="noise", at_least=least, goal=True)
    assert open_paper.word == word, "whether we reach it does not hang on what the paper could tell"
    assert judge([Claim(None, spread(1000, 1), goal=True)])[0].word == "aim not measured"


def test_an_aim_is_not_the_same_as_a_finding_of_the_same_runs():
    """Both count; of two aims with the same runs one."""
    pair = spread(1020, 0.5, first=100), spread(1000, 0.5)
    aims = [Claim(*pair, at_least=1.01, goal=True, name=name) for name in ("first", "second")]
    assert [one.same_as for one in judge(aims)] == ["", "first"]
    assert [one.same_as for one in judge([Claim(*pair, PAPER, name="found"), aims[0]])] == ["", ""]


def test_pairs_do_not_see_what_two_identical_kernels_show():
    """Every seed is 0.02 % above, to the digit: an effect of pairs, and less than what other seeds do to the reference."""
    values = 1000 + 10 * np.arange(SEEDS)
    found = judge([Claim(of(values * 1.0002), of(values), Ratio(1.0002, 1.0001, 1.0003))])[0]
    assert "two identical kernels with other seeds may differ by" in found.reason and found.seeds_wanted
    assert judge([Claim(of(values * 1.0002), of(values))])[0].seeds_wanted
    p = equality_p(of(values * 1.0002), of(values))
    assert p is not None and p < ALPHA and found.word == "undecided"


def test_one_seed_decides_nothing():
    found = one(0.02, count=1)
    assert found.word == "undecided" and "one run" in found.reason


def test_figures_that_do_not_vary_are_exact():
    claim = Claim(of([1020.0] * 3), of([1000.0] * 3), PAPER)
    (found,) = judge([claim])
    assert found.exact and found.word == "reproduced"
    assert judge([Claim(of([1200.0] * 3), of([1000.0] * 3), PAPER)])[0].word == "direction only"
    assert judge([Claim(of([1000.0] * 3), of([1000.0] * 3), PAPER)])[0].word == "no effect here"
    assert judge([Claim(of([999.0] * 3), of([1000.0] * 3), PAPER)])[0].word == "contradicted"


@pytest.mark.parametrize(("effect", "word"), [(0.02, "contradicted"), (-0.02, "contradicted"), (0.0101, "undecided")])
def test_where_the_paper_finds_no_difference_another_is_none_of_its_findings(effect, word):
    """Nor is anything divided by that effect."""
    none = Ratio(1.0, None, None)
    claim = Claim(spread(1000 * (1 + effect), 0.5, first=100), spread(1000, 0.5), none)
    assert judge([claim], smallest=0.01)[0].word == word


@pytest.mark.parametrize(
    ("value", "word"),
    [(1.0, "no worse"), (1.01, "no worse"), (0.985, "no worse"), (1.3, "contradicted"), (0.9, "contradicted")],
)
def test_the_same_of_what_does_not_vary(value, word):
    claim = Claim(of([1000.0 * value] * 3), of([1000.0] * 3), Ratio(1.0))
    (found,) = judge([claim], smallest=0.02)
    assert found.word == word and "exact" in found.reason
    assert judge([claim], smallest=0.02, builds=0.12)[0].word == ("contradicted" if value == 1.3 else "undecided")


@pytest.mark.parametrize(
    ("effect", "word", "said"),
    [
        (-0.002, "no effect here", "the paper's effect is farther away than that"),
        (0.002, "no effect here", "the paper's effect is farther away than that"),
        (0.015, "undecided", "the paper's effect is no farther away"),
    ],
)
def test_what_two_identical_kernels_show_too_is_no_effect_where_the_papers_is_beyond_it(effect, word, said):
    """Pairs that differ by next to nothing, whatever the seed, where two identical kernels may differ by 1.8 %; the paper: at least 3 %."""
    values = spread(1000, 12).kept
    noisy = [run.value + 0.01 * (-1) ** run.seed for run in values]
    claim = Claim(of([(1 + effect) * value for value in noisy]), of([run.value for run in values]), at_least=1.03)
    (found,) = judge([claim])
    assert found.word == word and said in found.reason, found
    assert found.ratio and found.ratio.side == (1 if effect > 0 else -1)


def test_what_the_paper_left_open_is_no_finding():
    assert one(0.02, paper=Ratio(1.001, 0.99, 1.012)).word == "left open"


def test_a_size_in_words():
    """`at least half as many again`, where the paper has no numbers."""
    assert one(0.8, paper=None, at_least=1.5).word == "reproduced"
    assert one(0.2, paper=None, at_least=1.5).word == "direction only"
    found = one(0.5, 30, paper=None, at_least=1.5)
    assert found.word == "direction only" and "lies in the interval" in found.reason
    assert one(0.8, paper=None).word == "direction only"  # there is no size to find again


def test_the_smallest_effect_that_counts():
    claim = Claim(spread(1002, 0.1, first=100), spread(1000, 0.1), Ratio(1.002))
    assert judge([claim])[0].word != "no effect here"
    assert judge([claim], smallest=0.005)[0].word == "undecided"  # neither is the paper's effect one
    assert judge([Claim(claim.more, claim.than, PAPER)], smallest=0.005)[0].word == "no effect here"


def test_no_difference_is_found_again_where_it_is_none_that_counts():
    """A paper's ratio of 1 and ours of 1.01, where 3 % count: not two words for the one finding."""
    claim = Claim(spread(1010, 0.1, first=100), spread(1000, 0.1), Ratio(1.0))
    (found,) = judge([claim], smallest=0.03)
    assert found.word == "no worse" and "no difference that counts" in found.reason
    assert judge([claim], smallest=0.005)[0].word == "contradicted"


def test_what_a_clock_does_not_tell_is_no_effect():
    """84 ticks and 85, whatever the seed."""
    claim = Claim(of([0.84] * 3), of([0.85] * 3), Ratio(1.1))
    assert judge([claim])[0].word == "contradicted"
    (found,) = judge([replace(claim, resolution=0.01)])
    assert found.word == "no effect here" and "less than what counts" in found.reason
    for paper in (Ratio(1.02), None):
        (found,) = judge([replace(claim, resolution=0.01, paper=paper)])
        assert found.word == "undecided" and "whose tick is 1.2% of the reference" in found.reason
        (found,) = judge([replace(claim, paper=paper)], smallest=0.02)
        assert found.word == "undecided" and "need not be larger" in found.reason
    assert judge([Claim(of([0.80] * 3), of([0.85] * 3), Ratio(1.1), resolution=0.01)])[0].word == "contradicted"


@pytest.mark.parametrize(
    ("effect", "word"), [(0.04, "reproduced"), (0.19, "direction only"), (0.005, "direction only")]
)
def test_a_size_in_words_may_have_an_end(effect, word):
    assert one(effect, paper=None, at_least=1.01, largest=1.08).word == word


def test_an_end_within_the_interval_says_nothing_of_the_size():
    found = one(0.079, deviation=5, paper=None, at_least=1.01, largest=1.08)
    assert found.word == "direction only" and "1.08 lies in the interval" in found.reason and found.seeds_wanted


def test_what_the_paper_calls_noise_is_left_open():
    found = one(0.02, noise="the paper calls it noise")
    assert (found.word, found.reason) == ("left open", "the paper calls it noise")


def test_a_small_ratio_of_the_papers_is_not_met_by_none():
    """4 of 1,000 where the paper has 4, and none at all: as far as `smallest` goes both are near to it."""
    assert judge([Claim(of([4.0] * 3), of([1000.0] * 3), Ratio(0.004))], smallest=0.03)[0].word == "reproduced"
    assert judge([Claim(of([0.0] * 3), of([1000.0] * 3), Ratio(0.004))], smallest=0.03)[0].word == "direction only"


def test_what_is_told_from_none_and_too_small_says_both():
    found = judge([Claim(spread(1004, 0.1, first=100), spread(1000, 0.1), Ratio(1.02))], smallest=0.005)[0]
    assert found.word == "no effect here" and "told from no effect, but below what counts (0.005)" in found.reason


@pytest.mark.parametrize("least", [1.0, 2.0])
def test_beside_none_at_all_a_direction_is_not_made_of_one_run(least):
    """Where the other one has 0 there is no ratio: it takes a difference beyond chance, or all of the runs."""
    none = [0.0] * 5
    for some in ([0, 0, 0, 0, 1], [0, 1, 0, 2, 1], none):
        (found,) = judge([Claim(of(some), of(none), at_least=least)])
        assert found.word == "undecided" and "no ratio" in found.reason, some
    for all_of_them in ([3] * 5, [1, 90, 2, 1, 4], [5, 6, 5, 6, 7]):
        assert judge([Claim(of(all_of_them), of(none), at_least=least)])[0].word == "direction only"
    assert judge([Claim(of([9, 8, 9, 0, 9]), of(none))])[0].word == "direction only", "by the t test"
    assert judge([Claim(of([3, 90]), of([0, 0]))])[0].word == "undecided", "chance does so once in sixteen times"
    assert judge([Claim(of([3]), of([0]))])[0].word == "undecided"
    less = Ratio(0.5, 0.4, 0.6)
    assert judge([Claim(of([3] * 5), of(none), less)])[0].word == "contradicted"
    assert judge([Claim(of([0, 0, 0, 0, 1]), of(none), less)])[0].word == "undecided"
    assert judge([Claim(of([1, 1, 2, 1, 1]), of([-1, 1, 0, 0, 0]))])[0].word == "direction only", (
        "told, though not all are 0"
    )
    assert judge([Claim(of([0, 0, 2, 1, 0]), of([-1, 1, 0, 0, 0]))])[0].word == "undecided"


def test_a_limit_is_kept_where_there_is_none_at_all():
    """At most 0.1: none in five runs is no effect that was found, nor is what stays below a limit."""
    limit = Sample(0.1, 0.0, 5)
    for goal, word in ((False, "no worse"), (True, "aim reached")):
        assert judge([Claim(limit, of([0.0] * 5), limit=True, goal=goal)])[0].word == word
        assert judge([Claim(limit, of([0.01, 0.02, 0.01, 0.02, 0.01]), limit=True, goal=goal)])[0].word == word
        once = judge([Claim(replace(limit, n=1), of([0.0]), limit=True, goal=goal)])[0].word
        assert once == ("aim undecided" if goal else "undecided")
    assert judge([Claim(limit, of([0.3, 0.4, 0.3, 0.4, 0.3]), limit=True)])[0].word == "contradicted"


def test_missing_runs():
    found = judge([Claim(None, spread(1000, 1), PAPER, missing="seed 3: panic")])[0]
    assert (found.word, found.reason) == ("not measured", "seed 3: panic")


def test_every_word_is_known():
    every = [(e, d, p) for e in (-0.02, 0, 0.02, 0.2) for d in (0.1, 1, 30) for p in (PAPER, None)]
    assert {one(*each).word for each in every} <= set(WORDS)
    assert {one(*each, goal=True).word for each in every} == {"aim reached", "aim missed", "aim undecided"} < set(AIMS)
    assert not set(WORDS) & set(AIMS)
