"""All that QEMU is given for a run, as one hash: two runs of the same hash are runs of the same machine.

Sources are no measure of that: a comment changes them, and a room of the kernel that is not compiled in. What a machine
does is decided by QEMU's version, by the words of its command, and by the contents of the files that these name: the
kernel's image, the RAM disk's, the simulation's plugin. Where the files lie changes nothing.
"""

from __future__ import annotations

import hashlib
import re
import subprocess
from functools import cache
from pathlib import Path

PATH = re.compile(r"(?:(?<=[=:])|^)/[^,]*")
VERBATIM = "-append"  # the kernel's command line, which names files of the machine


@cache
def qemu_version() -> str:
    """QEMU's own words for its version, "" where there is none."""
    try:
        said = subprocess.run(["qemu-system-x86_64", "--version"], capture_output=True, text=True, check=False).stdout
    except OSError:
        return ""
    return (said.splitlines() or [""])[0]


def machine_sha256(command: list[str]) -> str:
    """The hash for QEMU's @command (lab/run/qemu/command.py), in hexadecimal digits. Files that are there stand for their
    contents; sockets and files that the run is to write count as such, whatever their names."""
    words, before = [qemu_version()], ""
    for word in command:
        words.append(word if before == VERBATIM else PATH.sub(_content, word))
        before = word
    return hashlib.sha256("\0".join(words).encode("utf-8", "surrogateescape")).hexdigest()


def _content(path: re.Match[str]) -> str:
    file = Path(path[0])
    if not file.is_file():
        return "a file of the run"
    with file.open("rb") as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()
