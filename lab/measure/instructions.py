"""How many instructions a job took, and how many locked ones, those of programs and those of the kernel apart: a plugin of
QEMU counts.

lab/measure/instructions.c says how.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

from lab.base.paths import TOP, LabError
from lab.run import machine
from lab.run.options import Options
from lab.run.qemu.plugin import INSTRUCTION, plugin

SOURCE = TOP / "lab/measure/instructions.c"


@dataclass(frozen=True)
class Instructions:
    """Executed by programs and in the kernel."""

    user: int
    kernel: int


@dataclass(frozen=True)
class Counted:
    """Of the job, between its fork and its having been reaped by init; and the locked ones of each part that it marked
    (user/region.h)."""

    all: Instructions
    locked: Instructions
    parts: list[Instructions] = field(default_factory=list)


def count(options: Options, out: Path) -> tuple[machine.Result, Counted]:
    """Run the job under --icount and count; @out is a file for the plugin."""
    out.unlink(missing_ok=True)
    arguments = ["-plugin", f"file={plugin(SOURCE, INSTRUCTION)},out={out}"]
    result = machine.run(replace(options, icount=True, extra_qemu=[*options.extra_qemu, *arguments]))
    if result.kind != "exit":
        raise LabError(f"{options.kernel}: {result.message}\n{result.output.decode(errors='replace')[-2000:]}")
    try:
        return result, _counted(out.read_text())
    except (OSError, ValueError):
        raise LabError(
            "this QEMU has counted nothing: was it built with plugins (qemu-system-x86_64 -plugin)?"
        ) from None


def _counted(text: str) -> Counted:
    """What the plugin wrote. ValueError: that is not all."""
    *parts, job = [line.split() for line in text.splitlines()]
    if job[0] != "job":
        raise ValueError(text)
    return Counted(_pair(job[3:]), _pair(job[1:3]), [_pair(part[1:]) for part in parts])


def _pair(numbers: list[str]) -> Instructions:
    user, kernel = map(int, numbers)
    return Instructions(user, kernel)
