"""Cells as processes: each is a `./cw run --result` of its own, some at a time, and is recorded as soon as it ends.

A cell whose machine has been run already, to the last byte of what QEMU is given (lab/run/qemu/given.py), is not run
again, though its sources are others: it is recorded with what that run came to, its commit and its time among it.

A process of its own keeps a cell's death its own, and lets one thread do all of the waiting. Every cell's processes are
a group that is ended as a whole: at Ctrl-C, when results can no longer be written, when a cell does not end by itself.

A cell takes the checkout as it is when it begins, and is recorded as of the sources that it was planned with. So these are
looked at before and after it; where they are others, the sweep ends, and the cell is not recorded.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Generator, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from lab.base.paths import TOP, LabError
from lab.sweep.kernels import Choice
from lab.sweep.plan import OF_SOME_RUNS, OF_THE_RUN, Planned, check_unchanged, on_host
from lab.sweep.store import Cell

GRACE = 600  # seconds beside a cell's own time-out: making its image, waiting for another's
PAUSE = 0.05  # seconds between two looks at the processes
FULL = "No space left on device"


@dataclass
class Running:
    """A cell whose process has been started."""

    cell: Planned
    process: subprocess.Popen
    folder: Path
    began: float


def start(cell: Planned, build: Path | None, folder: Path, known: Iterable[str] = ()) -> Running:
    """Begin to run @cell on the kernel in the build folder @build, None without one; its files lie in @folder. @known: hashes of machines
    that need not run. LabError: what determines it has changed since it was planned."""
    check_unchanged(cell)
    folder.mkdir(parents=True, exist_ok=True)
    result, hashes = folder / "result.json", folder / "known"
    hashes.write_text("".join(f"{one}\n" for one in known))
    if cell.kernel:
        command = [sys.executable, "-m", "lab", "run", *cell.options, "--result", str(result), "--known", str(hashes)]
        command += ["--", *cell.job]
    else:
        command = [sys.executable, "-m", "lab.measure.host", str(result), str(folder), f"{cell.timeout:g}", "--"]
        command += on_host(cell.job, cell.config["add"])
    if shutil.which("setpriv"):
        command = ["setpriv", "--pdeathsig", "TERM", *command]
    environment = {**os.environ, "CW_BUILD": "no", "PYTHONPATH": str(TOP)}
    environment |= {"CW_OUTPUT": str(build)} if build else {}
    with (folder / "errors").open("wb") as errors:
        process = subprocess.Popen(
            command, cwd=TOP, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=errors,
            start_new_session=True,
        )  # fmt: skip
    return Running(cell, process, folder, time.monotonic())


def stop(running: Running) -> None:
    """End the cell's processes, all of them, and wait until they are gone."""
    for number, patience in ((signal.SIGTERM, 10), (signal.SIGKILL, 10)):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(running.process.pid, number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            running.process.wait(patience)
            return


def outcome(running: Running) -> dict[str, Any] | None:
    """What has come of the cell, None as long as it runs. LabError where the disk is full, and where what determines the cell
    has changed since it was planned."""
    status = running.process.poll()
    if status is None:
        if time.monotonic() - running.began < running.cell.timeout + GRACE:
            return None
        stop(running)
        message = f"the run did not end within {running.cell.timeout + GRACE:.0f} s and was killed"
        return _no_result(running, message)
    try:
        found = json.loads((running.folder / "result.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return _no_result(running, f"./cw run ended with {status} and left no result")
    if found["kind"] == "error" and FULL in found["message"]:
        raise LabError(f"the disk is full: {found['message']}. What was recorded is kept; make room and go on")
    check_unchanged(running.cell)
    return found | {"checked": True}


def _no_result(running: Running, message: str) -> dict[str, Any]:
    errors = (running.folder / "errors").read_text(encoding="utf-8", errors="replace")
    if FULL in errors:
        raise LabError(f"the disk is full: {errors.strip()}. What was recorded is kept; make room and go on")
    said = errors.strip().splitlines()
    return {"status": "failed", "kind": "error", "message": ": ".join([message, *said[-1:]]), "log": errors}


def finished_cell(cell: Planned, found: dict[str, Any]) -> Cell:
    """What the results keep of it. A run that ended well but did not print what is needed has failed all the same."""
    from lab.run.result import revision

    status, message = found["status"], found["message"]
    there = {line.get("case") for line in found.get("results", [])}
    lacking = [case for case in cell.needs if case and case not in there and len(found.get("results", [])) != 1]
    if status == "ok" and cell.needs and not found.get("results"):
        status, message = "failed", "the job printed no result"
    elif status == "ok" and lacking:
        status, message = "failed", f"the job printed no result for {', '.join(lacking)}"
    elif status != "ok" and found["kind"] == "exit":
        message = f"the job failed with status {found['exit']}"
    return Cell(
        id=cell.id, config={**cell.config, **{name: found.get(name, "") for name in OF_THE_RUN}, **_of_some(found)}, command=cell.command, revision=found.get("revision") or revision(),
        qemu=found.get("qemu", cell.config["qemu"]), status=status, kind=found["kind"], message=message,
        log=found.get("log", ""), seconds=found.get("seconds", 0.0), results=found.get("results", []),
        stats=found.get("stats", {}), cachesim=found.get("cachesim", {}), virtual_ns=found.get("virtual_ns"),
        finished=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
    )  # fmt: skip


def _of_some(found: Mapping[str, Any]) -> dict[str, Any]:
    return {name: found[name] for name in OF_SOME_RUNS if name in found}


def ended_cell(cell: Planned, found: dict[str, Any], known: Mapping[str, Cell]) -> Cell:
    """What the results keep of @cell, which came to @found: another's run where that is of one of the @known machines."""
    if found["kind"] != "known":
        return finished_cell(cell, found)
    other = known[found["machine_sha256"]]
    names = (
        "status",
        "kind",
        "message",
        "log",
        "seconds",
        "results",
        "stats",
        "cachesim",
        "virtual_ns",
        "revision",
        "qemu",
    )
    seen = {name: getattr(other, name) for name in names} | {name: other.config.get(name, "") for name in OF_THE_RUN}
    return replace(finished_cell(cell, seen | _of_some(found)), finished=other.finished)


def run_local(
    cells: list[Planned],
    builds: Mapping[Choice, Path],
    jobs: int,
    tick: Callable[[list[Planned]], None],
    known: Mapping[str, Cell] | None = None,
) -> Generator[tuple[Planned, Cell]]:
    """Run @cells, @jobs at a time, and give each as it ends. @builds: each kernel's folder. @tick: called now and then with those that run. @known: cells
    that ended well, by their machines' hashes.

    Whatever ends the loop, nothing of what was started is left."""
    known = known or {}
    waiting = list(reversed(cells))
    running: list[Running] = []
    with tempfile.TemporaryDirectory(prefix="sweep-", dir=_place()) as name:
        try:
            while waiting or running:
                while waiting and len(running) < jobs:
                    cell = waiting.pop()
                    build = builds[cell.kernel] if cell.kernel else None
                    running.append(start(cell, build, Path(name) / cell.id, known))
                tick([one.cell for one in running])
                for one in list(running):
                    found = outcome(one)
                    if found is not None:
                        running.remove(one)
                        shutil.rmtree(one.folder, ignore_errors=True)
                        yield one.cell, ended_cell(one.cell, found, known)
                time.sleep(PAUSE)
        finally:
            previous = signal.signal(signal.SIGINT, signal.SIG_IGN)  # a second Ctrl-C must not leave machines behind
            for one in running:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(one.process.pid, signal.SIGTERM)
            for one in running:
                stop(one)
            signal.signal(signal.SIGINT, previous)


def _place() -> Path:
    place = TOP / "build"
    place.mkdir(exist_ok=True)
    return place
