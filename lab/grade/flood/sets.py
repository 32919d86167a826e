"""Names that a keyed name hash has to keep apart: the grader's floods. None knows the key; each is what breaks some kind of function.

What is in them is drawn (letters, places, prefixes), so that nobody can have them by heart; of what kind they are everybody may know.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import combinations

import numpy as np

from lab.course.draw import Draw

MOST = 512  # names in a flood
LONGEST = 255
LETTERS = bytes(range(ord("a"), ord("z") + 1))
MULTIPLIERS = (17, 33, 37, 65599, 0x63C63CD9)  # of the name hashes of Solaris and of Seltzer and Yigit's package
BASE = 0x50  # a byte around which others can be

# (x^1 - 1)^e0 (x^2 - 1)^e1 (x^4 - 1)^e2 ...: for every odd x a multiple of 2^32, of 2^64; with small coefficients, as strings of letters need them.
# The simplest of the kind are the words of Thue and Morse.
POWERS = {32: (1, 1, 1, 1, 2, 1), 64: (1, 1, 3, 3, 3, 1, 1)}


def words(draw: Draw, count: int) -> np.ndarray:
    """@count numbers of 64 bits at once, the same ones by every version of every library: SplitMix64 (Steele 2014)."""
    z = np.uint64(draw.word()) + np.arange(1, count + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ z >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ z >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    return z ^ z >> np.uint64(31)


def bytes_of(draw: Draw, rows: int, columns: int, least: int, most: int) -> np.ndarray:
    """A table of bytes, each from @least to @most."""
    drawn = words(draw, rows * columns) >> np.uint64(32)
    return (least + (drawn * np.uint64(most - least + 1) >> np.uint64(32))).astype(np.uint8).reshape(rows, columns)


def _letters(draw: Draw, length: int) -> bytes:
    return bytes(draw.pick(LETTERS) for _ in range(length))


def _bits(number: int, count: int) -> list[int]:
    return [number >> i & 1 for i in range(count)]


def _of_pieces(prefix: bytes, pieces: list[tuple[bytes, bytes]]) -> list[bytes]:
    """A name for each choice of one of the two pieces in each place."""
    return [
        prefix + b"".join(pair[bit] for pair, bit in zip(pieces, _bits(i, len(pieces)), strict=True))
        for i in range(MOST)
    ]


def _nibbles(draw: Draw) -> list[bytes]:
    """One hash by Linux 2.2's: four bits of a byte, and the other four of the next one."""
    pieces = [(b"dA", bytes((ord("d") ^ d, ord("A") ^ d << 4))) for d in (draw.between(1, 3) for _ in range(9))]
    return _of_pieces(_letters(draw, draw.between(1, 20)), pieces)


def _repeated(draw: Draw, distance: int) -> list[bytes]:
    """What stands twice, at this distance, and is gone by an exclusive or."""
    found = []
    for i in range(MOST):
        half = bytearray(LETTERS[0:1] * distance)
        half[: min(distance, 4)] = bytes(LETTERS[i >> 3 * j & 7] for j in range(3)) + _letters(draw, 1)
        found.append(bytes(half + half))
    return found


def _permuted(draw: Draw, size: int) -> list[bytes]:
    """The same pieces of @size bytes in other orders."""
    pieces = [_letters(draw, size) for _ in range(10)]
    return [b"".join(draw.shuffled(pieces)) for _ in range(MOST)]


def _differing(draw: Draw, begin: int) -> list[bytes]:
    """255 bytes that differ in a few alone, from @begin on."""
    rest = _letters(draw, LONGEST)
    return [rest[:begin] + bytes(LETTERS[i // 26**j % 26] for j in range(4)) + rest[begin + 4 :] for i in range(MOST)]


@cache
def _one_hash(multiplier: int) -> tuple[bytes, bytes]:
    """Two pieces of one length and one hash by h = multiplier * h + c, in 32 bits: by birthdays."""
    letters = bytes_of(Draw(1991), 1 << 18, 7, ord("a"), ord("z"))
    hashes = np.zeros(len(letters), np.uint32)
    for column in letters.T:
        hashes = hashes * np.uint32(multiplier) + column
    order = np.argsort(hashes, kind="stable")
    for at in np.flatnonzero(hashes[order[1:]] == hashes[order[:-1]]).tolist():
        one, other = (letters[order[i]].tobytes() for i in (at, at + 1))
        if one != other:
            return one, other
    raise AssertionError(multiplier)


def _multiplied(draw: Draw, multiplier: int) -> list[bytes]:
    return _of_pieces(_letters(draw, draw.between(1, 20)), [_one_hash(multiplier)] * 9)


@cache
def _everywhere_zero(bits: int) -> np.ndarray:
    """The coefficients of POWERS[bits]."""
    found = np.ones(1, np.int64)
    for j, times in enumerate(POWERS[bits]):
        factor = np.zeros((1 << j) + 1, np.int64)
        factor[0], factor[-1] = -1, 1
        for _ in range(times):
            found = np.convolve(found, factor)
    return found


def _of_any_multiplier(draw: Draw, bits: int) -> list[bytes]:
    """One hash by h = m * h + c in so many bits, whatever the odd m: names whose difference is a polynomial that is 0 at all of them."""
    zero = _everywhere_zero(bits)
    room = LONGEST - len(zero) + 1
    shifts = draw.shuffled(range(room))
    found = [bytes([BASE]) * LONGEST]
    for places in (*((shift,) for shift in shifts), *combinations(shifts, 2)):
        for sign in (1, -1):
            text = np.full(LONGEST, BASE, np.int64)
            for shift in places:
                text[shift : shift + len(zero)] += sign * zero
            if text.min() > ord("/") and text.max() < 0x7F:
                found.append(bytes(text.tolist()))
        if len(found) >= MOST or (bits == 64 and len(places) > 1):
            break
    return found[:MOST]


def floods(draw: Draw) -> Iterator[tuple[str, list[bytes]]]:
    """What they are called in feedback, and their names, each once."""
    for called, names in _floods(draw):
        yield called, list(dict.fromkeys(names))


def _floods(draw: Draw) -> Iterator[tuple[str, list[bytes]]]:
    yield "names of one hash by Linux 2.2's", _nibbles(draw)
    for multiplier in MULTIPLIERS:
        yield f"names of one hash by h = {multiplier} h + c", _multiplied(draw, multiplier)
    for bits in POWERS:
        yield f"names of one hash by h = m h + c in {bits} bits for every odd m", _of_any_multiplier(draw, bits)
    for distance in (4, 8, 16, 32, 64):
        yield f"names that repeat themselves after {distance} bytes", _repeated(draw, distance)
    for size in (1, 4, 8):
        yield f"the same pieces of {size} in other orders", _permuted(draw, size)
    for place, begin in {"beginning": 0, "middle": draw.between(90, 160), "end": LONGEST - 4}.items():
        yield f"names of 255 bytes that differ at their {place}", _differing(draw, begin)


def random_names(draw: Draw, count: int) -> np.ndarray:
    """@count rows of twelve letters. No two differences between them are alike, so that whether two pairs meet has nothing to do with one another."""
    return bytes_of(draw, count, 12, ord("a"), ord("z"))
