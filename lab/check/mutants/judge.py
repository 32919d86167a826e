"""One mutant: plant it, build, run the tests that should notice, say what came of it."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import time
from dataclasses import asdict, dataclass

from lab.base import offspring
from lab.check.mutants.copy import Copy
from lab.check.mutants.kept import Mutant
from lab.check.mutants.rooms import needs_kernels, stages_of

KILLED, HANG, SURVIVED, UNBUILT, STALE, SAME = "killed", "hang", "survived", "not built", "stale", "same"
NOT_BUILT = -1000  # instead of a status
NOTICED = 1  # how a command ends that saw the bug; make, a shell and a program that was called wrongly end otherwise

BUILD_KERNELS = "from lab.check import kernels; kernels.build_kernels()"


@dataclass
class Verdict:
    name: str
    room: str
    what: str
    kept: bool
    outcome: str
    by: str  # the test that noticed, or what the compiler or git said
    seconds: int
    digest: str  # of the patch
    tree: str  # of the sources

    def record(self) -> dict[str, object]:
        return asdict(self)


def run(command: list[str], copy: Copy, seconds: float, extra: dict[str, str]) -> tuple[int | None, str]:
    """Status (None: it took too long) and output. Nothing that it started is left."""
    skipped = ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "CW_OUTPUT", "CW_BUILD", "O", "CW_SETTINGS", "CW_DEFCONFIG")
    environment = {key: value for key, value in os.environ.items() if key not in skipped}
    environment |= {"CW_OUTPUT": str(copy.output), **extra}
    try:
        done = offspring.run(
            command, timeout=max(seconds, 1), cwd=copy.path, env=environment, stdin=subprocess.DEVNULL,
            stderr=subprocess.STDOUT, text=True, errors="replace", start_new_session=True,
        )  # fmt: skip
    except subprocess.TimeoutExpired as late:
        said = late.stdout or b""
        return None, said.decode(errors="replace") if isinstance(said, bytes) else said
    return done.returncode, done.stdout


class Judge:
    def __init__(self, copy: Copy, limit: float, jobs: int, last_stage: bool = True) -> None:
        self.copy, self.limit, self.jobs, self.last_stage = copy, limit, jobs, last_stage
        self.clean_kernel: bytes | None = None

    # ---- building

    def build(self, goal: str = "kernel") -> str:
        """The kernel as it ships, warnings being errors: "" or what the compiler said."""
        make = ["make", "-s", f"-j{self.jobs}", "CI=1", f"O={self.copy.output}", goal]
        status, output = run(make, self.copy, self.limit, {})
        return "" if status == 0 else output.strip()[-2000:] or f"make {goal} failed"

    def prepare(self) -> str:
        """Build the tree with nothing planted, to compare with."""
        if problem := self.build():
            return problem
        self.clean_kernel = self.kernel()
        return ""

    def kernel(self) -> bytes:
        return (self.copy.output / "chainwalk.stripped").read_bytes()

    # ---- testing

    def tests(self, arguments: str, left: float) -> tuple[int | None, str]:
        """Run one selection, or what "$" stands before. Status None: too long."""
        if arguments.startswith("$"):
            return run(["/bin/sh", "-c", arguments[1:].strip()], self.copy, left, {})
        if needs_kernels(arguments):
            began = time.monotonic()
            status, output = run([sys.executable, "-c", BUILD_KERNELS], self.copy, left, {"CI": "1"})
            if status:
                return NOT_BUILT, output
            left -= time.monotonic() - began
        words = shlex.split(arguments)
        if words[0].endswith("pytest"):
            words = words[1:]
        command = [sys.executable, "-m", "pytest", "-q", "-x", "-rf", "-p", "no:cacheprovider", *words]
        command += ["-n", str(self.jobs), "--dist", "worksteal"]
        return run(command, self.copy, left, {"CW_BUILD": "no", "CI": "1"})

    def judge(self, mutant: Mutant) -> Verdict:
        began = time.monotonic()
        with self.copy.planted(mutant) as problem:
            outcome, by = (STALE, problem) if problem else self.planted(mutant, began)
        seconds = int(time.monotonic() - began)
        return Verdict(
            mutant.name, mutant.room, mutant.what, mutant.kept, outcome, by, seconds, mutant.digest, self.copy.digest
        )

    def planted(self, mutant: Mutant, began: float) -> tuple[str, str]:
        in_kernel = any(not name.startswith(("lab/", "tests/", "user/")) for name in mutant.files)
        if in_kernel and not mutant.kept:
            if problem := self.build():
                return UNBUILT, problem
            if self.clean_kernel == self.kernel():
                return SAME, "the kernel is the same, byte for byte"
        stages = list(mutant.caught_by) or stages_of(mutant.room, self.copy.path)
        if not mutant.caught_by and not self.last_stage:
            stages = stages[:-1]
        for stage in stages:
            left = self.limit - (time.monotonic() - began)
            status, output = self.tests(stage, left)
            if status == NOT_BUILT:
                return UNBUILT, output[-2000:]
            if status is None:
                return HANG, f"{stage}: not done in {self.limit:.0f} seconds"
            if stage.startswith("$") and status == NOTICED:
                return KILLED, stage
            if status and (test := failed_test(output)):
                return KILLED, test
            if status:  # no such test, or pytest itself could not go on
                return STALE, f"{stage}: {output.strip()[-500:]}"
        return SURVIVED, "; ".join(stages)


def failed_test(output: str) -> str:
    """The first test that pytest names as failed; what tells its cases apart may have blanks in it."""
    found = re.search(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", output, re.MULTILINE)
    return found[1] if found else ""
