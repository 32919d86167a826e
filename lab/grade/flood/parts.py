"""Does it build, and is its name hash a function of the name and the kernel's key, that nobody can aim at without the key?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import lru_cache

import numpy as np

from lab.course import keys as numbers
from lab.course.draw import Draw
from lab.course.labs import Part
from lab.grade import sandbox
from lab.grade.flood import asked, keys, sets
from lab.grade.flood.asked import Flood, Hashes, Named
from lab.grade.flood.broken import Broken, dentry_buckets
from lab.grade.function import oracle, steps
from lab.grade.function.model import FIND, INSERT, REMOVE, Operation, Stream, stream_of
from lab.grade.work import Judged, Refused, Work, failed, passed
from lab.record import stream as recorded_keys

MOST_WORDS = 1500  # of what the compiler said
LOW, HIGH = 8, 12  # bits of the tables in which floods are judged

# A flood that survives a change of the key: so much of it in one bucket under two keys of KEYS. A function with a key from which one of a thousand
# keys is unlucky for a regular set of names is a right one; that two of three are, nobody need expect.
KEYS = 3
SURVIVES = Fraction(1, 8)

PAIR_BITS = 16
PAIR_NAMES = 1 << 16
MOST_PAIRS = 24  # under another key; by chance 0.5 are expected of 32,768

SEEDS, NAMES_OF_EACH = 128, 4  # no two of so many keys may give the same hashes to all of these names


def builds(work: Work, part: Part) -> Judged:
    """Compiled with the kernel's flags its name hash is a function and no more; the rest is a program's."""
    flood = work.of(Flood)
    asked.prepare(work.folder, work.text)
    outcome = asked.compile_all(work.folder)
    if not outcome.good:
        asked.check_compiler()  # whose fault is it?
        flood.compiled = "it does not compile" if outcome.kind == "exit" else f"it does not compile: {outcome.why(oracle.COMPILE)}"
        work.not_booted(flood.compiled)
        words = outcome.said.replace("/grade/flood.h", work.lab.hand_in)
        return failed(f"{flood.compiled}.", words[:MOST_WORDS])
    flood.compiled = ""
    faults = oracle.not_alone(work.folder, "submission_hash")
    return failed(*faults, "Expected: name_hash() as `static inline`, computing from its arguments and the kernel's keys alone (hash/README.md).") if faults else passed()


def _names(draw: Draw, count: int) -> list[bytes]:
    """Of all lengths."""
    return [bytes(draw.between(0x21, 0x7E) for _ in range(draw.between(1, draw.pick((3, 9, 40, 255))))) for _ in range(count)]


def _seeds(draw: Draw, count: int) -> list[int]:
    return [draw.word() for _ in range(count)]


def _parent(draw: Draw) -> int:
    """The address of a dentry."""
    return 0xFFFF888000000000 + 192 * draw.below(1 << 24)


def same(work: Work, part: Part) -> Judged:
    """In other processes, in other orders, with something else behind it: the same name, the same key, the same hash."""
    draw = work.draw("same")
    parents = [_parent(draw) for _ in range(4)]
    questions = [Named(seed, draw.pick(parents), name) for seed in _seeds(draw, 3) for name in _names(draw, 1000)]
    try:
        work.of(Flood).hashes_twice(questions, draw)
    except Refused as error:
        return failed(f"{error}.", "Expected: the hash depends on the name's bytes, the salt and the kernel's keys, and on nothing else: else names would not be found again.")
    return passed()


def defined(work: Work, part: Part) -> Judged:
    """With the undefined-behaviour sanitizer, and without optimization, it answers the same; its attacks run, too. By numbers that everybody may know, since the
    sanitizer's words are the submission's own."""
    flood, draw = work.of(Flood), Draw(numbers.practice(1).seed("defined"))
    questions = [Named(seed, _parent(draw), name) for seed in _seeds(draw, 2) for name in _names(draw, 400)]
    try:
        usual = flood.hashes(questions)
        for form in ("-checked", "-plain"):
            if np.any(usual != flood.hashes(questions, form)):
                return failed("Compiled without optimization it gives other hashes: what it does the language leaves open.")
        for kind in ("product", "folded", "top", "small", "flood"):
            flood.keys([keys.drawn(kind, draw)], "-checked")
    except Refused as error:
        return failed(f"{error}.", "Expected: shifts by less than the word's width, indexes inside their arrays.")
    return passed()


def keyed(work: Work, part: Part) -> Judged:
    """Another key gives other hashes, and other names that meet."""
    draw = work.draw("keyed")
    parent, few = _parent(draw), [b"a", b"Makefile", b"index.html", b"0123456789abcdef" * 4]
    each = [Named(seed, parent, name) for seed in _seeds(draw, SEEDS) for name in few]
    one, other = _seeds(draw, 2)
    many = sets.random_names(draw, PAIR_NAMES)
    questions = each + [Named(seed, parent, name) for seed in (one, other) for name in many]
    try:
        hashes = work.of(Flood).hashes_twice(questions, draw)
    except Refused as error:
        return failed(f"{error}.")
    different = len(np.unique(hashes[: len(each)].reshape(SEEDS, len(few)), axis=0))
    if different < SEEDS:
        return failed(
            f"Of {SEEDS} keys only {different} give hashes that no other gives: who tries few keys knows it.",
            "Expected: all of hash_siphash_key or hash_multilinear_keys counts, and is no secret that is in the file (hash/shared.h).",
        )
    before, after = (dentry_buckets(parent, part, PAIR_BITS) for part in np.split(hashes[len(each) :], 2))
    pairs, still = pairs_in_one(before, after)
    if still > MOST_PAIRS:
        return failed(
            f"Of {pairs:,} pairs of names that share one of {1 << PAIR_BITS:,} buckets {still:,} share one under another key as well; by chance {pairs / (1 << PAIR_BITS):.1f} would.",
            "Expected: the key decides which names meet. Added before or behind a hash without one, it only moves all of them.",
        )
    return passed()


def pairs_in_one(before: np.ndarray, after: np.ndarray) -> tuple[int, int]:
    """Neighbours in the buckets of @before, and how many of them share a bucket in @after."""
    order = np.argsort(before, kind="stable")
    together = before[order[1:]] == before[order[:-1]]
    return int(np.count_nonzero(together)), int(np.count_nonzero(together & (after[order[1:]] == after[order[:-1]])))


def floods(work: Work, part: Part) -> Judged:
    """The grader's, its own, and the one that was made of it under another key: none survives a change of the key."""
    draw = work.draw("floods")
    parent, seeds = _parent(draw), _seeds(draw, KEYS + 1)
    flood = work.of(Flood)
    try:
        tried = [*sets.floods(draw), *_own(work), *_of_another_key(flood, draw, parent, seeds.pop())]
        questions = [Named(seed, parent, name) for _, names in tried for seed in seeds for name in names]
        hashes = flood.hashes_twice(questions, draw)
    except Refused as error:
        return failed(f"{error}.")
    said, shares, begin = [], [], 0
    for called, names in tried:
        mine = hashes[begin : begin + KEYS * len(names)].reshape(KEYS, len(names))
        begin += KEYS * len(names)
        together = sorted(max(_fullest(parent, one, bits) for bits in (LOW, HIGH)) for one in mine)[-2]
        shares.append(Fraction(int(together <= SURVIVES * len(names))))
        if not shares[-1]:
            said.append(f"{called}: {together:,} of {len(names):,} in one bucket, under two keys of {KEYS}")
    return Judged(sum(shares, Fraction(0)) / len(shares), said)


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
    hashes = flood.hashes([Named(seed, parent, name) for name in names])
    buckets = dentry_buckets(parent, hashes, LOW)
    largest = int(np.bincount(buckets).argmax())
    yield "names that share a bucket under another key", [names[i] for i in np.flatnonzero(buckets == largest)[: sets.MOST]]


def recorded(work: Work, part: Part) -> Judged:
    """Steps on the names that real programs looked up: with a key's median of KEYS no worse than chance."""
    draw = work.draw("recorded")
    seeds = _seeds(draw, KEYS)
    streams = [recorded_stream(name) for name in part.options["streams"]]
    questions = [Named(seed, *key) for stream in streams for seed in seeds for key in stream.keys]  # type: ignore[misc]
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


def _marks(stream: Stream, bits: int) -> steps.Marks:
    """As of functions without a key; there is no function to beat."""
    mean, full = stream.mean(bits), stream.by_chance(bits)
    return steps.Marks(mean, full, int((full + 4 * max(mean - stream.hits, full - mean)) // 1) + 1)


@lru_cache(maxsize=8)
def recorded_stream(name: str) -> Stream:
    """What a program's run asked of the dentry cache: keys are the directory's address and the name."""
    columns = recorded_keys.read(steps.streams.RECORDED / f"{name}.keys").of_cache("dentry")
    return stream_of(name, _decoded(columns))  # type: ignore[arg-type]


def _decoded(columns: recorded_keys.Operations) -> Iterator[tuple[int, tuple[int, bytes]]]:
    ends = np.cumsum(columns.lengths)
    names = columns.names.tobytes()
    keys_of = zip(columns.first.tolist(), (names[end - length : end] for end, length in zip(ends.tolist(), columns.lengths.tolist(), strict=True)), strict=True)
    objects = iter(columns.objects.tolist())
    known: dict[int, tuple[int, bytes]] = {}
    for kind, has_object, has_key in zip(columns.kinds.tolist(), columns.has_object.tolist(), columns.has_key.tolist(), strict=True):
        if kind & 7 == recorded_keys.REPORT:
            return
        number = next(objects) if has_object else -1
        key = next(keys_of) if has_key else known[number]
        if kind & 7 == recorded_keys.INSERT:
            known[number] = key
        if kind & 7 in WANTED:
            yield WANTED[kind & 7], key


WANTED = {recorded_keys.FIND: FIND, recorded_keys.INSERT: INSERT, recorded_keys.REMOVE: REMOVE}
