"""A run of many seeds: given out to machines in batches, judged, and what differs sorted, shrunk and kept."""

from __future__ import annotations

import json
import time
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait

from lab.base.files import write_whole
from lab.base.paths import LabError, output_folder
from lab.check.fuzz.both import LEFT_OUT, Outcome, Work, linux_differs, privileged, run_here, run_on_linux
from lab.check.fuzz.differences import Failure, differing
from lab.check.fuzz.programs import operations_of
from lab.check.fuzz.shrink import shrink, shrink_crash

BATCH = 1000
MAX_KINDS = 12  # that are shrunk in one go


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
        write_whole(self.path, json.dumps(self.state))

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
