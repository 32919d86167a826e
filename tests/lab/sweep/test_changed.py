"""Sources that change while a kernel is built of them, or while a cell runs: what comes of it is of neither, and goes."""

from __future__ import annotations

import pytest

from lab.base.paths import LabError, output_folder
from lab.sweep import kernels, runner
from lab.sweep.kernels import Choice
from lab.sweep.plan import Plan, check_unchanged
from lab.sweep.validate import load
from tests.lab.sweep.small import HEAD, WORKLOAD, write

CHOICE = Choice("default", (), "CONFIG_X=y\n")
CHANGED = "sources of this checkout have changed while"


@pytest.fixture
def sources(tmp_path, monkeypatch):
    """A source's path; all kernels, and what is known of sources, are the test's own."""
    folder = tmp_path / "sources"
    folder.mkdir()
    source = folder / "a.c"
    source.write_text("int a;\n")
    for name in ("SOURCES", "PROGRAM_SOURCES"):
        monkeypatch.setattr(kernels, name, (str(folder),))
    monkeypatch.setattr(kernels, "MAKERS", ())
    monkeypatch.setattr(kernels, "folder", lambda: tmp_path / "kernels")
    forget()
    yield source
    forget()


def forget() -> None:
    """As in another process."""
    kernels.sources_digest.cache_clear()
    kernels._programs.cache_clear()


@pytest.fixture
def make(monkeypatch):
    """Make does nothing but put files there that say what the source said; a list of what happens meanwhile."""
    meanwhile: list = []

    def build(settings, defconfig, quiet=False, goals=()):
        work = output_folder()
        (work / "user").mkdir(parents=True, exist_ok=True)
        (work / "user/program").write_text("a program\n")
        (work / "a.o").write_text("of what the source said\n")
        (work / "effective.config").write_text(CHOICE.config)
        for name in ("chainwalk", "chainwalk.stripped", "chainwalk.map"):
            (work / name).write_text("a kernel\n")
        for one in meanwhile:
            one()

    monkeypatch.setattr(kernels, "build", build)
    return meanwhile


def there(folder) -> set[str]:
    return {path.name.partition("-")[0] for path in folder.iterdir()}


def test_a_kernel_of_sources_that_change_is_thrown_away(sources, make, tmp_path):
    kernels.sources_digest()
    make.append(lambda: sources.write_text("int b;\n"))
    with pytest.raises(LabError, match=f"{CHANGED} default was built.*give the same command again"):
        kernels.prepare([CHOICE], lambda *_: None)
    assert there(tmp_path / "kernels") == {"work"}, "neither a kernel nor programs are kept under a key"
    assert [path.name for path in (tmp_path / "kernels/work").iterdir()] == [".lock"], "make begins anew"
    make.clear()
    with pytest.raises(LabError, match=CHANGED):  # this process goes on with what it planned with
        kernels.prepare([CHOICE], lambda *_: None)
    forget()
    (folder,) = kernels.prepare([CHOICE], lambda *_: None).values()
    assert (folder / "chainwalk").read_text() == "a kernel\n" and (folder / "user/program").exists()


def test_so_are_programs(sources, make, tmp_path):
    """Where the kernel is there already, the programs are built alone."""
    kernels.prepare([CHOICE], lambda *_: None)
    sources.with_name("b.c").write_text("int c;\n")
    forget()
    (tmp_path / "kernels" / f"built-{CHOICE.build_key}").mkdir()
    make.append(lambda: sources.write_text("int d;\n"))
    with pytest.raises(LabError, match=f"{CHANGED} the programs were built"):
        kernels.prepare([CHOICE], lambda *_: None)
    assert sum(path.name.startswith("user-") for path in (tmp_path / "kernels").iterdir()) == 1


def test_a_cell_is_not_begun_with_other_sources_and_not_recorded_with_others(sources, tmp_path, monkeypatch):
    plan = Plan()
    plan.add(load(write(tmp_path, HEAD + WORKLOAD)))
    cell = next(iter(plan.cells.values()))
    check_unchanged(cell)
    monkeypatch.setattr(runner.sys, "executable", "/bin/true")
    running = runner.start(cell, tmp_path, tmp_path / "run")
    (tmp_path / "run/result.json").write_text('{"kind": "exit", "status": "ok"}')
    running.process.wait()
    assert runner.outcome(running) == {"kind": "exit", "status": "ok", "checked": True}
    sources.write_text("int b;\n")
    with pytest.raises(LabError, match=f"{CHANGED} the sweep ran"):
        runner.outcome(running)
    with pytest.raises(LabError, match=f"{CHANGED} the sweep ran"):
        runner.start(cell, tmp_path, tmp_path / "other")
    assert not (tmp_path / "other").exists()
