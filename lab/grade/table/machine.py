"""The machine in which a table is asked, and the ordinary process with the sanitizers: both in the sandbox.

The machine (guest/machine.c under QEMU) has the submission and a loop in it, and nothing else. A plugin of QEMU's (guest/witness.c)
hands it an operation, waits for the answer, and only then hands it the next. So nobody can work ahead, remember what will come, or
tell from anything that it is being watched; and what is counted, instructions and lines of memory, is counted outside, for each
operation. No time is in it: a machine that goes on for ever is ended after so many instructions.
"""

from __future__ import annotations

import shutil
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
import numpy.typing as npt

from lab.base.paths import LabError
from lab.grade import sandbox
from lab.grade.sandbox import Limits
from lab.grade.table.build import GUEST, SUBMITTED
from lab.grade.table.model import Sequence
from lab.grade.work import Refused
from lab.run.qemu.plugin import INSTRUCTION, plugin

Seen = npt.NDArray[Any]  # of SEEN, one for each operation
SEEN = np.dtype([("answer", "<u8"), *((name, "<u4") for name in ("instructions", "steps", "compares", "lines", "objects", "unused"))])  # fmt: skip
MEMORY = 64 << 20  # guest/mailbox.h
# What a plugin includes that watches such a guest.
WATCHED = (INSTRUCTION, *(GUEST / name for name in ("watched.h", "ordinary.h", "mailbox.h")))

MACHINE = Limits(
    seconds=90,
    cpu=60,
    memory=4 << 30,
    processes=32,
    file=MEMORY,
    output=0,
    scratch=MEMORY + (16 << 20),
    files=256,
    shares=True,
)
# Addresses without end: the sanitizer's shadow. What limits each process is in guest/hosted.c.
HOSTED = Limits(
    seconds=40,
    cpu=20,
    memory=1 << 47,
    processes=2,
    file=1 << 16,
    output=0,
    scratch=1 << 20,
    files=16,
    together=512 << 20,
)

# enum end (guest/watched.h), with enum stopped; enum end_of_table (guest/witness.c).
ENDS = {
    21: "it was ended after 20,000,000 instructions for one operation, or 200,000,000 for all: it never ends, or is far slower than it should be",
    22: "it stops the processor",
    24: "it panics",
    25: "it takes a lock that is held already: the cache takes the bucket's lock, not the table's own functions",
    41: "it rings for the machine, in the midst of an operation: an operation is over when the table's function has returned",
    42: "it changes the machine's own code, or its tables of pages",
    43: "it does what no table has to: with vectors, ports, segments, or the processor's own registers",
}
PLUGIN_LOCK = Lock()


class Ended(Exception):
    """The machine ended before all was answered: @seen is what was, @why it ended; @slow: it used up a limit."""

    def __init__(self, seen: Seen, why: str, slow: bool = False):
        super().__init__(why)
        self.seen, self.why, self.slow = seen, why, slow


def broken(ended: Ended) -> LabError:
    """It was the kernel's own structure with which it ended: nobody is to be marked down for that."""
    return LabError(f"the machine does not work with the kernel's own hash/table/chained.h: {ended.why}")


@cache
def _witness() -> Path:
    return plugin(GUEST / "witness.c", *WATCHED)


def witness() -> Path:
    """The plugin, built once."""
    with PLUGIN_LOCK:
        return _witness()


def command_for(image: str, plugin: str) -> list[str]:
    """QEMU with /out/@image and /@plugin; what the plugin shares with the guest is all of its memory."""
    command = [
        "qemu-system-x86_64",
        "-accel",
        "tcg,tb-size=32",
        "-cpu",
        "qemu64",
        "-nodefaults",
        "-no-user-config",
        "-no-reboot",
    ]
    command += [
        "-object",
        f"memory-backend-file,id=ram,size={MEMORY},mem-path=/tmp/ram,share=on",
        "-m",
        f"{MEMORY >> 20}M",
    ]
    command += ["-machine", "microvm,memory-backend=ram", "-display", "none", "-kernel", f"/out/{image}"]
    return [*command, "-plugin", f"file=/{plugin},ram=/tmp/ram"]


def ask(folder: Path, sequence: Sequence, hidden: bool = False) -> Seen:
    """What was seen of each operation, in a fresh machine. Ended: not of all. @hidden: as Outcome.why() has it."""
    shutil.copy(witness(), folder / "witness.so")
    (folder / "witness.so").chmod(0o644)
    limits = Limits(**{**MACHINE.__dict__, "output": SEEN.itemsize * len(sequence.asked)})
    command = command_for("machine", "witness.so")
    shown = {folder / "out": "/out", folder / "witness.so": "/witness.so"}
    outcome = sandbox.run(command, limits, shown, given=sequence.packed)
    if outcome.kind == "exit" and outcome.status in (1, 20):
        raise LabError(f"the machine cannot be started in the sandbox: {outcome.said[:500] or outcome.status}")
    whole = len(outcome.output) // SEEN.itemsize
    seen = np.frombuffer(outcome.output[: whole * SEEN.itemsize], SEEN)
    if outcome.kind == "exit" and outcome.status in ENDS:
        raise Ended(seen, ENDS[outcome.status], outcome.status == 21)
    if not outcome.good:
        raise Ended(seen, outcome.why(limits, hidden), outcome.kind != "exit")
    if whole < len(sequence.asked):
        raise Ended(seen, "the machine broke down: it went to memory that is not there, or did what no kernel may")
    return seen


def ask_sanitized(folder: Path, sequence: Sequence) -> npt.NDArray[np.uint32]:
    """The answers of a fresh process with the sanitizers, objects by number. Refused: what they found, in words that can be the submission's
    own: @sequence has to be no secret."""
    limits = Limits(**{**HOSTED.__dict__, "output": 4 * len(sequence.asked)})
    # With addresses drawn at random an older sanitizer now and then finds no place for its shadow.
    script = "setarch -R true 2>/dev/null && exec setarch -R /out/hosted; exec /out/hosted"
    outcome = sandbox.run(["/bin/sh", "-c", script], limits, {folder / "out": "/out"}, given=sequence.packed_by_number)
    if not outcome.good:
        raise Refused(fault_in(outcome.said) or outcome.why(limits, False), outcome.slow)
    if len(outcome.output) != 4 * len(sequence.asked):
        raise Refused(f"it ended after {len(outcome.output) // 4:,} of {len(sequence.asked):,} operations")
    return np.frombuffer(outcome.output, "<u4")


def fault_in(said: str) -> str:
    """A sanitizer's finding, and the line of the submission, without paths."""
    where = ""
    for line in said.splitlines():
        if SUBMITTED in line and not where:
            where = line.partition(f"{SUBMITTED}:")[2].partition(":")[0].split()[0] if f"{SUBMITTED}:" in line else ""
    at = f" in line {where}" if where.isdecimal() else ""
    for line in said.splitlines():
        if "runtime error:" in line:
            return f"undefined behaviour{at}: {line.partition('runtime error:')[2].strip()[:160]}"
        if "ERROR: AddressSanitizer:" in line:
            what = line.partition("AddressSanitizer:")[2].split()[0]
            return f"{what}{at}"
        if line.startswith("lab: "):
            return line.removeprefix("lab: ")
    return ""
