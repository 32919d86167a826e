"""Does it build, and is its name hash a function of the name and the kernel's key, that nobody can aim at without the key?"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import lru_cache

import numpy as np

from lab.course import keys as numbers
from lab.course.draw import Draw
from lab.course.labs import Part
from lab.grade.flood import asked, keys, sets
from lab.grade.flood.asked import Flood, Hashes, Named
from lab.grade.flood.broken import Broken, dentry_buckets
from lab.grade.function import oracle, steps
from lab.grade.function.model import FIND, INSERT, REMOVE, Stream, stream_of
from lab.grade.work import Judged, Refused, Work, failed, passed
from lab.record import stream as recorded_keys

LOW, HIGH = 8, 12  # bits of the tables in which floods are judged

# A flood that survives a change of the key: so much of it in one bucket under two keys of KEYS. A function with a key from which one of a thousand
# keys is unlucky for a regular set of names is a right one; that two of three are, nobody need expect.
KEYS = 3
SURVIVES = Fraction(1, 8)
TOO_MANY = 4  # so many that survive leave no points

# Names enough that some 32 pairs have one hash of 32 bits; how many pairs are tried under another key, and how many of them may meet again, of so many
# bits that they share: by chance 0.06 of 4,096 are expected to.
MANY = 1 << 19
MOST_PAIRS = 4096
MOST_STILL = {32: 1, 16: 8}
# By chance 32 pairs have one hash; 64 of 31 bits. More: it is no hash of 32 bits, whatever it looks like in a small table.
MOST_MEET = 128

SEEDS, NAMES_OF_EACH = 128, 4  # no two of so many keys may give the same hashes to all of these names


def builds(work: Work, part: Part) -> Judged:
    """Compiled with the kernel's flags its name hash is a function and no more; the rest is a program's."""
    asked.prepare(work.folder, work.text)
    try:
        work.of(Flood).compile("hash", "attack", *(["flood"] if work.boots else []))
    except Refused as error:
        work.not_booted("it does not compile")
        return failed(str(error))
    faults = oracle.not_alone(work.folder, "submission_hash")
    return (
        failed(
            *faults,
            "Expected: name_hash() as `static inline`, computing from its arguments and the kernel's keys alone (hash/README.md).",
        )
        if faults
        else passed()
    )


def _names(draw: Draw, count: int) -> list[bytes]:
    """Of all lengths."""
    text = sets.bytes_of(draw, 1, 256 + count, 0x21, 0x7E).tobytes()
    return [text[i : i + draw.between(1, draw.pick((3, 9, 40, 255)))] for i in range(count)]


def _seeds(draw: Draw, count: int) -> list[int]:
    return [draw.word() for _ in range(count)]


def _parent(draw: Draw) -> int:
    """The address of a dentry."""
    return 0xFFFF888000000000 + 192 * draw.below(1 << 24)


def same(work: Work, part: Part) -> Judged:
    """In other processes, in other orders, with something else behind it: the same name, the same key, the same hash."""
    draw = work.of(Flood).draw("same")
    parents = [_parent(draw) for _ in range(4)]
    questions = [Named(seed, draw.pick(parents), name) for seed in _seeds(draw, 3) for name in _names(draw, 1000)]
    try:
        work.of(Flood).hashes_twice(questions, draw)
    except Refused as error:
        return failed(
            f"{error}.",
            "Expected: the hash depends on the name's bytes, the salt and the kernel's keys, and on nothing else: else names would not be found again.",
        )
    return passed()


def defined(work: Work, part: Part) -> Judged:
    """With the undefined-behaviour sanitizer, and less optimization, it answers the same; its attacks run, too. By numbers that everybody may know, since the
    sanitizer's words are the submission's own."""
    flood, draw = work.of(Flood), Draw(numbers.practice(1).seed("defined"))
    questions = [Named(seed, _parent(draw), name) for seed in _seeds(draw, 2) for name in _names(draw, 400)]
    try:
        if np.any(flood.hashes(questions) != flood.hashes(questions, "-checked")):
            return failed(
                "Compiled with less optimization it gives other hashes: what it does the language leaves open."
            )
        for kind in ("product", "folded", "top", "small", "flood"):
            flood.keys([keys.drawn(kind, draw)], "-checked")
    except Refused as error:
        return failed(f"{error}.", "Expected: shifts by less than the word's width, indexes inside their arrays.")
    return passed()


def keyed(work: Work, part: Part) -> Judged:
    """Another key gives other hashes, and other names that meet."""
    flood = work.of(Flood)
    draw = flood.draw("keyed")
    parent, few = _parent(draw), [b"a", b"Makefile", b"index.html", b"0123456789abcdef" * 4]
    each = [Named(seed, parent, name) for seed in _seeds(draw, SEEDS) for name in few]
    one, other = _seeds(draw, 2)
    try:
        hashes = flood.hashes_twice(each, draw)
        different = len(np.unique(hashes.reshape(SEEDS, len(few)), axis=0))
        if different < SEEDS:
            return failed(
                f"Of {SEEDS} keys only {different} give hashes that no other gives: who tries few keys knows it.",
                "Expected: all of hash_siphash_key or hash_multilinear_keys counts, and is no secret that is in the file (hash/shared.h).",
            )
        names = sets.random_names(draw, MANY)
        met = meetings(flood.hashes_of_many(one, parent, names))
        after = flood.hashes_twice(
            [Named(other, parent, names[i].tobytes()) for pairs in met.values() for i in pairs], draw
        )
    except Refused as error:
        return failed(f"{error}.")
    said, begin = [], 0
    if len(met[0, 32]) > 2 * MOST_MEET:
        said.append(
            f"Of {MANY:,} names, {MOST_MEET} pairs and more share their whole hash; by chance {MANY * MANY >> 33} would: it has fewer than 32 bits."
        )
    for (shift, bits), pairs in met.items():
        mine = after[begin : begin + len(pairs)] >> np.uint32(shift) & np.uint32((1 << bits) - 1)
        begin += len(pairs)
        still, of = int(np.count_nonzero(mine[::2] == mine[1::2])), len(pairs) // 2
        if still > MOST_STILL[bits]:
            which = "their whole hash" if bits == 32 else f"{bits} bits of their hash, from bit {shift} on"
            said.append(
                f"Of {of:,} pairs of names that share {which}, {still:,} share it under another key as well; by chance {of / (1 << bits):.1f} would."
            )
    expected = "Expected: the key decides which names meet. A key that is added to, or mixed into, a finished hash only moves all of them."
    return failed(*said, expected) if said else passed()


def meetings(hashes: Hashes) -> dict[tuple[int, int], list[int]]:
    """Pairs of neighbours (one behind the other) that share these bits of their hashes: (first bit, how many) -> numbers of names."""
    found = {}
    for shift, bits in ((0, 32), (0, 16), (16, 16)):
        masked = hashes >> np.uint32(shift) & np.uint32((1 << bits) - 1)
        order = np.argsort(masked, kind="stable")
        at = np.flatnonzero(masked[order[1:]] == masked[order[:-1]])[:MOST_PAIRS]
        found[shift, bits] = np.stack((order[at], order[at + 1]), axis=1).ravel().tolist()
    return found


def floods(work: Work, part: Part) -> Judged:
    """The grader's, its own, and the one that was made of it under another key: none survives a change of the key."""
    flood = work.of(Flood)
    draw = flood.draw("floods")
    parent, seeds = _parent(draw), _seeds(draw, KEYS + 1)
    try:
        tried = [*sets.floods(draw), *_own(work), *_of_another_key(flood, draw, parent, seeds.pop())]
        questions = [Named(seed, parent, name) for _, names in tried for seed in seeds for name in names]
        hashes = flood.hashes_twice(questions, draw)
    except Refused as error:
        return failed(f"{error}.")
    said, begin = [], 0
    for called, names in tried:
        mine = hashes[begin : begin + KEYS * len(names)].reshape(KEYS, len(names))
        begin += KEYS * len(names)
        together = sorted(max(_fullest(parent, one, bits) for bits in (LOW, HIGH)) for one in mine)[-2]
        if together > SURVIVES * len(names):
            said.append(f"{called}: {together:,} of {len(names):,} in one bucket, under two keys of {KEYS}")
    return Judged(max(1 - Fraction(len(said), TOO_MANY), Fraction(0)), said)


def _fullest(parent: int, hashes: Hashes, bits: int) -> int:
    return int(np.bincount(dentry_buckets(parent, hashes, bits)).max())


def _own(work: Work) -> Iterator[tuple[str, list[bytes]]]:
    """What the submission itself floods Linux 2.2's with, if it does."""
    try:
        names = [name for name in work.of(Flood).keys([Broken("flood", 0, 0, 0)])[0] if isinstance(name, bytes)]
    except Refused:
        return
    if len(names) >= sets.MOST:
        yield "your own flood_names()", names[: sets.MOST]


def _of_another_key(flood: Flood, draw: Draw, parent: int, seed: int) -> Iterator[tuple[str, list[bytes]]]:
    """Names that share a bucket of few under one key, found by trying: whoever knew that key could do as much."""
    names = sets.random_names(draw, sets.MOST << LOW)
    buckets = dentry_buckets(parent, flood.hashes_of_many(seed, parent, names), LOW)
    largest = int(np.bincount(buckets).argmax())
    yield (
        "names that share a bucket under another key",
        [names[i].tobytes() for i in np.flatnonzero(buckets == largest)[: sets.MOST]],
    )


def recorded(work: Work, part: Part) -> Judged:
    """Steps on the names that real programs looked up: with a key's median of KEYS no worse than chance."""
    draw = work.of(Flood).draw("recorded")
    seeds = _seeds(draw, KEYS)
    streams = [recorded_stream(name) for name in part.options["streams"]]
    questions = [Named(seed, *key) for stream in streams for seed in seeds for key in stream.keys]
    try:
        hashes = work.of(Flood).hashes_twice(questions, draw)
    except Refused as error:
        return failed(f"{error}.")
    said, shares, begin = [], [], 0
    for stream in streams:
        parents = np.array([key[0] for key in stream.keys], np.uint64)
        mine = hashes[begin : begin + KEYS * len(parents)].reshape(KEYS, len(parents))
        begin += KEYS * len(parents)
        for bits in part.options["bits"]:
            taken = sorted(stream.steps(dentry_buckets(parents, one, bits)) for one in mine)
            found = steps.Found(stream, bits, _marks(stream, bits), taken[KEYS // 2])
            shares.append(found.share)
            said += [found.line()] if found.share < 1 else []
    return Judged(sum(shares, Fraction(0)) / len(shares), said)


@lru_cache(maxsize=16)
def _marks(stream: Stream, bits: int) -> steps.Marks:
    """As of functions without a key; there is no function to beat."""
    mean, full = stream.mean(bits), stream.by_chance(bits)
    return steps.Marks(mean, full, int((full + 4 * max(mean - stream.hits, full - mean)) // 1) + 1)


@lru_cache(maxsize=8)
def recorded_stream(name: str) -> Stream:
    """What a program's run asked of the dentry cache: keys are the directory's address and the name."""
    columns = recorded_keys.read(steps.streams.RECORDED / f"{name}.keys").of_cache("dentry")
    return stream_of(name, _decoded(columns))


def _decoded(columns: recorded_keys.Operations) -> Iterator[tuple[int, tuple[int, bytes]]]:
    ends = np.cumsum(columns.lengths)
    names = columns.names.tobytes()
    keys_of = zip(
        columns.first.tolist(),
        (names[end - length : end] for end, length in zip(ends.tolist(), columns.lengths.tolist(), strict=True)),
        strict=True,
    )
    objects = iter(columns.objects.tolist())
    known: dict[int, tuple[int, bytes]] = {}
    for kind, has_object, has_key in zip(
        columns.kinds.tolist(), columns.has_object.tolist(), columns.has_key.tolist(), strict=True
    ):
        if kind & 7 == recorded_keys.REPORT:
            return
        number = next(objects) if has_object else -1
        key = next(keys_of) if has_key else known[number]
        if kind & 7 == recorded_keys.INSERT:
            known[number] = key
        if kind & 7 in WANTED:
            yield WANTED[kind & 7], key


WANTED = {recorded_keys.FIND: FIND, recorded_keys.INSERT: INSERT, recorded_keys.REMOVE: REMOVE}
