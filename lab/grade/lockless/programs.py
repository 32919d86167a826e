"""What tasks do with a table at the same time, and what may come of it.

A program has few objects, in one or two buckets, one task that looks and one or two that change. Each object is one task's to
change. What was seen of a run is a history: when each operation began and ended, and its answer. A lookup may find an object that had this key
in the table at any time while it looked; and nothing, if there was a time at which no such object was certainly there.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from lab.course.draw import Draw
from lab.grade.table.model import ASKED, FIND, INSERT, LINE, OBJECTS, REMOVE

BITS = 18  # as many as the kernel's table may have
PLACES = 0x1000000 // LINE
WORDS = ("schedules", "way", "again")
HEAD = np.dtype([("seed", "<u8"), *((word, "<u4") for word in WORDS), ("count", "<u4", 6)], align=True)
DRAWN, IN_STEP, BETWEEN = range(3)  # guest/records.h: ways in which schedules come about
STEPS, PLACES_BETWEEN = 75, 6  # how many of the second there are; at so many places of a lookup something comes between


@dataclass(frozen=True)
class Operation:
    """On the object of this number, or a lookup of the key that it had then: key and bucket."""

    kind: int
    object: int
    key: int
    bucket: int

    def __str__(self) -> str:
        if self.kind == FIND:
            return f"look for {chr(97 + self.key)} in bucket {self.bucket}"
        called = {INSERT: "insert", REMOVE: "remove"}[self.kind]
        return f"{called} object {self.object} as {chr(97 + self.key)} in bucket {self.bucket}"


@dataclass
class Program:
    """Keys are letters' numbers; what they are in the machine is drawn."""

    name: str
    seed: int
    before: list[Operation] = field(default_factory=list)
    tasks: list[list[Operation]] = field(default_factory=lambda: [[], [], []])
    after: list[Operation] = field(default_factory=list)
    between: list[Operation] = field(default_factory=list)  # by nobody's task, in one go, while all others stand still
    again: int = 0  # so often its last two operations are repeated
    way: int = DRAWN
    addresses: list[int] = field(default_factory=list)
    keys: list[int] = field(default_factory=list)  # the machine's

    def lists(self) -> list[list[Operation]]:
        """As the plugin numbers them."""
        return [self.before, *self.tasks, self.after, self.between]

    def runs(self, schedules: int) -> int:
        """Of so many that others have: the first is one after the other."""
        return {DRAWN: schedules, IN_STEP: 1 + STEPS, BETWEEN: 1 + 2 * PLACES_BETWEEN}[self.way]

    def packed(self, schedules: int) -> bytes:
        head = np.zeros(1, HEAD)
        counts = [len(self.before), len(self.after), *map(len, self.tasks), len(self.between)]
        head["seed"], head["schedules"], head["count"] = self.seed, self.runs(schedules), counts
        head["way"], head["again"] = self.way, self.again
        asked = [
            (one.kind, one.bucket, self.keys[one.key], 1, 0 if one.kind == FIND else self.addresses[one.object])
            for one in (*self.before, *self.after, *self.tasks[0], *self.tasks[1], *self.tasks[2], *self.between)
        ]
        return head.tobytes() + np.array(asked, ASKED).tobytes()


class Maker:
    """A program as it comes about."""

    def __init__(self, name: str, draw: Draw):
        self.draw = draw
        self.program = Program(name, draw.word())
        self.there: dict[int, tuple[int, int]] = {}  # object -> key, bucket
        self.bucket: dict[int, int] = {}  # of each key
        self.sure: list[int] = []  # keys of objects that nobody changes

    def key(self, bucket: int) -> int:
        number = len(self.bucket)
        self.bucket[number] = bucket
        return number

    def object(self) -> int:
        places = {address // LINE for address in self.program.addresses}
        place = OBJECTS // LINE + self.draw.below(PLACES)
        while place in places:
            place = OBJECTS // LINE + self.draw.below(PLACES)
        self.program.addresses.append(place * LINE)
        return len(self.program.addresses) - 1

    def insert(self, to: list[Operation], one: int, key: int) -> None:
        to.append(Operation(INSERT, one, key, self.bucket[key]))
        self.there[one] = (key, self.bucket[key])

    def remove(self, to: list[Operation], one: int) -> None:
        key, bucket = self.there.pop(one)
        to.append(Operation(REMOVE, one, key, bucket))

    def find(self, to: list[Operation], key: int) -> None:
        to.append(Operation(FIND, 0, key, self.bucket[key]))

    def chain(self, bucket: int, count: int) -> list[int]:
        """Objects that are there before."""
        made = []
        for _ in range(count):
            one = self.object()
            self.insert(self.program.before, one, self.key(bucket))
            made.append(one)
        return made

    def done(self) -> Program:
        """At rest, what is there is found and the rest is not; then the table is emptied."""
        after = self.program.after
        keys = {key for key, _ in self.there.values()}
        for key in self.bucket:
            if key in keys or self.draw.below(3) == 0:
                self.find(after, key)
        for one in self.draw.shuffled(sorted(self.there)):
            self.remove(after, one)
        values: set[int] = set()
        while len(values) < len(self.bucket):
            values.add(self.draw.word())
        self.program.keys = self.draw.shuffled(sorted(values))
        return self.program


def _looks(maker: Maker, keys: list[int]) -> None:
    for key in keys:
        maker.find(maker.program.tasks[0], key)


def _two(maker: Maker) -> tuple[int, int]:
    """Different buckets, of which any number of the lowest bits may be the same: who tells chains apart by less than all of it is mistaken."""
    one, same = maker.draw.below(1 << BITS), maker.draw.below(BITS)
    return one, one ^ (2 * maker.draw.below(1 << (BITS - same - 1)) + 1) << same


def _key_of(maker: Maker, one: int) -> int:
    return maker.there[one][0]


def neighbours(maker: Maker) -> None:
    """Objects beside those that are looked for are removed, and come back."""
    bucket = maker.draw.below(1 << BITS)
    chain = maker.chain(bucket, 4)
    writer, stays = maker.program.tasks[1], maker.draw.below(2)  # the first of a chain was inserted last
    _looks(maker, [_key_of(maker, chain[stays]), _key_of(maker, chain[stays])])
    others = maker.draw.shuffled([one for one in chain if one != chain[stays]])[:2]
    keys = {one: _key_of(maker, one) for one in others}
    for one in others:
        maker.remove(writer, one)
    for one in others[: 1 + maker.draw.below(2)]:
        maker.insert(writer, one, keys[one] if maker.draw.below(2) else maker.key(bucket))


def appear(maker: Maker) -> None:
    """Objects that were never there come in, and go."""
    bucket = maker.draw.below(1 << BITS)
    chain = maker.chain(bucket, 2)
    writer = maker.program.tasks[1]
    fresh = [maker.object(), maker.object()]
    keys = [maker.key(bucket), maker.key(bucket)]
    _looks(maker, [_key_of(maker, chain[0]), keys[0], keys[1]])
    for one, key in zip(fresh, keys, strict=True):
        maker.insert(writer, one, key)
    maker.remove(writer, fresh[maker.draw.below(2)])


def moved(maker: Maker) -> None:
    """Somebody goes to another chain, gets another key there, and comes back."""
    here, there = _two(maker)
    chain = maker.chain(here, 3)
    others = maker.chain(there, maker.draw.below(3))
    stays = chain[maker.draw.below(2)]
    _looks(maker, [_key_of(maker, stays), _key_of(maker, stays)])
    if others:
        _looks(maker, [_key_of(maker, others[0])])
    writer = maker.program.tasks[1]
    goes = [one for one in chain if one != stays]
    for one in maker.draw.shuffled(goes):
        key = _key_of(maker, one)
        maker.remove(writer, one)
        maker.insert(writer, one, maker.key(there))
        if maker.draw.below(3):
            maker.remove(writer, one)
            maker.insert(writer, one, key if maker.draw.below(2) else maker.key(here))


def chased(maker: Maker) -> None:
    """Those at the head of a chain go away one after the other, while the last one is looked for."""
    here, there = _two(maker)
    chain = maker.chain(here, 4)
    _looks(maker, [_key_of(maker, chain[0])])
    writer = maker.program.tasks[1]
    for one in reversed(chain[1:]):
        maker.remove(writer, one)
        maker.insert(writer, one, maker.key(there))


def to_and_fro(maker: Maker) -> None:
    """Somebody leaves the head of a chain and comes back, again and again, during one lookup of another: who gives up after a few rounds misses him."""
    _again_and_again(maker, 12, maker.program.tasks[1])


def without_end(maker: Maker) -> None:
    """The same for hundreds of rounds, of which all go alike: nobody gives up so late, or he may as well not."""
    maker.program.way = IN_STEP
    _again_and_again(maker, maker.draw.between(150, 250), maker.program.between)


def _again_and_again(maker: Maker, rounds: int, by: list[Operation]) -> None:
    here, there = _two(maker)
    stays, goes = maker.chain(here, 2)
    _looks(maker, [_key_of(maker, stays)])
    key, other = _key_of(maker, goes), maker.key(there)
    for _ in range(rounds):
        for to in (other, key):
            maker.remove(by, goes)
            maker.insert(by, goes, to)


def counts_wrap(maker: Maker) -> None:
    """During a lookup somebody leaves his chain, and so many others leave it, or any, that a count of up to 16 bits is what it was before: of
    removals, of what comes in, and of both."""
    here, there = _two(maker)
    stays, other, goes = maker.chain(here, 3)
    comes = maker.chain(there, 1)[0]
    _looks(maker, [_key_of(maker, stays)])
    between, key = maker.program.between, _key_of(maker, other)
    for one, to in ((goes, maker.key(there)), (comes, maker.key(here)), (other, key)):
        maker.remove(between, one)
        maker.insert(between, one, to)
    maker.program.way, maker.program.again = BETWEEN, (1 << 16) - 2


def around(maker: Maker) -> None:
    """Somebody gets another key in his own chain."""
    bucket = maker.draw.below(1 << BITS)
    chain = maker.chain(bucket, 4)
    stays = chain[maker.draw.below(3)]
    _looks(maker, [_key_of(maker, stays), _key_of(maker, stays)])
    writer = maker.program.tasks[1]
    for one in maker.draw.shuffled([one for one in chain if one != stays]):
        maker.remove(writer, one)
        maker.insert(writer, one, maker.key(bucket))


def gone(maker: Maker) -> None:
    """What is looked for is removed, and its memory becomes another's."""
    here, there = _two(maker)
    chain = maker.chain(here, 3)
    keys = [_key_of(maker, one) for one in chain]
    looks = maker.draw.shuffled(keys)
    _looks(maker, [*looks, looks[0]])
    writer = maker.program.tasks[1]
    for one in maker.draw.shuffled(chain)[:2]:
        maker.remove(writer, one)
    maker.insert(writer, maker.object(), keys[0] if chain[0] not in maker.there else maker.key(here))
    maker.insert(writer, maker.object(), maker.key(there))


def two_writers(maker: Maker) -> None:
    """Two change different chains, and each other's."""
    here, there = _two(maker)
    chains = [maker.chain(here, 3), maker.chain(there, 3)]
    _looks(maker, [_key_of(maker, chain[0]) for chain in chains])
    for writer, chain, other in zip(maker.program.tasks[1:], chains, (there, here), strict=True):
        for one in chain[1:]:
            key = _key_of(maker, one)
            maker.remove(writer, one)
            maker.insert(writer, one, maker.key(other))
            if maker.draw.below(2):
                maker.remove(writer, one)
                maker.insert(writer, one, key)


MAKERS = {
    "neighbours": neighbours, "appear": appear, "moved": moved, "chased": chased, "to and fro": to_and_fro,
    "without end": without_end, "counts wrap": counts_wrap, "around": around, "gone": gone, "two writers": two_writers,
}  # fmt: skip
ONCE = ("without end", "counts wrap")  # of which one program is enough, and long


def made(name: str, seed: int) -> Program:
    draw = Draw(seed)
    maker = Maker(name, draw)
    MAKERS[name](maker)
    return maker.done()


# ---- what may be found --------------------------------------------------------------------------


@dataclass(frozen=True)
class Done:
    """An operation that has ended: of which list (Program.lists) the how manieth, when, what came back, and after how many
    accesses to shared memory (of tasks' only, and where it waited for nobody)."""

    where: int
    at: int
    began: int
    ended: int
    answer: int
    accesses: int = 0


@dataclass(frozen=True)
class Stay:
    """An object in the table: from when to when at most, and certainly."""

    object: int
    key: int
    perhaps: tuple[int, float]
    surely: tuple[int, float]


def stays(program: Program, history: list[Done]) -> list[Stay]:
    """Each object's operations come one after the other, by one task."""
    found: list[Stay] = []
    lists = program.lists()
    inside: dict[int, tuple[int, Done]] = {}
    for done in sorted(history, key=lambda one: one.began):
        one = lists[done.where][done.at]
        if one.kind == INSERT:
            inside[one.object] = (one.key, done)
        elif one.kind == REMOVE:
            key, since = inside.pop(one.object)
            found.append(Stay(one.object, key, (since.began, done.ended), (since.ended, done.began)))
    for number, (key, since) in inside.items():
        found.append(Stay(number, key, (since.began, float("inf")), (since.ended, float("inf"))))
    return found


def wrong_lookup(program: Program, history: list[Done]) -> tuple[Done, str] | None:
    """The first lookup of @history, which is a whole run, that nothing allows."""
    there = stays(program, history)
    lists = program.lists()
    for done in sorted(history, key=lambda one: one.ended):
        one = lists[done.where][done.at]
        if one.kind != FIND:
            continue
        of_key = [stay for stay in there if stay.key == one.key]
        if not done.answer:
            if any(stay.surely[0] < done.began and done.ended < stay.surely[1] for stay in of_key):
                return done, "nothing is found, though the object was there all the while"
        elif done.answer not in program.addresses:
            return done, "what is found is no object at all"
        else:
            number = program.addresses.index(done.answer)
            mine = [stay for stay in of_key if stay.object == number]
            if not any(stay.perhaps[0] < done.ended and done.began < stay.perhaps[1] for stay in mine):
                return done, "what is found did not have this key while it was looked for"
    return None
