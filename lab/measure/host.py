"""A cell that runs on this host itself, where programs are timed: `python3 -m lab.measure.host RESULT FOLDER SECONDS -- PROGRAM ARG...`.

Writes the file that `./cw run --result` writes of a machine (lab/run/result.py), with as much of it as there is without one, and
the host's load average before and after. The program runs in FOLDER and has no input; what it prints is its log.

alone() keeps two sweeps of one host, of whatever checkouts, from timing something at the same time. Known limit: machines and
builds beside it are not kept away; the load average tells of them.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from lab.base import offspring
from lab.base.paths import LabError, cache_folder
from lab.run.machine import ERROR, TIMEOUT
from lab.run.result import failure, result_lines, write


def lock_file() -> Path:
    """All checkouts of a user have it in common."""
    return cache_folder() / "timing.lock"


@contextlib.contextmanager
def alone(waiting: Callable[[], None]) -> Iterator[None]:
    """To be the one that times something on this host. @waiting is called where another does, before it is waited for.
    LabError: the lock's file cannot be made."""
    path = lock_file()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = path.open("a")
    except OSError as error:
        raise LabError(f"{path} cannot be opened: {error.strerror or error}") from None
    with handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            waiting()
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def run_on_host(job: list[str], folder: Path, timeout: float) -> dict[str, Any]:
    """Run @job in @folder for at most @timeout seconds, and tell what came of it. It ends with all that it started."""
    start = load_average()
    found = _run(job, folder, timeout)
    return found | {"qemu": "", "load_average": {"start": start, "end": load_average()}}


def load_average() -> list[float]:
    """Of the last minute, five and fifteen minutes."""
    return [round(one, 2) for one in os.getloadavg()]


def _run(job: list[str], folder: Path, timeout: float) -> dict[str, Any]:
    began = time.monotonic()
    try:
        done = offspring.run(
            job,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stderr=subprocess.STDOUT,
            timeout=timeout,
            text=True,
            errors="replace",
        )
    except OSError as error:
        return failure(f"{job[0]} cannot be run: {error.strerror or error}", job)
    except subprocess.TimeoutExpired:
        ended = {"kind": "timeout", "exit": TIMEOUT, "message": f"it did not end in {timeout:g} s"}
        return failure("", job) | ended | {"seconds": timeout}
    seconds = round(time.monotonic() - began, 3)
    ended = {"kind": "exit", "exit": done.returncode, "message": f"the job ended with {done.returncode}"}
    good = {"status": "ok" if done.returncode == 0 else "failed", "results": result_lines(done.stdout)}
    return failure("", job) | {"log": done.stdout, "seconds": seconds} | ended | good


def main(words: list[str]) -> int:
    result, folder, timeout, *job = [word for at, word in enumerate(words) if at != words.index("--")]
    found = run_on_host(job, Path(folder), float(timeout))
    write(Path(result), found)
    return int(found["exit"]) if found["kind"] == "exit" else ERROR


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
