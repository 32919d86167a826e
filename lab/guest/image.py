"""Images of a Tree: ext2 by mke2fs with every option given, and cpio; kept by the tree's signature.

The same tree gives the same bytes on every host: nothing of mke2fs.conf, of the clock, of the user's
number or of the host's directory order is left in an image.
"""

from __future__ import annotations

import os
import shutil
import stat
import struct
import subprocess
import tempfile
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path

from lab.base.paths import LabError, output_folder
from lab.guest.tree import EPOCH, Tree

UUID = "c4a11a1c-0000-4000-8000-000000000000"
KEPT_IMAGES = 24


@dataclass(frozen=True)
class Ext2:
    """How an ext2 image is made."""

    block_size: int = 4096
    inode_size: int = 256
    free_bytes: int | None = None  # room beyond the tree; None: as much as the disk that it is for likes
    free_inodes: int | None = None  # None: one for every 8 KB of it

    def filled(self, free_bytes: int = 64 << 20, free_inodes: int = 8192) -> Ext2:
        """With these numbers where none are given; a given room has at least so many inodes."""
        room = free_bytes if self.free_bytes is None else self.free_bytes
        inodes = free_inodes if self.free_bytes is None else max(room >> 13, free_inodes)
        return replace(self, free_bytes=room, free_inodes=inodes if self.free_inodes is None else self.free_inodes)

    @property
    def room(self) -> tuple[int, int]:
        """Bytes and inodes; of one that is filled."""
        assert self.free_bytes is not None and self.free_inodes is not None
        return self.free_bytes, self.free_inodes

    def name(self) -> str:
        room, inodes = self.room
        return f"b{self.block_size}-i{self.inode_size}-f{room >> 10}k-n{inodes}"


def image_folder() -> Path:
    folder = output_folder() / "images"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def kept(name: str, make) -> Path:
    """The image @name, made by make(path) if it is not there; the longest unused ones go away."""
    path = image_folder() / name
    if path.exists():
        os.utime(path)
        return path
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".new-")
    os.close(handle)
    try:
        make(Path(temporary))
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    images = sorted(path.parent.glob("tree-*"), key=lambda p: p.stat().st_mtime, reverse=True)
    for old in images[KEPT_IMAGES:]:
        old.unlink(missing_ok=True)
    return path


def ext2_image(tree: Tree, options: Ext2 = Ext2()) -> Path:
    """A file with @tree as an ext2 file system. Not to be written: take a copy (lab/base/files.py)."""
    options = options.filled()
    return kept(f"tree-{tree.signature()}-{options.name()}.ext2", lambda path: make_ext2(tree, path, options))


def cpio_image(tree: Tree) -> Path:
    """A file with @tree as a newc archive."""
    return kept(f"tree-{tree.signature()}.cpio", lambda path: make_cpio(tree, path))


def make_cpio(tree: Tree, path: Path) -> None:
    with path.open("wb") as out:
        for number, (name, entry) in enumerate(tree.items(), 1):
            if name != "/":
                _cpio_member(out, number, name.lstrip("/"), entry.mode, entry.uid, entry.gid, entry.data())
        _cpio_member(out, 0, "TRAILER!!!", 0, 0, 0, b"")


def _cpio_member(out, number: int, name: str, mode: int, uid: int, gid: int, data: bytes) -> None:
    if stat.S_ISDIR(mode):
        data = b""
    encoded = os.fsencode(name) + b"\0"
    fields = (number, mode, uid, gid, 1, EPOCH if mode else 0, len(data), 0, 0, 0, 0, len(encoded), 0)
    header = b"070701" + b"".join(b"%08x" % field for field in fields)
    out.write(header + encoded + b"\0" * (-(len(header) + len(encoded)) % 4))
    out.write(data + b"\0" * (-len(data) % 4))


def make_ext2(tree: Tree, path: Path, options: Ext2) -> None:
    """mke2fs fills the image from a staged copy; owners and times are then put right in the inodes."""
    options = options.filled()
    entries = tree.items()
    blocks = sum(_blocks(entry.size, options.block_size) for _, entry in entries)
    blocks += sum(_blocks(size, options.block_size) for size in _folder_sizes(entries).values())
    room, free_inodes = options.room
    inodes = len(entries) + 16 + free_inodes
    # Bitmaps, tables and the reserve of a group come to less than a sixteenth, plus the inodes themselves.
    total = blocks + blocks // 16 + (inodes * options.inode_size + room) // options.block_size + 256
    with tempfile.TemporaryDirectory(prefix="cw-stage-", dir=path.parent) as stage:
        _stage(entries, Path(stage))
        _mke2fs(path, total, inodes, options, Path(stage))
    owners = {name: (entry.uid, entry.gid) for name, entry in entries if entry.uid or entry.gid}
    _normalise(path)
    _set_owners(path, owners)


def _blocks(size: int, block_size: int) -> int:
    data = -(-max(size, 1) // block_size)
    return data + (data * 4 // block_size) + (2 if data > 12 else 0)


def _folder_sizes(entries) -> Counter[str]:
    """Bytes of directory entries in each folder, with what is left over at the ends of blocks."""
    sizes: Counter[str] = Counter()
    for name, _ in entries:
        folder, _, last = name.rpartition("/")
        sizes[folder] += (8 + len(os.fsencode(last)) + 3) * 9 // 8
    return sizes


def _stage(entries, stage: Path) -> None:
    for name, entry in entries:
        target = stage / name.lstrip("/")
        if stat.S_ISDIR(entry.mode):
            target.mkdir(exist_ok=True)
        elif stat.S_ISLNK(entry.mode):
            target.symlink_to(os.fsdecode(entry.content))
        else:
            if entry.source:
                shutil.copyfile(entry.source, target)
            else:
                target.write_bytes(entry.content)
            os.chmod(target, stat.S_IMODE(entry.mode) | stat.S_IRUSR)
    for name, entry in reversed(entries):
        if stat.S_ISDIR(entry.mode):
            os.chmod(stage / name.lstrip("/"), stat.S_IMODE(entry.mode) | 0o700)


def _environment() -> dict[str, str]:
    return {**os.environ, "MKE2FS_CONFIG": "/dev/null", "E2FSPROGS_FAKE_TIME": str(EPOCH), "LC_ALL": "C"}


def _mke2fs(path: Path, total: int, inodes: int, options: Ext2, stage: Path) -> None:
    path.unlink(missing_ok=True)
    command = "mke2fs -q -F -t ext2 -o Linux -r 1 -O none,filetype,sparse_super,large_file".split()
    command += ["-b", str(options.block_size), "-I", str(options.inode_size), "-N", str(inodes), "-m", "0"]
    command += ["-g", str(min(8 * options.block_size, 32768)), "-U", UUID, "-L", "chainwalk", "-M", "/"]
    command += ["-E", f"lazy_itable_init=0,nodiscard,root_owner=0:0,hash_seed={UUID}"]
    command += ["-d", str(stage), str(path), str(total)]
    try:
        result = subprocess.run(command, env=_environment(), capture_output=True, text=True, check=False)
    except FileNotFoundError:
        raise LabError("mke2fs is missing: install e2fsprogs (make setup)") from None
    if result.returncode:
        size = total * options.block_size >> 20
        raise LabError(
            f"the tree does not fit into an ext2 image of {size} MB (or this disk is full):\n{result.stderr.strip()}"
        )


def _normalise(path: Path) -> None:
    """Every inode in use: root's, all times EPOCH, the mode's staging bits kept."""
    with path.open("r+b") as image:
        image.seek(1024)
        superblock = image.read(1024)
        inodes, blocks = struct.unpack_from("<II", superblock, 0)
        first_data, log_block = struct.unpack_from("<II", superblock, 20)
        per_group_blocks, _, per_group = struct.unpack_from("<III", superblock, 32)
        inode_size = struct.unpack_from("<H", superblock, 88)[0]
        block_size = 1024 << log_block
        groups = -(-(blocks - first_data) // per_group_blocks)
        image.seek((first_data + 1) * block_size)
        descriptors = image.read(groups * 32)
        for group in range(groups):
            bitmap, table = struct.unpack_from("<4xII", descriptors, group * 32)
            image.seek(bitmap * block_size)
            used = image.read(-(-per_group // 8))
            image.seek(table * block_size)
            data = bytearray(image.read(per_group * inode_size))
            for index in range(min(per_group, inodes - group * per_group)):
                if used[index // 8] >> (index % 8) & 1:
                    _normalise_inode(data, index * inode_size, inode_size)
            image.seek(table * block_size)
            image.write(data)


def _normalise_inode(data: bytearray, at: int, inode_size: int) -> None:
    mode = struct.unpack_from("<H", data, at)[0]
    if mode == 0:
        return
    struct.pack_into("<H", data, at + 2, 0)  # uid
    struct.pack_into("<H", data, at + 24, 0)  # gid
    struct.pack_into("<III", data, at + 8, EPOCH, EPOCH, EPOCH)  # access, change, modification
    struct.pack_into("<I", data, at + 100, 0)  # generation
    struct.pack_into("<HH", data, at + 120, 0, 0)  # high halves of uid and gid
    if inode_size > 128:
        # After i_extra_isize: checksum, nanoseconds of the three times, creation time and its nanoseconds.
        struct.pack_into("<HIIIII", data, at + 130, 0, 0, 0, 0, EPOCH, 0)


def _set_owners(path: Path, owners: dict[str, tuple[int, int]]) -> None:
    if not owners:
        return
    script = "".join(f'sif "{name}" uid {uid}\nsif "{name}" gid {gid}\n' for name, (uid, gid) in owners.items())
    debugfs(path, script, write=True)


def debugfs(image: Path, script: str, write: bool = False) -> str:
    """Run debugfs commands on @image and return what they printed."""
    command = ["debugfs", *(["-w"] if write else []), "-f", "/dev/stdin", str(image)]
    result = subprocess.run(command, input=script, env=_environment(), capture_output=True, text=True, check=False)
    trouble = [line for line in result.stderr.splitlines() if line.strip() and not line.startswith("debugfs 1.")]
    if result.returncode or trouble:
        raise LabError(f"debugfs on {image.name}: " + "\n".join(trouble))
    return result.stdout


def read_back(image: Path, guest_path: str, into: Path) -> None:
    """Copy a folder of an image to the host (a file system that was unmounted)."""
    into.mkdir(parents=True, exist_ok=True)
    subprocess.run(
        ["debugfs", "-R", f'rdump "{guest_path}" "{into}"', str(image)],
        env=_environment(), capture_output=True, check=True,
    )  # fmt: skip


def check(image: Path) -> tuple[bool, str]:
    """e2fsck -fn: (clean, what it said)."""
    result = subprocess.run(
        ["e2fsck", "-fn", str(image)], env=_environment(), capture_output=True, text=True, check=False
    )
    return result.returncode == 0, result.stdout + result.stderr
