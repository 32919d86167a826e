"""What runs on both: the same work on Linux, on this host, and in a machine of ours."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from lab.base.paths import LabError
from lab.check.fuzz.programs import file_fuzzer
from lab.guest import image
from lab.guest.tree import Tree
from lab.run import machine
from lab.run.options import Options

# Whoever may not search a directory above is remembered nowhere below (fs/path/direct/direct.h): so all may.
MAKE_TOP = 'chmod 711 /root && mkdir -m 755 /root/top && exec "$@"'
DROP_EVERY = 20  # sequences from one drop_caches to the next
ROOTS = ("tmpfs", "ext2")

# What is left out on a root since it differs for a reason that is not a fault.
LEFT_OUT: dict[str, list[str]] = {"tmpfs": [], "ext2": []}

# What a kernel with all optional rooms is found not to have there: tests hold it against this, so that no call leaves
# the comparison unseen. A mount within ext2 is of tmpfs, which has no attributes of users.
ABSENT = {
    "tmpfs": "setxattr,lsetxattr,fsetxattr,getxattr,fgetxattr,listxattr,removexattr,fremovexattr",
    "ext2": "fallocate,mount",
}


@dataclass
class Outcome:
    """What a program said of some sequences."""

    sums: dict[int, str] = field(default_factory=dict)
    traces: dict[int, list[str]] = field(default_factory=dict)
    absent: str = ""
    ended: str = ""  # how the machine ended, if not as it should

    def read(self, text: str) -> None:
        lines: list[str] | None = None
        for line in text.splitlines():
            if line.startswith("absent:"):
                self.absent = line.removeprefix("absent:").strip()
            elif match := re.fullmatch(r"sequence (\d+)", line):
                lines = self.traces.setdefault(int(match[1]), [])
            elif match := re.fullmatch(r"(\d+) ([0-9a-f]{8})", line):
                self.sums[int(match[1])] = match[2]
                lines = None
            elif lines is not None:
                lines.append(line)


@dataclass
class Work:
    """What to run: seeds, or sequences given as lists of operations."""

    first: int = 0
    count: int = 0
    sequences: dict[int, list[str]] = field(default_factory=dict)
    verbose: bool = False

    def text(self) -> str:
        return "".join(f"sequence {name}\n" + "".join(f"{x}\n" for x in ops) for name, ops in self.sequences.items())

    def arguments(self, folder: str, file: str) -> list[str]:
        if self.sequences:
            return [folder, "file", file]
        return [folder, "seeds", str(self.first), str(self.count)]


def privileged() -> list[str]:
    """What to put before a command that must be root's."""
    if os.getuid() == 0:
        return []
    if (
        shutil.which("sudo")
        and subprocess.run(["sudo", "-n", "true"], capture_output=True, check=False).returncode == 0
    ):
        return ["sudo", "-n"]
    raise LabError("Linux's answers need root here, for several users and mounts: run this with sudo")


def cannot_judge() -> str:
    """Why this host cannot say what Linux does, or nothing."""
    try:
        privileged()
        on_linux("ext2", ["true"])
    except LabError as error:
        return str(error)
    return linux_differs()


def linux_differs() -> str:
    """Why this Linux cannot be the judge, or nothing."""
    for name, wanted in (("symlinks", "0"), ("hardlinks", "1"), ("fifos", "0"), ("regular", "0")):
        path = Path(f"/proc/sys/fs/protected_{name}")
        if path.exists() and path.read_text().strip() != wanted:
            return f"{path} is not {wanted}, as it is here"
    return ""


def on_linux(root: str, command: list[str]) -> str:
    """What @command prints on this host, in a mount namespace; "TOP" in it is a fresh file system of its own."""
    with tempfile.TemporaryDirectory(prefix="cw-fuzz-") as name:
        top = f"{name}/top"
        Path(top).mkdir()
        mount = f"mount -t tmpfs -o mode=755 none {top}"
        if root == "ext2":
            image.make_ext2(Tree(), Path(name) / "disk", image.Ext2())
            mount = f"mount -t ext2 -o loop {name}/disk {top}"
        script = f'{mount} && "$@"; status=$?; umount -l {top}; exit $status'
        command = [word.replace("TOP", top) for word in command]
        whole = [*privileged(), "unshare", "-m", "--propagation", "private", "sh", "-c", script, "sh", *command]
        done = subprocess.run(whole, capture_output=True, check=False)
        if done.returncode:
            raise LabError(f"Linux's side: {done.stderr.decode(errors='replace')[-500:]}")
    return done.stdout.decode(errors="replace")


def in_machine(root: str, command: list[str], add: list[str], smp: int, timeout: float) -> tuple[str, str]:
    """The same in a machine of its own; and how it ended, if not well. On ext2 the disk is checked afterwards."""
    with tempfile.TemporaryDirectory(prefix="cw-fuzz-") as name:
        disk = Path(name) / "disk" if root == "ext2" else None
        given = Options(
            job=["/bin/sh", "-c", MAKE_TOP, "sh", *command], add=add,
            root=root, smp=smp, mem="256M", quiet=True, build=False, timeout=timeout, disk=disk, flushes=False,
        )  # fmt: skip
        given.job = [word.replace("TOP", "/root/top") for word in given.job]
        result = machine.run(given)
        text = result.output.decode(errors="replace").replace("\r\n", "\n")
        if result.kind != "exit" or result.status:
            return text, f"{result.message}\n{text[-2500:]}"
        clean, report = image.check(disk) if disk else (True, "")
    return text, "" if clean else f"e2fsck: {report}"


def run_on_linux(root: str, work: Work, absent: str) -> Outcome:
    options = (["-x", absent] if absent else []) + (["-v"] if work.verbose else [])
    with tempfile.NamedTemporaryFile("w", prefix="cw-fuzz-") as file:
        file.write(work.text())
        file.flush()
        outcome = Outcome(absent=absent)
        outcome.read(on_linux(root, [str(file_fuzzer()), *options, *work.arguments("TOP", file.name)]))
    return outcome


def run_here(root: str, work: Work, smp: int, timeout: float = 900) -> Outcome:
    options = ["-p", "-d", "/proc/sys/vm/drop_caches", "-n", str(DROP_EVERY), "-j", str(smp)]
    options += ["-x", ",".join(LEFT_OUT[root])] if LEFT_OUT[root] else []
    options += ["-v"] if work.verbose else []
    with tempfile.NamedTemporaryFile("w", prefix="cw-fuzz-") as file:
        file.write(work.text())
        file.flush()
        add = [f"{file_fuzzer()}:/filefuzz", f"{file.name}:/sequences"]
        command = ["/filefuzz", *options, *work.arguments("TOP", "/sequences")]
        text, ended = in_machine(root, command, add, smp, timeout)
    outcome = Outcome(ended=ended)
    outcome.read(text)
    outcome.absent = ",".join(LEFT_OUT[root] + ([outcome.absent] if outcome.absent else []))
    return outcome
