"""A full ext2: what is free after a commit can be had at once, by a user but for root's part, and by root whole."""

from __future__ import annotations

import pytest

from lab.base.paths import TOP
from tests.musl import static_program


@pytest.mark.parametrize("reserved", [10, 40])
def test_what_a_commit_frees_can_be_had_at_once(cw_run, tmp_path, reserved):
    program = tmp_path / "reserved"
    source = TOP / "tests/booted/files/reserved.c"
    static_program(program, source, flags=["-O2"])
    script = f"""
        mke2fs -b 1024 -m {reserved} /dev/ram0 > /dev/null && mount /dev/ram0 /mnt || exit 1
        /reserved /mnt; umount /mnt
    """
    result = cw_run(script=script, root="tmpfs", cmdline="ramdisk_size=3000", add=[f"{program}:/reserved"])
    assert result.output.decode().splitlines() == ["done"]
