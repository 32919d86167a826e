"""./cw keys: the keys of a file server's set of files through hash functions and sizes, on this host (file-sets.md).

lab/record/fileset.c makes the operations a piece at a time; each piece goes through every table before the next is made,
so that their times can be compared, and nothing but the tables has to be held.
"""

from __future__ import annotations

import ctypes
import hashlib
import json
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from lab.base.files import write_whole, written_whole
from lab.base.paths import TOP, LabError, made_folder
from lab.record.engine import CC, FLAGS, LARGEST_BITS, OPERATION_BYTES, Choice, compile_all, compiled

SOURCE = TOP / "lab/record/fileset.c"
CACHE_NUMBERS = {"inode": 2, "dentry": 3}
NAME_BYTES = 16
PIECE = 1 << 18  # operations made at a time
OBJECT_BYTES = 48  # of the replay's, chained
FILE_BYTES = 4 + NAME_BYTES + 1
REFERENCE = "linux-2.6.5"
FUNCTIONS = {"inode": (REFERENCE, "santos-first", "linux-2.6"), "dentry": (REFERENCE, "linux-2.6")}
MOST_FILES = 49_000_000  # names have eight digits; with more an absent name could be one in the same folder
FULL_FILES, FULL_BITS = 20_000_000, (24, 25)


@dataclass(frozen=True)
class Layout:
    """Over how many file systems the files are spread, and where their superblocks lie."""

    name: str
    systems: int
    apart: bool


LAYOUTS = (
    Layout("1 file system", 1, False),
    Layout("16, superblocks apart", 16, True),
    Layout("16, superblocks in a row", 16, False),
)


@dataclass(frozen=True)
class Cell:
    """One cache's operations on one set: what goes through all functions and sizes in one run."""

    cache: str
    layout: Layout
    seed: int
    files: int
    operations: int
    bits: tuple[int, ...]
    folder_files: int = 30
    percent: int = 10  # of the files that are used

    @property
    def title(self) -> str:
        return f"{self.cache} cache, {self.layout.name}, seed {self.seed}"

    @property
    def memory(self) -> int:
        """Bytes that the run holds."""
        tables = len(FUNCTIONS[self.cache]) * sum(self.files * OBJECT_BYTES + (8 << bits) for bits in self.bits)
        return tables + self.files * FILE_BYTES + PIECE * (OPERATION_BYTES + NAME_BYTES)


def library() -> ctypes.CDLL:
    """The generator, compiled unless it is there."""
    made_of = b"".join(p.read_bytes() for p in (SOURCE, SOURCE.with_name("operation.h"), TOP / "core/random.h"))
    digest = hashlib.sha256(made_of + f"{CC} {FLAGS}".encode()).hexdigest()[:16]
    target = made_folder("replay") / f"fileset-{digest}.so"
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        command = [CC, *FLAGS, "-shared", "-fPIC", "-DHOSTED", "-D_GNU_SOURCE", f"-I{TOP}", f"-I{TOP}/hosted/include"]
        with written_whole(target) as new:
            result = subprocess.run([*command, "-o", new, SOURCE], capture_output=True, text=True, check=False)
            if result.returncode:
                raise LabError(f"{SOURCE.relative_to(TOP)} cannot be compiled:\n{result.stderr}")
    found = ctypes.CDLL(str(target))
    found.fileset_make.restype = ctypes.c_void_p
    found.fileset_next.restype = found.fileset_objects.restype = found.fileset_number.restype = ctypes.c_uint64
    found.fileset_filled.restype = ctypes.c_bool
    return found


class Files:
    """A set of files and its operations, a piece at a time."""

    def __init__(self, cell: Cell):
        self._library, self._cache = library(), CACHE_NUMBERS[cell.cache]
        numbers = (cell.files, cell.layout.systems, cell.layout.apart, cell.folder_files, cell.percent, cell.operations, cell.seed)  # fmt: skip
        self._set = ctypes.c_void_p(self._library.fileset_make(*(ctypes.c_uint64(int(one)) for one in numbers)))
        if not self._set:
            raise LabError(f"no memory for a set of {cell.files:,} files")
        self.objects = self._library.fileset_objects(self._set)
        self.piece = np.zeros(PIECE * OPERATION_BYTES, np.uint8)
        self._names = np.zeros((PIECE + 1) * NAME_BYTES, np.uint8)

    def pieces(self) -> Iterator[tuple[int, bool]]:
        """How many operations stand in `piece` now, and whether they are of the first phase, in which the set is read."""
        out, names = (array.ctypes.data_as(ctypes.c_void_p) for array in (self.piece, self._names))
        while True:
            filling = not self._library.fileset_filled(self._set)
            count = self._library.fileset_next(self._set, ctypes.c_int(self._cache), out, names, ctypes.c_uint64(PIECE))
            if not count:
                return
            yield count, filling

    def number(self, file: int) -> tuple[int, int]:
        """The superblock's address and the inode number of a file."""
        superblock = ctypes.c_uint64(0)
        number = self._library.fileset_number(self._set, ctypes.c_uint64(file), ctypes.byref(superblock))
        return superblock.value, number

    def close(self) -> None:
        self._library.fileset_free(self._set)


class Table:
    """One function and size: a replay engine of its own, though another table may have the same function."""

    def __init__(self, cache: str, function: str, bits: int, objects: int, seed: int, folder: Path):
        self.function, self.bits = function, bits
        source = compiled(Choice(cache, function, "chained", 64, "linux-2.6"))
        own = shutil.copy(source, folder / f"{function}-{bits}.so")  # else the loader gives the one that it has
        self._library = ctypes.CDLL(str(own))
        self._library.replay_complaint.restype = ctypes.c_char_p
        self._library.replay_run.restype = self._library.replay_report.restype = ctypes.c_uint64
        if self._library.replay_begin(
            ctypes.c_uint(bits), ctypes.c_uint32(objects), ctypes.c_uint32(1), ctypes.c_uint64(seed), b"keys"
        ):
            raise LabError(self._library.replay_complaint().decode(errors="replace"))
        self.times: list[float] = []  # ns an operation, of each piece of the second phase
        self.filled: dict[str, Any] = {}

    def run(self, piece: np.ndarray[Any, Any], count: int) -> float:
        """Nanoseconds an operation."""
        taken = ctypes.c_uint64(0)
        reached = self._library.replay_run(
            piece.ctypes.data_as(ctypes.c_void_p), ctypes.c_uint64(0), ctypes.c_uint64(count), ctypes.c_bool(False),
            ctypes.byref(taken),
        )  # fmt: skip
        if reached != count:
            why = self._library.replay_complaint().decode(errors="replace")
            raise LabError(f"{self.function}, {self.bits} bits: operation {reached} of a piece: {why}")
        return taken.value / count

    def report(self) -> dict[str, Any]:
        out = ctypes.create_string_buffer(1 << 16)
        self._library.replay_report(ctypes.c_bool(True), out, ctypes.c_uint64(len(out)))
        return dict(json.loads(out.value))

    def close(self) -> None:
        self._library.replay_end()


def median_interval(values: list[float]) -> tuple[float, float, float]:
    """The median and its interval of 95 %, by ranks: whatever the values' distribution is."""
    ordered, n = sorted(values), len(values)
    away = int(0.98 * n**0.5 + 1)
    low, high = max((n - 1) // 2 - away, 0), min(n // 2 + away, n - 1)
    return float(np.median(ordered)), ordered[low], ordered[high]


def run_cell(cell: Cell, progress: Callable[[str], None]) -> list[dict[str, Any]]:
    """A row for each function and size: what its chains were when the set was read in, in use, and in the end."""
    compile_all([Choice(cell.cache, f, "chained", 64, "linux-2.6") for f in FUNCTIONS[cell.cache]], progress)
    files = Files(cell)
    tables: list[Table] = []
    try:
        with tempfile.TemporaryDirectory(prefix="cw-keys-") as folder:
            for bits in cell.bits:
                for function in FUNCTIONS[cell.cache]:
                    tables.append(Table(cell.cache, function, bits, files.objects, cell.seed, Path(folder)))
            _run_pieces(cell, files, tables, progress)
            progress(f"{cell.title}: counting buckets")
            return [_row(cell, table, tables) for table in tables]
    finally:
        files.close()
        for table in tables:
            table.close()


def _run_pieces(cell: Cell, files: Files, tables: list[Table], progress: Callable[[str], None]) -> None:
    done, was_filling = 0, True
    for number, (count, filling) in enumerate(files.pieces()):
        if was_filling and not filling:
            for table in tables:
                table.filled = table.report()
        was_filling = filling
        for turn in range(len(tables)):  # another is first each time
            table = tables[(turn + number) % len(tables)]
            taken = table.run(files.piece, count)
            if not filling:
                table.times.append(taken)
        done += count
        progress(f"{cell.title}: {'reading in' if filling else 'in use'}, {done:,} operations")


def _row(cell: Cell, table: Table, tables: list[Table]) -> dict[str, Any]:
    report, filled = table.report(), table.filled
    used = {name: report[name] - filled[name] for name in ("hits", "misses", "hit_steps", "miss_steps")}
    reference = next(one for one in tables if one.function == REFERENCE and one.bits == max(cell.bits))
    ratio, low, high = median_interval([a / b for a, b in zip(table.times, reference.times, strict=True)])
    return {
        **{key: value for key, value in asdict(cell).items() if key not in ("layout", "bits")},
        "layout": cell.layout.name, "function": table.function, "bits": table.bits,
        "steps_per_fill_miss": filled["miss_steps"] / max(filled["misses"], 1),
        "steps_per_hit": used["hit_steps"] / max(used["hits"], 1),
        "steps_per_miss": used["miss_steps"] / max(used["misses"], 1),
        "steps_per_lookup": (used["hit_steps"] + used["miss_steps"]) / max(used["hits"] + used["misses"], 1),
        "nanoseconds": float(np.median(table.times)), "time_ratio": [ratio, low, high], "report": report,
    }  # fmt: skip


# ---- cells that are kept ------------------------------------------------------------------------------------------


def kept_at(cell: Cell, folder: Path) -> Path:
    """The file of a cell's rows, under a digest of all that they follow from."""
    sources = [compiled(Choice(cell.cache, f, "chained", 64, "linux-2.6")).name for f in FUNCTIONS[cell.cache]]
    made_of = json.dumps([asdict(cell), sources, SOURCE.read_text()], sort_keys=True)
    return folder / f"{cell.cache}-{hashlib.sha256(made_of.encode()).hexdigest()[:16]}.json"


def available_memory() -> int:
    for line in Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) << 10
    return 1 << 62


def plan(files: int, bits: tuple[int, ...], operations: int, seeds: list[int], caches: list[str]) -> list[Cell]:
    if not 1000 <= files <= MOST_FILES:
        raise LabError(f"--files {files}: 1000 to {MOST_FILES:,}")
    if operations < 0:
        raise LabError(f"--operations {operations}: at least 0, which is as many as there are files")
    if not all(10 <= one <= LARGEST_BITS for one in bits):
        raise LabError(f"--bits: tables have 10 to {LARGEST_BITS} bits")
    return [
        Cell(cache, layout, seed, files, operations, bits) for seed in seeds for cache in caches for layout in LAYOUTS
    ]


def run_cells(cells: list[Cell], say: Callable[[str], None], progress: Callable[[str], None], again: bool = False) -> list[dict[str, Any]]:  # fmt: skip
    """All cells' rows; those that an earlier run has made are not made again."""
    folder = made_folder("filesets")
    folder.mkdir(parents=True, exist_ok=True)
    needed = max(cell.memory for cell in cells)
    todo = [cell for cell in cells if again or not kept_at(cell, folder).exists()]
    turns = sum((2 * c.files + 4 * c.operations) * len(FUNCTIONS[c.cache]) * len(c.bits) for c in todo)
    say(
        f"{len(cells)} sets, {len(cells) - len(todo)} of them made before. Memory: {needed / 1e9:.1f} GB, one set at a time."
        f" Some {turns * 150e-9 / 60 + len(todo) * cells[0].files / 2e7:.0f} minutes of one processor"
    )
    if todo and needed > available_memory():
        raise LabError(f"{needed / 1e9:.1f} GB of memory are needed, {available_memory() / 1e9:.1f} are free: give --files a smaller number, and --bits")  # fmt: skip
    rows: list[dict[str, Any]] = []
    for number, cell in enumerate(cells):
        path = kept_at(cell, folder)
        if cell in todo:
            begun = time.monotonic()
            found = run_cell(cell, lambda text, number=number: progress(f"{number + 1} of {len(cells)}: {text}"))  # type: ignore[misc]
            write_whole(path, json.dumps({"seconds": time.monotonic() - begun, "rows": found}))
        rows += json.loads(path.read_text())["rows"]
    return rows
