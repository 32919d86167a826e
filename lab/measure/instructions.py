"""How many instructions a job took, those of programs and those of the kernel apart: a plugin of QEMU counts.

lab/measure/instructions.c says how.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from lab.base.paths import TOP, LabError
from lab.run import machine
from lab.run.options import Options
from lab.run.qemu.plugin import plugin

SOURCE = TOP / "lab/measure/instructions.c"


@dataclass(frozen=True)
class Instructions:
    """Executed between the job's fork and its having been reaped by init."""

    user: int
    kernel: int


def count(options: Options, out: Path) -> tuple[machine.Result, Instructions]:
    """Run the job under --icount and count; @out is a file for the plugin."""
    out.unlink(missing_ok=True)
    arguments = ["-plugin", f"file={plugin(SOURCE)},out={out}"]
    result = machine.run(replace(options, icount=True, extra_qemu=[*options.extra_qemu, *arguments]))
    if result.kind != "exit":
        raise LabError(f"{options.kernel}: {result.message}\n{result.output.decode(errors='replace')[-2000:]}")
    try:
        user, kernel = out.read_text().split()
    except (OSError, ValueError):
        raise LabError(
            "this QEMU has counted nothing: was it built with plugins (qemu-system-x86_64 -plugin)?"
        ) from None
    return result, Instructions(int(user), int(kernel))
