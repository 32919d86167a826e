"""The kernel as it is, with old functions, and the submission an ordinary user's program in it: it floods the dentry cache by file names.

The submission's code never is in the kernel. So the kernel's own histogram, which comes over a port that no program of the guest reaches, can be believed.
The table's size, the directory and where things stand in memory are drawn: names that meet in one table, or in one directory, are not enough.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from threading import Lock

from lab.base.paths import LabError, output_folder
from lab.build.kernel import build, build_lock, kernel_image
from lab.course.draw import Draw
from lab.course.labs import Part
from lab.grade import sandbox
from lab.grade.booted import machine
from lab.grade.flood import keys
from lab.grade.flood.asked import Flood
from lab.grade.flood.broken import Broken
from lab.grade.sandbox import Limits
from lab.grade.work import Judged, Refused, Work, failed
from lab.guest.image import Ext2
from lab.guest.tree import base_tree
from lab.run.options import Options

BOOT = Limits(
    seconds=120, cpu=45, memory=16 << 30, processes=64, file=256 << 20, output=1 << 20, files=256, shares=True
)
FILES = 800
USER = 1000
LOCK = Lock()


def judge(work: Work, part: Part) -> Judged:
    """Boot the kernel, run the submission's program in it, read the kernel's histogram. In booted.judge.home()."""
    if not work.boots:
        return failed("left out (--no-boot)")
    flood = work.of(Flood)
    try:
        flood.keys([Broken("flood", 0, 0, 0)])  # what does not end here would not end there
    except Refused as error:
        return failed(f"not booted: {error}.")
    draw = flood.draw("guest")
    with sandbox.folder() as folder:
        _kernel(tuple(part.options["settings"]), folder / "out")
        found = flooded(folder, work.folder / "out/flood", draw)
    if isinstance(found, str):
        return failed(found, f"Expected: `flood DIRECTORY {FILES}` makes {FILES} files, looks each up, and ends.")
    largest, buckets = found
    share = keys.share(largest, FILES)
    size = f" of {buckets:,}" if not work.seeds.hidden else ""
    said = f"The kernel's fullest bucket{size} has {largest:,} names; all points from {int(keys.FULL * FILES)}, of {FILES} files."
    return Judged(share, [said] if share < 1 else [])


def flooded(folder: Path, program: Path, draw: Draw) -> tuple[int, int] | str:
    """Run @program in the kernel that is in @folder: names in the fullest bucket, and how many buckets there are; or what went wrong."""
    place = f"/srv/{draw.below(1 << 30)}/uploads{draw.below(1000)}"
    tree = base_tree()
    tree.folder(place, 0o755, USER, USER)
    tree.text("/bin/flood", program.read_bytes(), 0o755)
    options = Options(
        job=["/bin/flood", place, str(FILES)], user="user", root="ext2", mem="96M", icount=True, quiet=True, seed=draw.below(1 << 32),
        stats=folder / "unused", ext2=Ext2(1024, 128, 8 << 20, 4 * FILES), cmdline=f"dhash_entries={1 << draw.between(10, 15)} job_input=none",
    )  # fmt: skip
    result = machine.run(folder, options, tree, BOOT)
    if isinstance(result, str):
        return result
    if result.status:
        return f"The program ended with status {result.status}: {result.output[-300:].decode(errors='replace')!r}"
    for report in result.log.all("stats"):
        if report["cache"] == "dentry":
            return int(report["largest"]), int(report["buckets"])
    raise LabError("the kernel reported nothing of its dentry cache")


def _kernel(settings: tuple[str, ...], folder: Path) -> None:
    """The kernel with @settings, into @folder."""
    with LOCK:
        image = _built(settings, str(output_folder()))
    folder.mkdir()
    (folder / "chainwalk.stripped").write_bytes(image)


@cache
def _built(settings: tuple[str, ...], folder: str) -> bytes:
    with build_lock():
        build(settings, quiet=True, goals=("kernel", "user"))
        return kernel_image().read_bytes()
