"""A tree of many files on tmpfs: made, listed, statted, removed, within the memory a file may take.

By hand, a million of them in 2 GB:
    ./cw run --quiet --mem 2G --timeout 800 --root tmpfs -- sh -c 'mount -t tmpfs -o nr_inodes=0 none /mnt; manyfiles /mnt 1000000'
"""

from __future__ import annotations

import json

LINUX = 192 + 600  # bytes of a dentry and an ext4 inode there


def test_many_files_on_tmpfs(cw_run):
    files = 50000
    job = f"mkdir /many && mount -t tmpfs -o nr_inodes=0 none /many && manyfiles /many {files}"
    result = cw_run(script=job, root="tmpfs", mem="128M", timeout=240)
    lines = [json.loads(line) for line in result.output.decode().splitlines() if line.startswith("{")]
    steps = {line["step"]: line for line in lines}
    assert list(steps) == ["create", "memory", "list", "stat", "remove"]
    assert all(step["files"] == files for step in steps.values())
    assert steps["memory"]["bytes a file"] <= LINUX
