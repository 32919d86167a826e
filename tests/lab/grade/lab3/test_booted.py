"""The kernel in which a submission is an ordinary user's program: floods are counted by the kernel, and by nobody else."""

from __future__ import annotations

import pytest

from lab.grade.flood import guest
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


@pytest.mark.turns(4)
def test_a_flood_is_counted_by_the_kernel(graded):
    shares, said = graded(SOLUTION, boots=True, only=ONLY)
    assert shares["kernel"] == 1, said


@pytest.mark.turns(3)
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
