"""A compiled replay engine is kept until something changes that it is made of: whatever the compiler reads."""

from __future__ import annotations

import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest

from lab.base.choose import load_choose
from lab.base.paths import TOP
from lab.record import engine

CACHES = ("page", "buffer", "inode", "dentry")


class Compiler:
    """In place of the compiler: an empty engine for each call, and what the true one would read for the first."""

    def __init__(self) -> None:
        self.said = "a compiler, version 1"
        self.calls = 0
        self.read: list[Path] = []

    def run(self, command: list[str], **_options) -> SimpleNamespace:
        if command[1:] == ["--version"]:
            return SimpleNamespace(stdout=self.said)
        Path(command[command.index("-o") + 1]).touch()
        self.calls += 1
        if not self.read:
            done = subprocess.run([*command, "-MM", "-MF", "/dev/stdout"], capture_output=True, text=True, check=True)
            words = done.stdout.replace("\\\n", " ").split()[1:]
            self.read = [Path(word) for word in words if Path(word).is_relative_to(TOP)]
        return SimpleNamespace(returncode=0, stderr="")


@pytest.fixture
def compiler(monkeypatch, tmp_path) -> Compiler:
    found = Compiler()
    monkeypatch.setattr(engine, "subprocess", found)
    monkeypatch.setattr(engine, "made_folder", lambda name: tmp_path / name)
    return found


def engine_of(choice: engine.Choice) -> Path:
    """As a new process would have it."""
    engine._sources.cache_clear()
    return engine.compiled(choice)


def default_choice(cache: str, **more) -> engine.Choice:
    values = {"function": load_choose().DEFAULTS[f"{cache.upper()}_HASH"], "structure": "chained", "word": 64}
    return engine.Choice(cache, **{**values, "name_function": "linux-6.1", **more})


@pytest.fixture(autouse=True)
def nothing_is_kept_of_this():
    yield
    engine._sources.cache_clear()


@pytest.mark.parametrize("cache", CACHES)
def test_whatever_is_compiled_in_makes_another_engine(compiler, monkeypatch, cache):
    choice = default_choice(cache)
    before = engine_of(choice)
    assert engine_of(choice) == before and compiler.calls == 1
    # The functions of the other caches are compiled, too, but nobody calls them.
    foreign = [TOP / "hash" / other for other in CACHES if other != cache]
    read = [path for path in compiler.read if path.parent not in foreign]
    assert len(read) > 30 and TOP / "hash/name/linux-6.1.h" in read and engine.SOURCE in read
    read_bytes, changed = Path.read_bytes, None
    monkeypatch.setattr(Path, "read_bytes", lambda path: read_bytes(path) + (b"\n" if path == changed else b""))
    kept = []
    for changed in read:
        if engine_of(choice) == before:
            kept.append(str(changed.relative_to(TOP)))
    assert not kept, "what has changed there is not compiled"


def test_every_choice_and_compiler_has_an_engine_of_its_own(compiler):
    choices = [default_choice(cache) for cache in CACHES]
    choices += [default_choice("dentry", name_function="linux-2.2"), default_choice("dentry", word=32)]
    choices += [default_choice("page", structure="rbtree"), default_choice("page", function="mult")]
    assert len({engine_of(choice) for choice in choices}) == len(choices) == compiler.calls
    before = engine_of(choices[0])
    compiler.said = "a compiler, version 2"
    assert engine_of(choices[0]) != before
