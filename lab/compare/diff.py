"""./cw diff: one program on Chainwalk and on Linux, and all that came out differently.

Two runs a kernel. The first gives output, exit status and, from user/listtree.c, what the job changed in the file
system; the second, on its own, is traced, so that tracing disturbs nothing of the first. Traces are compared
process by process: the order in which processes run is nobody's promise, the order of calls in one is.
"""

from __future__ import annotations

import difflib
import errno
import fnmatch
import os
import re
import stat
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

from lab.base.paths import LabError, output_folder
from lab.base.syscalls import read_table
from lab.compare import strace
from lab.guest import image
from lab.guest.packages import add_packages, package_set
from lab.guest.tree import Tree, base_tree
from lab.run import linux, machine
from lab.run.machine import Result
from lab.run.options import Options

CHANNEL = 1 << 30  # bytes of a sparse disk that carries a list or a trace out
SHOWN = 30  # differences of a kind that are printed
STRACE_HOME = "/usr/local/lib/strace"
# Calls that programs make as often as time, the other CPUs and the place of their memory have it (Linux's vDSO alone
# makes ld.so ask for a page more) or chance (mkstemp asks again when the bits it got would not spread evenly), or that
# the vDSO answers without the kernel. They count where they fail.
VARYING = {"clock_gettime", "gettimeofday", "time", "futex", "sched_yield", "restart_syscall", "rt_sigreturn"}
VARYING |= {"mmap", "munmap", "brk", "madvise", "getrandom"}
# How much of a pipe a call finds is a matter of time: so is how often who reads or writes to its end has to ask.
PIECEWISE = {"read", "write"}
# Of the calls that a kernel may be without: those that make descriptors, and how many, which who has them closes, too.
DESCRIPTORS = {"socket": 1, "socketpair": 2, "epoll_create": 1, "epoll_create1": 1, "eventfd": 1, "eventfd2": 1}
FORKS = {"clone", "clone3", "fork", "vfork"}


@dataclass
class Call:
    """One call of a trace: what it returned, as far as kernels can be compared by it."""

    name: str
    error: str  # "ENOENT", or "" for success

    def __str__(self) -> str:
        return f"{self.name} = {self.error or 'ok'}"


@dataclass
class Outcome:
    """What one kernel made of the job."""

    kernel: str
    result: Result
    files: dict[str, str] = field(default_factory=dict)  # changed files: what listtree says of them
    calls: dict[str, list[Call]] = field(default_factory=dict)  # by process: "1", its first child "1.1"
    damage: str = ""  # what e2fsck found


def diff(options: Options, traced: bool = True, ignored: Iterable[str] = ()) -> int:
    """Run, compare, print. 0: all the same, 1: something differs, other: a machine's failure.

    @ignored: patterns of files whose difference is the job's own doing (git's index holds times)."""
    if options.icount:
        raise LabError(
            "diff takes no --icount: Chainwalk's clock then begins before the image's files, so old and new look alike"
        )
    options = replace(options, cpu=options.cpu or linux.CPU, quiet=True)
    outcomes = []
    for kernel in ("chainwalk", options.kernel):
        one = replace(options, kernel=kernel)
        if kernel != "chainwalk":
            one.settings, one.defconfig = [], ""
        outcome = observe(one, traced)
        if outcome.result.kind != "exit":
            print(f"{kernel}: {outcome.result.message}\n{outcome.result.output.decode(errors='replace')[-2000:]}")
            return outcome.result.status
        outcomes.append(outcome)
        outcome.files = {path: rest for path, rest in outcome.files.items() if not _matches(path, ignored)}
    here, there = outcomes
    findings = compare(here, there)
    for heading, lines in findings.items():
        print(f"== {heading}")
        print(*lines[:SHOWN], sep="\n")
        if len(lines) > SHOWN:
            print(f"... {len(lines) - SHOWN} lines more")
    if said := refusals(here):
        print(f"asked for, but not offered by {here.kernel}: {said}")
    calls = f", {sum(map(len, here.calls.values()))} calls of {len(here.calls)} processes" if traced else ""
    changed = sum(rest != "=" for rest in here.files.values())
    what = f"output ({len(here.result.output)} bytes), status {here.result.status}, {changed} changed files{calls}"
    print(f"the same on both: {what}" if not findings else "differs in: " + ", ".join(findings))
    return 1 if findings else 0


def _matches(path: str, patterns: Iterable[str]) -> bool:
    return any(fnmatch.fnmatch(path, pattern) for pattern in patterns)


def observe(options: Options, traced: bool) -> Outcome:
    """Both runs of the job on one kernel."""
    runs = output_folder() / "runs"
    runs.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="run-diff-", dir=runs) as name:
        folder = Path(name)
        channel = _channel(folder / "list")
        first = replace(options, more_disks=[channel])
        first.cmdline = f"{options.cmdline} job_list={first.disk_device(0)}".strip()
        if options.root_kind() == "ext2":
            first.disk, first.flushes = folder / "disk", False
        outcome = Outcome(options.kernel.partition("=")[0], machine.run(first))
        if outcome.result.kind == "exit":
            outcome.files = read_list(channel)
            if first.disk:
                clean, report = image.check(first.disk)
                outcome.damage = "" if clean else report
            if traced:
                outcome.calls = trace(options, _channel(folder / "trace"))
        return outcome


def _channel(path: Path) -> Path:
    with path.open("wb") as file:
        file.truncate(CHANNEL)
    return path


def _channel_text(path: Path) -> str:
    """What was written to a channel: up to the first zero byte."""
    found = bytearray()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            text, zero, _ = block.partition(b"\0")
            found += text
            if zero:
                break
    return found.decode(errors="surrogateescape")


def read_list(channel: Path) -> dict[str, str]:
    """Path -> the rest of listtree's line."""
    lines = _channel_text(channel).splitlines()
    if not lines or lines.pop() != f"end\t{len(lines)}":
        raise LabError("the list of changed files is not whole (did listtree fail? see the console)")
    found = {}
    for line in lines:
        path, _, rest = line.partition("\t")
        found[path or "/"] = rest
    return found


# ---- comparing -------------------------------------------------------------------------------------------------


def compare(here: Outcome, there: Outcome) -> dict[str, list[str]]:
    """Heading -> lines, for each kind of thing that differs."""
    findings: dict[str, list[str]] = {}
    ours, theirs = (one.result.output.decode(errors="replace").splitlines() for one in (here, there))
    if ours != theirs:
        findings["output"] = list(difflib.unified_diff(theirs, ours, there.kernel, here.kernel, lineterm="", n=1))
    if here.result.status != there.result.status:
        findings["exit status"] = [f"{one.kernel}: {one.result.status}" for one in (there, here)]
    if here.files != there.files:
        findings["files"] = list(compare_files(here, there))
    absent = unoffered(here)
    lines = [line for process in _processes(here, there) for line in compare_calls(process, here, there, absent)]
    if lines:
        findings["calls"] = lines
    damaged = [f"{one.kernel}: {one.damage.strip()}" for one in (there, here) if one.damage]
    if damaged:
        findings["e2fsck"] = damaged
    return findings


def compare_files(here: Outcome, there: Outcome) -> Iterable[str]:
    fields = "type mode uid gid links size content".split()
    for path in sorted(here.files.keys() | there.files.keys()):
        ours, theirs = here.files.get(path), there.files.get(path)
        if ours == theirs:
            continue
        if ours is None or theirs is None:
            other, text = (there, theirs) if ours is None else (here, ours)
            what = "unchanged" if text == "=" else (text or "").replace("\t", " ")
            yield f"{path}: only on {other.kernel}: {what}"
            continue
        split = [line.split("\t") for line in (theirs, ours)]
        if not all(len(line) == len(fields) for line in split):
            yield f"{path}: {there.kernel}: {theirs}; {here.kernel}: {ours}"
            continue
        for name, left, right in zip(fields, *split, strict=True):
            if left != right:
                yield f"{path}: {name}: {there.kernel} {left}, {here.kernel} {right}"


def _processes(here: Outcome, there: Outcome) -> list[str]:
    labels = here.calls.keys() | there.calls.keys()
    return sorted(labels, key=lambda label: [int(part) for part in label.split(".")])


def compare_calls(process: str, here: Outcome, there: Outcome, absent: Iterable[str]) -> list[str]:
    """The calls of one process, but for those of these names: what one kernel let it do and the other did not."""
    sides = []
    for one in (there, here):
        if process not in one.calls:
            return [f"process {process}: only on {(here if one is there else there).kernel}"]
        sides.append([str(call) for call in _comparable(one.calls[process], absent)])
    if sides[0] == sides[1]:
        return []
    lines = difflib.unified_diff(sides[0], sides[1], there.kernel, here.kernel, lineterm="", n=2)
    return [f"process {process}:", *(f"  {line}" for line in lines if not line.startswith("@@"))]


def unoffered(outcome: Outcome) -> dict[str, str]:
    """The calls that the kernel does not offer, and what it says then: programs try them and do without (core/syscalls.def
    names them), or an optional room has them that it was built without. Said, but no difference."""
    chosen = outcome.result.config.splitlines()
    absent = {call.name: call.error for call in read_table(macro="SYSCALL_TRIED").values()}
    for call in read_table().values():
        if call.room and f"CONFIG_{call.room}=y" not in chosen:
            absent[call.name] = call.error
    return absent


def _comparable(calls: list[Call], absent: Iterable[str]) -> Iterator[Call]:
    """Without the calls that vary, and those that one kernel does not offer with what they lead to.

    Reads and writes that follow each other and succeed count as one of each."""
    descriptors = 0
    pieces: set[str] = set()  # of the run of reads and writes that is going on
    for call in calls:
        if call.name in absent:
            descriptors += 0 if call.error else DESCRIPTORS.get(call.name, 0)
        elif call.name == "close" and descriptors:
            descriptors -= 1
        elif call.name in VARYING and not call.error:
            continue
        elif call.name in PIECEWISE and not call.error:
            if call.name not in pieces:
                yield call
            pieces.add(call.name)
        else:
            pieces.clear()
            yield call


def refusals(outcome: Outcome) -> str:
    """Which calls the kernel does not offer, and how often they were asked for."""
    calls = [call for process in outcome.calls.values() for call in process]
    absent = unoffered(outcome)
    found = Counter(call.name for call in calls if absent.get(call.name) == call.error)
    return ", ".join(f"{name} ({count})" for name, count in sorted(found.items()))


# ---- traces ----------------------------------------------------------------------------------------------------


def trace(options: Options, channel: Path) -> dict[str, list[Call]]:
    """The calls of a traced run, process by process."""
    if options.linux:
        return _by_process(parse_strace(_run_strace(options, channel)))
    result = machine.run(replace(options, strace=True))
    if result.kind != "exit":
        raise LabError(f"the traced run: {result.message}")
    return _by_process(
        (event.pid, _name(event.call), event.result) for event in strace.events(result.log.records) if event.call
    )


def _name(call: str) -> str:
    """The name of a call that Chainwalk does not know, as strace would print it."""
    if not call.startswith("syscall_0x"):
        return call
    return _linux_names().get(int(call.removeprefix("syscall_"), 16), call)


@cache
def _linux_names() -> dict[int, str]:
    for header in sorted(Path("/usr/include").glob("**/asm/unistd_64.h")):
        return {int(number): name for name, number in re.findall(r"#define __NR_(\w+) (\d+)", header.read_text())}
    return {}


def _run_strace(options: Options, channel: Path) -> str:
    """Run the job under strace on Linux; strace and its libraries stand apart from the job's own."""
    tree = machine.tree_of(options)
    _add_strace(tree)
    options = replace(options, tree=tree, add=[], packages=[], more_disks=[channel])
    home = "/root" if options.user == "root" else f"/home/{options.user}"
    who = [] if options.user == "root" else ["-u", options.user]
    for name, value in (("HOME", home), ("USER", options.user), ("LOGNAME", options.user)):
        who += ["-E", f"{name}={value}"]
    loader = [f"{STRACE_HOME}/ld-linux-x86-64.so.2", "--library-path", STRACE_HOME, f"{STRACE_HOME}/strace"]
    options.job = [*loader, "-f", "-o", options.disk_device(0), *who, *options.job]
    options.cmdline = f"{options.cmdline} job_cwd={home}".strip()
    options.user = "root"
    result = machine.run(options)
    text = _channel_text(channel)
    if result.kind != "exit" or not text:
        raise LabError(f"strace: {result.message}\n{result.output.decode(errors='replace')[-2000:]}")
    return text


def _add_strace(tree: Tree) -> None:
    """strace from its package, with the loader and every library it needs, in a folder of its own."""
    whole = base_tree(merged=True)
    add_packages(whole, package_set(["strace"]))
    for path, _ in whole.items():
        name = os.path.basename(path)
        file = whole.follow(path) if ".so" in name or path == "/usr/bin/strace" else None
        if file and stat.S_ISREG(file.mode):
            tree.put(f"{STRACE_HOME}/{name}", file)


STARTED = re.compile(r"(\d+) +(\w+)\(")
RESUMED = re.compile(r"(\d+) +<\.\.\. (\w+) resumed>")
RESULT = re.compile(r" = (\?|-?\d+|0x[0-9a-f]+)(?: (E[A-Z0-9]+))?[^=\"]*$")


def parse_strace(text: str) -> Iterable[tuple[int, str, int | None]]:
    """(pid, call, result) of the lines that `strace -f -o` writes; a call is given when it ends."""
    numbers = {name: number for number, name in errno.errorcode.items()} | {"ENOTSUP": 95, "EOPNOTSUPP": 95}
    for line in text.splitlines():
        match = RESUMED.match(line) or STARTED.match(line)
        if not match or line.endswith("<unfinished ...>"):
            continue
        result = RESULT.search(line)
        if not result or result[1] == "?":
            yield int(match[1]), match[2], None
        elif result[2]:
            yield int(match[1]), match[2], -numbers.get(result[2], 1)
        else:
            yield (
                int(match[1]),
                match[2],
                int(result[1], 16 if result[1].startswith("0x") else 10),
            )  # umask's is octal, and no pid


def _by_process(found: Iterable[tuple[int, str, int | None]]) -> dict[str, list[Call]]:
    """Label each process by its place among its parent's children; calls in their order."""
    events = list(found)
    labels: dict[int, str] = {}
    parents = {result: pid for pid, name, result in events if name in FORKS and result and result > 0}
    order: dict[int, int] = {}
    children: dict[int, int] = {}
    for pid, name, result in events:
        if name in FORKS and result and result > 0:
            children[pid] = order[result] = children.get(pid, 0) + 1

    def label(pid: int) -> str:
        if pid not in labels:
            labels[pid] = f"{label(parents[pid])}.{order[pid]}" if pid in parents else "1"
        return labels[pid]

    calls: dict[str, list[Call]] = {}
    for pid, name, result in events:
        error = _error_name(-result) if result is not None and -4096 < result < 0 else ""
        calls.setdefault(label(pid), []).append(Call(name, error))
    return calls


def _error_name(number: int) -> str:
    return "EOPNOTSUPP" if number == 95 else errno.errorcode.get(number, f"errno {number}")
