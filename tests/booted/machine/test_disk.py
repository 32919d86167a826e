"""Disks: virtio in its variants, several at once and from several CPUs, read-only and failing ones, RAM disks."""

from __future__ import annotations

import hashlib
import os
import random
from pathlib import Path

import pytest

from lab.base.files import copy_sparse
from lab.guest import image
from tests.musl import static_program

MEGABYTES = 16


def drive(path, device="", node="extra", **options) -> list[str]:
    """QEMU arguments: @path as one more virtio disk."""
    given = "".join(f",{name}={value}" for name, value in options.items())
    return [
        "-drive",
        f"if=none,id={node},format=raw,file={path}{given}",
        "-device",
        f"virtio-blk-pci,drive={node}{device}",
    ]


@pytest.fixture
def disk(tmp_path):
    """A disk of random bytes."""
    path = tmp_path / "extra-disk"
    path.write_bytes(random.Random(4).randbytes(MEGABYTES << 20))
    return path


def md5(data: bytes) -> str:
    return hashlib.md5(data).hexdigest()


@pytest.mark.parametrize("device", ["", ",queue-size=64", ",disable-legacy=on"],
                         ids=["plain", "short-queue", "modern"])  # fmt: skip
def test_variants_of_the_device(cw_run, disk, device):
    data = disk.read_bytes()
    script = (
        "md5sum /dev/vda; dd if=/dev/zero of=/dev/vda bs=1k seek=5 count=3 conv=notrunc,fsync 2> /dev/null; echo $?"
    )
    result = cw_run(script=script, root="tmpfs", extra_qemu=drive(disk, device))
    assert result.output.split() == [md5(data).encode(), b"/dev/vda", b"0"]
    assert disk.read_bytes() == data[:5120] + bytes(3072) + data[8192:]


@pytest.mark.parametrize("cpus", [1, 4])
def test_many_requests_from_many_processes(cw_run, disk, cpus):
    """Eight writers and eight readers at once, each in its own two megabytes."""
    data = disk.read_bytes()
    pattern = random.Random(5).randbytes(2 << 20)
    script = """
        for i in 0 1 2 3 4 5 6 7; do
            dd if=/dev/vdb bs=64k skip=$((i * 32)) count=32 2> /dev/null | md5sum > /tmp/r$i &
            (cp /pattern /tmp/p$i; cat /tmp/p$i | dd of=/dev/vdc bs=32k seek=$((i * 64)) conv=notrunc,fsync 2> /dev/null) &
        done
        wait
        cat /tmp/r?; md5sum < /dev/vdc
    """
    other = disk.parent / "other"
    other.write_bytes(bytes(MEGABYTES << 20))
    (disk.parent / "pattern").write_bytes(pattern)
    extra = drive(disk) + drive(other, node="other")
    result = cw_run(script=script, smp=cpus, add=[f"{disk.parent / 'pattern'}:/pattern"], extra_qemu=extra, timeout=240)
    sums = result.output.decode().split()[::2]
    assert sums[:8] == [md5(data[i << 21 : (i + 1) << 21]) for i in range(8)]
    assert sums[8] == md5(pattern * 8)
    assert other.read_bytes() == pattern * 8


def test_writers_wait_for_a_slow_disk(cw_run, tmp_path):
    """What is dirty or on its way to a disk stays a part of memory: others get the rest at once."""
    (tmp_path / "slow").write_bytes(bytes(48 << 20))
    script = """
        (dd if=/dev/zero of=/dev/vda bs=64k count=768 2> /dev/null; echo written) &
        sleep 1; dd if=/dev/zero of=/tmp/memory bs=1M count=24 2> /dev/null && echo had; wait
    """
    extra = drive(tmp_path / "slow", **{"throttling.bps-write": 12 << 20})
    result = cw_run(script=script, root="tmpfs", mem="64M", smp=2, extra_qemu=extra)
    assert result.output.split() == [b"had", b"written"]


def test_three_file_systems_on_three_disks(cw_run, tmp_path):
    from lab.guest.tree import Tree

    extra = []
    for name in ("one", "two"):
        tree = Tree()
        tree.text("/name", f"{name}\n")
        copy_sparse(image.ext2_image(tree, image.Ext2(block_size=1024)), tmp_path / name)
        extra += drive(tmp_path / name, node=name)
    script = """
        mkdir /mnt/1 /mnt/2; mount /dev/vdb /mnt/1 && mount /dev/vdc /mnt/2 || exit 1
        cat /mnt/1/name /mnt/2/name
        (cp -r /etc /mnt/1) & (cp -r /etc /mnt/2; cp -r /mnt/2/etc /root) & wait
        umount /mnt/1; umount /mnt/2; ls /mnt/1 /mnt/2
    """
    result = cw_run(script=script, smp=2, extra_qemu=extra)
    assert result.output.decode().split() == ["one", "two", "/mnt/1:", "/mnt/2:"]
    for name in ("one", "two"):
        clean, report = image.check(tmp_path / name)
        assert clean, report
        image.read_back(tmp_path / name, "/etc/passwd", tmp_path / f"{name}-passwd")


def test_a_disk_of_three_terabytes(cw_run, tmp_path):
    """Its size takes both words that the device tells."""
    disk = tmp_path / "large"
    with disk.open("wb") as file:
        file.truncate(3 << 40)
        file.seek(-512, os.SEEK_END)
        file.write(b"the last sector")
    script = f"""
        blockdev --getsize64 /dev/vda; [ $(blockdev --getsize64 /dev/vda) = {3 << 40} ] &&
            dd if=/dev/vda bs=512 skip={(3 << 31) - 1} 2> /dev/null | head -c 15
    """
    result = cw_run(script=script, root="tmpfs", extra_qemu=drive(disk))
    assert result.output.split(maxsplit=1) == [str(3 << 40).encode(), b"the last sector"]


def test_a_read_only_disk(cw_run, tmp_path):
    from lab.guest.tree import Tree

    tree = Tree()
    tree.text("/kept", "kept\n")
    copy_sparse(image.ext2_image(tree), tmp_path / "extra")
    before = md5((tmp_path / "extra").read_bytes())
    script = """
        dd if=/dev/zero of=/dev/vdb bs=4k count=1; echo $?
        mount -o ro /dev/vdb /mnt; cat /mnt/kept; touch /mnt/new; echo $?
        mount -o remount,rw /mnt || echo refused; umount /mnt; blockdev --getro /dev/vdb
    """
    result = cw_run(script=script, extra_qemu=drive(tmp_path / "extra", readonly="on"))
    lines = [line for line in result.output.decode().splitlines() if len(line) < 8]
    assert lines == ["1", "kept", "1", "refused", "1"], result.output
    assert md5((tmp_path / "extra").read_bytes()) == before


def failing(path, event: str, sector: int) -> list[str]:
    """A disk on which sector @sector fails, and only that."""
    fault = f"file.inject-error.0.event={event},file.inject-error.0.sector={sector},file.inject-error.0.once=off"
    description = f"driver=raw,file.driver=blkdebug,file.image.filename={path},{fault}"
    return [
        "-drive",
        f"if=none,id=bad,{description},rerror=report,werror=report",
        "-device",
        "virtio-blk-pci,drive=bad",
    ]


def test_a_disk_that_fails_to_read(cw_run, disk):
    data = disk.read_bytes()
    script = """
        dd if=/dev/vdb of=/tmp/copy bs=1k count=2000; echo $?
        dd if=/dev/vdb bs=1k count=1 skip=4000 2> /dev/null | wc -c
        dd if=/dev/vdb bs=1k count=100 skip=8000 2> /dev/null | md5sum
    """
    result = cw_run(script=script, extra_qemu=failing(disk, "read_aio", 8000))
    lines = result.output.decode().splitlines()
    assert "0" in lines[:6], result.output
    assert lines[-2:] == ["0", f"{md5(data[8000 << 10 : 8100 << 10])}  -"], result.output


def test_a_disk_that_fails_to_write(cw_run, disk):
    """The error reaches who syncs; what else was written is on the disk."""
    before = disk.read_bytes()
    script = """
        dd if=/dev/zero of=/dev/vdb bs=1k count=10 seek=4000 conv=notrunc,fsync; echo status $?
        dd if=/dev/zero of=/dev/vdb bs=1k count=10 seek=100 conv=notrunc,fsync; echo status $?
    """
    result = cw_run(script=script, extra_qemu=failing(disk, "write_aio", 8002))
    statuses = [line for line in result.output.decode().splitlines() if line.startswith("status")]
    assert statuses == ["status 1", "status 0"], result.output
    assert "I/O error" in result.output.decode() or "Input/output error" in result.output.decode()
    assert disk.read_bytes()[100 << 10 : 110 << 10] == bytes(10240)
    assert disk.read_bytes()[: 100 << 10] == before[: 100 << 10]


def test_fsync_flushes_the_disk(cw_run, disk):
    """A disk takes what is written into its own cache, and cannot flush that: who syncs is told, and nobody else."""
    script = """
        dd if=/dev/zero of=/dev/vdb bs=1k count=10 conv=notrunc; echo status $?
        dd if=/dev/zero of=/dev/vdb bs=1k count=10 conv=notrunc,fsync; echo status $?
    """
    result = cw_run(script=script, extra_qemu=failing(disk, "flush_to_disk", -1))
    statuses = [line for line in result.output.decode().splitlines() if line.startswith("status")]
    assert statuses == ["status 0", "status 1"], result.output


def test_a_failing_file_system_disk_does_not_bring_the_machine_down(cw_run, tmp_path):
    from lab.guest.tree import Tree

    tree = Tree()
    content = os.urandom(1 << 20)
    tree.text("/big", content)
    path = tmp_path / "extra"
    copy_sparse(image.ext2_image(tree), path)
    sector = path.read_bytes().index(content[:4096]) // 512 + 200
    script = """
        mount /dev/vdb /mnt; stat -c %s /mnt/big; cat /mnt/big > /tmp/out; echo $?
        wc -c < /tmp/out; echo more > /mnt/new; umount /mnt; echo $?
    """
    result = cw_run(script=script, extra_qemu=failing(path, "read_aio", sector))
    words = result.output.decode().split()
    assert words[0] == str(1 << 20)
    assert "error" in result.output.decode()
    assert words[-1] == "0"


def test_ram_disks(cw_run):
    """The root is the loaded image, written in place; ramdisk_size= is that of an empty one."""
    result = cw_run(script="mount | grep ' / '; echo x > /root/f; sync; cat /root/f", root="ram", extra_qemu=[])
    lines = result.output.decode().splitlines()
    assert lines[0].startswith("/dev/ram0 on / type ext2")
    assert lines[1] == "x"
    script = """
        od -An -c -N 4 /dev/ram0; blockdev --getsize64 /dev/ram0
        mke2fs /dev/ram0 > /dev/null && mount /dev/ram0 /mnt && cp -r /etc /mnt && cat /mnt/etc/hostname
        umount /mnt; mount /dev/ram0 /mnt && ls /mnt/etc | wc -l
    """
    result = cw_run(script=script, cmdline="ramdisk_size=8192")
    lines = result.output.decode().splitlines()
    assert lines[0].split() == ["\\0"] * 4
    assert lines[1] == str(8 << 20)
    assert lines[2] == "chainwalk"
    assert int(lines[3]) >= 5


def test_a_ram_disk_without_being_asked(cw_run):
    """ram0 is there, of 4 MB, and takes memory only where it is written to."""
    script = """
        blockdev --getsize64 /dev/ram0
        cmp -n 4194304 /dev/ram0 /dev/zero && echo zeros
        mke2fs /dev/ram0 > /dev/null && mount /dev/ram0 /mnt && cp /bin/busybox /mnt && umount /mnt
        mount /dev/ram0 /mnt && cmp /bin/busybox /mnt/busybox && echo same
    """
    result = cw_run(script=script)
    assert result.output.decode().split() == [str(4 << 20), "zeros", "same"]


def test_a_ram_disk_may_have_half_of_memory(cw_run):
    """To a little: the kernel's own part of memory does not count."""
    result = cw_run(script="blockdev --getsize64 /dev/ram0", mem="64M", root="tmpfs", cmdline="ramdisk_size=28000")
    assert result.output.decode().split() == [str(28000 << 10)]


@pytest.mark.parametrize("kilobytes", ["33000", "80000", "107374182400"])
def test_a_ram_disk_that_does_not_fit_is_refused(cw_run, kilobytes):
    """One of more than half of memory."""
    line = f"ramdisk_size={kilobytes}"
    result = cw_run(script="ls /dev/ram0", mem="64M", root="tmpfs", cmdline=line, status=1, quiet=False)
    assert f"ramdisk_size={kilobytes}".encode() in result.output


@pytest.mark.parametrize(
    ("device", "words"),
    [
        (",queue-size=16", b"cannot be used"),
        (",disable-modern=on,disable-legacy=off", b"no virtio 1.0 registers"),
        (",vectors=0", b"no message-signalled interrupts"),
    ],
)
def test_a_device_that_cannot_be_used_is_named(cw_run, disk, device, words):
    result = cw_run(script="ls /dev/vda", root="tmpfs", extra_qemu=drive(disk, device), status=1, quiet=False)
    assert words in result.output


def test_on_the_other_chipset_behind_a_bridge(cw_run, disk):
    extra = ["-machine", "q35", "-device", "pcie-root-port,id=behind,chassis=1"] + drive(disk, ",bus=behind")
    result = cw_run(script="md5sum < /dev/vda", root="tmpfs", extra_qemu=extra)
    assert result.output.split()[0].decode() == md5(disk.read_bytes())


def test_a_disk_becomes_read_only_once_nobody_writes_to_it(cw_run, tmp_path):
    """Nor while a file is in use that has lost its name, and has to be freed. The answers are Linux's."""
    from lab.guest.tree import Tree

    tree = Tree()
    tree.text("/removed", "removed\n")
    tree.text("/written", "written\n")
    copy_sparse(image.ext2_image(tree), tmp_path / "extra")
    script = """
        become() { mount -o "$1" /mnt 2> /dev/null; echo "$1" $?; }
        mount /dev/vdb /mnt
        exec 3< /mnt/removed; rm /mnt/removed; become remount,ro; cat <&3; exec 3<&-
        exec 4>> /mnt/written; become remount,ro; become remount,bind,ro; exec 4>&-
        become remount,ro; touch /mnt/new 2> /dev/null || echo refused; become remount,rw; touch /mnt/new && echo made
        umount /mnt
    """
    result = cw_run(script=script, extra_qemu=drive(tmp_path / "extra"))
    assert result.output.decode().splitlines() == [
        "remount,ro 255",
        "removed",
        "remount,ro 255",
        "remount,bind,ro 255",
        "remount,ro 0",
        "refused",
        "remount,rw 0",
        "made",
    ]
    clean, report = image.check(tmp_path / "extra")
    assert clean, report


def test_who_reads_the_device_beside_a_writer_of_a_file_does_no_harm(cw_run, tmp_path):
    """A read of a block that a file has just got must not put what the disk has there into the file."""
    program = static_program(tmp_path / "beside", Path(__file__).parent / "beside.c")
    result = cw_run(["/root/beside"], root="ext2", smp=4, debug=False, add=[f"{program}:/root/beside"], timeout=240)
    assert result.output.split() == [b"wrong:", b"0"]
