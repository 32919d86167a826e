"""The reports: Lever's own histograms come out as he printed them, and the statistics as exact arithmetic has them."""

from __future__ import annotations

import ctypes
import json
from decimal import Decimal, localcontext

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from tests.hash import compiled

ROWS = 17

# Lever 1999, histograms 1 and 3: buckets of size 0, 1, ... 15; lookups; hit rate; iterations; what the head says.
HISTOGRAM_1 = """\
Buffer cache total lookups: 296481  (hit rate: 54%)
 hash table size is 16384 buckets
 hash table contains 37256 objects
 largest bucket contains 116 buffers
 find_buffer() iterations/lookup: 2155/1000
 hash table histogram:
  size  buckets  buffers  sum-pct
     0    12047        0        0
     1     1037     1037        2
     2      381      762        4
     3      295      885        7
     4      325     1300       10
     5      399     1995       16
     6      188     1128       19
     7      303     2121       24
     8      160     1280       28
     9      169     1521       32
    10      224     2240       38
    11       64      704       40
    12       49      588       41
    13       15      195       42
    14        3       42       42
    15        4       60       42
   >15      721    21398      100
"""
SIZES_3 = [2034, 3317, 4034, 3833, 2082, 712, 222, 78, 46, 19, 5, 2]


@pytest.fixture(scope="module")
def library():
    found = compiled.shared("report.c", "report", defines=["CONFIG_HASH_WORD=64", "CONFIG_HASH_STATS"])
    found.report.restype = ctypes.c_long
    found.power_scaled.restype = found.quotient_scaled.restype = ctypes.c_uint64
    return found


def report(library, sizes, counters=(0,) * 7, as_json=True, name="buffer", trees=False):
    given = np.array(sizes, np.uint64)
    count = (ctypes.c_uint64 * 7)(*counters)
    out = ctypes.create_string_buffer(65536)
    length = library.report(
        name.encode(), compiled.pointer(given), ctypes.c_uint64(len(given)), count,
        ctypes.c_bool(as_json), ctypes.c_bool(trees), out, ctypes.c_uint64(65536),
    )  # fmt: skip
    assert length > 0
    return json.loads(out.value) if as_json else out.value.decode()


def sizes_of_histogram_1():
    rows = [line.split() for line in HISTOGRAM_1.splitlines()[7:-1]]
    sizes = [int(size) for size, buckets, *_ in rows for _ in range(int(buckets))]
    rest = [116] + [29 + (i < 21398 - 116 - 29 * 720) for i in range(720)]
    return sizes + rest


def test_histogram_1_is_the_papers(library):
    lookups, hits, steps = 296481, 160100, 638917
    text = report(library, sizes_of_histogram_1(), (hits, lookups - hits, steps - 1000, 1000, 0, 0, 0), as_json=False)
    assert text.startswith(HISTOGRAM_1), text[: len(HISTOGRAM_1)]
    ours = text[len(HISTOGRAM_1) :]
    for part in ("hash function: mult, 64-bit words", "structure: chained", "sizing rule: 2.4, 131072 bytes"):
        assert part in ours
    for part in (
        "hit: 160100, iterations/hit: 3.984",
        "miss: 136381, iterations/miss: 0.007",
        "chi^2",
        "Dragon-book Q",
    ):
        assert part in ours, ours


def test_histogram_3_has_a_good_q_but_no_poisson(library):
    """Trap 1: Q is near 1, and the histogram still does not fit: 2034 empty buckets, 1686 expected."""
    sizes = [size for size, buckets in enumerate(SIZES_3) for _ in range(buckets)]
    found = report(library, sizes)
    assert found["objects"] == 37261
    assert found["buckets"] == 16384
    assert found["dragon_q"] == pytest.approx(1.0006, abs=0.0001)
    assert found["histogram"]["expected"][0] == pytest.approx(1686, abs=1)
    assert abs(found["bucket_fit"]["z"]) < 1
    assert found["histogram_fit"]["z"] > 50


def test_dentries_in_the_plural(library):
    text = report(library, [0, 1, 2], name="dentry", as_json=False)
    assert " largest bucket contains 2 dentries\n" in text
    assert "  size  buckets dentries  sum-pct\n" in text
    assert "     2        1        2      100\n" in text


def test_an_empty_table(library):
    found = report(library, [0] * 64)
    assert (found["objects"], found["empty"], found["largest"], found["lookups"]) == (0, 64, 0, 0)
    assert found["bucket_fit"]["degrees_of_freedom"] == found["histogram_fit"]["degrees_of_freedom"] == 0
    assert "  (hit rate: 0%)" in report(library, [0] * 64, as_json=False)


def test_trees_have_no_buckets(library):
    found = report(library, [3, 40], trees=True)
    assert (found["trees"], found["objects"], found["function"]) == (2, 43, "none")
    assert "buckets" not in found
    assert "bucket_fit" not in found
    text = report(library, [3, 40], trees=True, as_json=False)
    assert " hash table size is 2 trees\n largest tree contains 40 buffers" in text.replace(
        " hash table contains 43 objects\n", ""
    )


def exact(m, n):
    """The binomial histogram, and the largest bucket that is expected (two, if it is a tie), in 60 digits."""
    with localcontext() as context:
        context.prec = 60
        expected, rows, at_least, largest = Decimal(m) * ((Decimal(m) - 1) / m) ** n, [], Decimal(m), set()
        for k in range(n + 1):
            if at_least >= 1 - Decimal("1e-8"):
                largest = {*largest, k} if at_least < 1 + Decimal("1e-8") else {k}  # 2^-32 is all that C has
            elif k >= ROWS:
                break
            rows.append(expected)
            at_least -= expected
            expected = expected * (n - k) / ((k + 1) * Decimal(m - 1))
        head = (rows + [Decimal(0)] * ROWS)[: ROWS - 1]
        return [*map(float, head), float(m - sum(head))], largest


def pooled_chi2(found, expected):
    """Neighbours are taken together until 5 are expected, and 5 of what follows."""
    bins, f, e, left = [], 0.0, 0.0, sum(expected)
    for row in range(ROWS):
        f, e, left = f + found[row], e + expected[row], left - expected[row]
        if row == ROWS - 1 or (e >= 5 and left >= 5):
            bins.append((f, e))
            f = e = 0.0
    return sum((f - e) ** 2 / e for f, e in bins), max(0, len(bins) - 2)


@settings(max_examples=150, deadline=None)
@given(st.integers(1, 17), st.floats(0.001, 60), st.integers(0, 1 << 32))
def test_statistics_are_exact(library, bits, load, seed):
    m = 1 << bits
    n = max(1, int(m * load)) if m * load < 2_000_000 else 2_000_000
    sizes = np.random.default_rng(seed).multinomial(n, np.full(m, 1 / m))
    counters = [int(x) for x in np.random.default_rng(seed).integers(0, 1 << 40, 7)]
    found = report(library, sizes, counters)
    expected, largest = exact(m, n)
    assert found["histogram"]["expected"] == pytest.approx(expected, abs=0.0011 + 1e-9 * m)
    assert found["expected_largest"] in largest
    squares = float((sizes.astype(float) ** 2).sum())
    chi2 = m * squares / n - n
    assert found["bucket_fit"]["chi2"] == pytest.approx(chi2, abs=0.002, rel=1e-9)
    assert found["bucket_fit"]["degrees_of_freedom"] == m - 1
    assert found["bucket_fit"]["z"] == pytest.approx((chi2 - (m - 1)) / (2 * (m - 1)) ** 0.5, abs=0.003, rel=2e-4)
    q = float((sizes.astype(float) * (sizes + 1.0) / 2).sum()) / (n / (2 * m) * (n + 2 * m - 1))
    assert found["dragon_q"] == pytest.approx(q, abs=0.0001)
    assert q == pytest.approx((chi2 + n + m) / (n + 2 * m - 1))  # the same statistic
    rows = np.bincount(np.minimum(sizes, ROWS - 1), minlength=ROWS)
    assert found["histogram"]["buckets"] == rows.tolist()
    assert sum(found["histogram"]["objects"]) == found["objects"] == n
    fit, freedom = pooled_chi2(rows, found["histogram"]["expected"])
    assert found["histogram_fit"]["degrees_of_freedom"] == freedom
    if freedom:
        assert found["histogram_fit"]["chi2"] == pytest.approx(fit, rel=0.002, abs=0.01)
    names = ("hits", "misses", "hit_steps", "miss_steps", "compares", "inserts", "removes")
    assert [found[name] for name in names] == counters
    assert found["expected_steps_per_hit"] == pytest.approx(1 + (n - 1) / (2 * m), abs=0.0011)
    assert found["expected_steps_per_miss"] == pytest.approx(n / m, abs=0.0011)


def test_expected_histogram_is_scipys(library):
    found = report(library, np.bincount(np.arange(5000) % 1777, minlength=2048))
    wanted = 2048 * stats.binom.pmf(range(16), 5000, 1 / 2048)
    assert found["histogram"]["expected"][:16] == pytest.approx(wanted.tolist(), abs=0.001)


def test_one_bucket_holds_all(library):
    found = report(library, [3000] + [0] * 1023)
    assert found["largest"] == 3000
    assert found["bucket_fit"]["chi2"] == pytest.approx(1023 * 3000, rel=1e-9)
    assert found["histogram_fit"]["z"] > 1000


@settings(max_examples=300, deadline=None)
@given(st.integers(1, (1 << 64) - 1), st.integers(1, (1 << 64) - 1), st.integers(1, 1 << 20))
def test_real_quotients(library, a, b, scale):
    found = library.quotient_scaled(*map(ctypes.c_uint64, (a, b, scale)))
    exactly = min(a * scale / b, (1 << 64) - 1)
    assert abs(found - exactly) <= 0.51 + exactly * 1e-15 * 4


@settings(max_examples=100, deadline=None)
@given(st.integers(2, 1 << 31), st.integers(0, 1 << 31))
def test_real_powers(library, m, n):
    scale = 10**15
    found = library.power_scaled(*map(ctypes.c_uint64, (m - 1, m, n, scale)))
    with localcontext() as context:
        context.prec = 50
        assert abs(found - (Decimal(m - 1) / m) ** n * scale) <= 1 + Decimal(scale) / 2**28


@pytest.mark.parametrize("capacity", [4096, 8192])
def test_a_piece_may_end_where_the_room_does(library, capacity):
    """Or a few bytes before or behind it; formatting wants a byte more than the piece has."""
    library.append.restype = ctypes.c_uint64
    out = ctypes.create_string_buffer(2 * capacity)
    for length in (1, 99, 100, 101, 102, 200, 4000):
        piece = bytes(ord("a") + i % 26 for i in range(length))
        for before in range(capacity - length - 2, capacity - length + 3):
            assert library.append(ctypes.c_uint64(before), piece, out) == before + length
            assert out.raw[: before + length] == b"-" * before + piece, (before, length)


def test_text_without_memory_says_so(library):
    library.fail_allocations(ctypes.c_bool(True))
    given, out = np.zeros(4, np.uint64), ctypes.create_string_buffer(16)
    length = library.report(
        b"buffer",
        compiled.pointer(given),
        ctypes.c_uint64(4),
        (ctypes.c_uint64 * 7)(),
        True,
        False,
        out,
        ctypes.c_uint64(16),
    )
    library.fail_allocations(ctypes.c_bool(False))
    assert length == -12
