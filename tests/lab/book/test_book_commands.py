"""The commands of the book's chapters, as they stand there, and what the chapters say that they print.

Each line of an `sh` block of a chapter is run from the top of the checkout, but for those that ACCEPTED names: they take
minutes, or build a kernel or open a window, and tests of their own have them; of these it is tested that the command
line takes them. A block of `text` behind a command is what it prints, with "..." for what is left out; a table behind
a replay or a count of instructions has the program's own figures. The other pages' are test_book_other_pages.py's.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import typer.main

from lab.base import offspring
from lab.base.paths import TOP
from lab.build.configure import configure
from lab.cli.root import app
from lab.sweep.experiment import load

CHAPTERS = sorted(
    path for folder in ("start", "caches", "hashing", "papers") for path in (TOP / "docs" / folder).glob("*.md")
)
PIECE = re.compile(r"^```(sh|text)\n(.*?)^```$|((?:^\|[^\n]*\|\n)+)", re.MULTILINE | re.DOTALL)
NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")
# The first matching pattern says how a command is tested that is not run: by what is run in its place, or by a function.
ACCEPTED = [
    (r"make (run|lines)$", r"make -n \1"),  # minutes; and a make within make
    (
        r"\.venv/bin/python3 -m lab\.check\.links",
        ".venv/bin/python3 -c 'import lab.check.links'",
    ),  # tests/house runs it
    (r"\./cw playground --open", "./cw playground --help"),  # opens a window
    (r"\./cw reproduce (lever|seltzer|tsai).*", r"./cw reproduce --help"),  # a quarter of an hour
    (r"\./cw run .*--set .*", "settings"),  # builds a kernel
    (r"\./cw (report .* --kept --text|sweep .* --full --dry-run)", "experiments"),  # three seconds each
]


def commands(text: str) -> list[tuple[str, list[str]]]:
    """Each command of a page, with what stands behind it before the next one: its output, tables."""
    found: list[tuple[str, list[str]]] = []
    for kind, body, table in PIECE.findall(text):
        if kind == "sh":
            found += [(re.sub(r"\s+# .*", "", line), []) for line in body.splitlines()]
        elif found:
            found[-1][1].append(body or table)
    return found


ALL = [(path, command, behind) for path in CHAPTERS for command, behind in commands(path.read_text())]


def accepted(command: str) -> str | None:
    for pattern, instead in ACCEPTED:
        if re.fullmatch(pattern, command):
            return re.sub(pattern, instead, command)
    return None


def in_shell(command: str, folder: Path = TOP, seconds: float = 300) -> str:
    shell = ["bash", "-e", "-c", command]
    done = offspring.run(shell, timeout=seconds, cwd=folder, stdin=subprocess.DEVNULL, text=True)
    assert done.returncode == 0, f"{command}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"
    return done.stdout


def near(said: str, found: str) -> bool:
    """Two lines that are equal but for numbers, and these by a quarter or by two.

    Where a name or a page falls depends on addresses, and these on how large the kernel is.
    """
    if NUMBER.sub("N", said) != NUMBER.sub("N", found):
        return False
    pairs = zip(*([float(one.replace(",", "")) for one in NUMBER.findall(line)] for line in (said, found)), strict=True)
    return all(abs(a - b) <= max(2, 0.25 * a) for a, b in pairs)


def not_printed(said: str, printed: str) -> list[str]:
    """The lines of a block of text that the program has not printed, in their order."""
    lines, lacking = iter(printed.splitlines()), []
    rest = list(lines)
    for line in said.splitlines():
        if line.strip() == "...":
            continue
        place = next((i for i, one in enumerate(rest) if near(line.rstrip(), one.rstrip())), None)
        if place is None:
            lacking.append(line)
        else:
            rest = rest[place + 1 :]
    return lacking


def wrong_cells(table: str, printed: str) -> list[str]:
    """Numbers in a row of a table that are in none of the program's rows that have the row's names, rounded as there.

    A row's names are its cells in backticks. One that begins with a number of buckets, and has the load behind it, is a
    replay's row of that size; any other is of another origin (chance).
    """
    wrong = []
    for row in table.splitlines()[2:]:
        cells = [cell.strip() for cell in row.strip("|").split("|")]
        names = [match[1] for cell in cells if (match := re.match(r"`([^`]+)`", cell))]
        words = [line.split() for line in printed.splitlines()]
        if names:
            rows = [line for line in words if line[: len(names)] == names]
        elif cells[0].isdigit():
            rows, cells = [line for line in words if line[3:4] == [str(int(cells[0]).bit_length() - 1)]], cells[2:]
        else:
            continue
        there = [float(word.replace(",", "")) for line in rows for word in line if re.fullmatch(r"-?[\d.,]+", word)]
        for cell in cells:
            if re.fullmatch(r"-?[\d.,]+", cell):
                digits = len(cell.partition(".")[2])
                if not any(abs(one - float(cell.replace(",", ""))) <= 0.5 * 10**-digits + 1e-9 for one in there):
                    wrong.append(f"{' '.join(names) or row}: {cell}")
    return wrong


@pytest.mark.parametrize(
    ("command", "behind"),
    [(command, behind) for _, command, behind in ALL if accepted(command) is None],
    ids=[f"{path.stem}-{i}" for i, (path, command, _) in enumerate(ALL) if accepted(command) is None],
)
def test_a_command_does_what_the_chapter_says(command, behind):
    printed = in_shell(command)
    for piece in behind:
        if not piece.startswith("|"):
            assert not not_printed(piece, printed)
        elif command.startswith(("./cw replay", "./cw hashcost")):
            assert not wrong_cells(piece, printed)


def test_a_command_that_takes_long_is_accepted(tmp_path):
    """By its help or what make would do; its settings by the build's own check; options and experiments one by one."""
    known: Any = typer.main.get_command(app)
    for shown, command in {accepted(command) or command: command for _, command, _ in ALL if accepted(command)}.items():
        words = command.split()
        if shown == "settings":
            configure(tmp_path, settings=[words[i + 1] for i, word in enumerate(words) if word == "--set"])
        elif shown != "experiments":
            in_shell(shown)
    for command in {command for _, command, _ in ALL if accepted(command) == "experiments"}:
        name, *words = command.split()[1:]
        options = {option for parameter in known.commands[name].params for option in parameter.opts}
        assert {word for word in words if word.startswith("--")} <= options, command
        assert all(load(word).name == word for word in words if not word.startswith("--")), command


@pytest.mark.turns(4)  # three seconds each
@pytest.mark.parametrize("command", sorted({command for _, command, _ in ALL if accepted(command) == "experiments"}))
def test_a_report_and_a_plan_are_as_the_chapter_says(command):
    assert len(in_shell(command)) > 100


def test_what_a_chapter_reports_is_kept():
    reported = {word for _, command, _ in ALL if "--kept" in command for word in command.split() if "-" in word[1:]}
    names = sorted(word for word in reported if not word.startswith("--"))
    assert names and all((TOP / f"results/{name}.jsonl").stat().st_size > 1000 for name in names)


def test_every_chapter_has_commands():
    assert {path for path, _, _ in ALL} == set(CHAPTERS) and len(CHAPTERS) >= 11


def test_a_wrong_figure_is_noticed():
    printed = (
        "function table word\nfibonacci  chained  64  12  1,134.2  -32.72  740\nmult chained 64 12 15,078.6 121.37"
    )
    head = "| function | z | empty |\n| --- | ---: | ---: |\n"
    assert not wrong_cells(head + "| `fibonacci` | -32.7 | 740 |\n| *chance* | 0 | 9 |\n", printed)
    assert wrong_cells(head + "| `fibonacci` | -32.8 | 740 |\n", printed) == ["fibonacci: -32.8"]
    assert wrong_cells(head + "| `mult` | 121.4 | 740 |\n", printed) == ["mult: 740"]
    assert wrong_cells(head + "| `gone` | 1 | 2 |\n", printed) == ["gone: 1", "gone: 2"]
    assert not wrong_cells(head + "| 4096 | 0.5 | 740 |\n", printed)
    assert wrong_cells(head + "| 4096 | 0.5 | 741 |\n", printed) == ["| 4096 | 0.5 | 741 |: 741"]


def test_other_output_is_noticed():
    printed = "299\nPage cache total lookups: 1384  (hit rate: 57%)\n largest bucket contains 2 pages\n"
    assert not not_printed("299\n ...\n largest bucket contains 3 pages\n", printed)
    assert not_printed("largest bucket contains 2 pages of a file\n", printed)
    assert not_printed(" largest bucket contains 8 pages\n", printed)
    assert not_printed(" largest bucket contains 2 pages\n299\n", printed) == ["299"]


def test_commands_are_found():
    text = "a\n\n```sh\n./cw x   # why\nmake y\n```\n\n```text\nout\n ...\n```\n\n| a |\n| --- |\n| 1 |\n"
    assert commands(text) == [("./cw x", []), ("make y", ["out\n ...\n", "| a |\n| --- |\n| 1 |\n"])]
    assert accepted("make run") == "make -n run" and accepted("./cw list DENTRY_HASH") is None


def test_figures_of_results_are_those_of_the_results():
    """Ratios with an interval, as the papers' chapters cite them, stand so in docs/results.md, perhaps with more digits."""
    interval = re.compile(r"(\d+\.\d+)\**(?: times)? \[(-?[\d.]+), \+?(-?[\d.]+)\]")
    there = [
        tuple(map(float, one))
        for one in re.findall(r"(\d[\d.]*) \[([\d.]+), ([\d.]+)\]", Path(TOP / "docs/results.md").read_text())
    ]

    def is_there(cited: tuple[str, str, str]) -> bool:
        return any(
            all(abs(a - float(b)) <= 0.51 * 10 ** -len(b.partition(".")[2]) for a, b in zip(one, cited, strict=True))
            for one in there
        )  # fmt: skip

    cited = [(path.name, one) for path in CHAPTERS for one in interval.findall(path.read_text())]
    assert len(cited) > 15
    assert not [(name, one) for name, one in cited if not is_there(one)]
    assert not is_there(("9.999", "9.1", "9.2"))
