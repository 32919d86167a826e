"""What QEMU is given. Its hash: the same for the same machine wherever its files lie, another for any other. And its disks:
a user's is flushed to the host's when the machine flushes it, that of a run is not."""

from __future__ import annotations

import pytest

from lab.guest.tree import Tree
from lab.run.options import Options
from lab.run.qemu import given
from lab.run.qemu.command import qemu_command
from lab.run.qemu.given import machine_sha256


def command(folder, *more: str) -> list[str]:
    """A machine as lab/run/qemu/command.py asks for one, whose files lie in @folder."""
    folder.mkdir(exist_ok=True)
    for name in ("kernel", "image", "plugin.so"):
        (folder / name).write_text(name)
    return [
        "qemu-system-x86_64", "-m", "128M", "-qmp", f"unix:{folder}/qmp,server=on,wait=off", "-kernel", f"{folder}/kernel",
        "-append", "root=/dev/ram0 init=/init -- sh /scripts.sh", "-initrd", f"{folder}/image", "-serial",
        f"file:{folder}/control", "-plugin", f"file={folder}/plugin.so,out={folder}/counts,level=8192/4/32", *more,
    ]  # fmt: skip


def test_where_the_files_lie_changes_nothing(tmp_path):
    here, there = (machine_sha256(command(tmp_path / name)) for name in ("a", "b"))
    assert here == there and len(here) == 64


@pytest.mark.parametrize("name", ["kernel", "image", "plugin.so"])
def test_what_is_in_them_does(tmp_path, name):
    words = command(tmp_path / "a")
    before = machine_sha256(words)
    (tmp_path / "a" / name).write_text("another")
    assert machine_sha256(words) != before


@pytest.mark.parametrize(
    ("old", "new"), [("128M", "129M"), ("level=8192", "level=8193"), ("/scripts.sh", "/other.sh"), ("ram0", "ram1")]
)
def test_so_does_every_word(tmp_path, old, new):
    words = command(tmp_path / "a")
    assert any(old in word for word in words)
    assert machine_sha256([word.replace(old, new) for word in words]) != machine_sha256(words)
    assert machine_sha256([*words, "-more"]) != machine_sha256(words)


def test_names_on_the_kernels_command_line_are_the_machines(tmp_path):
    """/bin/sh is a file here, too, and may be another elsewhere."""
    words = command(tmp_path / "a")
    at = words.index("-append") + 1
    hashes = set()
    for name in ("inside", "outside"):
        (tmp_path / name).write_text(name)
        hashes.add(machine_sha256([*words[:at], f"init={tmp_path / 'inside'}", *words[at + 1 :]]))
        (tmp_path / "inside").write_text("changed")
    assert len(hashes) == 1


def test_so_does_the_version_of_qemu(tmp_path, monkeypatch):
    words = command(tmp_path / "a")
    before = machine_sha256(words)
    monkeypatch.setattr(given, "qemu_version", lambda: "QEMU emulator version 99")
    assert machine_sha256(words) != before


@pytest.mark.parametrize(
    ("named", "flushes", "cache"),
    [(True, True, "writeback"), (True, False, "unsafe"), (False, True, "unsafe"), (False, False, "unsafe")],
)
def test_only_what_a_user_keeps_is_flushed_to_the_hosts_disk(tmp_path, named, flushes, cache):
    """Under icount a machine that waits for a flush spins, for as long as a busy host's disk takes."""
    disk = tmp_path / "disk"  # where a disk of the run's own stands as well
    disk.write_bytes(bytes(4096))
    options = Options(root="ext2", disk=disk if named else None, flushes=flushes)
    assert caches(qemu_command(options, tmp_path, "", Tree())) == {"vda": cache}


@pytest.mark.parametrize(("flushes", "cache"), [(True, "writeback"), (False, "unsafe")])
def test_so_are_further_disks(tmp_path, flushes, cache):
    disk = tmp_path / "more"
    disk.write_bytes(bytes(4096))
    (tmp_path / "disk").write_bytes(bytes(4096))
    options = Options(root="ext2", more_disks=[disk, disk], flushes=flushes)
    found = caches(qemu_command(options, tmp_path, "", Tree()))
    assert found == {"vda": "unsafe", "more0": cache, "more1": cache}


def caches(command: list[str]) -> dict[str, str]:
    """What QEMU does with each disk's flushes, by the disk's name."""
    drives = [
        dict(word.split("=", 1) for word in drive.split(",")) for drive in command if drive.startswith("if=none,")
    ]
    return {drive["id"]: drive["cache"] for drive in drives}
