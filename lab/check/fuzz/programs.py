"""What draws: the programs of tests/fuzz, compiled when they are wanted, and the operations of a seed."""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path

from lab.base.paths import TOP, LabError, output_folder

SOURCES = TOP / "tests" / "fuzz"


def compile_program(sources: list[Path], name: str, headers: list[Path] | None = None) -> Path:
    """One static program, made anew when a source is newer."""
    folder = output_folder() / "fuzz"
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / name
    watched = [*sources, *SOURCES.glob("*.h"), *(headers or [])]
    if not program.exists() or any(path.stat().st_mtime > program.stat().st_mtime for path in watched):
        handle, new = tempfile.mkstemp(dir=folder)
        os.close(handle)
        flags = ["-std=gnu11", "-O2", "-static", "-Wall", "-Wextra", f"-I{folder}"]
        try:
            subprocess.run(["musl-gcc", *flags, "-o", new, *sources], check=True)
        except (OSError, subprocess.CalledProcessError) as error:
            Path(new).unlink()
            raise LabError(f"{name} cannot be built: {error}") from None
        os.chmod(new, 0o755)
        os.replace(new, program)
    return program


def file_fuzzer() -> Path:
    operations = sorted(SOURCES.glob("operations*.c"))
    return compile_program([SOURCES / "filefuzz.c", SOURCES / "generate.c", *operations], "filefuzz")


def operations_of(seed: int, absent: str) -> list[str]:
    options = ["-x", absent] if absent else []
    done = subprocess.run([file_fuzzer(), *options, "print", str(seed), "1"], capture_output=True, check=True)
    return done.stdout.decode().splitlines()[1:]
