"""The hosted programs as tests: each TEST(name) of a test_*.c in hosted/tests is one, in a process of its own.

Programs are built once, under a lock, into build/<name>-hosted. HOSTED_SCALE=10 makes the random ones ten times
as long, HOSTED_SEED=n begins elsewhere.
"""

from __future__ import annotations

import fcntl
import os
import re
import subprocess
from pathlib import Path

import pytest

from lab.base.paths import TOP, output_folder

SOURCES = TOP / "hosted" / "tests"
TESTS = [
    (source.stem, name)
    for source in sorted(SOURCES.rglob("test_*.c"))
    for name in re.findall(r"^TEST\((\w+)\)", source.read_text(), re.MULTILINE)
]
OUTPUT = output_folder().parent / f"{output_folder().name}-hosted"


def build(output: Path, *arguments: str) -> Path:
    """Build @arguments, or all, into @output, one at a time. Named from the top, whose own path may have blanks."""
    output.mkdir(parents=True, exist_ok=True)
    environment = {key: value for key, value in os.environ.items() if key not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")}
    command = ["make", "-f", "hosted/hosted.mk", f"-j{os.cpu_count() or 1}"]
    command += [f"HOSTED_O={os.path.relpath(output, TOP)}", *arguments]
    with (output / ".lock").open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        built = subprocess.run(command, cwd=TOP, env=environment, capture_output=True, text=True, check=False)
    assert built.returncode == 0, f"the hosted programs do not build:\n{built.stdout[-3000:]}\n{built.stderr[-3000:]}"
    return output


@pytest.fixture(scope="session")
def programs() -> Path:
    """The folder with all test programs, built."""
    return build(OUTPUT)


@pytest.mark.check
@pytest.mark.parametrize(("program", "name"), TESTS, ids=[name for _, name in TESTS])
def test_hosted(programs, program, name):
    result = subprocess.run(
        [str(programs / program), name], capture_output=True, timeout=1800, stdin=subprocess.DEVNULL, check=False
    )
    said = (result.stdout + result.stderr).decode(errors="replace")
    assert result.returncode == 0 and re.search(rf"^ok {name}$", said, re.MULTILINE), said[-6000:]
    print(said)


@pytest.mark.check
def test_every_test_is_listed(programs):
    """What the programs know and what was found in their sources are the same."""
    for program in {program for program, _ in TESTS}:
        listed = subprocess.run([str(programs / program), "--list"], capture_output=True, text=True, check=True)
        assert listed.stdout.split() == [name for owner, name in TESTS if owner == program]


def other_tables() -> list[dict[str, str]]:
    """Builds in which, taken together, each cache has each structure but the baseline once. The swap cache, which by
    default is in the page cache's table, has the baseline as its own in tests/booted/swap; the paths' table, which is not there
    by default, has its structures in the ring of interleavings and in tests/booted/lookup."""
    serve: dict[str, list[str]] = {cache: [] for cache in ("page", "buffer", "inode", "dentry", "swap")}
    for header in sorted((TOP / "hash" / "table").glob("*.h")):
        caches = re.search(r"^ \* Caches: (.*)$", header.read_text(), re.MULTILINE)
        served = caches.group(1).split() if caches and header.stem != "chained" else []
        for cache in (name for name in served if name in serve):
            serve[cache].append(header.stem)
    rounds = max(len(names) for names in serve.values())
    return [
        {f"{cache.upper()}_TABLE": names[n] for cache, names in serve.items() if n < len(names)} for n in range(rounds)
    ]


@pytest.mark.builds
@pytest.mark.parametrize("tables", other_tables(), ids=lambda tables: "-".join(dict.fromkeys(tables.values())))
def test_other_tables(tables):
    """The caches behave the same whatever structure their tables have."""
    output = OUTPUT.with_name(f"{OUTPUT.name}-{'-'.join(dict.fromkeys(tables.values()))}")
    choices = [f"{name}={value}" for name, value in tables.items()]
    caches = sorted(source.stem for source in (SOURCES / "caches").glob("test_*.c"))
    build(output, *choices, *(os.path.relpath(output / name, TOP) for name in (*caches, "test_ext2")))
    environment = {**os.environ, "HOSTED_SCALE": str(0.2 * float(os.environ.get("HOSTED_SCALE", "1")))}
    for command in (*([name] for name in caches), ["test_ext2", "ext2_2k"]):
        result = subprocess.run(
            [str(output / command[0]), *command[1:]], env=environment, capture_output=True, timeout=1800, check=False
        )
        said = (result.stdout + result.stderr).decode(errors="replace")
        assert result.returncode == 0 and "not ok" not in said, said[-6000:]


# What has no use for the checks of a debug build: locks that are used as they should be, calls, several tasks.
PLAIN = ("test_locks", "test_smoke", "test_tasks", "test_spaces")


@pytest.mark.builds
def test_without_checks_and_sanitizers():
    """As the kernel ships: no assertions, no lock-order checker; memory of tests lies where malloc() puts it."""
    output = OUTPUT.with_name(f"{OUTPUT.name}-plain")
    targets = [os.path.relpath(output / name, TOP) for name in PLAIN]
    build(output, "HOSTED_SET=DEBUG=n", "HOSTED_SANITIZE=", *targets)
    for name in PLAIN:
        result = subprocess.run([str(output / name)], capture_output=True, timeout=600, check=False)
        said = (result.stdout + result.stderr).decode(errors="replace")
        assert result.returncode == 0 and re.search(r"^ok ", said, re.MULTILINE), said[-6000:]
