"""The rooms of the house, and the tests that should notice a bug in each, cheapest first."""

from __future__ import annotations

import shlex
from pathlib import Path

ROOM_BY_FOLDER = {  # the longest that fits counts
    "fs": "fs",
    "fs/ext2": "ext2",
    "mm": "mm",
    "hash": "hash",
    "core": "core",
    "arch": "x86",
    "boot": "x86",
    "kernel/exec": "proc",
    "kernel/proc": "proc",
    "kernel/sys": "sys",
    "kernel/trace": "sys",
    "kernel/drivers": "drivers",
    "kernel/ipc": "ipc",
    "kernel/events": "ipc",
    "kernel/inotify": "ipc",
    "kernel/splice": "ipc",
    "kernel/residency": "ipc",
    "kernel/rare": "proc",
    "kernel/socket": "socket",
    "kernel/tty": "tty",
    "user/chainhash": "chainhash",
    "lab": "lab",
}

HOSTED = "tests/hosted -k 'not other_tables'"
MACHINES = "tests/differential tests/booted tests/fuzz"
REST = "tests/programs tests/hash"

# One run of pytest each; the first that fails ends it. Folders that are not there are left out.
STAGES = {
    "fs": ["tests/differential", HOSTED, MACHINES, REST],
    "ext2": [HOSTED, "tests/booted/machine/test_disk.py tests/booted/machine/test_machine.py", MACHINES, REST],
    "mm": [
        "tests/hosted/test_areas.py tests/hosted/test_frames.py",
        "tests/booted/memory/test_memory.py",
        HOSTED,
        MACHINES,
        REST,
    ],
    "hash": ["tests/hash", HOSTED, MACHINES, "tests/programs"],
    "core": [HOSTED, MACHINES, REST],
    "x86": ["tests/hosted/test_rtc.py", "tests/booted/memory/test_memory.py", MACHINES, REST],
    "proc": ["tests/differential", MACHINES, REST],
    "sys": ["tests/differential", MACHINES, REST],
    "drivers": ["tests/booted/machine/test_disk.py tests/booted/terminal/test_terminal.py", MACHINES, REST],
    "ipc": ["tests/differential", MACHINES, REST],
    "socket": ["tests/booted/sockets", "tests/differential", MACHINES, REST],
    "tty": ["tests/booted/terminal/test_terminal.py tests/booted/terminal/test_shell.py", MACHINES, REST],
    "chainhash": ["tests/chainhash"],
    "lab": ["tests/lab", "tests/booted", "tests"],
}


def room_of(path: str) -> str:
    """The room of a file of the tree; "other" for what no room is for."""
    found = [folder for folder in ROOM_BY_FOLDER if path.startswith(f"{folder}/")]
    return ROOM_BY_FOLDER[max(found, key=len)] if found else "other"


def stages_of(room: str, tree: Path) -> list[str]:
    """The runs of pytest for @room, each as its arguments."""
    found = []
    for stage in STAGES.get(room, ["tests"]):
        words = stage.split(" -k ")
        places = [place for place in words[0].split() if (tree / place).exists()]
        if places:
            found.append(" -k ".join([" ".join(places), *words[1:]]))
    return found


def needs_kernels(arguments: str) -> bool:
    """Do these tests boot anything? Hosted ones and those of the lab's own functions do not."""
    return not all(
        word.startswith(("tests/hosted", "tests/hash/test_tables", "tests/chainhash"))
        for word in shlex.split(arguments)
        if word.startswith("tests")
    )
