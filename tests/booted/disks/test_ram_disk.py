"""The RAM disk takes memory as it is written to: what was never written stays zeros, whatever lay in that memory."""

from __future__ import annotations

import pytest

BLOCKS = 2048  # of 1 KB
WRITTEN = [*range(1, 41, 3), *range(100, 140, 5), 1000, 1003, 1024, BLOCKS - 1]

# Much of memory has once held this, and what was freed last is taken first.
USED = """
    mkdir /m; mount -t tmpfs -o size=28m none /m
    for i in $(seq 13); do head -c 2m /dev/zero | tr '\\0' U > /m/used$i; done 2> /dev/null
    umount /m; echo 3 > /proc/sys/vm/drop_caches
"""


@pytest.mark.parametrize("debug", [True, False], ids=["debug", "plain"])
def test_what_was_never_written_is_zeros(cw_run, tmp_path, debug):
    """Single blocks are written, each beside others of its page that are not."""
    expected = bytearray(BLOCKS << 10)
    for block in WRITTEN:
        expected[block << 10 : (block + 1) << 10] = b"W" * 1024
    (tmp_path / "expected").write_bytes(expected)
    script = f"""
        {USED}
        head -c 1k /dev/zero | tr '\\0' W > /tmp/block
        for i in {" ".join(map(str, WRITTEN))}; do
            dd if=/tmp/block of=/dev/ram0 bs=1k seek=$i conv=notrunc,fsync 2> /dev/null
        done
        cmp /expected /dev/ram0 && echo same
        sync; echo 3 > /proc/sys/vm/drop_caches
        cmp /expected /dev/ram0 && echo same
    """
    result = cw_run(
        script=script, mem="64M", root="tmpfs", cmdline=f"ramdisk_size={BLOCKS}", debug=debug,
        add=[f"{tmp_path / 'expected'}:/expected"],
    )  # fmt: skip
    assert result.output.split() == [b"same", b"same"], result.output


@pytest.mark.turns(3)
@pytest.mark.parametrize("debug", [True, False], ids=["debug", "plain"])
@pytest.mark.parametrize("size", [1024, 2048, 4096])
def test_a_file_system_on_it_shows_nothing_of_the_memory(cw_run, debug, size):
    """Its blocks are written one by one; of those it leaves alone nothing is known but that they are zeros.

    Under --icount, where the clock begins with the machine's: in four minutes of a day all times have a U in them.
    """
    script = f"""
        {USED}
        mke2fs -b {size} /dev/ram0 > /dev/null && mount /dev/ram0 /mnt || exit 1
        mkdir /mnt/d; for i in $(seq 30); do head -c $((i * 700)) /dev/zero | tr '\\0' W > /mnt/d/f$i; done
        rm /mnt/d/f1?; sync; umount /mnt; echo 3 > /proc/sys/vm/drop_caches
        tr -d '\\0W' < /dev/ram0 > /tmp/rest; wc -c < /tmp/rest; tr -dc U < /tmp/rest | wc -c
    """
    result = cw_run(script=script, mem="64M", root="tmpfs", cmdline=f"ramdisk_size={BLOCKS}", debug=debug, icount=True)
    rest, used = map(int, result.output.split())
    assert 300 < rest < 10000, "superblock, bitmaps, inodes and names"
    assert used < 40
