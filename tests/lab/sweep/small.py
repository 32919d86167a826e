"""A small experiment for the tests of sweeps, and what was recorded of it."""

from __future__ import annotations

import sqlite3
from pathlib import Path

HEAD = """
name = "small"
title = "Small"
reference = "reference"
seeds = [1, 2]

[machine]
mem = "128M"

[[kernel]]
name = "reference"
defconfig = "lever-reference"
"""
WORKLOAD = """
[[workload]]
name = "find"
run = ["sh", "-c", "find / -xdev | wc -l; echo '{\\"case\\":\\"x\\",\\"n\\":{seed}}'"]

[[measure]]
name = "n"
from = "metric:n"
"""
OTHER = """
[[kernel]]
name = "12 bits"
defconfig = "lever-inode-12bit"
"""


def write(folder: Path, text: str, name: str = "small") -> Path:
    path = folder / f"{name}.toml"
    path.write_text(text)
    return path


def rows(path: Path) -> dict[str, tuple]:
    """kernel/workload/seed -> (status, kind, message, log), of the cells that are recorded."""
    with sqlite3.connect(path) as connection:
        found = connection.execute(
            "SELECT kernel, workload, seed, status, kind, message, log FROM use JOIN cell ON cell.id = use.cell"
        ).fetchall()
    return {f"{row[0]}/{row[1]}/{row[2]}": row[3:] for row in found}
