"""What ./cw lab does: hand out a lab, set a course up, show a solution to who has a key."""

from __future__ import annotations

import shutil
from pathlib import Path

from lab.base.paths import LabError
from lab.course import keys, labs

KEY_FILE = "course.key"


def start(number: str, folder: Path) -> list[Path]:
    """Copy lab @number's starter into @folder, made where it is not there; what is there is never overwritten."""
    lab = labs.find(number)
    files = sorted(path for path in (lab.folder / "starter").rglob("*") if path.is_file())
    targets = [folder / path.relative_to(lab.folder / "starter") for path in files]
    there = [str(path) for path in targets if path.exists() or path.is_symlink()]
    if there:
        raise LabError(f"{', '.join(there)} is there already and stays as it is: take another folder")
    made: list[Path] = []
    try:
        for path, target in zip(files, targets, strict=True):
            target.parent.mkdir(parents=True, exist_ok=True)
            with path.open("rb") as source, target.open("xb") as out:
                made.append(target)
                shutil.copyfileobj(source, out)
    except BaseException as error:  # half a starter would be in the way of the next one
        for target in made:
            target.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise LabError(f"{error.filename or folder}: {error.strerror}") from None
        raise
    return targets


def setup_course(folder: Path) -> Path:
    """The key file of a new course, in @folder."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise LabError(f"{folder}: {error.strerror}") from None
    path = folder / KEY_FILE
    keys.make(path)
    return path


def solution(number: str, key: Path) -> str:
    """A solution of lab @number with the teacher's notes, for who has a key file."""
    lab = labs.find(number)
    keys.load(key)
    parts = [(lab.folder / "teacher.md").read_text(encoding="utf-8")]
    for path in sorted((lab.folder / "solution").iterdir()):
        parts.append(f"---- {path.name} ----\n\n{path.read_text(encoding='utf-8')}")
    return "\n".join(parts)
