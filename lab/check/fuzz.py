"""./cw fuzz: sequences of file calls at random, on Linux and on Chainwalk; what differs is shrunk and kept.

tests/fuzz/filefuzz.c makes and performs the sequences; docs/testing.md tells how it all works. Here they are
given out to machines in batches, compared by the checksum of their traces, and those that differ are run again
with their traces. Of each kind of difference one sequence is shrunk: every round tries all ways of leaving out
a piece of it, for all kinds in one boot, and keeps the shortest that still differs in the same way.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from pathlib import Path

from lab.base.paths import TOP, LabError, output_folder
from lab.base.syscalls import read_table
from lab.guest import image
from lab.guest.tree import Tree
from lab.run import machine
from lab.run.options import Options

SOURCES = TOP / "tests" / "fuzz"
FOUND = SOURCES / "found"
BATCH = 1000
DROP_EVERY = 20  # sequences from one drop_caches to the next
MAX_KINDS = 12  # that are shrunk in one go
ROOTS = ("tmpfs", "ext2")

# What is left out on a root since it differs for a reason that is not a fault.
LEFT_OUT: dict[str, list[str]] = {"tmpfs": [], "ext2": []}


def compile_program(sources: list[Path], name: str, headers: list[Path] | None = None) -> Path:
    """One static program, made anew when a source is newer."""
    folder = output_folder() / "fuzz"
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / name
    watched = [*sources, *SOURCES.glob("*.h"), *(headers or [])]
    if not program.exists() or any(path.stat().st_mtime > program.stat().st_mtime for path in watched):
        handle, new = tempfile.mkstemp(dir=folder)
        os.close(handle)
        flags = ["-std=gnu11", "-O2", "-static", "-Wall", "-Wextra", f"-I{folder}"]
        try:
            subprocess.run(["musl-gcc", *flags, "-o", new, *sources], check=True)
        except (OSError, subprocess.CalledProcessError) as error:
            Path(new).unlink()
            raise LabError(f"{name} cannot be built: {error}") from None
        os.chmod(new, 0o755)
        os.replace(new, program)
    return program


def file_fuzzer() -> Path:
    operations = sorted(SOURCES.glob("operations*.c"))
    return compile_program([SOURCES / "filefuzz.c", SOURCES / "generate.c", *operations], "filefuzz")


@dataclass
class Outcome:
    """What a program said of some sequences."""

    sums: dict[int, str] = field(default_factory=dict)
    traces: dict[int, list[str]] = field(default_factory=dict)
    absent: str = ""
    ended: str = ""  # how the machine ended, if not as it should

    def read(self, text: str) -> None:
        lines: list[str] | None = None
        for line in text.splitlines():
            if line.startswith("absent:"):
                self.absent = line.removeprefix("absent:").strip()
            elif match := re.fullmatch(r"sequence (\d+)", line):
                lines = self.traces.setdefault(int(match[1]), [])
            elif match := re.fullmatch(r"(\d+) ([0-9a-f]{8})", line):
                self.sums[int(match[1])] = match[2]
                lines = None
            elif lines is not None:
                lines.append(line)


@dataclass
class Work:
    """What to run: seeds, or sequences given as lists of operations."""

    first: int = 0
    count: int = 0
    sequences: dict[int, list[str]] = field(default_factory=dict)
    verbose: bool = False

    def text(self) -> str:
        return "".join(f"sequence {name}\n" + "".join(f"{x}\n" for x in ops) for name, ops in self.sequences.items())

    def arguments(self, folder: str, file: str) -> list[str]:
        if self.sequences:
            return [folder, "file", file]
        return [folder, "seeds", str(self.first), str(self.count)]


def privileged() -> list[str]:
    """What to put before a command that must be root's."""
    if os.getuid() == 0:
        return []
    if (
        shutil.which("sudo")
        and subprocess.run(["sudo", "-n", "true"], capture_output=True, check=False).returncode == 0
    ):
        return ["sudo", "-n"]
    raise LabError("Linux's answers need root here, for several users and mounts: run this with sudo")


def cannot_judge() -> str:
    """Why this host cannot say what Linux does, or nothing."""
    try:
        privileged()
        on_linux("ext2", ["true"])
    except LabError as error:
        return str(error)
    return linux_differs()


def linux_differs() -> str:
    """Why this Linux cannot be the judge, or nothing."""
    for name, wanted in (("symlinks", "0"), ("hardlinks", "1"), ("fifos", "0"), ("regular", "0")):
        path = Path(f"/proc/sys/fs/protected_{name}")
        if path.exists() and path.read_text().strip() != wanted:
            return f"{path} is not {wanted}, as it is here"
    return ""


def on_linux(root: str, command: list[str]) -> str:
    """What @command prints on this host, in a mount namespace; "TOP" in it is a fresh file system of its own."""
    with tempfile.TemporaryDirectory(prefix="cw-fuzz-") as name:
        top = f"{name}/top"
        Path(top).mkdir()
        mount = f"mount -t tmpfs -o mode=755 none {top}"
        if root == "ext2":
            image.make_ext2(Tree(), Path(name) / "disk", image.Ext2())
            mount = f"mount -t ext2 -o loop {name}/disk {top}"
        script = f'{mount} && "$@"; status=$?; umount -l {top}; exit $status'
        command = [word.replace("TOP", top) for word in command]
        whole = [*privileged(), "unshare", "-m", "--propagation", "private", "sh", "-c", script, "sh", *command]
        done = subprocess.run(whole, capture_output=True, check=False)
        if done.returncode:
            raise LabError(f"Linux's side: {done.stderr.decode(errors='replace')[-500:]}")
    return done.stdout.decode(errors="replace")


def in_machine(root: str, command: list[str], add: list[str], smp: int, timeout: float) -> tuple[str, str]:
    """The same in a machine of its own; and how it ended, if not well. On ext2 the disk is checked afterwards."""
    with tempfile.TemporaryDirectory(prefix="cw-fuzz-") as name:
        disk = Path(name) / "disk" if root == "ext2" else None
        given = Options(
            job=["/bin/sh", "-c", 'mkdir -m 755 /root/top && exec "$@"', "sh", *command], add=add,
            root=root, smp=smp, mem="256M", quiet=True, build=False, timeout=timeout, disk=disk,
        )  # fmt: skip
        given.job = [word.replace("TOP", "/root/top") for word in given.job]
        result = machine.run(given)
        text = result.output.decode(errors="replace").replace("\r\n", "\n")
        if result.kind != "exit" or result.status:
            return text, f"{result.message}\n{text[-2500:]}"
        clean, report = image.check(disk) if disk else (True, "")
    return text, "" if clean else f"e2fsck: {report}"


def run_on_linux(root: str, work: Work, absent: str) -> Outcome:
    options = (["-x", absent] if absent else []) + (["-v"] if work.verbose else [])
    with tempfile.NamedTemporaryFile("w", prefix="cw-fuzz-") as file:
        file.write(work.text())
        file.flush()
        outcome = Outcome(absent=absent)
        outcome.read(on_linux(root, [str(file_fuzzer()), *options, *work.arguments("TOP", file.name)]))
    return outcome


def run_here(root: str, work: Work, smp: int, timeout: float = 900) -> Outcome:
    options = ["-p", "-d", "/proc/sys/vm/drop_caches", "-n", str(DROP_EVERY), "-j", str(smp)]
    options += ["-x", ",".join(LEFT_OUT[root])] if LEFT_OUT[root] else []
    options += ["-v"] if work.verbose else []
    with tempfile.NamedTemporaryFile("w", prefix="cw-fuzz-") as file:
        file.write(work.text())
        file.flush()
        add = [f"{file_fuzzer()}:/filefuzz", f"{file.name}:/sequences"]
        command = ["/filefuzz", *options, *work.arguments("TOP", "/sequences")]
        text, ended = in_machine(root, command, add, smp, timeout)
    outcome = Outcome(ended=ended)
    outcome.read(text)
    outcome.absent = ",".join(LEFT_OUT[root] + ([outcome.absent] if outcome.absent else []))
    return outcome


# ---- what differs ------------------------------------------------------------------------------------------


def first_difference(linux: list[str], ours: list[str]) -> tuple[str, str]:
    for ours_line, linux_line in zip([*ours, ""], [*linux, ""], strict=False):
        if ours_line != linux_line:
            return linux_line, ours_line
    return ("", "") if linux == ours else (" ".join(linux[len(ours) :][:1]), " ".join(ours[len(linux) :][:1]))


def kind_of(linux: list[str], ours: list[str]) -> str:
    """By what a difference is told from another one: the call, and the place or the errors."""
    a, b = first_difference(linux, ours)
    if a == b:
        return ""
    match = re.match(r"\d+ (\w+)", a) or re.match(r"\d+ (\w+)", b)
    name = match[1] if match and not a.startswith("/") else "tree"
    left, right = a.rpartition(": ")[2].split(), b.rpartition(": ")[2].split()
    for place, (x, y) in enumerate(zip([*left, "-"], [*right, "-"], strict=False)):
        if x != y:
            plain = [word if re.fullmatch(r"E[A-Z0-9]+|=|-|signal", word) else f"word{place}" for word in (x, y)]
            return f"{name} {plain[0]} {plain[1]}"
    return f"{name} lines"


@dataclass
class Failure:
    """A sequence whose traces differ."""

    root: str
    seed: int
    kind: str
    operations: list[str]
    linux: list[str]
    ours: list[str]
    rounds: int = 0

    def report(self) -> str:
        a, b = first_difference(self.linux, self.ours)
        count = len(self.operations)
        return f"{self.root}, seed {self.seed}, {count} operations: {self.kind}\n  Linux:     {a}\n  Chainwalk: {b}"

    def keep(self) -> Path:
        """As a test that is run again for ever."""
        FOUND.mkdir(exist_ok=True)
        word = re.sub(r"[^a-z0-9]+", "-", self.kind.lower()).strip("-")
        path = FOUND / f"{self.root}-{word}-{self.seed}.txt"
        head = f"# Found on {self.root} with seed {self.seed}: {self.kind}.\nroot {self.root}\n"
        path.write_text(head + "".join(f"{x}\n" for x in self.operations) + "".join(f"> {x}\n" for x in self.linux))
        return path


def operations_of(seed: int, absent: str) -> list[str]:
    options = ["-x", absent] if absent else []
    done = subprocess.run([file_fuzzer(), *options, "print", str(seed), "1"], capture_output=True, check=True)
    return done.stdout.decode().splitlines()[1:]


def differing(root: str, seeds: list[int], absent: str, smp: int) -> list[Failure]:
    """Run these seeds again with their traces."""
    work = Work(sequences={seed: operations_of(seed, absent) for seed in seeds}, verbose=True)
    ours, linux = run_here(root, work, 1), run_on_linux(root, work, absent)
    return [
        Failure(root, seed, kind, ops, linux.traces.get(seed, []), ours.traces.get(seed, []))
        for seed, ops in work.sequences.items()
        if (kind := kind_of(linux.traces.get(seed, []), ours.traces.get(seed, [])))
    ]


def shorter(operations: list[str], hint: set[int]) -> list[list[str]]:
    """All ways of leaving out one piece, larger pieces first; all of @hint at once."""
    count = len(operations)
    ways: list[list[str]] = []
    if len(hint) > 1:
        ways.append([op for i, op in enumerate(operations) if i not in hint])
        for part in range(2):
            some = set(sorted(hint)[part::2])
            ways.append([op for i, op in enumerate(operations) if i not in some])
    size = count // 2
    while size > 1:
        ways += [operations[:start] + operations[start + size :] for start in range(0, count, size)]
        size //= 2
    ways += [operations[:i] + operations[i + 1 :] for i in range(count)]
    return [way for way in ways if way]


def shrink(failures: list[Failure], absent: str) -> None:
    """Make each as short as it can be while it differs in its own way; all at once, some rounds of one boot."""
    root = failures[0].root
    hints: dict[int, set[int]] = {i: set() for i in range(len(failures))}
    for failure in failures:  # what comes after the difference does not matter
        match = re.match(r"(\d+) \w+", first_difference(failure.linux, failure.ours)[0])
        if match and not failure.kind.startswith("tree"):
            failure.operations = failure.operations[: int(match[1]) + 1]
    active = set(range(len(failures)))
    for number in range(30):
        if not active:
            return
        candidates: dict[int, tuple[int, list[str]]] = {}
        for index in sorted(active):
            for way in shorter(failures[index].operations, hints[index]):
                candidates[len(candidates)] = (index, way)
        work = Work(sequences={name: ops for name, (_, ops) in candidates.items()}, verbose=True)
        ours, linux = run_here(root, work, 1), run_on_linux(root, work, absent)
        best: dict[int, int] = {}
        single: dict[int, set[int]] = {i: set() for i in range(len(failures))}
        for name, (index, ops) in candidates.items():
            failure = failures[index]
            if kind_of(linux.traces.get(name, []), ours.traces.get(name, [])) != failure.kind:
                continue
            if len(ops) == len(failure.operations) - 1:
                gone = next((i for i, op in enumerate(ops) if op != failure.operations[i]), len(ops))
                single[index].add(gone)
            if index not in best or len(ops) < len(candidates[best[index]][1]):
                best[index] = name
        for index in list(active):
            failure = failures[index]
            if index not in best:
                active.discard(index)
                continue
            name = best[index]
            ops = candidates[name][1]
            # Where this round took out one operation, all that can go alone may go together next time.
            hints[index] = single[index] if len(ops) == len(failure.operations) - 1 else set()
            if hints[index]:
                gone = next((i for i, op in enumerate(ops) if op != failure.operations[i]), len(ops))
                hints[index] = {i - (i > gone) for i in hints[index] if i != gone}
            failure.operations, failure.linux, failure.ours = ops, linux.traces[name], ours.traces[name]
            failure.rounds = number + 1


def shrink_crash(root: str, operations: list[str], progress) -> list[str]:
    """The same for a sequence that ends the machine: a boot for each try."""
    size = max(len(operations) // 2, 1)
    tries = 0
    while size and tries < 80:
        start = 0
        while start < len(operations) and tries < 80:
            way = operations[:start] + operations[start + size :]
            tries += 1
            if way and run_here(root, Work(sequences={0: way}), 1, timeout=120).ended:
                operations = way
                progress(f"{len(operations)} operations still end the machine")
            else:
                start += size
        size //= 2
    return operations


# ---- a run ------------------------------------------------------------------------------------------------------


class Campaign:
    """Batches of seeds on one or both roots, several machines at once; goes on where it was stopped."""

    def __init__(
        self, roots: list[str], seed: int, sequences: int, smp: int, jobs: int, fresh: bool, keep: bool
    ) -> None:
        self.roots, self.seed, self.sequences, self.smp, self.jobs, self.keep = roots, seed, sequences, smp, jobs, keep
        self.path = output_folder() / "fuzz" / f"run-{seed}-{'-'.join(roots)}-{sequences}.json"
        self.state: dict[str, dict[str, str]] = {"done": {}, "failed": {}, "crashed": {}, "left": {}}
        if self.path.exists() and not fresh:
            self.state = json.loads(self.path.read_text())
        self.absent: dict[str, str] = {}
        self.began = time.monotonic()
        self.ran = 0

    def batches(self) -> list[tuple[str, int, int]]:
        each = self.sequences // len(self.roots)
        every = [
            (root, first, min(BATCH, self.seed + each - first))
            for first in range(self.seed, self.seed + each, BATCH)
            for root in self.roots
        ]
        every += [(name.split()[0], int(name.split()[1]), int(count)) for name, count in self.state["left"].items()]
        return [(root, first, count) for root, first, count in every if f"{root} {first}" not in self.state["done"]]

    def save(self) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.write_text(json.dumps(self.state))

    def say(self, text: str) -> None:
        print(text, flush=True)

    def one_batch(self, root: str, first: int, count: int) -> tuple[Outcome, Outcome]:
        ours = run_here(root, Work(first, count), self.smp)
        return ours, run_on_linux(root, Work(first, count), ours.absent)

    def judge(self, root: str, first: int, count: int, ours: Outcome, linux: Outcome) -> list[tuple[str, int, int]]:
        """Take note of what a batch came to; what is left of it, if its machine did not come to the end."""
        if root not in self.absent:
            self.say(f"{root}: left out, since the kernel has it not: {ours.absent or 'nothing'}")
        self.absent[root] = ours.absent
        missing = [seed for seed in range(first, first + count) if seed not in ours.sums]
        rest: list[tuple[str, int, int]] = []
        if ours.ended:
            crashed = missing[0] if missing else first
            self.say(f"{root}, seed {crashed}: {ours.ended}")
            self.state["crashed"][f"{root} {crashed}"] = ours.ended[:200]
            if missing[1:]:
                rest = [(root, missing[1], first + count - missing[1])]
        bad = [seed for seed in ours.sums if ours.sums[seed] != linux.sums.get(seed)]
        for seed in bad:
            self.state["failed"][f"{root} {seed}"] = ""
        self.ran += count - sum(number for _, _, number in rest)
        self.state["done"][f"{root} {first}"] = ""
        self.state["left"].pop(f"{root} {first}", None)
        for _, start, number in rest:
            self.state["left"][f"{root} {start}"] = str(number)
        self.save()
        rate = self.ran / (time.monotonic() - self.began)
        failed = len(self.state["failed"])
        self.say(f"{root} {first}..{first + count - 1}: {len(bad)} differ; {self.ran} run, {failed} differ, {rate:.0f} a second")  # fmt: skip
        return rest

    def run(self) -> int:
        todo = self.batches()
        pool = ThreadPoolExecutor(self.jobs)
        waiting: dict[Future, tuple[str, int, int]] = {}
        try:
            while todo or waiting:
                while todo and len(waiting) < self.jobs:
                    batch = todo.pop(0)
                    waiting[pool.submit(self.one_batch, *batch)] = batch
                for future in wait(waiting, return_when=FIRST_COMPLETED).done:
                    todo += self.judge(*waiting.pop(future), *future.result())
                if len(self.state["failed"]) > 2000 or len(self.state["crashed"]) > 5:
                    self.say("enough differs: no further batches")
                    todo = []
        except KeyboardInterrupt:
            self.say("interrupted; the same command goes on from here")
            pool.shutdown(wait=False, cancel_futures=True)  # their machines end with us
            return 130
        return self.look_into()

    def look_into(self) -> int:
        """Sort what differs by kind, shrink one of each, keep it."""
        kept = 0
        for root in self.roots:
            seeds = [int(name.split()[1]) for name in self.state["failed"] if name.split()[0] == root]
            if not seeds:
                continue
            absent = self.absent.get(root) or run_here(root, Work(0, 1), 1).absent
            failures = differing(root, seeds[:300], absent, self.smp)
            by_kind: dict[str, Failure] = {}
            for failure in sorted(failures, key=lambda f: len(f.operations)):
                by_kind.setdefault(failure.kind, failure)
            counts = {kind: sum(f.kind == kind for f in failures) for kind in by_kind}
            self.say(
                f"{root}: {len(seeds)} differ, {len(seeds[:300]) - len(failures)} of those not again; {len(by_kind)} kinds"
            )
            chosen = list(by_kind.values())[:MAX_KINDS]
            if chosen:
                shrink(chosen, absent)
            for failure in chosen:
                kept += 1
                self.say(f"\n{failure.report()}\n  ({counts[failure.kind]} of this kind)")
                for operation in failure.operations:
                    self.say(f"    {operation}")
                if self.keep:
                    self.say(f"  kept: {failure.keep()}")
        for root, seed in ((name.split()[0], int(name.split()[1])) for name in self.state["crashed"]):
            operations = operations_of(seed, self.absent.get(root, ""))
            if not run_here(root, Work(sequences={seed: operations}), 1, timeout=120).ended:
                self.say(f"{root}, seed {seed}: alone it does not end the machine")
                continue
            operations = shrink_crash(root, operations, self.say)
            self.say(f"{root}, seed {seed} ends the machine:\n" + "\n".join(f"    {x}" for x in operations))
            if self.keep:
                linux = run_on_linux(root, Work(sequences={seed: operations}, verbose=True), "")
                self.say(
                    f"  kept: {Failure(root, seed, 'ends the machine', operations, linux.traces[seed], []).keep()}"
                )
        total = len(self.state["failed"]) + len(self.state["crashed"])
        self.say(f"{self.ran} sequences in {time.monotonic() - self.began:.0f} s, {total} differ")
        return 1 if total else 0


def fuzz_files(
    roots: list[str], seed: int, sequences: int, smp: int, jobs: int, fresh: bool, keep: bool, without: str = ""
) -> int:
    for root in roots:
        LEFT_OUT[root] += [name for name in without.split(",") if name]
    if why := linux_differs():
        raise LabError(f"this Linux cannot be the judge: {why}")
    privileged()
    print(f"seed {seed}, {sequences} sequences on {' and '.join(roots)}", flush=True)
    return Campaign(roots, seed, sequences, smp, jobs, fresh, keep).run()


def read_found(path: Path) -> tuple[str, list[str], list[str]]:
    """A kept sequence: its root, its operations, Linux's trace."""
    lines = [line for line in path.read_text().splitlines() if line and not line.startswith("#")]
    root = next(line.split()[1] for line in lines if line.startswith("root "))
    trace = [line[2:] for line in lines if line.startswith("> ")]
    return root, [line for line in lines if not line.startswith(("root ", "> "))], trace


def replay(root: str, sequences: dict[int, list[str]]) -> Outcome:
    return run_here(root, Work(sequences=sequences, verbose=True), 1)


# ---- who may do what ------------------------------------------------------------------------------------------


def matrix() -> Path:
    return compile_program([SOURCES / "matrix.c"], "matrix")


def cells(text: str) -> dict[str, list[str]]:
    """The rows of the tables by what stands before their colon."""
    rows = (line.partition(": ") for line in text.splitlines() if ": " in line)
    return {name: rest.split() for name, _, rest in rows}


def compare_cells(linux: str, ours: str) -> list[str]:
    """Every cell that differs: its table, row, column, Linux's outcome and ours."""
    theirs, mine = cells(linux), cells(ours)
    wrong = []
    for name, row in theirs.items():
        table = name.split()[0]
        columns = theirs.get(f"{table} columns", [])
        other = mine.get(name, [])
        if len(row) != len(other):
            wrong.append(f"{name}: {len(row)} cells, here {len(other)}")
        for place, (a, b) in enumerate(zip(row, other, strict=False)):
            column = columns[place] if place < len(columns) else str(place)
            # What is not there at all is nothing that others could read or write.
            if a != b and (table, b) not in (("process", "ENOENT"), ("attribute", "EOPNOTSUPP")):
                wrong.append(f"{name}, {column}: Linux {a}, Chainwalk {b}")
    return wrong


def compare_permissions(root: str) -> tuple[int, list[str]]:
    """How many cells there are, and those that differ."""
    ours, ended = in_machine(root, ["/matrix", "TOP"], [f"{matrix()}:/matrix"], 1, 600)
    if ended:
        return 0, [ended]
    linux = on_linux(root, [str(matrix()), "TOP"])
    return sum(len(row) for row in cells(linux).values()), compare_cells(linux, ours)


def print_permissions(roots: list[str]) -> int:
    total = 0
    for root in roots:
        count, wrong = compare_permissions(root)
        print(f"{root}: {count} cells, {len(wrong)} differ", *wrong, sep="\n  ", flush=True)
        total += len(wrong)
    return 1 if total else 0


# ---- system calls at random ------------------------------------------------------------------------------------

# What an argument means to callfuzz.c, by its type in syscalls.def; by its name, where the type says little.
BY_TYPE = {
    "path_t": "p", "string_t": "r", "fd_t": "f", "dirfd_t": "d", "size_t": "n", "u64": "n", "addr_t": "a",
    "loff_t": "o", "uid_t": "u", "gid_t": "u", "umode_t": "m", "umask_t": "m", "signo_t": "s", "open_flags_t": "F",
    "ioctl_t": "k", "fcntl_t": "k", "argv_t": "g", "envp_t": "g", "timespec_in_t": "t", "sigset_in_t": "S",
    "in_t": "c", "const_ptr_t": "c", "int": "i", "u32": "i", "whence_t": "i", "signalfd_t": "f",
}  # fmt: skip
BY_NAME = {
    "pid": "P",
    "group": "P",
    "thread": "P",
    "who": "P",
    "vector": "v",
    "set_size": "8",
    "fd": "f",
    "number": "I",
}


def call_table() -> str:
    """A line of C for each call of syscalls.def."""
    lines = []
    for call in read_table().values():
        letters = ""
        for argument in call.arguments:
            pointer = "b" if argument.kind.endswith(("*", "ptr_t", "out_t")) else "x"
            letters += BY_NAME.get(argument.name) or BY_TYPE.get(argument.kind) or pointer
        lines.append(f'{{{call.number}, "{call.name}", "{letters}"}},')
    if len(lines) < 100:
        raise LabError("core/syscalls.def: its form has changed, the fuzzer of calls cannot read it")
    return "\n".join(lines) + "\n"


def call_fuzzer() -> Path:
    folder = output_folder() / "fuzz"
    folder.mkdir(parents=True, exist_ok=True)
    header = folder / "calls.h"
    table = call_table()
    if not header.exists() or header.read_text() != table:
        header.write_text(table)
    return compile_program([SOURCES / "callfuzz.c"], "callfuzz", [header])


SETTLED = "sync; echo 3 > /proc/sys/vm/drop_caches; echo 3 > /proc/sys/vm/drop_caches; cat /proc/slabinfo"


def leaks(before: str, after: str) -> list[str]:
    """Kinds of kernel objects of which there are more, of two states of /proc/slabinfo."""

    def counts(text: str) -> dict[str, int]:
        rows = (line.split() for line in text.splitlines() if line and not line.startswith("#"))
        # A name with a colon is of /proc/meminfo, if somebody has printed that, too.
        return {row[0]: int(row[1]) for row in rows if len(row) > 2 and row[1].isdigit() and row[0][-1] != ":"}

    old, new = counts(before), counts(after)
    return [f"{name}: {old.get(name, 0)} before, {n} after" for name, n in new.items() if n > old.get(name, 0)]


def fuzz_calls(
    calls: int, seed: int, root: str, smp: int, icount: bool, processes: int = 8, threads: int = 2, timeout: float = 0
) -> str:
    """Calls at random in one machine; what went wrong, or nothing. Prints what the program says."""
    program = f"/callfuzz {seed} {{}} {processes} {threads}"
    script = (
        f": > /tmp/before; : > /tmp/after; {program.format(min(calls, 6000))} > /dev/null; {SETTLED} > /tmp/before;"
        f" {program.format(calls)}; status=$?; {SETTLED} > /tmp/after; echo BEFORE; cat /tmp/before;"
        " echo AFTER; cat /tmp/after; echo END; exit $status"
    )
    with tempfile.TemporaryDirectory(prefix="cw-fuzz-") as name:
        disk = Path(name) / "disk" if root == "ext2" else None
        result = machine.run(
            Options(
                job=["/bin/sh", "-c", script],
                add=[f"{call_fuzzer()}:/callfuzz"],
                root=root,
                smp=smp,
                mem="256M",
                quiet=True,
                build=False,
                icount=icount,
                disk=disk,
                timeout=timeout or 120 + calls / 500,
            )  # fmt: skip
        )
        text = result.output.decode(errors="replace").replace("\r\n", "\n")
        said, _, rest = text.partition("BEFORE\n")
        print(said, end="", flush=True)
        if result.kind != "exit" or result.status or "callfuzz: ok" not in said:
            return f"seed {seed}: {result.message}\n{text[-3000:]}"
        before, _, after = rest.partition("AFTER\n")
        if left := leaks(before, after.partition("END")[0]):
            return f"seed {seed}: kernel objects are left:\n  " + "\n  ".join(left)
        if disk:
            clean, report = image.check(disk)
            return "" if clean else f"seed {seed}: e2fsck: {report}"
    return ""


def fuzz_calls_long(calls: int, seed: int, root: str, smp: int, icount: bool) -> int:
    """As many machines as it takes, each with a seed of its own."""
    each = 500_000
    while calls > 0:
        if wrong := fuzz_calls(min(calls, each), seed, root, smp, icount):
            print(wrong)
            return 1
        calls, seed = calls - each, seed + 1
    return 0


if __name__ == "__main__":
    sys.exit(fuzz_files(list(ROOTS), 0, 2000, 1, 2, True, False))
