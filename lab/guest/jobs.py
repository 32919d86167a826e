"""The jobs of lab/jobs: real programs at real work, for ./cw diff --job, ./cw bench --against linux --job and the tests.

A job is a bash script that prints what its programs said and the whole tree that they left, in the folder $WORK. Its
head says what it needs: `# packages: NAMES`; `# source: URL SHA256`, an archive that it finds as /jobs/source.tar.gz;
`# ignore: PATTERNS` of files that hold times or process numbers and so differ from run to run.
"""

from __future__ import annotations

import hashlib
import os
import re
import urllib.error
import urllib.request
from dataclasses import dataclass
from pathlib import Path

from lab.base.paths import TOP, LabError, cache_folder

FOLDER = TOP / "lab/jobs"
COMMON = FOLDER / "common.sh"


@dataclass(frozen=True)
class Job:
    """One script."""

    name: str
    path: Path
    packages: tuple[str, ...]
    ignored: tuple[str, ...]
    source: tuple[str, ...]  # a URL and a checksum, or nothing

    def added(self) -> list[str]:
        """What lies in the guest's /jobs for it, as --add has it."""
        add = [f"{COMMON}:/jobs/common.sh", f"{self.path}:/jobs/{self.path.name}"]
        if self.source:
            add.append(f"{self.fetched()}:/jobs/source.tar.gz")
        return add

    def fetched(self) -> Path:
        """The archive of its source, got once and checked."""
        url, checksum = self.source
        archive = cache_folder() / url.rpartition("/")[2]
        if not archive.exists():
            try:
                with urllib.request.urlopen(url, timeout=60) as answer:
                    data = answer.read()
            except urllib.error.URLError as error:
                raise LabError(f"{url}: {error.reason}") from None
            if hashlib.sha256(data).hexdigest() != checksum:
                raise LabError(f"{url} is not what it was (its SHA-256 should be {checksum})")
            archive.parent.mkdir(parents=True, exist_ok=True)
            new = archive.with_name(f".new-{os.getpid()}")
            new.write_bytes(data)
            new.replace(archive)
        return archive


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
    return Job(name, path, *(_words(text, word) for word in ("packages", "ignore", "source")))
