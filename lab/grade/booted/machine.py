"""A machine in the sandbox: a kernel, an image and a job, run to their end; nothing of the host but these is in there with it."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from lab.base.paths import LabError
from lab.build.kernel import build_lock
from lab.grade import sandbox
from lab.grade.sandbox import Limits
from lab.guest.tree import Tree
from lab.run import control, machine
from lab.run.cmdline import kernel_command_line
from lab.run.machine import Result
from lab.run.options import Options
from lab.run.qemu.command import qemu_command

MOST_CONTROL = 1 << 20
ENDLESS = "The machine did not end: it hangs, or is far slower than it should be."


def run(folder: Path, options: Options, tree: Tree, limits: Limits, hidden: bool = False) -> Result | str:
    """Run the kernel that is @folder/out/chainwalk.stripped, its files in @folder/run: what came of it, or why it did not end in the orderly way.

    @hidden: what the guest has been asked is not to come out, so nothing of what it says is told (ending())."""
    place = folder / "run"
    place.mkdir()
    with build_lock():
        command = qemu_command(options, place, kernel_command_line(options, tree), tree)
    os.chmod(folder / "out/chainwalk.stripped", 0o644, follow_symlinks=False)
    command[command.index("-kernel") + 1] = "/kernel/chainwalk.stripped"
    if "-initrd" in command:  # a root in memory
        image = command.index("-initrd") + 1
        shutil.copyfile(command[image], folder / "out/image")
        command[image] = "/kernel/image"
    outcome = sandbox.run(command, limits, {folder / "out": "/kernel"}, {sandbox.give(place): str(place)})
    if outcome.kind != "exit":
        if outcome.kind == "timeout" or outcome.status == 9:
            return ENDLESS
        return f"The machine did not end by itself: {outcome.why(limits, hidden)}."
    result = machine.judge(outcome.status, control.parse(plain_bytes(place / "control")))
    if result.kind == "silence" and outcome.said.strip() and not (place / "control").exists():
        raise LabError(f"the machine could not be started in the sandbox: {outcome.said.strip()[:500]}")
    result.output = outcome.output
    return result if result.kind == "exit" else ending(result, hidden)


KINDS = {
    "panic": "The kernel panicked", "silence": "The machine ended without a whole status record",
    "hang": "The machine hangs: no CPU can be interrupted any more", "timeout": "The job did not end in time",
}  # fmt: skip


def ending(result: Result, hidden: bool) -> str:
    """How the machine ended, in words; the kernel's own may hold anything that it was asked."""
    return f"{KINDS[result.kind]}." if hidden else f"{result.message[:300]}."


def quoted(output: bytes, hidden: bool) -> str:
    """The end of what the guest said, for who handed it in."""
    return "." if hidden else f": {output[-300:].decode(errors='replace')!r}"


def plain_bytes(path: Path) -> bytes:
    """Of a file that the sandbox made: no link is followed, and not more read than there should be."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return b""
    with os.fdopen(handle, "rb") as file:
        return file.read(MOST_CONTROL)
