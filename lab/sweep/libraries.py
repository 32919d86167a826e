"""What a program of this host consists of beside its own file: the shared libraries that it is loaded with.

A program that is linked dynamically is not known by the hash of its file: most of what it does may be its libraries'.
libraries() has the hash of each, which belongs to what determines a run; system() says in words what they are: Debian's
packages with their versions, and the kernel that all of it runs on.

Known limits: what a program opens while it runs (dlopen), and what a script starts, is not seen.
"""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from lab.base.paths import LabError

ELF = b"\x7fELF"
LOADED = re.compile(r"^\s*(?:\S+ => )?(/\S+) \(0x[0-9a-f]+\)$", re.MULTILINE)
LACKING = re.compile(r"^\s*(\S+) => not found$", re.MULTILINE)
OWNER = re.compile(r"^([^\s:,]+(?::\w+)?)(?:, .*)?: (/.*)$", re.MULTILINE)  # of dpkg's answer
NOT_THERE = "not found"


def libraries(programs: Iterable[Path]) -> dict[str, str]:
    """The SHA-256 of each shared library that one of @programs is loaded with, by the library's name; NOT_THERE of one that
    is missing. Of what is no ELF file, or not there, nothing. LabError: there is no ldd."""
    found: dict[str, str] = {}
    for program in programs:
        said = _loaded(program)
        found |= dict.fromkeys(LACKING.findall(said), NOT_THERE)
        for path in LOADED.findall(said):
            found[Path(path).name] = hashlib.sha256(Path(path).read_bytes()).hexdigest()
    return dict(sorted(found.items()))


def system(programs: Iterable[Path]) -> dict[str, Any]:
    """In words: the `kernel` of this host, and the `packages` that the libraries of @programs are of, NAME=VERSION; of a library
    that is of none, its name. LabError: there is no ldd."""
    paths = sorted({path for program in programs for path in LOADED.findall(_loaded(program))})
    owners = _owners(paths)
    strange = [f"{Path(path).name} of no package" for path in paths if path not in owners]
    return {"kernel": os.uname().release, "packages": [*_versions(set(owners.values())), *strange]}


def _loaded(program: Path) -> str:
    """What ldd says of @program; "" of what is no program for it."""
    try:
        with program.open("rb") as file:
            if file.read(len(ELF)) != ELF:
                return ""
    except OSError:
        return ""
    try:
        return _said("ldd", str(program))
    except OSError:
        raise LabError("ldd is missing, which says what libraries a program has: install libc-bin") from None


def _owners(paths: list[str]) -> dict[str, str]:
    """The package of each of @paths that is of one. dpkg may know a file below /usr by its path without that, or the other way round."""
    names = {name: path for path in paths for name in _names(path)}
    try:
        said = _said("dpkg", "-S", *names) if names else ""
    except OSError:  # no Debian
        return {}
    return {names[path]: package for package, path in OWNER.findall(said) if path in names}


def _names(path: str) -> set[str]:
    real = str(Path(path).resolve())
    return {name for one in (path, real) for name in (one, one.removeprefix("/usr"), f"/usr{one.removeprefix('/usr')}")}


def _versions(packages: set[str]) -> list[str]:
    if not packages:
        return []
    said = _said("dpkg-query", "-W", "-f", "${Package}=${Version}\n", *sorted(packages))
    return sorted(set(said.splitlines()))


def _said(*command: str) -> str:
    """What @command prints, whatever its status. OSError: it is not there."""
    environment = {**os.environ, "LC_ALL": "C"}
    return subprocess.run(command, capture_output=True, text=True, env=environment, check=False).stdout
