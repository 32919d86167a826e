"""The RAM disk timed as a real one: what it takes follows from the numbers of the drive, and is the same in every run."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest

from lab.base.paths import LabError
from lab.run.qemu.disks import DISKS, SECTOR, disk_option

RANDOM = 60
BLOCKS = 3700
SCRIPT = f"""
mark() {{ echo "$1" > /proc/chainwalk/mark; }}
read_random() {{
    n=1; i=0
    while [ $i -lt $1 ]; do
        n=$(( (n * 2531 + 1013) % {BLOCKS} )); i=$((i + 1))
        dd if=/dev/ram0 of=/dev/null bs=4096 count=1 skip=$((n + $2)) 2> /dev/null
    done
}}
echo 3 > /proc/sys/vm/drop_caches
read_random 1 200; mark begin; read_random {RANDOM} 0; mark random
dd if=/dev/ram0 of=/dev/null bs=4096 skip=3800 count=1500 2> /dev/null; mark sequential
blockdev --getsize64 /dev/ram0
"""


def random_blocks():
    n, blocks = 1, []
    for _ in range(RANDOM):
        n = (n * 2531 + 1013) % BLOCKS
        blocks.append(n)
    assert len(set(blocks)) == RANDOM
    return blocks


def intervals(result):
    """Nanoseconds that ended with each mark."""
    marks = [(mark["name"], mark["ns"]) for mark in result.log.all("mark")]
    return {b[0]: b[1] - a[1] for a, b in pairwise(marks)}


@pytest.fixture
def timed(cw_run):
    return lambda model, script=SCRIPT, **more: cw_run(
        script=script, icount=True, debug=False, full=True, disk_model=model, cmdline="ramdisk_size=0", **more
    )


def seeks(numbers, sectors):
    """The sum of the seeks from block to block, as kernel/drivers/model defines them."""
    _, seek, stroke, _, _, cylinder = numbers
    total, head = 0.0, ((2531 + 1013) % BLOCKS + 200) * 8 + 8
    for block in random_blocks():
        distance = abs(block * 8 // cylinder - head // cylinder)
        if distance:
            total += seek + (stroke - seek) * (distance / (sectors // cylinder + 1)) ** 0.5
        head = block * 8 + 8
    return total


def test_time_follows_from_the_drive(timed):
    """A long read takes what its transfer takes, reads of single blocks their seeks and half a turn each."""
    results = {name: timed(name) for name in DISKS}
    assert len({result.output for result in results.values()}) == 1
    size = int(results["none"].output.split()[-1])
    assert size >= 5300 * 4096
    times = {name: intervals(result) for name, result in results.items()}
    for what in ("sequential", "random"):
        spent = [times[name][what] for name in ("none", "ssd", "cheetah", "fireball")]
        assert spent == sorted(spent), what
    for name in ("fireball", "cheetah"):
        numbers = DISKS[name].numbers()
        command, _, stroke, turn, track, _ = numbers
        transfer = 1500 * 8 * turn / track
        rest = times[name]["sequential"] - transfer
        assert 0 < rest < command + stroke + turn + 2 * times["none"]["sequential"], (name, rest)
        fixed = RANDOM * (command + 8 * turn / track) + seeks(numbers, size // SECTOR)
        turns = (times[name]["random"] - times["none"]["random"] - fixed) / RANDOM / turn
        assert abs(turns - 0.5) < 3 / (12 * RANDOM) ** 0.5, (name, turns)
    latency, _, _, turn, track, _ = DISKS["ssd"].numbers()
    rest = times["ssd"]["random"] - times["none"]["random"] - RANDOM * (latency + 8 * turn / track)
    assert abs(rest) < RANDOM * latency / 10


def test_two_runs_are_the_same(timed, tmp_path):
    def run():
        result = timed("fireball", stats=tmp_path / "stats")
        return json.dumps([result.log.all("mark"), result.stats], sort_keys=True)

    assert run() == run()


def test_writes_that_wait_lose_no_turn(timed):
    """Each goes on where the one before it ended, as long as it has waited for that."""
    script = """
        dd if=/dev/ram0 of=/tmp/blocks bs=4096 skip=3800 count=1000 2> /dev/null
        echo begin > /proc/chainwalk/mark
        dd if=/tmp/blocks of=/dev/ram0 bs=4096 seek=3800 conv=notrunc,fsync 2> /dev/null
        echo written > /proc/chainwalk/mark
    """
    _, _, _, turn, track, _ = DISKS["cheetah"].numbers()
    spent = intervals(timed("cheetah", script))["written"]
    assert spent < 1000 * 8 * turn / track + 5 * turn  # to begin with, and between batches


def test_processes_run_while_the_disk_works(timed):
    """A reader that computes has the next pages read meanwhile; so has another process the processor."""
    script = """
        mark() { echo "$1" > /proc/chainwalk/mark; }
        drop() { sync; echo 3 > /proc/sys/vm/drop_caches; md5sum /etc/passwd > /dev/null; true | dd 2> /dev/null; }
        dd if=/dev/zero of=/root/big bs=64k count=128 2> /dev/null
        drop; mark begin; dd if=/root/big of=/dev/null bs=16k 2> /dev/null; mark disk
        mark begin; sha512sum /root/big; mark processor
        drop; mark begin; sha512sum /root/big; mark both
        drop; mark begin; dd if=/root/big of=/dev/null bs=16k 2> /dev/null &
        dd if=/dev/zero bs=16k count=512 2> /dev/null | sha512sum; wait; mark together
    """
    spent = intervals(timed("ssd", script))  # which has no buffer of its own that would read ahead
    disk, processor = spent["disk"], spent["processor"]
    saved = min(disk, processor)
    assert saved > 10_000_000
    assert spent["both"] < disk + processor - 0.6 * saved, spent
    assert spent["together"] < disk + processor - 0.6 * saved, spent


def test_requests_that_wait_are_served_in_the_order_of_the_disk(timed):
    """Eight readers at once: the head goes one way, so that all come to less than one after the other."""
    script = """
        mark() { echo "$1" > /proc/chainwalk/mark; }
        reader() {
            for n in 1 2 3 4 5 6; do
                dd if=/dev/ram0 of=/dev/null bs=4096 count=1 skip=$(((n * 8 + $1) * 997 % 5200 / 2 * 2 + $2)) 2> /dev/null
            done
        }
        echo 3 > /proc/sys/vm/drop_caches; reader 0 0; mark begin
        for i in 1 2 3 4 5 6 7 8; do (reader $i 0); done; mark single
        for i in 1 2 3 4 5 6 7 8; do (reader $i 1) & done; wait; mark eight
    """
    spent = intervals(timed("fireball", script))
    assert spent["eight"] < 0.85 * spent["single"], spent


def test_data_are_right_with_many_requests_waiting(cw_run):
    """Written and read by four at a time on four processors, with the kernel's own checks."""
    script = """
        for i in 1 2 3 4; do (cp /bin/busybox /root/y$i; sync; cmp /bin/busybox /root/y$i || echo differ) & done
        wait; sync; echo 3 > /proc/sys/vm/drop_caches
        for i in 1 2 3 4; do cmp /bin/busybox /root/y$i || echo differ; done
    """
    for options in ({"smp": 4, "cmdline": "ramdisk_model=100000,900000,3000000,4000000,200,800"}, {"icount": True}):
        options.setdefault("disk_model", "none" if "cmdline" in options else "cheetah")
        assert cw_run(script=script, root="ram", **options).output == b""


@pytest.mark.parametrize("numbers", ["1,2", "0,5,4,9,9,9", "1,2,3,4,5,x", "1,2,3,4,5,6,7"])
def test_numbers_that_are_no_disk(cw_run, numbers):
    result = cw_run(
        script="echo up", root="ram", quiet=False, debug=False, full=True, cmdline=f"ramdisk_model={numbers}"
    )
    assert b"is no disk" in result.output and b"up" in result.output


def test_names_that_are_no_disk(cw):
    with pytest.raises(LabError, match="none, fireball, cheetah, ssd"):
        disk_option("drum")
    for arguments, word in (
        (["--icount", "--disk-model", "drum"], b"none, fireball, cheetah, ssd"),
        (["--disk-model", "ssd"], b"--root ram"),
        (["--root", "ram", "--kernel", "linux", "--disk-model", "ssd"], b"Chainwalk's own kernel"),
    ):
        result = cw("run", *arguments, "--", "/bin/true")
        assert result.returncode == 125 and word in result.stderr
