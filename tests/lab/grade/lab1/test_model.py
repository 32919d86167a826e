"""The grader's count of steps is that of chains walked one by one, and of the kernel's own statistics."""

from __future__ import annotations

import numpy as np
import pytest

from lab.course import labs
from lab.course.draw import Draw
from lab.grade.function import model, streams
from lab.grade.function.steps import marks, sizes
from lab.record import engine, stream

BITS = (6, 9, 12)
FUNCTIONS = ("linux-2.2", "mult", "steiner")


@pytest.mark.parametrize("name", ["find", "git"])
def test_as_the_kernels_statistics_have_it(name):
    """./cw replay counts with the kernel's own table and headers."""
    source = engine.Replayable(stream.read(streams.RECORDED / f"{name}.keys"), "buffer")
    ours = streams.recorded_stream(name, "buffer")
    for function in FUNCTIONS:
        for bits in BITS:
            choice = engine.Choice("buffer", function, "chained", 64, source.recorded.name_function)
            report = engine.replay(source, choice, bits).report
            buckets = np.array([_bucket(function, key, bits) for key in ours.keys])
            assert (ours.hits, ours.misses) == (report["hits"], report["misses"])
            assert ours.steps(buckets) == report["hit_steps"] + report["miss_steps"], (function, bits)


def _bucket(function: str, key: tuple[int, int], bits: int) -> int:
    device, block = key
    value = {"linux-2.2": device ^ block, "mult": block * 2654435761 % (1 << 64) >> 11, "steiner": (block << 7) - block + (block >> 10) + (block >> 18)}  # fmt: skip
    return value[function] & ((1 << bits) - 1)


@pytest.mark.parametrize("kind", streams.KINDS)
def test_as_chains_walked_one_by_one(kind):
    found = streams.made_stream(kind, 5)
    draw = Draw(9)
    for bits in (3, 8):
        bucket_of = {key: draw.below(1 << bits) for key in found.keys}
        assert found.steps(np.array(list(bucket_of.values()))) == model.walk(found.evidence, bucket_of)


def test_the_function_to_beat_is_the_kernels():
    keys = ((0x801, 12345), (0x810, 1 << 40), (7, 0))
    for bits in (4, 11, 18):
        assert streams.reference("linux-2.2", keys, bits).tolist() == [_bucket("linux-2.2", key, bits) for key in keys]


def test_chance_is_what_random_buckets_come_to_and_is_not_marked_down():
    """The mean that is computed is the mean of many, and none of them loses points: a right function may be one of them."""
    random = np.random.default_rng(3)
    for found in (streams.recorded_stream("compile", "buffer"), streams.made_stream("disks", 4)):
        for bits in (5, 8, 11, 17):
            mark = marks(found, bits, "linux-2.2")
            steps = [found.steps(random.integers(0, 1 << bits, len(found.keys))) for _ in range(120)]
            assert abs(np.mean(steps) - float(mark.mean)) < 0.05 * float(mark.mean)
            assert all(mark.share(one) == 1 for one in steps)
            assert mark.share(mark.none) == 0 and mark.full < mark.none


@pytest.mark.parametrize("seed", range(8))
def test_the_sizes_are_of_the_seed_and_every_one_comes(seed):
    """From 4 to 18 bits, odd ones too; most often such in which there are chains."""
    options = {part.kind: part.options for part in labs.find("1").parts}
    dealt = sizes(Draw(seed), options["made"])
    assert dealt == sizes(Draw(seed), options["made"]) != sizes(Draw(seed + 100), options["made"])
    assert [len(set(hand)) for hand in dealt] == [4] * 6
    every = [bits for hand in dealt for bits in hand]
    assert set(every) == set(range(4, 19)) and sum(7 <= bits <= 12 for bits in every) == 15
    known = sizes(Draw(seed), options["recorded"])
    assert [len(set(hand)) for hand in known] == [3] * 4 and {bits for hand in known for bits in hand} == set(range(6, 13))  # fmt: skip


def test_points_fall_with_steps():
    mark = marks(streams.made_stream("groups", 4), 10, "linux-2.2")
    shares = [mark.share(steps) for steps in range(mark.full, mark.none + 1, 50)]
    assert shares == sorted(shares, reverse=True) and shares[0] == 1 and mark.share(mark.none) == 0


def test_streams_are_of_their_seed_alone():
    for kind in streams.KINDS:
        one, again, other = (streams.made_stream(kind, seed) for seed in (1, 1, 2))
        assert one.evidence == again.evidence and one.keys != other.keys
        assert max(len(one.keys), len(other.keys)) <= model.MOST_KEYS


def test_numbers_are_drawn_as_the_kernel_draws_them():
    """SplitMix64 of 0: its published first numbers."""
    draw = Draw(0)
    assert [draw.word() for _ in range(3)] == [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F]
    assert sorted(Draw(1).shuffled(range(50))) == list(range(50))
