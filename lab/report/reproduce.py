"""./cw reproduce: all experiments of a paper as one sweep, and the report of what came of it."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable
from contextlib import redirect_stdout
from pathlib import Path

from lab.base.paths import TOP, LabError
from lab.report.command import gather, report
from lab.sweep.command import Request, sweep
from lab.sweep.toml.files import FOLDER, like_of

# What the names of a group's experiments begin with.
GROUPS = {
    "lever": "lever-",
    "lever-tables": "lever-table",
    "santos": "santos-",
    "seltzer": "seltzer-",
    "tsai": "tsai-",
    "tsai-tables": "tsai-table",
    "tsai-figures": "tsai-figure",
    "all": "",
}


def group(name: str, full: bool = False) -> list[str]:
    """The names of a group's experiments, or the one experiment that is called so. What is only another experiment on
    another machine takes too long for a demonstration, and belongs to its group with @full."""
    if (FOLDER / f"{name}.toml").exists():
        return [name]
    if name not in GROUPS:
        raise LabError(
            f"nothing to reproduce is called '{name}'. There are: {', '.join(GROUPS)}, and each file of experiments/"
        )
    files = [path for path in sorted(FOLDER.glob("*.toml")) if path.stem.startswith(GROUPS[name])]
    found = [path.stem for path in files if full or not like_of(path)]
    if not found:
        raise LabError(f"experiments/ has no {GROUPS[name]}*.toml")
    return found


def reproduce(
    name: str, request: Request, folder: Path | None, replay: Callable[[bool, Path], str] | None = None
) -> int:
    """All experiments of a group as one sweep, and the report of what came of it. @replay: the part of santos that boots
    nothing; it writes into the report's folder and returns what is to be printed."""
    request.names, request.group = group(name, request.full), name
    status = sweep(request)
    if request.check or request.dry_run:
        return status
    folder = folder or TOP / "build" / "report" / (f"{name}-full" if request.full else name)
    with Path(os.devnull).open("w") as nothing, redirect_stdout(nothing):  # its text is in the folder, and long
        report(request.names, results=request.results, full=request.full, text=True, output=folder)
    counts: Counter[str] = Counter()
    for section in gather(request.names, False, request.results, request.full):
        print(f"\n{section.experiment.name}: {section.experiment.title}")
        for one in section.judgements:
            counts[one.word] += 1
            ratio = f" ({one.expect.above} / {one.expect.than} = {one.ratio.value:.4g})" if one.ratio else ""
            print(f"  {one.word:14}  {one.expect.text}{ratio}")
    print(f"\n{', '.join(f'{count} {verdict}' for verdict, count in counts.items()) or 'no findings'}")
    if replay and name in ("santos", "all"):
        print("\nkeys of a file server's set (docs/lab/file-sets.md)\n" + replay(request.full, folder))
    print(f"the report: {folder}/report.html, report.txt, report.csv, report.json")
    return status
