"""What the memory caches counted: sums, misses for each lookup, cycles; as a value of results and as a table."""

from __future__ import annotations

import re
import sys
from typing import Any

from lab.run.cachesim.specification import Specification

CACHES = ("page", "buffer", "inode", "dentry")


# What cachesim.c writes of each region and processor (struct misses): accesses in levels of data alone; fetches in the
# first level for them and in levels of both; accesses in levels of both, whose first number says nothing; pages.
DATA, CODE, BESIDE_CODE, PAGES = slice(0, 3), slice(3, 6), slice(6, 9), slice(9, 11)


def digest(specification: Specification, counted: dict[str, Any]) -> dict[str, Any]:
    """The counts of the plugin with sums and cycles: the value of `cachesim` in a run's results. `parts` has the same
    regions of each part that the program marked. With sensitivity `counted` has all that other settings are made of."""
    found = seen_as(specification, counted)
    if specification.sensitivity:
        found["counted"] = counted
    return found


def seen_as(specification: Specification, counted: dict[str, Any], model: int = 0) -> dict[str, Any]:
    """What @counted says of the processor of that number, had it what @specification has."""
    found = _with_sums(specification, counted["whole"], model)
    return {
        "accesses": found["total"]["accesses"], **found, "specification": str(specification),
        "clock": specification.clock, "by_program": counted["by_program"],
        "interrupts": counted["whole"]["interrupt"]["lookups"],
        "unbalanced": counted["unbalanced"], "untranslated": counted["untranslated"],
        "parts": [_with_sums(specification, part, model) for part in counted["parts"]],
    }  # fmt: skip


def _counts(specification: Specification, region: dict[str, Any], model: int) -> dict[str, int]:
    """One region's numbers by their names."""
    levels, misses = len(specification.levels), region["misses"][model]
    data = misses[DATA] if not specification.code else [misses[0], *misses[BESIDE_CODE][1:]]
    found = {name: region[name] for name in ("lookups", "accesses", "instructions")}
    found |= {f"l{number + 1}_misses": data[number] for number in range(levels)}
    if specification.code:
        found |= {f"l{number + 1}i_misses": misses[CODE][number] for number in range(levels)}
    if specification.tlb:
        found["dtlb_misses"], found["itlb_misses"] = misses[PAGES]
    return found


def _with_sums(specification: Specification, counted: dict[str, Any], model: int) -> dict[str, dict[str, Any]]:
    regions = {name: _counts(specification, region, model) for name, region in counted.items()}
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


def cycles(specification: Specification, region: dict[str, int]) -> float:
    """One for each instruction, what it costs to find a line where it is, and the walks of page tables."""
    found: float = region["instructions"]
    for kind in ("", "i") if specification.code else ("",):
        misses = [region[f"l{number + 1}{kind}_misses"] for number in range(len(specification.levels))]
        behind = [here - next_one for here, next_one in zip(misses, [*misses[1:], 0], strict=True)]
        found += sum(cost * number for cost, number in zip(specification.cost, behind, strict=True))
    if specification.tlb:
        found += specification.tlb_cost * (region["dtlb_misses"] + region["itlb_misses"])
    return found


def print_table(found: dict[str, Any]) -> None:
    """The counts, one region a line, to stderr: stdout is the program's."""
    from rich.console import Console
    from rich.table import Table

    levels = [name for name in found["total"] if name.endswith("_misses")]
    what = "between the program's marks" if found["by_program"] else "of the whole job"
    table = Table(title=f"Memory caches {found['specification']}, {what}", title_justify="left", box=None)
    table.add_column("")
    names = ["lookups", "instructions", "accesses", *levels, "cycles"]
    for name in [*names, "misses/lookup", "cycles/lookup"]:
        table.add_column(
            re.sub(r"^(l\d|[di]tlb)", lambda level: level[0].upper(), name).replace("_", " "), justify="right"
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
    console = Console(stderr=True, highlight=False, width=None if sys.stderr.isatty() else 200)
    console.print(table)
    for name in ("unbalanced", "untranslated"):
        if found[name]:
            console.print(
                f"cw: {found[name]} {name}: these counts cannot be trusted (docs/lab/simulated/cache-simulation.md)"
            )
