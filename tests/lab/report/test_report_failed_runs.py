"""A run whose job failed may have sent its statistics all the same: nothing in a report is computed from those."""

from __future__ import annotations

import csv
import io
from dataclasses import replace

import pytest

from lab.build.setup import need_lab
from lab.report import export
from lab.report.collect import Section
from lab.sweep.store import Cell, Store
from tests.lab.report.report_samples import TEXT, section

need_lab()

REGION = {"lookups": 1000, "accesses": 5000, "l1_misses": 250, "l2_misses": 40, "cycles": 9000}
KIND = {"exit": "ended with status 1", "panic": "the kernel panicked", "timeout": "not done in time"}


def scaled(found, factor: int):
    """@found with other numbers."""
    if isinstance(found, dict):
        return {name: scaled(one, factor) for name, one in found.items()}
    if isinstance(found, list):
        return [scaled(one, factor) for one in found]
    return found * factor if isinstance(found, (int, float)) else found


def simulated(cell: Cell) -> Cell:
    return replace(cell, cachesim={"buffer": REGION, "total": REGION})


def spoilt(cell: Cell, kind: str) -> Cell:
    """It failed, and has all results nevertheless, which are far from the others'."""
    cell = simulated(cell)
    return replace(
        cell, status="failed", kind=kind, message=KIND[kind], results=scaled(cell.results, 1000),
        stats=scaled(cell.stats, 1000), cachesim=scaled(cell.cachesim, 1000), virtual_ns=10**15,
    )  # fmt: skip


def sample(path, failed: set[int], kind: str = "", more: str = "") -> Section:
    """Of the kernel "twice" the runs of the seeds @failed failed in the way @kind, or have not been run at all."""

    def change(store: Store) -> None:
        cells = store.cells("sample", "reduced")
        for use, cell in cells:
            lost = use.kernel == "twice" and use.seed in failed
            if lost and kind:
                store.record(spoilt(cell, kind))
            elif not lost:
                store.record(simulated(cell))
        if not kind:
            gone = [cell.id for use, cell in cells if use.kernel == "twice" and use.seed in failed]
            store.connection.executemany("DELETE FROM cell WHERE id = ?", [(id,) for id in gone])

    return section(path, TEXT.replace('"middle"', '"all"') + more, change=change)


def computed(found: Section) -> dict:
    """All that does not say why a run is missing."""
    return {
        "tables": [
            [replace(row, missing="", verdict=None) for row in table.rows] + [table.without] for table in found.tables
        ],
        "judgements": [(one.expect, one.place, one.word, one.ratio, one.paper_ratio) for one in found.judgements],
        "histograms": [(one.cell and one.cell.id, one.seed, one.report) for one in found.histograms],
        "chains": found.chains, "misses": found.misses, "curves": found.curves,
    }  # fmt: skip


HISTOGRAM = '\n[[histogram]]\nkernel = "twice"\ncache = "inode"\n'


@pytest.mark.parametrize("kind", KIND)
@pytest.mark.parametrize("failed", [{1}, {3}, {1, 2, 5}, {1, 2, 3, 4, 5}], ids=str)
def test_what_a_failed_run_has_sent_counts_nowhere(tmp_path, failed, kind):
    found = sample(tmp_path / "failed", failed, kind, HISTOGRAM)
    without = sample(tmp_path / "without", failed, "", HISTOGRAM)
    assert computed(found) == computed(without)
    kept = 5 - len(failed)
    assert {one.runs for one in found.chains if one.kernel == "twice"} == ({kept} if kept else set())
    assert {one.runs for one in found.misses if one.kernel == "twice"} == ({kept} if kept else set())
    assert {one.runs for one in found.misses + found.chains if one.kernel == "plain"} == {5}
    shown = found.histograms[1]
    assert shown.seed == next((seed for seed in range(1, 6) if seed not in failed), None)
    assert {(fault.seed, fault.kind) for fault in found.faults} == {(seed, kind) for seed in failed}


def test_the_export_says_what_is_missing_and_names_no_failed_cell(tmp_path):
    found = sample(tmp_path / "r", {2}, "exit")
    failed = {cell.id for cell in found.cells.values() if cell and not cell.ok}
    lines = [*csv.DictReader(io.StringIO(export.as_csv([found])))]
    assert len(failed) == 1 and not any(failed & {*line["cells"].split()} for line in lines)
    assert {line["missing"] for line in lines if line["kernel"] == "twice"} == {"seed 2: exit"}
