"""The number that a measure of an experiment names, out of a cell."""

from __future__ import annotations

from functools import cache
from typing import Any

from lab.sweep.store import Cell


def result_line(cell: Cell, case: str = "") -> dict[str, Any]:
    """The workload's result line of @case; a run that printed one line only has that for every case."""
    for line in cell.results:
        if line.get("case") == case:
            return line
    return cell.results[0] if len(cell.results) == 1 else {}


def value(source: str, cell: Cell, case: str = "") -> Any:
    """What @source, the `from` of a measure, has in @cell: a number, a list (a histogram), or None if it has none."""
    kind, _, path = source.partition(":")
    match kind:
        case "metric":
            return result_line(cell, case).get(path)
        case "counters":
            return _counter(result_line(cell, case).get("counters") or _of_all(cell, cell.stats), *path.split("."))
        case "simulated":
            return _simulated_rate(cell, case, path)
        case "run":
            return getattr(cell, path)
        case "profile":
            profile = cell.stats.get("profile")
            return profile and profile.get(path, 0.0)
        case "hashcost":
            return _hash_cost(cell, *path.split("."))
        case "cachesim":
            return _member(_simulated_part(cell, case) or _of_all(cell, cell.cachesim), path)
        case _:
            return _member(cell.stats, path)


def _of_all(cell: Cell, found: dict[str, Any]) -> dict[str, Any]:
    """What was @found in a whole run, if that is what its only result is about."""
    return found if len(cell.results) <= 1 else {}


def _member(found: Any, path: str) -> Any:
    for name in path.split("."):
        if not isinstance(found, dict):
            return None
        found = found.get(name)
    return found


def _counter(caches: Any, cache_name: str, name: str) -> float | None:
    """A mean of a cache's counters in the measured part, or of a job that has none in the whole run; None if there
    were no lookups of its kind."""
    counted = caches.get(cache_name)
    if not counted or "hits" not in counted:
        return None
    hits, misses = counted["hits"], counted["misses"]
    steps, lookups = {
        "lookups": (hits + misses, 1),
        "steps_per_lookup": (counted["hit_steps"] + counted["miss_steps"], hits + misses),
        "steps_per_hit": (counted["hit_steps"], hits),
        "steps_per_miss": (counted["miss_steps"], misses),
    }[name]
    return steps / lookups if lookups else None


def _simulated_part(cell: Cell, case: str) -> dict[str, Any] | None:
    """What the memory caches' simulation counted of @case: its result line says which part it is about."""
    number, parts = result_line(cell, case).get("part"), cell.cachesim.get("parts", [])
    return parts[number] if number is not None and number < len(parts) else None


def _simulated_rate(cell: Cell, case: str, name: str) -> float | None:
    """A rate, had each of its cycles been one of the simulated processor's instead of each instruction a nanosecond;
    the time in which the machine had nothing to do, or waited for its disk, stays."""
    line, part = result_line(cell, case), _simulated_part(cell, case)
    if part is None or name not in line:
        return None
    total = part["total"]
    idle = max(line["elapsed_ns"] - total["instructions"], 0)
    return line[name] * line["elapsed_ns"] / (total["cycles"] * 1000 / cell.cachesim["clock"] + idle)


def _hash_cost(cell: Cell, cache_name: str, of: str) -> Any:
    table = cell.stats.get(cache_name)
    bits = table and table["buckets"].bit_length() - 1
    return table and getattr(_cost(cache_name, table["function"], table["word"], bits), of)


@cache
def _cost(cache_name: str, function: str, word: int, bits: int) -> Any:
    """What ./cw hashcost counts of the function of a table that a cell had."""
    from lab.base.choose import load_choose
    from lab.measure.cost import measure

    header = load_choose().header(cache_name, function)
    return measure([(cache_name, function, header)], [word], bits)[0]
