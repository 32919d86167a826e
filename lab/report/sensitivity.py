"""Which conclusions would be others, were the simulated processor another: for all that rests on cycles.

Each run that was simulated with ,sensitivity is seen as under other settings (lab/run/cachesim/sensitivity.py), and
the same tables are judged of it again, with the same rule. Where no verdicts are given, directions are compared.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from lab.report.collect import Section
from lab.report.figures import Outcome, Sensitivity
from lab.report.numbers import Ratio
from lab.report.verdicts import NOT_MEASURED
from lab.run.cachesim.sensitivity import Setting, like, settings, under
from lab.sweep.experiment import Measure
from lab.sweep.store import Cell

Place = tuple[str, str, int]  # kernel, workload, seed


def rests_on_cycles(measure: Measure) -> bool:
    """Is it made of costs? Misses and steps are counts, whatever these are."""
    kind, _, path = measure.source.partition(":")
    return kind == "simulated" or (kind == "cachesim" and path.split(".")[-1].startswith("cycles"))


def sensitivities(section: Section) -> list[Sensitivity]:
    """Of each row with a number of the paper's and of each finding that has a word or a direction, of measures that rest on cycles. Of a demonstration
    that was not simulated so: nothing."""
    measured = {key: one for key, one in _conclusions(section) if one.word not in NOT_MEASURED}
    if not measured:
        return []
    seeds = section.experiment.sensitivity_seeds if section.full else None
    simulated = {place: cell for place, cell in section.cells.items() if cell and cell.ok and cell.cachesim}
    runs = [cell.cachesim for (_, _, seed), cell in simulated.items() if seed in (seeds or [seed])]
    asked = settings(runs)
    if not asked and not section.judged:
        return []
    if not asked:
        why = "the runs were not simulated with ,sensitivity" if runs else "there are no simulated runs"
        return [Sensitivity(*key, one, [], why) for key, one in measured.items()]
    others: dict[tuple[str, str, str], list[Outcome]] = {key: [] for key in measured}
    for setting in asked[1:]:
        for key, outcome in _conclusions(replace(section, cells={**section.cells, **_under(simulated, setting)})):
            if key in others:
                others[key].append(replace(outcome, setting=setting.name))
    return [_sensitivity(key, one, others[key]) for key, one in measured.items()]


def _sensitivity(key: tuple[str, str, str], measured: Outcome, others: list[Outcome]) -> Sensitivity:
    if measured.ratio and not any(one.ratio for one in others):
        return Sensitivity(*key, measured, [], "no seed of it was simulated with ,sensitivity")
    return Sensitivity(*key, measured, others)


def _under(simulated: dict[Place, Cell], setting: Setting) -> dict[Place, Cell | None]:
    """The cells as @setting would have them; those that counted for themselves alone, as other seeds of the same
    kernel and workload tell, or, where there are none, not at all."""
    told: dict[tuple[str, str], list[tuple[dict[str, Any], dict[str, Any]]]] = {}
    seen: dict[Place, Cell | None] = {}
    for (kernel, workload, seed), cell in simulated.items():
        if "counted" in cell.cachesim:
            changed = under(cell.cachesim, setting)
            told.setdefault((kernel, workload), []).append((cell.cachesim, changed))
            seen[kernel, workload, seed] = replace(cell, cachesim=changed)
    for (kernel, workload, seed), cell in simulated.items():
        if (kernel, workload, seed) not in seen:
            pairs = told.get((kernel, workload), [])
            seen[kernel, workload, seed] = replace(cell, cachesim=like(cell.cachesim, pairs)) if pairs else None
    return seen


def _conclusions(section: Section) -> Iterator[tuple[tuple[str, str, str], Outcome]]:
    """By what, measure and place. The first measure stays: a paper's deviation belongs to it."""
    experiment = section.experiment
    wanted = [one for one in experiment.measure if rests_on_cycles(one)]
    names = {one.name for one in wanted}
    small = replace(
        section,
        experiment=experiment.model_copy(
            update={
                "measure": [*([] if experiment.measure[0] in wanted else experiment.measure[:1]), *wanted],
                "expects": [one for one in experiment.expects if one.measure in names],
            }
        ),
    )
    for table in small.tables if wanted else ():
        for row in table.rows:
            if table.measure.name in names and row.paper_ratio and not row.is_reference:
                word = row.verdict.word if row.verdict else _direction(row.ratio)
                yield (row.kernel, table.measure.name, row.place.name), Outcome("as measured", word, row.ratio)
    for one in small.judgements if wanted else ():
        word = one.verdict.word if one.verdict else _direction(one.ratio)
        yield (one.expect.text, one.expect.measure, one.place), Outcome("as measured", word, one.ratio)


def _direction(ratio: Ratio | None) -> str:
    if ratio is None:
        return "no ratio"
    side = ratio.side if ratio.side is not None else (ratio.value > 1) - (ratio.value < 1)
    return ("less", "1 in the interval", "more")[side + 1]
