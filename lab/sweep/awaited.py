"""Kernels that an experiment waits for: `awaited = true` of a [[kernel]] says that its configuration may not be there yet.

As long as configs/ or Kconfig has not what it asks for, it is left out, with what compares or draws it, and the experiment's
notes say so: the file can be written, checked and run for the other kernels before.
"""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path

from lab.build import configure


@cache
def lacking(defconfig: str, settings: tuple[str, ...]) -> str:
    """Why a kernel of @defconfig with @settings can't be built here; "": it can."""
    try:
        with tempfile.TemporaryDirectory() as folder:
            configure.configure(Path(folder), defconfig, settings)
    except configure.ConfigureError as error:
        return str(error).partition("\n")[0].partition(". There are")[0]
    return ""
