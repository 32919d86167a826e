"""The same static program makes the same file-system calls on Linux and on Chainwalk: outcomes must be equal.

linux.txt is what Linux (6.x) printed; where this host lets us be root, that is checked too, so that the
record cannot drift from the oracle. `.venv/bin/python3 -m tests.differential.test_differential` writes it anew.
"""

from __future__ import annotations

import os
import re
import tempfile
from pathlib import Path

import pytest

from lab.base import offspring
from lab.check.fuzz import calls as fuzz
from tests.musl import static_program

HERE = Path(__file__).parent
RECORD = HERE / "linux.txt"

# Scenarios whose outcome differs for a reason that is not a fault: name -> reason.
DIFFERENT_ON_TMPFS: dict[str, str] = {}
DIFFERENT_ON_EXT2: dict[str, str] = {
    "fallocate_basic": "ext2 has no way to mark blocks as unwritten; Linux's ext2 says EOPNOTSUPP too",
}


def compile_scenarios(folder: Path) -> Path:
    return static_program(folder / "scenarios", *sorted(HERE.rglob("*.c")), flags=["-Wno-unused-value"])


def run_on_linux(program: Path) -> list[str]:
    base = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=base) as scratch:
        done = offspring.run([program, scratch], timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout.decode(errors="replace").splitlines()


def by_name(lines: list[str]) -> dict[str, str]:
    return {line.split(":", 1)[0]: line for line in lines if ":" in line}


@pytest.fixture(scope="session")
def scenarios(tmp_path_factory) -> Path:
    return compile_scenarios(tmp_path_factory.mktemp("scenarios"))


def test_there_are_enough():
    assert len(by_name(RECORD.read_text().splitlines())) >= 250


@pytest.mark.skipif(os.getuid() != 0, reason="needs root, for several users and mounts")
def test_record_is_what_linux_does(scenarios):
    found = run_on_linux(scenarios)
    if any(re.search(r"\bmount\([^()]*\)=EPERM", line.split("(1000")[0]) for line in found):
        pytest.skip("root may not mount here")
    assert found == RECORD.read_text().splitlines()


@pytest.mark.check
@pytest.mark.parametrize("root", ["tmpfs", "ext2"])
def test_chainwalk_does_the_same(cw_run, scenarios, root):
    script = "mkdir /root/scratch && /root/scenarios /root/scratch && echo left: $(ls -A /root/scratch)"
    result = cw_run(script=script, add=[f"{scenarios}:/root/scenarios"], root=root, timeout=240)
    found = by_name(result.output.decode(errors="replace").splitlines())
    known = DIFFERENT_ON_TMPFS if root == "tmpfs" else DIFFERENT_ON_EXT2
    differ = {
        name.split()[-1]: f"Linux:     {line}\nChainwalk: {found.get(name, 'nothing')}"
        for name, line in by_name(RECORD.read_text().splitlines()).items()
        if found.get(name) != line
    }
    wrong = [text for name, text in differ.items() if name not in known]
    assert not wrong, f"{len(wrong)} scenarios differ:\n" + "\n".join(wrong)
    assert set(differ) == set(known), "some that differed do so no more"
    assert "EOPNOTSUPP" in differ.get("fallocate_basic", "EOPNOTSUPP").split("Chainwalk:")[-1]
    assert found["left"] == "left:", "the scenarios leave files behind"


SPACE = "echo space: $(df -k / | tail -n 1); echo inodes: $(df -i / | tail -n 1)"


@pytest.mark.turns(4)
@pytest.mark.parametrize("root", ["tmpfs", "ext2"])
def test_nothing_is_left_of_the_scenarios(cw_run, scenarios, root):
    """All calls and their errors, again and again: not one object of the kernel more, nor a page in use."""
    script = (
        "mkdir /root/scratch; for round in 1 2 3; do /root/scenarios /root/scratch > /dev/null 2>&1;"
        f" {fuzz.SETTLED}; grep -E 'AnonPages|Shmem|PageTables|Dirty' /proc/meminfo; {SPACE}; echo ROUND; done"
    )
    result = cw_run(script=script, add=[f"{scenarios}:/root/scenarios"], root=root, timeout=240)
    first, second, third, _ = result.output.decode(errors="replace").replace("\r", "").split("ROUND\n")
    assert "kmalloc-64" in first
    assert not fuzz.leaks(second, third)
    numbers = [line for line in third.splitlines() if line.startswith(("space:", "inodes:")) or "kB" in line]
    assert len(numbers) == 6 and not set(numbers) - set(second.splitlines())


def test_wild_pointers(cw_run):
    result = cw_run(["/usr/local/bin/wildptr", "pointers"])
    assert b"wildptr: survived" in result.output


@pytest.mark.check
@pytest.mark.parametrize("cpus", [1, 2])
def test_every_call_number_with_wild_arguments(cw_run, cpus):
    result = cw_run(["/usr/local/bin/wildptr", "numbers"], smp=cpus, timeout=240)
    assert b"wildptr: survived" in result.output


@pytest.mark.parametrize("kind", ["forks", "memory"])
def test_bombs(cw_run, kind):
    result = cw_run(["/usr/local/bin/wildptr", kind], mem="64M", timeout=240)
    assert b"wildptr: survived" in result.output


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        lines = run_on_linux(compile_scenarios(Path(folder)))
    RECORD.write_text("".join(f"{line}\n" for line in lines))
    print(f"{RECORD}: {len(lines) - 1} scenarios")
