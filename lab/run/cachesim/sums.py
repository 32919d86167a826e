"""What both simulations of memory caches do with their counts: sums over regions, shares of a lookup, and a warning."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

ALWAYS = ("page", "buffer", "inode", "dentry")
CACHES = (*ALWAYS, "path")  # the last: with direct lookup


def add(regions: Iterable[dict[str, int]]) -> dict[str, int]:
    """Number by number."""
    total: dict[str, int] = {}
    for region in regions:
        for name, value in region.items():
            total[name] = total.get(name, 0) + value
    return total


def with_sums(
    regions: dict[str, dict[str, int]], cycles: Callable[[dict[str, int]], float]
) -> dict[str, dict[str, Any]]:
    """The plugin's @regions as results have them: the caches, each with its numbers a lookup, the rest of the kernel,
    programs, and all. @cycles: what a region took. The table of paths is there where it was looked into (results that
    are older have it in the rest of the kernel)."""
    there = [name for name in CACHES if name in ALWAYS or regions.get(name, {}).get("lookups")]
    found: dict[str, dict[str, Any]] = {name: dict(regions[name]) for name in there}
    found["kernel"] = add([regions["kernel"], regions["interrupt"]])
    found["user"] = dict(regions["user"])
    found["total"] = add(found.values())
    for name, region in found.items():
        region["cycles"] = cycles(region)
        if name in CACHES:
            lookups = region["lookups"] or 1
            names = [key for key in region if key != "lookups"]
            region.update({f"{key}_per_lookup": round(region[key] / lookups, 4) for key in names})
        else:
            del region["lookups"]
    return found


def warn_of_untrusted(console: Any, found: dict[str, Any], page: str) -> None:
    """Say so if counts cannot be trusted, and that @page of docs/lab/simulated tells why."""
    for name in ("unbalanced", "untranslated"):
        if found[name]:
            console.print(f"cw: {found[name]} {name}: these counts cannot be trusted (docs/lab/simulated/{page})")
