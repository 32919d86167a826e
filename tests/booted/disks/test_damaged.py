"""errors=remount-ro: after damage was found nothing is written, and who wrote before is told (damaged.c)."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.musl import static_program

SAID = """
mount: ok
fsync: ok
stat: EUCLEAN
open: Read-only file system
write: ok
fsync: Read-only file system
syncfs: Read-only file system
umount: ok
"""


def test_what_is_lost_is_told(cw_run, tmp_path):
    program = static_program(tmp_path / "damaged", Path(__file__).with_name("damaged.c"))
    disk, folder = tmp_path / "image", tmp_path / "folder"
    folder.mkdir()
    (folder / "damaged").write_text("text")
    make = ["mke2fs", "-q", "-t", "ext2", "-b", "1024", "-e", "remount-ro", "-d", folder, disk, "4M"]
    subprocess.run(make, check=True, capture_output=True)
    damage = ["debugfs", "-w", "-R", "set_inode_field damaged links_count 0", disk]
    subprocess.run(damage, check=True, capture_output=True)
    result = cw_run(["/root/damaged"], add=[f"{program}:/root/damaged"], root="tmpfs", more_disks=[disk])
    assert result.output.decode().replace("\r", "").strip() == SAID.strip()
