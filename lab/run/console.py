"""A machine while it runs: its console carried both ways, its time watched, a hang told from a long job."""

from __future__ import annotations

import contextlib
import json
import os
import re
import select
import selectors
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, BinaryIO

from lab.run.options import Options

GATHER = (
    0.003  # seconds: QEMU hands the console on byte by byte, and to be woken for each costs more than the guest's run
)


def execute(command: list[str], options: Options, folder: Path, sink, source) -> tuple[int | str, bytes]:
    """Run QEMU to its end: its exit status, or "timeout" or "hang", and what the console said."""
    if shutil.which("setpriv"):
        command = ["setpriv", "--pdeathsig", "KILL", *command]
    if options.interactive:
        return _execute_interactive(command)
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0
    )
    try:
        return _pump(process, options, folder, sink, source)
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()
        complaint = process.stderr.read().decode(errors="replace").strip() if process.stderr else ""
        if complaint and "terminating on signal" not in complaint:
            print(f"qemu: {complaint}", file=sys.stderr)


def _execute_interactive(command: list[str]) -> tuple[int | str, bytes]:
    previous = signal.signal(signal.SIGINT, signal.SIG_IGN)
    terminal = None
    try:
        if sys.stdin.isatty():
            import termios

            terminal = termios.tcgetattr(0)
            # The guest's terminal sends "\r\n" already; QEMU takes care of the rest of the settings.
            settings = termios.tcgetattr(0)
            settings[1] &= ~termios.ONLCR
            termios.tcsetattr(0, termios.TCSADRAIN, settings)
        return subprocess.run(command, check=False).returncode, b""
    finally:
        signal.signal(signal.SIGINT, previous)
        if terminal:
            termios.tcsetattr(0, termios.TCSADRAIN, terminal)


def _pump(
    process: subprocess.Popen[bytes], options: Options, folder: Path, sink: BinaryIO | None, source: BinaryIO | None
) -> tuple[int | str, bytes]:
    """Carry bytes both ways until QEMU ends or time is up."""
    assert process.stdout is not None
    console = process.stdout.fileno()
    deadline = time.monotonic() + options.timeout if options.timeout else None
    output: list[bytes] = []
    # poll, since epoll refuses plain files, and a job's input may well be one
    with selectors.PollSelector() as selector:
        typist = Typist(process, source, selector) if source is not None else None
        selector.register(console, selectors.EVENT_READ)
        while True:
            left = None if deadline is None else deadline - time.monotonic()
            if left is not None and left <= 0:
                return ("hang" if hangs(folder / "qmp", console) else "timeout"), b"".join(output)
            wait = 0.1 if typist and not typist.started else 1
            for key, _ in selector.select(wait if left is None else min(left, wait)):
                if typist and key.fd != console:
                    typist.forward(key.fileobj)
                    continue
                time.sleep(GATHER)
                data = os.read(console, 65536)
                if not data:
                    return process.wait(), b"".join(output)
                output.append(data)
                if sink is not None:
                    sink.write(data if options.quiet else data.replace(b"\r\n", b"\n"))
                    sink.flush()
            if typist and not typist.started and _job_runs(folder / "control"):
                typist.start()


class Typist:
    """Types what the job is to read on the machine's console; the end of input is the terminal's own Ctrl-D.

    No faster than the machine takes it: a job that reads nothing holds up its input, and nothing else."""

    END = b"\x04"

    def __init__(self, process: subprocess.Popen[bytes], source: BinaryIO, selector: selectors.BaseSelector) -> None:
        assert process.stdin is not None
        self.keyboard, self.source, self.selector = process.stdin, source, selector
        os.set_blocking(self.keyboard.fileno(), False)
        self.started, self.ended, self.open_line, self.pending = False, False, False, b""

    def start(self) -> None:
        self.started = True
        with contextlib.suppress(ValueError):  # a closed descriptor: nothing to read
            self.selector.register(self.source, selectors.EVENT_READ)

    def forward(self, ready: object) -> None:
        """Pass on what has come, or what is left of it: @ready is the source or the keyboard."""
        if ready is self.source:
            data = os.read(self.source.fileno(), 4096)
            # Ctrl-D ends a line that has begun; only the next one is the end of input.
            self.pending = data or self.END + (self.END if self.open_line else b"")
            self.open_line, self.ended = not data.endswith(b"\n"), not data
            self.selector.unregister(self.source)
            self.selector.register(self.keyboard, selectors.EVENT_WRITE)
        try:
            self.pending = self.pending[self.keyboard.write(self.pending) or 0 :]
        except BrokenPipeError:
            self.pending, self.ended = b"", True
        if not self.pending:
            self.selector.unregister(self.keyboard)
            if not self.ended:
                self.selector.register(self.source, selectors.EVENT_READ)


def _job_runs(path: Path) -> bool:
    """Has the job begun to run, so that its terminal takes input?"""
    try:
        return b' mark {"name":"job"' in path.read_bytes()
    except OSError:
        return False


def hangs(path: Path, console: int) -> bool:
    """Ask QEMU, some times over a second: can no CPU be interrupted, and does none say anything on @console?

    Who writes without end may be met at it each time, with interrupts off."""
    try:
        with socket.socket(socket.AF_UNIX) as channel:
            channel.settimeout(5)
            channel.connect(str(path))
            stream = channel.makefile("rw")
            stream.readline()
            _qmp(stream, {"execute": "qmp_capabilities"})
            _says(console, 0)  # what it said before
            return all(_stuck(_registers(stream)) and not _says(console, 0.1) for _ in range(10))
    except (OSError, ValueError):
        return False


def _says(console: int, seconds: float) -> bool:
    """Does anything come on @console in @seconds? It is read."""
    return bool(select.select([console], [], [], seconds)[0] and os.read(console, 65536))


def _qmp(stream, command: dict[str, Any]) -> Any:
    stream.write(json.dumps(command) + "\n")
    stream.flush()
    while True:
        answer = json.loads(stream.readline())
        if "return" in answer or "error" in answer:
            return answer.get("return")


def _registers(stream) -> str:
    arguments = {"command-line": "info registers -a"}
    return _qmp(stream, {"execute": "human-monitor-command", "arguments": arguments}) or ""


def _stuck(text: str) -> bool:
    """Is every CPU at privilege level 0 with the interrupt flag clear?"""
    flags = [int(value, 16) for value in re.findall(r"(?:RFL|EFL)=([0-9a-f]+)", text)]
    levels = re.findall(r"CPL=(\d)", text)
    return bool(flags) and all(not f & 0x200 for f in flags) and all(level == "0" for level in levels)
