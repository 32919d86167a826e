"""A tree of many files on tmpfs: made, listed, statted, removed, within the memory a file may take.

By hand, a million of them in 2 GB:
    ./cw run --quiet --mem 2G --timeout 800 --root tmpfs -- sh -c 'mount -t tmpfs -o nr_inodes=0 none /mnt; manyfiles /mnt 1000000'
"""

from __future__ import annotations

import json
from pathlib import Path

from tests.musl import static_program

# A tmpfs without a limit of inodes: both kernels' default is one for each two pages of memory, which is 250,000 in 2 GB
# and 16,000 here. It is there to keep whoever may write from filling memory, and what is tested is what a file takes.
UNLIMITED = "mount -t tmpfs -o nr_inodes=0 none /many"
LINUX = 192 + 600  # bytes of a dentry and an ext4 inode there


def test_many_files_on_tmpfs(cw_run):
    files = 50000
    job = f"mkdir /many && {UNLIMITED} && manyfiles /many {files}"
    result = cw_run(script=job, root="tmpfs", mem="128M", timeout=240)
    lines = [json.loads(line) for line in result.output.decode().splitlines() if line.startswith("{")]
    steps = {line["step"]: line for line in lines}
    assert list(steps) == ["create", "memory", "list", "stat", "remove"]
    assert all(step["files"] == files for step in steps.values())
    assert steps["memory"]["bytes a file"] <= LINUX


def test_the_limit_that_is_there_without(cw_run):
    """Half as many inodes as pages, as on Linux, and the next file is ENOSPC."""
    job = "mount -t tmpfs none /mnt; df -i /mnt | tail -1; grep MemTotal /proc/meminfo; manyfiles /mnt 20000"
    result = cw_run(script=job, root="tmpfs", mem="128M", status=1)
    numbers = [word for word in result.output.decode().split() if word.isdigit()]
    inodes, kilobytes = int(numbers[0]), int(numbers[3])
    assert inodes == kilobytes // 4 // 2
    assert b"No space left" in result.output


def test_unmounting_takes_time_by_what_there_is(cw_run, tmp_path):
    """And not by its square, which whoever may make directories could make as large as he likes, for all who mount."""
    program = static_program(tmp_path / "depth", Path(__file__).parent / "depth.c")
    options = {"root": "tmpfs", "debug": False, "icount": True}
    assert cw_run(["/depth"], add=[f"{program}:/depth"], **options).output.decode().split() in (
        ["times:", "4"],
        ["times:", "5"],
    )
