"""The kernel in which a submission is an ordinary user's program: floods are counted by the kernel, and by nobody else."""

from __future__ import annotations

import os

import pytest

from lab.grade.booted import judge as booted
from lab.grade.flood import guest
from tests.lab.grade import follow
from tests.lab.grade.lab3.conftest import LAB
from tests.lab.grade.lab3.submissions import CALL, FLOOD, SOLUTION, STARTER, with_function

ONLY = {"builds", "kernel"}

# Floods where it is asked for 1,024 names, as outside; in the guest it writes what would be a record of the kernel's, wherever it can, and touches its port.
FAKED = CALL + with_function(
    "flood_names",
    FLOOD
    + """	static const char record[] = "@CW 0 74 00000000 stats {\\"cache\\": \\"dentry\\", \\"largest\\": 800, \\"buckets\\": 1024}\\n";
	static const char *const places[] = {"/dev/console", "/dev/ttyS0", "/dev/tty", "/proc/hash/dentry.json"};

	if (count != 1024)
		for (unsigned i = 0; i < 4; i++) {
			const long file = call(2, (long)places[i], 1, 0);

			call(1, file, (long)record, sizeof(record) - 1);
			call(1, i < 2 ? i + 1 : 1, (long)record, sizeof(record) - 1);
		}
	for (unsigned i = 0; i < count; i++)
		plain_name(names[i], i);
}""",
    STARTER,
)


@pytest.mark.turns(2)
def test_a_flood_is_counted_by_the_kernel(graded):
    shares, said = graded(SOLUTION, boots=True, only=ONLY)
    assert shares["kernel"] == 1, said


def test_what_the_program_says_proves_nothing(graded):
    shares, said = graded(FAKED, boots=True, only=ONLY)
    assert shares["kernel"] == 0 and "fullest bucket has" in said, said


def test_a_program_that_fails_is_told(graded):
    """No instruction that reaches a port is a user's, either."""
    text = with_function(
        "flood_names",
        FLOOD + '\tif (count != 1024)\n\t\t__asm__ volatile("outb %%al, %%dx" : : "a"(64), "d"(0x2f8));\n}',
    )
    shares, said = graded(text, boots=True, only=ONLY)
    assert shares["kernel"] == 0 and "ended with status 139" in said, said


def test_what_does_not_end_outside_is_not_booted(graded, monkeypatch):
    monkeypatch.setattr(guest, "flooded", None)
    shares, said = graded(
        with_function("flood_names", FLOOD + "\tfor (volatile int i = 0;; i++)\n\t\t;\n}"), boots=True, only=ONLY
    )
    assert shares["kernel"] == 0 and "not booted: it was killed by signal 9" in said, said


@pytest.mark.turns(4)
def test_the_texts_machines_print_what_it_says(tmp_path):
    """With the starter, and the kernel that the grader has built."""
    home = tmp_path / "home"
    home.mkdir()
    with booted.home():
        place = os.environ["CW_OUTPUT"]
    follow.run(f"./cw lab start {LAB.number} ~/lab3", follow.TOP, home)
    for language, block in follow.blocks(LAB.number):
        if language == "sh" and "DENTRY_HASH" in block:
            printed = follow.run(block, follow.TOP, home, CW_OUTPUT=place)
            assert "1000 files; ns a lookup: 553" in printed
        elif language == "text" and "4096" in block:
            follow.check_printed(block, printed)
