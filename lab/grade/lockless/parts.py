"""What is judged of a table whose lookups take no lock: are they right in whatever order tasks go on, do they write nothing, and wait for nobody?

All three come of the same runs (machine.py). What was found is judged here, by the times at which operations began and ended.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache

from lab.course import keys
from lab.course.labs import Part
from lab.grade.function.oracle import COMPILE
from lab.grade.lockless import machine, programs
from lab.grade.lockless.machine import ALL, FREED, WAITS, WRITES, Run, Seen
from lab.grade.lockless.programs import Program
from lab.grade.table import build
from lab.grade.table import parts as table
from lab.grade.table.parts import Table
from lab.grade.work import Judged, Refused, Work, failed

made = lru_cache(maxsize=256)(programs.made)
TASKS = (
    "the machine",
    "the one who looks",
    "the one who changes",
    "another who changes",
    "the machine, at rest",
    "all that comes between",
)
TOGETHER = (1, 2, 3, 5)  # Program.lists: what was done at the same time
SHOWN = 30  # lines of each kind; others may have thousands
FAULTS = {
    FREED: "memory is touched of an object that had been removed before any lookup still under way began: it may be freed",
    WRITES: "a lookup writes to memory that is not its own stack",
    WAITS: "a lookup goes on and on while all others stand still",
}
# Accesses to shared memory: of any operation, and more for each object that there is. Right ones take less than half of that.
FIRST, EACH = 20, 6
KINDS_OF = {programs.FIND: "a lookup", programs.INSERT: "an insert", programs.REMOVE: "a remove"}


class Tasks:
    """Work.of(Tasks): what the machine with tasks has shown of a submission."""

    def __init__(self, work: Work):
        self.work = work
        self.seen: dict[int, Seen] = {}  # by the seed of practice; -1: the work's own
        self.compiled: bool | None = None

    def programs(self, practice: int = -1) -> list[Program]:
        options = self.work.lab.options["tasks"]
        seeds = self.work.seeds if practice < 0 else keys.practice(practice)
        return [
            made(name, seeds.seed(self.work.lab.number, "tasks", name, i))
            for name in programs.MAKERS
            for i in range(1 if name in programs.ONCE else options["programs"])
        ]

    def run(self, practice: int = -1) -> Seen:
        """Of all programs. Refused: they cannot be run."""
        submission = self.work.of(Table)
        submission.check()
        if self.compiled is None:
            outcome = machine.compile_tasks(self.work.folder, submission.name)
            self.compiled = outcome.good
            if not outcome.good:
                raise Refused(f"it cannot be compiled for tasks: {outcome.said[:600] or outcome.why(COMPILE, False)}")
            if faults := build.not_alone(self.work.folder, "lockless.o", build.FROM_OTHERS | {"machine_wait"}):
                self.compiled = False
                raise Refused(f"compiled for tasks it is no structure alone: {faults[0]}")
        if not self.compiled:
            raise Refused("it was not compiled for tasks")
        if practice not in self.seen:
            options = self.work.lab.options["tasks"]
            hidden = practice < 0 and self.work.seeds.hidden
            seen = machine.run(self.work.folder, self.programs(practice), options["schedules"], hidden)
            self.seen[practice] = seen
            if seen.slow:
                submission.never_ends = seen.ended
        return self.seen[practice]


# ---- what is said -------------------------------------------------------------------------------


def how(program: Program, run: Run) -> str:
    """The schedule, and what was seen, for who may know it: its beginning, where it is long."""
    steps = [
        f"{TASKS[task + 1]}: {'all' if accesses == operations == ALL else f'{accesses} accesses' if operations == ALL else f'{operations} operations'}"
        for task, accesses, operations in run.segments[:SHOWN]
    ]
    steps += ["and so on"] if len(run.segments) > SHOWN else []
    lines = [
        f"  {program.name}, run {run.number}. In turn: {'; '.join(steps) or 'one after the other'}; then the rest."
    ]
    lists = program.lists()
    for number, one in enumerate(lists):
        if number in TOGETHER and one:
            more = f"; the last two {program.again:,} times more" if number == 5 and program.again else ""
            more = f"; and so on, {len(one):,} in all" if len(one) > SHOWN else more
            lines.append(f"    {TASKS[number]}: {'; '.join(map(str, one[:SHOWN]))}{more}")
    lines.append(f"    before: {'; '.join(map(str, lists[0]))}")
    first = min(done.began for done in run.history)
    for done in sorted((one for one in run.history if one.where in TOGETHER), key=lambda one: one.began)[:SHOWN]:
        operation, found = lists[done.where][done.at], ""
        if operation.kind == programs.FIND:
            where = program.addresses.index(done.answer) if done.answer in program.addresses else "that is none"
            found = f": object {where}" if done.answer else ": nothing"
        lines.append(f"    from {done.began - first:3} to {done.ended - first:3} {operation}{found}")
    return "\n".join(lines)


def first_wrong(all_of: list[Program], seen: Seen) -> dict[str, tuple[Run, str]]:
    """By the programs' names: the first run that shows a fault, and which."""
    found: dict[str, tuple[Run, str]] = {}
    for run in seen.runs:
        program = all_of[run.program]
        if program.name in found:
            continue
        wrong = programs.wrong_lookup(program, run.history)
        if wrong:
            found[program.name] = run, wrong[1]
        elif any(kind == FREED for kind, _ in run.faults):
            found[program.name] = run, FAULTS[FREED]
    return found


def too_busy(all_of: list[Program], seen: Seen, hidden: bool) -> str:
    """Who makes many accesses that lead to nothing hides the few between which he is wrong: so few of all places can be tried.
    @hidden: without numbers, which are the submission's choice. "": every operation is within the limit, once for itself and once
    for each that others did at the same time."""
    for run in seen.runs:
        program = all_of[run.program]
        most = FIRST + EACH * len(program.addresses)
        for done in run.history:
            if done.accesses <= most:
                continue
            beside = sum(other.began < done.ended and done.began < other.ended for other in run.history) - 1
            if done.accesses > most * (1 + beside):
                kind = KINDS_OF[program.lists()[done.where][done.at].kind]
                numbers = "" if hidden else f": {done.accesses} times, with {beside} operations of others beside it"
                return f"{kind} accesses shared memory too often{numbers}"
    return ""


def _practice(tasks: Tasks, name: str) -> str:
    command = f"{tasks.work.command} --seed"
    for number in table.PRACTICE:
        try:
            wrong = first_wrong(tasks.programs(number), tasks.run(number))
        except Refused:
            break
        if name in wrong:
            return f"{command} {number} has {name}: {wrong[name][1]}"
    return f"{command} N, for several N"


# ---- the parts ----------------------------------------------------------------------------------


def together(work: Work, part: Part) -> Judged:
    """Every lookup finds what it may find, in whatever order tasks go on."""
    tasks = work.of(Tasks)
    try:
        seen = tasks.run()
    except Refused as error:
        return failed(f"{error}.")
    all_of = tasks.programs()
    if busy := too_busy(all_of, seen, work.seeds.hidden):
        work.not_booted("it cannot be tried at so many places")
        return failed(
            f"{busy}. So it cannot be tried at all places at which others may come between.",
            f"Expected: at most {FIRST} accesses, and {EACH} more for each object that there may be; as many again for each operation beside it.",
        )
    wrong = first_wrong(all_of, seen)
    said = []
    for name, (run, what) in wrong.items():
        said.append(f"{name}: {what}.")
        if not work.seeds.hidden:
            said += [how(all_of[run.program], run)] if len(said) == 1 else []
        elif len(said) == 1:
            said.append(f"  to see the like: {_practice(tasks, name)}")
    lost = set(wrong)
    if seen.ended:
        said.append(f"{all_of[seen.runs[-1].program].name if seen.runs else 'the first table'}: {seen.ended}.")
        lost |= {one.name for one in all_of[seen.runs[-1].program if seen.runs else 0 :]}
    if lost:
        said.append(
            "Expected: a lookup finds what is there all the while, and nothing that was not there, wherever the others stand."
        )
        work.not_booted("it is not right with several tasks")
    return Judged(1 - Fraction(len(lost), len(programs.MAKERS)), said)


def _never(work: Work, kind: int, expected: str) -> Judged:
    tasks = work.of(Tasks)
    try:
        seen = tasks.run()
    except Refused as error:
        return failed(f"{error}.")
    bad = [(run, at) for run in seen.runs for found, at in run.faults if found == kind]
    if bad:
        all_of = tasks.programs()
        said = [
            f"{FAULTS[kind]}: in {len({all_of[run.program].name for run, _ in bad})} of {len(programs.MAKERS)} programs."
        ]
        if not work.seeds.hidden:
            said.append(how(all_of[bad[0][0].program], bad[0][0]))
        return failed(*said, expected)
    if seen.ended:
        return failed(f"{seen.ended}.", expected)
    return Judged(Fraction(1))


def quiet(work: Work, part: Part) -> Judged:
    """A lookup writes nothing that others see: so no line goes from CPU to CPU for it, however many look."""
    return _never(work, WRITES, "Expected: whoever looks only reads; neither a lock nor a count is written.")


def waits(work: Work, part: Part) -> Judged:
    """With all others stopped wherever they are, a lookup comes to its end."""
    return _never(
        work, WAITS, "Expected: a lookup takes no lock and waits for no count: it ends though nobody else goes on."
    )


KINDS: dict[str, Callable[[Work, Part], Judged]] = {"together": together, "quiet": quiet, "waits": waits}
