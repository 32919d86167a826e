"""A mount that changes the size of a disk's blocks, under those who read the disk (sizes.c)."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.musl import static_program


def test_a_mount_changes_the_size_of_blocks_under_readers(cw_run, tmp_path):
    program = static_program(tmp_path / "sizes", Path(__file__).with_name("sizes.c"))
    images = []
    for size in ("1024", "4096"):
        image, folder = tmp_path / f"image-{size}", tmp_path / size
        folder.mkdir()
        (folder / "name").write_text(size)
        subprocess.run(["mke2fs", "-q", "-t", "ext2", "-b", size, "-d", folder, image, "4M"], check=True)
        images.append(f"{image}:/{size}")
    disk = tmp_path / "disk"
    disk.write_bytes(bytes(4 << 20))
    add = [f"{program}:/root/sizes", *images]
    result = cw_run(["/root/sizes"], add=add, root="tmpfs", more_disks=[disk], smp=4, timeout=200)
    assert b"mounted" in result.output
