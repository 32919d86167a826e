"""The number that a measure of an experiment names, out of a cell.

Where a run of the machine printed several results of a case (`workload sdm --repeat 5`), the measure says what of them is
meant: their mean, that of all but the first, the median, the most, the sum, the deviation.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from statistics import fmean, median, stdev
from typing import Any

from lab.sweep.store import Cell

NO_WORDS: Mapping[str, str] = {}
TERM = re.compile(r"([+-]?)(\w+)")


def result_lines(cell: Cell, case: str = "", words: Mapping[str, str] = NO_WORDS) -> list[dict[str, Any]]:
    """The workload's result lines of @case, without those that have another of @words than it says; a run that printed
    one case only has that for every name."""
    lines = [line for line in cell.results if all(line.get(name, word) == word for name, word in words.items())]
    found = [line for line in lines if line.get("case") == case]
    return found or (lines if len({line.get("case") for line in lines}) == 1 else [])


def value(source: str, cell: Cell, case: str = "", over: str = "mean", words: Mapping[str, str] = NO_WORDS) -> Any:
    """What @source, the `from` of a measure, has in @cell: a number, a list (a histogram), or None if it has none.

    @over: what of several results of @case is meant, a key of OVER. @words: as result_lines() has them."""
    lines = result_lines(cell, case, words)
    if len(lines) <= 1:
        of_one = over not in ("mean but the first", "deviation")  # of one result there is none of these
        return _of_line(source, cell, lines[0] if lines else {}) if of_one else None
    numbers = [_of_line(source, cell, line) for line in lines]
    if not all(isinstance(number, int | float) for number in numbers):
        return None
    return OVER[over](numbers)


def _but_first(numbers: list[float]) -> float:
    return fmean(numbers[1:])


OVER: dict[str, Callable[[list[float]], float]] = {
    "mean": fmean,
    "mean but the first": _but_first,
    "median": median,
    "maximum": max,
    "sum": sum,
    "deviation": stdev,
}


def _of_line(source: str, cell: Cell, line: dict[str, Any]) -> Any:
    """What @source has for one result @line; {}: for none."""
    kind, _, path = source.partition(":")
    match kind:
        case "metric":
            return line.get(path)
        case "counters":
            return _counter(line.get("counters") or _of_all(cell, cell.stats), *path.split("."))
        case "simulated":
            return _simulated_rate(cell, line, path)
        case "run":
            return getattr(cell, path)
        case "profile":
            profile = cell.stats.get("profile")
            return profile and _of_profile(profile, path, line)
        case "hashcost":
            return _hash_cost(cell, *path.split("."))
        case "cachesim":
            return _member(_simulated_part(cell, line) or _of_all(cell, cell.cachesim), path)
        case _:
            return _member(cell.stats, path)


def _of_all(cell: Cell, found: dict[str, Any]) -> dict[str, Any]:
    """What was @found in a whole run, if that is what its only result is about."""
    return found if len(cell.results) <= 1 else {}


def _member(found: Any, path: str) -> Any:
    """What stands under the names of @path; of a list, under a number from 0."""
    for name in path.split("."):
        if isinstance(found, list) and name.isdigit() and int(name) < len(found):
            found = found[int(name)]
        elif isinstance(found, dict):
            found = found.get(name)
        else:
            return None
    return found


def _of_profile(profile: dict[str, float], path: str, line: dict[str, Any]) -> float | None:
    """What `A+B-C` says: a sum of functions' shares, one that was never met having none. With `/WHOLE*METRIC` behind it the part of
    the result's METRIC that falls to them, as they are a part of the function WHOLE."""
    terms, _, scale = path.partition("/")
    shares = [-profile.get(name, 0.0) if sign == "-" else profile.get(name, 0.0) for sign, name in TERM.findall(terms)]
    if not scale:
        return sum(shares)
    whole, _, metric = scale.partition("*")
    return sum(shares) / profile[whole] * line[metric] if profile.get(whole) and metric in line else None


def _counter(caches: Any, cache_name: str, name: str) -> float | None:
    """A mean of a cache's counters in the measured part, or of a job that has none in the whole run; None if there
    were no lookups of its kind."""
    counted = caches.get(cache_name)
    if not counted or "hits" not in counted:
        return None
    hits, misses = counted["hits"], counted["misses"]
    steps, lookups = {
        "lookups": (hits + misses, 1),
        "hit_percent": (100 * hits, hits + misses),
        "steps_per_lookup": (counted["hit_steps"] + counted["miss_steps"], hits + misses),
        "steps_per_hit": (counted["hit_steps"], hits),
        "steps_per_miss": (counted["miss_steps"], misses),
    }[name]
    return steps / lookups if lookups else None


def _simulated_part(cell: Cell, line: dict[str, Any]) -> dict[str, Any] | None:
    """What the memory caches' simulation counted of a result: its @line says which part it is about."""
    number, parts = line.get("part"), cell.cachesim.get("parts", [])
    return parts[number] if number is not None and number < len(parts) else None


def _simulated_rate(cell: Cell, line: dict[str, Any], name: str) -> float | None:
    """A rate, or the seconds it took, had each of its cycles been one of the simulated processor's instead of each instruction as long as on the machine's clock;
    the time in which the machine had nothing to do, or waited for its disk, stays."""
    part = _simulated_part(cell, line)
    if part is None or "elapsed_ns" not in line:
        return None
    if "slowest" in part:  # of several CPUs: what the slowest took
        return _rate(line, name, part["slowest"] * 1000 / cell.cachesim["clock"])
    total = part["total"]
    computed = total["instructions"] * (cell.config.get("instruction_ns") or 1)
    idle = max(line["elapsed_ns"] - computed, 0)
    nanoseconds = total["cycles"] * 1000 / cell.cachesim["clock"] + idle
    return _rate(line, name, nanoseconds)


def _rate(line: dict[str, Any], name: str, nanoseconds: float) -> float | None:
    """The rate @name of @line, or the seconds it took, had it taken so long."""
    if name == "seconds":
        return nanoseconds / 1e9
    return line[name] * line["elapsed_ns"] / nanoseconds if name in line else None


def _hash_cost(cell: Cell, cache_name: str, of: str) -> Any:
    table = cell.stats.get(cache_name)
    if table and of in table.get("hashcost", {}):  # a kept cell has it with it (lab/kept)
        return table["hashcost"][of]
    bits = table and table["buckets"].bit_length() - 1
    return table and getattr(_cost(cache_name, table["function"], table["word"], bits), of)


@cache
def _cost(cache_name: str, function: str, word: int, bits: int) -> Any:
    """What ./cw hashcost counts of the function of a table that a cell had."""
    from lab.base.choose import load_choose
    from lab.measure.cost import measure

    header = load_choose().header(cache_name, function)
    return measure([(cache_name, function, header)], [word], bits)[0]
