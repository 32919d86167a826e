"""./cw paths: the paths of each program's calls, counted where the program is known."""

from __future__ import annotations

import errno
import re

import pytest

from lab.base.syscalls import read_table
from lab.compare.paths import Paths, of_programs, table

NUMBERS = {call.name: call.number for call in read_table().values()}


def call(pid: int, name: str, *paths: str) -> tuple:
    memory = {str(index): path.encode().hex() for index, path in enumerate(paths) if path}
    return "call", [pid, NUMBERS[name], [1] * 6, memory]


def result(pid: int, name: str, value: int) -> tuple:
    return "result", [pid, NUMBERS[name], value, {}]


RECORDS = [
    call(5, "open", "/before/it/is/known"), result(5, "open", 3),
    call(5, "execve", "/bin/sh"), result(5, "execve", 0),
    call(5, "stat", "a//b/"), result(5, "stat", -errno.ENOENT),
    call(5, "fork"), result(5, "fork", 6),
    call(6, "execve", "/usr/bin/gone"), result(6, "execve", -errno.ENOENT),
    call(6, "execve", "/usr/bin/mv"),
    call(6, "rename", "x", "yy/z"), result(6, "rename", 0),
    call(6, "getppid"), result(6, "getppid", 5),
    call(6, "openat", "", "/etc/x/y"), result(6, "openat", -errno.ENOTDIR),
    call(6, "stat", "."), ("exited", [6, 0]),
    call(5, "stat", "c"), result(5, "stat", -errno.EACCES),
]  # fmt: skip


def test_each_programs_paths():
    """An execve that fails is still the parent's program's, one that succeeds the new one's; a rename has two."""
    assert of_programs(RECORDS) == {
        "sh": Paths(4, 7 + 5 + 13 + 1, 2 + 2 + 3 + 1, 2),
        "mv": Paths(5, 11 + 1 + 4 + 8 + 1, 3 + 1 + 2 + 3 + 1, 1),
    }
    text = table(of_programs(RECORDS)).splitlines()
    assert text[1:] == ["       5    5.0         2.0    20.00 %  mv", "       4    6.5         2.0    50.00 %  sh"]


@pytest.mark.usefixtures("on_the_full_kernel")
def test_of_a_job(cw):
    """What the job's own calls are, beside those that start it."""
    script = "cd /etc; i=0; while [ $i -lt 50 ]; do [ -e no/such/name ]; [ -e passwd ]; i=$((i + 1)); done; exit 3"
    done = cw("paths", "--", "sh", "-c", script)
    assert done.returncode == 3, done.stderr.decode()
    (line,) = re.findall(r"^ +(\d+) +([\d.]+) +([\d.]+) +([\d.]+) %  sh\r?$", done.stdout.decode(), re.MULTILINE)
    paths, length, components, missing = map(float, line)
    assert 101 <= paths <= 110 and 8.8 < length < 9.2 and 1.9 < components < 2.1 and 45 < missing < 52
