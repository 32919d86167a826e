"""./cw keep: what sweeps have recorded of the full size goes into results/.

Only runs that ended well, and that this checkout would make again: their identity is that of the plan. An experiment's
file is written as a whole, one after another, so that whatever ends the command leaves each as it was or as it shall be.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from lab.base.paths import LabError
from lab.kept import files
from lab.kept.form import Kept, Place, spoken
from lab.run.result import revision
from lab.sweep.experiment import Experiment
from lab.sweep.measures import value
from lab.sweep.plan import Plan
from lab.sweep.store import Cell, Store, same_machine
from lab.sweep.validate import load

HASH_COSTS = ("instructions", "called", "code_bytes")


@dataclass
class Outcome:
    """What keeping came to for an experiment."""

    asked: int = 0  # places of the plan
    there: int = 0  # of which so many are kept now
    new: list[Place] = field(default_factory=list)
    replaced: list[Place] = field(default_factory=list)  # of the new ones: other sources or tools were kept there
    gone: list[Place] = field(default_factory=list)  # the experiment asks for them no longer
    uncommitted: list[Place] = field(default_factory=list)  # of sources that are in no commit: not kept


def keep(names: list[str], results: Path | None = None, place: Path | None = None) -> int:
    """Keep what is new of the experiments @names in the folder @place, results/. 0, or 1: some is of no commit."""
    experiments = [load(name) for name in names]
    uncommitted = changed = 0
    with Store(results, create=False) as store:
        known = files.cells(place)
        try:
            for experiment in experiments:
                outcome = keep_one(store, experiment, known, place)
                uncommitted += len(outcome.uncommitted)
                changed += len(outcome.new) + len(outcome.gone)
                print(f"{experiment.name}: {said(outcome)}", flush=True)
        except KeyboardInterrupt:
            print("interrupted: what was said above is kept; the same command goes on from there", flush=True)
            raise
    where = files.shown(place or files.folder())
    if uncommitted:
        print(f"{uncommitted} runs are of sources that are in no commit: commit these, and give the same command again")
        return 1
    print(f"commit {where}/, with what `make docs` makes of it" if changed else f"nothing is new for {where}/")
    return 0


def keep_one(store: Store, experiment: Experiment, known: Mapping[str, Cell], place: Path | None = None) -> Outcome:
    """@known: what is kept already, of whatever experiment, by id."""
    plan = Plan()
    plan.add(experiment, full=True)
    wanted = {(use.kernel, use.workload, use.seed): id for use, id in plan.uses.items()}
    before = files.read(experiment.name, place)
    after = {where: cell for where, cell in before.items() if where in wanted}
    outcome = Outcome(asked=len(wanted), gone=[where for where in before if where not in wanted])
    for where, id in wanted.items():
        if where in before and before[where].id == id:
            continue
        cell = store.cell(id)
        if where in before and cell and same_machine(before[where], cell):
            continue  # of other sources: what is kept stays as it is
        cell = cell if cell and cell.ok else known.get(id)
        committed = cell and _of_a_commit(cell)
        if committed:
            after[where] = _with_hash_costs(experiment, committed)
            outcome.new.append(where)
            outcome.replaced += [where] if where in before else []
        elif cell:
            outcome.uncommitted.append(where)
    outcome.there = len(after)
    if outcome.new or outcome.gone:
        files.write(experiment.name, [Kept(where, cell) for where, cell in after.items()], place)
    return outcome


def _of_a_commit(cell: Cell) -> Cell | None:
    """@cell with the commit that repeats it. What ran before its sources were committed is of this checkout's commit,
    whose sources are the same: its identity is. None: they are not committed yet."""
    if not cell.revision.endswith("-dirty") and cell.revision != "unknown":
        return cell
    here = revision()
    return None if here.endswith("-dirty") or here == "unknown" else replace(cell, revision=here)


def _with_hash_costs(experiment: Experiment, cell: Cell) -> Cell:
    """@cell with what its hash functions cost, which a report would have to compile for."""
    stats = dict(cell.stats)
    for cache in {one.source.partition(":")[2].split(".")[0] for one in experiment.measure if one.kind == "hashcost"}:
        if cache in stats:
            costs = {name: value(f"hashcost:{cache}.{name}", cell) for name in HASH_COSTS}
            stats[cache] = {**stats[cache], "hashcost": costs}
    return replace(cell, stats=stats)


def said(outcome: Outcome) -> str:
    parts = [f"{len(outcome.new)} new", f"{outcome.there} of {outcome.asked} runs kept"]
    if outcome.replaced:
        parts[0] += f", {len(outcome.replaced)} in place of runs with other sources, tools or loads"
    if outcome.gone:
        parts.append(f"gone, since the file asks for them no longer: {'; '.join(map(spoken, outcome.gone))}")
    if outcome.uncommitted:
        parts.append(f"{len(outcome.uncommitted)} not kept, of sources in no commit")
    return "; ".join(parts)


def kept_cells(place: Path | None = None) -> Mapping[str, Cell]:
    """What a full sweep need not run, by id. LabError: results/ is damaged."""
    try:
        return files.cells(place)
    except LabError as error:
        raise LabError(f"{error}\nnothing was run") from None
