"""Verdicts on a whole table: many comparisons, the same runs twice, and tables of kernels that are identical."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lab.build.setup import need_lab
from lab.report.collect import Section
from lab.report.numbers import Ratio, Sample, equality_p, ratio
from lab.report.reproduce import group
from lab.report.verdicts import ALPHA, Claim, holm, judge
from lab.sweep.experiment import load
from tests.lab.report.verdicts.verdict_samples import PAPER, SEEDS, of, spread

need_lab()


def test_holm():
    """The example of every text: the smallest against alpha/4, the next against alpha/3; the first that fails ends it."""
    assert [passes for _, passes in holm([0.01, 0.04, 0.03, 0.005])] == [True, False, False, True]
    assert [level for level, _ in holm([0.01, 0.04, 0.03, 0.005])] == pytest.approx(
        [ALPHA / 3, ALPHA, ALPHA / 2, ALPHA / 4]
    )
    assert holm([None, 0.04])[1] == (ALPHA, True)


def test_many_comparisons_ask_for_more():
    """What passes alone does not among twenty that show nothing."""
    lone = Claim(spread(1004.2, 2.4, first=100), spread(1000, 2.4), Ratio(1.004, 1.001, 1.007))
    others = [Claim(spread(1000.1 + i / 100, 2.4, first=100), spread(1000, 2.4), PAPER) for i in range(20)]
    p = equality_p(lone.more, lone.than)
    assert p is not None and ALPHA / 21 < p < ALPHA
    assert judge([lone])[0].word in ("reproduced", "direction only")
    assert judge([lone, *others])[0].word == "undecided"


def test_a_finding_told_better_is_not_held_to_more():
    """Two of the same size beside the same reference, the one with the smaller p by less variance of its own."""
    reference = spread(1000, 8, 6)
    pair = [Claim(spread(1011.2, s, 6, first=100), reference, PAPER, name=str(s)) for s in (6.0, 7.0)]
    chances = [equality_p(one.more, one.than) for one in pair]
    assert chances[0] < chances[1] < ALPHA
    found = judge(pair)
    assert found[0].word == found[1].word, [(one.word, one.reason) for one in found]


def test_the_same_run_counts_once():
    """Digit for digit the same runs are one comparison, and the second says so."""
    claims = [Claim(spread(1020, 0.5, first=100), spread(1000, 0.5), PAPER) for _ in range(3)]
    claims = [replace(one, name=f"row {at}") for at, one in enumerate(claims)]
    assert [one.same_as for one in judge(claims)] == ["", "row 0", "row 0"]
    nearly = replace(claims[1], more=spread(1020 * (1 + 3e-6), 0.5, first=100))
    assert [one.same_as for one in judge([claims[0], nearly])] == ["", "row 0"]
    other = replace(claims[1], more=spread(1020 * (1 + 3e-5), 0.5, first=100))
    assert [one.same_as for one in judge([claims[0], other])] == ["", ""]
    lone = Claim(spread(1003.9, 2.4, first=100), spread(1000, 2.4), Ratio(1.004, 1.001, 1.007))
    p = equality_p(lone.more, lone.than)
    assert p is not None and ALPHA / 3 < p < ALPHA
    assert judge([lone, lone, lone])[0].word == judge([lone])[0].word


def papers_pairs() -> list[Ratio]:
    """Of Lever's first table: every kernel against the reference, where the paper's own interval excludes 1."""
    experiment = load("lever-table1")
    found = []
    for place in experiment.places():
        rows = {kernel.name: kernel.paper_row(place) for kernel in experiment.kernel}
        samples = {
            name: Sample(float(row["throughput"]), float(row["s"]), 5) for name, row in rows.items() if "throughput" in row and "s" in row
        }  # fmt: skip
        for name, measured in samples.items():
            quotient = ratio(measured, samples[experiment.reference])
            if name != experiment.reference and quotient and quotient.side:
                found.append(quotient)
    return found


def of_one_table(section: Section) -> list[list[Claim]]:
    """The paper's side of what is judged together: the rows of each measure, and the findings of each. Not what the paper asks."""
    found = [
        [Claim(None, None, row.paper_ratio) for row in table.rows if row.paper_ratio and not row.is_reference]
        for table in section.tables
    ]
    for measure in section.experiment.measure:
        told = [one for one in section.judgements if one.expect.measure == measure.name and not one.expect.question]
        found.append([Claim(None, None, one.paper_ratio, one.expect.at_least) for one in told])
    return [claims for claims in found if claims]


PAPERS = {
    name: tables
    for name in group("all")
    if name.startswith(("lever-", "santos-")) and (tables := of_one_table(Section(load(name), "full", {})))
}


def test_there_are_pairs_of_the_papers():
    assert len(papers_pairs()) >= 10
    assert {f"lever-table{number}" for number in range(1, 7)} | {"santos-sdet", "santos-buckets"} <= set(PAPERS)


@pytest.mark.parametrize("pairs", ["same seeds", "other seeds"])
@pytest.mark.parametrize("name", PAPERS)
def test_identical_kernels_reproduce_nothing(name, pairs):
    """Tables of kernels that do not differ, against the pairs of each of the papers' tables: 1,000 against table 1's, 100 against the
    others'. No more have a word of something found than is stated; that nothing is lost is all that they can have."""
    tables = PAPERS[name]
    times = 1000 if name == "lever-table1" else 100
    draw = np.random.default_rng(1)
    wrong = [0] * len(tables)
    for _ in range(times):
        seed_effect = draw.normal(0, 8, SEEDS)
        reference = of(4000 + seed_effect + draw.normal(0, 4, SEEDS))
        for at, papers in enumerate(tables):
            claims = []
            for paper in papers:
                effect = seed_effect if pairs == "same seeds" else draw.normal(0, 8, SEEDS)
                kernel = of(4000 + effect + draw.normal(0, 4, SEEDS), first=1 if pairs == "same seeds" else 100)
                claims.append(replace(paper, more=kernel, than=reference))
            wrong[at] += any(one.word in ("reproduced", "direction only", "contradicted") for one in judge(claims))
    allowed = ALPHA if times == 1000 else 2 * ALPHA  # a hundred tables have more than twice the mean once in a hundred
    assert max(wrong) <= times * allowed


def test_the_papers_own_effects_are_found():
    """The verdict is no stone: kernels that have the paper's effects, measured well enough, are found again."""
    draw = np.random.default_rng(2)
    words = []
    for _ in range(50):
        reference = of(4000 + draw.normal(0, 2, SEEDS))
        claims = [
            Claim(of(4000 * paper.value + draw.normal(0, 2, SEEDS), 100), reference, paper) for paper in papers_pairs()
        ]
        words += [one.word for one in judge(claims)]
    assert words.count("reproduced") > 0.8 * len(words) and "contradicted" not in words
