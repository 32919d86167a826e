"""./cw keep: what sweeps have recorded of the full size goes into results/.

Only runs that ended well, and that this checkout would make again: their identity is that of the plan. An experiment's
file is written as a whole, one after another, so that whatever ends the command leaves each as it was or as it shall be.

A run of the same identity, or of the same machine, that ended later than what is kept takes its place where it says
something else: it goes by the host's time, or counts otherwise. Where other experiments keep it, too, it is replaced there as well.
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
from lab.sweep.store import Cell, Store, repeatable, same_machine
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
    again: list[Place] = field(default_factory=list)  # what was kept has been run once more
    uncommitted: list[Place] = field(default_factory=list)  # of sources that are in no commit: not kept
    unproven: list[Place] = field(default_factory=list)  # of a checkout with changes, and nobody looked which: not kept


def keep(names: list[str], results: Path | None = None, place: Path | None = None) -> int:
    """Keep what is new of the experiments @names in the folder @place, results/. 0, or 1: some is of no commit, or of none that
    is known."""
    experiments = [load(name) for name in names]
    uncommitted = unproven = changed = 0
    with Store(results, create=False) as store:
        known = files.cells(place)
        try:
            for experiment in experiments:
                outcome = keep_one(store, experiment, known, place)
                uncommitted += len(outcome.uncommitted)
                unproven += len(outcome.unproven)
                changed += len(outcome.new) + len(outcome.gone) + len(outcome.again)
                print(f"{experiment.name}: {said(outcome)}", flush=True)
        except KeyboardInterrupt:
            print("interrupted: what was said above is kept; the same command goes on from there", flush=True)
            raise
    where = files.shown(place or files.folder())
    if uncommitted:
        print(f"{uncommitted} runs are of sources that are in no commit: commit these, and give the same command again")
    if unproven:
        print(
            f"{unproven} runs are of a checkout with changes, and were recorded without a look whether its sources stayed the same:"
            " run them anew (./cw sweep EXPERIMENT --full --again --only KERNEL/WORKLOAD)"
        )
    if uncommitted or unproven:
        return 1
    print(f"commit {where}/, with what `make docs` makes of it" if changed else f"nothing is new for {where}/")
    return 0


def keep_one(store: Store, experiment: Experiment, known: dict[str, Cell], place: Path | None = None) -> Outcome:
    """@known: what is kept already, of whatever experiment, by id; what takes the place of one of these is put there."""
    plan = Plan()
    plan.add(experiment, full=True)
    wanted = {(use.kernel, use.workload, use.seed): id for use, id in plan.uses.items()}
    before = files.read(experiment.name, place)
    after = {where: cell for where, cell in before.items() if where in wanted}
    outcome = Outcome(asked=len(wanted), gone=[where for where in before if where not in wanted])
    repeated: dict[str, Cell] = {}
    for where, id in wanted.items():
        kept, found = before.get(where), _latest(store.cell(id), known.get(id))
        if found is None or (kept and _is_that_of(kept, found)):
            continue
        committed = _of_a_commit(found)
        if committed is None:
            (outcome.uncommitted if found.config.get("checked") else outcome.unproven).append(where)
            continue
        after[where] = _with_hash_costs(experiment, committed)
        if kept and kept.id == committed.id:
            outcome.again.append(where)
            repeated[committed.id] = known[committed.id] = after[where]
        else:
            outcome.new.append(where)
            outcome.replaced += [where] if kept else []
    outcome.there = len(after)
    if outcome.new or outcome.gone or outcome.again:
        files.write(experiment.name, [Kept(where, cell) for where, cell in after.items()], place)
    _replace_in_others(experiment.name, repeated, place)
    return outcome


def _latest(*cells: Cell | None) -> Cell | None:
    """Of those that ended well."""
    return max((cell for cell in cells if cell and cell.ok), key=lambda cell: cell.finished, default=None)


def _is_that_of(kept: Cell, found: Cell) -> bool:
    """Whether @found says nothing but what is @kept of the same run, or is older."""
    if kept.id != found.id and not same_machine(kept, found):
        return False
    return found.finished <= kept.finished or (repeatable(found.config) and files.counted(found) == files.counted(kept))


def _replace_in_others(experiment: str, repeated: Mapping[str, Cell], place: Path | None) -> None:
    """Put the cells that are @repeated, by their ids, where the files of others than @experiment have what they replace."""
    for name in files.names(place) if repeated else ():
        found = files.read(name, place)
        if name != experiment and any(cell.id in repeated for cell in found.values()):
            files.write(name, [Kept(where, _once_more(cell, repeated)) for where, cell in found.items()], place)


def _once_more(cell: Cell, repeated: Mapping[str, Cell]) -> Cell:
    """What is @repeated of @cell, with what its hash functions cost, which is the same; or @cell itself."""
    if cell.id not in repeated:
        return cell
    new = repeated[cell.id]
    costs = {name: one["hashcost"] for name, one in cell.stats.items() if isinstance(one, dict) and "hashcost" in one}
    stats = {name: {**one, "hashcost": costs[name]} if name in costs else one for name, one in new.stats.items()}
    return replace(new, stats=stats)


def _of_a_commit(cell: Cell) -> Cell | None:
    """@cell with the commit that repeats it. What ran before its sources were committed is of this checkout's commit,
    whose sources are the same: its identity is, and it was looked at before and after the run. None: they are not committed
    yet, or nobody looked."""
    if not cell.revision.endswith("-dirty") and cell.revision != "unknown":
        return cell
    here = revision()
    unknown = here.endswith("-dirty") or here == "unknown" or not cell.config.get("checked")
    return None if unknown else replace(cell, revision=here)


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
    if outcome.again:
        parts.append(f"{len(outcome.again)} run again since, in place of the earlier run")
    if outcome.replaced:
        parts[0] += f", {len(outcome.replaced)} in place of runs with other sources, tools or loads"
    if outcome.gone:
        parts.append(f"gone, since the file asks for them no longer: {'; '.join(map(spoken, outcome.gone))}")
    if outcome.uncommitted:
        parts.append(f"{len(outcome.uncommitted)} not kept, of sources in no commit")
    if outcome.unproven:
        parts.append(f"{len(outcome.unproven)} not kept, of sources that nobody looked at")
    return "; ".join(parts)


def kept_cells(place: Path | None = None) -> Mapping[str, Cell]:
    """What a full sweep need not run, by id. LabError: results/ is damaged."""
    try:
        return files.cells(place)
    except LabError as error:
        raise LabError(f"{error}\nnothing was run") from None
