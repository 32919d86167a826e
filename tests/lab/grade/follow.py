"""A lab's text, followed to the letter: its commands run in a copy of the checkout, and what they print is what the text says."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

from lab.base import offspring
from lab.base.paths import TOP
from lab.course import labs
from lab.run.demo import project_files

BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(number: str) -> list[tuple[str, str]]:
    """The language and the text of each."""
    return BLOCK.findall((TOP / labs.find(number).text).read_text())


def copy_of_checkout(folder: Path) -> Path:
    for path in project_files():
        if path.relative_to(TOP).parts[0] not in ("tests", "results", "experiments"):
            (folder / path.relative_to(TOP)).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, folder / path.relative_to(TOP))
    (folder / ".venv").symlink_to(TOP / ".venv")
    return folder


def run(script: str, where: Path, home: Path, **environment: str) -> str:
    """What it prints, as one sees it. It has to end well."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("CW_", "MAKE", "MFLAGS"))}
    result = offspring.run(
        ["bash", "-e", "-c", script], timeout=600, cwd=where, env={**kept, **environment, "HOME": str(home)},
        stdin=subprocess.DEVNULL, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    assert result.returncode == 0, f"{script}\n{result.stdout[-4000:]}"
    return result.stdout


def check_printed(text: str, printed: str) -> None:
    """Each line of @text begins a line of what was printed; "..." stands for anything."""
    there = [" ".join(line.split()) for line in printed.splitlines()]
    for line in text.splitlines():
        said = ".*".join(map(re.escape, " ".join(line.split()).split("...")))
        assert any(re.match(said, one) for one in there) or not said, f"not printed: {line}\n{printed}"


def followed(number: str, command: Callable[[str], str]) -> None:
    """All of lab @number's text: each block of commands through @command(block) -> what it printed, which the block behind it shows."""
    printed = ""
    for language, block in blocks(number):
        if language == "sh":
            printed = command(block)
        elif language == "text" and printed:
            check_printed(block, printed)


def follow(number: str, folder: Path) -> None:
    """The same in a copy of the checkout, which git knows as it is."""
    copy, home = copy_of_checkout(folder / "chainwalk"), folder / "home"
    home.mkdir()
    author = "-c user.name=student -c user.email=student@example.org"
    run(f"git init -q . && git add -A && git {author} commit -qm 'as it was'", copy, home)
    followed(number, lambda block: run(block, copy, home))
