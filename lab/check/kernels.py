"""The kernels that the tests boot, each in a folder of its own: where they are, and building them.

`python -m lab.check.kernels` builds them, as `make test` does while the packages that only tests need are installed.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from lab.base.paths import LabError, output_folder
from lab.build.configure import ConfigureError, configure
from lab.build.kernel import build, build_lock


def debug_output() -> str:
    """The output folder of the debug kernel: assertions, lock-order checker, poison, and all optional rooms."""
    return str(output_folder().parent / f"{output_folder().name}-debug")


def full_output() -> str:
    """The output folder of the kernel as it ships with all optional rooms that programs may need."""
    return str(output_folder().parent / f"{output_folder().name}-full")


def build_kernels() -> None:
    """The kernel as it ships, that with all that programs may need, and the one that has this and all its checks."""
    plain, full, debug = output_folder(), Path(full_output()), Path(debug_output())
    configure(full, defconfig="full", save=True)
    configure(debug, defconfig="full", settings=["DEBUG=y"], save=True)
    for output in (plain, full, debug):
        os.environ["CW_OUTPUT"] = str(output)
        with build_lock():
            build()
    os.environ["CW_OUTPUT"] = str(plain)
    os.environ["CW_BUILD"] = "no"  # a test that boots does not ask make again


if __name__ == "__main__":
    try:
        build_kernels()
    except (LabError, ConfigureError) as error:
        sys.exit(f"the kernels of the tests: {error}")
