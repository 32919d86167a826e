"""Experiment files: where they lie, what tables they have, and where in them a fault is."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

from lab.base.paths import TOP, LabError
from lab.sweep.toml import like
from lab.sweep.toml.lines import Path as Place
from lab.sweep.toml.lines import line_numbers, line_of

FOLDER = TOP / "experiments"


def read(path: Path) -> str:
    """The text of an experiment's file."""
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise LabError(f"{path}: cannot be read: {error}") from None


def find(name: str | Path) -> Path:
    """The file of an experiment that is given by name or by path."""
    path = Path(name)
    if path.suffix == ".toml":
        if not path.exists():
            raise LabError(f"there is no file {path}")
        return path
    if not (FOLDER / f"{name}.toml").exists():
        there = "\n".join(f"  {file.stem}" for file in sorted(FOLDER.glob("*.toml")))
        raise LabError(f"no experiment '{name}' in experiments/. There are:\n{there}")
    return FOLDER / f"{name}.toml"


def like_of(path: Path) -> str:
    """The experiment whose tables complete those of @path; "": it says all itself."""
    return str(_toml(read(path), path).get("like", ""))


def _toml(text: str, path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        match = re.search(r"\(at line (\d+), column \d+\)", str(error))
        where, what = (match[1], str(error).replace(match[0], "").strip()) if match else ("1", str(error))
        raise LabError(f"{path}:{where}: this is no TOML: {what}") from None


def tables(text: str, path: Path) -> dict[str, Any]:
    """What @text says, completed by the experiment that it is like."""
    given = _toml(text, path)
    if faults := like.misshapen(given):
        raise located(path, text, [((key,), what) for key, what in faults.items()])
    if "like" not in given:
        return given
    try:
        other = find(str(given["like"]))
        theirs = _toml(read(other), other)
    except LabError as error:
        raise located(path, text, [(("like",), str(error))]) from None
    if "like" in theirs:
        what = f"'{given['like']}' is itself like another one: name one that says all"
        raise located(path, text, [(("like",), what)])
    return like.completed(given, theirs)


def located(path: Path, text: str, faults: list[tuple[Place, str]]) -> LabError:
    """All @faults as one error: `file:line: table: what is wrong, what is allowed`."""
    numbers = line_numbers(text)
    lines = sorted({(line_of(numbers, place), f"{_spoken(place)}{what}") for place, what in faults})
    return LabError("\n".join(f"{path}:{line}: {what}" for line, what in lines))


def _spoken(place: Place) -> str:
    words = [str(word) for word in place if not isinstance(word, int)]
    return f"{'.'.join(words)}: " if words else ""
