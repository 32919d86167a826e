"""What single system calls cost: the rows of user/bench.c under --icount, in instructions and locked instructions.

The program reads the time-stamp counter around batches of calls, of which --icount makes one tick an instruction, and the
least batch counts. It marks each batch, and the plugin of lab/measure/instructions.py counts the locked instructions of
that same batch. Either is all that is executed meanwhile, by the program and in the kernel.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from lab.base.paths import LabError
from lab.measure import instructions
from lab.run.options import Options

PROGRAM = "/usr/local/bin/bench"


@dataclass(frozen=True)
class Call:
    """Of one call, on average over a batch. Of @locked the program's own are @locked_user."""

    instructions: int
    locked: float
    locked_user: float


def measure(options: Options, rows: Iterable[str] = ()) -> dict[str, Call]:
    """Each row of user/bench.c, or each of @rows, on the machine of @options, on tmpfs."""
    options = replace(options, job=[PROGRAM, "/tmp/bench", *rows], icount=True, quiet=True)
    with tempfile.TemporaryDirectory(prefix="cw-count-") as folder:
        result, counted = instructions.count(options, Path(folder) / "out")
    output = result.output.decode(errors="replace")
    if result.status:
        raise LabError(f"bench on {options.kernel}: {result.message}\n{output[-2000:]}")
    records = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
    found = {}
    for record in records:
        part, calls = counted.parts[record["part"]], record["calls"]
        locked = [round(number / calls, 3) for number in (part.user + part.kernel, part.user)]
        found[record["row"]] = Call(record["ticks"], *locked)
    return found


def shown(locked: float) -> str:
    """A number of locked instructions as tables have it: whole in most rows."""
    return f"{locked:.2f}".rstrip("0").rstrip(".")
