"""The commands of all other pages of the book: those of the chapters are test_book_commands.py's.

Each is run as it stands (RUN, IN_TURN, BOOTED), or another test runs it (ELSEWHERE), or it is made sure of without: make has
what it asks for, or, where it begins with ./cw, the command's own parser takes its words, and settings, experiments, images and
simulated machines in them are some that there are.
"""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path
from typing import Any

import pytest
import typer.main

from lab.base.paths import TOP, output_folder
from lab.book.order import CONTENTS, parts
from lab.build.configure import configure
from lab.cli.root import app
from lab.course import labs
from lab.guest import workloads
from lab.run.cachesim.several import is_several, parse_machine
from lab.run.cachesim.specification import parse_specification
from lab.run.qemu.disks import disk_option
from lab.sweep.experiment import load
from tests.booted.machine.test_readme import commands as own_programs
from tests.lab.book.test_book_commands import CHAPTERS, commands, in_shell

PAGES = [
    page
    for page in dict.fromkeys(["README.md", CONTENTS, *(page for part in parts() for page in part.pages)])
    if TOP / page not in CHAPTERS
]
# A second or two each; in a folder that has what they are said to be given.
RUN = [
    r"\./cw (packages|list( \w+)?)",
    r"(KCFLAGS=\S+ )?\./cw hashcost --cache .*",
    r"\./cw replay job\.keys --cache page .*",
    r"echo 'deb .*' > debian\.list",
]
IN_TURN = [r"\./cw replay job\.keys( --cache dentry .*)?", r"\./cw hashcost .* --json"]  # up to ten seconds
# A machine, and often a kernel to be built: up to minutes. But none that names a version, which the archive may have no more.
BOOTED = [
    r"\./cw run (?!.*(linux|tcc)=).*",
    r"\./cw (record|diff --) .*",  # of two diffs one takes minutes, and one finds that they list in other orders
    r"\./cw bench --against linux --row .*",
    r"\./cw bench native --row .*",
    r"\./cw replay job\.keys --cache buffer .*",
    r"\./cw keys --files .*",
    r"\./cw playground --output .*",
    r"\./cw grade 1 mine\.h( --seed 7)?",
]
MAKE = r"make (run|test|torture|-f hosted/powercut/powercut\.mk)\b.*"  # what it would do
# What another test has: of which pages, which commands; its file, its name, and what in the file says so.
FOLLOWED = "test_a_labs_steps_can_be_followed_to_the_letter"
README, POWERCUT = "tests/booted/machine/test_readme.py", "tests/hosted/test_powercut.py"
OWN = [command for command in own_programs() if not command.startswith("./cw list")]
ELSEWHERE = [
    (r"docs/labs/2-.*", r".*", "tests/lab/grade/lab2/test_text.py", FOLLOWED.replace("a_lab", "the_lab"), 'followed("2"'),
    (r"docs/labs/.*", r".*", "tests/lab/grade/test_texts.py", FOLLOWED, "follow(number"),
    (r"README\.md", r"(sed|.* PAGE_HASH=mine) .*", README, "test_a_hash_function_in_five_minutes", "Add a hash function in five minutes"),
    (r".*", "|".join(map(re.escape, OWN)), README, "test_commands_for_your_own_programs", '"Your own programs"'),
    (r".*/durability\.md", r"build/.* --script .*", POWERCUT, "test_cuts_of", '"--script"'),
    (r".*/durability\.md", r"build/.* --together .*", POWERCUT, "test_calls_at_the_same_time", '"--together"'),
    (r".*/durability\.md", r"build/.* --minutes .*", POWERCUT, "test_scripts_of_three_calls", "powercut --minutes"),
]  # fmt: skip
FILES = {"job.keys": "lab/playground/streams/find.keys"}  # what is there, of those that the pages name
KNOWN: Any = typer.main.get_command(app)
ALL = [(page, command) for page in PAGES for command, _ in commands((TOP / page).read_text().replace("\\\n", " "))]


def elsewhere(page: str, command: str) -> tuple[str, str, str] | None:
    found = (row[2:] for row in ELSEWHERE if re.fullmatch(row[0], page) and re.fullmatch(row[1], command))
    return next(found, None)


def run_here(patterns: list[str]) -> list[str]:
    """The commands that one of @patterns names, and no other test has."""
    mine = {command for page, command in ALL if not elsewhere(page, command)}
    return sorted(command for command in mine if any(re.fullmatch(pattern, command) for pattern in patterns))


def simple_commands(line: str) -> list[list[str]]:
    """The words of each command of a line of shell that has no more than A=B before it, ";", "|" and "> file"."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars=";|&<>")
    lexer.whitespace_split, lexer.commenters = True, ""
    found: list[list[str]] = [[]]
    words = iter(lexer)
    for word in words:
        if word in (">", "<"):
            next(words)
        elif set(word) <= set(";|&"):
            found.append([])
        elif found[-1] or not re.match(r"[A-Z_]+=", word):
            found[-1].append(word)
    return found


def check_cw(words: list[str], folder: Path) -> None:
    """Raises an error of the parser, of the build's settings, or of what the lab knows by name."""
    command, name, *rest = KNOWN, *words
    while name:
        command = command.commands[name]
        name, rest = (rest[0], rest[1:]) if hasattr(command, "commands") else ("", rest)
    given = command.make_context("cw", list(rest)).params
    if given.get("settings") or given.get("defconfig"):
        configure(folder, defconfig=given.get("defconfig") or None, settings=given.get("settings") or ())
    for experiment in given.get("experiment") or ():
        assert load(experiment).name == experiment
    disk_option(given.get("disk_model") or "none")
    if machine := given.get("cache_sim"):
        (parse_machine if is_several(machine) else parse_specification)(machine)
    if image := given.get("image"):
        assert image in workloads.names()


def problems(page: str, command: str, folder: Path) -> str:
    """Why a command that is not run would not do what it says, or has no test at all."""
    if there := elsewhere(page, command):
        text = (TOP / there[0]).read_text() if (TOP / there[0]).is_file() else ""
        return "" if f"def {there[1]}(" in text and there[2] in text else f"not in {there[0]}: {there[1:]}"
    if re.fullmatch(MAKE, command):
        lost = [
            path
            for path in re.findall(r"TESTS=(\S+)", command)
            if not path.startswith("tests/") or not (TOP / path).exists()
        ]
        return f"no tests: {lost}" if lost else ""
    for words in simple_commands(command):
        if words[:1] != ["./cw"]:
            return "it is neither run, nor taken, nor named with its test"
        try:
            check_cw(words[1:], folder)
        except (Exception, SystemExit) as error:
            return f"{type(error).__name__}: {getattr(error, 'message', error)}"
    return ""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """What is in the folder of somebody who follows a page: the command, and a stream that was recorded."""
    place = tmp_path_factory.mktemp("follower")
    (place / "cw").symlink_to(TOP / "cw")
    for name, target in FILES.items():
        (place / name).symlink_to(TOP / target)
    return place


@pytest.mark.parametrize("command", run_here(RUN))
def test_a_command_that_is_short_runs(command, folder):
    in_shell(command, folder)


@pytest.mark.turns(4)
@pytest.mark.parametrize("command", run_here(IN_TURN))
def test_a_command_of_some_seconds_runs(command, folder):
    in_shell(command, folder)


@pytest.mark.turns(30)
@pytest.mark.long
@pytest.mark.parametrize("command", run_here(BOOTED))
def test_a_command_that_boots_runs(command, tmp_path, monkeypatch):
    """In a folder of its own, which has what the page says that there is, and with a kernel of its own: some ask for rooms
    that the default kernel, which other tests boot meanwhile, has not."""
    monkeypatch.setenv("CW_OUTPUT", f"{output_folder()}-pages")
    (tmp_path / "cw").symlink_to(TOP / "cw")
    swap = "lab/playground/streams/swap.sh"
    (tmp_path / swap).parent.mkdir(parents=True)
    for name, source in (*FILES.items(), ("mine.h", "coursework/lab1/solution/mine.h"), (swap, swap)):
        shutil.copy(TOP / source, tmp_path / name)
    with (tmp_path / "FILE").open("wb") as disk:
        disk.truncate(64 << 20)
    in_shell(command, tmp_path, seconds=1200)


def test_every_other_command_is_taken_or_has_a_test_of_its_own(tmp_path):
    here = run_here(RUN + IN_TURN)
    others = [(page, command) for page, command in ALL if elsewhere(page, command) or command not in here]
    wrong = {(page, command): why for page, command in others if (why := problems(page, command, tmp_path))}
    assert not wrong


def test_make_has_what_the_pages_ask_of_it():
    asked = sorted({command for _, command in ALL if re.fullmatch(MAKE, command)})
    assert len(asked) >= 5
    for command in asked:
        in_shell(command.replace("make ", "make -n ", 1))


def test_the_program_of_power_cuts_has_the_options_that_are_shown():
    source = (TOP / "hosted/powercut/main.c").read_text()
    shown = {
        option for _, line in ALL if line.startswith("build/hosted/powercut") for option in re.findall(r"--(\w+)", line)
    }
    assert len(shown) >= 5 and all(f'"{option}"' in source for option in shown), shown


def test_no_page_and_no_pattern_is_left_over():
    assert len(PAGES) > 40 and {page for page, _ in ALL} > {"README.md", "docs/lab/linux.md", "docs/lab/packages.md"}
    assert {labs.find(number).text for number in labs.numbers()} < {page for page, _ in ALL}
    assert all(run_here([pattern]) for pattern in [*RUN, *IN_TURN, *BOOTED, MAKE])
    for row in ELSEWHERE:
        assert any(elsewhere(page, command) == row[2:] for page, command in ALL), row


@pytest.mark.parametrize(
    ("command", "why"),
    [
        ("./cw run --icount -- ls", ""),
        ("./cw run --icont -- ls", "No such option"),
        ("./cw rum -- ls", "KeyError"),
        ("./cw run --set DENTRY_LOCK=gone -- ls", "gone"),
        ("./cw run --defconfig gone -- ls", "gone"),
        ("./cw run --disk-model gone -- ls", "gone"),
        ("./cw run --cache-sim gone -- ls", "gone"),
        ("./cw run --image gone -- ls", "Assertion"),
        ("A=b ./cw sweep ladder; ./cw report gone > all.txt", "gone"),
        ("./cw sweep ladder && rm -r x", "neither run"),
        ("cat mine.h", "neither run"),
        ("make test TESTS=hosted/powercut", "no tests"),
    ],
)
def test_a_wrong_command_is_noticed(tmp_path, command, why):
    found = problems("docs/lab/linux.md", command, tmp_path)
    assert why in found and bool(why) == bool(found)
