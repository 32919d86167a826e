"""The parts of a lab that hands in a path cache: what its kernel answers, to one and to several at once, and what that takes."""

from __future__ import annotations

import errno
import os
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from pathlib import Path

from lab.base.paths import LabError, output_folder
from lab.course.draw import Draw
from lab.course.labs import Lab, Part
from lab.grade import sandbox
from lab.grade.booted.kernel import StandIn
from lab.grade.paths import found as quick
from lab.grade.paths import machine, script, storms
from lab.grade.paths.machine import Answers
from lab.grade.paths.model import LEAST_SIZE, OTHER
from lab.grade.paths.script import Many, Script
from lab.grade.paths.storms import Storm
from lab.grade.sandbox import Limits
from lab.grade.work import Judged, Work, failed, passed
from lab.guest.image import Ext2
from lab.run.options import Options

LOOK = Limits(seconds=60, cpu=30, memory=1 << 30, processes=8, file=64 << 20, output=1 << 20)
SHOWN = 3  # faults of a part
CANNOT_BE = "What it says of its answers cannot be."
CANNOT_BE_COUNTED = "Its instructions cannot be counted: there are marks in it that are not the program's."


def stand_in(lab: Lab) -> StandIn:
    kernel = lab.options["kernel"]
    return StandIn(kernel["replaces"], tuple(kernel["settings"]), kernel["own"], tuple(kernel["adds"].items()))


def _machine(**more) -> Options:
    return Options(icount=True, quiet=True, cmdline="job_input=none", ext2=Ext2(1024, 128, 4 << 20, 2048), **more)


def _fresh(folder: Path, name: str) -> Path:
    place = folder / name
    place.mkdir()
    return place


class PathCache:
    """What the parts know of one submission. Each machine is run once, by the first that asks."""

    def __init__(self, work: Work):
        self.work = work
        self.said = machine.build(work.folder, stand_in(work.lab), work.text, work.called)
        if self.said:
            _starter(stand_in(work.lab), str(output_folder()))  # or is it the grader's fault? Then a LabError says so
            work.not_booted("it does not compile.")
        self._ended: dict[str, object] = {}

    @property
    def kernel(self) -> bytes:
        return machine.kernel_of(self.work.folder)

    def once(self, name: str, run: Callable[[], object]):
        if name not in self._ended:
            self._ended[name] = run()
        return self._ended[name]

    def sequence(self) -> tuple[Script, Answers]:
        return self.once("sequence", lambda: self._sequence(self.kernel))

    def _sequence(self, kernel: bytes) -> tuple[Script, Answers]:
        asked = script.sequence(self.work.draw("sequence"))
        with sandbox.folder() as folder:
            found = machine.ask(
                folder, kernel, asked.text, _machine(root="ram", mem="64M"), True, self.work.seeds.hidden
            )
        if found.slow:
            self.work.not_booted(found.ended)
        return asked, found

    def storm(self, number: int) -> tuple[Storm, Answers]:
        made, found = _storm(self.work.draw("storm", number), self.kernel, self.work.seeds.hidden)
        if found.slow:
            self.work.not_booted(found.ended)
        return made, found

    def walked_storm(self, number: int) -> tuple[Storm, Answers]:
        lab = self.work.lab
        return _walked_storm(stand_in(lab), self.work.seeds.seed(lab.number, "storm", number), str(output_folder()))

    def walked_many(self, part: Part) -> tuple[Many, Answers]:
        lab = self.work.lab
        seed = self.work.seeds.seed(lab.number, "many")
        return _walked_many(stand_in(lab), seed, part.options["room"], part.options["mem"], str(output_folder()))

    def walked(self) -> tuple[Script, Answers]:
        """The same sequence in a kernel that caches nothing."""
        lab = self.work.lab
        return _walked(stand_in(lab), self.work.seeds.seed(lab.number, "sequence"), str(output_folder()))


@cache
def _starter(own: StandIn, folder: str) -> bytes:
    with sandbox.folder() as place:
        said = machine.build(place, own, own.text, own.own)
        if said:
            raise LabError(f"the grader cannot build the kernel with its own {own.own}: {said}")
        return machine.kernel_of(place)


@cache
def _walked(own: StandIn, seed: int, folder: str) -> tuple[Script, Answers]:
    """Once a process and sequence. A LabError where that kernel answers wrongly, or not at all."""
    asked = script.sequence(Draw(seed))
    with sandbox.folder() as place:
        found = machine.ask(place, _starter(own, folder), asked.text, _machine(root="ram", mem="64M"), counted=True)
    _must_be_right(found, [one.expected for one in asked.asked])
    return asked, found


def _must_be_right(found: Answers, expected: list[int]) -> None:
    if found.ended or found.answers != expected:
        raise LabError(
            f"the kernel without a path cache does not answer as it should: {found.ended or 'an answer is wrong'}"
        )


def _storm(draw: Draw, kernel: bytes, hidden: bool) -> tuple[Storm, Answers]:
    made = storms.storm(draw)
    options = _machine(root="ram", mem="64M", smp=4, seed=draw.below(1 << 32))
    with sandbox.folder() as folder:
        return made, machine.ask(folder, kernel, made.script.text, options, counted=True, hidden=hidden)


@cache
def _walked_storm(own: StandIn, seed: int, folder: str) -> tuple[Storm, Answers]:
    made, found = _storm(Draw(seed), _starter(own, folder), False)
    _must_be_right(found, [])
    return made, found


@cache
def _walked_many(own: StandIn, seed: int, room: int, mem: str, folder: str) -> tuple[Many, Answers]:
    """One user in place of the many: what a walk takes does not depend on how many have gone before."""
    made = script.many(Draw(seed), 1, room)
    options = _machine(root="ext2", mem=mem)
    with sandbox.folder() as place:
        found = machine.ask(place, _starter(own, folder), made.script.text, options, counted=True)
    _must_be_right(found, made.expected)
    return made, found


def _room(work: Work) -> PathCache | Judged:
    """What is known of the submission, or why nothing can be judged."""
    if not work.boots:
        return failed("left out (--no-boot)")
    room = work.of(PathCache)
    return failed(f"not booted: {work.unfit}") if work.unfit else room


def builds(work: Work, part: Part) -> Judged:
    if not work.boots:
        return failed("left out (--no-boot)")
    room = work.of(PathCache)
    return failed("The kernel cannot be built with it.", room.said) if room.said else passed()


# ---- answers ---------------------------------------------------------------------------------------


def said_of(answer: int) -> str:
    if answer < LEAST_SIZE:
        return f"{errno.errorcode.get(answer, answer)} ({os.strerror(answer)})" if answer else "success"
    if answer & OTHER:
        return f"a directory or a link, mode {answer >> 40 & 0o177777:o}, owner {answer >> 20 & 0xFFFFF}:{answer & 0xFFFFF}"
    return f"the file of {answer:,} bytes"


def kind_of(expected: int, answer: int) -> str:
    """What is wrong, without what is hidden."""
    if expected == errno.EACCES:
        return "somebody came where he may not"
    if answer == errno.EACCES:
        return "somebody was kept from where he may come"
    if expected < LEAST_SIZE:
        return "something was found that is not there"
    return "what is there was not found" if answer < LEAST_SIZE else "another file or directory was found than is there"


CALLS = {"s": "stat", "l": "lstat", "r": "open to read", "w": "open to write", "c": "chdir"}


def _told(asked: Script, number: int, answer: int) -> list[str]:
    """A wrong answer, with what was changed last before it. Not for hidden ones."""
    one, at, which = asked.asked[number], -1, -1
    while which < number:
        at += 1
        which += asked.lines[at].startswith("ask ")
    user = asked.workers[one.worker]
    out = [
        f'{one.about}: user {user.uid}, group {user.gid} and {user.group or "no other"}: {CALLS[one.kind]}("{one.path}"): {said_of(answer)}.',
        f"Expected: {said_of(one.expected)}.",
    ]
    changes = [line for line in asked.lines[:at] if line.startswith("change ")][-3:]
    return [*out, "The last changes before that: " + "; ".join(line.removeprefix("change ") for line in changes) + "."]


def _many(work: Work, wrong: int, of: str = "") -> str:
    """So many answers; of hidden questions no number, which the kernel could choose."""
    return "Answers" if work.seeds.hidden else f"{wrong:,}{of} answers"


def _leads_on(work: Work) -> list[str]:
    hint = f"to see the like: {work.command} --seed 1 asks other questions of the same kinds, and tells which."
    return [hint] if work.seeds.hidden else []


def answers(work: Work, part: Part) -> Judged:
    """Of these kinds of questions all answers are right, as far as the machine came, and it came to its end."""
    room = _room(work)
    if isinstance(room, Judged):
        return room
    asked, found = room.sequence()
    if found.cannot_be(len(asked.asked)):
        return failed(CANNOT_BE)
    said, wrong = found.answers, []
    for number, one in enumerate(asked.asked):
        if one.about in part.options["about"] and number < len(said) and said[number] != one.expected:
            wrong.append(number)
    out: list[str] = []
    of = sum(one.about in part.options["about"] for one in asked.asked)
    if wrong:
        out.append(f"{_many(work, len(wrong), f' of {of:,}')} are wrong.")
    if work.seeds.hidden:
        kinds = Counter(f"{asked.asked[i].about}: {kind_of(asked.asked[i].expected, said[i])}." for i in wrong)
        out += list(kinds)[: 2 * SHOWN]
    else:
        first: dict[str, int] = {}
        for i in wrong:
            first.setdefault(asked.asked[i].about, i)
        for i in list(first.values())[:SHOWN]:
            out += _told(asked, i, said[i])
    if wrong:
        out += _leads_on(work)
    if found.ended and not all(one.about not in part.options["about"] for one in asked.asked[len(said) :]):
        out.append(found.ended)
    errors = [
        error
        for number, error in found.failed
        if number < len(asked.asked) and asked.asked[number].about in part.options["about"]
    ]
    if errors:
        error = "" if work.seeds.hidden else f": {said_of(errors[0])}"
        out.append(f"A change that must succeed, by root, failed{error}.")
    return failed(*out) if out else passed()


def cpus(work: Work, part: Part) -> Judged:
    """While one CPU changes things, three ask: each answer is one that was right at some time while it was looked for.

    Half of the points for that; the other half for who knows what he was asked for before, while nothing changes."""
    room = _room(work)
    if isinstance(room, Judged):
        return room
    mine: quick.Samples = []
    walked: quick.Samples = []
    for number in range(part.options["storms"]):
        made, found = room.storm(number)
        said = _stormed(work, made, found)
        if said:
            return failed(*said)
        if found.beside == machine.ODD:
            return Judged(Fraction(1, 2), [CANNOT_BE_COUNTED])
        mine += quick.in_storm(made, found)
        walked += quick.in_storm(*room.walked_storm(number))
    return _found_again(part, [("after changes, by several CPUs", quick.share(mine, walked, part.options["most"]))])


def _found_again(part: Part, shares: list[tuple[str, Fraction]]) -> Judged:
    """Of answers that are right: half of the points are for those that it knew, @shares of them."""
    out = [
        f"Of what was asked for again {when}, {float(100 * share):.0f} of 100 took less than {part.options['most'] / 100:.2f} of a walk;"
        f" at least {part.options['found']} must."
        for when, share in shares
        if 100 * share < part.options["found"]
    ]
    return (
        Judged(Fraction(1, 2), ["The answers are right, but it is the walk that finds them.", *out])
        if out
        else passed()
    )


def _stormed(work: Work, made: Storm, found: Answers) -> list[str]:
    asked = made.script
    if found.cannot_be(0):
        return [CANNOT_BE]
    if found.ended:
        return [found.ended]
    before = next(i for i, line in enumerate(asked.lines) if line.startswith("storm"))
    base = sum(line.startswith("change") for line in asked.lines[:before])
    wrong, still = [], set()
    for worker, question, begun, done, answer in found.seen:
        if not (
            0 <= worker < len(asked.workers)
            and 0 <= question < len(asked.questions)
            and base <= begun <= done < base + len(made.states)
        ):
            return [CANNOT_BE]
        still |= {(worker, begun)} if begun == done else set()
        right = {made.states[state - base][worker][question] for state in range(begun, done + 1)}
        if answer not in right:
            wrong.append((worker, question, begun, done, answer, right))
    if 2 * len(still) < len(asked.workers) * len(made.states):
        return ["It does not come to answer while nothing changes."]
    if not wrong:
        return []
    out = [
        f"{_many(work, len(wrong))}, of three CPUs while a fourth changed things, were not right at any time while they were looked for."
    ]
    if work.seeds.hidden:
        return [
            *out,
            *list(Counter(f"{kind_of(min(right), answer)}." for *_, answer, right in wrong))[:SHOWN],
            *_leads_on(work),
        ]
    changes = [line.removeprefix("change ") for line in asked.lines if line.startswith("change ")]
    for worker, question, begun, done, answer, right in wrong[:SHOWN]:
        kind, path = asked.questions[question]
        while_ = f"after `{changes[begun - 1]}`" + (f" and while `{changes[done - 1]}`" if done > begun else "")
        out.append(f'{while_}: user {asked.workers[worker].uid}: {CALLS[kind]}("{path}"): {said_of(answer)}.')
        out.append(f"Expected: {' or '.join(map(said_of, sorted(right)))}.")
    return out


# ---- work ------------------------------------------------------------------------------------------


def _means(asked: Script, found: Answers) -> dict[str, Fraction]:
    """Instructions of a question of each kind that is measured."""
    sums: Counter[str] = Counter()
    number: Counter[str] = Counter()
    for one, count in zip(asked.asked, found.counts, strict=True):
        sums[one.measured] += count
        number[one.measured] += 1
    means = {kind: Fraction(sums[kind], number[kind]) for kind in number}
    return means | {"beside": Fraction(1000 * found.beside, len(found.counts))}


NAMES = {"deep": "eight components, asked for before", "elsewhere": "the same after changes elsewhere", "short": "one component",
         "first": "eight components, for the first time", "beside": "everything beside the questions, for each"}  # fmt: skip


def cost(work: Work, part: Part) -> Judged:
    """At most so many hundredths of what a walk takes: of each of these the same share of the points; none, unless the first is."""
    room = _room(work)
    if isinstance(room, Judged):
        return room
    asked, found = room.sequence()
    if found.cannot_be(len(asked.asked)):
        return failed(CANNOT_BE)
    if found.ended or len(found.counts) != len(asked.asked) or found.beside == machine.ODD:
        return failed(found.ended or CANNOT_BE_COUNTED)
    about = part.options.get("about", ())
    wrong = sum(
        one.about in about and answer != one.expected for one, answer in zip(asked.asked, found.answers, strict=True)
    )
    if wrong:
        return failed(f"{_many(work, wrong)} are wrong: {', '.join(about)}.", *_leads_on(work))
    right: dict[str, bool] = {}
    for one, answer in zip(asked.asked, found.answers, strict=True):
        right[one.measured] = right.get(one.measured, True) and answer == one.expected
    walk, mine = _means(*room.walked()), _means(asked, found)
    out, good = [], 0
    for which, (name, most) in enumerate(part.options["most"].items()):
        fits = 100 * mine[name] <= most * walk[name] and right.get(name, True)
        good += fits
        if not fits:
            what = f"{round(mine[name]):,} instructions, a walk {round(walk[name]):,}: {float(mine[name] / walk[name]):.2f} of that; at most {most / 100:.2f}."
            out.append(f"{NAMES[name]}: {what if right.get(name, True) else 'answers are wrong.'}")
        if not which and not fits:
            return failed(*out)
    return Judged(Fraction(good, len(part.options["most"])), out)


# ---- memory ----------------------------------------------------------------------------------------


def memory(work: Work, part: Part) -> Judged:
    """More paths than there is memory for are asked for: the machine goes on, and leaves its disk clean.

    Half of the points for that; the other half for who knows what he was asked for before, in the beginning and in the end."""
    room = _room(work)
    if isinstance(room, Judged):
        return room
    made = script.many(work.draw("many"), part.options["users"], part.options["room"])
    options = _machine(root="ext2", mem=part.options["mem"])
    with sandbox.folder() as folder:
        found = machine.ask(folder, room.kernel, made.script.text, options, counted=True, hidden=work.seeds.hidden)
        said = _went_on(work, part, made, found)
        if said:
            return failed(*said)
        outcome = sandbox.run(["/bin/sh", "-c", "e2fsck -fn /run/disk"], LOOK, {folder / "run": "/run"})
    if not outcome.good:
        return failed("e2fsck -fn finds faults on its disk.")
    if found.beside == machine.ODD or len(found.counts) != len(made.script.asked) + made.between:
        return Judged(Fraction(1, 2), [CANNOT_BE_COUNTED])
    walked = room.walked_many(part)
    shares = [
        (
            f"{when} the {made.between:,} questions",
            quick.share(
                quick.in_little_memory(made, found, when), quick.in_little_memory(*walked, when), part.options["most"]
            ),
        )
        for when in ("before", "after")
    ]
    return _found_again(part, shares)


def _went_on(work: Work, part: Part, made: Many, found: Answers) -> list[str]:
    """What is wrong, if anything is."""
    expected = made.expected
    if found.cannot_be(len(expected)):
        return [CANNOT_BE]
    if found.ended:
        return [found.ended, f"Expected: in {part.options['mem']} of memory, it answers whatever it is asked."]
    if found.answers[made.before + 1]:
        return [f"After that there is no room for a program of {part.options['room']} MB."]
    if wrong := sum(a != b for a, b in zip(found.answers, expected, strict=True)):
        return [f"{_many(work, wrong)} are wrong.", *_leads_on(work)]
    return []


# ---- what C defines --------------------------------------------------------------------------------


def defined(work: Work, part: Part) -> Judged:
    """With the sanitizers the same kind of questions leads to no undefined behaviour, and to no memory that is none of the file's own. They are
    no secret: where it was, is told."""
    room = _room(work)
    if isinstance(room, Judged):
        return room
    asked = script.sequence(Draw(work.open_seeds.seed(work.lab.number, "sequence")))
    with sandbox.folder() as folder:
        if said := machine.build_checked(work.folder, folder / "out", work.called):
            return failed("The kernel cannot be built with it and the sanitizers.", said)
        kernel = machine.kernel_of(folder)
        found = machine.ask(_fresh(folder, "asked"), kernel, asked.text, _machine(root="ram", mem="64M"))
        said = machine.with_line(folder, found.ended)
    expected = (
        "Expected: shifts by less than the word's width, indexes inside their arrays, memory only until it is freed."
    )
    return failed(said, expected) if said else passed()


KINDS: dict[str, Callable[[Work, Part], Judged]] = {
    "path-defined": defined, "path-builds": builds, "path-rights": answers, "path-changes": answers, "path-texts": answers, "path-mounts": answers,
    "path-cpus": cpus, "path-memory": memory, "path-found": cost, "path-little": cost, "path-elsewhere": cost,
}  # fmt: skip
