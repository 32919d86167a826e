"""What decides a run is part of its identity: every module that a cell's process may come to is, or is said here not to matter."""

from __future__ import annotations

from pathlib import Path

from lab.base.paths import TOP
from lab.check import imports
from lab.guest import jobs, workloads
from lab.sweep.kernels import MAKERS

# Where `./cw run --result` begins, and what a cell without a machine begins with.
ROOTS = ("lab.cli.run", "lab.measure.host")
# What changes no run, and why. A name stands for what is below it, too.
CHANGE_NO_RUN = {
    "lab": "its table of packages",
    "lab.base": "paths, errors, lists of what the sources have: those belong to every identity",
    "lab.build": "make's command; what make reads and runs, and the configuration, are in the identity",
    "lab.cli": "an option's word for a machine's; what it comes to, lab.run.options, is in the identity",
    "lab.compare": "./cw run --strace, which no cell has",
    "lab.guest.iso": "./cw iso",
    "lab.measure.host": "a program of this host is started and waited for: what it prints is its own",
    "lab.run": "what the package is for",
    "lab.guest": "what the package is for",
    "lab.run.demo": "make run",
    "lab.run.gdb": "make gdb",
    "lab.run.listing": "./cw list",
    "lab.run.own_folder": "which folder a kernel is built in; a cell's is built, with all that it needs",
}


def reached(roots: tuple[str, ...]) -> set[str]:
    """@roots and all modules that they import, and those these do, inside functions too."""
    graph = imports.graph_of(imports.modules())
    found: set[str] = set()
    left = list(roots)
    while left:
        name = left.pop()
        if name not in found:
            found.add(name)
            left += graph[name]
    return found


def file_of(module: str) -> Path:
    path = Path(*module.split("."))
    return path / "__init__.py" if (TOP / path).is_dir() else path.with_suffix(".py")


def is_maker(path: Path) -> bool:
    return any(path == Path(one) or Path(one) in path.parents for one in MAKERS)


def said(module: str) -> bool:
    parts = module.split(".")
    whole = {".".join(parts[:count]) for count in range(2, len(parts) + 1)} | {module}
    packages = {"lab.run", "lab.guest"}  # of which only the package's own file is meant
    return any(one in CHANGE_NO_RUN and (one not in packages or one == module) for one in whole)


def test_a_module_that_a_run_comes_to_is_part_of_its_identity_or_changes_nothing():
    modules = reached(ROOTS)
    assert {"lab.run.machine", "lab.run.linux", "lab.guest.jobs", "lab.run.stacks", "lab.run.result"} <= modules
    unsaid = [name for name in sorted(modules) if not is_maker(file_of(name)) and not said(name)]
    assert not unsaid, "put them into MAKERS of lab/sweep/kernels.py, or say above why no run depends on them"
    assert not [name for name in CHANGE_NO_RUN if is_maker(file_of(name))]


def test_what_is_part_of_the_identity_is_there():
    assert all((TOP / one).exists() for one in MAKERS)


def test_the_source_in_images_is_part_of_the_identity(monkeypatch):
    """The job that says which archive goes into them."""
    asked = []
    monkeypatch.setattr(jobs.Job, "fetched", lambda job: asked.append(job))
    monkeypatch.setattr(workloads, "add_source", lambda *_: None)
    for image in workloads.IMAGES:
        if "tcc" in image.packages:
            workloads._add_lua(None)
    assert asked and all(is_maker(job.path.relative_to(TOP)) for job in asked)
