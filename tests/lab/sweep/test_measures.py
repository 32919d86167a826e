"""Where the numbers of reports come from."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from lab.base.choose import load_choose
from lab.measure.cost import measure
from lab.sweep.experiment import SOURCE
from lab.sweep.measures import value
from lab.sweep.store import Cell

CELL = Cell(
    id="1", config={}, command="", revision="", qemu="", status="ok", kind="exit", message="", log="", seconds=1.0,
    results=[], stats={"buffer": {"function": "linux-2.2", "word": 32, "buckets": 1024}},
)  # fmt: skip


def of_function(name: str) -> Cell:
    return replace(CELL, stats={"buffer": {**CELL.stats["buffer"], "function": name}})


def test_a_metric_is_of_the_result_line_of_its_case():
    both = replace(CELL, results=[{"case": "a", "n": 1}, {"case": "b", "n": 2, "m": 3}])
    assert [value("metric:n", both, case) for case in ("a", "b")] == [1, 2]
    assert value("metric:m", both, "b") == 3 and value("metric:m", both, "a") is None
    assert value("metric:n", both, "c") is None and value("metric:n", both) is None, "which of the two is not known"
    one = replace(CELL, results=[{"case": "a", "n": 1}])
    assert [value("metric:n", one, case) for case in ("a", "b", "")] == [1, 1, 1]
    assert value("metric:n", CELL) is None


def test_of_several_results_of_a_case_the_measure_says_what_is_meant():
    runs = [{"case": "a", "n": n} for n in (3, 5, 10)]
    cell = replace(CELL, results=[*runs, {"case": "b", "n": 100}])
    expected = {"mean": 6, "mean but the first": 7.5, "maximum": 10, "sum": 18, "deviation": math.sqrt(13)}
    for over, number in expected.items():
        assert value("metric:n", cell, "a", over) == pytest.approx(number), over
    assert [value("metric:n", cell, "b", over) for over in expected] == [100, None, 100, 100, None]
    assert value("metric:n", replace(CELL, results=[*runs, {"case": "a"}]), "a") is None, "one has no number"


def test_shares_of_functions_are_added_and_taken_away():
    cell = replace(CELL, stats={"profile": {"walk": 60.0, "find": 20.5, "search": 4.0}})
    sums = {"walk": 60, "walk-find": 39.5, "find+search": 24.5, "walk-find-search": 35.5, "walk+never": 60, "never": 0}
    for terms, share in sums.items():
        assert SOURCE.fullmatch(f"profile:{terms}") and value(f"profile:{terms}", cell) == pytest.approx(share), terms
    assert not SOURCE.fullmatch("profile:walk-") and value("profile:walk", CELL) is None
    timed = replace(cell, results=[{"case": "a", "ns": 1000.0}])
    parts = {
        "find/walk*ns": 341.667,
        "walk-find-search/walk*ns": 591.667,
        "find/never*ns": None,
        "find/walk*other": None,
    }
    for path, ns in parts.items():
        assert SOURCE.fullmatch(f"profile:{path}"), path
        assert value(f"profile:{path}", timed) == (ns and pytest.approx(ns, abs=0.001)), path
    assert value("profile:find/walk*ns", cell) is None, "without a result line there is nothing to divide"


def test_what_is_of_the_run():
    cell = replace(CELL, seconds=2.5, virtual_ns=7)
    assert (value("run:seconds", cell), value("run:virtual_ns", cell)) == (2.5, 7)
    assert value("run:virtual_ns", CELL) is None


def test_a_report_is_gone_into_as_far_as_it_goes():
    """What the kernel reports of a cache and what the simulation does are under the same names."""
    cell = replace(
        CELL, stats={"page": {"buckets": 8, "bucket_fit": {"z": 1.5}, "histogram": [3, 2]}},
        cachesim={"page": {"l1_misses_per_lookup": 4, "buckets": 9}},
    )  # fmt: skip
    assert value("stats:page.buckets", cell) == 8 and value("stats:page.histogram", cell) == [3, 2]
    assert value("stats:page.bucket_fit.z", cell) == 1.5
    assert [value(f"stats:page.histogram.{number}", cell) for number in (0, 1, 2, "x")] == [3, 2, None, None]
    assert value("cachesim:page.l1_misses_per_lookup", cell) == 4 and value("cachesim:page.buckets", cell) == 9
    for source in ("inode.buckets", "page.l1_misses_per_lookup", "page.buckets.z", "page.histogram.z.z"):
        assert value(f"stats:{source}", cell) is None, source
    for source in ("inode.buckets", "page.bucket_fit.z", "page.histogram"):
        assert value(f"cachesim:{source}", cell) is None, source


@pytest.mark.parametrize(
    ("cache", "function", "word", "bits"),
    [("buffer", "linux-2.4", 32, 8), ("buffer", "linux-2.4", 64, 8), ("page", "fibonacci", 32, 10), ("page", "offset", 64, 10)],
)  # fmt: skip
def test_the_cost_of_a_hash_function_is_that_of_its_table(cache, function, word, bits):
    """With another cache, word or size one of these functions costs more or less."""
    table = {"function": function, "word": word, "buckets": 1 << bits}
    cell = replace(CELL, stats={**CELL.stats, cache: table})
    (cost,) = measure([(cache, function, load_choose().header(cache, function))], [word], bits)
    for what in ("instructions", "called", "code_bytes"):
        assert value(f"hashcost:{cache}.{what}", cell) == getattr(cost, what), what


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


def counters(hits: int, misses: int, hit_steps: int, miss_steps: int) -> dict[str, int]:
    return {"hits": hits, "misses": misses, "hit_steps": hit_steps, "miss_steps": miss_steps}


NOTHING = {"page": counters(0, 0, 0, 0)}
TWO_CASES = replace(
    CELL,
    results=[
        {"case": "prepared"},
        {"case": "a", "elapsed_ns": 1000, "part": 0, "jobs_per_second": 10.0, "counters": {"page": counters(8, 2, 24, 1)}},
        {"case": "b", "elapsed_ns": 5000, "part": 1, "jobs_per_second": 20.0, "counters": NOTHING},
    ],
    stats={"page": {**counters(100, 100, 100, 100), "largest": 7}},
    cachesim={
        "clock": 500,
        "total": {"cycles": 12000},
        "parts": [{"total": {"cycles": 2000, "instructions": 1001}}, {"total": {"cycles": 10000, "instructions": 4000}}],
    },
)  # fmt: skip


def test_counters_are_those_of_the_measured_part():
    assert value("counters:page.lookups", TWO_CASES, "a") == 10
    assert value("counters:page.steps_per_lookup", TWO_CASES, "a") == 2.5
    assert value("counters:page.hit_percent", TWO_CASES, "a") == 80
    assert value("counters:page.steps_per_hit", TWO_CASES, "a") == 3
    assert value("counters:page.steps_per_miss", TWO_CASES, "a") == 0.5
    assert value("counters:page.lookups", TWO_CASES, "b") == 0
    for name in ("hit_percent", "steps_per_lookup", "steps_per_hit", "steps_per_miss"):
        assert value(f"counters:page.{name}", TWO_CASES, "b") is None, "there was none"
    assert value("counters:buffer.lookups", TWO_CASES, "a") is None
    assert value("stats:page.largest", TWO_CASES, "a") == 7, "of the whole run"


def test_of_a_program_without_counters_the_whole_run_counts_but_not_for_one_of_many_cases():
    assert value("counters:page.steps_per_hit", replace(TWO_CASES, results=[{"case": "alone"}]), "alone") == 1
    assert value("counters:page.steps_per_hit", replace(TWO_CASES, results=[]), "") == 1
    assert value("counters:page.steps_per_hit", TWO_CASES, "prepared") is None
    assert value("counters:buffer.steps_per_hit", CELL, "") is None, "HASH_STATS=n"


def test_the_simulation_has_a_part_for_each_case():
    assert value("cachesim:total.cycles", TWO_CASES, "a") == 2000
    assert value("cachesim:total.cycles", TWO_CASES, "b") == 10000
    assert value("cachesim:total.cycles", TWO_CASES, "prepared") is None
    assert value("cachesim:total.cycles", replace(TWO_CASES, results=TWO_CASES.results[:1]), "prepared") == 12000


def test_a_rate_by_simulated_cycles():
    """Case a: 2000 cycles of 2 ns instead of 1000 ns. Case b: 10000 of them and 1000 ns in which nothing was done."""
    assert value("simulated:jobs_per_second", TWO_CASES, "a") == pytest.approx(10 * 1000 / 4000)
    assert value("simulated:jobs_per_second", TWO_CASES, "b") == pytest.approx(20 * 5000 / 21000)
    assert value("simulated:jobs_per_second", TWO_CASES, "prepared") is None
    assert value("simulated:calls_per_second", TWO_CASES, "a") is None
    short = {**TWO_CASES.cachesim, "parts": TWO_CASES.cachesim["parts"][:1]}
    assert value("simulated:jobs_per_second", replace(TWO_CASES, cachesim=short), "b") is None, "beyond what was kept"
    uncounted = [{key: of for key, of in line.items() if key != "counters"} for line in TWO_CASES.results]
    assert value("simulated:jobs_per_second", replace(TWO_CASES, results=uncounted), "a") == pytest.approx(2.5)
    assert value("simulated:jobs_per_second", replace(TWO_CASES, cachesim={}), "a") is None


@pytest.mark.parametrize(
    "source",
    [
        "hashcost:page.instructions",
        "profile:page_find",
        "stats:page.bucket_fit.z",
        "counters:page.lookups",
        "simulated:scripts_per_hour",
    ],
)
def test_sources_that_there_are(source):
    assert SOURCE.fullmatch(source)


@pytest.mark.parametrize(
    "source",
    [
        "hashcost:page",
        "hashcost:page.branches",
        "hashcost:name.called",
        "profile:a b",
        "counters:page.largest",
        "simulated:elapsed_ns",
    ],
)
def test_sources_that_there_are_not(source):
    assert not SOURCE.fullmatch(source)


@pytest.mark.builds
def test_a_profiled_run_tells_shares_of_functions(cw, tmp_path):
    """A job that asks for one name again and again; its kernel's time is in system calls."""
    import json

    result = tmp_path / "result.json"
    script = "i=0; while [ $i -lt 300 ]; do [ -e /etc/passwd ]; i=$((i + 1)); done"
    job = ["sh", "-c", script]
    done = cw("run", "--icount", "--cmdline", "job_profile=20011", "--result", str(result), "--", *job)
    assert done.returncode == 0, done.stderr.decode()
    found = json.loads(result.read_text())["stats"]["profile"]
    assert 0 < max(found.values()) <= 100 and any(name.startswith("sys_") for name in found)
