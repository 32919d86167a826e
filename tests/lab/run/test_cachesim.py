"""The memory-cache simulation: what is asked for, patterns whose misses are known, who is charged."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from lab.base.paths import LabError, output_folder
from lab.run.cachesim import counts, simulation
from lab.run.cachesim.sensitivity import Setting, settings, under
from lab.run.cachesim.specification import PRESETS, PROCESSORS, Buffers, Level, Specification, parse_specification
from lab.run.cachesim.sums import ALWAYS
from lab.run.qemu.plugin import interface_version
from lab.sweep.plan import Plan
from lab.sweep.validate import load
from tests.musl import static_program

HERE = Path(__file__).resolve().parent
# For memorywalk.c: 16 sets of 4 ways, and 64 sets of 4 ways.
REGIONS = (*ALWAYS, "kernel", "user", "rest", "total")
SMALL = "l1d=4K/4/64,l2=16K/4/64,cost=10/100"


# ---- what is asked for -------------------------------------------------------------------------------------------


def test_a_specification_is_read():
    asked = parse_specification("l1d=32K/8/64,l2=1M/16/64,l3=24M/12/64,cost=1/2/3,clock=3000")
    levels = (Level(32 << 10, 8, 64), Level(1 << 20, 16, 64), Level(24 << 20, 12, 64))
    assert asked == Specification(levels, (1, 2, 3), 3000)
    assert parse_specification(str(asked)) == asked
    plain = parse_specification("l1d=4K/4/64,l2=16K/4/64")
    assert plain.cost == (10, 440) and plain.clock == 5500 and not plain.from_mark
    for name, preset in PRESETS.items():
        assert parse_specification(str(preset)) == preset
        from_mark = parse_specification(f"{name},from=mark")
        assert from_mark.from_mark and parse_specification(str(from_mark)) == from_mark != preset


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("pentium", "no preset 'pentium'"),
        ("l1d=8K/2/32", "the levels are l1d"),
        ("l2=8K/2/32,l1d=8K/2/32,l4=1M/1/64", "'l4=1M/1/64' is none of"),
        ("l2=64K/2/32,l3=1M/2/32", "the levels are l2 and l3"),
        ("l1d=8K/2/32,l1d=8K/2/32", "l1d is there twice"),
        ("l1d=8K/2,l2=1M/4/32", "l1d=8K/2 is not SIZE/WAYS/LINE"),
        ("l1d=8K/3/32,l2=1M/4/32", "l1d would have 85.3333 sets"),
        ("l1d=8K/2/48,l2=1M/4/32", "l1d has lines of 48 bytes"),
        ("l1d=8K/2/64,l2=1M/4/32", "lines of 32 bytes behind lines of 64"),
        ("l1d=8K/0/32,l2=1M/4/32", "l1d has 0 ways"),
        ("l1d=0K/1/32,l2=1M/4/32", "l1d would have 0 sets"),
        ("l1d=8K/2/32,l2=2048M/4/32", "up to 64 ways and 1024M"),
        ("l1d=8K/2/32,l2=1M/4/32,cost=1/2/3", "is not L2/MEMORY"),
        ("l1d=8K/2/32,l2=1M/4/32,cost=-1/2", "is not L2/MEMORY"),
        ("l1d=8K/2/32,l2=1M/4/32,clock=0", "clock=0 is not 1 to 100000 MHz"),
        ("l1d=8K/2/32,l2=1M/4/32,clock=1,clock=1", "clock is there twice"),
        ("ppro,from=boot", "behind 'ppro' there may be code, tlb, sensitivity and from=mark"),
        ("ppro,from=mark,from=mark", "behind 'ppro' there may be"),
        ("ppro,from=mark,sensitivity", "in this order"),
        ("ppro,sensitivity,sensitivity", "once each"),
        ("ppro,code,code", "once each"),
        ("xeon-mp,code", "of xeon-mp no code is known"),
        ("xeon-mp,tlb", "of xeon-mp no tlb is known"),
        ("l1d=8K/2/32,l2=1M/4/32,l1i=8K/2/64", "lines of 32 bytes behind lines of 64"),
        ("l1d=8K/2/32,l2=1M/4/32,l1i=8K/3/32", "l1i would have 85.3333 sets"),
        ("l1d=8K/2/32,l2=1M/4/32,tlb=64/4", "is not three times ENTRIES/WAYS"),
        ("l1d=8K/2/32,l2=1M/4/32,tlb=64/4/8/4/24/4", "is not three times ENTRIES/WAYS"),
        ("l1d=8K/2/32,l2=1M/4/32,tlb=64/4/8/4/0/4", "is not three times ENTRIES/WAYS"),
        ("l1d=8K/2/32,l2=1M/4/32,tlbcost=4", "is not the cycles of a walk"),
    ],
)
def test_what_cannot_be_simulated_is_refused(text, reason):
    with pytest.raises(LabError) as caught:
        parse_specification(text)
    assert reason in str(caught.value) and "presets ppro, xeon-p2, xeon-mp, current" in str(caught.value)


def test_more_of_a_processor_is_asked_for_by_words():
    processor = PROCESSORS["ppro"]
    assert parse_specification("ppro").code is None and parse_specification("ppro").tlb is None
    assert parse_specification("ppro,code,tlb") == processor
    assert parse_specification("ppro,tlb").code is None
    for text in (
        "ppro,code",
        "ppro,tlb,sensitivity,from=mark",
        "xeon-mp,sensitivity",
        f"{SMALL},l1i=4K/4/64,sensitivity",
    ):
        asked = parse_specification(text)
        assert parse_specification(str(asked)) == asked
    own = parse_specification("l1d=8K/2/32,l2=64K/4/32,l1i=16K/4/32,tlb=8/4/4/4/8/8,tlbcost=20")
    assert own.code == Level(16 << 10, 4, 32) and own.tlb == Buffers((8, 4), (4, 4), (8, 8)) and own.tlb_cost == 20
    assert list(parse_specification("xeon-p2,sensitivity").models) == ["xeon-p2", "ppro", "xeon-mp", "current"]
    assert parse_specification("xeon-p2,sensitivity").models["ppro"] == processor
    assert list(parse_specification(f"{SMALL},sensitivity").models) == ["", *PRESETS]
    assert list(parse_specification("ppro,code").models.values()) == [processor.plain(code=True)]


def test_options_that_do_not_go_with_it(cw):
    for arguments, word in (
        (["--cache-sim", "386"], b"no preset"),
        (["--cache-sim", "ppro", "--smp", "2"], b"--smp"),
        (["--cache-sim", "ppro", "--set", "REGION_MARKS=n"], b"REGION_MARKS=n"),
    ):
        result = cw("run", *arguments, "--", "/bin/true")
        assert result.returncode == 125 and word in result.stderr, result.stderr


def test_a_sweep_builds_the_marks_where_they_are_needed(tmp_path):
    (tmp_path / "small.toml").write_text(
        'name = "small"\ntitle = "Small"\nreference = "a"\nseeds = [1]\n[[kernel]]\nname = "a"\n'
        '[[workload]]\nname = "with"\nrun = ["true"]\ncache_sim = "ppro"\n[[workload]]\nname = "without"\nrun = ["true"]\n'
        '[[measure]]\nname = "misses"\nfrom = "cachesim:buffer.l1_misses"\n'
    )
    plan = Plan()
    plan.add(load(tmp_path / "small.toml"))
    marked = {cell.uses[0].workload: "CONFIG_REGION_MARKS=y" in cell.kernel.config for cell in plan.cells.values()}
    assert marked == {"with": True, "without": False}


@pytest.mark.parametrize(
    ("machine", "source", "reason"),
    [
        ("", "simulated:ops_per_second", "needs cache_sim"),
        ("", "cachesim:total.cycles", "needs cache_sim"),
        ('cache_sim = "ppro"\nicount = false\n', "simulated:ops_per_second", "needs icount = true"),
    ],
)
def test_a_measure_of_what_is_not_simulated_is_refused(tmp_path, machine, source, reason):
    (tmp_path / "small.toml").write_text(
        f'name = "small"\ntitle = "Small"\nreference = "a"\nseeds = [1]\n[machine]\n{machine}[[kernel]]\nname = "a"\n'
        f'[[workload]]\nname = "with"\nrun = ["true"]\n[[measure]]\nname = "m"\nfrom = "{source}"\n'
    )
    with pytest.raises(LabError, match=reason):
        load(tmp_path / "small.toml")


def test_cycles_are_charged_by_where_a_line_is_found():
    specification = parse_specification("l1d=4K/4/64,l2=16K/4/64,l3=64K/4/64,cost=10/40/200")
    region = {"instructions": 1000, "l1_misses": 50, "l2_misses": 20, "l3_misses": 5}
    assert counts.cycles(specification, region) == 1000 + 30 * 10 + 15 * 40 + 5 * 200
    more = parse_specification("l1d=4K/4/64,l2=16K/4/64,l1i=4K/4/64,tlb=8/4/8/4/8/4,tlbcost=25,cost=10/200")
    region = {"instructions": 1000, "l1_misses": 50, "l2_misses": 20, "l1i_misses": 7, "l2i_misses": 3}
    assert counts.cycles(more, {**region, "dtlb_misses": 9, "itlb_misses": 2}) == (
        1000 + 30 * 10 + 20 * 200 + 4 * 10 + 3 * 200 + 11 * 25
    )


# ---- booted ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def memorywalk(tmp_path_factory):
    return static_program(tmp_path_factory.mktemp("memorywalk") / "memorywalk", HERE / "memorywalk.c", flags=["-O2"])


@pytest.fixture
def walk(cw_run, memorywalk):
    """What the caches count when memorywalk does @pattern."""

    def run(*pattern, **options):
        result = cw_run(
            ["/bin/memorywalk", *map(str, pattern)], add=[f"{memorywalk}:/bin/memorywalk"], icount=True, debug=False,
            **{"cache_sim": SMALL, **options},
        )  # fmt: skip
        found = result.cachesim
        assert found["unbalanced"] == found["untranslated"] == 0
        assert found["by_program"]
        return found

    return run


# An access by 8 bytes at a time, or one for each line. An interrupt may fall in between; whatever lines the kernel
# then brings in, it takes at most so many of the program's.
@pytest.mark.turns(4)
@pytest.mark.parametrize(
    ("pattern", "accesses", "first", "second"),
    [
        (("read",), 4096, 512, 512),  # 32K: each line misses once
        (("write",), 4096, 512, 512),  # a write brings the line in as well
        (("fits",), 320, 32, 32),  # 2K ten times: the first round alone misses
        (("fits-second",), 1280, 1280, 128),  # 8K ten times: 8 lines a set of 4 ways
        (("conflict", 4), 400, 4, 4),  # as many lines of a set as it has ways
        (("conflict", 5), 500, 500, 5),  # one more: each access misses
        (("chain",), 1536, 1536, 1536),  # 32K, 8 lines a set in both levels
        (("across",), 1, 2, 2),  # 8 bytes in two lines
        (("reuse",), 7, 5, 5),  # a b c d a e a
    ],
)  # fmt: skip
def test_a_pattern_misses_as_arithmetic_has_it(walk, pattern, accesses, first, second):
    found = walk(*pattern)
    program, kernel = found["user"], found["kernel"]
    assert program["accesses"] == accesses
    assert first <= program["l1_misses"] <= first + kernel["l1_misses"]
    assert second <= program["l2_misses"] <= second + kernel["l2_misses"]
    assert kernel["accesses"] < 2000, "at most an interrupt"
    assert all(found[cache]["lookups"] == 0 for cache in ALWAYS)
    assert found["total"]["cycles"] == (
        found["total"]["instructions"]
        + 10 * (found["total"]["l1_misses"] - found["total"]["l2_misses"])
        + 100 * found["total"]["l2_misses"]
    )


CODE = f"{SMALL},l1i=4K/4/64,tlb=8/4/4/4/8/4,tlbcost=20"


# Beside the function's own lines, or pages, stand those of who calls it; an interrupt may fall in between.
@pytest.mark.parametrize(
    ("pattern", "field", "least", "more"),
    [
        (("code",), "l1i_misses", 32, 16),  # 2K of instructions ten times: each line misses once
        (("code",), "l2i_misses", 32, 16),
        (("code-large",), "l1i_misses", 1280, 32),  # 8K ten times: 8 lines a set of 4 ways
        (("code-large",), "l2i_misses", 128, 16),  # which fit into the second level
        (("code-read",), "l1i_misses", 32, 16),  # it was read as data before:
        (("code-read",), "l2i_misses", 0, 16),  # so it is in the second level
        (("code-read",), "l2_misses", 32, 8),
        (("tlb", 8), "dtlb_misses", 8, 4),  # 8 pages ten times: as many as there is room for
        (("tlb", 16), "dtlb_misses", 160, 4),
    ],
)
def test_fetches_and_pages_miss_as_arithmetic_has_it(walk, pattern, field, least, more):
    found = walk(*pattern, cache_sim=CODE)
    kernel = found["kernel"][field]
    assert least <= found["user"][field] <= least + more + kernel
    assert found["kernel"]["accesses"] < 2000, "at most an interrupt"


def test_what_is_simulated_beside_it_is_as_it_would_be_alone(walk):
    """One run under other settings gives what runs with these give; and so does each access that goes the long way."""
    together = walk("stat", 300, cache_sim="ppro,sensitivity")
    assert {setting.memory for setting in settings([together])} == {"", "xeon-p2", "xeon-mp", "current"}
    for text, setting in (
        ("ppro", Setting()), ("ppro,code,tlb", Setting(code=True, tlb=True)), ("ppro,tlb", Setting(tlb=True)),
        ("xeon-p2", Setting(memory="xeon-p2")), ("xeon-mp", Setting(memory="xeon-mp", code=False, tlb=False)),
        ("current,code", Setting(memory="current", code=True)),
    ):  # fmt: skip
        alone, seen = walk("stat", 300, cache_sim=text), under(together, setting)
        assert {name: alone[name] for name in REGIONS} == {name: seen[name] for name in REGIONS}, text
        assert alone["parts"] == seen["parts"]
    doubled = under(together, Setting(factor=2))["total"]
    total = together["total"]
    assert doubled["cycles"] - doubled["instructions"] == 2 * (total["cycles"] - total["instructions"]) > 0


def test_what_is_known_to_be_the_latest_changes_nothing(walk, monkeypatch):
    """The plugin made so that every access and fetch goes through all caches counts the same in a real run."""
    asked = {"cache_sim": "xeon-p2,sensitivity"}
    found = walk("stat", 300, **asked)
    slow = output_folder() / "cachesim-slow.so"
    sources = simulation.FOLDER / "cachesim.c"
    flags = ["-shared", "-fPIC", "-O2", "-DEVERY_ACCESS", f"-DPLUGIN_VERSION={interface_version()}"]
    subprocess.run(["gcc", *flags, "-o", slow, sources], check=True)
    monkeypatch.setattr(simulation, "plugin", lambda *sources: slow)
    assert json.dumps(found) == json.dumps(walk("stat", 300, **asked))


def test_addresses_are_physical(walk):
    """Another page of memory at the same address: all lines but the one that was read before miss in both levels."""
    found = walk("two-pages")
    assert found["user"]["accesses"] == 64
    assert found["user"]["l1_misses"] >= found["user"]["l2_misses"] >= 63


def test_lookups_are_charged_to_their_cache(walk):
    """A stat of /etc/passwd looks two dentries up, a read of a page one page; both find them in the caches."""
    found = walk("stat", 500)
    assert found["dentry"]["lookups"] == 1000
    assert found["dentry"]["accesses_per_lookup"] > 3
    assert found["dentry"]["instructions"] > found["dentry"]["accesses"] > 0
    assert found["kernel"]["accesses"] > found["dentry"]["accesses"]
    for cache in ("page", "buffer", "inode"):
        assert found[cache]["lookups"] == found[cache]["accesses"] == 0

    found = walk("pages", 300)
    assert found["page"]["lookups"] == 300
    assert found["dentry"]["lookups"] == found["buffer"]["lookups"] == 0
    # 4096 bytes are copied to where a set of the first level has room for 256 of each 1024.
    assert found["kernel"]["l1_misses"] + found["user"]["l1_misses"] >= 300 * 64


def test_before_the_first_mark_nothing_is_simulated_if_so_wanted(walk):
    """What the program does after its mark misses as before; what came before has brought no line in."""
    found = walk("read", cache_sim=f"{SMALL},from=mark")
    assert found["user"]["accesses"] == 4096
    assert 512 <= found["user"]["l2_misses"] <= 512 + found["kernel"]["l2_misses"]
    warm, cold = walk("stat", 500, cache_sim="current"), walk("stat", 500, cache_sim="current,from=mark")
    assert warm["dentry"]["accesses"] == cold["dentry"]["accesses"]
    assert warm["dentry"]["l3_misses"] < cold["dentry"]["l3_misses"]


def test_a_program_without_a_mark_is_told_so(cw):
    result = cw("run", "--icount", "--cache-sim", "ppro,from=mark", "--", "/bin/true")
    assert result.returncode == 125 and b"has set no mark" in result.stderr, result.stderr


def test_each_part_by_itself(cw_run):
    """Of three cases three parts; what the kernel's counters say of a part, the simulation says, too."""
    result = cw_run(["workload", "readdir", "--entries", "10,100,300", "--passes", "2"], icount=True, debug=False,
                    cache_sim="ppro")  # fmt: skip
    lines = [json.loads(line) for line in result.output.decode().splitlines() if line.startswith("{")]
    parts = result.cachesim["parts"]
    assert len(lines) == len(parts) == 3
    for line, part in zip(lines, parts, strict=True):
        counted = line["counters"]["dentry"]
        assert counted["hits"] + counted["misses"] == part["dentry"]["lookups"] > 0
        reading_the_clock = part["total"]["instructions"] - line["elapsed_ns"]  # twice, between the marks
        assert -0.01 * line["elapsed_ns"] < reading_the_clock < 2500 + 0.01 * line["elapsed_ns"]
    for region in (*ALWAYS, "kernel", "user", "total"):
        for name in ("accesses", "instructions", "l1_misses", "l2_misses", "cycles"):
            assert sum(part[region][name] for part in parts) == result.cachesim[region][name]
    assert parts[0]["total"]["cycles"] < parts[1]["total"]["cycles"] < parts[2]["total"]["cycles"]


def test_regions_add_up_and_a_run_repeats_itself(cw_run):
    """All of a job, boot's caches not among it, twice; programs', kernel's and lookups' accesses are all there are."""

    def run():
        with Path(os.devnull).open("rb") as nothing:  # whose end must not be typed at some moment
            return cw_run(
                script="find / -xdev -type f | head -n 100 | xargs cat | wc -c; cat", icount=True, debug=False,
                cache_sim="ppro", input_file=nothing,
            )  # fmt: skip

    first, again = run(), run()
    found = first.cachesim
    assert json.dumps(found) == json.dumps(again.cachesim)
    assert not found["by_program"] and found["unbalanced"] == found["untranslated"] == 0
    assert all(found[cache]["lookups"] > 10 for cache in ALWAYS)
    for name in ("accesses", "instructions", "l1_misses", "l2_misses", "cycles"):
        assert sum(found[cache][name] for cache in (*ALWAYS, "rest")) == found["total"][name]
        assert found["kernel"][name] + found["user"][name] == found["rest"][name]
    assert found["interrupts"] >= 1, "of the timer"
    # One virtual nanosecond is one instruction. Blocks that are left early count as a whole.
    times = {mark["name"]: mark["ns"] for mark in first.log.all("mark")}
    elapsed = times["job_end"] - times["job"]
    assert 0.95 * elapsed < found["total"]["instructions"] < 1.05 * elapsed


def test_the_command_prints_a_table_and_writes_the_result(cw, tmp_path):
    marks = Path(f"{output_folder()}-marks")
    result = cw("run", "--quiet", "--icount", "--mem", "128M", "--cache-sim", "xeon-p2", "--result", tmp_path / "r.json",
                "--", "/bin/sh", "-c", "ls -l /etc", env={**os.environ, "CW_OUTPUT": str(output_folder())})  # fmt: skip
    assert result.returncode == 0, result.stderr
    text = result.stderr.decode()
    assert "dentry" in text and "L2 misses" in text and "l1d=16K/4/32,l2=512K/4/32,cost=11/90,clock=450" in text
    found = json.loads((tmp_path / "r.json").read_text())
    assert str(found["cachesim"]["dentry"]["lookups"]) in text
    assert "CONFIG_REGION_MARKS=y" in found["config"] and (marks / "chainwalk.stripped").exists()
    assert found["command"].startswith("./cw run") and "--cache-sim xeon-p2" in found["command"]
