"""A small experiment, and cells of it as a full sweep would have recorded them: what is in them is made up."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lab.sweep.experiment import CACHES
from lab.sweep.plan import Plan, Planned
from lab.sweep.runner import finished_cell
from lab.sweep.store import Cell, Store
from lab.sweep.validate import load
from tests.lab.report.sample_results import cache_report

COMMIT = "1" * 40
TEXT = """
name = "small"
title = "A small experiment"
paper = "Nobody 1999, table | 1"
reference = "reference"
seeds = [1]
full_seeds = [1, 2]

[machine]
mem = "128M"

[[kernel]]
name = "reference"
defconfig = "lever-reference"
paper = { n = 10.0 }

[[kernel]]
name = "12 bits"
defconfig = "lever-inode-12bit"
paper = { n = 20.0 }

[[workload]]
name = "find"
run = ["sh", "-c", "find / -xdev | wc -l; echo '{\\"n\\":{seed}}'"]

[[measure]]
name = "n"
paper = "n"
from = "metric:n"

[[measure]]
name = "steps"
from = "stats:buffer.steps_per_lookup"

[[expect]]
text = "12 bits do something"
measure = "n"
more = "12 bits"
than = "reference"
"""


def write(folder: Path, text: str = TEXT, name: str = "small") -> Path:
    path = folder / f"{name}.toml"
    path.write_text(text.replace('name = "small"', f'name = "{name}"'))
    return path


def planned(path: Path) -> list[Planned]:
    plan = Plan()
    plan.add(load(path), full=True)
    return list(plan.cells.values())


def recorded(cell: Planned, **other: Any) -> Cell:
    """What a run of @cell would have come to."""
    rank, seed = int(cell.uses[0].kernel != "reference"), cell.uses[0].seed
    found = {
        "status": "ok", "kind": "exit", "message": "", "exit": 0, "seconds": 5.0, "revision": COMMIT, "log": "booted\n",
        "results": [{"n": 10.0 * (rank + 1) + seed / 10}], "virtual_ns": 10**9 + seed, "kernel_sha256": f"{rank}" * 64,
        "stats": {cache: cache_report(cache, rank, seed) for cache in CACHES}, "host": "a processor, 2 CPUs",
        "machine_sha256": hashlib.sha256(f"{cell.job} {rank} {seed}".encode()).hexdigest(),
        "cachesim": {"page": {"lookups": 3, "accesses_per_lookup": 7.5}},
    }  # fmt: skip
    return finished_cell(cell, {**found, **other})


def fill(results: Path, cells: list[Planned], **other: Any) -> Iterator[Cell]:
    with Store(results) as store:
        for cell in cells:
            store.record(recorded(cell, **other))
            yield recorded(cell, **other)
