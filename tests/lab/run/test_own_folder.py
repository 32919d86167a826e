"""Kernels built for one purpose: where, when, and that what was there before stays."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from lab.base.paths import output_folder
from lab.build.configure import configure
from lab.run import machine
from lab.run.cachesim import simulation
from lab.run.options import Options
from lab.run.own_folder import lacks, own_folder


@pytest.fixture
def built(tmp_path, monkeypatch) -> Path:
    """An output folder with a kernel that has XATTR=y alone, and nobody has said that it be taken as it is."""
    output = tmp_path / "mine"
    output.mkdir()
    (output / "effective.config").write_text("CONFIG_XATTR=y\n# CONFIG_STRACE is not set\n")
    monkeypatch.setenv("CW_OUTPUT", str(output))
    monkeypatch.delenv("CW_BUILD", raising=False)
    return output


def test_the_folder_is_another_one_only_meanwhile(built, monkeypatch):
    with pytest.raises(KeyError), own_folder("purpose"):
        assert output_folder() == built.with_name("mine-purpose")
        raise KeyError
    assert output_folder() == built
    monkeypatch.delenv("CW_OUTPUT")
    plain = output_folder()
    with own_folder("purpose"):
        assert output_folder() == plain.with_name(f"{plain.name}-purpose")
    assert "CW_OUTPUT" not in os.environ


def test_what_is_built_there_is_configured_alike(built, monkeypatch):
    """By what was saved, or as what is there and is taken as it is; nothing stays of what was saved before."""
    saved = built / ".config"
    saved.write_text("CONFIG_XATTR=y\n")
    with own_folder("purpose"):
        assert (output_folder() / ".config").read_text() == saved.read_text()
        assert configure(output_folder()).syms["XATTR"].str_value == "y"
    with own_folder("another", alike=False):
        assert not (output_folder() / ".config").exists()
    saved.unlink()
    with own_folder("purpose"):
        assert not (output_folder() / ".config").exists()
    monkeypatch.setenv("CW_BUILD", "no")
    with own_folder("purpose"):
        assert "CONFIG_XATTR=y" in (output_folder() / ".config").read_text()


@pytest.mark.parametrize(
    ("wanted", "options", "builds"),
    [
        ([], Options(build=False), False),
        (["XATTR=y"], Options(build=False), False),
        (["XATTR=y", "STRACE=y"], Options(build=False), True),
        (
            ["XATTR=y"],
            Options(),
            True,
        ),  # it would be built anyway: by what its folder's .config says, which may be another
        ([], Options(), False),
        (["XATTR=y"], Options(build=False, settings=["SOCKETS=y"]), True),
        (["XATTR=y"], Options(build=False, defconfig="full"), True),
    ],
)
def test_when_a_kernel_is_to_be_built(built, wanted, options, builds):
    assert lacks(options, wanted) is builds


def test_a_kernel_that_is_to_be_taken_as_it_is(built, monkeypatch):
    monkeypatch.setenv("CW_BUILD", "no")
    assert not lacks(Options(), ["XATTR=y"]) and lacks(Options(), ["STRACE=y"])
    (built / "effective.config").unlink()
    assert lacks(Options(), ["XATTR=y"])


class Built(Exception):
    pass


@pytest.fixture
def builds(monkeypatch) -> list[tuple[str, list[str]]]:
    """What would be built: the folder's name and the settings."""
    found: list[tuple[str, list[str]]] = []

    def build(settings, *_) -> None:
        found.append((output_folder().name, list(settings)))
        raise Built

    monkeypatch.setattr(machine, "build", build)
    return found


@pytest.mark.parametrize(
    ("options", "folder", "settings"),
    [
        (Options(job=["x"]), "mine", []),
        (Options(job=["x"], strace=True), "mine-observed", ["STRACE=y"]),
        (Options(job=["x"], strace=True, settings=["SOCKETS=y"]), "mine-observed", ["SOCKETS=y", "STRACE=y"]),
        (Options(job=["x"], strace=True, settings=["STRACE=y"]), "mine", ["STRACE=y"]),
        (Options(job=["x"], cmdline="job_profile=/dev/vdb"), "mine-observed", ["PROFILE=y"]),
    ],
)
def test_what_is_asked_of_a_run_is_built_beside(built, builds, options, folder, settings):
    with pytest.raises(Built):
        machine.run(options)
    assert builds == [(folder, settings)] and output_folder() == built


def test_marks_are_built_beside(built, monkeypatch):
    with simulation._marked(Options(settings=["SOCKETS=y"])) as options:
        assert output_folder().name == "mine-marks"
        assert options.settings == ["SOCKETS=y", simulation.MARKS] and options.build
    with simulation._marked(Options(kernel="linux")) as options:
        assert output_folder() == built and not options.settings
    (built / "effective.config").write_text(f"CONFIG_{simulation.MARKS}\n")
    monkeypatch.setenv("CW_BUILD", "no")
    with simulation._marked(Options()) as options:
        assert output_folder() == built and not options.settings
