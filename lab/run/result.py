"""./cw run --result FILE.json: everything about one run in one file, for sweeps and for scripts.

The file is there however the run ended: after a panic, a hang, a time-out, and when the lab itself failed, which is
kind `error`. It appears as a whole or not at all. docs/lab/experiments.md describes its members.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, BinaryIO

from lab.base.files import make_room, write_whole
from lab.base.paths import TOP, LabError
from lab.run.control import ControlLog
from lab.run.machine import ERROR, Result, run
from lab.run.options import Options, without_input
from lab.run.qemu.given import qemu_version
from lab.run.stacks import functions_of

# Pages about results and the results themselves: what is kept of a run changes no other run.
OF_RESULTS = (":(exclude)results", ":(exclude)docs/results", ":(exclude)docs/results.md")


@cache
def revision() -> str:
    """Git's commit of this checkout, with "-dirty" where something but OF_RESULTS is changed or added; "unknown"
    without git."""
    try:
        commit, changes = (
            subprocess.run(["git", "-C", str(TOP), *words], capture_output=True, text=True, check=True).stdout.strip()
            for words in (("rev-parse", "HEAD"), ("status", "--porcelain", "--", ".", *OF_RESULTS))
        )
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return commit + ("-dirty" if changes else "")


@cache
def host() -> str:
    """What decides how long a run takes here: the processor's name, and how many CPUs there are."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    name = next(
        (line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "unknown processor"
    )
    return f"{name}, {os.cpu_count() or 1} CPUs"


def result_lines(output: str) -> list[dict[str, Any]]:
    """The results that a job printed: the console's lines that are JSON objects."""
    found = []
    for line in output.splitlines():
        if line.startswith("{"):
            try:
                value = json.loads(line)
            except ValueError:
                continue
            if isinstance(value, dict):
                found.append(value)
    return found


def virtual_ns(log: ControlLog) -> int | None:
    """From the job's start to its end by the machine's clock; None where it has not come to both."""
    times = {mark.get("name"): mark.get("ns") for mark in log.all("mark") if isinstance(mark, dict)}
    begun, ended = times.get("job"), times.get("job_end")
    return None if begun is None or ended is None else ended - begun


def run_with_result(
    path: Path, options: Options, command: list[str], sink: BinaryIO | None = None, source: BinaryIO | None = None
) -> Result:
    """lab.run.machine.run(), and what came of it written to @path. @command: the words behind ./cw, for the file."""
    options = replace(options, known=options.known or frozenset())
    make_room(path, "--result")
    if options.icount:  # the run that repeats it is the same, whatever its standard input
        options, source = without_input(options), None
    try:
        result = run(options, sink, source)
    except (LabError, OSError) as error:
        write(path, failure(str(error), command))
        raise
    write(path, summary(result, command))
    return result


def summary(result: Result, command: list[str]) -> dict[str, Any]:
    """What the file holds. A result is `ok` when the machine ended well and the job's status was 0."""
    text = result.output.decode(errors="replace").replace("\r\n", "\n")
    stats = dict(result.stats)
    if result.profile:
        stats["profile"] = functions_of(result.profile)
    status = "known" if result.kind == "known" else "ok" if result.kind == "exit" and result.status == 0 else "failed"
    return {
        "status": status, "kind": result.kind,
        "message": result.message, "exit": result.status, "results": result_lines(text), "stats": stats,
        "cachesim": result.cachesim, "virtual_ns": virtual_ns(result.log), "seconds": round(result.seconds, 3),
        "command": shlex.join(["./cw", *command]), "revision": revision(), "qemu": qemu_version(),
        "config": result.config, "kernel_sha256": result.kernel_sha256, "machine_sha256": result.machine,
        "host": host(), "log": text,
    }  # fmt: skip


def failure(message: str, command: list[str]) -> dict[str, Any]:
    """The same where no machine ran, or the lab failed."""
    return {
        "status": "failed", "kind": "error", "message": message, "exit": ERROR, "results": [], "stats": {},
        "cachesim": {}, "virtual_ns": None, "seconds": 0.0, "command": shlex.join(["./cw", *command]),
        "revision": revision(), "qemu": qemu_version(), "config": "", "kernel_sha256": "",
        "machine_sha256": "", "host": host(), "log": "",
    }  # fmt: skip


def write(path: Path, content: dict[str, Any]) -> None:
    """Write @content as a whole or not at all."""
    try:
        write_whole(path, json.dumps(content, indent=1, sort_keys=True) + "\n")
    except OSError as error:
        raise LabError(f"--result {path}: {error.strerror or error}") from None
