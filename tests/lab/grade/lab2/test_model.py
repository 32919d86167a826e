"""What lab 2 is judged by: formulas against the grader's other model and the kernel's report, simulated costs against a model as slow as its definition."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest

from lab.base.paths import TOP
from lab.course.draw import Draw
from lab.grade.function.model import FIND, INSERT, stream_of
from lab.grade.sizing import costs
from lab.grade.sizing.exact import BUCKETS, FILLING, HIT, MISS, Asked
from lab.grade.sizing.machines import KINDS, Case, Load, Machine
from lab.run.cachesim.specification import PRESETS, Level, Specification
from tests.lab.grade.lab2.conftest import LAB
from tests.lab.run.test_cachesim_model import SlowLevel, walk

HERE = [(0, i) for i in range(150)]
ELSEWHERE = [(1, i) for i in range(150)]


def test_predictions_are_what_streams_take():
    """Exactly the mean over all functions of the steps that walking the chains takes, in the model that lab 1 is judged by."""
    n, bits = len(HERE), 5
    full = [(INSERT, key) for key in HERE]
    for what, operations in (
        (HIT, full + [(FIND, key) for key in HERE]),
        (MISS, full + [(FIND, key) for key in ELSEWHERE]),
        (FILLING, [one for key in HERE for one in ((FIND, key), (INSERT, key))]),
    ):
        assert stream_of("", operations).mean(bits) * 1000 == n * Asked(what, n, bits).exact, what


def test_buckets_are_counted_by_all_that_can_be():
    """Three objects in two and four buckets, in each way there is."""
    for bits, objects in ((1, 3), (2, 3), (1, 6)):
        ways = list(product(range(1 << bits), repeat=objects))
        for size in range(objects + 2):
            found = Fraction(sum(sum(way.count(b) == size for b in range(1 << bits)) for way in ways), len(ways))
            assert abs(Asked(BUCKETS, objects, bits, size).exact - 1000 * found) < Fraction(1, 10**40)


def test_buckets_are_the_kernels_expected_histogram():
    """That of docs/labs/2-sizes.md, which the text's own test has printed by ./cw replay."""
    rows = [line.split() for line in (TOP / LAB.text).read_text().splitlines() if line.startswith("     ")]
    assert len(rows) == 4
    for size, _, expected in rows:
        assert round(Asked(BUCKETS, 1466, 10, int(size)).exact) == int(expected.replace(".", ""))


@pytest.mark.parametrize("other", ["poisson", "one more object", "a bucket more"])
def test_what_is_near_is_not_right(other):
    """In small tables the tolerance has no room for another formula, and always for whole numbers."""
    asked = [Asked(HIT, 40, 5), Asked(MISS, 40, 5), Asked(FILLING, 40, 5), Asked(BUCKETS, 40, 4, 2)]
    for one in asked:
        assert one.good(int(one.exact)) and one.good(round(one.exact)) and one.good(int(one.exact) + 1)
    if other == "one more object":
        assert not any(one.good(int(Asked(one.what, 41, one.bits).exact)) for one in asked[:3])
    elif other == "poisson":
        assert not asked[-1].good(int(16000 * 2.5**2 / 2 * 0.0820849986))
    else:
        assert not asked[-1].good(int(asked[-1].exact) + 1000)


def slowly(case: Case, seed: int, before: int, counted: int) -> list[int]:
    """The cycles of the same lookups as simulate.c's, with caches as lists."""
    load, found = case.load, []
    for bits in load.sizes:
        drawn, draw = Draw(~seed), Draw(seed)
        hashes = [drawn.word() for _ in range(load.objects)]
        chains: dict[int, list[int]] = {}
        for i, one in enumerate(hashes):
            chains.setdefault(one >> 64 - bits, []).insert(0, i)
        caches, behind, sum_ = [SlowLevel(level) for level in case.machine.levels], load.bucket_bytes << bits, 0
        for at in (
            *range(0, behind, case.machine.line),
            *(behind + i * load.object_bytes for i in range(load.objects)),
        ):
            walk(caches, at)
        for number in range(before + counted):
            hit, one = draw.below(1000) < load.hits, draw.word()
            wanted = one * load.objects >> 64 if hit else None
            bucket = (one if wanted is None else hashes[wanted]) >> 64 - bits
            places = [bucket * load.bucket_bytes]
            for i in chains.get(bucket, []):
                places.append(behind + i * load.object_bytes)
                if i == wanted:
                    break
            taken = [case.machine.cost[walk(caches, at)] for at in places]
            sum_ += sum(taken) if number >= before else 0
        found.append(sum_)
    return found


@pytest.mark.parametrize("levels", [2, 3])
def test_costs_are_as_a_slow_model_has_them(monkeypatch, levels):
    """Hits, misses, an object of several lines, a bucket smaller than a line; caches that are too small, and one that is not."""
    machine = Machine(
        tuple(Level(size, ways, 32) for size, ways in ((256, 2), (1536, 12), (4096, 8)))[:levels],
        (1, 7, 30, 200)[: levels + 1],
    )
    case = Case("tight", Load(40, 450, 16, 96, 4, 7), machine)
    monkeypatch.setattr(costs, "_lookups", lambda load: (100, 400))
    found = costs.costs(case, 99)
    assert list(found.cycles.values()) == slowly(case, 99, 100, 400)
    assert found.lookups == 400 and found.cycles[found.best] == min(found.cycles.values())


def test_its_caches_are_those_of_the_option():
    """./cw run --cache-sim takes the same levels, and the same costs over those of the first."""
    for name in ("ppro", "xeon-p2", "xeon-mp", "current"):
        preset: Specification = PRESETS[name]
        machine = Machine(preset.levels, (1, *(int(cost) + 1 for cost in preset.cost)))
        load = Load(200, 300, 8, machine.line, 6, 9)
        assert costs.costs(Case("tight", load, machine), 5).cycles


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_drawn_is_a_question(kind):
    """No rule of thumb does; the best size is not the smallest; marks leave room for points between."""
    for seed in range(3):
        found = costs.drawn(seed, kind)
        load = found.case.load
        assert min(found.rules) >= costs.WORTH and found.share(load.nearest(1)) == 0
        assert found.share(found.best) == 1 and found.none > costs.FULL and load.least_bits < found.best
        assert load.objects >= 100 and load.bucket_bytes <= found.case.machine.line
        assert found.share(load.most_bits + 1) == found.share(3) == 0
