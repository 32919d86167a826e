"""A program's shared libraries are part of what determines a run on this host."""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess

import pytest

from lab.sweep import libraries, plan
from lab.sweep.plan import Plan
from lab.sweep.validate import load

TEXT = """
name = "linked"
title = "A program with a library"
reference = "it"
seeds = [1]

[machine]
host = true

[[kernel]]
name = "it"

[[workload]]
name = "run"
run = ["/program"]
add = ["{program}:/program"]

[[measure]]
name = "n"
from = "metric:n"
"""


def compile_library(folder, answer: int) -> None:
    (folder / "own.c").write_text(f"int answer(void) {{ return {answer}; }}\n")
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", folder / "libown.so", folder / "own.c"], check=True)


@pytest.fixture
def program(tmp_path):
    """A program that is loaded with libown.so, which lies beside it."""
    compile_library(tmp_path, 1)
    (tmp_path / "main.c").write_text("int answer(void); int main(void) { return answer(); }\n")
    subprocess.run(
        ["gcc", "-o", tmp_path / "program", tmp_path / "main.c", "-L", tmp_path, "-lown", f"-Wl,-rpath,{tmp_path}"],
        check=True,
    )
    return tmp_path / "program"


def identity(folder) -> str:
    plan._host_parts.cache_clear()  # as in another process
    path = folder / "linked.toml"
    path.write_text(TEXT.format(program=folder / "program"))
    made = Plan()
    made.add(load(path))
    (cell,) = made.cells.values()
    return cell.id


def test_each_library_counts_by_its_contents(program):
    found = libraries.libraries([program])
    own = program.with_name("libown.so")
    assert found["libown.so"] == hashlib.sha256(own.read_bytes()).hexdigest()
    assert any(re.fullmatch(r"libc\.so\.\d+", name) for name in found)
    assert libraries.libraries([program, program]) == found
    own.unlink()
    assert libraries.libraries([program])["libown.so"] == libraries.NOT_THERE


def test_with_another_library_it_is_another_run(program, tmp_path):
    before = identity(tmp_path)
    assert identity(tmp_path) == before
    compile_library(tmp_path, 2)
    assert identity(tmp_path) != before


def test_in_words_they_are_packages_and_the_hosts_kernel(program, tmp_path):
    said = libraries.system([program])
    assert said["kernel"] == subprocess.run(["uname", "-r"], capture_output=True, text=True, check=True).stdout.strip()
    assert "libown.so of no package" in said["packages"]
    if shutil.which("dpkg"):
        assert any(re.fullmatch(r"libc6=\d\S+", one) for one in said["packages"])
        assert not any("libc.so" in one for one in said["packages"])
    identity(tmp_path)


def test_what_is_no_program_has_none(tmp_path):
    (tmp_path / "script").write_text("#!/bin/sh\n")
    nothing = [tmp_path / "script", tmp_path / "none", tmp_path]
    assert libraries.libraries(nothing) == {} and libraries.system(nothing)["packages"] == []
