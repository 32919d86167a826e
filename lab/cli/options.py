"""The options that several commands have in common, and how a command gets them."""

from __future__ import annotations

import functools
import inspect
import os
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Annotated, Any

import typer

from lab.base.paths import LabError

MACHINE = "kernel package image docs add settings defconfig cmdline cpu mem smp root disk user accel"

Add = Annotated[list[str] | None, typer.Option("--add", metavar="HOSTPATH[:GUESTPATH]", help="Put a file or folder into the image; may be repeated. It belongs to the program's user (--user), and without GUESTPATH goes to that user's home.")]  # fmt: skip
Package = Annotated[list[str] | None, typer.Option("--package", metavar="NAME[=VERSION]", help="A Debian package for the image, with all it depends on; may be repeated (docs/lab/packages.md).")]  # fmt: skip
Image = Annotated[str, typer.Option("--image", metavar="NAME", help="A prepared image for a load of /bin/workload: base, files, millions, sdm, programs (docs/lab/workloads.md, ./cw list IMAGE).")]  # fmt: skip
Documents = Annotated[bool, typer.Option("--docs", help="With the packages' documentation, manual pages and translations.")]  # fmt: skip
Kernel = Annotated[str, typer.Option("--kernel", metavar="chainwalk|linux[=VERSION]", help="linux: Debian's cloud kernel on the same image and machine (docs/lab/linux.md).")]  # fmt: skip
Set = Annotated[list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="A Kconfig setting for this run: BUFFER_HASH=steiner, HASH_WORD=32 ... (./cw list).")]  # fmt: skip
Defconfig = Annotated[str, typer.Option("--defconfig", metavar="NAME", help="Start from configs/NAME_defconfig.")]
Cmdline = Annotated[str, typer.Option("--cmdline", metavar="TEXT", help="More of the kernel's command line.")]
Cpu = Annotated[str, typer.Option("--cpu", metavar="MODEL[,+-FEATURE...]", help="QEMU's model of the processor, without it max, and for Linux max,-erms,-fsrm (docs/lab/linux.md).")]  # fmt: skip
Mem = Annotated[
    str,
    typer.Option("--mem", metavar="SIZE", help="Memory of the machine, 64M to 16G; 128M+disk: beside the RAM disk."),
]
Smp = Annotated[int, typer.Option("--smp", metavar="N", help="Number of CPUs, 1 to 16.")]
Root = Annotated[str, typer.Option("--root", metavar="ext2|tmpfs|ram", help="Root file system: ext2 on a virtio disk (default), tmpfs, or ext2 on a RAM disk (default with --icount).")]  # fmt: skip
Disk = Annotated[Path | None, typer.Option("--disk", metavar="FILE", help="The disk /dev/vda, changed in place. With --root ext2 it is the root, made if it is not there.")]  # fmt: skip
DiskModel = Annotated[str, typer.Option("--disk-model", metavar="none|fireball|cheetah|ssd", help="The RAM disk takes this disk's time (docs/lab/simulated/disk-model.md).")]  # fmt: skip
CacheSim = Annotated[str, typer.Option("--cache-sim", metavar="PRESET|l1d=SIZE/WAYS/LINE,l2=...", help="Simulate a processor's memory caches: ppro, xeon-p2, xeon-mp, current or sizes of yours (docs/lab/simulated/cache-simulation.md); of several CPUs poweredge-6300, x440, current-16 (docs/lab/simulated/several-cpus.md).")]  # fmt: skip
Icount = Annotated[
    bool,
    typer.Option(
        "--icount/--no-icount",
        help="One virtual nanosecond is one instruction; repeatable to the byte. Several CPUs run in turn.",
    ),
]
Seed = Annotated[int | None, typer.Option("--seed", metavar="N", help="With --icount: what differs from run to run (addresses, process numbers, random bytes) is drawn from N; 1 without it.")]  # fmt: skip
InstructionNs = Annotated[int, typer.Option("--instruction-ns", metavar="N", help="With --icount: an instruction takes N virtual nanoseconds, 1, 2, 4 ... 64: how fast the processor is beside disks and timers.")]  # fmt: skip
User = Annotated[
    str, typer.Option("--user", metavar="NAME", help="Run the program as this user of the guest (root, user).")
]
Accel = Annotated[str, typer.Option("--accel", metavar="tcg|kvm", help="QEMU's accelerator.")]
Timeout = Annotated[float, typer.Option("--timeout", metavar="SECONDS", help="End a machine after so long (0: never).")]


def _machine(
    kernel: Kernel = "chainwalk",
    package: Package = None,
    image: Image = "",
    docs: Documents = False,
    add: Add = None,
    settings: Set = None,
    defconfig: Defconfig = "",
    cmdline: Cmdline = "",
    cpu: Cpu = "",
    mem: Mem = "512M",
    smp: Smp = 1,
    root: Root = "",
    disk: Disk = None,
    disk_model: DiskModel = "none",
    cache_sim: CacheSim = "",
    icount: Icount = False,
    instruction_ns: InstructionNs = 1,
    seed: Seed = None,
    user: User = "root",
    accel: Accel = "tcg",
    timeout: Timeout = 600,
) -> Any:  # Options
    """What commands can be told of their machine; with_machine() gives a command those of these options that it takes."""
    from lab.run.options import Options

    if seed is not None and (not icount or kernel != "chainwalk"):
        raise LabError("--seed is for runs that are repeatable: Chainwalk's own kernel with --icount")
    return Options(
        kernel=kernel, packages=package or [], image=image, documents=docs, add=add or [], settings=settings or [], defconfig=defconfig,
        cmdline=cmdline, cpu=cpu, mem=mem, smp=smp, root=root, disk=disk and disk.absolute(), disk_model=disk_model, cache_sim=cache_sim, icount=icount, instruction_ns=instruction_ns, seed=1 if seed is None else seed,
        user=user, accel=accel, timeout=timeout,
    )  # fmt: skip


def with_shared(outcome: str, options: Callable[..., Any], names: Iterable[str], **defaults):
    """A command gets these options of @options beside its own, and what @options makes of them as @outcome.

    @defaults: where they differ from those of @options."""

    def wrap(command):
        own = {
            name: parameter
            for name, parameter in inspect.signature(command, eval_str=True).parameters.items()
            if name != outcome
        }
        every = inspect.signature(options, eval_str=True).parameters
        shared = {name: every[name].replace(default=defaults.get(name, every[name].default)) for name in names}
        order = sorted([*own.values(), *shared.values()], key=lambda one: one.default is not inspect.Parameter.empty)

        @functools.wraps(command)
        def call(**given):
            return command(**{outcome: options(**{name: given.pop(name) for name in shared})}, **given)

        call.__signature__ = inspect.Signature([one.replace(kind=one.KEYWORD_ONLY) for one in order])
        call.__annotations__ = {one.name: one.annotation for one in order}
        del call.__wrapped__  # whose parameters are others
        return call

    return wrap


def with_machine(names: str, **defaults):
    """A command gets these options of _machine(), and their outcome as `machine`."""
    return with_shared("machine", _machine, names.split(), **defaults)


def chosen_ext2(block: int, inode: int, free: int | None):
    from lab.guest.image import Ext2

    if block not in (1024, 2048, 4096) or inode not in (128, 256):
        raise LabError("ext2 has blocks of 1024, 2048 or 4096 bytes and inodes of 128 or 256")
    if free is not None and free < 1:
        raise LabError(f"--ext2-free {free}: give it in MB, 1 or more")
    return Ext2(block_size=block, inode_size=inode, free_bytes=None if free is None else free << 20)


def finish(status: int) -> None:
    """Leave at once: nothing is left to do that a slow interpreter shutdown would do better."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)
