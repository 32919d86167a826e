"""A copy of the tree to plant bugs in: the user's own is never touched.

It lies in the build folder and stays, so that what has been built there serves the next mutant. At the start it
is made equal to the tree as it stands, changes that are not committed and all; so whatever an interrupted run
has left planted is gone.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lab.base.paths import TOP, LabError
from lab.check.mutants.kept import Mutant, git_apply

SET_UP = ("lab/build/requirements", "lab/build/setup.sh")


def tree_files(top: Path) -> list[str]:
    """All files of the checkout, those not yet added included, those that are ignored not."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    done = subprocess.run(command, cwd=top, capture_output=True, text=True, check=False)
    if done.returncode:
        raise LabError("make mutants works in a checkout of git alone: " + done.stderr.strip())
    return sorted(name for name in set(done.stdout.split("\0")) if name and (top / name).is_file())


class Copy:
    def __init__(self, path: Path, top: Path = TOP) -> None:
        self.path, self.top = path, top
        self.output = path / "build" / "default"
        self.digest = ""  # of all that was copied

    def bring_up_to_date(self) -> None:
        """Make it equal to the tree; a file that is equal already keeps its time, for make."""
        names = tree_files(self.top)
        whole = hashlib.sha256()
        for name in names:
            source, target = self.top / name, self.path / name
            content = source.read_bytes()
            whole.update(name.encode() + b"\0" + content)
            if target.is_file() and not target.is_symlink() and target.read_bytes() == content:
                continue
            target.parent.mkdir(parents=True, exist_ok=True)
            known = target.exists()
            target.write_bytes(content)
            # what was built from the old content is older than the new; the set-up in .venv is the checkout's own
            if known and not name.startswith(SET_UP):
                shutil.copymode(source, target)
            else:
                shutil.copystat(source, target)
        self.digest = whole.hexdigest()[:16]
        self.remove_all_but(set(names))
        environment = self.path / ".venv"
        if not environment.exists():
            environment.symlink_to((self.top / ".venv").resolve())

    def remove_all_but(self, names: set[str]) -> None:
        for folder, folders, files in os.walk(self.path):
            if Path(folder) == self.path:
                folders[:] = [name for name in folders if name not in ("build", ".venv")]
            for name in files:
                file = Path(folder) / name
                if str(file.relative_to(self.path)) not in names and "__pycache__" not in folder:
                    file.unlink()

    @contextmanager
    def planted(self, mutant: Mutant) -> Iterator[str]:
        """With the bug in it; what it gives is "" or why the patch could not be applied."""
        before = {name: (self.path / name).read_bytes() for name in mutant.files if (self.path / name).exists()}
        problem = git_apply(self.path, mutant.patch)
        try:
            yield problem
        finally:
            for name in mutant.files:
                file = self.path / name
                if name not in before:
                    file.unlink(missing_ok=True)
                elif file.read_bytes() != before[name]:
                    file.write_bytes(before[name])
