"""Linux in the same machine: Debian's cloud kernel, from its package, with the same image and the same init.

The package is fetched like those of an image (lab/guest/packages.py) and unpacked, never installed. QEMU boots its
kernel with an initramfs made here: user/linuxinit.c as /init and the modules that the machine's devices need.
linuxinit makes the root (the ext2 disk, the ext2 image on a RAM disk, or the tree in a tmpfs) and hands over to
the tree's own /init, which runs the job and reports as it does on Chainwalk.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from lab.base.paths import LabError, output_folder
from lab.guest.image import cpio_image
from lab.guest.packages import kernel_package
from lab.guest.tree import Tree

PINNED = "6.1.176-1"  # that of a Debian 12 point release; taken where the archive still has it
CPU = "max,-erms,-fsrm"  # without these Linux copies and clears word by word, as instruction counts want it
FIXED = "init_on_alloc=0 mitigations=off nopti tsc=reliable console=ttyS0 panic=-1"
INIT_ARGUMENTS = 31  # behind the "--" of its command line; it panics at one more (CONFIG_INIT_ENV_ARG_LIMIT)
# What the cloud kernel has as modules, in the order in which they must be loaded.
MODULES = ("virtio", "virtio_ring", "virtio_pci_legacy_dev", "virtio_pci_modern_dev", "virtio_pci", "virtio_blk", "brd")


@dataclass(frozen=True)
class LinuxKernel:
    """A kernel as its package brought it."""

    release: str  # as uname -r says it
    version: str  # of the package
    image: Path
    modules: tuple[Path, ...]


@cache
def linux_kernel(version: str = "") -> LinuxKernel:
    """The kernel of @version, or the pinned one, or else the newest."""
    if version:
        package = kernel_package(version)
    else:
        try:
            package = kernel_package(PINNED)
        except LabError:
            package = kernel_package("")
    files = package.folder / "files"
    release = package.name.removeprefix("linux-image-")
    folder = next(path for path in (files / "usr/lib/modules", files / "lib/modules") if path.exists()) / release
    found = {path.name.partition(".")[0].replace("-", "_"): path for path in sorted(folder.rglob("*.ko*"))}
    modules = tuple(found[name] for name in MODULES if name in found)  # what is not a module is built in
    return LinuxKernel(release, package.version, files / "boot" / f"vmlinuz-{release}", modules)


def command_words(root: str, icount: bool) -> list[str]:
    """What Linux is told besides what the tree's init reads."""
    words = [*FIXED.split(), "quiet", "loglevel=1", f"cw_root={'vda' if root == 'ext2' else root}"]
    return words + ["norandmaps", "nokaslr"] if icount else words


def initramfs(kernel: LinuxKernel, tree: Tree | None = None, image: Path | None = None) -> Path:
    """The initramfs: with @tree for a root in tmpfs, with @image (of ext2) for one on a RAM disk."""
    first = Tree()
    first.file("/init", output_folder() / "user" / "linuxinit", 0o755)
    for place, module in enumerate(kernel.modules):
        first.file(f"/modules/{place:02}-{module.name}", module, 0o644)
    if image:
        first.file("/image", image, 0o644)
    if tree:
        for path, entry in tree.items():
            first.put(f"/tree{path}", entry)
    return cpio_image(first)
