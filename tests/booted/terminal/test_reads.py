"""Where a read of the terminal ends: lines, ends of files and buffers of all lengths, compared with Linux's terminal."""

from __future__ import annotations

import os
import re
import signal

import pexpect
import pytest

from lab.base.paths import TOP
from lab.check.kernels import debug_output
from tests.musl import static_program

# The lengths of the reads, and what is typed; \x04 is Ctrl-D.
SHORT = [
    (sizes, keys)
    for sizes in ("1", "2", "3", "4", "5", "6", "7", "100", "0,3", "3,0", "2,1", "1+2", "3+3", "2+0+1")
    for keys in (
        "abc\x04", "abc\x04\x04", "abcdef\x04", "abcdef\x04\x04\x04", "\x04", "\x04\x04abc\x04", "abc\n\x04", "abc\n",
        "abcdef\n", "\n\n", "ab\n\x04\x04cd\x04", "abc\x04abc\x04abc\n",
    )
]  # fmt: skip
# Around the lengths in which the two kernels copy: 64 and 256.
LONG = [
    (sizes, "x" * length + end)
    for length in (63, 64, 65, 128, 255, 256, 257, 512)
    for sizes in dict.fromkeys((str(length), str(length - 1), str(length + 1), "64", "256", "300", "600"))
    for end in ("\x04", "\x04\x04", "\n", "\n\x04")
]


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    found = tmp_path_factory.mktemp("reads") / "reads"
    source = TOP / "tests/booted/terminal/reads.c"
    return static_program(found, source, flags=["-O2"])


def type_at(child: pexpect.spawn, cases: list[tuple[str, str]]) -> list[str]:
    """What the program said of each of @cases."""
    found = []
    child.delaybeforesend = None  # it has said that it reads
    for sizes, keys in cases:
        child.expect("case\r+\n")
        child.send(f"{keys}Z\n")
        child.expect(f"({re.escape(sizes)}:[^\r]*)\r")
        found.append(child.match[1])
    child.expect("end\r+\n")
    return found


@pytest.mark.parametrize("cases", [SHORT, LONG], ids=["short", "long"])
def test_reads_end_where_they_do_on_linux(program, cases):
    linux = pexpect.spawn(str(program), [sizes for sizes, _ in cases], timeout=30, encoding="utf-8")
    expected = type_at(linux, cases)
    linux.close()
    child = pexpect.spawn(
        str(TOP / "cw"), ["shell", "--mem", "256M", "--add", f"{program}:/reads"],
        env={**os.environ, "CW_OUTPUT": debug_output()}, timeout=60, encoding="utf-8", dimensions=(24, 200),
    )  # fmt: skip
    try:
        child.expect("root@chainwalk:[^#]*# ", timeout=180)
        found = []
        for first in range(0, len(cases), 40):  # a line of a shell is not endless
            part = cases[first : first + 40]
            child.sendline(f"/reads {' '.join(sizes for sizes, _ in part)}")
            found += type_at(child, part)
            child.expect("root@chainwalk:[^#]*# ")
    finally:
        if child.isalive():
            child.kill(signal.SIGKILL)
            child.ptyproc.wait()
        child.close()
    wrong = [
        f"{keys!r}\n  Linux:     {theirs}\n  Chainwalk: {ours}"
        for (_, keys), theirs, ours in zip(cases, expected, found, strict=True)
        if theirs != ours
    ]
    assert not wrong, f"{len(wrong)} of {len(cases)}:\n" + "\n".join(wrong)
