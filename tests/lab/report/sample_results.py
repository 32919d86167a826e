"""Results as a sweep would leave them, made up by a rule: for tests of what reads them. Nothing here is measured.

Kernels differ by their place in the file: each one's throughput is 2 % above the one's before it and its chains are
half as long, so that what a reader computes can be checked by arithmetic. Seeds move a value by a known little.
"""

from __future__ import annotations

import hashlib

from lab.sweep.experiment import CACHES, Experiment, Variant
from lab.sweep.store import Cell, Store, Use

THROUGHPUT, STEPS = 1000.0, 16.0


def fill(
    store: Store, experiment: Experiment, full: bool = False, failed: tuple[str, ...] = (), absent: tuple[str, ...] = ()
) -> None:
    """A cell for each place; those of the kernels @failed panicked, those of the kernels @absent have not been run."""
    scale = "full" if full else "reduced"
    uses = {}
    for rank, kernel in enumerate(experiment.kernel):
        for variant in experiment.variants(full):
            for seed in experiment.seeds_at(full):
                cell = sample(experiment, rank, variant, seed, panicked=kernel.name in failed)
                uses[Use(experiment.name, kernel.name, variant.name, seed, scale)] = cell.id
                if kernel.name not in absent:
                    store.record(cell)
    store.plan(uses)


def sample(experiment: Experiment, rank: int, variant: Variant, seed: int, panicked: bool = False) -> Cell:
    """The cell of the kernel with number @rank."""
    kernel = experiment.kernel[rank]
    name = f"{kernel.name} {variant.name} {seed}"
    results = [
        {
            "workload": variant.run[0], "case": case, "seed": seed, "elapsed_ns": 10**9,
            "scripts_per_hour": round(THROUGHPUT * 1.02**rank + seed, 3), "ops_per_second": 50.0 * 1.02**rank + seed,
        }
        for case in variant.cases
    ]  # fmt: skip
    return Cell(
        id=hashlib.sha256(name.encode()).hexdigest()[:32], config={"kernel": kernel.defconfig, "seed": seed},
        command=f"./cw run --icount --defconfig {kernel.defconfig} -- {' '.join(variant.run)} --seed {seed}",
        revision="0" * 40, qemu="QEMU emulator version 10.0.0", status="failed" if panicked else "ok",
        kind="panic" if panicked else "exit", message="the kernel panicked: a test" if panicked else "", log="booted\n",
        seconds=1.5, results=[] if panicked else results,
        stats={} if panicked else {cache: cache_report(cache, rank, seed) for cache in CACHES},
        virtual_ns=10**9 + seed, finished="2026-01-01T00:00:00Z",
    )  # fmt: skip


def cache_report(cache: str, rank: int, seed: int) -> dict:
    """A report in the form of docs/kernel/counters.md: 1024 buckets, objects spread evenly at the load STEPS / 2^rank."""
    steps = STEPS / 2**rank
    filled = max(int(1024 / 2**rank), 1)
    size = min(int(steps), 16)
    rows = [0] * 17
    rows[size] += filled
    rows[0] += 1024 - filled
    objects = [rows[n] * (n if n < 16 else int(steps)) for n in range(17)]
    lookups = 10000 + seed
    return {
        "cache": cache, "function": "sample", "structure": "chained", "rule": "number", "word": 32, "buckets": 1024,
        "bytes": 8192, "objects": sum(objects), "largest": int(steps), "empty": rows[0], "lookups": lookups,
        "hits": lookups * 3 // 4, "misses": lookups - lookups * 3 // 4, "hit_steps": int(lookups * steps),
        "miss_steps": 0, "compares": lookups, "inserts": sum(objects), "removes": 0, "hit_rate_percent": 75.0,
        "steps_per_lookup": steps, "steps_per_hit": steps * 4 / 3, "steps_per_miss": 0.0,
        "histogram": {"buckets": rows, "objects": objects, "expected": [1024 / 17] * 17},
        "expected_steps_per_hit": 1.5, "expected_steps_per_miss": 1.0, "expected_largest": 4,
        "bucket_fit": {"chi2": 1023.0, "degrees_of_freedom": 1023, "z": 0.0},
        "histogram_fit": {"chi2": 10.0, "degrees_of_freedom": 8, "z": 0.5}, "dragon_q": 1.0,
    }  # fmt: skip
