"""What the grader computes is what the kernel computes; its floods are what they are called."""

from __future__ import annotations

import numpy as np
import pytest

from lab.course.draw import Draw
from lab.grade.flood import broken, sets
from lab.grade.flood.asked import is_real, real_blocks, real_names
from lab.grade.flood.broken import Broken
from tests.hash import reference

NAMES = [b"a", b"Makefile", b"0123456789abcdef", b"x" * 255, bytes(range(0x30, 0x7F))]


def test_the_functions_are_the_kernels():
    for name in NAMES:
        assert broken.rotated(name) == reference.NAME["linux-2.2"](0, name, 64)
        for multiplier, called in ((33, "package-33"), (65599, "package-65599")):
            assert broken.multiplied(multiplier, name) == reference.NAME[called](0, name, 64)
    parents, hashes = [0xFFFF888000123480, 0xFFFF8881FFFFFFC0], [0xFFFFFFFF, 12345]
    for bits in (8, 12, 16):
        wanted = [
            reference.DENTRY["linux-2.4"]((parent, one), bits, 64) for parent, one in zip(parents, hashes, strict=True)
        ]
        assert broken.dentry_buckets(parents, hashes, bits).tolist() == wanted
    for block in (1, 12345, (1 << 48) - 1):
        assert Broken("product", 2654435761, 11, 14).bucket(block) == reference.BUFFER["mult"]((0, block), 14, 64)
        assert Broken("top", 0x9E3779B97F4A7C15, 0, 24).bucket(block) == block * 0x9E3779B97F4A7C15 % (1 << 64) >> 40
        assert Broken("folded", 24, 48, 24).bucket(block) == (block ^ block >> 24) & 0xFFFFFF


def test_the_floods_meet_where_they_are_said_to():
    """And have names that a file can have, each once, of which the same are never drawn again."""
    there, again = dict(sets.floods(Draw(5))), dict(sets.floods(Draw(6)))
    for called, names in there.items():
        assert all(map(is_real, names)) and len(set(names)) == len(names) > 140, called
        assert names != again[called]
    assert len({broken.rotated(name) for name in there["names of one hash by Linux 2.2's"]}) == 1
    for multiplier in sets.MULTIPLIERS:
        assert (
            len({broken.multiplied(multiplier, name) for name in there[f"names of one hash by h = {multiplier} h + c"]})
            == 1
        )
    draw = Draw(7)
    for bits in sets.POWERS:
        multipliers = [(draw.word() | 1) % (1 << bits) for _ in range(3)]
        names = there[f"names of one hash by h = m h + c in {bits} bits for every odd m"]
        for multiplier in multipliers:
            assert len({_polynomial(multiplier, name) % (1 << bits) for name in names}) == 1


def _polynomial(multiplier: int, name: bytes) -> int:
    h = 0
    for c in name:
        h = (h * multiplier + c) % (1 << 64)
    return h


@pytest.mark.parametrize("name", [b"", b".", b"..", b"a/b", b"a\nb", b"\x7f", b"\xc3\xa4", b"x" * 256])
def test_names_that_can_not_be_real(name):
    assert not is_real(name)


def test_only_what_is_real_counts_and_only_once():
    blocks = np.array([5, 5, 7, 1 << 48, (1 << 64) - 1], "<u8").tobytes()
    assert real_blocks(blocks) == [5, 7]
    assert real_names(b"".join(name.ljust(256, b"\0") for name in (b"a", b"a", b"b/c", b"", b"d"))) == [b"a", b"d"]


def test_numbers_for_all_are_drawn_the_same_everywhere():
    """By no library's own generator, which another version may have otherwise."""
    assert sets.words(Draw(1), 3).tolist() == [Draw(Draw(1).word()).word(), *_next(2)]


def _next(count: int) -> list[int]:
    draw = Draw(Draw(1).word())
    draw.word()
    return [draw.word() for _ in range(count)]
