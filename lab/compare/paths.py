"""./cw paths: what paths a job's programs name in their system calls, by program: how many, how long, how deep, how many of
them lead nowhere. Tsai 2015, table 1, has the first columns of it.

The calls are those of ./cw run --strace (lab/compare/strace.py), a call for each of its paths; a program is what its process has
executed last, and what a process does before its first execve is its parent's program's. The text of a link that is made is no path.
"""

from __future__ import annotations

import errno
import sys
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from lab.base.paths import LabError
from lab.base.syscalls import read_table
from lab.run.machine import Result, run
from lab.run.options import Options

FORKS = ("clone", "clone3", "fork", "vfork")
NOT_FOUND = (-errno.ENOENT, -errno.ENOTDIR)


@dataclass
class Paths:
    """Those of one program."""

    count: int = 0
    length: int = 0  # bytes of all
    components: int = 0
    missing: int = 0  # of calls that end with ENOENT or ENOTDIR

    def add(self, path: bytes, result: int) -> None:
        self.count += 1
        self.length += len(path)
        self.components += len([name for name in path.split(b"/") if name])
        self.missing += result in NOT_FOUND


def of_programs(records: Iterable[tuple[str, Any]]) -> dict[str, Paths]:
    """Program -> its paths, out of a control log's records."""
    calls = read_table()
    found: dict[str, Paths] = {}
    programs: dict[int, str] = {}  # of each process
    begun: dict[int, tuple[str, list[bytes]]] = {}  # a call that has not ended, and its paths

    def end(pid: int, result: int) -> None:
        name, paths = begun.pop(pid, ("", []))
        if name == "execve" and result == 0:
            programs[pid] = paths[0].decode(errors="replace").rpartition("/")[2] if paths else "?"
        elif name in FORKS and result > 0:
            programs.setdefault(result, programs.get(pid, "?"))
        for path in paths if pid in programs else ():
            found.setdefault(programs[pid], Paths()).add(path, result)

    for kind, value in records:
        if kind == "call":
            pid, number, _, memory = value
            end(pid, 0)  # of an execve that has succeeded no result is told
            call = calls.get(number)
            given = enumerate(call.arguments) if call else ()
            texts = [memory.get(str(index)) for index, argument in given if argument.kind == "path_t"]
            begun[pid] = call.name if call else "", [bytes.fromhex(text) for text in texts if text]
        elif kind == "result":
            end(value[0], value[2])
        elif kind == "exited":
            end(value[0], 0)
    return found


def run_traced(options: Options) -> tuple[Result, dict[str, Paths]]:
    """Run the job; the program's output goes where Options says."""
    result = run(replace(options, strace=True, quiet=True), sys.stdout.buffer)
    if result.kind != "exit":
        raise LabError(result.message)
    return result, of_programs(result.log.records)


def table(found: dict[str, Paths]) -> str:
    """A line for each program, those with most paths first."""
    lines = ["   paths  bytes  components  not found  program"]
    for name, one in sorted(found.items(), key=lambda item: (-item[1].count, item[0])):
        missing = f"{100 * one.missing / one.count:.2f} %"
        lines.append(f"{one.count:8} {one.length / one.count:6.1f} {one.components / one.count:11.1f} {missing:>10}  {name}")  # fmt: skip
    return "\n".join(lines)
