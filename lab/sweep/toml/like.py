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


def misshapen(tables: Tables) -> dict[str, str]:
    """What of @tables is not what it has to be, before anything can be merged: its key, and what is wanted."""
    found: dict[str, str] = {}
    machine = tables.get("machine", {})
    if not isinstance(machine, dict):
        found["machine"] = "wanted is a table"
    elif not isinstance(machine.get("full", {}), dict):
        found["machine"] = "wanted of full is a table"
    for key in ("kernel", "workload", *OF_WORKLOADS):
        value = tables.get(key, [])
        if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
            found[key] = f"wanted are tables, [[{key}]]"
    if not isinstance(tables.get("settings", []), list):
        found["settings"] = "wanted is a list"
    return found


def completed(given: Tables, other: Tables) -> Tables:
    """@given, the tables of a file, with those of the file it is like, @other, where it has none."""
    found = {key: value for key, value in other.items() if key not in OWN} | given
    machine = other.get("machine", {}) | given.get("machine", {})
    full = other.get("machine", {}).get("full", {}) | given.get("machine", {}).get("full", {})
    found["machine"] = machine | {"full": full}
    if "workload" in given:
        there, first = _places(found["workload"]), next(iter(_places(other.get("workload", []))), "")
        for table in OF_WORKLOADS:
            if table not in given:
                kept = (_of_workloads(one, there, first) for one in found.get(table, []))
                found[table] = [one for one in kept if one]
        found["kernel"] = [_of_places(kernel, there) for kernel in found.get("kernel", [])]
    return found


def with_settings(tables: Tables) -> Tables:
    """@tables with the settings of all kernels put before each kernel's own."""
    common = tables.get("settings", [])
    kernels = [
        kernel if kernel.get("linux") else kernel | {"settings": [*common, *kernel.get("settings", [])]}
        for kernel in tables.get("kernel", [])
    ]
    return tables | {"kernel": kernels} if common else tables


def _places(workloads: list[Tables]) -> list[str]:
    return [name for one in workloads for name in (one.get("cases") or [one.get("name", "")])]


def _of_workloads(table: Tables, there: list[str], first: str) -> Tables:
    """@table, which is about some workloads or cases of the other, as far as they are there; empty: none of them is.
    Without a name it is about the other's @first."""
    named = table.get("workload") or first
    kept = [name for name in ([named] if isinstance(named, str) else named) if name in there]
    return table | {"workload": kept[0] if isinstance(named, str) else kept} if kept else {}


def _of_places(kernel: Tables, there: list[str]) -> Tables:
    """@kernel with the paper's rows of these workloads only."""
    paper = kernel.get("paper", {})
    kept = {name: row for name, row in paper.items() if not isinstance(row, dict) or name in there}
    return kernel | {"paper": kept} if paper else kernel
