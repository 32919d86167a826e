"""Where things are, and the errors that a user can do something about."""

from __future__ import annotations

import os
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]

KERNEL_FOLDERS = ("boot", "core", "arch", "hash", "mm", "fs", "kernel")  # what the kernel is built from


class LabError(Exception):
    """Something the user can put right; the message says how."""


def output_folder() -> Path:
    """The build folder: $CW_OUTPUT, or build/default of the checkout."""
    chosen = os.environ.get("CW_OUTPUT")
    return Path(os.path.abspath(chosen)) if chosen else TOP / "build" / "default"


def made_folder(name: str) -> Path:
    """Where what is made for all output folders is kept, under a digest of what it was made of: build/@name; where $CW_OUTPUT is
    another place, in it."""
    output = output_folder()
    return (output.parent if output.parent == TOP / "build" else output) / name


def cache_folder() -> Path:
    """What is downloaded and serves every checkout: $CW_CACHE, or chainwalk in the user's cache folder."""
    chosen = os.environ.get("CW_CACHE")
    if chosen:
        return Path(os.path.abspath(chosen))
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "chainwalk"


# Debian keeps mke2fs, debugfs and e2fsck where an ordinary user's PATH does not look.
os.environ["PATH"] = os.environ.get("PATH", "/usr/bin:/bin") + ":/usr/sbin:/sbin"
