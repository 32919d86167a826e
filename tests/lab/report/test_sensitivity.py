"""Conclusions that rest on cycles, judged again under other settings: on counts that are made up so that they turn."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from lab.build.setup import need_lab
from lab.report import export
from lab.report.sensitivity import rests_on_cycles
from lab.report.text import plain
from lab.report.web.page import pages
from lab.run.cachesim.counts import CACHES, digest
from lab.run.cachesim.sensitivity import Setting, like, settings, under
from lab.run.cachesim.specification import parse_specification
from tests.lab.report.report_samples import TEXT, section

need_lab()

CYCLES = (
    TEXT.split("[[histogram]]")[0]
    .replace('"middle"', '"all"')
    .replace('from = "metric:scripts_per_hour"', 'from = "cachesim:total.cycles"')
    .replace("throughput = 4282.8", "throughput = 4482.8")  # of plain: above the others
    .replace('from = "stats:buffer.steps_per_lookup"', 'from = "cachesim:buffer.l1_misses"')
    + """
[[expect]]
text = "plain waits longer"
measure = "throughput"
more = "plain"
than = "twice"

[[expect]]
text = "plain misses more"
measure = "steps"
more = "plain"
than = "twice"
"""
)
# By kernel, as "xeon-p2" and all others alike have it: instructions; what misses the L1 and with it the L2 and L3; what of
# instructions does. 180,000 cycles of the Pentium Pro against 170,000; its costs halved, 140,000 against 160,000.
WORK = {"plain": (100_000, 2_000, 0), "twice": (150_000, 500, 1_000), "four times": (100_000, 1_000, 0)}


def simulated(kernel: str, seed: int, text: str = "ppro,sensitivity") -> dict:
    """The value of `cachesim` of a run."""
    instructions, misses, code = WORK[kernel]
    specification = parse_specification(text)
    nothing = {"lookups": 0, "accesses": 0, "instructions": 0, "misses": [[0] * 11] * 5}
    whole = dict.fromkeys((*CACHES, "interrupt", "kernel"), nothing)
    one = [*[misses] * 3, *[code] * 3, *[misses] * 3, 0, 0]
    whole["user"] = {"lookups": 0, "accesses": 9, "instructions": instructions + 10 * seed, "misses": [one] * 5}
    return digest(specification, {"whole": whole, "parts": [], "by_program": False, "unbalanced": 0, "untranslated": 0})


def simulate(text: str = "ppro,sensitivity", without: int = 0):
    """Gives each run such counts, the runs of the seed @without others' that can be seen in no other way."""

    def change(store):
        for use, cell in store.cells("sample", "reduced"):
            asked = "ppro" if use.seed == without else text
            store.record(replace(cell, cachesim=simulated(use.kernel, use.seed, asked)))

    return change


def by_what(found):
    return {one.what: one for one in found.sensitivities}


def test_what_turns_is_said_with_the_settings_that_turn_it(tmp_path):
    found = section(tmp_path / "r", CYCLES, change=simulate())
    one = by_what(found)["plain waits longer"]
    assert one.measured.word == "direction only" and one.measured.ratio.value == pytest.approx(180 / 170, 1e-3)
    changed = {outcome.setting: outcome.word for outcome in one.changed}
    assert changed["costs x0.5"] == "contradicted"  # 140,000 against 160,000
    assert changed["with instruction cache"] == "contradicted"  # 180,000 against 210,000
    assert "costs x2" not in changed and "current" not in changed and "with TLB" not in changed
    assert all(word == "contradicted" for word in changed.values())
    everything = {outcome.setting: outcome for outcome in one.others}
    assert everything["xeon-p2"].ratio.value == pytest.approx((100 + 2000 * 0.09) / (150 + 500 * 0.09), 1e-3)
    least, most = one.ends
    assert least.ratio.value == min(outcome.ratio.value for outcome in one.others)
    assert most.setting.endswith("current") or most.setting.startswith("costs x2"), most


def test_what_does_not_rest_on_cycles_is_not_asked_again(tmp_path):
    found = section(tmp_path / "r", CYCLES, change=simulate())
    assert set(by_what(found)) == {"twice", "four times", "plain waits longer"}
    assert [rests_on_cycles(one) for one in found.experiment.measure] == [True, False]


def test_all_forms_have_it(tmp_path):
    found = section(tmp_path / "r", CYCLES, change=simulate())
    text, html = plain([found], 400), pages([found], "results", "report.html").texts["report-sample.html"]
    exported = json.loads(export.as_json([found], "results"))["experiments"][0]["sensitivity"]
    one = next(one for one in exported if one["what"] == "plain waits longer")
    assert one["kept"] + len(one["changed"]) == one["of"] == len(one["settings"])
    count = f"{one['kept']} of {one['of']}"
    assert (
        count in text and count in html and "contradicted: costs x0.5 | " in text and "contradicted: costs x0.5" in html
    )


def test_runs_that_tell_nothing_of_it_are_said(tmp_path):
    for name, change in (("a", simulate("ppro")), ("b", simulate(without=2))):
        found = section(tmp_path / name, CYCLES, change=change)
        assert {one.missing for one in found.sensitivities} == {"the runs were not simulated with ,sensitivity"}
        assert "not simulated with ,sensitivity" in plain([found], 400)
    assert not section(tmp_path / "c").sensitivities, "nothing rests on cycles"
    demonstration = CYCLES.replace("whole = true", "whole = false")
    assert not section(tmp_path / "d", demonstration, change=simulate("ppro")).sensitivities, "nothing is concluded"


def test_directions_are_compared_where_nothing_is_judged(tmp_path):
    text = CYCLES.replace("whole = true", "whole = false")
    one = by_what(section(tmp_path / "r", text, change=simulate()))["plain waits longer"]
    assert one.measured.word == "more"
    assert {outcome.word for outcome in one.changed} == {"less"}
    assert "costs x0.5" in {outcome.setting for outcome in one.changed}


def test_settings_are_all_that_the_runs_know():
    names = [setting.name for setting in settings([simulated("plain", 1)])]
    assert names[0] == "as measured" and len(names) == len(set(names)) == 3 * (4 + 4 + 1 + 4)
    assert "costs x0.5, current, with instruction cache, with TLB" in names
    assert not any("xeon-mp" in name and "with" in name for name in names), "of which neither is known"
    own = settings([simulated("plain", 1, "ppro,code,sensitivity")])
    assert Setting(code=False) in own and Setting(code=True) not in own and Setting(memory="xeon-mp", code=False) in own
    assert not settings([]) and not settings([simulated("plain", 1), simulated("plain", 1, "ppro")])


def test_a_setting_is_arithmetic_on_counts():
    run = simulated("twice", 0)

    def cycles(**setting):
        return under(run, Setting(**setting))["total"]["cycles"]

    assert cycles() == run["total"]["cycles"] == 150_000 + 500 * 40
    assert cycles(factor=0.5) == 150_000 + 500 * 20
    assert cycles(code=True, factor=2) == 150_000 + (500 + 1_000) * 80
    assert cycles(memory="current") == 150_000 + 500 * 440
    assert under(run, Setting(memory="current"))["clock"] == 5500
    run["counted"]["whole"]["user"]["misses"][0][-2:] = [30, 20]  # of TLBs
    assert cycles(tlb=True) > cycles(tlb=False)
    for setting in settings([run]):
        usual, changed = (under(run, one)["total"] for one in (replace(setting, factor=1.0), setting))
        beyond = usual["cycles"] - usual["instructions"]
        assert changed["cycles"] - changed["instructions"] == pytest.approx(setting.factor * beyond), setting.name


def test_what_is_told_of_another_memory_is_at_its_processors_clock():
    """Cycles become seconds by it: at two clocks, the seeds of one kernel would not be of one machine."""
    run = simulated("twice", 1)
    for setting in settings([run]):
        known = under(run, setting)
        told = like(run, [(run, known)])
        assert (told["clock"], told["specification"]) == (known["clock"], known["specification"]), setting.name
        assert told["total"]["cycles"] == pytest.approx(known["total"]["cycles"])


def test_of_one_seed_the_others_are_told(tmp_path):
    """Where one seed alone has counted for other settings, the others' cycles change as its do."""
    some = CYCLES.replace("seeds = ", "sensitivity_seeds = [1]\nseeds = ", 1)

    def change(store):
        for scale in ("reduced", "full"):
            for use, cell in store.cells("sample", scale):
                asked = "ppro,sensitivity" if use.seed == 1 else "ppro"
                store.record(replace(cell, cachesim=simulated(use.kernel, use.seed, asked)))

    def change_all(store):
        for scale in ("reduced", "full"):
            for use, cell in store.cells("sample", scale):
                store.record(replace(cell, cachesim=simulated(use.kernel, use.seed)))

    told = by_what(section(tmp_path / "a", some, change=change, full=True))["plain waits longer"]
    known = by_what(section(tmp_path / "b", CYCLES, change=change_all, full=True))["plain waits longer"]
    assert [one.setting for one in told.others] == [one.setting for one in known.others] and told.others
    for one, other in zip(told.others, known.others, strict=True):
        assert one.word == other.word and one.ratio.value == pytest.approx(other.ratio.value, 1e-4), one.setting

    def without_one(store):
        change(store)
        for use, cell in store.cells("sample", "full"):
            if use.kernel == "twice" and use.seed == 1:
                store.record(replace(cell, status="failed", kind="exit"))

    of_two = by_what(section(tmp_path / "d", some, change=without_one, full=True))
    assert of_two["plain waits longer"].missing == "no seed of it was simulated with ,sensitivity"
    assert not of_two["four times"].missing and of_two["four times"].others
    lacking = section(tmp_path / "c", CYCLES, change=change, full=True).sensitivities
    assert {one.missing for one in lacking} == {"the runs were not simulated with ,sensitivity"}
