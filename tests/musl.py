"""Programs of tests that run booted, on Linux, or on both: C, linked statically with musl."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

FLAGS = ("-std=gnu11", "-O1", "-static", "-Wall", "-Wextra", "-Wno-unused-result")


def static_program(program: Path, *sources: Path, flags: Sequence[str] = ()) -> Path:
    """Compile @sources as @program, which is returned. A warning fails where CI is set."""
    strict = ["-Werror"] if os.environ.get("CI") else []
    subprocess.run(["musl-gcc", *FLAGS, *strict, *flags, "-o", program, *sources], check=True)
    return program
