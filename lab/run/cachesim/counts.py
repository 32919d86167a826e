"""What the memory caches counted: sums, misses for each lookup, cycles; as a value of results and as a table."""

from __future__ import annotations

import re
import sys
from typing import Any

from lab.run.cachesim.specification import Specification
from lab.run.cachesim.sums import CACHES, add, warn_of_untrusted, with_sums

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
    """With `rest`: all that no lookup of a cache did."""
    regions = {name: _counts(specification, region, model) for name, region in counted.items()}
    found = with_sums(regions, lambda region: cycles(specification, region))
    found["rest"] = add([found["kernel"], found["user"]])
    found["rest"]["cycles"] = cycles(specification, found["rest"])
    return found


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
    for region in (name for name in (*CACHES, "kernel", "user", "total") if name in found):
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
    warn_of_untrusted(console, found, "cache-simulation.md")
