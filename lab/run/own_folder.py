"""Kernels that are built for one purpose, beside the one that is there: each in an output folder of its own."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from lab.base.paths import output_folder
from lab.build.configure import write_if_changed
from lab.build.kernel import config_file, effective_config
from lab.run.options import Options


def configure_alike(base: Path, folder: Path) -> None:
    """What is built in @folder is configured as what is built in @base: by the .config there, if somebody has saved one; or,
    where kernels are taken as they are (CW_BUILD=no), as the one that is there."""
    name = "effective.config" if os.environ.get("CW_BUILD") == "no" else ".config"
    try:
        text = (base / name).read_text()
    except OSError:
        (folder / ".config").unlink(missing_ok=True)
    else:
        write_if_changed(folder / ".config", text)


@contextlib.contextmanager
def own_folder(purpose: str, alike: bool = True) -> Iterator[None]:
    """Meanwhile the output folder is build/NAME-@purpose, so that nothing of build/NAME is built anew, now or next time.
    @alike: but for what its user sets the kernel there is configured as that of build/NAME."""
    before = os.environ.get("CW_OUTPUT")
    base = output_folder()
    os.environ["CW_OUTPUT"] = f"{base}-{purpose}"
    try:
        if alike:
            configure_alike(base, output_folder())
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
