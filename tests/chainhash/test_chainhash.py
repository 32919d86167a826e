"""libchainhash: against a model, power cuts and failing calls, readers beside a writer, on other machines, damaged files."""

from __future__ import annotations

import random
import subprocess
import sys

import pytest

from lab.base.paths import TOP
from tests.chainhash.package import PACKAGE, SANITIZED, SCALE, SEED, TESTS, THREADS, build, program, run, words

WRAPPED = (
    "-Wl,--wrap=pwritev64,--wrap=pread64,--wrap=fdatasync,--wrap=ftruncate64,--wrap=malloc,--wrap=calloc,--wrap=realloc"
)

OPENS = (
    "malloc",
    "calloc",
    "realloc",
    "strdup",
    "open64",
    "fstat64",
    "stat64",
    "fcntl64",
    "fsync",
    "ftruncate64",
    "pread64",
    "pwritev64",
    "fdatasync",
    "mmap64",
)


@pytest.mark.check
def test_properties(sanitized, tmp_path):
    """A table does what a model does, over all options."""
    print(run(program(sanitized, "properties", SANITIZED), tmp_path, SEED, 150 * SCALE))


def test_power_cuts_and_failing_calls(sanitized, tmp_path):
    print(run(program(sanitized, "cuts", SANITIZED, WRAPPED), tmp_path, SEED, 4 * SCALE))


@pytest.mark.check
def test_failures_while_a_table_is_opened(sanitized, tmp_path):
    """Every call and every request for memory in turn: the error is heard of, nothing leaks, the file is as it was."""
    wrapped = "-Wl," + ",".join(f"--wrap={name}" for name in OPENS)
    print(run(program(sanitized, "opens", SANITIZED, wrapped), tmp_path))


@pytest.mark.turns(2)
@pytest.mark.parametrize("kind", ["threads", "processes"])
def test_readers_beside_a_writer(tmp_path, kind):
    library = build("threads", f"CFLAGS={THREADS}")
    print(run(program(library, "readers", THREADS, "-pthread"), tmp_path, 60 * SCALE, 4, kind))


@pytest.mark.check
def test_units(sanitized):
    """The quick forms of functions, and every hash function: the same values with another compiler and on 32 bits."""
    values = run(program(sanitized, "units", SANITIZED))
    names = {path.stem for path in (TOP / "hash" / "name").glob("*.h")}
    assert {line.split()[0] for line in values.splitlines()} == names
    assert values.splitlines()[0].startswith("package-33 ")
    clang = build("clang", "CC=clang")
    assert run(program(clang, "units", "-O2", compiler="clang")) == values


# Machines that differ: a compiler, a program that runs what it makes, and the packages of Debian with the two.
MACHINES = {
    "32 bits": ("gcc -m32", (), "gcc-multilib"),
    "big-endian": (
        "powerpc-linux-gnu-gcc",
        ("qemu-ppc-static",),
        "gcc-powerpc-linux-gnu libc6-dev-powerpc-cross qemu-user-static",
    ),
}


@pytest.mark.parametrize("machine", MACHINES)
def test_other_machines_have_the_same_files(plain, sanitized, tmp_path, machine):
    compiler, runner, packages = MACHINES[machine]
    (tmp_path / "main.c").write_text(
        '#include <errno.h>\n#include <stdio.h>\nint main(void) { return puts("") < 0; }\n'
    )
    try:
        run(*compiler.split(), "-static", tmp_path / "main.c", "-o", tmp_path / "main")
        run(*runner, tmp_path / "main")
    except (AssertionError, FileNotFoundError):
        pytest.skip(f"needs {packages}")
    prefix = compiler.removesuffix("gcc") if runner else ""
    settings = (f"CC={compiler}", f"OBJCOPY={prefix}objcopy", f"AR={prefix}ar")
    other = build(machine.replace(" ", "-"), *settings, goals=("objects", "static"))
    flags = "-O1 -g -static"
    print(run(*runner, program(other, "properties", flags, compiler=compiler), tmp_path, SEED, 20))
    here = run(program(sanitized, "units", SANITIZED))
    assert run(*runner, program(other, "units", flags, compiler=compiler)) == here
    text = words(tmp_path, 3000)
    ours, theirs = (plain / "chainhash",), (*runner, other / "chainhash.static")
    for writer, reader in ((ours, theirs), (theirs, ours)):
        table = tmp_path / writer[-1].name
        run(*writer, "load", table, text, "--bucket-size", "512")
        assert sorted(run(*reader, "dump", table).splitlines()[1:]) == sorted(text.read_text().splitlines())
        run(*reader, "verify", table)


def test_musl_builds_it(tmp_path):
    chainhash = build("musl", "CC=musl-gcc", goals=("static",)) / "chainhash.static"
    run(chainhash, "put", tmp_path / "t", "a", "b")
    assert run(chainhash, "get", tmp_path / "t", "a") == "b\n"


@pytest.mark.turns(3)
def test_damaged_files(sanitized, tmp_path):
    """A flipped byte anywhere is an error or makes no difference, never a wrong record; repair saves the others."""
    chainhash, text = sanitized / "chainhash", words(tmp_path, 400)
    table, damaged = tmp_path / "t", tmp_path / "damaged"
    run(chainhash, "load", "-b", "256", table, text)
    whole, right = table.read_bytes(), set(text.read_text().splitlines())
    draw = random.Random(SEED)
    for number in range(30 * SCALE):
        place = draw.randrange(len(whole))
        damaged.write_bytes(whole[:place] + bytes([whole[place] ^ 1 << draw.randrange(8)]) + whole[place + 1 :])
        dump = subprocess.run([chainhash, "dump", damaged], capture_output=True, text=True, check=False)
        assert dump.returncode in (0, 2), dump.stderr
        assert set(dump.stdout.splitlines()[1:]) <= right, place
        assert dump.returncode or len(dump.stdout.splitlines()) == len(right) + 1
        verified = subprocess.run([chainhash, "verify", damaged], capture_output=True, text=True, check=False)
        assert (verified.returncode != 0) >= (dump.returncode != 0), (place, verified.stdout)
        if not dump.returncode:
            continue
        new = tmp_path / f"new{number}"
        repaired = subprocess.run([chainhash, "repair", damaged, new], capture_output=True, text=True, check=False)
        assert repaired.returncode in (1, 2), repaired.stderr
        if repaired.returncode == 1:
            saved = set(run(chainhash, "dump", new).splitlines()[1:])
            assert saved <= right and run(chainhash, "verify", new)
            assert len(saved) >= len(right) * 0.7, (place, repaired.stdout)


@pytest.mark.check
def test_kept_inputs_of_the_fuzzer(sanitized):
    """What libFuzzer found worth keeping, and what once broke something."""
    print(run(program(sanitized, "fuzz", f"{SANITIZED} -DALONE"), *sorted((TESTS / "corpus").iterdir()), timeout=300))


def test_a_function_dropped_in(tmp_path):
    """A file in hash/name is all it takes."""
    for folder in ("name", "any"):
        (tmp_path / "hash" / folder).mkdir(parents=True)
        for path in (TOP / "hash" / folder).glob("*.h"):
            (tmp_path / "hash" / folder / path.name).write_bytes(path.read_bytes())
    (tmp_path / "hash/name/mine.h").write_text("/* Mine. */\nHASH_BYTES(u32, 5, h * 7 + c, h)\n")
    run(sys.executable, PACKAGE / "lib/buckets/functions.py", tmp_path / "hash", tmp_path / "functions.h")
    assert '{"mine", name_mine}' in (tmp_path / "functions.h").read_text()
