"""The README's worked example, followed to the letter in a copy of the checkout."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from lab.base import offspring
from lab.base.paths import TOP, output_folder
from lab.run.demo import project_files

BLOCK = re.compile(r"^```(\w*) ?(\S*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(section: str) -> list[tuple[str, str, str]]:
    """(language, file, text) of each fenced block under a heading."""
    text = (TOP / "README.md").read_text()
    body = text.split(f"\n## {section}\n", 1)[1].split("\n## ", 1)[0]
    return [(language, name, content) for language, name, content in BLOCK.findall(body)]


@pytest.fixture(scope="module")
def checkout(tmp_path_factory) -> Path:
    """The project's files with their times, the Python environment that is there, and the kernel that stands, as after `make run`."""
    copy = tmp_path_factory.mktemp("readme") / "chainwalk"
    for path in project_files():
        target = copy / path.relative_to(TOP)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(path, target)
    (copy / ".venv").symlink_to(TOP / ".venv")
    built = Path("build/default")
    if output_folder().resolve() == TOP / built:  # what make has of it holds the folder's name
        others = shutil.ignore_patterns("images", "runs", "fuzz", "hash-tests", "on-linux", "*.lock", "*.so*", "test.*")
        shutil.copytree(TOP / built, copy / built, symlinks=True, ignore=others)
    return copy


def in_shell(script: str, folder: Path) -> str:
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("CW_", "MAKE", "MFLAGS"))}
    shell = ["bash", "-e", "-c", script]
    result = offspring.run(shell, timeout=900, cwd=folder, env=environment, stdin=subprocess.DEVNULL, text=True)
    assert result.returncode == 0, f"{script}\n{result.stdout[-3000:]}\n{result.stderr[-3000:]}"
    return result.stdout


def test_a_hash_function_in_five_minutes(checkout):
    """The files are written, the commands run; what the text says of the outcome is so.

    Which pages of busybox are read is settled by its code and by how many a fault reads around it, not by time: a
    figure far from the text's means that one of the two has changed, and the text is to be measured again.
    """
    printed, said = [], []
    for language, name, content in blocks("Add a hash function in five minutes"):
        if language == "c":
            (checkout / name).write_text(content)
        elif language == "sh":
            printed.append(in_shell(content, checkout))
        elif language == "text":
            said.append(content)
    first, second = printed
    assert re.search(r"^  mine ", first, re.MULTILINE), "./cw list does not name the new function"
    (before, after), (said_before, _) = (
        [int(re.search(r"largest bucket contains (\d+) pages", text)[1]) for text in texts] for texts in (printed, said)
    )
    assert abs(before - said_before) <= said_before / 10, f"{before} pages in one bucket, and README says {said_before}"
    assert after <= 3, after
    assert " hash function: mine," in first and " hash function: mine," in second


# What takes minutes is shown, or done as short as can be: tests of its own have the whole.
SHORTER = {
    "./cw bench boot": "./cw bench --help",
    "./cw bench native": "./cw bench native --rounds 2 --ms 1",
    "--against linux": "--against linux --row getppid",
}
# What must be among what some of them print, or which file they must leave.
PRINTED = {"busybox ls": "busybox", "--against linux": "ratio"}
LEFT = {"--stats stats.json": "stats.json", "--flame find.svg": "find.svg"}


def commands() -> list[str]:
    (block,) = blocks("Your own programs")
    return [line.partition("  #")[0].strip() for line in block[2].splitlines()]


@pytest.mark.turns(12)
@pytest.mark.parametrize("command", commands())
def test_commands_for_your_own_programs(checkout, command):
    script = command
    for whole, shorter in SHORTER.items():
        script = script.replace(whole, shorter)
    printed = in_shell(script, checkout)
    for words, expected in PRINTED.items():
        assert words not in command or expected in printed
    for words, name in LEFT.items():
        assert words not in command or (checkout / name).stat().st_size > 1000


def test_every_command_is_tested_and_what_it_must_do_is_of_one():
    assert len(commands()) > 12
    for words in (*SHORTER, *PRINTED, *LEFT):
        assert sum(words in command for command in commands()) == 1, words


def test_a_changed_header_is_noticed_whoever_builds(checkout):
    """make with its own output folder, then as ./cw calls it: nothing to do; a changed function: its cache alone."""
    in_shell("make kernel", checkout)  # nothing to do, either, if what stands was copied
    again = "make O=$PWD/build/default kernel"
    assert in_shell(again, checkout) == ""
    in_shell("touch hash/any/fibonacci.h", checkout)
    rebuilt = re.findall(r"CC +(\S+\.c)", in_shell(again, checkout))
    assert "mm/cache/page_cache.c" in rebuilt and len(rebuilt) < 30, rebuilt
