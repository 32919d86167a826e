"""What the memory caches counted: sums, misses for each lookup, cycles; as a value of results and as a table."""

from __future__ import annotations

import sys
from typing import Any

from lab.run.cachesim.specification import Specification

CACHES = ("page", "buffer", "inode", "dentry")


def digest(specification: Specification, counted: dict[str, Any]) -> dict[str, Any]:
    """The counts of the plugin with sums and cycles: the value of `cachesim` in a run's results. `parts` has the same
    regions of each part that the program marked."""
    regions = {name: counts for name, counts in counted.items() if isinstance(counts, dict)}
    found = _with_sums(specification, regions)
    return {
        "accesses": found["total"]["accesses"], **found, "specification": str(specification),
        "clock": specification.clock, "by_program": counted["by_program"], "interrupts": regions["interrupt"]["lookups"],
        "unbalanced": counted["unbalanced"], "untranslated": counted["untranslated"],
        "parts": [_with_sums(specification, part) for part in counted.get("parts", [])],
    }  # fmt: skip


def _with_sums(specification: Specification, regions: dict[str, dict[str, int]]) -> dict[str, dict[str, Any]]:
    rest = ("kernel", "interrupt", "user")
    found: dict[str, Any] = {name: dict(regions[name]) for name in CACHES}
    found["kernel"] = {**_sum(regions[name] for name in ("kernel", "interrupt")), "lookups": 0}
    found["user"] = dict(regions["user"])
    found["rest"] = {**_sum(regions[name] for name in rest), "lookups": 0}
    found["total"] = _sum([*(regions[name] for name in CACHES), found["rest"]])
    for name, region in found.items():
        region["cycles"] = cycles(specification, region)
        if name in CACHES:
            lookups = region["lookups"] or 1
            names = [key for key in region if key != "lookups"]
            region.update({f"{key}_per_lookup": round(region[key] / lookups, 4) for key in names})
        else:
            del region["lookups"]
    return found


def _sum(regions) -> dict[str, int]:
    total: dict[str, int] = {}
    for region in regions:
        for name, value in region.items():
            total[name] = total.get(name, 0) + value
    return total


def cycles(specification: Specification, region: dict[str, int]) -> int:
    """One for each instruction, and what it costs to find a line where it is."""
    misses = [region[f"l{number + 1}_misses"] for number in range(len(specification.levels))]
    found_behind = [here - next_one for here, next_one in zip(misses, [*misses[1:], 0], strict=True)]
    return region["instructions"] + sum(
        cost * number for cost, number in zip(specification.cost, found_behind, strict=True)
    )


def print_table(found: dict[str, Any]) -> None:
    """The counts, one region a line, to stderr: stdout is the program's."""
    from rich.console import Console
    from rich.table import Table

    levels = [name for name in ("l1_misses", "l2_misses", "l3_misses") if name in found["total"]]
    what = "between the program's marks" if found["by_program"] else "of the whole job"
    table = Table(title=f"Memory caches {found['specification']}, {what}", title_justify="left", box=None)
    table.add_column("")
    names = ["lookups", "instructions", "accesses", *levels, "cycles"]
    for name in [*names, "misses/lookup", "cycles/lookup"]:
        table.add_column(
            name.replace("_", " ").replace("l1", "L1").replace("l2", "L2").replace("l3", "L3"), justify="right"
        )
    for region in (*CACHES, "kernel", "user", "total"):
        counts = found[region]
        cells = [str(counts.get(name, "")) for name in names]
        per = (
            [f"{counts[key]:.2f}" for key in ("l1_misses_per_lookup", "cycles_per_lookup")] if region in CACHES else []
        )
        table.add_row(
            "rest of kernel" if region == "kernel" else "programs" if region == "user" else region, *cells, *per
        )
    console = Console(stderr=True, highlight=False, width=None if sys.stderr.isatty() else 160)
    console.print(table)
    for name in ("unbalanced", "untranslated"):
        if found[name]:
            console.print(f"cw: {found[name]} {name}: these counts cannot be trusted (docs/lab/cache-simulation.md)")
