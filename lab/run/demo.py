"""The job of `make run`: real Linux programs over a real tree on ext2, four reports, and a check of the result.

The tree is taken from the host: its C headers and the project's own source, at least 3,000 files. After the
run the disk is checked with e2fsck, and the tree that was copied in the guest is read back and compared with
the host's files, checksum by checksum; so are the checksums that the guest computed.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from lab.base.paths import TOP, LabError, output_folder
from lab.guest.image import Ext2, check, read_back
from lab.guest.tree import Tree, base_tree
from lab.run.machine import run
from lab.run.options import Options

WANTED_FILES = 3400
LARGEST_FILE = 512 << 10
GUEST_TREE = "/srv/tree"

# Where real files come from, in this order, until there are enough.
SOURCES = (
    "/usr/include/linux", "/usr/include/asm-generic", "/usr/include/x86_64-linux-gnu", "/usr/include/sound",
    "/usr/include/rdma", "/usr/include/drm", "/usr/include/scsi", "/usr/include/x86_64-linux-musl",
    "/usr/include/c++", "/usr/include/net", "/usr/include/rpc", "/usr/include", "/usr/lib/gcc",
    "/usr/lib/musl/include", "/usr/lib/python3.11", "/usr/lib/python3", "/usr/share/perl", "/usr/share/doc",
)  # fmt: skip


def project_files() -> list[Path]:
    """The project's own source, as git knows it (or all there is, in an unpacked archive)."""
    command = ["git", "-C", str(TOP), "ls-files", "-z"]
    try:
        names = subprocess.run(command, capture_output=True, check=True).stdout.decode().split("\0")
        paths = [TOP / name for name in names if name]
    except (OSError, subprocess.CalledProcessError):
        paths = [p for p in TOP.rglob("*") if not {".git", ".venv", "build"} & set(p.relative_to(TOP).parts)]
    return sorted(path for path in paths if path.is_file() and not path.is_symlink())


def host_files() -> Iterator[Path]:
    """Files of the host in a fixed order."""
    seen: set[Path] = set()
    for source in SOURCES:
        for folder, folders, names in os.walk(source):
            folders.sort()
            for name in sorted(names):
                path = Path(folder) / name
                if path in seen or path.is_symlink() or not path.is_file():
                    continue
                seen.add(path)
                if os.access(path, os.R_OK) and path.stat().st_size <= LARGEST_FILE:
                    yield path


def demo_files() -> dict[str, bytes]:
    """Path below the demo's tree -> content, read once: files of the host may change while the demo runs."""
    files = {f"chainwalk/{path.relative_to(TOP)}": path.read_bytes() for path in project_files()}
    for path in host_files():
        if len(files) >= WANTED_FILES:
            break
        files[f"host{path}"] = path.read_bytes()
    if len(files) < 3000:
        raise LabError(
            f"only {len(files)} files were found in /usr/include and its like: install libc6-dev, linux-libc-dev"
        )
    return files


def demo_tree(files: dict[str, bytes]) -> Tree:
    tree = base_tree()
    for name, content in files.items():
        tree.text(f"{GUEST_TREE}/{name}", content)
    tree.file("/etc/cw/demo.sh", TOP / "lab" / "jobs" / "demo.sh", 0o755)
    return tree


def compare_copy(disk: Path, files: dict[str, bytes]) -> list[str]:
    """Everything in which the guest's copy differs from the host's files."""
    wanted = {name: hashlib.sha256(content).hexdigest() for name, content in files.items()}
    with tempfile.TemporaryDirectory(prefix="cw-demo-", dir=output_folder()) as name:
        read_back(disk, "/srv", Path(name))
        copy = Path(name) / "srv" / "copy"
        found = {
            str(path.relative_to(copy)): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in copy.rglob("*") if path.is_file()
        }  # fmt: skip
        sums = (Path(name) / "srv" / "copy.sha256").read_text().splitlines()
    guest = {line[66:].removeprefix("./"): line[:64] for line in sums}
    faults = [f"{name}: read back differs" for name in wanted if found.get(name) != wanted[name]]
    faults += [f"{name}: the guest's checksum differs" for name in wanted if guest.get(name) != wanted[name]]
    return faults + [f"{name}: was never in the tree" for name in sorted(set(found) - set(wanted))]


def run_demo(mem: str, smp: int, settings: list[str], defconfig: str, cmdline: str = "", timeout: float = 900) -> int:
    files = demo_files()
    size = sum(len(content) for content in files.values())
    print(
        f"The tree: {len(files)} files, {size >> 20} MB, from the host's headers and this project's source", flush=True
    )
    with tempfile.TemporaryDirectory(prefix="demo-", dir=output_folder()) as name:
        disk = Path(name) / "disk"
        options = Options(
            job=["/bin/sh", "/etc/cw/demo.sh"], tree=demo_tree(files), mem=mem, smp=smp, disk=disk, timeout=timeout,
            settings=settings, defconfig=defconfig, cmdline=f"stats=text {cmdline}".strip(), root="ext2",
            ext2=Ext2(block_size=1024, free_bytes=4 * size + (32 << 20), free_inodes=4 * len(files)),
        )  # fmt: skip
        result = run(options, sys.stdout.buffer)
        print(flush=True)
        if result.kind != "exit" or result.status:
            print(f"demo: {result.message}", file=sys.stderr)
            return result.status or 1
        clean, text = check(disk)
        if not clean:
            print(f"demo: e2fsck finds faults on the disk:\n{text}", file=sys.stderr)
            return 1
        faults = compare_copy(disk, files)
        if faults:
            print("demo: the copy is not the host's tree:\n" + "\n".join(faults[:20]), file=sys.stderr)
            return 1
    print(
        f"demo: the disk is clean; all {len(files)} copied files are bit-identical to the host's ({result.seconds:.0f} s)"
    )
    return 0
