"""Every hash function of hash/: its range, its reference where there is one, its spread where that is promised."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.hash import compiled, reference
from tests.hash.compiled import BITS, TABLE_CACHES, WORDS
from tests.hash.keys import KEYS, names

pytestmark = pytest.mark.check

FUNCTIONS = [(c, n, w) for c in TABLE_CACHES for n in compiled.headers(c) for w in WORDS]
NAMES = [(n, w) for n in compiled.headers("name") for w in WORDS]
U32, U64 = st.integers(0, (1 << 32) - 1), st.integers(0, (1 << 64) - 1)
PARTS = {
    "page": (U64, U64),
    "buffer": (U32, U64),
    "inode": (U64, U64),
    "dentry": (U64, U32),
    "swap": (U32, U64),
    "path": (U64, U64),
}
HYPOTHESIS = settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))


def edge_keys(cache):
    """Zeros, ones, all bits, single bits, and the caches' own keys."""
    rng = np.random.default_rng(1)
    wide = 64 if cache not in ("buffer", "swap") else 32
    second = 64 if cache != "dentry" else 32
    edges = [0, 1, 2, 31, 32, 63, 64, 4095, 4096, *(1 << i for i in range(0, 64, 5)), (1 << 64) - 1]
    pairs = [(a % (1 << wide), b % (1 << second)) for a in edges for b in edges]
    pairs += list(zip(*(part.tolist() for part in KEYS[cache](rng, 200)), strict=True))
    return np.array([p[0] for p in pairs], np.uint64), np.array([p[1] for p in pairs], np.uint64)


# ---- the reference itself, against values published elsewhere ---------------------------------------------------


def test_reference_agrees_with_published_values():
    assert reference.fnv1(0, b"foobar", 64) == 0x31F0B262
    assert reference.crc32c((1 << 32) - 1, b"123456789") ^ 0xFFFFFFFF == 0xE3069283
    assert reference.crc32_high_first(0, b"123456789") == 0x89A1897F
    assert reference.crc32_high_first(0xFFFFFFFF, b"123456789") ^ 0xFFFFFFFF == 0xFC891918
    assert reference.fmix64(1) == 0xB456BCFC34C2CB2C
    assert next(reference.splitmix64(1234567)) == 6457827717110365317
    assert reference.prime_below(1 << 31) == 2147483647
    assert reference.prime_below(1 << 16) == 65521


def test_reference_siphash_is_that_of_python():
    if sys.hash_info.algorithm != "siphash13":
        pytest.skip("this Python has another hash")
    code = "for i in range(1, 40): print(hash(bytes(range(i))))"
    environment = {**os.environ, "PYTHONHASHSEED": "0"}
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    theirs = [int(line) % (1 << 64) for line in out.stdout.split()]
    assert theirs == [reference.siphash13(0, 0, bytes(range(i))) for i in range(1, 40)]


def test_linux_2_2_page_hash_by_hand():
    # inode 0x1000 / 8 = 512, page 3: x = 515, x >> 11 = 0; page 2048: x = 2560, x + (x >> 11) = 2561, modulo 2048
    assert reference.PAGE["linux-2.2"]((0x1000, 3 << 12), 11, 32) == 515
    assert reference.PAGE["linux-2.2"]((0x1000, 2048 << 12), 11, 32) == 513


# ---- functions of the four caches --------------------------------------------------------------------------------


@pytest.mark.parametrize(("cache", "name", "word"), FUNCTIONS)
def test_range_and_use(cache, name, word):
    """What any function must do, a student's too: stay inside the table, repeat itself, use more than one bucket."""
    function = compiled.function(cache, name, word)
    first, second = edge_keys(cache)
    for bits in (*BITS, 31):
        buckets = function.many(first, second, bits)
        assert (buckets.astype(np.uint64) < (1 << bits)).all(), (
            f"{cache}_hash of {name}.h leaves a table of {bits} bits"
        )
        assert (buckets == function.many(first, second, bits)).all()
    first, second = KEYS[cache](np.random.default_rng(2), 2000)
    assert len(np.unique(function.many(first, second, 14))) > 1


@pytest.mark.parametrize(("cache", "name", "word"), FUNCTIONS)
def test_golden_vectors(cache, name, word):
    formula = reference.REFERENCE[cache].get(name)
    if formula is None:
        pytest.skip(f"tests/hash/reference.py has no {cache} function '{name}': only its range is tested")
    function = compiled.function(cache, name, word)
    first, second = edge_keys(cache)
    keys = list(zip(first.tolist(), second.tolist(), strict=True))
    for bits in BITS:
        wanted = [formula(key, bits, word) for key in keys]
        found = function.many(first, second, bits).tolist()
        wrong = [(hex(k[0]), hex(k[1]), f, w) for k, f, w in zip(keys, found, wanted, strict=True) if f != w]
        assert not wrong, f"{bits} bits: key, found, wanted: {wrong[:3]}"


@pytest.mark.parametrize("cache", TABLE_CACHES)
@pytest.mark.parametrize("word", WORDS)
def test_random_keys(cache, word):
    @HYPOTHESIS
    @given(st.lists(st.tuples(*PARTS[cache]), min_size=1, max_size=8), st.sampled_from(BITS))
    def compare(keys, bits):
        first, second = ([k[i] for k in keys] for i in (0, 1))
        for name, formula in reference.REFERENCE[cache].items():
            found = compiled.function(cache, name, word).many(first, second, bits).tolist()
            assert found == [formula(key, bits, word) for key in keys], name

    compare()


def sizes_of(buckets, bits):
    return np.bincount(buckets, minlength=1 << bits).astype(float)


def z_of(buckets, bits):
    """Chi squared of the bucket sizes against uniform, in standard deviations."""
    m, n, b = 1 << bits, len(buckets), sizes_of(buckets, bits)
    chi2 = (b**2).sum() * m / n - n
    return (chi2 - (m - 1)) / (2 * (m - 1)) ** 0.5


def q_of(buckets, bits):
    """The Dragon book's Q: chain steps against those of uniform hashing."""
    m, n, b = 1 << bits, len(buckets), sizes_of(buckets, bits)
    return (b * (b + 1) / 2).sum() / (n / (2 * m) * (n + 2 * m - 1))


@pytest.mark.parametrize("cache", TABLE_CACHES)
@pytest.mark.parametrize("bits", (11, 14))
def test_defaults_spread_real_keys(cache, bits):
    name = compiled.load_choose().DEFAULTS[f"{cache.upper()}_HASH"]
    first, second = KEYS[cache](np.random.default_rng(3), 2 << bits)
    q = q_of(compiled.function(cache, name, 64).many(first, second, bits), bits)
    assert q < 1.1, f"{name}: {q:.2f} times the steps of uniform hashing"


@pytest.mark.parametrize("cache", TABLE_CACHES)
def test_strong_functions_look_uniform(cache):
    """A fixed key makes these deterministic; universal ones (multilinear) promise less than random ones."""
    first, second = KEYS[cache](np.random.default_rng(4), 1 << 14)
    keys = np.unique(np.stack([first, second]), axis=1)
    for name in ("murmur3", "siphash", "tabulation"):
        z = z_of(compiled.function(cache, name, 64).many(keys[0], keys[1], 13), 13)
        assert abs(z) < 6, f"{name}: z {z:.1f}"
    for name in ("wyhash", "multilinear"):
        assert q_of(compiled.function(cache, name, 64).many(keys[0], keys[1], 13), 13) < 1.1


def test_the_old_buffer_hash_is_as_bad_as_lever_found():
    """Metadata at equal distances: the reason for his table 3."""
    first, second = KEYS["buffer"](np.random.default_rng(5), 37256)
    old, new = (compiled.function("buffer", name, 32).many(first, second, 14) for name in ("linux-2.2", "mult"))
    assert q_of(old, 14) > 3 > 1.1 > q_of(new, 14)


def test_the_page_hash_of_2_2_puts_sixteen_slots_into_one_bucket():
    """Tweedie's reason for the unshifted offset, and what a function for the swap cache alone makes of it."""
    slots = np.arange(1 << 12, dtype=np.uint64)
    area = np.zeros(len(slots), np.uint64)
    shifted, plain = (
        compiled.function("swap", name, 32).many(area, slots, 14) for name in ("linux-2.2", "untransformed")
    )
    assert sizes_of(shifted, 14).max() == 16
    assert sizes_of(plain, 14).max() == 1


# ---- names ----------------------------------------------------------------------------------------------------------

LENGTHS = [b"", b"a", b"\xff", b"..", b"Makefile", bytes(range(1, 256)), b"x" * 255]
EDGE_NAMES = LENGTHS + [bytes((i * 37 + j) % 255 + 1 for j in range(i)) for i in range(1, 40)] + names(40)


@pytest.mark.parametrize(("name", "word"), NAMES)
def test_names_repeat_and_differ(name, word):
    function = compiled.function("name", name, word)
    some = names(2000)
    found = [function.name(0xFFFF888001234540, one) for one in some]
    assert found == [function.name(0xFFFF888001234540, one) for one in some]
    assert len(set(found)) > len(some) / 100, "nearly all names have one hash"


@pytest.mark.parametrize(("name", "word"), NAMES)
def test_name_vectors(name, word):
    formula = reference.NAME.get(name)
    if formula is None:
        pytest.skip(f"tests/hash/reference.py has no name function '{name}': only its use is tested")
    function = compiled.function("name", name, word)
    for salt in (0, 0xFFFF888001234540):
        for one in EDGE_NAMES:
            assert function.name(salt, one) == formula(salt, one, word), (hex(salt), one)


@pytest.mark.parametrize("word", WORDS)
def test_random_names(word):
    @HYPOTHESIS
    @given(U64, st.binary(max_size=64))
    def compare(salt, one):
        for name, formula in reference.NAME.items():
            assert compiled.function("name", name, word).name(salt, one) == formula(salt, one, word), name

    compare()


def test_default_names_collide_as_chance_has_it():
    name = compiled.load_choose().DEFAULTS["NAME_HASH"]
    some = names(20000)
    found = np.array([compiled.function("name", name, 64).name(0xFFFF888001234540, one) for one in some], np.uint32)
    assert len(some) - len(np.unique(found)) <= 3
    assert abs(z_of(found >> np.uint32(18), 14)) < 6
