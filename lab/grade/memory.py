"""What memory a sandbox's processes have together: limits of the system are each process's own, and a program that starts another would have
twice as much. An ordinary user may have no cgroup of his own to limit; so who waits for the sandbox looks, some twenty times a second.

The kernel also has memory for programs that is in none of them: segments of System V, and pages of shared mappings that were
unmapped but for one. Nobody counts those, so a filter (seccomp) keeps programs from them.
"""

from __future__ import annotations

import os
import platform
import struct
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

EVERY = 0.05  # seconds; in that time a processor fills some hundred megabytes at most
COUNTED = (b"VmRSS:", b"VmPTE:", b"VmSwap:")  # in memory, tables of pages, put away


def processes(first: int) -> Iterator[int]:
    """@first and all that it and they have started: whose parent is gone is the child of the sandbox's own first process."""
    yield first
    with suppress(OSError):  # it has ended
        for thread in Path(f"/proc/{first}/task").iterdir():
            for child in (thread / "children").read_bytes().split():
                yield from processes(int(child))


def used(first: int) -> int:
    """Bytes that @first and its descendants have. What several share counts for each: right ones share little but libraries."""
    kilobytes = 0
    for one in processes(first):
        with suppress(OSError):
            lines = Path(f"/proc/{one}/status").read_bytes().splitlines()
            kilobytes += sum(int(line.split()[1]) for line in lines if line.startswith(COUNTED))
    return kilobytes << 10


class Watch:
    """Of one sandbox, whose first process is @first: has it ever had more than @most?"""

    def __init__(self, first: int, most: int):
        self.first, self.most = first, most
        self.next = 0.0

    def too_much(self) -> bool:
        """To be asked all the time."""
        now = time.monotonic()
        if now < self.next:
            return False
        self.next = now + EVERY
        return used(self.first) > self.most


# ---- what a program may not ask the kernel for ---------------------------------------------------

# struct sock_filter: code, lines to skip if so and if not, a number (linux/bpf_common.h).
LOAD, IF_EQUAL, IF_AT_LEAST, IF_ANY, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
# Where struct seccomp_data has the call's number, the machine, and of the fourth argument the lower half.
NUMBER, MACHINE, FOURTH = 0, 4, 16 + 3 * 8
ALLOW, REFUSE, KILL = ((RETURN, 0, 0, what) for what in (0x7FFF0000, 0x00050001, 0x80000000))  # REFUSE: EPERM
X86_64, FOREIGN = 0xC000003E, 0x40000000  # from this number on: calls of another kind of programs
MMAP, SHARED = 9, 1
SYSTEM_V = (29, 64, 68)  # shmget, semget, msgget


def _filter(shares: bool) -> bytes:
    """@shares: it may map memory that others share."""
    lines = [(LOAD, 0, 0, MACHINE), (IF_EQUAL, 1, 0, X86_64), KILL]
    lines += [(LOAD, 0, 0, NUMBER), (IF_AT_LEAST, 0, 1, FOREIGN), REFUSE]
    for call in SYSTEM_V:
        lines += [(IF_EQUAL, 0, 1, call), REFUSE]
    if not shares:
        lines += [(IF_EQUAL, 0, 3, MMAP), (LOAD, 0, 0, FOURTH), (IF_ANY, 0, 1, SHARED), REFUSE]
    return b"".join(struct.pack("<HBBI", *line) for line in (*lines, ALLOW))


def filter_for(shares: bool) -> int | None:
    """A file to be read by bubblewrap, and closed then. None: this is no x86-64, whose calls have other numbers."""
    if platform.machine() != "x86_64":
        return None
    reader, writer = os.pipe()
    with os.fdopen(writer, "wb") as file:
        file.write(_filter(shares))
    return reader
