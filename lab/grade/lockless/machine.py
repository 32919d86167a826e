"""The machine in which tasks change at any instruction: compiled in the sandbox, run there, and what was seen of it.

The submission and a few lines of machine code are alone in it (guest/tasks.c, guest/contexts.S). Its tasks are run in steps of one
instruction; who goes on is said by a plugin of QEMU's (guest/interleave.c), which also sees every access to memory. No time is in it.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from threading import Lock

import numpy as np

from lab.base.paths import LabError
from lab.grade import sandbox
from lab.grade.function.oracle import COMPILE
from lab.grade.lockless.programs import BITS, Done, Program
from lab.grade.sandbox import Limits, Outcome
from lab.grade.table import build, machine
from lab.run.qemu.plugin import plugin

GUEST = Path(__file__).parent / "guest"
MEMORY = machine.MEMORY
SEEN = np.dtype([("program", "<u4"), ("run", "<u4"), ("task", "<u4"), ("operation", "<u4"), ("began", "<u8"), ("ended", "<u8"), ("answer", "<u8"), ("accesses", "<u8")])  # fmt: skip
SEGMENT = np.dtype([("task", "<u4"), ("accesses", "<u4"), ("operations", "<u4")])
SCHEDULE, FAULT = 99, 100  # guest/records.h: instead of a task
FREED, WRITES, WAITS = range(3)
ALL = 0xFFFFFFFF

LIMITS = Limits(
    seconds=600, cpu=80, memory=4 << 30, processes=32, file=MEMORY, output=64 << 20, scratch=MEMORY + (16 << 20), files=256, shares=True
)  # fmt: skip
ENDS = {
    **machine.ENDS,
    21: "it was ended after 30,000 instructions of one operation in a row: it never ends, or is far slower than it should be",
    31: "all tasks wait for each other",
    32: "it turns off the steps in which it is run",
    33: "it reaches into the machine's own memory",
    34: "it waits for a lock that nobody can have: who changes the table waits for another who does, and never for who looks",
    35: "it does what no table has to: with vectors, ports, segments, or the processor's own registers",
}
SCRIPT = """cd /out
machine="{flags} {defines} -isystem $(gcc -print-file-name=include) -I/grade/arch/x86/include"
gcc $machine -DLOCKLESS {table} -c -o lockless.o /grade/guest/table.c || exit 1
gcc $machine -c -o tasks.o /tasks/tasks.c && gcc $machine -c -o contexts.o /tasks/contexts.S || exit 3
ld -static -nostdlib -N --build-id=none -Ttext-segment=0x400000 -e machine_start -o tasks /frame/start.o tasks.o contexts.o lockless.o || exit 2
[ $((0x$(nm tasks | sed -n 's/ . _end$//p'))) -lt {mailbox} ] || {{ echo "it has megabytes of data of its own" >&2; exit 2; }}
"""
PLUGIN_LOCK = Lock()


@cache
def _interleave() -> Path:
    headers = ("tasks.h", "records.h", "lists.h", "schedules.h", "halves.h")
    return plugin(GUEST / "interleave.c", *machine.WATCHED, *(GUEST / name for name in headers))


def interleave() -> Path:
    """The plugin, built once."""
    with PLUGIN_LOCK:
        return _interleave()


def compile_tasks(folder: Path, name: str) -> Outcome:
    """After build.compile_all(): the machine with tasks, as @folder/out/tasks."""
    table = build.instance(name)
    shutil.copytree(GUEST, folder / "tasks", ignore=shutil.ignore_patterns("interleave.c"))
    shown = {folder / "grade": "/grade", folder / "frame": "/frame", folder / "tasks": "/tasks"}
    return sandbox.run(build.script(SCRIPT, table), COMPILE, shown, {folder / "out": "/out"})


@dataclass(frozen=True)
class Run:
    """One run of a program by one schedule: who did how much, in turn, and what came of it."""

    program: int
    number: int
    segments: list[tuple[int, int, int]]  # task, accesses, operations
    history: list[Done]
    faults: list[tuple[int, int]]  # a kind, and the operation of the one who looks
    whole: bool


@dataclass(frozen=True)
class Seen:
    runs: list[Run]
    ended: str  # why not all was run; "": it was
    slow: bool = False  # it used up a limit


def run(folder: Path, programs: list[Program], schedules: int, hidden: bool = False) -> Seen:
    """All @programs by @schedules schedules each, in a fresh machine. @hidden: as Outcome.why() has it."""
    shutil.copy(interleave(), folder / "interleave.so")
    (folder / "interleave.so").chmod(0o644)
    command = machine.command_for("tasks", "interleave.so")
    given = np.uint32(BITS).tobytes() + b"".join(one.packed(schedules) for one in programs)
    shown = {folder / "out": "/out", folder / "interleave.so": "/interleave.so"}
    outcome = sandbox.run(command, LIMITS, shown, given=given)
    if outcome.kind == "exit" and outcome.status in (1, 20):
        raise LabError(f"the machine cannot be started in the sandbox: {outcome.said[:500] or outcome.status}")
    runs = _parse(outcome.output, programs)
    if outcome.kind == "exit" and outcome.status in ENDS:
        return Seen(runs, ENDS[outcome.status], outcome.status == 21)
    if not outcome.good:
        return Seen(runs, outcome.why(LIMITS, hidden), outcome.kind != "exit")
    if len(runs) < sum(one.runs(schedules) for one in programs) or not runs[-1].whole:
        return Seen(
            runs, "the machine broke down: it went to memory that is not there, or did what no kernel may", False
        )
    return Seen(runs, "")


def _parse(output: bytes, programs: list[Program]) -> list[Run]:
    runs: list[Run] = []
    at = 0
    while at + SEEN.itemsize <= len(output):
        program, number, task, operation, began, ended, answer, accesses = np.frombuffer(output, SEEN, 1, at)[0].item()
        at += SEEN.itemsize
        if task == SCHEDULE:
            segments = np.frombuffer(output[at : at + operation * SEGMENT.itemsize], SEGMENT)
            at += operation * SEGMENT.itemsize
            runs.append(Run(program, number, [one.item() for one in segments], [], [], True))
        elif task >= FAULT:
            runs[-1].faults.append((task - FAULT, answer - 1))
        else:
            runs[-1].history.append(Done(task, operation, began, ended, answer, accesses))
    if runs and len(runs[-1].history) < sum(map(len, programs[runs[-1].program].lists())):
        runs[-1] = Run(**{**runs[-1].__dict__, "whole": False})
    return runs
