"""./cw report --kept: the report of results/, which runs nothing and builds nothing."""

from __future__ import annotations

import shlex
from pathlib import Path

from lab.base.paths import TOP, LabError
from lab.kept import files
from lab.kept.files import KeptResults
from lab.kept.form import Place
from lab.report.reproduce import group
from lab.sweep.experiment import load


def kept_results(names: list[str], place: Path | None = None) -> KeptResults:
    """What is kept of the experiments @names, or of all; LabError where that is nothing."""
    kept = KeptResults([load(name) for name in names or group("all")], place)
    if not kept.experiments():
        asked = f" of {', '.join(names)}" if names else ""
        make, keep = (shlex.join(["./cw", *words]) for words in _how(names))
        raise LabError(f"{files.shown(kept.path)}/ keeps no runs{asked} yet: {make} makes them, {keep} keeps them")
    return kept


def _how(names: list[str]) -> tuple[list[str], list[str]]:
    """The words of the commands that make and keep runs of @names, or of all."""
    names = list(dict.fromkeys(names))
    make = ["sweep", *names, "--full"] if names else ["reproduce", "all", "--full"]
    return make, ["keep", *(names or ["all"])]


def missing_words(kept: KeptResults) -> list[str]:
    """A line for each experiment that is not whole: which runs are missing."""
    return _by_experiment(kept, kept.missing())


def outdated_words(kept: KeptResults) -> list[str]:
    """A line for each experiment whose file asks for other runs by now than are kept: which ones."""
    return _by_experiment(kept, kept.outdated)


def _by_experiment(kept: KeptResults, chosen: dict[str, list[Place]]) -> list[str]:
    found = []
    for name, places in chosen.items():
        if len(places) == len(kept.plan[name]):
            found.append(f"{name}: all of its {len(places)} runs")
        elif places:
            seeds: dict[tuple[str, str], list[str]] = {}
            for kernel, workload, seed in places:
                seeds.setdefault((kernel, workload), []).append(str(seed))
            runs = "; ".join(f"{kernel}, {workload}: seed{'s' if len(found) > 1 else ''} {', '.join(found)}" for (kernel, workload), found in seeds.items())  # fmt: skip
            found.append(f"{name}: {len(places)} of {len(kept.plan[name])} runs: {runs}")
    return found


def report_kept(
    names: list[str],
    text: bool = False,
    csv: Path | None = None,
    json: Path | None = None,
    html: Path | None = None,
    output: Path | None = None,
    place: Path | None = None,
) -> None:
    """The report of what is kept; in every form in build/report/kept, where no form is asked for."""
    from lab.build.setup import need_lab
    from lab.report.command import present, sections_of

    need_lab()
    kept = kept_results(names, place)
    there = dict(kept.experiments())
    sections = sections_of(kept, [one for one in names or group("all") if Path(one).stem in there], False, True)
    if not (text or csv or json or html or output):
        output = TOP / "build" / "report" / "kept"
    present(sections, f"{files.shown(kept.path)}/: {kept.summary()}", text, csv, json, html, output)
    if Path("-") in (csv, json, html):
        return  # stdout is a file's
    lacking, others = missing_words(kept), outdated_words(kept)
    if others:
        print("Kept as experiments asked for them once, which ask for other runs by now:", *others, sep="\n  ")
    if lacking:
        print("Not kept yet, of what the full size asks for:", *lacking, sep="\n  ")
    else:
        print(f"Kept: {kept.summary()}, the full size as it is asked for")
