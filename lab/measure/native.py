"""./cw bench native: nanoseconds of calls of the hosted kernel on threads, beside the host's Linux (docs/kernel/native.md).

hosted/native is built for each choice of settings. A round runs each of these programs, and the host's side, once for each
number of threads, in an order that turns from round to round; so whatever else the host does meets all of them. Only what was
measured in one round is divided by each other.
"""

from __future__ import annotations

import contextlib
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from lab.base.paths import TOP, LabError, output_folder
from lab.build.kernel import build_lock

THREADS_MOST = 16
HOST = "Linux"
DEFAULT = "default"
SHARED_MEMORY = Path("/dev/shm")  # noqa: S108 - a tmpfs, which is what is measured
TRAP = "getppid"
FILES_MEMORY = 1024, 9  # MB, and KB a file: a tmpfs has an inode for two frames, and only what is used is there
FILES_MOST = 5_000_000
WAITS_SHOWN = 0.001  # a turn: what comes now and then is not told
FIRST, LAST = ("stat 1", "stat 8")
FURTHER = 7  # components


@dataclass(frozen=True)
class Side:
    """Who is measured: a kernel by its settings, or the host."""

    name: str
    program: Path
    word: str  # what the program calls it: kernel, host


@dataclass(frozen=True)
class Cell:
    """A figure's place: nanoseconds of a turn of @row, where threads use the same names or their own."""

    side: str
    threads: int
    row: str
    place: str


@dataclass
class Figures:
    """What was measured: of each cell a value a round, None where threads never ran together."""

    rounds: list[dict[Cell, float | None]] = field(default_factory=list)
    calls: dict[str, int] = field(default_factory=dict)  # of the system, a turn; 0: a look into a cache
    waits: dict[Cell, dict[str, float]] = field(default_factory=dict)  # by the most waited for lock: waits, a turn

    def net(self, at: dict[Cell, float | None], cell: Cell) -> float | None:
        """@cell in the round @at; of the host without the traps, each of which takes as long as a getppid."""
        ns = at.get(cell)
        if cell.side != HOST or ns is None or cell.row == TRAP:
            return ns
        trap = at.get(Cell(HOST, cell.threads, TRAP, "same"))
        return None if trap is None else ns - self.calls[cell.row] * trap

    def values(self, cell: Cell, gross: bool = False) -> list[float]:
        found = (at.get(cell) if gross else self.net(at, cell) for at in self.rounds)
        return [value for value in found if value is not None]

    def ratios(self, one: Cell, other: Cell) -> list[float]:
        """@one over @other, round by round."""
        pairs = ((self.net(at, one), self.net(at, other)) for at in self.rounds)
        return [a / b for a, b in pairs if a is not None and b is not None and b > 0]


def program(settings: Sequence[str] = ()) -> Path:
    """hosted/native with these settings, built."""
    slug = "".join(f"-{re.sub('[^A-Za-z0-9.]+', '-', one)}" for one in settings)
    folder = output_folder().parent / f"{output_folder().name}-native{slug}"
    command = ["make", "-s", "-f", "hosted/native/native.mk", f"-j{os.cpu_count() or 1}"]
    command += [f"HOSTED_O={os.path.relpath(folder, TOP)}", f"HOSTED_SET={' '.join(settings)}"]
    environment = {key: value for key, value in os.environ.items() if key not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")}
    with build_lock():
        try:
            made = subprocess.run(command, cwd=TOP, env=environment, capture_output=True, text=True, check=False)
        except FileNotFoundError:
            raise LabError("make is missing: install it (apt-get install make)") from None
    if made.returncode:
        said = made.stdout + made.stderr
        refused = re.search(r"^(?:configure|choose): (.*?)(?=^make)", said, re.MULTILINE | re.DOTALL)
        raise LabError(refused[1].strip() if refused else f"hosted/native does not build:\n{said[-3000:]}")
    return folder / "native"


@contextlib.contextmanager
def host_folder() -> Iterator[Path]:
    """A folder on a tmpfs of the host's, as the hosted kernel's root is one; removed with all that is in it."""
    mounts = Path("/proc/mounts").read_text(encoding="utf-8") if Path("/proc/mounts").exists() else ""
    if f" {SHARED_MEMORY} tmpfs " not in mounts:
        raise LabError(f"{SHARED_MEMORY} is no tmpfs on this host, so that there is nothing to compare with")
    folder = Path(tempfile.mkdtemp(prefix="cw-native-", dir=SHARED_MEMORY))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def run(side: Side, *arguments: str, folder: Path | None = None) -> list[dict[str, Any]]:
    """The lines of JSON that @side's program prints."""
    command = [str(side.program), *arguments, *(["--folder", str(folder)] if folder else []), side.word]
    done = subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    if done.returncode:
        raise LabError(f"{side.name}: {' '.join(command[1:])} ended with {done.returncode}:\n{done.stderr[-2000:]}")
    if done.stderr:
        print(done.stderr, end="", file=sys.stderr)
    return [json.loads(line) for line in done.stdout.splitlines()]


def known_rows(side: Side) -> list[str]:
    """The names of @side's rows."""
    return list(dict.fromkeys(line["row"] for line in run(side, "--list")))


def measure(sides: Sequence[Side], threads: Sequence[int], rounds: int, ms: int, rows: Sequence[str]) -> Figures:
    """@rounds rounds of all @sides with each number of @threads, of @rows (none: all)."""
    figures = Figures()
    wanted = {side: [row for row in known_rows(side) if not rows or row in rows or row == TRAP] for side in sides}
    for number in range(rounds):
        at: dict[Cell, float | None] = {}
        for count in threads:
            turn = number % len(sides)
            for side in (*sides[turn:], *sides[:turn]):
                chosen = [word for row in wanted[side] for word in ("--row", row)]
                if not chosen:
                    continue
                with host_folder() if side.name == HOST else contextlib.nullcontext() as folder:
                    lines = run(side, "--threads", str(count), "--ms", str(ms), *chosen, folder=folder)
                for line in lines:
                    at[Cell(side.name, count, line["row"], line["place"])] = line["ns"]
                    figures.calls[line["row"]] = line["calls"]
                    if line["waits"]:  # the last round's
                        cell = Cell(side.name, count, line["row"], line["place"])
                        figures.waits[cell] = {line["waited"]: round(line["waits"] / line["turns"], 6)}
        figures.rounds.append(at)
        if sys.stderr.isatty():
            print(f"\rround {number + 1} of {rounds}", end="", file=sys.stderr, flush=True)
    if sys.stderr.isatty():
        print("\r\033[K", end="", file=sys.stderr, flush=True)
    return figures


def measure_files(sides: Sequence[Side], count: int, ms: int) -> list[dict[str, Any]]:
    """A thousand and @count files of each side: {"side", "files", "bytes", "stat_ns", "steps", "inode_ns", "chase_ns"}.

    0 is what is not counted or not known: bytes and chase_ns of a host whose other programs gave more memory back
    meanwhile than the files took.
    """
    found = []
    for side in sides:
        with host_folder() if side.name == HOST else contextlib.nullcontext() as folder:
            megabytes = FILES_MEMORY[0] + count * FILES_MEMORY[1] // 1000
            memory = () if side.name == HOST else ("--memory", str(megabytes))
            lines = run(side, "--files", str(count), "--ms", str(ms), *memory, folder=folder)
        found += [{"side": side.name, **line} for line in lines]
    return found


# ---- what is asked for ------------------------------------------------------------------------


def thread_counts(text: str) -> list[int]:
    """ "1,2,4" as numbers."""
    words = text.split(",")
    if not all(word.isdigit() and 1 <= int(word) <= THREADS_MOST for word in words):
        raise LabError(f"--threads {text}: give numbers from 1 to {THREADS_MOST}, by commas: 1,2,4")
    return list(dict.fromkeys(int(word) for word in words))


def check(rounds: int, ms: int, files: int) -> None:
    if not 1 <= rounds <= 1000:
        raise LabError(f"--rounds {rounds}: give a number from 1 to 1000")
    if not 1 <= ms <= 60000:
        raise LabError(f"--ms {ms}: give a number from 1 to 60000")
    if files and not 1000 <= files <= FILES_MOST:
        raise LabError(f"--files {files}: give a number from 1000 to {FILES_MOST}")


def check_rows(sides: Sequence[Side], rows: Sequence[str]) -> None:
    there = list(dict.fromkeys(name for side in sides for name in known_rows(side)))
    for row in rows:
        if row not in there:
            raise LabError(f"--row '{row}': there is no such row. There are: {', '.join(there)}")


# ---- what is shown ----------------------------------------------------------------------------


def spread(values: Sequence[float]) -> dict[str, float] | None:
    """The median of rounds, and the least and the most."""
    if not values:
        return None
    return {"median": round(median(values), 2), "low": round(min(values), 2), "high": round(max(values), 2)}


def cells(figures: Figures) -> list[Cell]:
    """All cells in the order in which they were measured."""
    return list(dict.fromkeys(cell for at in figures.rounds for cell in at))


def per_component(figures: Figures, side: str, threads: int, place: str) -> list[float]:
    """Nanoseconds of each component after the first, round by round."""
    ends = [[at.get(Cell(side, threads, row, place)) for row in (FIRST, LAST)] for at in figures.rounds]
    return [(last - first) / FURTHER for first, last in ends if first is not None and last is not None]


def behind(figures: Figures, threads: Sequence[int], kernels: Sequence[str]) -> list[Cell]:
    """Where a kernel takes longer than Linux without its traps."""
    found = []
    for cell in cells(figures):
        if cell.side in kernels and cell.threads in threads:
            ratios = figures.ratios(cell, Cell(HOST, cell.threads, cell.row, cell.place))
            if ratios and median(ratios) > 1:
                found.append(cell)
    return found


def as_data(figures: Figures, sides: Sequence[Side], threads: Sequence[int]) -> dict[str, Any]:
    """All of it, for --json."""
    rows = []
    for cell in cells(figures):
        one = {"side": cell.side, "threads": cell.threads, "row": cell.row, "place": cell.place}
        one["ns"] = spread(figures.values(cell, gross=True))
        if cell.side == HOST:
            one["without_trap"] = spread(figures.values(cell))
        else:
            one["of_linux"] = spread(figures.ratios(cell, Cell(HOST, cell.threads, cell.row, cell.place)))
        if cell.side not in (HOST, DEFAULT):
            one["of_default"] = spread(figures.ratios(cell, Cell(DEFAULT, cell.threads, cell.row, cell.place)))
        one["waits"] = figures.waits.get(cell, {})
        one["of_first"] = spread(figures.ratios(cell, Cell(cell.side, threads[0], cell.row, cell.place)))
        rows.append(one)
    components = [
        {"side": side.name, "threads": count, "place": place, "ns": spread(values)}
        for side in sides
        for count in threads
        for place in ("same", "own")
        if (values := per_component(figures, side.name, count, place))
    ]
    return {"rows": rows, "components": components}


def shown(found: dict[str, float] | None) -> str:
    """A median, and how far rounds lie from it: 15.2 ±4%."""
    if found is None:
        return "-"
    middle = found["median"]
    far = max(found["high"] - middle, middle - found["low"]) / middle if middle else 0
    return f"{middle:.{0 if middle >= 100 else 1}f} [dim]±{far:.0%}[/dim]"


def shown_ratio(found: dict[str, float] | None) -> str:
    return "-" if found is None else f"{found['median']:.2f}"


def columns(side: Side, count: int, first: int) -> list[str]:
    """The table's columns of @side with @count threads."""
    names = [side.name, "of Linux"] if side.name != HOST else ["Linux less traps"]
    names += ["of default"] if side.name not in (HOST, DEFAULT) else []
    return [*names, f"of {first} thr."] if count != first else names


def words_of(one: dict[str, Any], side: Side, count: int, first: int) -> list[str]:
    words = [shown(one.get("without_trap" if side.name == HOST else "ns"))]
    if side.name != HOST:
        words.append(shown_ratio(one.get("of_linux")))
    if side.name not in (HOST, DEFAULT):
        words.append(shown_ratio(one.get("of_default")))
    return [*words, shown_ratio(one.get("of_first"))] if count != first else words


def print_rows(data: dict[str, Any], sides: Sequence[Side], threads: Sequence[int]) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table

    console = Console(width=130)
    found = {(one["side"], one["threads"], one["row"], one["place"]): one for one in data["rows"]}
    names = list(dict.fromkeys((one["row"], one["place"]) for one in data["rows"]))
    for count in threads:
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False, title_justify="left")
        table.title = (
            f"ns a turn, {count} thread{'s' if count > 1 else ''}: median of the rounds, and how far others lie"
        )
        table.add_column("", no_wrap=True)
        table.add_column("names", no_wrap=True)
        for side in sides:
            for name in columns(side, count, threads[0]):
                table.add_column(name, justify="right", no_wrap=not name.startswith("of "))
        for row, place in names:
            ones = [(side, found.get((side.name, count, row, place), {})) for side in sides]
            words = [word for side, one in ones for word in words_of(one, side, count, threads[0])]
            table.add_row(row, place, *words)
        console.print(table)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, title="ns a further component", title_justify="left")
    for name in ("", "names", *(f"{count} thr." for count in threads)):
        table.add_column(name, justify="right" if "thr" in name else "left")
    further = {(one["side"], one["place"], one["threads"]): one["ns"] for one in data["components"]}
    for side, place in dict.fromkeys(key[:2] for key in further):
        table.add_row(side, place, *(shown(further.get((side, place, count))) for count in threads))
    if further:
        console.print(table)
    print_waits(data)


def print_waits(data: dict[str, Any]) -> None:
    """Which lock each row had to wait for most."""
    often: dict[tuple[str, int, str], list[str]] = {}
    for one in data["rows"]:
        for lock, times in one["waits"].items():
            if times >= WAITS_SHOWN:
                often.setdefault((one["side"], one["threads"], lock), []).append(f"{one['row']} {one['place']}")
    for (side, threads, lock), rows in often.items():
        print(f"waited for most, {side}, {threads} threads: {lock} in {', '.join(rows)}")


def print_files(files: Sequence[dict[str, Any]]) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, title="Files cached, looks at random ones", title_justify="left")
    for name in (
        "",
        "files",
        "bytes a file",
        "stat, ns",
        "steps a lookup",
        "inode lookup, ns",
        "a fetch, ns",
        "more, in fetches",
    ):
        table.add_column(name, justify="right" if name else "left")  # fmt: skip
    columns = (("bytes", 0), ("stat_ns", 1), ("steps", 2), ("inode_ns", 1), ("chase_ns", 1))
    first: dict[str, dict[str, Any]] = {}
    for one in files:
        before = first.setdefault(one["side"], one)
        known = [f"{one[name]:.{digits}f}" if one[name] else "-" for name, digits in columns]
        table.add_row(one["side"], f"{one['files']}", *known, "" if one is before else more_in_fetches(one, before))
    Console(width=110).print(table)


def more_in_fetches(one: dict[str, Any], before: dict[str, Any]) -> str:
    """How much longer looks take in @one than in @before, in fetches of a line from as much memory."""
    if not one["chase_ns"]:
        return "-"
    stat, inode = ((one[name] - before[name]) / one["chase_ns"] for name in ("stat_ns", "inode_ns"))
    return f"{stat:.1f}, inode {inode:.1f}" if one["inode_ns"] else f"{stat:.1f}"


def bench_native(
    threads: str, settings: Sequence[str], rounds: int, ms: int, files: int, rows: Sequence[str], as_json: bool
) -> None:
    """Build, measure, print: the kernel as it is by default, with @settings if there are any, and the host's Linux."""
    counts = thread_counts(threads)
    check(rounds, ms, files)
    kernels = [Side(DEFAULT, program(), "kernel")]
    if settings:
        kernels.append(Side(" ".join(settings), program(settings), "kernel"))
    sides = [*kernels, Side(HOST, kernels[0].program, "host")]
    check_rows(sides, rows)
    processors = len(os.sched_getaffinity(0))
    if max(counts) > processors:
        print(
            f"cw: there are {processors} processors for {max(counts)} threads, which take turns: "
            "growth beyond that is the host's, not the kernel's",
            file=sys.stderr,
        )
    data: dict[str, Any] = {"host": platform.release(), "processors": processors, "threads": counts, "rounds": rounds}
    data["kernels"] = {side.name: list(settings) if side.name != DEFAULT else [] for side in kernels}
    if files:
        data["files"] = measure_files(sides, files, ms)
    else:
        figures = measure(sides, counts, rounds, ms, rows)
        data |= as_data(figures, sides, counts)
        late = behind(figures, counts, [side.name for side in kernels])
        data["behind"] = [f"{cell.side}: {cell.row}, {cell.place} names, {cell.threads} threads" for cell in late]
    if as_json:
        print(json.dumps(data, indent=1))
    elif files:
        print_files(data["files"])
    else:
        print_rows(data, sides, counts)
        print(f"behind Linux less its traps: {'; '.join(data['behind']) or 'no row'}")
    sys.stdout.flush()
