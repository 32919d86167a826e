"""The kernel itself with a submitted file: built, booted and put to work in the sandbox, judged by what is on its disk.

Who is in the kernel can say what he likes on the console and the control port. So what counts is the disk: files whose contents
come from the seeds went through the buffer cache in many ways, and afterwards e2fsck finds nothing and every file is, byte by
byte, what it should be. That is looked at in a sandbox of its own, which the submission was never in. No counter of the kernel's
own is believed; how good the submission is, the other parts say.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache
from pathlib import Path

from lab.base.paths import LabError
from lab.course.draw import Draw
from lab.course.labs import Part
from lab.grade import sandbox
from lab.grade.booted import machine
from lab.grade.booted.job import JOB, Given, given
from lab.grade.booted.kernel import StandIn, build_with
from lab.grade.sandbox import Limits
from lab.grade.work import Judged, Work, failed, passed
from lab.guest.image import Ext2
from lab.guest.tree import Tree, base_tree
from lab.run.options import Options
from lab.run.own_folder import own_folder

BOOT = Limits(
    seconds=150, cpu=90, memory=16 << 30, processes=64, file=256 << 20, output=1 << 20, files=256, shares=True
)
LOOK = Limits(seconds=60, cpu=30, memory=1 << 30, processes=8, file=64 << 20, output=1 << 20)

LEAST_BITS, MOST_BITS = 6, 12  # of the table of buffers in the booted machine: which size it has is drawn

OUTPUT = "graded"  # build/NAME-graded: the kernel that is built once and of which each submission gets a copy


def judge(work: Work, part: Part) -> Judged:
    """Build, boot, look at the disk. In home()."""
    if not work.boots:
        return failed("left out (--no-boot)")
    if work.unfit:
        return failed(f"not booted: {work.unfit}")
    stand_in = StandIn.of(part)
    found = _tried(stand_in, work.text, work.called, work.draw("files"), work.seeds.hidden)
    if found.share < 1:
        _check_kernel(stand_in)  # whose fault is it?
    return found


def _tried(stand_in: StandIn, text: bytes, called: str, draw: Draw, hidden: bool = False) -> Judged:
    files, bits = given(draw), draw.between(LEAST_BITS, MOST_BITS)
    with sandbox.folder() as folder:
        said = build_with(folder, stand_in, text, called)
        if said:
            return failed("The kernel cannot be built with it.", said)
        said = _boot(folder, files, stand_in.cpus, bits, hidden)
        if said:
            return failed(said, "Expected: the machine copies, moves and removes files, and leaves in the orderly way.")
        return _look(folder, files, hidden)


@cache
def _check_kernel(stand_in: StandIn) -> None:
    """A LabError where the kernel does not run with its own file either: then nobody is marked down for it. Once a process."""
    found = _tried(stand_in, stand_in.text, stand_in.replaces, Draw(1))
    if found.share < 1:
        words = " ".join(found.said)[:1000]
        raise LabError(
            f"the kernel cannot be built, or does not run, in the sandbox with its own {stand_in.replaces}: {words}"
        )


def home() -> AbstractContextManager[None]:
    """Where all of a grading happens: the kernel that is graded has an output folder of its own, and is configured as the
    default one, whatever somebody has chosen for his own. Once a process."""
    return own_folder(OUTPUT, alike=False)


def _tree(files: Given) -> Tree:
    tree = base_tree()
    for name, data in files.files.items():
        tree.text(f"/work/given/{name}", data)
    tree.text("/work/job.sh", JOB)
    return tree


def _boot(folder: Path, files: Given, cpus: int, bits: int, hidden: bool) -> str:
    """Run the job: what went wrong with the machine, or ""."""
    options = Options(
        job=["/bin/sh", "/work/job.sh"], root="ext2", mem="96M", smp=cpus, icount=True, quiet=True, ext2=Ext2(1024, 128, 24 << 20, 512),
        cmdline=f"bhash_entries={1 << bits} job_input=none",
    )  # fmt: skip
    result = machine.run(folder, options, _tree(files), BOOT, hidden)
    if isinstance(result, str):
        return result
    if not result.status:
        return ""
    status = "in an error" if hidden else f"with status {result.status}"
    return f"The job ended {status}{machine.quoted(result.output, hidden)}"


def _look(folder: Path, files: Given, hidden: bool = False) -> Judged:
    """At the disk, in a sandbox that has it read-only. @hidden: which files are wrong is not told, since the kernel could choose them."""
    expected = files.expected()
    script = ["e2fsck -fn /run/disk >/dev/null 2>&1; echo fsck $?"]
    script += [f"debugfs -R 'cat /work/{name}' /run/disk 2>/dev/null | sha256sum" for name in expected]
    outcome = sandbox.run(["/bin/sh", "-c", "\n".join(script)], LOOK, {folder / "run": "/run"})
    lines = outcome.output.decode(errors="replace").splitlines()
    if not outcome.good or len(lines) != len(script):
        return failed(f"Its disk cannot be looked at: {outcome.why(LOOK, hidden)}.")
    faults = [] if lines[0] == "fsck 0" else ["e2fsck -fn finds faults on its disk."]
    wrong = [name for name, line in zip(expected, lines[1:], strict=True) if line.split()[:1] != [expected[name]]]
    if wrong and hidden:
        faults.append("Files on its disk are not what was written.")
    elif wrong:
        faults.append(
            f"{len(wrong)} of {len(expected)} files on its disk are not what was written: {', '.join(wrong[:4])}"
        )
    return failed(*faults, "Expected: a block that was written is the one that is found.") if faults else passed()
