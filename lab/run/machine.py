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
import fcntl
import hashlib
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, BinaryIO

from lab.base.paths import LabError, output_folder
from lab.build.kernel import build, build_lock, config_file, kernel_image, symbols_file
from lab.guest import workloads
from lab.guest.packages import add_packages, package_set
from lab.guest.tree import Tree, base_tree
from lab.run import control
from lab.run.cachesim import simulation
from lab.run.cmdline import kernel_command_line
from lab.run.console import execute
from lab.run.options import Options, check_options, without_input
from lab.run.own_folder import lacks, own_folder
from lab.run.qemu.command import qemu_command
from lab.run.qemu.given import machine_sha256
from lab.run.qemu.kvm import likely_cause
from lab.run.stacks import Profile, read_profile

PANIC, SILENCE, HANG, TIMEOUT, ERROR = 120, 121, 122, 124, 125
QEMU_PANIC, QEMU_SHUTDOWN = 85, 33


@dataclass
class Result:
    """How a run ended."""

    status: int
    kind: str  # "exit", "panic", "silence", "hang", "timeout"; "known": it was not run (Options.known)
    message: str
    log: control.ControlLog
    output: bytes = b""
    seconds: float = 0.0
    config: str = ""  # of the kernel that ran, as .config lines; "" for Linux
    kernel_sha256: str = ""  # of the image that was booted; "" for Linux
    profile: Profile | None = None  # where it was found, of a run with job_profile
    cachesim: dict[str, Any] = field(default_factory=dict)  # what the memory-cache simulation counted
    machine: str = ""  # the hash of all that QEMU was given, where Options.known asks for it

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
        return _run_simulated(options, sink, source)
    if not options.linux and lacks(options, options.wanted_rooms):
        with own_folder("observed"):
            return run(replace(options, settings=[*options.settings, *options.wanted_rooms], build=True), sink, source)
    if options.icount and _is_nothing(source):
        options, source = without_input(options), None
    runs = output_folder() / "runs"
    runs.mkdir(parents=True, exist_ok=True)
    _sweep(runs)
    recipe = workloads.find(options.image or "base")
    if options.packages or recipe.packages:
        package_set([*options.packages, *recipe.packages])  # may take a while: not under the lock
    with _folder(_short(runs)) as folder:
        with build_lock():
            if options.build:
                goals = ("user",) if options.linux else ()
                build(tuple(options.settings), options.defconfig, options.quiet, goals)
            _take(options.linux.image if options.linux else kernel_image(), folder / "kernel")
            if not options.linux and symbols_file().exists():  # the grader's kernels have none
                _take(symbols_file(), folder / "symbols")
            config = "" if options.linux else config_file().read_text()
            tree = tree_of(options)
            line = kernel_command_line(options, tree)
            command = qemu_command(options, folder, line, tree)
        machine = machine_sha256(command) if options.known is not None else ""
        if machine in (options.known or ()):
            return Result(
                0, "known", "the same machine has been run: it is not run again", control.ControlLog(), machine=machine
            )
        began = time.monotonic()
        ended, output = execute(command, options, folder, sink, source)
        seconds = time.monotonic() - began
        data = (folder / "control").read_bytes() if (folder / "control").exists() else b""
        if options.firmware:  # which writes its own messages to every serial port, before the kernel runs
            data = data[max(data.find(b"@CW 0 "), 0) :]
        result = judge(ended, control.parse(data))
        if options.accel == "kvm" and result.kind in ("silence", "hang", "timeout"):
            result.message = likely_cause(result.message)
        result.output, result.seconds, result.config, result.machine = output, seconds, config, machine
        if not options.linux:
            result.kernel_sha256 = hashlib.sha256((folder / "kernel").read_bytes()).hexdigest()
        if result.kind == "exit" and isinstance(text := result.log.last("profile"), str):
            result.profile = read_profile(text, folder / "symbols")
        return result


def _run_simulated(options: Options, sink: BinaryIO | None, source: BinaryIO | None) -> Result:
    """run() with the memory caches of options.cache_sim; Result.cachesim has what they counted."""
    with simulation.prepared(options) as (watched, counts):
        if options.icount:
            watched, source = without_input(watched), None
        result = run(watched, sink, source)
        if result.kind == "exit":
            result.cachesim = simulation.read_counts(options.cache_sim, counts)
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


@contextlib.contextmanager
def _folder(runs: Path) -> Iterator[Path]:
    """A folder for one run below @runs, which has the lock on it as long as it lasts."""
    with tempfile.TemporaryDirectory(prefix="run-", dir=runs) as name, _locked(Path(name)):
        yield Path(name)


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """The lock on @folder, held. BlockingIOError where another holds it."""
    opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(opened)


def _sweep(runs: Path) -> None:
    """Remove what runs that were killed outright have left, after a day; not a run's that lasts so long."""
    for old in runs.glob("run-*"):
        with contextlib.suppress(OSError):
            if old.stat().st_mtime < time.time() - 86400:
                with _locked(old):
                    shutil.rmtree(old, ignore_errors=True)


def _short(folder: Path) -> Path:
    """A Unix socket's path holds 107 bytes: fall back to /tmp for a deep checkout."""
    return folder if len(str(folder)) < 80 else Path(tempfile.gettempdir())


def judge(ended: int | str, log: control.ControlLog) -> Result:
    """What a run came to. @ended: QEMU's exit status, or "timeout", "hang"."""
    panic = log.last("panic")
    said = log.last("exit")
    status = said.get("status") if isinstance(said, dict) else said
    if panic is not None or ended == QEMU_PANIC:
        text = panic.get("message", "") if isinstance(panic, dict) else ""
        return Result(PANIC, "panic", f"the kernel panicked: {text}", log)
    if ended == "hang":
        return Result(HANG, "hang", "the machine hangs: no CPU can be interrupted any more", log)
    if ended == "timeout":
        return Result(TIMEOUT, "timeout", "time-out: the job did not end in time", log)
    if not isinstance(status, int) or not log.complete or ended != QEMU_SHUTDOWN:
        faults = "; ".join(log.faults) or f"QEMU ended with {ended}, {len(log.records)} records came"
        return Result(SILENCE, "silence", f"the machine ended without a whole status record ({faults})", log)
    return Result(status & 255, "exit", f"the job ended with {status}", log)
