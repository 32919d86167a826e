"""libchainhash as its tests build it: once for each kind of check, below build/, as its own Makefile does it.

CHAINHASH_SCALE=20 makes the seeded tests twenty times as long, CHAINHASH_SEED=n begins elsewhere.
"""

from __future__ import annotations

import fcntl
import os
import random
import subprocess
from pathlib import Path

from lab.base.paths import TOP, output_folder

PACKAGE = TOP / "user" / "chainhash"
TESTS = TOP / "tests" / "chainhash"
OUTPUT = output_folder().parent / f"{output_folder().name}-chainhash"
SCALE = int(os.environ.get("CHAINHASH_SCALE", "1"))
SEED = int(os.environ.get("CHAINHASH_SEED", "1"))
SANITIZED = "-O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all"
THREADS = "-O1 -g -fsanitize=thread"


def run(*command: str | Path, status: int | None = 0, **options) -> str:
    """What @command prints; it must end with @status."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, **options)
    assert status is None or done.returncode == status, (
        f"{command}: {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-4000:]}"
    )
    return done.stdout


def build(kind: str, *settings: str, goals: tuple[str, ...] = ("all",)) -> Path:
    """The package, built in a folder for @kind: one at a time."""
    output = OUTPUT / kind
    output.mkdir(parents=True, exist_ok=True)
    environment = {key: value for key, value in os.environ.items() if key not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")}
    environment["CI"] = "1"
    with (output / ".lock").open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        command = ["make", "-s", "-C", str(PACKAGE), f"-j{os.cpu_count() or 1}", f"O={output}", *settings, *goals]
        run(*command, env=environment)
    return output


def program(library: Path, name: str, flags: str, *more: str, compiler: str = "gcc") -> Path:
    """A test program linked with all objects of the library, hidden names included."""
    target = library / Path(name).name
    sources = [TESTS / f"{name}.c", TESTS / "model.c"]
    objects = sorted((library / "lib").rglob("*.o"))
    includes = [f"-I{TESTS}", f"-I{PACKAGE / 'include'}", f"-I{PACKAGE / 'lib'}"]
    with (library / ".lock").open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        run(*compiler.split(), "-std=gnu11", "-D_GNU_SOURCE", "-D_FILE_OFFSET_BITS=64", "-Wall", "-Wextra", "-Werror",
            *flags.split(), *includes, *sources, *objects, *more, "-o", target)  # fmt: skip
    return target


def words(folder: Path, count: int) -> Path:
    """Records as text, the same each time."""
    draw = random.Random(5)
    text = folder / "words.txt"
    keys = {"".join(draw.choices("abcdefghijklmnopqrstuvwxyz", k=draw.randint(3, 12))) for _ in range(count)}
    text.write_text("".join(f"{key}\t{number}\n" for number, key in enumerate(sorted(keys))))
    return text
