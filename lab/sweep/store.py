"""The results of sweeps: one SQLite file, a row for each run and a row for each experiment that asked for it.

A cell is one run of one kernel. Its id is a hash of everything that determines what the run counts, so an experiment
that asks for a run which another has made already finds it here. A use says which place of which experiment a cell
fills; it is written when a sweep begins, so a use may name a cell that has not been run yet.

A cell is recorded in one transaction as soon as it ends: what ends a sweep loses at most the cells that are running.
Several sweeps may write one file at the same time (SQLite's own locks; a writer waits for another up to a minute).
docs/lab/experiments.md describes the tables for readers of other languages.
"""

from __future__ import annotations

import json
import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import astuple, dataclass, field, fields
from pathlib import Path
from typing import Any

from lab.base.paths import TOP, LabError

APPLICATION, VERSION = 0xC4A11A1C - (1 << 32), 1  # SQLite keeps them in the file's head, as signed 32-bit numbers
PATIENCE = 60  # seconds to wait for another sweep's transaction
SCALES = ("reduced", "full")

SCHEMA = """
CREATE TABLE cell (
    id TEXT PRIMARY KEY, config TEXT NOT NULL, command TEXT NOT NULL, revision TEXT NOT NULL, qemu TEXT NOT NULL,
    status TEXT NOT NULL, kind TEXT NOT NULL, message TEXT NOT NULL, log TEXT NOT NULL, seconds REAL NOT NULL,
    results TEXT NOT NULL, stats TEXT NOT NULL, cachesim TEXT NOT NULL, virtual_ns INTEGER, finished TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE use (
    experiment TEXT NOT NULL, kernel TEXT NOT NULL, workload TEXT NOT NULL, seed INTEGER NOT NULL,
    scale TEXT NOT NULL, cell TEXT NOT NULL, PRIMARY KEY (experiment, kernel, workload, seed, scale)
) WITHOUT ROWID;
"""
COLUMNS = "id config command revision qemu status kind message log seconds results stats cachesim virtual_ns finished"
IN_JSON = ("config", "results", "stats", "cachesim")


@dataclass(frozen=True)
class Cell:
    """One run."""

    id: str
    config: dict[str, Any]  # all that determines it (lab/sweep/plan.py)
    command: str  # the ./cw run ... that repeats it
    revision: str  # git's, with "-dirty" where the checkout had changes
    qemu: str
    status: str  # ok, or failed
    kind: str  # exit, panic, hang, timeout, silence, error
    message: str
    log: str  # what the console and ./cw said, whole
    seconds: float  # on the host's clock
    results: list[dict[str, Any]]  # the workload's result lines
    stats: dict[str, Any] = field(default_factory=dict)  # of each cache, as in docs/kernel/counters.md
    cachesim: dict[str, Any] = field(default_factory=dict)
    virtual_ns: int | None = None  # from the job's start to its end, by the machine's clock
    finished: str = ""  # UTC, ISO 8601

    @property
    def ok(self) -> bool:
        return self.status == "ok"


@dataclass(frozen=True, order=True)
class Use:
    """A place in an experiment that a cell fills."""

    experiment: str
    kernel: str
    workload: str
    seed: int
    scale: str  # one of SCALES


def repeatable(config: dict[str, Any]) -> bool:
    """Whether it counts the same each time; what goes by the host's time does not."""
    return config.get("icount") is not False


def by_machine(cells: Iterable[Cell]) -> dict[str, Cell]:
    """@cells by the hash of all that QEMU was given (lab/run/qemu/given.py); without those of which it is not known, and those
    that go by the host's time: another run of the same machine is another measurement."""
    return {
        cell.config["machine_sha256"]: cell
        for cell in cells
        if cell.config.get("machine_sha256") and repeatable(cell.config)
    }


def of_one_source(cells: Mapping[tuple[str, str, int], Cell | None]) -> bool:
    """Whether the runs of @cells, by kernel, workload and seed, are all of the same sources and, workload by workload, of the same
    added programs, as those are that are timed on a host."""
    sources, added = set(), defaultdict(set)
    for (_, workload, _), cell in cells.items():
        if cell:
            sources.add(cell.config.get("sources", cell.revision))
            added[workload].add(json.dumps(cell.config.get("add"), sort_keys=True))
    return len(sources) <= 1 and all(len(one) == 1 for one in added.values())


def same_machine(one: Cell, other: Cell) -> bool:
    """Whether QEMU was given the same for both, whatever their sources. Of what was not told it is not known."""
    machine = one.config.get("machine_sha256")
    return bool(machine) and machine == other.config.get("machine_sha256")


def default_path() -> Path:
    return TOP / "build" / "results.sqlite"


class Store:
    """An open file of results. Use it as a context manager, from one thread."""

    def __init__(self, path: Path | None = None, create: bool = True) -> None:
        """@create: a file that is not there is made; a reader of results says no and gets a LabError."""
        self.path = path or default_path()
        if not create and not self.path.exists():
            raise LabError(f"there are no results in {self.path}: run ./cw sweep first, or give --results FILE")
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self.connection = sqlite3.connect(self.path, timeout=PATIENCE, isolation_level=None)
        except (OSError, sqlite3.Error) as error:
            raise LabError(f"{self.path} cannot be opened for results: {error}") from None
        try:
            with self._explained():
                self._check()
        except BaseException:
            self.connection.close()
            raise

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.connection.close()

    def record(self, cell: Cell) -> None:
        """Keep @cell, in place of what was there under its id."""
        row = {name: getattr(cell, name) for name in COLUMNS.split()}
        row.update({name: json.dumps(row[name], sort_keys=True, separators=(",", ":")) for name in IN_JSON})
        marks = ",".join("?" * len(row))
        with self._transaction():
            self.connection.execute(f"INSERT OR REPLACE INTO cell VALUES ({marks})", list(row.values()))

    def plan(self, uses: Mapping[Use, str], whole: bool = True) -> None:
        """Write which cell fills each place. @whole: the experiments and scales that are named have no other places."""
        with self._transaction():
            for experiment, scale in {(use.experiment, use.scale) for use in uses} if whole else ():
                self.connection.execute("DELETE FROM use WHERE experiment = ? AND scale = ?", (experiment, scale))
            self.connection.executemany(
                "INSERT OR REPLACE INTO use VALUES (?,?,?,?,?,?)", [(*astuple(use), id) for use, id in uses.items()]
            )

    def cell(self, id: str) -> Cell | None:
        with self._explained():
            row = self.connection.execute(f"SELECT {', '.join(COLUMNS.split())} FROM cell WHERE id = ?", (id,))
            return next(map(_cell, row), None)

    def finished(self, ids: Iterable[str]) -> set[str]:
        """Those of @ids that were run and ended well."""
        with self._explained():
            found = self.connection.execute("SELECT id FROM cell WHERE status = 'ok'")
            return {id for (id,) in found} & set(ids)

    def seconds(self, ids: Iterable[str]) -> dict[str, float]:
        """How long those of @ids took that were run."""
        with self._explained():
            known = dict(self.connection.execute("SELECT id, seconds FROM cell"))
        return {id: known[id] for id in ids if id in known}

    def timings(self) -> list[tuple[str, dict[str, Any], float]]:
        """Id, configuration and seconds of every cell that was run and did not fail."""
        with self._explained():
            found = self.connection.execute("SELECT id, config, seconds FROM cell WHERE status = 'ok'")
            return [(id, json.loads(config), seconds) for id, config, seconds in found]

    def by_machine(self) -> dict[str, Cell]:
        """by_machine() of the cells that ended well; of several runs of a machine the latest."""
        columns = ", ".join(COLUMNS.split())
        with self._explained():
            found = self.connection.execute(f"SELECT {columns} FROM cell WHERE status = 'ok' ORDER BY finished")
            return by_machine(map(_cell, found))

    def experiments(self) -> list[tuple[str, str]]:
        """Every (experiment, scale) that has places."""
        with self._explained():
            return list(self.connection.execute("SELECT DISTINCT experiment, scale FROM use ORDER BY 1, 2"))

    def cells(self, experiment: str, scale: str) -> list[tuple[Use, Cell | None]]:
        """The places of an experiment with what fills them: None where that has not been run yet."""
        columns = ", ".join(f"cell.{name}" for name in COLUMNS.split())
        question = (
            f"SELECT experiment, kernel, workload, seed, scale, {columns} FROM use LEFT JOIN cell ON cell.id = use.cell"
            " WHERE experiment = ? AND scale = ? ORDER BY kernel, workload, seed"
        )
        with self._explained():
            rows = self.connection.execute(question, (experiment, scale)).fetchall()
        width = len(fields(Use))
        return [(Use(*row[:width]), None if row[width] is None else _cell(row[width:])) for row in rows]

    def _check(self) -> None:
        """Make a new file ours; refuse one that is another program's or another version's."""
        with self._transaction():
            application, version = (
                self.connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version")
            )
            if (application, version) == (APPLICATION, VERSION):
                return
            if self.connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                ours = application == APPLICATION
                what = f"of version {version}, this is {VERSION}" if ours else "another program's"
                raise LabError(f"{self.path} is {what}: give another --results FILE")
            for statement in SCHEMA.split(";\n"):
                self.connection.execute(statement)
            self.connection.execute(f"PRAGMA application_id = {APPLICATION}")
            self.connection.execute(f"PRAGMA user_version = {VERSION}")

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        """All or nothing; one writer at a time."""
        with self._explained():
            self.connection.execute("BEGIN IMMEDIATE")
            try:
                yield
                self.connection.execute("COMMIT")
            except BaseException:
                if self.connection.in_transaction:  # SQLite has rolled back by itself where the disk is full
                    self.connection.execute("ROLLBACK")
                raise

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.DatabaseError as error:
            reason = str(error)
            advice = {
                "database or disk is full": "the disk is full. What was recorded before is kept; make room and go on",
                "disk I/O error": "the disk is full or fails. What was recorded before is kept; make room and go on",
                "file is not a database": "that is no file of results: give another --results FILE",
                "attempt to write a readonly database": "it cannot be written: give another --results FILE",
                "database is locked": f"another process has held it for {PATIENCE} seconds: end that, and go on",
            }.get(reason, reason)
            raise LabError(f"{self.path}: {advice}") from None


def _cell(row: tuple) -> Cell:
    values = dict(zip(COLUMNS.split(), row, strict=True))
    return Cell(**{name: json.loads(value) if name in IN_JSON else value for name, value in values.items()})
