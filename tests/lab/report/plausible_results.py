"""Results of the real experiments' shape, with every number that their measures name: drawn at random around the
papers' figures, so that all verdicts occur. For tests of what a whole report looks like. Nothing here is measured.
"""

from __future__ import annotations

import hashlib
import random
from typing import Any

from lab.report.collect import Section, collect
from lab.report.sensitivity import sensitivities
from lab.sweep.experiment import CACHES, Experiment, Kernel, Variant, load
from lab.sweep.store import Cell, Store, Use
from lab.sweep.toml.files import find

TABLES = [f"lever-table{number}" for number in range(1, 7)]
CLOCK = 450  # MHz
EFFECTS = (1.0, 1.1, 0.4, 0.0, -0.8, 1.5)  # of the paper's, by a kernel's place in the file


def sections(path: Any, names: list[str], full: bool = True, seeds: int | None = None) -> list[Section]:
    """The sections of the experiments @names; of each cell with one of the first @seeds seeds there is a result."""
    found = []
    with Store(path) as store:
        for name in names:
            experiment = load(find(name))
            fill(store, experiment, full, seeds)
            section = collect(store, experiment, full)
            assert section is not None
            section.sensitivities = sensitivities(section)
            found.append(section)
    return found


def fill(store: Store, experiment: Experiment, full: bool, seeds: int | None = None) -> None:
    uses = {}
    for kernel in experiment.kernel:
        for variant in experiment.variants(full):
            for number, seed in enumerate(experiment.seeds_at(full)):
                cell = _cell(experiment, kernel, variant, seed)
                uses[Use(experiment.name, kernel.name, variant.name, seed, "full" if full else "reduced")] = cell.id
                if seeds is None or number < seeds:
                    store.record(cell)
    store.plan(uses)


def _cell(experiment: Experiment, kernel: Kernel, variant: Variant, seed: int) -> Cell:
    name = f"{experiment.name} {kernel.name} {variant.name} {seed}"
    draw = random.Random(name)
    rank = experiment.kernel.index(kernel)
    repeat = int(variant.run[variant.run.index("--repeat") + 1]) if "--repeat" in variant.run else 1
    results: list[dict[str, Any]] = []
    parts: list[dict[str, Any]] = []
    for case in variant.cases:
        rate = _rate(experiment, kernel, rank, case)
        for _ in range(repeat):
            found = rate * draw.gauss(1, 0.0025)
            elapsed = int(3.6e15 / found)
            results.append(
                {
                    "workload": variant.run[0], "case": case, "seed": seed, "part": len(parts), "elapsed_ns": elapsed,
                    "scripts_per_hour": found, "ops_per_second": found, "ns_per_call": 1e6 / found, "lookup_ns": 3e5 / found,
                    "counters": {cache: _counted(draw, rank) for cache in CACHES},
                }
            )  # fmt: skip
            parts.append(_simulated(draw, rank, elapsed))
    stats = {cache: _report(draw, cache, rank) for cache in CACHES}
    return Cell(
        id=hashlib.sha256(name.encode()).hexdigest()[:32], config={"kernel": kernel.defconfig, "seed": seed},
        command=f"./cw run --icount --root ram --mem 512M+disk --disk-model cheetah --cache-sim xeon-p2,sensitivity,from=mark "
        f"--defconfig {kernel.defconfig} --result result.json -- {' '.join(variant.run)} --seed {seed}",
        revision="0123456789abcdef0123456789abcdef01234567", qemu="QEMU emulator version 7.2.22", status="ok", kind="exit",
        message="", log="booted\n", seconds=1500.0, results=results,
        stats={**stats, "profile": {"page_find": draw.choice([0.0, 0.4, 6.0 / 2**rank])}},
        cachesim={"clock": CLOCK, "parts": parts, **_simulated(draw, rank, 10**10)}, virtual_ns=10**10 + seed,
        finished="2026-01-01T00:00:00Z",
    )  # fmt: skip


def _rate(experiment: Experiment, kernel: Kernel, rank: int, case: str) -> float:
    """The paper's, its difference from the reference weighed; or 2 % for each kernel."""
    name = experiment.measure[0].paper or "none"
    theirs = kernel.paper_row(case).get(name)
    base = experiment.find_kernel(experiment.reference).paper_row(case).get(name)
    if not isinstance(theirs, int | float) or not isinstance(base, int | float):
        return 2000.0 * 1.02**rank
    return base + EFFECTS[rank % len(EFFECTS)] * (theirs - base)


def _counted(draw: random.Random, rank: int) -> dict[str, int]:
    hits, misses = draw.randint(90_000, 110_000), draw.randint(9_000, 11_000)
    steps = 3.0 / (1 + rank % 4)
    return {"hits": hits, "misses": misses, "hit_steps": int(hits * (1 + steps)), "miss_steps": int(misses * steps)}


def _simulated(draw: random.Random, rank: int, instructions: int) -> dict[str, Any]:
    """All regions of a part; the whole takes as many cycles as make its time that of its instructions."""
    found: dict[str, Any] = {}
    for region in (*CACHES, "rest", "total"):
        lookups = draw.randint(90_000, 110_000)
        l1, l2 = lookups * 2 // (1 + rank % 4), lookups // (2 + rank % 4) if region != "dentry" else 0
        cycles = lookups * 60 + 40 * l2
        found[region] = {
            "lookups": lookups, "instructions": lookups * 40, "accesses": lookups * 9, "l1_misses": l1, "l2_misses": l2,
            "cycles": cycles, "l1_misses_per_lookup": l1 / lookups, "l2_misses_per_lookup": l2 / lookups,
            "cycles_per_lookup": cycles / lookups,
        }  # fmt: skip
    found["total"] |= {"instructions": instructions, "cycles": instructions * CLOCK // 1000}
    return found


def _report(draw: random.Random, cache: str, rank: int) -> dict[str, Any]:
    """A report in the form of docs/kernel/counters.md."""
    buckets, objects = 32768 >> rank % 3, draw.randint(2_500, 40_000)
    rows, held = [0] * 17, [0] * 17
    for size in [draw.randint(0, 4) if draw.random() < 0.95 else draw.randint(5, 60) for _ in range(buckets // 16)]:
        rows[min(size, 16)] += 16
        held[min(size, 16)] += 16 * size
    hits, misses = draw.randint(200_000, 300_000), draw.choice([0, 40_000])
    hit, miss = 1 + 3.0 / (1 + rank % 4), 2.0 / (1 + rank % 4) if misses else 0.0
    return {
        "cache": cache, "function": "mult", "structure": "chained", "rule": "number", "word": 32, "buckets": buckets,
        "bytes": 4 * buckets, "objects": objects, "largest": draw.randint(6, 116), "empty": rows[0], "lookups": hits + misses,
        "hits": hits, "misses": misses, "hit_steps": int(hits * hit), "miss_steps": int(misses * miss), "removes": draw.choice([0, 9]),
        "hit_rate_percent": 100 * hits / (hits + misses), "steps_per_lookup": (hits * hit + misses * miss) / (hits + misses),
        "steps_per_hit": hit, "steps_per_miss": miss, "histogram": {"buckets": rows, "objects": held, "expected": [buckets / 17] * 17},
        "expected_steps_per_hit": 1.5, "expected_steps_per_miss": 1.0, "expected_largest": 9,
        "bucket_fit": {"chi2": 1023.0, "degrees_of_freedom": 1023, "z": draw.gauss(0, 40)}, "dragon_q": draw.uniform(0.9, 3),
    }  # fmt: skip
