"""Memory that waits for grace periods is bounded: ten million files come and go in 64 MB (unlinks.c).

On four CPUs in short turns (core/lock/turns.h), so that what waits does not depend on when the host lets a CPU run, and
is the same each time.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.musl import static_program

CPUS = 4
MOST_KB = 2048  # with the processes' own and their slabs; a million files that wait are 800 MB

LONG = [pytest.mark.turns(12), pytest.mark.long]


@pytest.mark.builds("a kernel of short turns")
@pytest.mark.parametrize("files", [100_000, pytest.param(10_000_000, marks=LONG)])
def test_what_waits_to_be_freed_is_bounded(cw, tmp_path, files):
    program = static_program(tmp_path / "unlinks", Path(__file__).with_name("unlinks.c"))
    machine = ["--icount", "--smp", str(CPUS), "--mem", "64M", "--root", "tmpfs", "--timeout", "1500", "--quiet"]
    job = ["/root/unlinks", "/root", str(CPUS), str(files // CPUS)]
    done = cw("run", *machine, "--add", f"{program}:/root/unlinks", "--", *job, timeout=1600)
    said = (done.stdout + done.stderr).decode()
    assert done.returncode == 0, said
    failed, most, end = map(int, re.findall(r"-?\d+(?= failed| KB)", said))
    assert (failed, end < most < MOST_KB) == (0, True), said
