"""A machine as QEMU's command: processor, memory, serial ports, and where its files are."""

from __future__ import annotations

from pathlib import Path

from lab.base.files import copy_sparse
from lab.base.paths import LabError
from lab.guest import workloads
from lab.guest.image import cpio_image, ext2_image
from lab.guest.tree import Tree
from lab.run import linux
from lab.run.options import BESIDE_DISK, Options, megabytes

ICOUNT_DATE = "2026-01-01T00:00:00"
RESERVE = 24  # MB that kernel, tables and programs want beside an image in memory


def qemu_command(options: Options, folder: Path, line: str, tree: Tree) -> list[str]:
    """The whole QEMU command."""
    image = None if options.iso else _image_in_memory(options, tree)
    memory = _memory(options, image)
    cpu = options.cpu or (linux.CPU if options.linux else "max")
    command = ["qemu-system-x86_64", "-accel", _accelerator(options), "-cpu", cpu]
    # Not reserved: 16 GB that the machine does not touch need not be there.
    backing = f"file,mem-path={str(options.memory).replace(',', ',,')},share=on" if options.memory else "ram"
    command += ["-object", f"memory-backend-{backing},id=ram,size={memory},reserve=off", "-m", memory]
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
        command += [
            "-icount",
            f"shift={options.instruction_ns.bit_length() - 1},sleep=off",
            "-rtc",
            f"base={ICOUNT_DATE},clock=vm",
        ]
    if options.iso:
        command += ["-cdrom", str(options.iso), *(["-bios", str(options.firmware)] if options.firmware else [])]
    else:
        command += ["-kernel", f"{folder}/kernel", "-append", line]
    command += ["-initrd", str(image)] if image else []
    command += _storage(options, folder, tree)
    for number, disk in enumerate(options.more_disks):
        command += _disk(disk, f"more{number}", options.flushes)
    return command + options.extra_qemu


def _accelerator(options: Options) -> str:
    if options.accel == "tcg" and options.smp > 1 and not options.icount:
        return "tcg,thread=multi"
    return options.accel


def _image_in_memory(options: Options, tree: Tree) -> Path | None:
    """What is loaded into the machine's memory at its start: a tmpfs's archive, a RAM disk; None with a disk."""
    kind = options.root_kind()
    kernel = options.linux
    if kind == "tmpfs":
        image = linux.initramfs(kernel, tree=tree) if kernel else cpio_image(tree)
        _fits(2 * image.stat().st_size, "the archive of the tree and the tmpfs it is unpacked into", options)
        return image
    if kind == "ram":
        # A RAM disk is memory of the machine and is loaded at each start: little free space, unless told otherwise.
        recipe = workloads.find(options.image or "base")
        image = ext2_image(tree, options.ext2.filled(recipe.free_mb << 20, recipe.free_inodes))
        image = linux.initramfs(kernel, image=image) if kernel else image
        _fits(0 if options.mem.endswith(BESIDE_DISK) else image.stat().st_size, "the image on the RAM disk", options)
        return image
    return None


def _memory(options: Options, image: Path | None) -> str:
    """How much memory QEMU gives the machine, with what stands beside @image in it."""
    beside = image if options.mem.endswith(BESIDE_DISK) else None
    return f"{megabytes(options.mem) + (-(-beside.stat().st_size >> 20) if beside else 0)}M"


def _storage(options: Options, folder: Path, tree: Tree) -> list[str]:
    """The disks."""
    if options.iso or options.root_kind() != "ext2":
        return _disk(options.disk, flushes=options.flushes) if options.disk else []
    disk = options.disk or folder / "disk"
    if not disk.exists():
        copy_sparse(ext2_image(tree, options.ext2), disk)
    elif options.add or options.packages or options.image:
        raise LabError(
            f"--add, --package, --image: {disk} is an image already and stays as it is; without the file a new one is made"
        )
    drive = _disk(disk, flushes=options.flushes and options.disk is not None)
    return drive + (["-initrd", str(linux.initramfs(options.linux))] if options.linux else [])


def _fits(size: int, what: str, options: Options) -> None:
    """Refuse an image that leaves a machine too little memory to run in."""
    needed = (size >> 20) + RESERVE
    if needed > megabytes(options.mem):
        raise LabError(f"{what} take {size >> 20} MB: give the machine more memory (--mem {needed}M) or --root ext2")


def _disk(disk: Path, name: str = "vda", flushes: bool = True) -> list[str]:
    """@flushes: what the machine flushes is flushed to the host's disk.

    A disk of the run's own does without: if the host goes down nobody wants it, and under icount a machine that waits
    for a flush spins, for as long as a busy host's disk takes."""
    if not disk.exists():
        raise LabError(f"--disk {disk}: there is no such file")
    cache = "writeback" if flushes else "unsafe"
    drive = f"if=none,id={name},format=raw,cache={cache},aio=threads,file={str(disk).replace(',', ',,')}"
    return ["-drive", drive, "-device", f"virtio-blk-pci,drive={name}"]
