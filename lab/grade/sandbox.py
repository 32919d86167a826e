"""The sandbox: a program that may mean harm runs in here, compilers of its source included, and only its output comes out.

bubblewrap (Debian's `bubblewrap`) gives it namespaces of its own: no network, no process but its own, of the files only
/usr and what it is shown, all read-only, a small /tmp of its own. It is another user, has no rights, and dies with this process or
at its time-out, or when all that it has started use too much memory (memory.py), with all of that. What this holds off and what not: docs/lab/grading.md.

Nothing that comes out is believed, and nothing here says "wrong": callers judge.
"""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import shutil
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from lab.base.paths import LabError
from lab.grade import memory

# For a grader that runs as root: a number that nobody else has. In the sandbox everybody is GUEST.
OUTSIDE_USER, GUEST = 61017, 1000
_running: set[subprocess.Popen[bytes]] = set()
_stopped = threading.Event()
# Signals that end a process which does nothing about them, of those that have a number of their own on Linux.
FATAL = frozenset(range(1, 32)) - {17, 18, 19, 20, 21, 22, 23, 28}
USED_UP = (9, 24)
MOST_SAID = 16 << 10  # bytes of standard error that are kept
PIECE = 1 << 16

HINTS = """The grader runs nothing without its sandbox. It needs bubblewrap 0.8 or newer (apt-get install bubblewrap), and users
must be allowed to make namespaces: on Debian `sysctl kernel.unprivileged_userns_clone=1`, on Ubuntu 24.04 and newer
`sysctl kernel.apparmor_restrict_unprivileged_userns=0`; in a container, run it with --security-opt seccomp=unconfined."""


@dataclass(frozen=True)
class Limits:
    """What a program may use. A right one needs far less, so that how busy the machine is decides nothing."""

    seconds: float  # by the clock, until everything in the sandbox is killed
    cpu: int  # processor seconds of each process
    memory: int  # bytes of address space of each process
    processes: int  # at a time; 1: it can start none
    file: int  # bytes of a file that it writes
    output: int  # bytes of standard output: one more, and it is killed
    scratch: int = 16 << 20  # bytes of /tmp
    files: int = 64  # open at a time
    together: int = 1 << 30  # bytes of memory that all processes have at a time
    shares: bool = False  # it may map memory that it shares with others: a machine does, whose plugin looks into it


@dataclass(frozen=True)
class Outcome:
    """How a program in the sandbox ended: `exit` with a status, `signal` (its number), `timeout`, or too much: `output`, `memory`.

    bubblewrap says 128 + n of signal n, as of who ends with that status: which of them it was nobody can tell."""

    kind: str
    status: int
    output: bytes
    said: str  # its standard error, the beginning, as printable text

    @property
    def good(self) -> bool:
        return self.kind == "exit" and self.status == 0

    @property
    def slow(self) -> bool:
        """It used up a limit, and would again."""
        return self.kind in ("timeout", "memory") or (self.kind == "signal" and self.status in USED_UP)

    def why(self, limits: Limits, hidden: bool) -> str:
        """In words for who handed it in. @hidden: what it was asked is not to come out, and a status, a signal, or how much of a
        time was used, are its own choice: so only of what kind the end was."""
        if hidden:
            return self._kind()
        if self.kind == "timeout":
            return f"it did not end within {limits.seconds:.0f} seconds"
        if self.kind == "output":
            return "it wrote more than it was asked for"
        if self.kind == "memory":
            return f"it used more than {limits.together >> 20:,} MB of memory, all its processes together"
        if self.kind == "signal":
            names = {4: "undefined behaviour or an abort", 6: "it aborted", 8: "a division by zero", 9: "it used up its processor time or memory",
                     11: "an access to memory that is not there", 24: "it used up its processor time", 25: "it wrote too large a file", 31: "a forbidden call"}  # fmt: skip
            return f"it was killed by signal {self.status}: {names.get(self.status, 'see signal(7)')}"
        return f"it ended with status {self.status}"

    def _kind(self) -> str:
        if self.slow:
            return "it used up its time or memory"
        if self.kind == "exit":
            return "it ended before it had answered all"
        return "it was killed: it wrote too much, went to memory that is not there, divided by zero, or the like"


def run(
    command: Sequence[str],
    limits: Limits,
    shown: Mapping[Path, str] | None = None,
    kept: Mapping[Path, str] | None = None,
    given: bytes = b"",
) -> Outcome:
    """Run @command with @given on its standard input. Of @shown (path here -> path there) it sees all, and may write to
    none; @kept it may change. A LabError: there is no sandbox."""
    if _stopped.is_set():
        raise Stopped
    reader, writer = os.pipe()
    refused = memory.filter_for(limits.shares)
    told = [writer] if refused is None else [writer, refused]
    try:
        words = _bubblewrap(limits, shown or {}, kept or {}, writer) + (
            ["--seccomp", str(refused)] if len(told) > 1 else []
        )
        process = subprocess.Popen(
            [*words, "--", *_limited(command, limits)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            pass_fds=told, start_new_session=True, env={"PATH": "/usr/bin:/bin"}, cwd="/", **_as_another_user(),
        )  # fmt: skip
    except FileNotFoundError:
        os.close(reader)
        raise LabError(f"bubblewrap (bwrap) is missing. {HINTS}") from None
    finally:
        for one in told:
            os.close(one)
    with process, os.fdopen(reader, "rb") as status:
        _running.add(process)
        try:
            ended, output, said = _converse(process, limits, given)
        finally:
            process.kill()  # and all in the sandbox with it
            process.wait()
            _running.discard(process)
        if _stopped.is_set():
            raise Stopped
        code_told = _exit_code(status.read())
    text = "".join(c if c.isprintable() or c in "\n\t" else "?" for c in said.decode(errors="replace"))
    if ended != "exit":
        return Outcome(ended, 0, output, text)
    if code_told is None and process.returncode != -9:
        raise LabError(f"the sandbox cannot be made: {text.strip()}\n{HINTS}")
    code = 137 if code_told is None else code_told
    return Outcome("signal", code - 128, output, text) if code - 128 in FATAL else Outcome("exit", code, output, text)


class Stopped(Exception):
    """stop_all() was called: nothing runs in a sandbox any more."""


def stop_all() -> None:
    """End all that runs in sandboxes of this process, for good: who waits for it gets Stopped."""
    _stopped.set()
    for process in list(_running):
        process.kill()


@cache
def check() -> None:
    """A LabError unless there is a sandbox."""
    outcome = run(["/usr/bin/true"], Limits(20, 5, 256 << 20, 2, 1 << 20, 1))
    if not outcome.good:
        raise LabError(f"the sandbox does not work: {outcome.said.strip() or outcome.kind}\n{HINTS}")


@contextlib.contextmanager
def folder() -> Iterator[Path]:
    """A folder that the sandbox's user may look into and, as `kept`, write to; gone afterwards."""
    path = Path(tempfile.mkdtemp(prefix="cw-grade-"))
    try:
        path.chmod(0o755)
        if os.geteuid() == 0:
            _reachable(path.parent)
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


def give(path: Path) -> Path:
    """The sandbox's user owns @path, which may be a whole folder, and may write to it."""
    if os.geteuid() == 0:
        for one in (path, *path.rglob("*")) if path.is_dir() else (path,):
            os.chown(one, OUTSIDE_USER, OUTSIDE_USER, follow_symlinks=False)
    return path


def _reachable(path: Path) -> None:
    for one in (path, *path.parents):
        if not one.stat().st_mode & 0o001:
            raise LabError(
                f"{one} is closed to other users, and the sandbox's user is another: set TMPDIR to a folder like /tmp"
            )


def _as_another_user() -> dict[str, Any]:
    if os.geteuid():
        return {}
    return {"user": OUTSIDE_USER, "group": OUTSIDE_USER, "extra_groups": []}


def _bubblewrap(limits: Limits, shown: Mapping[Path, str], kept: Mapping[Path, str], status: int) -> list[str]:
    words = [
        "bwrap",
        "--unshare-all",
        "--unshare-user",
        "--disable-userns",
        "--die-with-parent",
        "--new-session",
        "--clearenv",
    ]
    words += [
        "--uid",
        str(GUEST),
        "--gid",
        str(GUEST),
        "--cap-drop",
        "ALL",
        "--hostname",
        "sandbox",
        "--json-status-fd",
        str(status),
    ]
    words += [
        "--setenv",
        "PATH",
        "/usr/bin:/bin:/usr/sbin",
        "--setenv",
        "LC_ALL",
        "C.UTF-8",
        "--setenv",
        "HOME",
        "/tmp",
    ]
    words += ["--ro-bind", "/usr", "/usr"]
    for name in ("/bin", "/sbin", "/lib", "/lib64"):
        if os.path.islink(name):
            words += ["--symlink", os.readlink(name), name]
        elif os.path.isdir(name):
            words += ["--ro-bind", name, name]
    words += ["--proc", "/proc", "--dev", "/dev", "--size", str(limits.scratch), "--tmpfs", "/tmp"]
    for path, place in shown.items():
        words += ["--ro-bind", str(path), place]
    for path, place in kept.items():
        words += ["--bind", str(path), place]
    return [*words, "--remount-ro", "/dev", "--remount-ro", "/", "--chdir", "/tmp"]


def _limited(command: Sequence[str], limits: Limits) -> list[str]:
    """Set from within, since processes are counted in the sandbox's own user namespace; one of them is bubblewrap's."""
    bounds = {
        "cpu": limits.cpu, "as": limits.memory, "nproc": limits.processes + 1, "fsize": limits.file, "nofile": limits.files, "core": 0,
        "msgqueue": 0, "memlock": 0, "stack": min(8 << 20, limits.memory),
    }  # fmt: skip
    return ["/usr/bin/prlimit", *(f"--{name}={value}:{value}" for name, value in bounds.items()), "--", *command]


def _converse(process: subprocess.Popen[bytes], limits: Limits, given: bytes) -> tuple[str, bytes, bytes]:
    """Hand @given in, take what comes out: how it ended, standard output, standard error."""
    deadline, watch = time.monotonic() + limits.seconds, memory.Watch(process.pid, limits.together)
    output, said, left = bytearray(), bytearray(), memoryview(given)
    assert process.stdin and process.stdout and process.stderr
    with selectors.DefaultSelector() as selector:
        for stream in (process.stdin, process.stdout, process.stderr):
            os.set_blocking(stream.fileno(), False)
        selector.register(process.stdin, selectors.EVENT_WRITE)
        selector.register(process.stdout, selectors.EVENT_READ, output)
        selector.register(process.stderr, selectors.EVENT_READ, said)
        while selector.get_map():
            if time.monotonic() > deadline:
                return "timeout", bytes(output), bytes(said)
            if watch.too_much():
                return "memory", bytes(output), bytes(said)
            for key, _ in selector.select(memory.EVERY):
                if key.data is None:
                    left = _hand_in(process, left)
                    over = not left
                else:
                    data = os.read(key.fd, PIECE)
                    room = PIECE if key.data is output else MOST_SAID - len(said)
                    key.data.extend(data[:room])
                    over = not data
                if over:
                    selector.unregister(key.fileobj)
                    key.fileobj.close()  # type: ignore[union-attr]
                if len(output) > limits.output:
                    return "output", bytes(output[: limits.output]), bytes(said)
    # Both are closed; that it goes on all the same helps it to nothing.
    while time.monotonic() < deadline:
        if watch.too_much():
            return "memory", bytes(output), bytes(said)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(memory.EVERY)
            return "exit", bytes(output), bytes(said)
    return "timeout", bytes(output), bytes(said)


def _hand_in(process: subprocess.Popen[bytes], left: memoryview) -> memoryview:
    assert process.stdin
    try:
        return left[os.write(process.stdin.fileno(), left[:PIECE]) :] if left else left
    except BlockingIOError:
        return left
    except BrokenPipeError:  # it does not want to know
        return left[:0]


def _exit_code(status: bytes) -> int | None:
    """What bubblewrap says of its program; None where it was not started."""
    for line in status.decode(errors="replace").splitlines():
        with contextlib.suppress(ValueError):
            found = json.loads(line).get("exit-code")
            if isinstance(found, int):
                return found
    return None
