"""Several CPUs simulated: what is asked for, patterns of sharing in the machine, locks, and that a seed is a run."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest

from lab.base.paths import LabError, output_folder
from lab.measure.calls import measure
from lab.run.cachesim import several, simulation
from lab.run.cachesim.several import MACHINES, is_several, parse_machine
from lab.run.options import SHORT_TURNS, Options
from lab.run.own_folder import own_folder
from tests.musl import static_program

HERE = Path(__file__).resolve().parent
SMALL = "cpus=4,group=4,line=64,first=4K/4,second=64K/4,cost=10/0/200/100/100/60/0,clock=1000"


# ---- what is asked for -------------------------------------------------------------------------------------------


def test_a_machine_is_read():
    asked = parse_machine("cpus=4,group=2,line=32,first=16K/4,second=512K/4,third=1M/8,cost=1/2/3/4/5/6/7,clock=450")
    assert asked.levels == ((16 << 10, 4), (512 << 10, 4), (1 << 20, 8)) and asked.cost == (1, 2, 3, 4, 5, 6, 7)
    for name, machine in MACHINES.items():
        assert is_several(name) and parse_machine(name) == machine
        assert parse_machine(str(machine)) == machine
        marked = parse_machine(f"{name},from=mark")
        assert marked.from_mark and parse_machine(str(marked)) == marked != machine
    assert not is_several("current") and not is_several("l1d=8K/2/32,l2=1M/4/32")


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (("cpus=4", "cpus=17"), "17 CPUs in groups of 4"),
        (("group=4", "group=3"), "4 CPUs in groups of 3"),
        (("group=4", "group=0"), "group=0 is no number"),
        (("line=64", "line=48"), "lines of 48 bytes"),
        (("first=4K/4", "first=4K/3"), "first would have"),
        (("first=4K/4", "first=4K"), "first=4K is not SIZE/WAYS"),
        (("second=64K/4", "second=2K/4"), "cannot be smaller"),
        (("cost=10/0/200/100/100/60/0", "cost=10/200"), "is not SECOND/THIRD"),
        ((",clock=1000", ""), "there must be"),
        ((",clock=1000", ",clock=1000,clock=1000"), "once each"),
        ((",clock=1000", ",clock=1000,from=boot"), "there must be"),
    ],
)
def test_a_machine_that_cannot_be_is_refused(change, reason):
    with pytest.raises(LabError) as caught:
        parse_machine(SMALL.replace(*change))
    assert reason in str(caught.value) and "presets poweredge-6300, x440, current-16" in str(caught.value)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"smp": 8, "icount": True, "cache_sim": "poweredge-6300"}, "that machine has 4 CPUs"),
        ({"smp": 2, "icount": False, "cache_sim": "current-16"}, "add --icount"),
        ({"smp": 2, "icount": True, "cache_sim": "current"}, "one CPU: leave out --smp, or take poweredge-6300"),
    ],
)
def test_options_that_do_not_go_with_it(options, reason):
    with pytest.raises(LabError, match=reason):
        simulation.check_options(Options(**options))


def test_the_slowest_of_those_that_are_done_counts():
    tally = dict.fromkeys(
        (
            "lookups", "instructions", "accesses", "locked", "l1_misses", "l2_misses", "memory", "transfers", "far",
            "upgrades", "invalidations", "stall", "for_line", "for_bus", "for_lock",
        ),
        1,
    )  # fmt: skip
    part = {name: dict(tally) for name in ("page", "buffer", "inode", "dentry", "interrupt", "kernel", "user")}
    part |= {"turns": 3, "done": 0b0110, "clocks": [900, 500, 600, 1000], "locks": {}}
    counted = {"cpus": 4, "whole": part, "parts": [{**part, "done": 0}], "by_program": True, "unbalanced": 0}
    found = several.digest(parse_machine(SMALL), {**counted, "untranslated": 0, "lines": []})
    assert (found["slowest"], found["done"], found["parts"][0]["slowest"]) == (600, 2, 1000)
    assert found["total"]["transfers"] == 7 and found["kernel"]["transfers"] == 2
    assert found["total"]["cycles"] == 7 * 5


# ---- booted ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def sharing(tmp_path_factory):
    return static_program(tmp_path_factory.mktemp("sharing") / "sharing", HERE / "sharing.c", flags=["-O2"])


@pytest.fixture
def simulated(cw_run):
    """What is counted of a job on several CPUs."""

    def run(job, smp=2, **options):
        given = {"cache_sim": f"{SMALL},from=mark", "icount": True, "debug": False, **options}
        result = cw_run(job, smp=smp, **given)
        assert result.cachesim["unbalanced"] == result.cachesim["untranslated"] == 0
        return result.cachesim

    return run


ROWS = ("stat 1", "stat 8", "open close 1", "open close 8")  # of user/bench.c

# What of programs is counted beside the pattern: the words with which the two begin and end.
BESIDE = 6


@pytest.mark.turns(8)
@pytest.mark.parametrize(
    ("pattern", "transfers", "upgrades"),
    [
        ("pong", 200, 200),  # each waits, gets the other's line by its read, and takes his copy away
        ("false", 200, 0),  # each write fetches the line
        ("apart", 0, 0),
        ("mostly", 10, 10),  # each write takes a copy away, which is fetched again
    ],
)
def test_a_pattern_of_sharing_transfers_as_arithmetic_has_it(simulated, sharing, pattern, transfers, upgrades):
    found = simulated(["/bin/sharing", pattern, "100"], add=[f"{sharing}:/bin/sharing"])
    assert found["done"] == 2, "two CPUs, a process each"
    user = found["parts"][0]["user"]
    assert transfers - 2 <= user["transfers"] <= transfers + BESIDE
    assert upgrades - 2 <= user["upgrades"] <= upgrades + BESIDE
    assert user["invalidations"] <= max(transfers, upgrades) + BESIDE


def ladder(simulated, case, smp, **options):
    job = [
        "workload",
        "ladder",
        "--processes",
        str(smp),
        "--operations",
        "60",
        "--only",
        case,
        "--dir",
        "/tmp",
        "--keep",
    ]
    found = simulated(job, smp, **{"cache_sim": "current-16,from=mark", **options})
    assert found["parts"][1]["done"] == smp, "each process has a CPU of its own"
    return found


@pytest.mark.turns(4)
@pytest.mark.parametrize(("preset", "smp"), [("poweredge-6300", 4), ("x440", 8)])
def test_the_papers_machines_run(simulated, preset, smp):
    """Walks without locks on all of a machine's CPUs take as long as on one, whatever its caches and its bus."""
    slowest = {n: ladder(simulated, "stat one", n, cache_sim=f"{preset},from=mark")["parts"][1] for n in (1, smp)}
    assert 0.99 < slowest[smp]["slowest"] / slowest[1]["slowest"] < 1.1
    assert slowest[smp]["dentry"]["lookups"] == smp * slowest[1]["dentry"]["lookups"] > 0


def test_a_seed_is_a_run(simulated):
    """The same counts twice, and others by another seed."""
    first, again, other = (ladder(simulated, "mixed", 4, seed=seed) for seed in (1, 1, 2))
    assert json.dumps(first) == json.dumps(again) != json.dumps(other)


@pytest.mark.parametrize("change", [{"unbalanced": 1}, {"whole": {"locks": {"?": {}}}}])
def test_marks_that_do_not_fit_are_an_error(change):
    """As when an interrupt comes between a mark and the reads that tell its addresses."""
    counted = {"unbalanced": 0, "whole": {"locks": {}}} | change
    with pytest.raises(LabError, match="do not fit together"):
        several.digest(parse_machine(SMALL), counted)


def test_no_interrupt_comes_between_a_mark_and_its_reads(simulated):
    """In machine code: cli stands before each mark that two reads follow (TURN_LOCK, TURN_MAY_END), popf behind these."""
    simulated(["/bin/true"], cache_sim=SMALL)  # builds it
    with own_folder("turns"):
        image = output_folder() / "chainwalk"
    code = subprocess.run(["objdump", "-d", "--no-show-raw-insn", image], capture_output=True, text=True, check=True)
    words = [line.split("\t")[-1].strip() for line in code.stdout.splitlines() if "\t" in line]
    marks = [n for n, word in enumerate(words) if re.match(r"nopl +-0x3b3b01f[7e]\(", word)]
    for n in marks:
        around = [word.split()[0] for word in words[n - 1 : n + 4]]
        assert around == ["cli", "nopl", "mov", "mov", "popf"], words[n - 2 : n + 5]
    assert len(marks) > 100


def test_turns_are_short(simulated):
    """While four CPUs stat, a turn of QEMU's has some hundred instructions."""
    part = ladder(simulated, "stat different", 4)["parts"][1]
    assert 10 < part["total"]["instructions"] / part["turns"] < 1000


@pytest.mark.turns(4)
def test_one_lock_for_all_is_waited_for_and_none_is_not(simulated):
    """Of the dentry cache's locks: with one for the table four CPUs do hardly more than one, without any four times as much,
    and then a walk has no locked instruction."""
    slowest = {}
    for scheme in ("global", "rcu"):
        for smp in (1, 4):
            settings = [f"DENTRY_LOCK={scheme}"]
            found = ladder(simulated, "stat one", smp, settings=settings, build=True)
            slowest[scheme, smp] = found["parts"][1]["slowest"]
            table = found["parts"][1]["locks"].get("dentry_table", {"taken": 0, "for_lock": 0})
            assert table["taken"] == (4 * 60 * smp if scheme == "global" else 0)
            assert (table["for_lock"] > 0) == (scheme == "global" and smp > 1)
    assert slowest["rcu", 4] < 1.1 * slowest["rcu", 1]
    assert slowest["global", 4] > 2 * slowest["global", 1]
    with own_folder("turns"):  # that kernel is there
        options = Options(settings=[*settings, SHORT_TURNS, simulation.MARKS], timeout=240)
        locked = {name: call.locked for name, call in measure(options, ROWS).items()}
    assert locked["stat 8"] == locked["stat 1"] == 0
    assert locked["open close 8"] == locked["open close 1"] <= 7
