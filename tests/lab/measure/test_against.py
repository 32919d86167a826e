"""./cw bench --against linux: what is counted, and the table from both kernels."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from lab.base.paths import TOP, LabError
from lab.build.kernel import effective_config
from lab.measure import against, instructions
from lab.run import machine
from tests.musl import static_program

HERE = Path(__file__).resolve().parent
LOCKED_A_COMPONENT = {"bucket": 3, "rcu": 0}  # the bucket's lock, a reference taken and one dropped
needs_apt = pytest.mark.skipif(not shutil.which("apt-get"), reason="no apt on this machine")


def counted(command: str, tmp_path, **options) -> tuple[machine.Result, instructions.Counted]:
    given = machine.Options(job=["sh", "-c", command], quiet=True, timeout=240, **options)
    return instructions.count(given, tmp_path / "out")


@pytest.fixture
def locked(tmp_path) -> Path:
    return static_program(tmp_path / "locked", HERE / "locked.c", flags=["-O2"])


def test_instructions_are_counted_and_told_apart(tmp_path, locked):
    """Programs' and the kernel's; and the locked ones of what a program marks, to the instruction."""
    nothing = counted("true", tmp_path)[1]
    assert counted("true", tmp_path)[1] == nothing  # to the instruction
    counting = counted("i=0; while [ $i -lt 2000 ]; do i=$((i+1)); done", tmp_path)[1].all
    command = "/locked; dd if=/dev/zero of=/dev/null bs=64k count=100"
    result, found = counted(command, tmp_path, add=[f"{locked}:/locked"])
    reading, nothing = found.all, nothing.all
    assert counting.user > nothing.user + 2000 * 100
    assert counting.kernel - nothing.kernel < (counting.user - nothing.user) / 10
    assert reading.kernel > nothing.kernel + 100 * 65536 / 8
    assert reading.user - nothing.user < (reading.kernel - nothing.kernel) / 4
    wanted = [line.rpartition(": ") for line in result.output.decode().splitlines() if re.search(r": \d+$", line)]
    assert len(wanted) == len(found.parts) > 20
    for (name, _, number), part in zip(wanted, found.parts, strict=True):
        assert part.user == int(number), name
    assert found.locked.user >= sum(part.user for part in found.parts) > 2000


def test_a_machine_that_fails_gives_no_figures(tmp_path):
    with pytest.raises(LabError, match="time-out"):
        instructions.count(machine.Options(job=["sh", "-c", "while :; do :; done"], timeout=5), tmp_path / "out")


@pytest.mark.builds
@needs_apt
def test_the_table_is_measured_on_both():
    command = [TOP / "cw", "bench", "--against", "linux", "--json", "--row", "getppid", "--row", "exec dynamic"]
    command += ["--row", "stat 1", "--row", "stat 8"]
    result = subprocess.run([*command, "--row", "fork exit wait"], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    rows = {row["row"]: row for row in json.loads(result.stdout)["calls"]}
    assert set(rows) == {"getppid", "stat 1", "stat 8", "exec dynamic", "fork exit wait"}
    assert all(0 < row["ratio"] == round(row["chainwalk"] / row["linux"], 3) for row in rows.values())
    assert 250 < rows["getppid"]["linux"] < 500  # as published for this kernel
    assert rows["fork exit wait"]["linux"] > 50000 and rows["exec dynamic"]["linux"] > 300000
    locked = {name: row["locked"] for name, row in rows.items()}
    assert locked["getppid"] == {"chainwalk": 0, "linux": 0}, "the loop and the trap have none"
    assert locked["stat 1"]["linux"] == locked["stat 8"]["linux"], "Linux walks without locks"
    assert locked["fork exit wait"]["linux"] > 200, "its lock prefixes are there"
    more = locked["stat 8"]["chainwalk"] - locked["stat 1"]["chainwalk"]
    assert more == 7 * LOCKED_A_COMPONENT[effective_config()["DENTRY_LOCK"]]


@pytest.mark.turns(4)
@needs_apt
def test_a_job_has_the_same_user_instructions_on_both():
    found = against.job(machine.Options(timeout=240), "linux", "find /etc /bin | sort | wc -l")
    assert found["status"] == 0 and found["same_output"]
    assert 0.9 < found["user"]["ratio"] < 1.1
    assert found["kernel"]["linux"] > 100000
