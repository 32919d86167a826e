"""A machine as QEMU's command: processor, memory, serial ports, and where its files are."""

from __future__ import annotations

from pathlib import Path

from lab.base.paths import LabError
from lab.guest import workloads
from lab.guest.image import copy_sparse, cpio_image, ext2_image
from lab.guest.tree import Tree
from lab.run import linux
from lab.run.options import Options, megabytes

ICOUNT_DATE = "2026-01-01T00:00:00"
RESERVE = 24  # MB that kernel, tables and programs want beside an image in memory


def qemu_command(options: Options, folder: Path, line: str, tree: Tree) -> list[str]:
    """The whole QEMU command."""
    cpu = options.cpu or (linux.CPU if options.linux else "max")
    command = ["qemu-system-x86_64", "-accel", _accelerator(options), "-cpu", cpu]
    # Not reserved: 16 GB that the machine does not touch need not be there.
    backing = f"file,mem-path={str(options.memory).replace(',', ',,')},share=on" if options.memory else "ram"
    command += ["-object", f"memory-backend-{backing},id=ram,size={options.mem},reserve=off", "-m", options.mem]
    command += ["-machine", "pc,memory-backend=ram", "-smp", str(options.smp)]
    command += ["-nodefaults", "-no-user-config", "-no-reboot"]
    command += ["-display", "none", "-device", "isa-debug-exit,iobase=0xf4,iosize=0x04"]
    command += ["-qmp", f"unix:{folder}/qmp,server=on,wait=off"]
    if options.interactive:
        command += ["-chardev", "stdio,id=console,mux=on,signal=off", "-mon", "chardev=console"]
    else:
        command += ["-chardev", "stdio,id=console,signal=off"]
    command += ["-serial", "chardev:console", "-serial", f"file:{folder}/control"]
    if options.icount:
        command += ["-icount", "shift=0,sleep=off", "-rtc", f"base={ICOUNT_DATE},clock=vm"]
    if options.iso:
        command += ["-cdrom", str(options.iso), *(["-bios", str(options.firmware)] if options.firmware else [])]
    else:
        command += ["-kernel", f"{folder}/kernel", "-append", line]
    command += _storage(options, folder, tree)
    for number, disk in enumerate(options.more_disks):
        command += _disk(disk, f"more{number}")
    return command + options.extra_qemu


def _accelerator(options: Options) -> str:
    if options.accel == "tcg" and options.smp > 1 and not options.icount:
        return "tcg,thread=multi"
    return options.accel


def _storage(options: Options, folder: Path, tree: Tree) -> list[str]:
    """Root file system and disks."""
    if options.iso:
        return _disk(options.disk) if options.disk else []
    kind = options.root_kind()
    kernel = options.linux
    if kind == "tmpfs":
        image = linux.initramfs(kernel, tree=tree) if kernel else cpio_image(tree)
        _fits(2 * image.stat().st_size, "the archive of the tree and the tmpfs it is unpacked into", options)
        arguments = ["-initrd", str(image)]
    elif kind == "ram":
        # A RAM disk is memory of the machine and is loaded at each start: little free space, unless told otherwise.
        recipe = workloads.find(options.image or "base")
        image = ext2_image(tree, options.ext2.filled(recipe.free_mb << 20, recipe.free_inodes))
        image = linux.initramfs(kernel, image=image) if kernel else image
        _fits(image.stat().st_size, "the image on the RAM disk", options)
        arguments = ["-initrd", str(image)]
    else:
        disk = options.disk or folder / "disk"
        if not disk.exists():
            copy_sparse(ext2_image(tree, options.ext2), disk)
        elif options.add or options.packages or options.image:
            raise LabError(
                f"--add, --package, --image: {disk} is an image already and stays as it is; without the file a new one is made"
            )
        return _disk(disk) + (["-initrd", str(linux.initramfs(kernel))] if kernel else [])
    return arguments + (_disk(options.disk) if options.disk else [])


def _fits(size: int, what: str, options: Options) -> None:
    """Refuse an image that leaves a machine too little memory to run in."""
    needed = (size >> 20) + RESERVE
    if needed > megabytes(options.mem):
        raise LabError(f"{what} take {size >> 20} MB: give the machine more memory (--mem {needed}M) or --root ext2")


def _disk(disk: Path, name: str = "vda") -> list[str]:
    if not disk.exists():
        raise LabError(f"--disk {disk}: there is no such file")
    drive = f"if=none,id={name},format=raw,cache=writeback,aio=threads,file={str(disk).replace(',', ',,')}"
    return ["-drive", drive, "-device", f"virtio-blk-pci,drive={name}"]
