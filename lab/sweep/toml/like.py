"""An experiment that is another one on another machine: what its file does not say is as in the file that `like` names.

A key of [machine] and of its `full` is replaced by itself, every other key and table as a whole. What the other expects,
draws or shows of workloads that are not there any more is left out, and so are its seeds for the sensitivity of a machine
that it does not run on.
"""

from __future__ import annotations

from typing import Any

Tables = dict[str, Any]

OWN = ("name", "title", "like", "sensitivity_seeds")  # never another's
OF_WORKLOADS = ("histogram", "figure", "expect")


def completed(given: Tables, other: Tables) -> Tables:
    """@given, the tables of a file, with those of the file it is like, @other, where it has none."""
    found = {key: value for key, value in other.items() if key not in OWN} | given
    machine = other.get("machine", {}) | given.get("machine", {})
    full = other.get("machine", {}).get("full", {}) | given.get("machine", {}).get("full", {})
    found["machine"] = machine | {"full": full}
    if "workload" in given:
        there = _places(found["workload"])
        for table in OF_WORKLOADS:
            if table not in given:
                found[table] = [one for one in found.get(table, []) if _is_there(one, there)]
        found["kernel"] = [_of_places(kernel, there) for kernel in found.get("kernel", [])]
    return found


def with_settings(tables: Tables) -> Tables:
    """@tables with the settings of all kernels put before each kernel's own."""
    common = tables.get("settings", [])
    kernels = [kernel | {"settings": [*common, *kernel.get("settings", [])]} for kernel in tables.get("kernel", [])]
    return tables | {"kernel": kernels} if common else tables


def _places(workloads: list[Tables]) -> set[str]:
    return {name for one in workloads for name in (one.get("cases") or [one.get("name", "")])}


def _is_there(table: Tables, there: set[str]) -> bool:
    """Is what @table is about one of the workloads or cases? Without a name it is of the first."""
    named = table.get("workload", "")
    return not named or bool(there & set([named] if isinstance(named, str) else named))


def _of_places(kernel: Tables, there: set[str]) -> Tables:
    """@kernel with the paper's rows of these workloads only."""
    paper = kernel.get("paper", {})
    kept = {name: row for name, row in paper.items() if not isinstance(row, dict) or name in there}
    return kernel | {"paper": kept} if paper else kernel
