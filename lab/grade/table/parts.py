"""What is judged of a table structure: does it build, find what is there, touch only what is its own; does it begin small, and stay quick as it grows?

Answers are objects' addresses, which the model knows beforehand, and work is counted outside of the machine (machine.py). Nothing
that the structure says of itself decides anything, but that its steps and sizes must not contradict what was seen.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np

from lab.course import keys
from lab.course.draw import Draw
from lab.course.labs import Part
from lab.grade import sandbox
from lab.grade.table import build, machine, model
from lab.grade.table.build import COMPILE, Structure
from lab.grade.table.machine import Ended, Seen
from lab.grade.table.model import FIND, INSERT, REMOVE, WALK, Sequence
from lab.grade.work import Judged, Refused, Work, failed, passed

MOST_WORDS = 1500  # of what the compiler said
PRACTICE = range(1, 5)  # numbers among which one is looked for that shows what the held-out sequences have shown
UNCOUNTED = 2  # objects at which a find may look without a step: the one behind the last, for which it need not go on
PARTS = 2  # buckets in which objects of the same hash may stand
KINDS_OF_WORK = ("hit", "miss", "insert", "remove")

made = lru_cache(maxsize=64)(model.made)


@lru_cache(maxsize=8)
def growing(seed: int, bits: int, counts: tuple[int, ...], looks: int) -> tuple[Sequence, list[range]]:
    return model.growing(seed, bits, list(counts), looks)


@dataclass(frozen=True)
class Grown:
    """A table that was brought to several sizes: which operations made up each, and what was seen."""

    sequence: Sequence
    sections: list[range]
    seen: Seen

    @property
    def room(self) -> str:
        return f"room for {1 << self.sequence.bits:,} buckets"


class Table:
    """Work.of(Table): the structure that was handed in, as far as it is known."""

    def __init__(self, work: Work):
        self.work = work
        self.name: str = work.lab.options["structure"]
        self.compiled: str | None = None  # why it could not be compiled; "" when it was
        self.alone = False
        self.never_ends = ""
        self.grown: list[Grown] | Judged | None = None

    def check(self) -> None:
        """Refused: it cannot be asked, or is not asked again."""
        if self.compiled is None:
            raise Refused("it was not compiled")
        if self.compiled:
            raise Refused(f"not tried: {self.compiled}")
        if self.never_ends:
            raise Refused(f"not tried again: {self.never_ends}")

    def ask(self, sequence: Sequence, hidden: bool) -> Seen:
        """Of all of @sequence, which is one that nobody may know, or not. Refused: it cannot be asked; Ended: it broke down in the midst of it."""
        self.check()
        try:
            return machine.ask(self.work.folder, sequence, hidden)
        except Ended as ended:
            if ended.slow:
                self.never_ends = ended.why
            self.work.not_booted(f"{ended.why}.")
            raise


# ---- does it build? -----------------------------------------------------------------------------


def builds(work: Work, part: Part) -> Judged:
    """Compiled with the kernel's flags, as a cache instantiates it, it is a structure and no more."""
    table = work.of(Table)
    link = (work.lab.folder / work.lab.options["link"]).read_bytes()
    build.prepare(work.folder, Structure(table.name, work.text, link))
    outcome = build.compile_all(work.folder, table.name)
    if not outcome.good:
        build.check_compiler()  # whose fault is it?
        table.compiled = (
            "it does not compile" if outcome.kind == "exit" else f"it does not compile: {outcome.why(COMPILE, False)}"
        )
        work.not_booted(table.compiled)
        words = outcome.said.replace(f"/grade/{build.SUBMITTED}", work.called).replace(build.SUBMITTED, work.called)
        return failed(f"{table.compiled}.", words[:MOST_WORDS])
    table.compiled = ""
    faults = build.not_alone(work.folder)
    table.alone = not faults
    if faults:
        return failed(
            *faults,
            "Expected: functions that are all static, and no memory but what hash_cache_create() gives (hash/table/README.md).",
        )
    return passed()


# ---- does it find what is there? ----------------------------------------------------------------


@dataclass(frozen=True)
class Fault:
    """The first answer of a sequence that is wrong: which, and what was expected."""

    sequence: Sequence
    at: int
    what: str
    numbers: str = ""  # behind that, of the submission's own saying

    def hint(self) -> str:
        """For who may not know what was asked: nor when it was, which is the submission's choice."""
        return f"{self.sequence.name}: {self.what}"

    def line(self) -> str:
        one, all_of = self.sequence.asked[self.at], len(self.sequence.asked)
        return f"{self.sequence.name}, {1 << self.sequence.bits:,} buckets at most: operation {self.at:,} of {all_of:,}, with {one.count:,} objects in the table: {self.what}{self.numbers}"

    def story(self) -> str:
        """What has been asked of the same object, or the same key, just before: for who may know it."""
        one = self.sequence.asked[self.at]
        number = one.found if one.kind == FIND else one.object
        before = [
            f"{i:,} {'insert' if past.kind == INSERT else 'remove'} (bucket {past.bucket:#x})"
            for i, past in enumerate(self.sequence.asked[: self.at])
            if past.kind in (INSERT, REMOVE) and (past.object == number or past.key == one.key)
        ]
        return f"  operations on that object and that key before, its bucket {one.bucket:#x}: {', '.join(before[-4:]) or 'none'}"


def first_wrongly_found(sequence: Sequence, seen: Seen) -> Fault | None:
    """Of what was seen, which may be only the beginning: the first find that finds something else."""
    places = np.array([0, *sequence.addresses], np.uint64)
    wrong = (sequence.kinds == FIND)[: len(seen)] & (seen["answer"] != places[sequence.expected[: len(seen)]])
    if not wrong.any():
        return None
    at = int(wrong.argmax())
    address = int(seen["answer"][at])
    if not address:
        got = "nothing is found"
    elif address not in sequence.addresses:
        got = "what is found is no object at all"
    else:
        got = "another object is found, or one that was removed"
    there = "the object with this key is there" if sequence.expected[at] else "there is none with this key"
    return Fault(sequence, at, f"{got}; {there}")


def first_wrongly_counted(sequence: Sequence, seen: Seen) -> Fault | None:
    """
    The first operation of which it says something else for the statistics. Objects at which a find looked are seen from outside.
    Of a bucket's sizes it is known that objects for which the cache asks for the same one stand together: in one bucket, or,
    while a table moves into another, in two.
    """
    first = [all_of[: len(seen)] for all_of in (sequence.kinds, sequence.counts, sequence.expected, sequence.most, sequence.different)]  # fmt: skip
    kinds, counts, expected, together, different = first
    steps, compares, sums = (seen[name].astype(int) for name in ("steps", "compares", "answer"))
    finds, walks = kinds == FIND, kinds == WALK
    miscounts = finds & ((compares > steps) | (steps > counts) | ((expected > 0) & (steps == 0)))
    hides = finds & (seen["objects"] > steps + UNCOUNTED)
    made_up = walks & ((PARTS * steps < together) | (compares > PARTS * different))
    wrong = miscounts | hides | made_up | walks & (sums != counts)
    if not wrong.any():
        return None
    at = int(wrong.argmax())
    if miscounts[at]:
        what = "steps are the objects that were visited, the one found included, and it counts others"
        numbers = f": {steps[at]:,} for {compares[at]:,} compared keys"
    elif hides[at]:
        what = "it has looked at more objects than it counts steps: all that are visited count, also those whose hash is another"
        numbers = f": {seen['objects'][at]:,}, and {steps[at]:,} steps"
    elif sums[at] != counts[at]:
        what, numbers = "a walk over all buckets does not add up", f": to {sums[at]:,} objects"
    else:
        what = "by a walk objects of the same hash do not stand together"
        numbers = f": the largest bucket has {steps[at]:,} objects, and {compares[at]:,} are not empty; {together[at]:,} objects have the same hash, and there are {different[at]:,} different ones"
    return Fault(sequence, at, what, numbers)


def fault_in(table: Table, sequence: Sequence, hidden: bool) -> Fault | None:
    """Ask all of @sequence. Refused: it cannot be asked."""
    try:
        seen = table.ask(sequence, hidden)
        ended = None
    except Ended as why:
        seen = why.seen
        ended = Fault(sequence, len(seen), why.why)
    found = first_wrongly_found(sequence, seen) or ended
    if found:
        table.work.not_booted("it does not find what is in it")
    return found or first_wrongly_counted(sequence, seen)


def answers(work: Work, part: Part) -> Judged:
    """Every object that is in the table is found, and nothing else, by any sequence of operations."""
    table, names = work.of(Table), part.options["sequences"]
    said: list[str] = []
    for i, name in enumerate(names):
        try:
            fault = fault_in(table, made(name, work.seeds.seed(work.lab.number, "sequence", i)), work.seeds.hidden)
        except Refused as error:
            return failed(*said, f"{error}.")
        if fault:
            said.append(fault.hint() if work.seeds.hidden else fault.line())
            if work.seeds.hidden and len(said) == 1:
                said.append(f"  to see the like: {_practice(table, i, name)}")
            elif not work.seeds.hidden:
                said.append(fault.story())
    wrong = sum(not line.startswith("  ") for line in said)
    if wrong:
        said.append("Expected: what was inserted and not removed is found by its key, and nothing else is.")
    return Judged(1 - Fraction(wrong, len(names)), said)


def _practice(table: Table, place: int, name: str) -> str:
    """A number whose sequences, which anybody may make, have a fault of the same kind."""
    command = f"{table.work.command} --seed"
    for number in PRACTICE:
        try:
            seed = keys.practice(number).seed(table.work.lab.number, "sequence", place)
            fault = fault_in(table, made(name, seed), hidden=False)
        except Refused:
            break
        if fault:
            return f"{command} {number} has {fault.line()}"
    return f"{command} N, for several N"


# ---- does it keep to what is its own? -----------------------------------------------------------


def sanitized(work: Work, part: Part) -> Judged:
    """In an ordinary process, with the sanitizers for addresses and for undefined behaviour; by sequences that are no secret."""
    table = work.of(Table)
    try:
        table.check()
        if not table.alone:
            raise Refused("not tried: it is more than a structure")
        for i, name in enumerate(part.options["sequences"]):
            sequence = made(name, work.open_seeds.seed(work.lab.number, "sanitized", i))
            found = machine.ask_sanitized(work.folder, sequence)
            if np.any((sequence.kinds == FIND) & (found != sequence.expected)):
                raise Refused(f"{name}: it does not find what is in it")
    except Refused as error:
        return failed(
            f"{error}.",
            "Expected: it reads and writes objects while they are in the table, its buckets, and nothing beyond.",
        )
    return passed()


# ---- does it grow? ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Reference:
    """What the kernel's own chains take in the same machine: instructions by kind of operation, on average."""

    mean: dict[str, float]


def mean_work(sequence: Sequence, section: range, seen: Seen) -> dict[str, float]:
    """Instructions of an operation, by kind."""
    these = slice(section.start, section.stop)
    of = {kind: seen["instructions"][these][model.of_kind(sequence, kind)[these]] for kind in KINDS_OF_WORK}
    return {kind: float(numbers.mean()) for kind, numbers in of.items() if len(numbers)}


@lru_cache(maxsize=4)
def reference(bits: int, load: int) -> Reference:
    """Chains of @load objects on average, compiled as what is handed in."""
    structure = Structure.own("chained")
    with sandbox.folder() as folder:
        build.prepare(folder, structure)
        if not build.compile_all(folder, structure.name).good:
            build.check_compiler()
        sequence, sections = growing(1, bits, (load << bits, (load << bits) - 300), 300)
        try:
            seen = machine.ask(folder, sequence)
        except Ended as ended:
            raise machine.broken(ended) from None
    means = [mean_work(sequence, section, seen) for section in sections]
    return Reference({kind: next(mean[kind] for mean in means if kind in mean) for kind in KINDS_OF_WORK})


def _grown(work: Work) -> list[Grown] | Judged:
    """Tables with much room and with little at all sizes, asked once for all parts; or why they were not."""
    table = work.of(Table)
    if table.grown is None:
        grown: list[Grown] = []
        for i, options in enumerate(work.lab.options["growing"]):
            one = _grown_one(work, i, options)
            if isinstance(one, Judged):
                table.grown = one
                return one
            grown.append(one)
        table.grown = grown
    return table.grown


def _grown_one(work: Work, place: int, options: dict[str, Any]) -> Grown | Judged:
    bits = Draw(work.seeds.seed(work.lab.number, "room", place)).between(*options["bits"])
    seed = work.seeds.seed(work.lab.number, "growing", place)
    sequence, sections = growing(seed, bits, tuple(options["counts"]), options["looks"])
    hidden = work.seeds.hidden
    try:
        seen = work.of(Table).ask(sequence, hidden)
    except Refused as error:
        return failed(f"{error}.")
    except Ended as ended:
        count = "so many" if hidden else f"{sequence.asked[len(ended.seen)].count:,}"
        return failed(f"with {count} objects: {ended.why}.")
    fault = first_wrongly_found(sequence, seen)
    if not fault:
        return Grown(sequence, sections, seen)
    return failed(f"{fault.hint() if hidden else fault.line()}.")


def small(work: Work, part: Part) -> Judged:
    """With few objects it uses little memory: a table that is large from the beginning need not grow."""
    grown = _grown(work)
    if isinstance(grown, Judged):
        return grown
    said, verdicts = [], []
    for one in grown:
        said.append(f"{one.room}:")
        for count in part.options["counts"]:
            if count > one.sequence.counts.max():
                continue
            lines = int(one.seen["lines"][(one.sequence.counts == count).argmax()])
            most = part.options["lines"] + count * part.options["bytes"] // model.LINE
            verdicts.append(lines <= most)
            verdict = "" if lines <= most else ": too much"
            said.append(f"{count:,} objects: {lines:,} lines of memory used beside them, of {most:,}{verdict}")
    if not all(verdicts):
        said.append(
            "Expected: it begins with few buckets, and uses more of the memory that it was given as objects come."
        )
    return Judged(Fraction(sum(verdicts), len(verdicts)), said)


def steady(work: Work, part: Part) -> Judged:
    """Work per operation does not grow with the table: at all sizes it is at most a multiple of what short chains take."""
    grown = _grown(work)
    if isinstance(grown, Judged):
        return grown
    short = reference(part.options["bits"], part.options["load"]).mean
    times = {"hit": "finds", "miss": "finds", "insert": "changes", "remove": "changes"}
    limits = {kind: part.options[times[kind]] * short[kind] for kind in KINDS_OF_WORK}
    bad: set[str] = set()
    said = []
    for one in grown:
        said.append(f"{one.room}:")
        for section in one.sections:
            mean = mean_work(one.sequence, section, one.seen)
            bad |= {kind for kind in mean if mean[kind] > limits[kind]}
            cells = [
                f"{kind} {mean[kind]:.0f}{f' (at most {limits[kind]:.0f})' if mean[kind] > limits[kind] else ''}"
                for kind in KINDS_OF_WORK
                if kind in mean
            ]
            said.append(f"{one.sequence.asked[section[-1]].count:,} objects, instructions: {', '.join(cells)}")
    of_chains = ", ".join(f"{kind} {short[kind]:.0f}" for kind in KINDS_OF_WORK)
    said.append(f"chained.h with {part.options['load']} objects a bucket: {of_chains}")
    if bad:
        said.append("Expected: ten times the objects, ten times the buckets, and chains as short as before.")
    return Judged(Fraction(0 if bad & {"hit", "miss"} else 1, 2 if bad else 1), said)


def largest(work: Work, part: Part) -> Judged:
    """No operation does the work of thousands: a table that stops to move everything is found by its largest one."""
    grown = _grown(work)
    if isinstance(grown, Judged):
        return grown
    most, line = -1, ""
    limit = int(reference(part.options["bits"], part.options["load"]).mean["insert"] * part.options["times"])
    for one in grown:
        asked = np.isin(one.sequence.kinds, (INSERT, FIND, REMOVE))
        instructions = np.where(asked, one.seen["instructions"], 0)
        at = int(instructions.argmax())
        if instructions[at] > most:
            most, operation = int(instructions[at]), one.sequence.asked[at]
            name = {INSERT: "an insert", REMOVE: "a remove", FIND: "a find"}[operation.kind]
            line = f"the largest operation: {name} with {operation.count:,} objects, {one.room}, {most:,} instructions, of {limit:,}"
    if most <= limit:
        return passed(line)
    return failed(line, "Expected: one bucket is split at a time, so that nobody waits for all to be moved.")


KINDS: dict[str, Callable[[Work, Part], Judged]] = {
    "structure": builds, "answers": answers, "sanitized": sanitized, "small": small, "steady": steady, "largest": largest,
}  # fmt: skip
