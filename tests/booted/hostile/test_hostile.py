"""Programs that mean harm, or might: the kernel outlives them, and does as Linux does."""

from __future__ import annotations

import re

import pytest

from lab.base.paths import TOP
from lab.check.fuzz import calls as fuzz
from tests.musl import static_program


@pytest.fixture(scope="session")
def hostile(tmp_path_factory):
    """All of hostile/ as one static program, which prints "PART: ok" for each of its parts."""
    program = tmp_path_factory.mktemp("hostile") / "hostile"
    sources = sorted((TOP / "tests/booted/hostile").glob("*.c"))
    return static_program(program, *sources)


def run(cw_run, program, part, argument="", **options):
    options.setdefault("timeout", 300)
    script = f"cd /root && LIMIT=5000000 /hostile {part} {argument}"
    result = cw_run(script=script, add=[f"{program}:/hostile"], **options)
    assert f"{part}: ok" in result.output.decode(errors="replace"), result.output[-3000:]


MACHINE = ["descriptors", "paths", "elf", "memory", "sigreturn", "instructions"]
PROCESSES = ["storm", "stops", "orphans", "groups", "vfork", "threads", "kill"]


@pytest.mark.parametrize("part", MACHINE)
def test_machine(cw_run, hostile, part):
    run(cw_run, hostile, part)


@pytest.mark.parametrize(("root", "cpus"), [("ext2", 1), ("tmpfs", 2)])
def test_files(cw_run, hostile, root, cpus):
    """An ordinary user's files at their worst, all in one boot. SIZE=1000000 makes them larger."""
    parts = ["entries", "deep", "links", "cuts", "moments"]
    script = "cd /root && " + " && ".join(f"/hostile {part}" for part in parts)
    result = cw_run(script=script, add=[f"{hostile}:/hostile"], root=root, smp=cpus, timeout=300)
    for part in parts:
        assert f"{part}: ok" in result.output.decode(errors="replace"), result.output[-3000:]


@pytest.mark.turns(3)
def test_hogs(cw_run, hostile):
    run(cw_run, hostile, "hogs", mem="64M")


@pytest.mark.parametrize("cpus", [1, 2])
@pytest.mark.parametrize("root", ["ext2", "tmpfs"])
def test_random_calls(cw_run, hostile, root, cpus):
    run(cw_run, hostile, "calls", root=root, smp=cpus, mem="256M")


@pytest.mark.parametrize("cpus", [1, 2])
@pytest.mark.parametrize("part", PROCESSES)
def test_processes(cw_run, hostile, part, cpus):
    run(cw_run, hostile, part, smp=cpus)


@pytest.mark.parametrize("seed", range(2, 4))
def test_more_damaged_programs(cw_run, hostile, seed):
    run(cw_run, hostile, "elf", seed, root="tmpfs")


@pytest.mark.parametrize("root", ["ext2", "tmpfs"])
def test_nothing_is_lost(cw_run, hostile, root):
    """The same again and again: all memory is given back, and not one object of the kernel is left."""
    script = (
        "cd /root; for round in 1 2 3 4; do for part in vfork threads orphans stops refused; do /hostile $part; done;"
        f" {fuzz.SETTLED}; grep MemFree /proc/meminfo; echo ROUND; done"
    )
    result = cw_run(script=script, add=[f"{hostile}:/hostile"], root=root, mem="64M", timeout=300)
    rounds = result.output.decode(errors="replace").replace("\r", "").split("ROUND\n")[:-1]
    assert len(rounds) == 4 and all(text.count(": ok") == 5 for text in rounds), result.output[-2000:]
    free = [int(re.search(r"MemFree: +(\d+)", text)[1]) for text in rounds]
    assert free[1] - free[-1] < 64, f"KB free after each round: {free}"
    assert not fuzz.leaks(rounds[1], rounds[-1])
