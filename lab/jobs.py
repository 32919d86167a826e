"""The jobs of lab/jobs: real programs at real work, for ./cw diff --job and ./cw bench --against linux --job.

A job is a shell script whose head says what it needs: `# packages: NAMES`, and `# ignore: PATTERNS` of files that
hold times or process numbers and so differ from run to run.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path

from lab.machine import Options
from lab.paths import TOP, LabError

FOLDER = TOP / "lab/jobs"


@dataclass(frozen=True)
class Job:
    """One script."""

    name: str
    path: Path
    packages: tuple[str, ...]
    ignored: tuple[str, ...]

    def options(self, options: Options) -> Options:
        """@options with this job to run."""
        there = f"/usr/local/share/{self.path.name}"
        packages = sorted({*options.packages, *self.packages})
        add = [*options.add, f"{self.path}:{there}"]
        return replace(options, packages=packages, add=add, job=["sh", there])


def _words(text: str, name: str) -> tuple[str, ...]:
    found = re.search(rf"^# {name}: (.*)$", text, re.MULTILINE)
    return tuple(found[1].split()) if found else ()


def names() -> list[str]:
    """The jobs that say what they need (the demo runs on a tree of its own)."""
    return sorted(path.stem for path in FOLDER.glob("*.sh") if _words(path.read_text(), "packages"))


def find(name: str) -> Job:
    if name not in names():
        raise LabError(f"no job '{name}' in lab/jobs. There are: {', '.join(names())}")
    path = FOLDER / f"{name}.sh"
    text = path.read_text()
    return Job(name, path, _words(text, "packages"), _words(text, "ignore"))
