"""What a function is tried on: recorded streams of real programs, and made ones, whose places are drawn from a seed.

The made ones are what a buffer cache sees of disks larger than anything that is quickly recorded: `groups` reads the
metadata of a large ext2, a few blocks at the beginning of each group; `records` looks things up in a file whose records lie at
a fixed distance; `disks` has the same places on several disks; `copies` reads files from end to end. Each is a cache that keeps
what was used last. By a teacher's key nobody knows which groups, distances and disks come; by a number anyone can make
more of the same kind (./cw grade --seed).
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator

import numpy as np

from lab.base.paths import TOP, LabError
from lab.course.draw import Draw
from lab.grade.function.model import FIND, INSERT, REMOVE, Key, Operation, Stream, stream_of
from lab.record import stream as recorded

RECORDED = TOP / "lab/playground/streams"
FINDS = 6000  # of a made stream
SCSI, MINORS = 8, 16  # a disk's major number, and minors from disk to disk


def recorded_stream(name: str, cache: str) -> Stream:
    """The operations that a program's run asked of @cache (lab/playground/streams)."""
    columns = recorded.read(RECORDED / f"{name}.keys").of_cache(cache)
    return stream_of(name, _decoded(columns))


def _decoded(columns: recorded.Operations) -> Iterator[Operation]:
    objects, first, second = (iter(column.tolist()) for column in (columns.objects, columns.first, columns.second))
    keys: dict[int, Key] = {}
    wanted = columns.has_object.tolist(), columns.has_key.tolist()
    for kind, has_object, has_key in zip(columns.kinds.tolist(), *wanted, strict=True):
        number = next(objects) if has_object else None
        key = (next(first), next(second)) if has_key else keys[number] if number is not None else (0, 0)
        operation = kind & 7
        if operation == recorded.REPORT:
            return
        if operation == recorded.INSERT and number is not None:
            keys[number] = key
            yield INSERT, key
        elif operation == recorded.REMOVE:
            yield REMOVE, key
        elif operation == recorded.FIND:
            yield FIND, key


def made_stream(kind: str, seed: int) -> Stream:
    """One of KINDS, by @seed."""
    if kind not in KINDS:
        raise LabError(f"no kind of stream '{kind}'. There are: {', '.join(KINDS)}")
    draw = Draw(seed)
    return stream_of(kind, cached(KINDS[kind](draw), draw.between(500, 900)))


def cached(wanted: Iterable[Key], room: int) -> Iterator[Operation]:
    """What a cache with @room objects does when these are asked of it: the one that was not used for longest goes."""
    there: OrderedDict[Key, None] = OrderedDict()
    for key in wanted:
        yield FIND, key
        if key in there:
            there.move_to_end(key)
            continue
        if len(there) == room:
            yield REMOVE, there.popitem(last=False)[0]
        there[key] = None
        yield INSERT, key


def _disk(draw: Draw) -> int:
    return SCSI << 8 | MINORS * draw.below(16) | draw.between(1, 3)


def _often(draw: Draw, places: list[Key]) -> Iterator[Key]:
    """FINDS of them, a third among a few dozen."""
    favourites = [draw.pick(places) for _ in range(40)]
    for _ in range(FINDS):
        yield draw.pick(favourites if draw.below(3) == 0 else places)


def _groups(draw: Draw) -> Iterator[Key]:
    device, size = _disk(draw), 8192 << draw.below(3)
    first, groups = draw.below(2), draw.between(250, 400)
    begin = draw.below(4096)
    places = [
        (device, first + (begin + g) * size + block) for g in range(groups) for block in (0, 1, draw.between(2, 6))
    ]
    return _often(draw, places)


def _records(draw: Draw) -> Iterator[Key]:
    device, distance = _disk(draw), draw.pick((1, 3, 5, 7)) << draw.between(5, 8)
    begin = draw.below(1 << 20)
    return _often(draw, [(device, begin + i * distance) for i in range(draw.between(800, 1200))])


def _disks(draw: Draw) -> Iterator[Key]:
    devices = [SCSI << 8 | MINORS * disk | 1 for disk in draw.shuffled(range(16))[: draw.between(6, 12)]]
    size, each = 8192 << draw.below(3), draw.between(90, 110)
    blocks = [draw.below(64) * size + draw.below(128) for _ in range(each)]
    return _often(draw, list(dict.fromkeys((device, block) for device in devices for block in blocks)))


def _copies(draw: Draw) -> Iterator[Key]:
    device, done = _disk(draw), 0
    files = [(draw.below(1 << 22), draw.between(40, 200)) for _ in range(9)]
    while done < FINDS:
        begin, length = draw.pick(files)
        yield from ((device, begin + i) for i in range(length))
        done += length


KINDS: dict[str, Callable[[Draw], Iterator[Key]]] = {
    "groups": _groups, "records": _records, "disks": _disks, "copies": _copies,
}  # fmt: skip

# What functions of the papers give for (device, block), each in a line of its own: HASH functions of Lever 1999, section 3.2.
REFERENCES: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "linux-2.2": lambda device, block: device ^ block,
}


def reference(name: str, keys: tuple[Key, ...], bits: int) -> np.ndarray:
    """The buckets that the function to beat gives."""
    first, second = (np.array(column, np.uint64) for column in zip(*keys, strict=True))
    return REFERENCES[name](first, second) & np.uint64((1 << bits) - 1)
