"""The grader's own model of a cache: chains that are walked, and what chance would make of the same lookups.

A table of chains, new objects in front, as hash/table/chained.h. How many objects a lookup visits depends on the hash
function only by which keys share a bucket: a find of key i visits key j exactly where j stands in the same
chain, before i (any j, if i is not there). So the walk is done once a stream: `Stream.visits[i, j]` counts how many
finds of i would meet j on their way if the two shared a bucket. Then for any buckets

    steps = hits + the sum of visits[i, j] over the pairs with one bucket,

exactly what walking the chains counts (tests/lab/grade holds it against a plain walk and against ./cw replay). With uniform
random buckets a pair shares one with probability 1/m, and whether two pairs do is independent: so the mean and the
variance of the steps are known exactly, too. All whole numbers: the same on every machine.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt
from typing import Any

import numpy as np
import numpy.typing as npt

FIND, INSERT, REMOVE = range(3)
Key = tuple[int, Any]  # two words; of a dentry the directory's address and the name
Operation = tuple[int, Key]
MOST_KEYS = 3000  # visits has the square of it

# How far above the mean of chance is still chance: so many standard deviations, and one unlucky pair. Recorded streams ask for a few
# keys all the time, and that two of these meet is no rare thing (tests/lab/grade/test_model.py draws functions at random).
SIGMAS = 6


@dataclass(frozen=True, eq=False)
class Stream:
    """A cache's operations, as far as they bear on steps."""

    name: str
    keys: tuple[Key, ...]
    hits: int
    misses: int
    visits: npt.NDArray[np.int64]  # [i, j]: finds of key i that meet key j, if they share a bucket
    evidence: tuple[Operation, ...]  # the operations themselves

    def steps(self, buckets: npt.NDArray[Any]) -> int:
        """Objects visited by all finds, key i being in bucket buckets[i]."""
        together = self.hits
        order = np.argsort(buckets, kind="stable")
        ordered = buckets[order]
        edges = np.flatnonzero(np.diff(ordered, prepend=ordered[0] + 1 if len(ordered) else 0))
        for begin, end in zip(edges, [*edges[1:], len(ordered)], strict=True):
            if end - begin > 1:
                chain = order[begin:end]
                together += int(self.visits[np.ix_(chain, chain)].sum())
        return together

    def mean(self, bits: int) -> Fraction:
        """Of the steps with uniform random buckets."""
        return self.hits + Fraction(int(self.visits.sum()), 1 << bits)

    def by_chance(self, bits: int) -> int:
        """Steps that uniform random buckets seldom exceed: SIGMAS standard deviations above the mean, and what the
        pair of keys costs that is dearest when it meets."""
        pairs = np.triu(self.visits + self.visits.T, 1)
        squares = sum(int(row @ row) for row in pairs)
        m = 1 << bits
        deviation = isqrt(squares * (m - 1) * 10_000) // m  # in hundredths
        return -(-(self.mean(bits) + Fraction(SIGMAS * deviation, 100)) // 1) + int(pairs.max(initial=0))


def stream_of(name: str, operations: Iterable[Operation]) -> Stream:
    """Walk @operations once, as if all keys were in one chain."""
    kept = tuple(operations)
    keys = tuple(dict.fromkeys(key for _, key in kept))
    if len(keys) > MOST_KEYS:
        raise ValueError(f"{name}: {len(keys)} keys are more than the model takes ({MOST_KEYS})")
    number = {key: i for i, key in enumerate(keys)}
    visits = np.zeros((len(keys), len(keys)), np.int64)
    since = np.zeros(len(keys), np.int64)  # when it was inserted, from 1; 0: it is not there
    hits = misses = inserts = 0
    for operation, key in kept:
        i = number[key]
        if operation == FIND:
            visits[i] += since > since[i]  # in front of it, or all that there are
            hits, misses = (hits + 1, misses) if since[i] else (hits, misses + 1)
        elif operation == INSERT:
            if since[i]:
                raise ValueError(f"{name}: {key} is inserted twice")
            inserts += 1
            since[i] = inserts
        else:
            since[i] = 0
    return Stream(name, keys, hits, misses, visits, kept)


def walk(operations: Iterable[Operation], bucket_of: dict[Key, int]) -> int:
    """Steps by walking the chains themselves, one lookup after the other: slow, and what Stream.steps() must equal."""
    chains: dict[int, list[Key]] = {}
    steps = 0
    for operation, key in operations:
        chain = chains.setdefault(bucket_of[key], [])
        if operation == FIND:
            steps += chain.index(key) + 1 if key in chain else len(chain)
        elif operation == INSERT:
            chain.insert(0, key)
        else:
            chain.remove(key)
    return steps
