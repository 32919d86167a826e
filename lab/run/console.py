"""A machine while it runs: its console carried both ways, its time watched, a hang told from a long job."""

from __future__ import annotations

import contextlib
import json
import os
import re
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
    typist = Typist(process, source) if source is not None else None
    # poll, since epoll refuses plain files, and a job's input may well be one
    with selectors.PollSelector() as selector:
        selector.register(console, selectors.EVENT_READ)
        while True:
            left = None if deadline is None else deadline - time.monotonic()
            if left is not None and left <= 0:
                return ("hang" if hangs(folder / "qmp") else "timeout"), b"".join(output)
            wait = 0.1 if typist and not typist.started else 1
            for key, _ in selector.select(wait if left is None else min(left, wait)):
                if key.fd != console:
                    if typist and not typist.forward():
                        selector.unregister(key.fileobj)
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
                typist.started = True
                with contextlib.suppress(ValueError):  # a closed descriptor: nothing to read
                    selector.register(typist.source, selectors.EVENT_READ)


class Typist:
    """Types what the job is to read on the machine's console; the end of input is the terminal's own Ctrl-D."""

    END = b"\x04"

    def __init__(self, process: subprocess.Popen[bytes], source: BinaryIO) -> None:
        assert process.stdin is not None
        self.keyboard, self.source = process.stdin, source.fileno()
        self.started, self.open_line = False, False

    def forward(self) -> bool:
        """Pass on what has come; False at the end."""
        data = os.read(self.source, 4096)
        try:
            # Ctrl-D ends a line that has begun; only the next one is the end of input.
            self.keyboard.write(data or self.END + (self.END if self.open_line else b""))
        except BrokenPipeError:
            return False
        self.open_line = not data.endswith(b"\n")
        return bool(data)


def _job_runs(path: Path) -> bool:
    """Has the job begun to run, so that its terminal takes input?"""
    try:
        return b' mark {"name":"job"' in path.read_bytes()
    except OSError:
        return False


def hangs(path: Path) -> bool:
    """Ask QEMU, some times over a second: can no CPU be interrupted?"""
    try:
        with socket.socket(socket.AF_UNIX) as channel:
            channel.settimeout(5)
            channel.connect(str(path))
            stream = channel.makefile("rw")
            stream.readline()
            _qmp(stream, {"execute": "qmp_capabilities"})
            for _ in range(10):
                if not _stuck(_registers(stream)):
                    return False
                time.sleep(0.1)
            return True
    except (OSError, ValueError):
        return False


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
