"""The rooms of the kernel's house, from the ground up: who may use whom (docs/kernel/architecture.md).

A room uses what lies below it, in includes (lab/check/style.py) and in what the linker resolves (lab/check/links.py).
"""

from __future__ import annotations

# One floor a line; what stands on one floor may use each other.
FLOORS = (
    ("boot/", "arch/", "core/"),  # the machine and what all others stand on
    ("hash/",),
    ("mm/",),
    ("fs/",),
    ("kernel/drivers/",),
    ("kernel/proc/", "kernel/ipc/", "kernel/exec/"),
    (
        "kernel/tty/",
        "kernel/events/",
        "kernel/inotify/",
        "kernel/label/",
        "kernel/namespace/",
        "kernel/rare/",
        "kernel/residency/",
        "kernel/socket/",
        "kernel/splice/",
    ),
    ("kernel/sys/", "kernel/trace/"),
    ("kernel/",),  # main.c
)
MACHINE = ("boot/", "arch/")  # of which others see <arch/*.h> and boot's headers alone


def room_of(path: str) -> str:
    """The room of a file of the kernel, "" for others."""
    return next((room for floor in FLOORS for room in floor if path.startswith(room)), "")


def floor_of(room: str) -> int:
    return next(height for height, floor in enumerate(FLOORS) if room in floor)


def goes_up(user: str, used: str) -> bool:
    """Does the file @user, which uses something of the file @used, reach above its own floor?"""
    here, there = room_of(user), room_of(used)
    return bool(here and there) and floor_of(there) > floor_of(here)
