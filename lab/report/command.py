"""./cw report: which experiments, in which forms, to where."""

from __future__ import annotations

import sys
from pathlib import Path

from rich.console import Console

from lab.base.files import write_whole
from lab.base.paths import LabError
from lab.report.collect import Results, Section, collect
from lab.report.sensitivity import sensitivities
from lab.sweep.experiment import load
from lab.sweep.store import Store
from lab.sweep.toml.files import find


def gather(names: list[str], every: bool, results: Path | None, full: bool) -> list[Section]:
    """The sections of the experiments @names, or of every one that has results. LabError where there is nothing."""
    with Store(results, create=False) as store:
        return sections_of(store, names, every, full)


def sections_of(store: Results, names: list[str], every: bool, full: bool) -> list[Section]:
    """The same of what @store has."""
    scale = "full" if full else "reduced"
    names = list({find(name).resolve(): name for name in names}.values())  # asked for twice, it is shown once
    wanted = [load(name) for name in names]
    files = {one.name: name for one, name in zip(wanted, names, strict=True) if name.endswith(".toml")}
    there = [name for name, size in store.experiments() if size == scale]
    if not names and not every:
        listed = "".join(f"\n  {name} ({size} size)" for name, size in store.experiments())
        raise LabError(
            f"which experiment? ./cw report EXPERIMENT..., or --all. There are results of:{listed or ' none'}"
        )
    if every:
        known = {experiment.name for experiment in wanted}
        for name in there:
            if name not in known:
                try:
                    wanted.append(load(find(name)))
                except LabError as error:  # the file has another name or place by now, or is wrong
                    print(f"cw: {name} is left out: {str(error).splitlines()[0]}", file=sys.stderr)
    sections = []
    for experiment in wanted:
        section = collect(store, experiment, full)
        if section is None:
            option = " --full" if full else ""
            raise LabError(
                f"{store.path} has no results of {experiment.name} at {scale} size: run"
                f" ./cw sweep experiments/{experiment.name}.toml{option} first"
                + _elsewhere(store, experiment.name, full)
            )
        section.file = files.get(experiment.name, "")
        section.sensitivities = sensitivities(section)
        sections.append(section)
    if not sections:
        raise LabError(f"{store.path} has no results at {scale} size: run ./cw sweep first")
    return sections


def _elsewhere(store: Results, name: str, full: bool) -> str:
    other = "reduced" if full else "full"
    if (name, other) not in store.experiments():
        return ""
    return f" (there are results at {other} size: {'leave out' if full else 'add'} --full)"


def report(
    names: list[str],
    every: bool = False,
    results: Path | None = None,
    full: bool = False,
    text: bool = False,
    csv: Path | None = None,
    json: Path | None = None,
    html: Path | None = None,
    output: Path | None = None,
) -> None:
    """Print the report of a sweep's @results, and write what was asked for."""
    from lab.build.setup import need_lab

    need_lab()
    sections = gather(names, every, results, full)
    present(sections, str(results or "build/results.sqlite"), text, csv, json, html, output)


def present(
    sections: list[Section],
    source: str,
    text: bool = False,
    csv: Path | None = None,
    json: Path | None = None,
    html: Path | None = None,
    output: Path | None = None,
) -> None:
    """Print @sections, and write what was asked for. @source: what they are from, in words."""
    from lab.report import export
    from lab.report.text import WIDTH, plain, show

    makers = {
        "text": lambda: plain(sections), "csv": lambda: export.as_csv(sections), "json": lambda: export.as_json(sections, source)
    }  # fmt: skip
    files = [(path, form) for path, form in ((csv, "csv"), (json, "json")) if path]
    if output:
        files += [(output / "report.txt", "text"), (output / "report.csv", "csv"), (output / "report.json", "json")]
    for path, form in files:
        _write(path, makers[form]())
    for wanted in (html, output and output / "report.html"):
        if wanted:
            write_page(sections, source, wanted)
    if Path("-") in (csv, json, html):
        return  # stdout is a file's
    if text:
        sys.stdout.write(makers["text"]())
    else:
        console = Console(highlight=False)
        show(sections, console if console.is_terminal else Console(highlight=False, width=WIDTH))


def write_page(sections: list[Section], source: str, path: Path) -> None:
    """The first page; beside it those of the experiments, and the charts as files in a folder of its name."""
    from lab.report.web.page import alone, pages

    if path == Path("-"):
        _write(path, alone(sections))
        return
    made = pages(sections, source, path.name)
    folder = path.parent / f"{path.stem}-charts"
    for name, text in made.texts.items():
        _write(path.parent / name, text, quiet=text is not made.first)
    for chart in made.charts:
        for ending, data in chart.files.items():
            _write(folder / f"{chart.name}.{ending}", data, quiet=True)
    print(
        f"wrote {len(made.texts) - 1} pages of details beside it, and {2 * len(made.charts)} charts in {folder}",
        file=sys.stderr,
    )


def _write(path: Path, content: str | bytes, quiet: bool = False) -> None:
    """Write a file as a whole or not at all; `-` is stdout."""
    data = content.encode() if isinstance(content, str) else content
    if path == Path("-"):
        sys.stdout.buffer.write(data)
        return
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, data)
    except OSError as error:
        raise LabError(f"{path} cannot be written: {error.strerror or error}") from None
    if not quiet:
        print(f"wrote {path}", file=sys.stderr)
