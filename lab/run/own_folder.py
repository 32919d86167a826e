"""Kernels that are built for one purpose, beside the one that is there: each in an output folder of its own."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

from lab.base.paths import output_folder


@contextlib.contextmanager
def own_folder(purpose: str) -> Iterator[None]:
    """Meanwhile the output folder is build/NAME-@purpose, so that nothing of build/NAME is built anew, now or next time."""
    before = os.environ.get("CW_OUTPUT")
    os.environ["CW_OUTPUT"] = f"{output_folder()}-{purpose}"
    try:
        yield
    finally:
        if before is None:
            del os.environ["CW_OUTPUT"]
        else:
            os.environ["CW_OUTPUT"] = before
