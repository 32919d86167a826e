"""File systems that are mounted read-only, or with other flags than before (remounts.c)."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.musl import static_program


def make_image(path: Path, folder: Path) -> Path:
    """An ext2 with blocks of 1024 bytes, as a device has them before it is mounted, and @folder's files."""
    subprocess.run(["mke2fs", "-q", "-t", "ext2", "-b", "1024", "-d", folder, path, "4M"], check=True)
    return path


def test_remounts_do_as_on_linux(cw_run, tmp_path):
    program = static_program(tmp_path / "remounts", Path(__file__).with_name("remounts.c"))
    empty, full = tmp_path / "empty", tmp_path / "full"
    empty.mkdir()
    full.mkdir()
    (full / "name").write_text("text")
    disk, image = make_image(tmp_path / "disk", empty), make_image(tmp_path / "image", full)
    add = [f"{program}:/root/remounts", f"{image}:/image"]
    result = cw_run(["/root/remounts"], add=add, root="tmpfs", more_disks=[disk], timeout=200)
    assert result.output.decode().replace("\r", "").splitlines() == ["done"]
