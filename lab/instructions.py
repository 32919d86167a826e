"""How many instructions a job took, those of programs and those of the kernel apart: a plugin of QEMU counts.

lab/instructions.c says how. The plugin is built at its first use, for the interface of the QEMU that is there.
"""

from __future__ import annotations

import os
import re
import subprocess
from dataclasses import dataclass, replace
from pathlib import Path

from lab import machine
from lab.paths import TOP, LabError, output_folder

SOURCE = TOP / "lab/instructions.c"


@dataclass(frozen=True)
class Instructions:
    """Executed between the job's fork and its having been reaped by init."""

    user: int
    kernel: int


def plugin() -> Path:
    """The plugin, built if it is not there or older than its source."""
    target = output_folder() / "instructions.so"
    if target.exists() and target.stat().st_mtime >= SOURCE.stat().st_mtime:
        return target
    said = subprocess.run(["qemu-system-x86_64", "--version"], capture_output=True, text=True, check=True).stdout
    version = int((re.search(r"version (\d+)", said) or ["", "0"])[1])
    target.parent.mkdir(parents=True, exist_ok=True)
    made = target.with_name(f"instructions-{os.getpid()}.so")
    command = ["gcc", "-shared", "-fPIC", "-O2", f"-DPLUGIN_VERSION={1 if version < 9 else 2}"]
    result = subprocess.run([*command, "-o", made, SOURCE], capture_output=True, text=True, check=False)
    if result.returncode:
        raise LabError(f"the plugin for QEMU cannot be built:\n{result.stderr}")
    made.replace(target)
    return target


def count(options: machine.Options, out: Path) -> tuple[machine.Result, Instructions]:
    """Run the job under --icount and count; @out is a file for the plugin."""
    out.unlink(missing_ok=True)
    arguments = ["-plugin", f"file={plugin()},out={out}"]
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
