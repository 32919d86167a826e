"""What a table is asked, and what it must answer: sequences of operations drawn from a seed, and the model that knows which object is where.

Objects lie at drawn places, so that an address tells nothing of a key; keys and buckets are drawn as well. A cache never inserts a
key that is there; so nothing here does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from lab.base.paths import LabError
from lab.course.draw import Draw

# guest/mailbox.h.
CREATE, INSERT, FIND, REMOVE, WALK = range(5)
OBJECTS, LINE, PLACES = 0x2000000, 64, 0x2000000 // 64

ASKED = np.dtype([("kind", "<u4"), ("bucket", "<u4"), ("first", "<u8"), ("second", "<u8"), ("object", "<u8")])

Key = tuple[int, int]


@dataclass(frozen=True)
class Asked:
    """One operation, and its answer: the object that is found (its number; None: nothing), or what a walk adds up to."""

    kind: int
    bucket: int
    key: Key = (0, 0)
    object: int | None = None  # that is inserted or removed
    address: int = 0  # its own
    found: int | None = None  # by a FIND
    count: int = 0  # objects in the table, afterwards
    most: int = 0  # of a WALK: objects that have the same bucket, at most
    buckets: int = 0  # of a WALK: how many different ones they have


@dataclass
class Sequence:
    """Operations on one table of 1 << bits buckets, as they come about: the model of the table is in here."""

    name: str
    bits: int
    draw: Draw
    asked: list[Asked] = field(default_factory=list)
    there: dict[Key, int] = field(default_factory=dict)  # objects in the table, by number
    where: dict[int, tuple[Key, int]] = field(default_factory=dict)  # an object's key and bucket, while it is there
    gone: list[Key] = field(default_factory=list)  # keys of what was removed
    buckets: dict[Key, int] = field(default_factory=dict)  # a key's
    addresses: list[int] = field(default_factory=list)  # an object's
    choose: Callable[[], int] | None = None  # a bucket for a new key
    _in: Counter[int] = field(default_factory=Counter)  # objects of a bucket
    _alive: list[int] = field(default_factory=list)
    _at: dict[int, int] = field(default_factory=dict)
    _idle: list[int] = field(default_factory=list)
    _places: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.asked.append(Asked(CREATE, self.bits))

    def __len__(self) -> int:
        return len(self.there)

    # What follows is of a sequence to which nothing more comes.

    @cached_property
    def packed(self) -> bytes:
        """As struct asked (guest/mailbox.h), objects by address."""
        return np.array([(a.kind, a.bucket, *a.key, a.address) for a in self.asked], ASKED).tobytes()

    @cached_property
    def packed_by_number(self) -> bytes:
        """The same, with objects by number, from 1."""
        numbers = [0 if a.object is None else a.object + 1 for a in self.asked]
        table = np.frombuffer(self.packed, ASKED).copy()
        table["object"] = numbers
        return table.tobytes()

    @cached_property
    def expected(self) -> npt.NDArray[Any]:
        """The answer of each find, by number, from 1; 0: nothing. Of all else: 0."""
        return np.array([0 if a.found is None else a.found + 1 for a in self.asked], np.uint64)

    @cached_property
    def kinds(self) -> npt.NDArray[Any]:
        return np.array([a.kind for a in self.asked])

    @cached_property
    def counts(self) -> npt.NDArray[Any]:
        """Objects in the table, after each."""
        return np.array([a.count for a in self.asked])

    @cached_property
    def most(self) -> npt.NDArray[Any]:
        """Of each walk, objects of one bucket at most. Of all else: 0."""
        return np.array([a.most for a in self.asked])

    @cached_property
    def different(self) -> npt.NDArray[Any]:
        """Of each walk, how many buckets its objects have. Of all else: 0."""
        return np.array([a.buckets for a in self.asked])

    def new_key(self) -> Key:
        """One that the table does not have: half of the time like one that it has had."""
        while True:
            key = (self.draw.word() >> 40, self.draw.word() >> 24)
            if self.buckets and self.draw.below(2):
                other = self.draw.pick(self.gone) if self.gone else key
                key = self.draw.pick(((key[0], other[1]), (other[0], key[1]), other))
            if key not in self.there:
                return key

    def bucket_of(self, key: Key) -> int:
        if key not in self.buckets:
            self.buckets[key] = self.choose() if self.choose else self.draw.below(1 << self.bits)
        return self.buckets[key]

    def insert(self) -> None:
        """An object that is not there: half of the time one that was."""
        key = self.new_key()
        if self._idle and self.draw.below(2):
            number = self._idle.pop(self.draw.below(len(self._idle)))
        else:
            number = self._new_object()
        self._ask(INSERT, key, number)
        self.there[key] = number
        self.where[number] = (key, self.bucket_of(key))
        self._in[self.bucket_of(key)] += 1
        self._at[number] = len(self._alive)
        self._alive.append(number)
        self._count_last()

    def _new_object(self) -> int:
        place = self.draw.below(PLACES)
        while place in self._places:
            place = self.draw.below(PLACES)
        self._places.add(place)
        self.addresses.append(OBJECTS + LINE * place)
        return len(self.addresses) - 1

    def remove(self) -> None:
        """Any that is there."""
        number = self.draw.pick(self._alive)
        key, bucket = self.where.pop(number)
        self._in[bucket] -= 1
        if not self._in[bucket]:
            del self._in[bucket]
        self._ask(REMOVE, key, number)
        del self.there[key]
        last = self._alive.pop()
        place = self._at.pop(number)
        if last != number:
            self._alive[place] = last
            self._at[last] = place
        self._idle.append(number)
        self.gone.append(key)
        self._count_last()

    def hit(self) -> None:
        """Look for what is there."""
        self._ask(FIND, self.where[self.draw.pick(self._alive)][0])

    def miss(self) -> None:
        """Look for what is not: half of the time for what was, or what has half a key of it."""
        self._ask(FIND, self.new_key())

    def walk(self) -> None:
        most = max(self._in.values(), default=0)
        self.asked.append(Asked(WALK, 0, count=len(self), most=most, buckets=len(self._in)))

    def _ask(self, kind: int, key: Key, number: int | None = None) -> None:
        address = 0 if number is None else self.addresses[number]
        found = self.there.get(key) if kind == FIND else None
        self.asked.append(Asked(kind, self.bucket_of(key), key, number, address, found, len(self)))

    def _count_last(self) -> None:
        last = self.asked[-1]
        self.asked[-1] = Asked(last.kind, last.bucket, last.key, last.object, last.address, last.found, len(self))


# ---- sequences ----------------------------------------------------------------------------------


def _mixed(sequence: Sequence, steps: int, most: int) -> None:
    """Everything in turns; the table fills to @most, and empties again and again."""
    fills = True
    for _ in range(steps):
        fills = len(sequence) < most and (fills or not len(sequence))
        draw = sequence.draw.below(20)
        if draw < 8:
            if (draw >= 2) == fills or not len(sequence):
                sequence.insert()
            else:
                sequence.remove()
        elif draw < 14 and len(sequence):
            sequence.hit()
        elif draw < 19:
            sequence.miss()
        else:
            sequence.walk()


def _to(sequence: Sequence, count: int, looks: int) -> None:
    """To @count objects, then look."""
    while len(sequence) < count:
        sequence.insert()
    while len(sequence) > count:
        sequence.remove()
    for _ in range(looks):
        if len(sequence):
            sequence.hit()
        sequence.miss()
    sequence.walk()


def mixed(sequence: Sequence) -> None:
    _mixed(sequence, 3000, 400)


def swings(sequence: Sequence) -> None:
    """From empty to thousands and back, twice."""
    for count in (700, 4000, 300, 0, 1500, 0, 20):
        _to(sequence, count, 150)


def alike(sequence: Sequence) -> None:
    """All in three buckets of many."""
    few = [sequence.draw.below(1 << sequence.bits) for _ in range(3)]
    sequence.choose = lambda: sequence.draw.pick(few)
    _mixed(sequence, 1200, 150)


def tiny(sequence: Sequence) -> None:
    """Far more than a small table has buckets."""
    _mixed(sequence, 1200, 200)


SEQUENCES: dict[str, tuple[Callable[[Sequence], None], int, int]] = {  # and bits, from and to
    "mixed": (mixed, 9, 12), "swings": (swings, 13, 16), "alike": (alike, 8, 12), "tiny": (tiny, 1, 4),
}  # fmt: skip


def made(name: str, seed: int) -> Sequence:
    """The sequence of SEQUENCES, by @seed."""
    if name not in SEQUENCES:
        raise LabError(f"no sequence '{name}'. There are: {', '.join(SEQUENCES)}")
    fill, least, most = SEQUENCES[name]
    draw = Draw(seed)
    sequence = Sequence(name, draw.between(least, most), draw)
    fill(sequence)
    return sequence


def growing(seed: int, bits: int, counts: list[int], looks: int) -> tuple[Sequence, list[range]]:
    """One table at each of @counts objects in turn; and for each which operations bring it there and look."""
    sequence = Sequence("growing", bits, Draw(seed))
    sections = []
    for count in counts:
        begin = len(sequence.asked)
        _to(sequence, count, looks)
        sections.append(range(begin, len(sequence.asked)))
    return sequence, sections


def of_kind(sequence: Sequence, kind: str) -> npt.NDArray[Any]:
    """For each operation: is it a hit, a miss, an insert, a remove?"""
    if kind in ("hit", "miss"):
        return (sequence.kinds == FIND) & ((sequence.expected > 0) == (kind == "hit"))
    found: npt.NDArray[Any] = sequence.kinds == {"insert": INSERT, "remove": REMOVE}[kind]
    return found
