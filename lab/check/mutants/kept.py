"""What a mutant is, and those that are kept: tests/mutants/NAME.patch.

A patch begins with free text: what it plants, a line "room: mm" and lines "caught by: ..." - pytest's arguments
("tests/hosted/test_hosted.py -k smoke"), or a command that must end with a status other than 0 ("$ ./cw ..."),
or several, with commas between. They are tried in this order.
A patch mend-NN-NAME takes a mend out again.
"""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from lab.base.paths import TOP, LabError
from lab.check.mutants.rooms import room_of

FOLDER = TOP / "tests" / "mutants"


@dataclass(frozen=True)
class Mutant:
    name: str
    room: str
    what: str  # in a line
    patch: str
    caught_by: tuple[str, ...] = field(default=())  # (): the tests of its room
    kept: bool = False

    @property
    def files(self) -> list[str]:
        return changed_files(self.patch)

    @property
    def digest(self) -> str:
        return hashlib.sha256("\n".join([self.patch, *self.caught_by]).encode()).hexdigest()[:16]


def changed_files(patch: str) -> list[str]:
    return re.findall(r"^\+\+\+ [ab]/(\S+)", patch, re.MULTILINE)


def read_patch(path: Path) -> Mutant:
    """The mutant of one file. What its text does not say is found in the patch: the room by the file it changes."""
    text = path.read_text()
    head = re.split(r"^(?:diff |--- )", text, maxsplit=1, flags=re.MULTILINE)[0]
    changed = changed_files(text)
    if not changed:
        raise LabError(f"{path}: there is no patch in it")
    room = re.search(r"^room: *(\S+)", head, re.MULTILINE)
    lines = re.findall(r"^caught by: *(.+)", head, re.MULTILINE)
    caught = [part.strip() for line in lines for part in re.split(r",\s+(?=tests/|\$)", line)]
    prose = [line for line in head.splitlines() if line.strip() and not re.match(r"(room|caught by):", line)]
    return Mutant(
        name=path.stem,
        room=room[1].rstrip(".,") if room else room_of(changed[0]),
        what=prose[0].strip() if prose else f"changes {changed[0]}",
        patch=text,
        caught_by=tuple(caught),
        kept=True,
    )


def kept_mutants(folder: Path = FOLDER) -> list[Mutant]:
    return [read_patch(path) for path in sorted(folder.glob("*.patch"))]


def git_apply(tree: Path, patch: str, *options: str) -> str:
    """Apply @patch to @tree, which need not be a repository: "" or what git says."""
    environment = {**os.environ, "GIT_CEILING_DIRECTORIES": str(tree.parent)}
    done = subprocess.run(
        ["git", "apply", *options, "-"], cwd=tree, env=environment, input=patch, capture_output=True, text=True, check=False
    )  # fmt: skip
    return "" if done.returncode == 0 else done.stderr.strip() or "git apply failed"
