"""The kernels of a sweep: built once each, and kept in build/kernels for the next sweep.

    work/            where make builds, one after another: what two kernels have in common is compiled once
    built-KEY/       one build's kernel. KEY stands for the sources and the configuration without the command line
    user-KEY/        one build's user programs
    KEY/             a build folder as ./cw run wants one ($CW_OUTPUT): kernel, configuration with the command line,
                     user programs and images, all of them links to what others share; for Linux without a kernel

KEYs are made of contents, so what is there is right, and two sweeps may work here at the same time. What was built while
its sources changed is of no contents that one could name: it is thrown away, and LabError says so.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from lab.base.paths import KERNEL_FOLDERS, TOP, LabError
from lab.build.kernel import build, build_lock, config_file, kernel_image
from lab.guest.tree import find_busybox

SOURCES = (
    *(*KERNEL_FOLDERS, "user", "Makefile", "Kconfig"),
    *("lab/build/make", "lab/build/link_order.py", "lab/build/configure.py", "lab/base/rooms.py"),  # which make runs
)
PROGRAM_SOURCES = ("user", "lab/build/make", "Makefile")
# A library for programs of one's own, which is neither in a kernel nor in an image.
NOT_BUILT = TOP / "user" / "chainhash"
# What decides what a machine is, what lies in its image and what is read of its run, besides the sources; and what goes
# into images of the scripts of lab/jobs.
MAKERS = (
    "lab/run/options.py", "lab/run/cmdline.py", "lab/run/machine.py", "lab/run/console.py", "lab/run/qemu",
    "lab/run/linux.py", "lab/run/cachesim", "lab/run/control.py", "lab/run/result.py", "lab/run/stacks.py",
    "lab/guest/tree.py", "lab/guest/image.py", "lab/guest/packages.py", "lab/guest/workloads.py", "lab/guest/jobs.py",
    "lab/jobs/make.sh",
)  # fmt: skip
MAKE_TAKES = ("CROSS_COMPILE", "KCFLAGS")  # of the environment, into what it builds
OF_ONE_CACHE = re.compile(r"CONFIG_(PAGE|BUFFER|INODE|DENTRY|NAME)_(HASH|TABLE|SHRINK)=")
KEPT = 100


def folder() -> Path:
    return TOP / "build" / "kernels"


def digest_of(paths: Iterable[Path]) -> str:
    """A hash of names and contents; a folder stands for all files below it."""
    total = hashlib.sha256()
    for path in paths:
        files = sorted(file for file in path.rglob("*") if file.is_file()) if path.is_dir() else [path]
        for file in files:
            if "__pycache__" not in file.parts and NOT_BUILT not in file.parents and file.exists():
                total.update(f"{file.relative_to(path.parent)}\0{file.stat().st_size}\0".encode() + file.read_bytes())
    return total.hexdigest()


@cache
def tools() -> dict[str, str]:
    """What of the host gets into a kernel or its image: each one's version, in its own words, and a hash of its file."""
    busybox, libc = Path(find_busybox()), _libc()
    shared = libc.parent / "libc.so"
    version = re.search(rb"\0(\d+\.\d+\.\d+)\0", shared.read_bytes()) if shared.is_file() else None
    return {
        "compiler": compiler(),
        "busybox": f"{_said(str(busybox)).partition(' multi-call')[0]}, {_short_digest(busybox)}",
        "libc": f"musl {version[1].decode() if version else 'of an unknown version'}, {_short_digest(libc)}",
    }


def compiler() -> str:
    """The host's, in its own words; "" where there is none."""
    return _said("gcc", "--version")


def _libc() -> Path:
    """What musl-gcc links programs with; the linker tells, since the compiler would name the host's own."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "main.c"
        source.write_text("int main(void) { return 0; }\n")
        said = _all_said("musl-gcc", "-static", str(source), "-o", f"{folder}/main", "-Wl,--trace")
    found = re.search(r"[^\s()]*/libc\.a", said)
    return Path(found[0] if found else "")


def _said(*command: str) -> str:
    """The first line that @command prints; "" where it is not there."""
    return (_all_said(*command).splitlines() or [""])[0]


def _all_said(*command: str) -> str:
    try:
        return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False).stdout
    except OSError:
        return ""


def _short_digest(path: Path) -> str:
    return f"sha256 {hashlib.sha256(path.read_bytes()).hexdigest()[:16]}" if path.is_file() else "no file"


@cache
def sources_digest() -> str:
    """Everything of this checkout and of its tools that decides what a run counts, but for the configuration: as it was
    when this process first asked."""
    return _sources_now()


def _sources_now() -> str:
    parts = [
        digest_of(TOP / name for name in (*SOURCES, *MAKERS)),
        digest_of([Path(find_busybox())]),
        *tools().values(),
        *(f"{name}={value}" for name in MAKE_TAKES if (value := os.environ.get(name))),
    ]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def check_sources(doing: str) -> None:
    """LabError where the sources are no longer those of sources_digest(). @doing: what went on meanwhile."""
    if _sources_now() != sources_digest():
        raise LabError(
            f"sources of this checkout have changed while {doing}. What that came to is thrown away, what was recorded"
            " before stays: give the same command again, and leave the sources as they are until it ends"
        )


@dataclass(frozen=True)
class Choice:
    """A kernel to build: how make is told, and the configuration that comes of it."""

    defconfig: str
    settings: tuple[str, ...]
    config: str  # as .config lines; "": nothing, since Debian's Linux is what runs

    @property
    def build_key(self) -> str:
        lines = [line for line in self.config.splitlines() if not line.startswith("CONFIG_CMDLINE=")]
        return _key(sources_digest(), *lines)

    @property
    def key(self) -> str:
        return _key(sources_digest(), self.config)


LINUX = Choice("", (), "")


def _key(*parts: str) -> str:
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


def missing(choices: Iterable[Choice]) -> list[Choice]:
    """One of each build that is not there yet, in an order in which neighbours have much in common.

    Another function or structure rebuilds the files of its cache, any other setting the whole kernel."""
    wanted = {choice.build_key: choice for choice in choices if choice != LINUX and not _built(choice).exists()}

    def order(choice: Choice) -> tuple[list[str], str]:
        lines = [line for line in choice.config.splitlines() if not line.startswith("CONFIG_CMDLINE=")]
        return [line for line in lines if not OF_ONE_CACHE.match(line)], choice.config

    return sorted(wanted.values(), key=order)


def prepare(choices: Iterable[Choice], tell: Callable[[int, int, Choice], None]) -> dict[Choice, Path]:
    """The build folder of each of @choices, built where it is not there. @tell: called before each build.

    Waits for another sweep that builds. One kernel at a time is built under the lock, so that two take turns."""
    choices = list(dict.fromkeys(choices))
    folder().mkdir(parents=True, exist_ok=True)
    needed = missing(choices)
    for number, choice in enumerate(needed):
        tell(number, len(needed), choice)
        with _working() as work:
            if not _built(choice).exists():  # another sweep may have built it meanwhile
                _build(choice, work)
    if not _programs().exists():
        with _working() as work:
            _make(work, "the programs were built", (), "default", ("user",))
            _keep(work / "user", _programs())
    folders = {choice: _laid_out(choice) for choice in choices}
    _tidy()
    return folders


@contextlib.contextmanager
def _working() -> Iterator[Path]:
    """The build folder for all, to oneself. $CW_OUTPUT names it meanwhile."""
    before = {name: os.environ.get(name) for name in ("CW_OUTPUT", "CW_BUILD")}
    os.environ["CW_OUTPUT"] = str(folder() / "work")
    os.environ.pop("CW_BUILD", None)
    try:
        with build_lock():
            yield folder() / "work"
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _make(
    work: Path, doing: str, settings: tuple[str, ...], defconfig: str, goals: tuple[str, ...] = ()
) -> None:  # fmt: skip
    """build() in @work. LabError where the sources have changed since they were planned with: then @work is empty, since an
    object that was compiled of what a file said before is newer than the file."""
    build(settings, defconfig, quiet=True, goals=goals)
    try:
        check_sources(doing)
    except LabError:
        for path in work.iterdir():
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            elif path.name != ".lock":  # which is held
                path.unlink()
        raise


def _build(choice: Choice, work: Path) -> None:
    name = choice.defconfig or "default"
    _make(work, f"{name} was built", choice.settings, name)
    if config_file().read_text() != choice.config:
        raise LabError(f"{name}: the configuration has changed meanwhile: start again")
    with _new(_built(choice)) as new:
        for file in ("chainwalk", "chainwalk.stripped", "chainwalk.map"):
            shutil.copyfile(work / file, new / file)
    if not _programs().exists():
        _keep(work / "user", _programs())


def _built(choice: Choice) -> Path:
    return folder() / f"built-{choice.build_key}"


@cache
def _programs() -> Path:
    return folder() / f"user-{_key(digest_of(TOP / name for name in PROGRAM_SOURCES))}"


def _keep(source: Path, target: Path) -> None:
    with _new(target) as new:
        shutil.copytree(source, new, dirs_exist_ok=True)


@contextlib.contextmanager
def _new(target: Path) -> Iterator[Path]:
    """A folder that becomes @target when the block ends well, and nothing otherwise."""
    made = Path(tempfile.mkdtemp(prefix=".new-", dir=target.parent))
    try:
        yield made
        made.chmod(0o755)
        with contextlib.suppress(OSError):  # another sweep was quicker: the same content
            made.rename(target)
    finally:
        shutil.rmtree(made, ignore_errors=True)


def _laid_out(choice: Choice) -> Path:
    """The build folder for ./cw run."""
    target = folder() / choice.key
    if not target.exists():
        (folder() / "images").mkdir(exist_ok=True)
        with _new(target) as new:
            if choice != LINUX:
                (new / config_file().name).write_text(choice.config)
                for name in ("chainwalk", "chainwalk.map", kernel_image().name):
                    os.link(_built(choice) / name, new / name)
            (new / "user").symlink_to(_programs())
            (new / "images").symlink_to(folder() / "images")
    for used in (target, _programs(), *([_built(choice)] if choice != LINUX else [])):
        os.utime(used)
    return target


def _tidy() -> None:
    """The longest unused builds go away."""
    found = [path for path in folder().iterdir() if path.name not in ("work", "images") and path.is_dir()]
    for old in sorted(found, key=lambda path: path.stat().st_mtime, reverse=True)[KEPT * 2 :]:
        shutil.rmtree(old, ignore_errors=True)
