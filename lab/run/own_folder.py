"""Kernels that are built for one purpose, beside the one that is there: each in an output folder of its own."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

from lab.base.paths import output_folder
from lab.build.kernel import config_file, effective_config
from lab.run.options import Options


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


def lacks(options: Options, settings: list[str]) -> bool:
    """Whether a kernel with all @settings has to be built: none that is there, and to be taken as it is, has them."""
    taken = os.environ.get("CW_BUILD") == "no" or not options.build
    if taken and not options.settings and not options.defconfig and config_file().exists():
        return not set(settings) <= {f"{name}={value}" for name, value in effective_config().items()}
    return bool(settings)
