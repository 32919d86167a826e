"""The kernel itself with the submitted function: built, booted and put to work in the sandbox, judged by what is on its disk.

Who is in the kernel can say what he likes on the console and the control port. So what counts is the disk: files whose contents
come from the seeds went through the buffer cache in many ways, and afterwards e2fsck finds nothing and every file is, byte by
byte, what it should be. That is looked at in a sandbox of its own, which the submission was never in. No counter of the kernel's
own is believed; how good the function is, the other parts say.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from threading import Lock

from lab.base.paths import TOP, LabError, output_folder
from lab.build.kernel import build, build_lock
from lab.course import keys, labs
from lab.course.draw import Draw
from lab.course.labs import Part
from lab.grade import sandbox
from lab.grade.sandbox import Limits
from lab.grade.work import Judged, Work, failed, passed
from lab.guest.image import Ext2
from lab.guest.tree import Tree, base_tree
from lab.run import control, machine
from lab.run.cmdline import kernel_command_line
from lab.run.options import Options
from lab.run.own_folder import own_folder
from lab.run.qemu.command import qemu_command

BUILD = Limits(seconds=240, cpu=60, memory=1 << 30, processes=16, file=64 << 20, output=1 << 20, scratch=64 << 20)
BOOT = Limits(seconds=150, cpu=90, memory=16 << 30, processes=64, file=256 << 20, output=1 << 20, files=256)
LOOK = Limits(seconds=60, cpu=30, memory=1 << 30, processes=8, file=64 << 20, output=1 << 20)

SOURCES = ("Makefile", "Kconfig", "configs", "boot", "core", "arch", "hash", "mm", "fs", "kernel", "user", "lab/build")
NOT_NEEDED = ("runs", "images", "user", ".lock", "chainwalk*", "*.map")  # of what was built
HOME = "/chainwalk"  # the source tree in the sandbox
MOST_CONTROL = 1 << 20
OUTPUT = "graded"  # build/NAME-graded: the kernel that is built once and of which each submission gets a copy

# In the guest. Blocks of all kinds come and go: files with indirect blocks, folders, holes, links, what is removed again.
JOB = """set -e
cd /work
mkdir copy && cp -r given/. copy/
for round in 1 2 3; do
	mkdir -p many/$round
	for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do cat given/a given/b > many/$round/$i; done
	sync
	echo 3 > /proc/sys/vm/drop_caches
	cmp many/$round/7 many/$round/20
	[ $round = 2 ] || rm -r many/$round
done
cat given/* > all
dd if=given/c of=holes bs=1024 seek=3000 2>/dev/null
mv copy/d copy/moved
ln copy/a linked
rm copy/b
sync
echo 3 > /proc/sys/vm/drop_caches
sha256sum all copy/* many/2/* holes linked
"""


@dataclass(frozen=True)
class Given:
    """Files that go in, and what must come out: guest path -> checksum."""

    files: dict[str, bytes]

    def expected(self) -> dict[str, str]:
        f = self.files
        out = {
            "all": b"".join(f[name] for name in sorted(f)),
            "holes": b"\0" * (3000 * 1024) + f["c"],
            "linked": f["a"],
        }
        out |= {f"copy/{name}": f[name] for name in f if name not in "bd"} | {"copy/moved": f["d"]}
        out |= {f"many/2/{i}": f["a"] + f["b"] for i in range(1, 21)}
        return {name: hashlib.sha256(data).hexdigest() for name, data in out.items()}


def given(draw: Draw) -> Given:
    """Six files of drawn sizes and contents."""

    def content(size: int) -> bytes:
        return b"".join(hashlib.sha256(draw.word().to_bytes(8, "little")).digest() for _ in range(size // 32 + 1))[
            :size
        ]

    return Given({name: content(draw.between(2000, 90_000)) for name in "abcdef"})


def judge(work: Work, part: Part) -> Judged:
    """Build, boot, look at the disk. In home()."""
    if not work.boots:
        return failed("left out (--no-boot)")
    reason = work.compiled or work.not_a_function or work.never_ends
    if reason:
        return failed(f"not booted: {reason}")
    stand_in = part.options["stands_in_for"]
    found = _tried(work, stand_in)
    if found.share < 1:
        _check_kernel(work.lab.cache, stand_in)  # whose fault is it?
    return found


def _tried(work: Work, stand_in: str) -> Judged:
    files = given(work.draw("files"))
    with sandbox.folder() as folder:
        said = _build(folder, work, stand_in)
        if said:
            return failed("The kernel cannot be built with it.", said)
        said = _boot(folder, files)
        if said:
            return failed(said, "Expected: the machine copies, moves and removes files, and leaves in the orderly way.")
        return _look(folder, files)


@cache
def _check_kernel(function: str, stand_in: str) -> None:
    """A LabError where the kernel does not run with its own function either: then nobody is marked down for it. Once a process."""
    text = (TOP / f"hash/{function}/{stand_in}.h").read_bytes()
    found = _tried(Work(labs.find(labs.numbers()[0]), keys.practice(1), text, Path()), stand_in)
    if found.share < 1:
        words = " ".join(found.said)[:1000]
        raise LabError(
            f"the kernel cannot be built, or does not run, in the sandbox with its own hash/{function}/{stand_in}.h: {words}"
        )


def home() -> AbstractContextManager[None]:
    """Where all of a grading happens: the kernel that is graded has an output folder of its own. Once a process."""
    return own_folder(OUTPUT)


def prepare(part: Part) -> None:
    """Build the kernel of which each submission gets a copy, unless it is up to date. In home()."""
    _base(part.options["stands_in_for"])


BASE_LOCK = Lock()


def _base(stand_in: str) -> None:
    with BASE_LOCK:
        _base_once(stand_in, str(output_folder()))


@cache
def _base_once(stand_in: str, folder: str) -> None:
    with build_lock():
        build(_settings(stand_in), quiet=True, goals=("kernel", "user"))


def _settings(stand_in: str) -> tuple[str, ...]:
    return (f"BUFFER_HASH={stand_in}",)


def _build(folder: Path, work: Work, stand_in: str) -> str:
    """The kernel with the submission in the place of the function that @stand_in is: what went wrong, or ""."""
    _base(stand_in)
    source, out = folder / "source", folder / "out"
    with build_lock():
        for name in SOURCES:
            _copy(TOP / name, source / name)
        _copy(output_folder(), out, NOT_NEEDED)
    (source / f"hash/{work.lab.cache}/{stand_in}.h").write_bytes(work.text)  # newer than all that was built
    stamps = source / ".venv/stamps"
    stamps.mkdir(parents=True)
    for name in ("python", "packages-run"):
        (stamps / name).touch()
    place = os.path.relpath(output_folder(), TOP)
    place = str(output_folder()) if place.startswith("..") else place
    (source / place).mkdir(parents=True, exist_ok=True) if not place.startswith("/") else None
    inside = place if place.startswith("/") else f"{HOME}/{place}"
    command = [
        "make",
        "-s",
        "-j2",
        "-C",
        HOME,
        f"O={place}",
        "kernel",
        f"SET={' '.join(_settings(stand_in))}",
        "DEFCONFIG=",
    ]
    outcome = sandbox.run([*command, "PYTHON=/usr/bin/python3"], BUILD, {source: HOME}, {sandbox.give(out): inside})
    if not outcome.good:
        words = outcome.said.replace(f"hash/{work.lab.cache}/{stand_in}.h", work.lab.hand_in)
        return words[:1500] or outcome.why(BUILD)
    return ""


def _copy(path: Path, target: Path, without: tuple[str, ...] = ()) -> None:
    """With the times that make goes by."""
    target.parent.mkdir(parents=True, exist_ok=True)
    if path.is_dir():
        shutil.copytree(path, target, ignore=shutil.ignore_patterns("__pycache__", *without))
    else:
        shutil.copy2(path, target)


def _tree(files: Given) -> Tree:
    tree = base_tree()
    for name, data in files.files.items():
        tree.text(f"/work/given/{name}", data)
    tree.text("/work/job.sh", JOB)
    return tree


def _boot(folder: Path, files: Given) -> str:
    """Run the job: what went wrong with the machine, or ""."""
    run = folder / "run"
    run.mkdir()
    tree = _tree(files)
    options = Options(
        job=["/bin/sh", "/work/job.sh"], root="ext2", mem="96M", icount=True, quiet=True, ext2=Ext2(1024, 128, 24 << 20, 512),
        cmdline="bhash_entries=256 job_input=none",
    )  # fmt: skip
    with build_lock():
        command = qemu_command(options, run, kernel_command_line(options, tree), tree)
    os.chmod(folder / "out/chainwalk.stripped", 0o644, follow_symlinks=False)
    shown = {folder / "out": "/kernel"}
    command[command.index("-kernel") + 1] = "/kernel/chainwalk.stripped"
    outcome = sandbox.run(command, BOOT, shown, {sandbox.give(run): str(run)})
    if outcome.kind != "exit":
        return "The machine did not end: it hangs, or is far slower than it should be." if outcome.kind == "timeout" or outcome.status == 9 else f"The machine did not end by itself: {outcome.why(BOOT)}."  # fmt: skip
    result = machine.judge(outcome.status, control.parse(_plain_bytes(run / "control")))
    if result.kind == "silence" and outcome.said.strip() and not (run / "control").exists():
        raise LabError(f"the machine could not be started in the sandbox: {outcome.said.strip()[:500]}")
    if result.kind != "exit":
        return f"{result.message[:300]}."
    return (
        f"The job ended with status {result.status}: {outcome.output[-300:].decode(errors='replace')!r}"
        if result.status
        else ""
    )


def _plain_bytes(path: Path) -> bytes:
    """Of a file that the sandbox made: no link is followed, and not more read than there should be."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return b""
    with os.fdopen(handle, "rb") as file:
        return file.read(MOST_CONTROL)


def _look(folder: Path, files: Given) -> Judged:
    """At the disk, in a sandbox that has it read-only."""
    expected = files.expected()
    script = ["e2fsck -fn /run/disk >/dev/null 2>&1; echo fsck $?"]
    script += [f"debugfs -R 'cat /work/{name}' /run/disk 2>/dev/null | sha256sum" for name in expected]
    outcome = sandbox.run(["/bin/sh", "-c", "\n".join(script)], LOOK, {folder / "run": "/run"})
    lines = outcome.output.decode(errors="replace").splitlines()
    if not outcome.good or len(lines) != len(script):
        return failed(f"Its disk cannot be looked at: {outcome.why(LOOK)}.")
    faults = [] if lines[0] == "fsck 0" else ["e2fsck -fn finds faults on its disk."]
    wrong = [name for name, line in zip(expected, lines[1:], strict=True) if line.split()[:1] != [expected[name]]]
    if wrong:
        faults.append(
            f"{len(wrong)} of {len(expected)} files on its disk are not what was written: {', '.join(wrong[:4])}"
        )
    return failed(*faults, "Expected: a block that was written is the one that is found.") if faults else passed()
