"""A checkout in a folder whose path has a blank: it builds and boots; where make cannot build, it says so."""

from __future__ import annotations

import os
import shutil
import subprocess

import pytest

from lab.base.paths import KERNEL_FOLDERS, TOP, output_folder

FOLDERS = (*KERNEL_FOLDERS, "configs", "hosted", "lab", "tests", "user")


@pytest.fixture
def checkout(tmp_path):
    folder = tmp_path / "a b"
    folder.mkdir()
    for name in FOLDERS:
        shutil.copytree(TOP / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("Makefile", "Kconfig", "cw"):
        shutil.copy2(TOP / name, folder / name)
    (folder / ".venv").symlink_to(TOP / ".venv")
    return folder


def make(checkout, *arguments) -> subprocess.CompletedProcess[str]:
    removed = ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "CW_OUTPUT", "CW_BUILD")
    environment = {name: value for name, value in os.environ.items() if name not in removed}
    return subprocess.run(["make", *arguments], cwd=checkout, env=environment, capture_output=True, text=True, check=False)  # fmt: skip


@pytest.mark.parametrize("output", [None, "build/other", "{}/build/default"])
def test_make_builds_in_it(checkout, output):
    """An object, a program, and what all the rest would be built by."""
    given = [f"O={output.format(checkout)}"] if output else []
    folder = "build/other" if output == "build/other" else "build/default"
    done = make(checkout, *given, f"{folder}/hash/size.o", f"{folder}/user/listtree")
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    assert (checkout / folder / "hash/size.o").exists() and (checkout / folder / "user/listtree").exists()
    for goals in (["kernel", "user"], ["-f", "hosted/hosted.mk", "HOSTED_O=build/hosted"]):
        done = make(checkout, *(given if "-f" not in goals else []), "-n", *goals)
        assert (done.returncode, done.stderr) == (0, ""), done.stderr


def test_a_machine_is_booted_in_it(checkout):
    output = checkout / "build" / "default"
    output.mkdir(parents=True)
    for name in ("chainwalk.stripped", "effective.config"):
        shutil.copy2(output_folder() / name, output / name)
    shutil.copytree(output_folder() / "user", output / "user")
    environment = {name: value for name, value in os.environ.items() if name != "CW_OUTPUT"} | {"CW_BUILD": "no"}
    command = [checkout / "cw", "run", "--quiet", "--mem", "128M", "--add", "lab/jobs", "--", "/bin/ls", "jobs"]
    done = subprocess.run(command, cwd=checkout, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "demo.sh" in done.stdout.split()


def test_a_build_folder_that_cannot_be_is_one_clear_error(checkout, tmp_path):
    for goal in ("kernel", "lines", "run"):
        done = make(checkout, goal, f"O={tmp_path}/c d")
        assert done.returncode == 2 and "blank in its path. Choose another" in done.stderr
        assert len(done.stderr.splitlines()) == 1
