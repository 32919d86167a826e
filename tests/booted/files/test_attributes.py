"""Extended attributes: what they cost by their number (attributes.c), and what becomes of them where nobody knows them."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.musl import static_program

HERE = Path(__file__).resolve().parent


@pytest.fixture
def program(tmp_path):
    return static_program(tmp_path / "attributes", HERE / "attributes.c")


def test_a_call_passes_over_the_attributes_once(cw_run, program):
    """Instructions of a call among few and among eight times as many, which fill most of a block. stress-ng's
    stressor of them does 200 rounds in a few seconds; it stood still when each was searched from the front."""
    script = "cd /root; ./attributes 20; ./attributes 160"
    result = cw_run(script=script, add=[f"{program}:/root/attributes"], full=True, icount=True, timeout=300)
    rows = [line.split() for line in result.output.decode().splitlines()]
    few, many = dict(rows[:5]), dict(rows[5:])
    assert list(few) == list(many) == ["create", "replace", "get", "list", "remove"]
    for call in few:
        assert int(many[call]) <= 10 * int(few[call]), (call, few, many)


# Linux keeps equal attributes of several inodes in one block.
MADE_BY_LINUX = """set -e
mke2fs -q -t ext2 -b 1024 -I 128 -O none,filetype,sparse_super,large_file,ext_attr /dev/vdb 4096 > /dev/null
mount -t ext2 /dev/vdb /mnt && cd /mnt
for file in one two three alone; do echo $file > $file; done
mkdir folder; echo in > folder/in; ln -s one link; mknod pipe p
setfattr -n user.colour -v red one two three folder
setfattr -n trusted.owner -v me one two three folder
setfattr -n user.only -v mine alone
setfattr -h -n trusted.of -v link link; setfattr -n trusted.of -v pipe pipe
cd / && umount /mnt
for file in one two three folder alone; do debugfs -R "stat $file" /dev/vdb 2> /dev/null | grep -o 'File ACL: .*'; done"""

USED_AND_DELETED = """exec 2>&1
FILES="one two three folder alone link pipe"
look() {
	umount /mnt; e2fsck -fn /dev/vdb; echo "status $?"; dumpe2fs -h /dev/vdb | grep ^Free
	for file in $FILES; do echo "ea_list $file"; done | debugfs -f /dev/stdin /dev/vdb
	mount -t ext2 /dev/vdb /mnt; stat -c '%n %b %s %a' /mnt/*
}
mount -t ext2 /dev/vdb /mnt && cd /mnt
echo more >> one; chmod 600 two; truncate -s 0 three; mv alone folder/alone; mv folder/alone .; cp one copy; rm copy
cd /; look
for file in one alone folder two link pipe three; do echo "== $file"; rm -r /mnt/$file; look; done
umount /mnt"""


@pytest.mark.turns(4)
@pytest.mark.skipif(not shutil.which("apt-get"), reason="no apt on this machine")
def test_a_disk_with_attributes_without_the_room(cw_run, tmp_path):
    """The kernel as it ships knows none: they stay as Linux left them, and their block, shared by inodes, goes with the
    last of them. What e2fsck, debugfs and stat say after each step is what they say after Linux's."""

    def run(kernel: str, script: str, disk: Path) -> str:
        result = cw_run(
            ["bash", "-c", script], kernel=kernel, debug=False, more_disks=[disk], timeout=300,
            packages=["bash", "coreutils", "e2fsprogs", "attr"],
        )  # fmt: skip
        return result.output.decode()

    disk, copy = tmp_path / "made", tmp_path / "copy"
    with disk.open("wb") as file:
        file.truncate(8 << 20)
    *shared, alone = run("linux", MADE_BY_LINUX, disk).splitlines()
    assert len(shared) == 4 and len(set(shared)) == 1 and alone not in shared
    shutil.copy(disk, copy)
    linux, ours = run("linux", USED_AND_DELETED, disk), run("chainwalk", USED_AND_DELETED, copy)
    assert ours.splitlines() == linux.splitlines()
    assert linux.count("status 0") == 8 and linux.count('"red"') == 4 + 3 + 3 + 2 + 1 + 1 + 1
