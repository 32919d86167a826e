"""The kernel with a submitted file in the place of one of its own, built in the sandbox from a copy of the tree and of what was built before."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from threading import Lock

from lab.base.paths import TOP, output_folder
from lab.build.kernel import build, build_lock
from lab.course.labs import Part
from lab.grade import sandbox
from lab.grade.sandbox import Limits

BUILD = Limits(seconds=240, cpu=60, memory=1 << 30, processes=16, file=64 << 20, output=1 << 20, scratch=64 << 20)

SOURCES = ("Makefile", "Kconfig", "configs", "boot", "core", "arch", "hash", "mm", "fs", "kernel", "user", "lab/build")
NOT_NEEDED = ("runs", "images", "user", ".lock", "chainwalk*", "*.map")  # of what was built
HOME = "/chainwalk"  # the source tree in the sandbox

BASE_LOCK = Lock()


@dataclass(frozen=True)
class StandIn:
    """Which of the kernel's files the submission replaces, and the settings of a kernel that has that file in it."""

    replaces: str  # from the top of the tree
    settings: tuple[str, ...]

    @classmethod
    def of(cls, part: Part) -> StandIn:
        return cls(part.options["replaces"], tuple(part.options["settings"]))

    @property
    def own(self) -> bytes:
        """The kernel's own file."""
        return (TOP / self.replaces).read_bytes()


def prepare(stand_in: StandIn) -> None:
    """Build the kernel of which each submission gets a copy, unless it is up to date. In judge.home()."""
    with BASE_LOCK:
        _prepare_once(stand_in, str(output_folder()))


@cache
def _prepare_once(stand_in: StandIn, folder: str) -> None:
    with build_lock():
        build(stand_in.settings, quiet=True, goals=("kernel", "user"))


def build_with(folder: Path, stand_in: StandIn, text: bytes, called: str) -> str:
    """The kernel with @text in the place of the file that @stand_in is, as @folder/out: what went wrong, or "". To who handed it in the file is @called."""
    prepare(stand_in)
    source, out = folder / "source", folder / "out"
    with build_lock():
        for name in SOURCES:
            _copy(TOP / name, source / name)
        _copy(output_folder(), out, NOT_NEEDED)
    (source / stand_in.replaces).write_bytes(text)  # newer than all that was built
    stamps = source / ".venv/stamps"
    stamps.mkdir(parents=True)
    for name in ("python", "packages-run"):
        (stamps / name).touch()
    place = os.path.relpath(output_folder(), TOP)
    place = str(output_folder()) if place.startswith("..") else place
    (source / place).mkdir(parents=True, exist_ok=True) if not place.startswith("/") else None
    inside = place if place.startswith("/") else f"{HOME}/{place}"
    command = [
        "make",
        "-s",
        "-j2",
        "-C",
        HOME,
        f"O={place}",
        "kernel",
        f"SET={' '.join(stand_in.settings)}",
        "DEFCONFIG=",
    ]
    outcome = sandbox.run([*command, "PYTHON=/usr/bin/python3"], BUILD, {source: HOME}, {sandbox.give(out): inside})
    if not outcome.good:
        words = outcome.said.replace(stand_in.replaces, called)
        return words[:1500] or outcome.why(BUILD)
    return ""


def _copy(path: Path, target: Path, without: tuple[str, ...] = ()) -> None:
    """With the times that make goes by."""
    target.parent.mkdir(parents=True, exist_ok=True)
    if path.is_dir():
        shutil.copytree(path, target, ignore=shutil.ignore_patterns("__pycache__", *without))
    else:
        shutil.copy2(path, target)
