"""A cell that runs on this host itself, where programs are timed: `python3 -m lab.measure.host RESULT FOLDER SECONDS -- PROGRAM ARG...`.

Writes the file that `./cw run --result` writes of a machine (lab/run/result.py), with as much of it as there is without one. The
program runs in FOLDER and has no input; what it prints is its log.
"""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from lab.run.machine import ERROR, TIMEOUT
from lab.run.result import failure, result_lines, write


def run_on_host(job: list[str], folder: Path, timeout: float) -> dict[str, Any]:
    """Run @job in @folder for at most @timeout seconds, and tell what came of it. It ends with all that it started."""
    began = time.monotonic()
    try:
        done = subprocess.run(
            job, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=timeout,
            text=True, errors="replace", check=False,
        )  # fmt: skip
    except OSError as error:
        return failure(f"{job[0]} cannot be run: {error.strerror or error}", job)
    except subprocess.TimeoutExpired:
        ended = {"kind": "timeout", "exit": TIMEOUT, "message": f"it did not end in {timeout:g} s"}
        return failure("", job) | ended | {"seconds": timeout}
    seconds = round(time.monotonic() - began, 3)
    ended = {"kind": "exit", "exit": done.returncode, "message": f"the job ended with {done.returncode}"}
    good = {"status": "ok" if done.returncode == 0 else "failed", "results": result_lines(done.stdout)}
    return failure("", job) | {"qemu": "", "log": done.stdout, "seconds": seconds} | ended | good


def main(words: list[str]) -> int:
    result, folder, timeout, *job = [word for at, word in enumerate(words) if at != words.index("--")]
    found = run_on_host(job, Path(folder), float(timeout))
    write(Path(result), found)
    return int(found["exit"]) if found["kind"] == "exit" else ERROR


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
