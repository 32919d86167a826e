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
    if kind == "metric":
        return result_line(cell, case).get(path)
    if kind == "run":
        return getattr(cell, path)
    if kind == "profile":
        profile = cell.stats.get("profile")
        return profile and profile.get(path, 0.0)
    if kind == "hashcost":
        name, _, of = path.partition(".")
        table = cell.stats.get(name)
        return table and getattr(_cost(name, table["function"], table["word"], table["buckets"].bit_length() - 1), of)
    found: Any = cell.stats if kind == "stats" else cell.cachesim
    for name in path.split("."):
        if not isinstance(found, dict):
            return None
        found = found.get(name)
    return found


@cache
def _cost(cache_name: str, function: str, word: int, bits: int) -> Any:
    """What ./cw hashcost counts of the function of a table that a cell had."""
    from lab.keys.choices import load_choose
    from lab.keys.cost import measure

    header = load_choose().header(cache_name, function)
    return measure([(cache_name, function, header)], [word], bits)[0]
