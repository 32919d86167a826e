"""./cw bench --against linux: the same binary, image and machine on both kernels, as instructions here and there.

Calls: lab/measure/calls.py. Jobs: the plugin of lab/measure/instructions.py counts what programs and what the kernel
executed from the job's fork to its end, timer interrupts included. Of either the locked instructions are counted, too.
"""

from __future__ import annotations

import json
import shlex
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from lab.base.paths import LabError
from lab.guest import jobs
from lab.measure import instructions
from lab.measure.calls import Call, measure, shown
from lab.run import linux
from lab.run.options import Options

WANTED = 0.5  # of Linux's instructions, at most
DYNAMIC = "/usr/bin/true"
KEEP_LOCKS = "noreplace-smp"  # on one CPU Linux would patch its lock prefixes away


def kernels(options: Options, name: str) -> list[Options]:
    """The same run on Chainwalk and on Linux."""
    both = replace(options, icount=True, quiet=True, cpu=linux.CPU)
    there = replace(both, kernel=name, settings=[], defconfig="", cmdline=f"{both.cmdline} {KEEP_LOCKS}".strip())
    return [replace(both, kernel="chainwalk"), there]


def calls(options: Options, name: str, rows: Iterable[str] = ()) -> list[dict[str, Any]]:
    """A row for each row of user/bench.c, or for @rows of them: {"row", "chainwalk", "linux", "ratio", "locked"}; of locked
    instructions {"chainwalk", "linux"}."""
    packages = sorted({*options.packages, "coreutils"})
    options = replace(options, packages=packages, environment={"BENCH_DYNAMIC": DYNAMIC})
    here, there = (measure(one, rows) for one in kernels(options, name))
    return [_row_of_calls(row, here[row], there[row]) for row in here if row in there]


def _row_of_calls(name: str, here: Call, there: Call) -> dict[str, Any]:
    return _row(name, here.instructions, there.instructions, here.locked, there.locked)


def _row(name: str, here: int, there: int, locked: float, locked_there: float) -> dict[str, Any]:
    return {
        "row": name, "chainwalk": here, "linux": there, "ratio": round(here / there, 3),
        "locked": {"chainwalk": locked, "linux": locked_there},
    }  # fmt: skip


def job(options: Options, name: str, command: str) -> dict[str, Any]:
    """What a whole job costs on both: {"job", "status", "user": row, "kernel": row}.

    @command: the name of a job of lab/jobs, which then works in /tmp, a tmpfs; or a shell command."""
    if command in jobs.names():
        options = options.with_job(jobs.find(command), work="/tmp/work")
    else:
        options = replace(options, job=["sh", "-c", command])
    found = []
    with tempfile.TemporaryDirectory(prefix="cw-count-") as folder:
        for one in kernels(options, name):
            found.append(instructions.count(one, Path(folder) / "out"))
    (ours, here), (theirs, there) = found
    if ours.status != theirs.status:
        raise LabError(f"the job ends with {ours.status} on Chainwalk and {theirs.status} on Linux: ./cw diff says why")
    sides = [asdict(counted.all) for counted in (here, there)], [asdict(counted.locked) for counted in (here, there)]
    rows = {kind: _row(kind, *(side[kind] for both in sides for side in both)) for kind in ("user", "kernel")}
    return {"job": command, "status": ours.status, "same_output": ours.output == theirs.output, **rows}


def bench_against(name: str, options: Options, rows: list[str], commands: list[str], as_json: bool) -> None:
    """The table of calls (or only @rows of it), or, with @commands, of these jobs."""
    version = linux.linux_kernel(name.partition("=")[2]).version
    measured: dict[str, Any] = {"linux": version}
    if commands:
        measured["jobs"] = [job(options, name, command) for command in commands]
    else:
        measured["calls"] = calls(options, name, rows)
    if as_json:
        print(json.dumps(measured, indent=1))
    elif commands:
        _print_jobs(measured["jobs"], version)
    else:
        _print_calls(measured["calls"], version)
    sys.stdout.flush()


def _print_calls(rows: list[dict[str, Any]], version: str) -> None:
    print(f"{'':26} {'instructions a call':>28}   {'locked instructions':>20}   (Linux {version})")
    print(f"{'':26} {'Chainwalk':>10} {'Linux':>10} {'ratio':>6}   {'Chainwalk':>10} {'Linux':>9}")
    for row in rows:
        above = "" if row["ratio"] <= WANTED else f"   above {WANTED}"
        print(f"{row['row']:26} {row['chainwalk']:10} {row['linux']:10} {row['ratio']:6.2f}   {_locked(row)}{above}")
    above = sum(row["ratio"] > WANTED for row in rows)
    print(f"{len(rows)} rows, {len(rows) - above} at most {WANTED} of Linux")


def _print_jobs(rows: list[dict[str, Any]], version: str) -> None:
    print(
        f"{'instructions of':40} {'Chainwalk':>13} {'Linux':>13} {'ratio':>6}   {'locked ones':>20}   (Linux {version})"
    )
    for row in rows:
        print(shlex.quote(row["job"])[:120] + ("" if row["same_output"] else "   (its output differs)"))
        for kind in ("user", "kernel"):
            one = row[kind]
            print(f"  {kind:38} {one['chainwalk']:13} {one['linux']:13} {one['ratio']:6.2f}   {_locked(one)}")


def _locked(row: dict[str, Any]) -> str:
    """Both kernels' locked instructions, as the tables have them."""
    return f"{shown(row['locked']['chainwalk']):>10} {shown(row['locked']['linux']):>9}"
