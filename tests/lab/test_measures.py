"""Where the numbers of reports come from, apart from the workload's results and the caches' reports."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lab.sweep.experiment import SOURCE
from lab.sweep.measures import value
from lab.sweep.store import Cell

CELL = Cell(
    id="1", config={}, command="", revision="", qemu="", status="ok", kind="exit", message="", log="", seconds=1.0,
    results=[], stats={"buffer": {"function": "linux-2.2", "word": 32, "buckets": 1024}},
)  # fmt: skip


def of_function(name: str) -> Cell:
    return replace(CELL, stats={"buffer": {**CELL.stats["buffer"], "function": name}})


def test_the_cost_of_a_hash_function_is_that_of_the_cells_own():
    """Steiner's shifts and sums take more instructions than one exclusive or, and its code more bytes."""
    for what in ("instructions", "called", "code_bytes"):
        assert value(f"hashcost:buffer.{what}", of_function("steiner")) > value(f"hashcost:buffer.{what}", CELL) > 0
    assert value("hashcost:page.instructions", CELL) is None


def test_a_profile_tells_of_functions_that_were_met_and_of_others():
    profiled = replace(CELL, stats={"profile": {"page_find": 2.5}})
    assert value("profile:page_find", profiled) == 2.5
    assert value("profile:never_met", profiled) == 0
    assert value("profile:page_find", CELL) is None


@pytest.mark.parametrize("source", ["hashcost:page.instructions", "profile:page_find", "stats:page.bucket_fit.z"])
def test_sources_that_there_are(source):
    assert SOURCE.fullmatch(source)


@pytest.mark.parametrize("source", ["hashcost:page", "hashcost:page.branches", "hashcost:name.called", "profile:a b"])
def test_sources_that_there_are_not(source):
    assert not SOURCE.fullmatch(source)


def test_a_profiled_run_tells_shares_of_functions(cw, tmp_path):
    """A job that asks for one name again and again; its kernel's time is in system calls."""
    import json

    result = tmp_path / "result.json"
    script = "i=0; while [ $i -lt 300 ]; do [ -e /etc/passwd ]; i=$((i + 1)); done"
    cw("run", "--icount", "--cmdline", "job_profile=20011", "--result", str(result), "--", "sh", "-c", script)
    found = json.loads(result.read_text())["stats"]["profile"]
    assert 0 < max(found.values()) <= 100 and any(name.startswith("sys_") for name in found)
