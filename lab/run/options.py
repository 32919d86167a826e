"""What one can ask of a machine, and what of it cannot work."""

from __future__ import annotations

import re
import shutil
import sys
from dataclasses import dataclass, field, replace
from pathlib import Path

from lab.base.paths import LabError
from lab.guest import jobs, workloads
from lab.guest.image import Ext2
from lab.guest.tree import Tree
from lab.run import linux
from lab.run.qemu.disks import DISK_MODEL, disk_option
from lab.run.qemu.kvm import check_kvm

KERNELS = ("chainwalk", "linux")
ROOTS = ("ext2", "tmpfs", "ram")
INSTRUCTION_NS = (1, 2, 4, 8, 16, 32, 64)
JOB_MEM = "1G"  # what every job of lab/jobs is content with, and the image beside it
PROFILED = "job_profile="  # the word of a kernel's command line that asks for a profile of the job
PROFILE = "PROFILE=y"  # what the kernel needs for that
SHORT_TURNS = "SHORT_TURNS=y"  # what the kernel needs where several CPUs run in turn (core/lock/turns.h)
BESIDE_DISK = "+disk"  # behind a size of memory: and as much more as the image on the RAM disk takes
JOB_SPACE = Ext2(free_bytes=512 << 20, free_inodes=30000)


@dataclass
class Options:
    """What to boot and what to run in it."""

    job: list[str] = field(default_factory=list)
    kernel: str = "chainwalk"  # or "linux", "linux=VERSION": Debian's cloud kernel
    cpu: str = ""  # QEMU's -cpu; "": max, and for Linux lab.run.linux.CPU
    packages: list[str] = field(default_factory=list)  # Debian packages, NAME or NAME=VERSION
    documents: bool = False  # with the packages' documentation
    image: str = ""  # a recipe of lab/guest/workloads.py
    add: list[str] = field(default_factory=list)
    settings: list[str] = field(default_factory=list)
    defconfig: str = ""
    cmdline: str = ""
    mem: str = "512M"
    smp: int = 1
    root: str = ""  # "" : ram under icount, else ext2
    disk: Path | None = None
    flushes: bool = True  # to the host's disk what the machine flushes to @disk and @more_disks
    disk_model: str = "none"  # what the RAM disk is timed as (lab/run/qemu/disks.py)
    cache_sim: str = ""  # the memory caches to simulate (lab/run/cachesim)
    icount: bool = False
    instruction_ns: int = 1  # under icount: what an instruction takes on the machine's clock, a power of two
    seed: int = 1  # under icount: what differs from run to run is drawn from it
    stats: Path | None = None
    strace: bool = False
    timeout: float = 600
    quiet: bool = False
    user: str = "root"
    accel: str = "tcg"
    interactive: bool = False
    ext2: Ext2 = field(default_factory=Ext2)
    tree: Tree | None = None  # instead of the base system
    build: bool = True
    iso: Path | None = None  # boot this instead of -kernel
    firmware: Path | None = None
    memory: Path | None = None  # the machine's memory as a file, made here and kept
    more_disks: list[Path] = field(default_factory=list)  # raw, behind the root's and --disk
    extra_qemu: list[str] = field(default_factory=list)
    environment: dict[str, str] = field(default_factory=dict)
    # Machines that need not run, by lab.run.qemu.given's hash: it is made where this is not None.
    known: frozenset[str] | None = None

    @property
    def wanted_rooms(self) -> list[str]:
        """The settings that the kernel must have for what is asked of it."""
        wanted = {
            "STRACE=y": self.strace,
            PROFILE: PROFILED in self.cmdline,
            DISK_MODEL: disk_option(self.disk_model) != "",
            SHORT_TURNS: self.icount and self.smp > 1,
        }
        return [setting for setting, needed in wanted.items() if needed and setting not in self.settings]

    @property
    def linux(self) -> linux.LinuxKernel | None:
        name, _, version = self.kernel.partition("=")
        return linux.linux_kernel(version) if name == "linux" else None

    def disk_device(self, number: int) -> str:
        """The guest's name of more_disks[number]."""
        before = 1 if self.root_kind() == "ext2" or self.disk else 0
        return f"/dev/vd{'abcdefgh'[before + number]}"

    def root_kind(self) -> str:
        return self.root or ("ram" if self.icount else "ext2")

    def with_job(self, job: jobs.Job, work: str = "/work") -> Options:
        """These with a job of lab/jobs to run in @work. Its output is a pipe's, so that no program sees a terminal."""
        space = Ext2() if self.root_kind() == "ram" else JOB_SPACE
        return replace(
            self,
            packages=sorted({*self.packages, *job.packages}),
            settings=[*self.settings, *job.settings],
            add=[*self.add, *job.added()],
            mem=max(self.mem, JOB_MEM, key=megabytes),
            ext2=replace(self.ext2, free_bytes=space.free_bytes, free_inodes=space.free_inodes),
            environment={**self.environment, "WORK": work},
            job=["bash", "-o", "pipefail", "-c", f"bash /jobs/{job.path.name} < /dev/null 2>&1 | cat"],
        )


def check_options(options: Options) -> None:
    """Refuse what cannot work, before anything is built."""
    if len(options.job) > 255:
        raise LabError(f"{len(options.job)} arguments are more than init takes (255)")
    if options.kernel.partition("=")[0] not in KERNELS:
        raise LabError(f"no kernel '{options.kernel}'. There are: {', '.join(KERNELS)}, linux=VERSION")
    if options.kernel != "chainwalk" and (options.settings or options.defconfig or options.stats or options.strace):
        raise LabError(
            "--set, --defconfig, --stats and --strace are for Chainwalk's own kernel: leave out --kernel linux"
        )
    workloads.find(options.image or "base")
    if options.root and options.root not in ROOTS:
        raise LabError(f"no root '{options.root}'. There are: {', '.join(ROOTS)}")
    if disk_option(options.disk_model) and (options.kernel != "chainwalk" or options.root_kind() != "ram"):
        raise LabError("--disk-model times the RAM disk of Chainwalk's own kernel: --root ram (as with --icount)")
    if not 1 <= options.smp <= 16:
        raise LabError("--smp takes 1 to 16")
    if not 0 <= options.seed < 1 << 64:
        raise LabError(f"--seed {options.seed}: give it as a number of 64 bits, not negative")
    if options.instruction_ns not in INSTRUCTION_NS:
        raise LabError(f"--instruction-ns takes {', '.join(map(str, INSTRUCTION_NS))}")
    if options.instruction_ns != 1 and not options.icount:
        raise LabError("--instruction-ns is for machines whose clock counts instructions: add --icount")
    if not re.fullmatch(r"\d+[MmGg]", options.mem.removesuffix(BESIDE_DISK)):
        raise LabError(f"--mem {options.mem}: give it as 64M or 2G, or as 128M+disk: that much beside the RAM disk")
    if options.mem.endswith(BESIDE_DISK) and options.root_kind() != "ram":
        raise LabError(f"--mem {options.mem}: there is no RAM disk without --root ram (as with --icount)")
    if options.icount and options.root_kind() == "ext2":
        print("cw: disk I/O of the host is not repeatable under --icount; --root ram is", file=sys.stderr)
    if options.accel not in ("tcg", "kvm"):
        raise LabError(f"--accel {options.accel}: there are tcg and kvm")
    if options.accel == "kvm" and options.icount:
        raise LabError("--icount counts translated instructions: leave out --accel kvm")
    if options.accel == "kvm":
        check_kvm()
    if shutil.which("qemu-system-x86_64") is None:
        raise LabError(
            "qemu-system-x86_64 is missing: install qemu-system-x86 (Debian, Ubuntu), qemu-system-x86-core (dnf) or qemu"
        )


def megabytes(mem: str) -> int:
    """The size of "64M", "2G"; of "128M+disk" what is beside the RAM disk."""
    size = mem.removesuffix(BESIDE_DISK)
    return int(size[:-1]) << (10 if size[-1] in "gG" else 0)


def more_memory(mem: str, more: int) -> str:
    """@mem and @more megabytes."""
    return f"{megabytes(mem) + more}M{BESIDE_DISK if mem.endswith(BESIDE_DISK) else ''}"


def without_input(options: Options) -> Options:
    """The job reads nothing: what is typed, and be it only its end, comes when the host gets to it, as an interrupt."""
    return replace(options, cmdline=f"{options.cmdline} job_input=none".strip())
