"""Boot the kernel in QEMU, run one job, and find out truthfully how it ended.

QEMU's own exit status proves nothing. A job's status is believed only when the kernel sent it over the
control port, whole and in sequence, and the machine then left in the orderly way. Everything else is a
failure of the machine, with a status of its own:

    120  the kernel panicked
    121  silence: the machine ended without a whole status record (a reset, a triple fault, a lost record)
    122  hang: at the time-out every CPU sat in the kernel with interrupts off, or halted for good
    124  time-out: the job did not end in time
    125  the lab itself failed (a wrong option, a build error, a missing program)
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import tempfile
import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, BinaryIO

from lab.base.paths import LabError, output_folder
from lab.build import configure
from lab.build.kernel import build, build_lock, config_file, effective_config, kernel_image
from lab.guest import workloads
from lab.guest.image import Ext2, copy_sparse, cpio_image, ext2_image
from lab.guest.packages import add_packages, package_set
from lab.guest.tree import Tree, base_tree
from lab.run import control, linux
from lab.run.console import execute
from lab.run.qemu.disks import disk_option
from lab.run.qemu.kvm import check_kvm, likely_cause

PANIC, SILENCE, HANG, TIMEOUT, ERROR = 120, 121, 122, 124, 125
QEMU_PANIC, QEMU_SHUTDOWN = 85, 33

KERNELS = ("chainwalk", "linux")
ROOTS = ("ext2", "tmpfs", "ram")
RESERVE = 24  # MB that kernel, tables and programs want beside an image in memory
COMMAND_LINE_WORDS = 99  # that Chainwalk takes, all counted
ICOUNT_DATE = "2026-01-01T00:00:00"


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
    disk_model: str = "none"  # what the RAM disk is timed as (lab/run/qemu/disks.py)
    cache_sim: str = ""  # the memory caches to simulate (lab/run/cachesim)
    icount: bool = False
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


@dataclass
class Result:
    """How a run ended."""

    status: int
    kind: str  # "exit", "panic", "silence", "hang", "timeout"
    message: str
    log: control.ControlLog
    output: bytes = b""
    seconds: float = 0.0
    config: str = ""  # of the kernel that ran, as .config lines; "" for Linux
    cachesim: dict[str, Any] = field(default_factory=dict)  # what the memory-cache simulation counted

    @property
    def stats(self) -> dict[str, Any]:
        return collect_stats(self.log)


def collect_stats(log: control.ControlLog) -> dict[str, Any]:
    """All four caches' statistics by name, from the run's last `stats` records."""
    caches: dict[str, Any] = {}
    for record in log.all("stats"):
        if "caches" in record:
            found = record["caches"]
            caches.update(found if isinstance(found, dict) else {c.get("cache") or c["name"]: c for c in found})
        elif "cache" in record or "name" in record:
            caches[record.get("cache") or record["name"]] = record
        else:
            caches.update(record)
    return caches


def encode_word(word: str) -> str:
    """An argument for the kernel's command line; user/init.c decodes it."""
    plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789/._-+=:,@"
    coded = "".join(chr(b) if chr(b) in plain else f"%{b:02x}" for b in os.fsencode(word))
    return coded or "%"


def check_sizing(cmdline: str) -> None:
    """Refuse a sizing rule that the kernel does not have; it would only say so on its console, and go on."""
    with tempfile.TemporaryDirectory() as folder:
        kconfig = configure.load_kconfig(Path(folder))
    rules = list(configure.choice_values(kconfig.named_choices["HASH_SIZING"]))
    for word in cmdline.split(" -- ")[0].split():
        name, _, rule = word.partition("=")
        if name.endswith("hash_sizing") and rule not in rules:
            raise LabError(f"{word}: there is no such rule. There are:\n" + "\n".join(f"  {r}" for r in rules))


def kernel_command_line(options: Options, tree: Tree) -> str:
    """The command line; a job too long for it goes into the image, as /etc/cw/job."""
    words = linux.command_words(options.root_kind(), options.icount) if options.linux else _own_words(options)
    if options.user != "root":
        words.append(f"job_user={options.user}")
    if not options.interactive:
        words.append("job_tty=raw")
    words += [f"job_env={encode_word(f'{name}={value}')}" for name, value in options.environment.items()]
    words += [options.cmdline] if options.cmdline else []
    job = [encode_word(word) for word in options.job]
    line = " ".join(words)
    if not job:
        return line
    with_job = f"{line} -- {' '.join(job)}"
    most = linux.INIT_ARGUMENTS if options.linux else COMMAND_LINE_WORDS - len(words)
    if len(with_job) < 1800 and len(job) <= most:
        return with_job
    if options.root_kind() == "ext2" and options.disk and options.disk.exists():
        raise LabError(
            f"{len(job)} arguments are more than fit on the kernel's command line, so they would go into the image; but"
            f" {options.disk} is one already and stays as it is: give the program a script on it"
        )
    tree.text("/etc/cw/job", "".join(f"{word}\n" for word in job))
    return line


def _own_words(options: Options) -> list[str]:
    """What Chainwalk's kernel is told besides what init reads."""
    root = {"ext2": "/dev/vda", "ram": "/dev/ram0", "tmpfs": "tmpfs"}[options.root_kind()]
    words = [f"root={root}", "init=/init"]
    built_in = effective_config().get("CMDLINE", "")
    words += [built_in] if built_in else []
    if options.quiet:
        words += ["quiet", "loglevel=1"]
    if options.icount:
        words += ["icount", f"seed={options.seed}"]
    if options.disk_model != "none":
        words.append(disk_option(options.disk_model))
    if options.stats:
        words.append("stats=json")
    if options.strace:
        words.append("strace")
    if "hash_sizing" in options.cmdline:
        check_sizing(options.cmdline)
    return words


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


def megabytes(mem: str) -> int:
    return int(mem[:-1]) << (10 if mem[-1] in "gG" else 0)


def _disk(disk: Path, name: str = "vda") -> list[str]:
    if not disk.exists():
        raise LabError(f"--disk {disk}: there is no such file")
    drive = f"if=none,id={name},format=raw,cache=writeback,aio=threads,file={str(disk).replace(',', ',,')}"
    return ["-drive", drive, "-device", f"virtio-blk-pci,drive={name}"]


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
    if options.icount and options.smp != 1:
        raise LabError("--icount counts instructions of one CPU: leave out --smp")
    if options.mem[-1:].upper() not in ("M", "G") or not options.mem[:-1].isdigit():
        raise LabError(f"--mem {options.mem}: give it as 64M or 2G")
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


def without_input(options: Options) -> Options:
    """The job reads nothing: what is typed, and be it only its end, comes when the host gets to it, as an interrupt."""
    return replace(options, cmdline=f"{options.cmdline} job_input=none".strip())


def _is_nothing(source: BinaryIO | None) -> bool:
    try:
        return source is not None and os.path.samestat(os.fstat(source.fileno()), os.stat(os.devnull))
    except (OSError, ValueError):
        return False


def run(options: Options, sink: BinaryIO | None = None, source: BinaryIO | None = None) -> Result:
    """Build, boot, run the job. Console output goes to @sink as it comes and into the result; what
    @source gives goes to the console. Interactive runs hand QEMU this process's terminal instead."""
    check_options(options)
    if options.cache_sim:
        from lab.run import cachesim

        return cachesim.run(options, sink, source)
    if options.icount and _is_nothing(source):
        options, source = without_input(options), None
    runs = output_folder() / "runs"
    runs.mkdir(parents=True, exist_ok=True)
    _sweep(runs)
    recipe = workloads.find(options.image or "base")
    if options.packages or recipe.packages:
        package_set([*options.packages, *recipe.packages])  # may take a while: not under the lock
    with tempfile.TemporaryDirectory(prefix="run-", dir=_short(runs)) as name:
        folder = Path(name)
        with build_lock():
            if options.build:
                goals = ("user",) if options.linux else ()
                build(tuple(options.settings), options.defconfig, options.quiet, goals)
            _take(options.linux.image if options.linux else kernel_image(), folder / "kernel")
            config = "" if options.linux else config_file().read_text()
            tree = tree_of(options)
            line = kernel_command_line(options, tree)
            command = qemu_command(options, folder, line, tree)
        began = time.monotonic()
        ended, output = execute(command, options, folder, sink, source)
        seconds = time.monotonic() - began
        data = (folder / "control").read_bytes() if (folder / "control").exists() else b""
        if options.firmware:  # which writes its own messages to every serial port, before the kernel runs
            data = data[max(data.find(b"@CW 0 "), 0) :]
        result = judge(ended, control.parse(data))
        if options.accel == "kvm" and result.kind in ("silence", "hang", "timeout"):
            result.message = likely_cause(result.message)
        result.output, result.seconds, result.config = output, seconds, config
        return result


def tree_of(options: Options) -> Tree:
    """The guest's files: the base system, the packages, what is added."""
    recipe = workloads.find(options.image or "base")
    tree = options.tree or base_tree(merged=bool(options.packages or recipe.packages))
    recipe.add_to(tree)
    if options.packages:
        add_packages(tree, package_set(options.packages), options.documents)
    for specification in options.add:
        tree.add(specification, tree.user(options.user))
    return tree


def _take(image: Path, target: Path) -> None:
    """Keep the kernel as it is now: the next build makes a new file. A copy, where a link cannot be."""
    try:
        os.link(image, target)
    except FileNotFoundError:
        raise LabError(f"{image} is not there: build it (make kernel user)") from None
    except OSError:
        shutil.copyfile(image, target)


def _sweep(runs: Path) -> None:
    """Remove what runs that were killed outright have left, after a day."""
    for old in runs.glob("run-*"):
        with contextlib.suppress(OSError):
            if old.stat().st_mtime < time.time() - 86400:
                shutil.rmtree(old, ignore_errors=True)


def _short(folder: Path) -> Path:
    """A Unix socket's path holds 107 bytes: fall back to /tmp for a deep checkout."""
    return folder if len(str(folder)) < 80 else Path(tempfile.gettempdir())


def judge(ended: int | str, log: control.ControlLog) -> Result:
    """What a run came to. @ended: QEMU's exit status, or "timeout", "hang"."""
    panic = log.last("panic")
    status = log.last("exit")
    if panic is not None or ended == QEMU_PANIC:
        text = panic.get("message", "") if isinstance(panic, dict) else ""
        return Result(PANIC, "panic", f"the kernel panicked: {text}", log)
    if ended == "hang":
        return Result(HANG, "hang", "the machine hangs: no CPU can be interrupted any more", log)
    if ended == "timeout":
        return Result(TIMEOUT, "timeout", "time-out: the job did not end in time", log)
    if status is None or not log.complete or ended != QEMU_SHUTDOWN:
        faults = "; ".join(log.faults) or f"QEMU ended with {ended}, {len(log.records)} records came"
        return Result(SILENCE, "silence", f"the machine ended without a whole status record ({faults})", log)
    value = int(status["status"] if isinstance(status, dict) else status)
    return Result(value & 255, "exit", f"the job ended with {value}", log)
