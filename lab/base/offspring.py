"""A command and all that it starts: when it has ended, is late, or is given up, nothing of it is left.

subprocess.run() ends the command alone at its time-out, and then waits, for as long as it takes, for whatever else holds
the output open: a machine, a shell's command, a program's children. Here they are found again by a mark in their
environment, in sessions of their own, too.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

MARK = "CW_OFFSPRING"  # in the environment of all that is started: whose offspring it is, the eldest first
PATIENCE = 3.0  # seconds that are left to what is asked to end


def marked(environment: Mapping[str, str]) -> tuple[str, dict[str, str]]:
    """A new mark, and @environment with it, behind those that this process has itself."""
    mark = f"{os.getpid()}-{time.monotonic_ns()}"
    return mark, {**environment, MARK: f"{os.environ.get(MARK, '')}/{mark}"}


def signal_all(mark: str, number: signal.Signals) -> bool:
    """Signal whatever still carries @mark: was there anything?"""
    found = False
    for path in Path("/proc").glob("[0-9]*/environ"):
        with contextlib.suppress(OSError):
            line = next((one for one in path.read_bytes().split(b"\0") if one.startswith(f"{MARK}=".encode())), b"")
            if mark.encode() in line.split(b"/") and int(path.parent.name) != os.getpid():
                os.kill(int(path.parent.name), number)
                found = True
    return found


def end_all(mark: str) -> None:
    """End whatever still carries @mark: machines, and what terminals' tests have started in sessions of their own.

    First by asking, so that make removes what it was in the middle of: half an object is newer than its source."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        until = time.monotonic() + PATIENCE
        while signal_all(mark, number) and time.monotonic() < until:
            time.sleep(0.1)


def run(
    command: Sequence[str | Path], *, timeout: float, input: Any = None, env: Mapping[str, str] | None = None, **options: Any
) -> subprocess.CompletedProcess[Any]:  # fmt: skip
    """As subprocess.run() with check=False; @options are Popen's, but both outputs are captured if none is named.

    TimeoutExpired after @timeout seconds, with what was printed till then. Whatever is raised or returned, all has ended
    by then, but for what this user may not end.
    """
    mark, environment = marked(os.environ if env is None else env)
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
    if input is not None:
        options["stdin"] = subprocess.PIPE
    with subprocess.Popen(command, env=environment, **options) as process:
        try:
            output, said = process.communicate(input, timeout)
        except subprocess.TimeoutExpired as late:
            end_all(mark)
            with contextlib.suppress(subprocess.TimeoutExpired):  # who may not be ended still holds the output open
                late.stdout, late.stderr = process.communicate(timeout=PATIENCE)
            raise
        finally:
            end_all(mark)
    return subprocess.CompletedProcess(command, process.returncode, output, said)
