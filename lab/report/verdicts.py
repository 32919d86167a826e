"""What came of a finding: one word, by direction and by size, corrected for how many there are of a table.

Before a finding counts as found again, two identical kernels must not be able to show the same. So its direction has to be
beyond chance (a t test of the two means, by Holm's method of 1979 over all findings of a table) and beyond the distance that
two kernels like the reference would show with other seeds (at Bonferroni's level, which is one for all of them: a finding that
is told better is not held to more), and, where the two are of different images, beyond what layouts of one kernel were seen
to differ by (lever-layout); others may differ by more. Its size has to be the paper's: the two
intervals meet, and ours, as much wider as those layouts differ, is narrow enough to tell the paper's effect from none. What is too
wide to say is `undecided`, never found.

    reproduced      direction and size
    direction only  the direction; the size is another, or the paper gives none, or ours is too wide to say
    no worse        the paper says that nothing is lost, or no more than so much, or that there is no difference, and so it is;
                    two identical kernels would have this word as well
    no effect here  our interval has 1 in it, or its ratio is too near to 1 to count, or as near as that of two identical kernels
                    may be, and it is narrower than the paper's effect, and away from it: a replication that failed
    contradicted    the other direction
    answered        the paper asks, and has no finding: the direction, either one, or that there is no effect that counts
    undecided       too wide to say; with how many more seeds it would be told
    left open       the paper's own interval has 1 in it, or it calls what it measured noise: nothing that could be found again
    not measured    runs are missing

An aim of ours, of which the paper says nothing, has words of its own, and counts among no verdicts on the paper:

    aim reached         the whole interval is at least what was aimed at
    aim missed          the whole interval is below it
    aim undecided       it lies in the interval
    aim not measured    runs are missing
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal

from lab.report.numbers import CONFIDENCE, ROUNDING, Ratio, Sample, equality_p, identical_distance, ratio

Word = Literal[
    "reproduced",
    "direction only",
    "no worse",
    "no effect here",
    "contradicted",
    "answered",
    "undecided",
    "left open",
    "not measured",
    "aim reached",
    "aim missed",
    "aim undecided",
    "aim not measured",
]
WORDS: tuple[Word, ...] = (
    "reproduced", "direction only", "no worse", "no effect here", "contradicted", "answered", "undecided", "left open",
    "not measured",
)  # fmt: skip
AIMS: tuple[Word, ...] = ("aim reached", "aim missed", "aim undecided", "aim not measured")
UNDECIDED, NOT_MEASURED = ("undecided", "aim undecided"), ("not measured", "aim not measured")
OF_AIMS: dict[Word, Word] = {
    "no worse": "aim reached", "contradicted": "aim missed", "undecided": "aim undecided", "not measured": "aim not measured",
}  # fmt: skip
ALPHA = 1 - CONFIDENCE
SAME_AS_PAPER = "no difference that counts, as in the paper"
NEARLY = 1e-5  # runs that differ by no more than this part of them are one comparison


@dataclass(frozen=True)
class Claim:
    """That one kernel's mean is above the other's: what was measured of it, and what the paper has."""

    more: Sample | None
    than: Sample | None
    paper: Ratio | None = None  # more / than; below 1 where the paper's effect has that sign
    # What the paper says of the size in words; 1: nothing, its numbers alone; below 1: that it is no worse than by so much.
    at_least: float = 1.0
    largest: float = math.inf  # with at_least: where the size that the paper says ends
    resolution: float = 0.0  # the least difference that the instrument tells, as a sample's mean
    noise: str = ""  # where the paper says that what it measured is noise
    missing: str = ""
    untested: str = ""  # why what was run does not test it: it has a ratio, and decides nothing
    asked: bool = False  # the paper does not say that it is so, it asks
    goal: bool = False  # the paper says nothing of it: at_least is what is to be reached
    limit: bool = False  # more is a number that the other one is not to exceed
    one_image: bool = False  # the two kernels are one image, to the byte: no build lies between them
    name: str = ""  # what another claim with the same runs is told to be the same as

    @property
    def runs(self) -> tuple[tuple[float, ...], tuple[float, ...]] | None:
        """The numbers that decide; of claims with the same ones all but the first say nothing new."""
        if self.untested or not self.more or not self.than or not self.more.kept or not self.than.kept:
            return None
        return tuple(run.value for run in self.more.kept), tuple(run.value for run in self.than.kept)

    @property
    def bound(self) -> bool:
        """Nothing but how far the interval reaches decides: no effect is claimed that could be found again."""
        return self.at_least < 1 or self.goal or self.limit

    @property
    def expected(self) -> int:
        return -1 if self.paper and self.paper.value < 1 else 1

    @property
    def effect(self) -> float | None:
        """How far the paper's ratio is from 1; None: it gives no size."""
        if self.at_least > 1:
            return self.at_least - 1
        return abs(self.paper.value - 1) if self.paper else None

    @property
    def theirs(self) -> float:
        """The paper's ratio, or the least that it says; 1 where it gives no size."""
        return self.at_least if self.at_least > 1 or not self.paper else self.paper.value

    def counts(self, smallest: float) -> float:
        """The least distance from 1 that counts as an effect: @smallest, or what the instrument tells at all."""
        if not self.resolution or not self.than or not self.than.mean:
            return smallest
        return max(smallest, self.resolution / abs(self.than.mean))

    def size(self, smallest: float) -> tuple[float, float] | None:
        """The ratios that are the paper's size: what it says; its interval; a mean without one, as far as @smallest counts."""
        if self.at_least > 1:
            return self.at_least * (1 - ROUNDING), self.largest * (1 + ROUNDING)
        if not self.paper:
            return None
        if self.paper.low is None or self.paper.high is None:
            return self.paper.value / (1 + smallest), self.paper.value * (1 + smallest)
        return self.paper.low, self.paper.high


@dataclass(frozen=True)
class Verdict:
    word: Word
    reason: str
    ratio: Ratio | None = None
    seeds_wanted: int | None = None  # how many more it would take
    same_as: str = ""  # the name of an earlier claim of the table that has the same runs

    @property
    def exact(self) -> bool:
        return self.ratio is not None and self.ratio.exact

    @property
    def said(self) -> str:
        """The reason, and what else is to be said of it."""
        said = [self.reason]
        if self.seeds_wanted:
            said.append(f"about {self.seeds_wanted} more seeds would tell")
        if self.same_as:
            said.append(f"the same runs as {self.same_as}: counted once")
        return "; ".join(said)


def judge(claims: Sequence[Claim], smallest: float = 0.0, builds: float = 0.0) -> list[Verdict]:
    """A verdict for each of a table's claims. @smallest: the least distance from 1 that counts as an effect; @builds: how far
    from 1 the ratio of two layouts of one kernel was seen; it says nothing of kernels of one image."""
    same = [_earlier(claims[:at], claim) for at, claim in enumerate(claims)]
    decides = [same[at] is None and not claim.untested for at, claim in enumerate(claims)]
    chances = [equality_p(one.more, one.than) if counts else None for one, counts in zip(claims, decides, strict=True)]
    alphas = holm(chances)
    of_all = ALPHA / max(sum(p is not None for p in chances), 1)
    found: list[Verdict] = []
    for claim, earlier, alpha in zip(claims, same, alphas, strict=True):
        decided = alpha if earlier is None else alphas[earlier]
        apart = 0.0 if claim.one_image else builds
        one = _without_end(_judge(claim, decided, of_all, claim.counts(smallest), apart), claim, apart)
        if claim.goal:
            one = replace(one, word=OF_AIMS[one.word])
        elif claim.asked:
            one = _answer(one, claim)
        if earlier is not None and claims[earlier].goal == claim.goal:  # what an aim comes to, no finding says
            one = replace(one, same_as=claims[earlier].name or "another")
        found.append(one)
    return found


def _without_end(one: Verdict, claim: Claim, builds: float) -> Verdict:
    """No number of seeds is told where the paper's effect is no larger than what builds differ by."""
    if not one.seeds_wanted or claim.bound or claim.effect is None or builds < claim.effect:
        return one
    return replace(one, reason=f"{one.reason}; no number of seeds would: {_layouts(builds)}", seeds_wanted=None)


def _earlier(before: Sequence[Claim], claim: Claim) -> int | None:
    """The first of those @before whose runs are those of @claim, to within NEARLY."""
    runs = claim.runs
    for at, other in enumerate(before):
        if runs and other.runs and all(map(_nearly_equal, runs, other.runs)):
            return at
    return None


def _nearly_equal(some: Sequence[float], others: Sequence[float]) -> bool:
    return len(some) == len(others) and all(map(partial(math.isclose, rel_tol=NEARLY), some, others))


def holm(chances: Sequence[float | None]) -> list[tuple[float, bool]]:
    """Holm's step-down method: for each p the level that it is held against, and whether it and all smaller ones pass.

    None, where there is nothing to test, does not count among the comparisons."""
    order = sorted((p, at) for at, p in enumerate(chances) if p is not None)
    found: list[tuple[float, bool]] = [(ALPHA, False)] * len(chances)
    passes = True
    for rank, (p, at) in enumerate(order):
        level = ALPHA / (len(order) - rank)
        passes = passes and p <= level
        found[at] = (level, passes)
    return found


def _judge(claim: Claim, level: tuple[float, bool], of_all: float, smallest: float, builds: float) -> Verdict:
    if claim.more is None or claim.than is None:
        return Verdict("not measured", claim.missing or "there are no runs")
    if claim.untested:
        return Verdict("not measured", claim.untested, ratio(claim.more, claim.than))
    ours, passes = ratio(claim.more, claim.than), level[1]
    open_because = "" if claim.goal else _left_open(claim)
    if open_because:
        return Verdict("left open", open_because, ours)
    if ours is None:
        return _without_ratio(claim, passes, of_all)
    if not ours.exact and ours.low is None:
        return Verdict("undecided", f"there is no interval: {ours.why}", ours)
    if claim.bound:
        return _no_worse(claim, ours, builds)
    tick = claim.counts(0)
    if tick and abs(ours.value - 1) <= tick * (1 + ROUNDING) and (claim.effect or 0) <= 2 * tick:
        return Verdict("undecided", f"less than the clock tells, whose tick is {tick:.1%} of the reference", ours)
    if smallest < abs(ours.value - 1) <= builds and (ours.exact or passes):
        return Verdict("undecided", f"the same from seed to seed, but {_layouts(builds)}", ours)
    if ours.exact:
        return _exact(claim, ours, smallest, builds)
    noise = max(identical_distance(claim.than, 1 - of_all), builds)
    if passes and abs(ours.value - 1) > max(noise, smallest):
        return replace(_directed(claim, _built_anew(ours, builds), smallest), ratio=ours)
    return _nothing(claim, ours, noise, smallest, passes)


def _left_open(claim: Claim) -> str:
    """Why the paper found nothing that could be found again; "": it did."""
    return "the paper's own interval has 1 in it" if claim.paper and claim.paper.side == 0 else claim.noise


def _without_ratio(claim: Claim, passes: bool, of_all: float) -> Verdict:
    """Of numbers whose signs differ, or where the other one has 0: then how often tells the direction, and nothing the size."""
    assert claim.more is not None and claim.than is not None
    never = claim.than.mean == 0 and not any(run.value for run in claim.than.kept)
    least = min((run.value for run in claim.more.kept), default=claim.more.mean)
    several = min(claim.more.n or 0, claim.than.n or 0)
    if several < 2:
        return Verdict("undecided", "there is no ratio, and there are not two runs of each")
    if claim.bound and never and least >= 0:
        return Verdict("no worse", "the other one has 0 in every run")
    # Two identical kernels, each of whose runs is above 0 or is not, have all of one's above and none of the other's once in 4^n
    # times or less often.
    apart = never and least > 0 and (claim.more.s == 0 or 4.0**-several <= of_all)
    if claim.than.mean == 0 and claim.more.mean > 0 and not claim.bound:
        if not (passes or apart):
            return Verdict("undecided", "the other one has 0, so there is no ratio; that this has more may be chance")
        if claim.expected > 0:
            return Verdict("direction only", "the other one has 0, so there is no ratio")
        return Verdict("contradicted", "the other direction: the other one has 0, so there is no ratio")
    return Verdict("undecided", "there is no ratio: one is negative, or both have 0, or one has it in some runs")


def _layouts(builds: float) -> str:
    return f"layouts of one kernel differed by up to {builds:.1%}"


def _other_seeds(noise: float) -> str:
    return f"two identical kernels with other seeds may differ by {noise:.1%}"


def _built_anew(ours: Ratio, builds: float) -> Ratio:
    """The interval, as wide as another build of the two kernels may have it."""
    assert ours.low is not None and ours.high is not None
    return replace(ours, low=ours.low * (1 - builds), high=ours.high * (1 + builds))


def _answer(one: Verdict, claim: Claim) -> Verdict:
    """The same of what the paper asks: nothing can be found again where nothing was found."""
    size = f"; {claim.at_least:g} would count" if claim.at_least > 1 else ""
    answers = {
        "reproduced": f"yes{size}", "direction only": f"yes{size}: {one.reason}" if size else "yes",
        "contradicted": "no, the other way round", "no effect here": "no: no effect that counts",
    }  # fmt: skip
    if one.word in answers:
        return replace(one, word="answered", reason=answers[one.word])
    return replace(one, reason=one.reason.replace("the paper's effect", "an effect that counts"))


def _no_worse(claim: Claim, ours: Ratio, builds: float) -> Verdict:
    """That nothing is lost, or no more than so much, or that an aim is reached: the interval alone decides, as wide as another
    build may have it."""
    assert ours.low is not None and ours.high is not None
    wide, wanted = _built_anew(ours, builds), claim.at_least
    assert wide.low is not None and wide.high is not None
    if wide.low >= wanted:
        return Verdict("no worse", f"the whole interval is at least {wanted:g}", ours)
    if wide.high < wanted:
        return Verdict("contradicted", f"the whole interval is below {wanted:g}", ours)
    if ours.low >= wanted or ours.high < wanted:
        side = "at least" if ours.low >= wanted else "below"
        return Verdict("undecided", f"the whole interval is {side} {wanted:g}, but {_layouts(builds)}", ours)
    far = ours.value - wanted / (1 - builds)
    seeds = more_seeds(claim, (ours.value - ours.low) / far) if far > 0 else None
    return Verdict("undecided", f"{wanted:g} lies in the interval", ours, seeds)


def _exact(claim: Claim, ours: Ratio, smallest: float, builds: float) -> Verdict:
    """Numbers that do not vary with the seed."""
    if claim.effect == 0:
        return _exact_beside_none(ours, smallest, builds)
    if abs(ours.value - 1) <= smallest:
        if ours.value != 1 and (claim.effect is None or claim.effect <= smallest * (1 + ROUNDING)):
            return Verdict("undecided", "exact, but below what counts, and the paper's effect need not be larger", ours)
        differ = "differ by less than what counts" if ours.value != 1 else "do not differ"
        return Verdict("no effect here", f"exact: the two {differ}, whatever the seed", ours)
    if (ours.value > 1) != (claim.expected > 0):
        return Verdict("contradicted", "exact: the other direction, whatever the seed", ours)
    size = claim.size(smallest)
    if size is None:
        return Verdict("direction only", "exact; the paper gives no size", ours)
    if builds:
        return replace(_directed(claim, _built_anew(ours, builds), smallest), ratio=ours)
    if size[0] <= ours.value <= size[1]:
        return Verdict("reproduced", "exact, and within the paper's size", ours)
    return Verdict("direction only", f"exact; {_beside(ours, claim)}", ours)


def _exact_beside_none(ours: Ratio, smallest: float, builds: float) -> Verdict:
    """Numbers that do not vary with the seed, where the paper finds no difference."""
    found = abs(ours.value - 1)
    if found + builds * ours.value <= smallest:
        return Verdict("no worse", f"exact: {SAME_AS_PAPER}", ours)
    if found - builds * ours.value > smallest:
        return Verdict("contradicted", "exact: a difference whatever the seed, where the paper finds none", ours)
    return Verdict("undecided", f"exact, but {_layouts(builds)}; the paper finds no difference", ours)


def _directed(claim: Claim, ours: Ratio, smallest: float) -> Verdict:
    """Our effect is beyond chance and beyond the noise."""
    assert ours.low is not None and ours.high is not None
    size, effect = claim.size(smallest), claim.effect
    if effect == 0 and size is not None:
        if ours.high < size[0] or ours.low > size[1]:
            return Verdict("contradicted", "beyond chance, where the paper finds no difference", ours)
        if size[0] <= ours.low and ours.high <= size[1]:
            return Verdict("no worse", SAME_AS_PAPER, ours)
        return Verdict(
            "undecided", "beyond chance, but perhaps too small to count; the paper finds no difference", ours
        )
    if (ours.value > 1) != (claim.expected > 0):
        return Verdict("contradicted", "beyond chance, and in the other direction", ours)
    if size is None or effect is None:
        return Verdict("direction only", "the paper gives no size", ours)
    if ours.high < size[0] or ours.low > size[1]:
        return Verdict("direction only", _beside(ours, claim), ours)
    if claim.at_least > 1:
        return _as_said(claim, ours, size)
    half = (ours.high - ours.low) / 2
    if half > effect:
        wanted = more_seeds(claim, half / effect)
        return Verdict("direction only", "too wide to say of the size", ours, wanted)
    return Verdict("reproduced", "direction and size", ours)


def _as_said(claim: Claim, ours: Ratio, size: tuple[float, float]) -> Verdict:
    """The paper says the size in words, @size, which our interval at least meets."""
    assert ours.low is not None and ours.high is not None
    least, largest = size
    if least <= ours.low and ours.high <= largest:
        limit = "" if math.isinf(largest) else f" and at most {largest:g}"
        return Verdict("reproduced", f"the whole interval is at least {least:g}{limit}", ours)
    border, half = (least, ours.value - ours.low) if ours.low < least else (largest, ours.high - ours.value)
    wanted = more_seeds(claim, half / max(abs(ours.value - border), 1e-12))
    return Verdict("direction only", f"{border:g} lies in the interval: of the size nothing is said", ours, wanted)


def _nothing(claim: Claim, ours: Ratio, noise: float, smallest: float, passes: bool) -> Verdict:
    """No effect that is beyond chance (which it @passes) and noise: was there none, or could it not be seen?"""
    assert ours.low is not None and ours.high is not None
    size, effect, found = claim.size(smallest), claim.effect, abs(ours.value - 1)
    if effect == 0 and size and size[0] <= ours.low and ours.high <= size[1]:
        return Verdict("no worse", SAME_AS_PAPER, ours)
    if passes and smallest < found <= noise and (effect is None or noise >= effect):
        said = f"the same from seed to seed, but {_other_seeds(noise)}"
        return Verdict("undecided", said, ours, more_seeds(claim, noise / found))
    if effect is None:
        told = f"told from no effect, but below what counts ({smallest:.2g})" if passes else "not told from no effect"
        return Verdict("undecided", f"{told}; the paper gives no size that could be ruled out", ours)
    width = max(ours.high - ours.low, noise, smallest)
    if width < effect and ours.low <= 1 <= ours.high:
        return Verdict("no effect here", "not told from no effect, and narrower than the paper's", ours)
    if width < effect and found <= smallest:
        said = f"told from no effect, but below what counts ({smallest:.2g}); narrower than the paper's"
        return Verdict("no effect here", said, ours)
    if width < effect and passes:
        said = f"the same from seed to seed, but {_other_seeds(noise)}"
        if abs(ours.value - claim.theirs) > noise:
            return Verdict("no effect here", f"{said}, and the paper's effect is farther away than that", ours)
        return Verdict(
            "undecided", f"{said}; the paper's effect is no farther away", ours, more_seeds(claim, noise / found)
        )
    if width < effect:
        said = "told from no effect by itself, but not among so many comparisons and beyond what other seeds do"
        return Verdict("undecided", said, ours, more_seeds(claim, noise / found))
    wanted = more_seeds(claim, width / effect) if effect else None
    return Verdict("undecided", "too wide to tell the paper's effect from none", ours, wanted)


def more_seeds(claim: Claim, times: float) -> int | None:
    """How many more seeds would make an interval narrower by the factor @times: its width goes with 1/sqrt(n)."""
    if not claim.more or not claim.more.n or not math.isfinite(times):
        return None
    return max(math.ceil(claim.more.n * times**2) - claim.more.n, 1)


def _beside(ours: Ratio, claim: Claim) -> str:
    effect = claim.effect
    if not effect:
        return "the size is another one"
    if not math.isinf(claim.largest):
        return f"not within the paper's {claim.at_least:g} to {claim.largest:g}"
    return f"{abs(ours.value - 1) / effect:.2g} times the paper's effect"
