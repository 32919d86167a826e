"""A report as CSV and as JSON, for programs: every number unrounded, with the ids of the runs that it comes from."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import asdict
from typing import Any

from lab.report import summary, words
from lab.report.collect import TOLERANCE, Buckets, Curve, Section, Table
from lab.report.figures import Sensitivity
from lab.report.numbers import CONFIDENCE, Ratio, Sample

VERSION = 1  # of the JSON
COLUMNS = (
    "experiment scale measure unit workload kernel reference mean s n seeds dropped_seeds ratio ratio_low ratio_high paired"
    " paper_mean paper_s paper_n paper_ratio paper_ratio_low paper_ratio_high verdict missing cells revisions"
).split()


def as_csv(sections: list[Section]) -> str:
    """One line for each measure, workload and kernel."""
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    for section in sections:
        revisions = {cell.id: cell.revision for cell in section.cells.values() if cell}
        for table in section.tables:
            for row in table.rows:
                kept, dropped = (row.ours.kept, row.ours.dropped) if row.ours else ((), ())
                cells = [run.cell for run in (*kept, *dropped)]
                line: dict[str, Any] = {
                    "experiment": section.experiment.name, "scale": section.scale, "measure": table.measure.name,
                    "unit": table.measure.unit, "workload": row.place.name, "kernel": row.kernel,
                    "reference": section.experiment.reference, "seeds": " ".join(str(run.seed) for run in kept),
                    "dropped_seeds": " ".join(str(run.seed) for run in dropped), "verdict": row.verdict.word if row.verdict else "",
                    "missing": row.missing, "cells": " ".join(cells), "paired": "",
                    "revisions": " ".join(sorted({revisions[cell] for cell in cells})),
                }  # fmt: skip
                line |= _sample(row.ours, "") | _sample(row.paper, "paper_")
                line |= _ratio(row.ratio, "") | _ratio(row.paper_ratio, "paper_")
                if row.ratio and row.ratio.low is not None:
                    line["paired"] = "yes" if row.ratio.paired else "no"
                writer.writerow(line)
    return text.getvalue()


def _sample(one: Sample | None, prefix: str) -> dict[str, Any]:
    return {f"{prefix}{name}": getattr(one, name) if one else None for name in ("mean", "s", "n")}


def _ratio(one: Ratio | None, prefix: str) -> dict[str, Any]:
    names = {"ratio": "value", "ratio_low": "low", "ratio_high": "high"}
    return {f"{prefix}{name}": getattr(one, key) if one else None for name, key in names.items()}


def as_json(sections: list[Section], results: str) -> str:
    """One object; docs/lab/reports.md describes it. The same results give the same bytes."""
    judged = [section for section in sections if section.judged]
    whole = {
        "version": VERSION, "results": results, "confidence": CONFIDENCE, "method": list(words.METHOD),
        "verdicts": summary.total(judged), "aims": summary.aims(judged),
        "experiments": [_experiment(section) for section in sections],
    }  # fmt: skip
    return json.dumps(whole, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _experiment(section: Section) -> dict[str, Any]:
    experiment = section.experiment
    return {
        "name": experiment.name, "title": experiment.title, "paper": experiment.paper, "scale": section.scale,
        "reference": experiment.reference, "keep": experiment.keep_at(section.full), "notes": experiment.notes,
        "again": words.sweep_command(section), "revisions": section.revisions, "qemu": section.qemus,
        "remarks": section.remarks,
        "tables": [_table(table) for table in section.tables],
        "judgements": [_judgement(one) for one in section.judgements],
        "sensitivity": [_sensitivity(one) for one in section.sensitivities],
        "histograms": [_histogram(one) for one in section.histograms],
        "chains": [asdict(one) for one in section.chains],
        "misses": [asdict(one) for one in section.misses],
        "curves": [_curve(one) for one in section.curves],
        "faults": [_fault(one) for one in section.faults],
        "runs": [
            {"kernel": kernel, "workload": variant.name, "seed": seed, **_cell(cell)}
            for kernel in (one.name for one in experiment.kernel)
            for variant in section.variants
            for seed, cell in section.runs(kernel, variant.name)
            if cell
        ],
    }  # fmt: skip


def _cell(cell: Any) -> dict[str, Any]:
    names = "id status kind message command revision qemu virtual_ns seconds finished"
    of_host = {name: cell.config[name] for name in ("system", "libraries", "load_average") if name in cell.config}
    return {name: getattr(cell, name) for name in names.split()} | of_host


def _table(table: Table) -> dict[str, Any]:
    measure = table.measure
    rows = [
        {
            "workload": row.place.name, "kernel": row.kernel, "is_reference": row.is_reference, "missing": row.missing,
            "verdict": row.verdict.word if row.verdict else "", "reason": row.verdict.said if row.verdict else "", "ours": row.ours and asdict(row.ours), "ratio": row.ratio and asdict(row.ratio),
            "paper": row.paper and _sample(row.paper, ""), "paper_ratio": row.paper_ratio and asdict(row.paper_ratio),
            "paper_row": row.paper_row,
        }
        for row in table.rows
    ]  # fmt: skip
    about = {
        "measure": measure.name,
        "unit": measure.unit,
        "better": measure.better,
        "from": measure.source,
        "without": table.without,
    }
    return {**about, "rows": rows}


def _judgement(one: Any) -> dict[str, Any]:
    expect = one.expect
    return {
        "text": expect.text, "verdict": one.word, "reason": one.reason, "open": expect.open, "conclusion": expect.conclusion,
        "measure": expect.measure, "workload": one.place, "more": expect.above, "than": expect.than,
        "at_least": expect.at_least, "largest": expect.largest, "asked": expect.asked, "goal": expect.goal, "ratio": one.ratio and asdict(one.ratio),
        "paper_ratio": one.paper_ratio and asdict(one.paper_ratio),
    }  # fmt: skip


def _sensitivity(one: Sensitivity) -> dict[str, Any]:
    return {
        "what": one.what, "measure": one.measure, "workload": one.place, "measured": asdict(one.measured),
        "missing": one.missing, "kept": len(one.others) - len(one.changed), "of": len(one.others),
        "changed": [asdict(each) for each in one.changed], "settings": [asdict(each) for each in one.others],
    }  # fmt: skip


def _histogram(one: Buckets) -> dict[str, Any]:
    return {
        "title": one.title, "kernel": one.wanted.kernel, "cache": one.wanted.cache, "workload": one.place,
        "seed": one.seed, "cell": one.cell and one.cell.id, "missing": one.missing, "report": one.report,
        "paper": one.paper.model_dump(exclude_none=True),
    }  # fmt: skip


def _curve(one: Curve) -> dict[str, Any]:
    kernels = {
        name: [{"count": p.count, "ours": p.ours and asdict(p.ours), "paper": p.paper and _sample(p.paper, "")} for p in points]
        for name, points in one.kernels.items()
    }  # fmt: skip
    return {"measure": one.measure.name, "noun": one.noun, "tolerance": TOLERANCE, "kernels": kernels}


def _fault(one: Any) -> dict[str, Any]:
    about = {"kernel": one.kernel, "workload": one.variant, "seed": one.seed, "kind": one.kind, "message": one.message}
    return {**about, "cell": one.cell and one.cell.id, "log": one.cell and one.cell.log}
