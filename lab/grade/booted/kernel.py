"""The kernel with a submitted file in the place of one of its own, built in the sandbox from a copy of the tree and of what was built before."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from lab.base.paths import TOP, output_folder
from lab.build.kernel import build, build_lock, config_file
from lab.course.labs import Part
from lab.grade import sandbox
from lab.grade.sandbox import Limits

BUILD = Limits(seconds=480, cpu=60, memory=1 << 30, processes=16, file=64 << 20, output=1 << 20, scratch=64 << 20)

SOURCES = ("Makefile", "Kconfig", "configs", "boot", "core", "arch", "hash", "mm", "fs", "kernel", "user", "lab/build")
FOR_CONFIG = ("lab/__init__.py", "lab/base")  # what configuring asks for besides: not in the sandbox
NOT_NEEDED = ("runs", "images", "user", ".lock", "chainwalk*", "*.map", "tree-*")  # of what was built
HOME = "/chainwalk"  # the source tree in the sandbox


@dataclass(frozen=True)
class StandIn:
    """Which of the kernel's files the submission replaces, and the settings of a kernel that has that file in it.

    A file that the kernel has not can be replaced as well: then a lab says which file is there until it is (`own`), and
    which others have to be (`adds`): the kernel is built in a copy of the tree that has them."""

    replaces: str  # from the top of the tree, as all of these
    settings: tuple[str, ...]
    own: str
    adds: tuple[tuple[str, str], ...] = ()  # where to, from where
    cpus: int = 1  # of the machine; for several, the settings have SHORT_TURNS=y

    @classmethod
    def of(cls, part: Part) -> StandIn:
        replaces, adds = part.options["replaces"], part.options.get("adds", {})
        own, cpus = part.options.get("own", replaces), part.options.get("cpus", 1)
        return cls(replaces, tuple(part.options["settings"]), own, tuple(adds.items()), cpus)

    @property
    def text(self) -> bytes:
        """Of the file that is there without a submission."""
        return (TOP / self.own).read_bytes()

    @property
    def tree(self) -> Path:
        """Where the kernel is built of which each submission gets a copy."""
        return TOP if self.own == self.replaces else output_folder() / f"tree-{Path(self.replaces).stem}"

    @property
    def out(self) -> Path:
        """And what was built there."""
        return output_folder() if self.tree == TOP else self.tree / "build"


_prepared: dict[StandIn, str] = {}  # what was built for it, as _key() says it


def prepare(stand_in: StandIn) -> None:
    """Build the kernel of which each submission gets a copy, unless it is up to date. In judge.home()."""
    with build_lock():
        _prepare(stand_in)


def _prepare(stand_in: StandIn) -> None:
    """The same in build_lock(): once a process, and again where another has built in the same folder for another lab."""
    if _prepared.get(stand_in) == _key(stand_in.out):
        return
    if stand_in.tree == TOP:
        build(stand_in.settings, quiet=True, goals=("kernel", "user"))
    else:
        _lay_out(stand_in)
        build(stand_in.settings, quiet=True, goals=("kernel",), copy=stand_in.tree)
        build(_settings_there(), quiet=True, goals=("user",))
        if not config_file().exists():  # of which the machine's command line asks for the kernel's own
            shutil.copy2(stand_in.out / "effective.config", config_file())
    _prepared[stand_in] = _key(stand_in.out)


def _key(out: Path) -> str:
    """What the kernel in @out was configured by; "": there is none."""
    try:
        return f"{out} {(out / '.config.key').read_text()}"
    except OSError:
        return ""


def _settings_there() -> tuple[str, ...]:
    """Of the kernel that the output folder has, for another lab: it is not to be configured anew for the programs beside it."""
    settings = _key(output_folder()).partition("|")[2].partition("|")[0]
    return tuple(settings.split())


def _lay_out(stand_in: StandIn) -> None:
    """The copy of the tree as it is now; what was built in it stays."""
    tree = stand_in.tree
    for name in (*SOURCES, *FOR_CONFIG):
        if (tree / name).is_dir():
            shutil.rmtree(tree / name)
        _copy(TOP / name, tree / name)
    for target, source in (*stand_in.adds, (stand_in.replaces, stand_in.own)):
        _copy(TOP / source, tree / target)
    if not (tree / ".venv").is_symlink():
        (tree / ".venv").symlink_to(TOP / ".venv")


def copy_of_tree(folder: Path, stand_in: StandIn) -> Path:
    """What a submission is built in, as @folder/source. The checkout itself can be where the sandbox's user may not look: under /root.

    In build_lock(), together with what the caller takes of what was built there."""
    for name in SOURCES:
        _copy(stand_in.tree / name, folder / "source" / name)
    return folder / "source"


def build_with(folder: Path, stand_in: StandIn, text: bytes, called: str) -> str:
    """The kernel with @text in the place of the file that @stand_in is, as @folder/out: what went wrong, or "". To who handed it in the file is @called."""
    out = folder / "out"
    with build_lock():
        _prepare(stand_in)
        source = copy_of_tree(folder, stand_in)
        _copy(stand_in.out, out, NOT_NEEDED)
    (source / stand_in.replaces).write_bytes(text)  # newer than all that was built
    stamps = source / ".venv/stamps"
    stamps.mkdir(parents=True)
    for name in ("python", "packages-run"):
        (stamps / name).touch()
    place = os.path.relpath(stand_in.out, stand_in.tree)
    place = str(stand_in.out) if place.startswith("..") else place
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
        return words[:1500] or outcome.why(BUILD, False)
    return ""


def _copy(path: Path, target: Path, without: tuple[str, ...] = ()) -> None:
    """With the times that make goes by."""
    target.parent.mkdir(parents=True, exist_ok=True)
    if path.is_dir():
        shutil.copytree(path, target, ignore=shutil.ignore_patterns("__pycache__", *without))
    else:
        shutil.copy2(path, target)
