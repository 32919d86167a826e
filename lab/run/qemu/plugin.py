"""Plugins of QEMU: built at their first use, for the interface of the QEMU that is there."""

from __future__ import annotations

import re
import subprocess
from functools import cache
from pathlib import Path

from lab.base.files import written_whole
from lab.base.paths import TOP, LabError, output_folder

INTERFACE = TOP / "lab/run/qemu/plugin.h"
INSTRUCTION = INTERFACE.with_name("instruction.h")  # for those of the plugins that look at instructions


@cache
def interface_version() -> int:
    """The plugin interface's, of the QEMU that is there."""
    said = subprocess.run(["qemu-system-x86_64", "--version"], capture_output=True, text=True, check=True).stdout
    found = re.search(r"version (\d+)\.(\d+)", said)
    version = (int(found[1]), int(found[2])) if found else (0, 0)
    return 1 + (version >= (9, 0)) + (version >= (9, 1))


def plugin(*sources: Path) -> Path:
    """The plugin of the first of @sources, and of other .c files among them, built if there is none for this QEMU's interface
    or it is older than one of them."""
    target = output_folder() / f"{sources[0].stem}-{interface_version()}.so"
    if target.exists() and target.stat().st_mtime >= max(source.stat().st_mtime for source in (*sources, INTERFACE)):
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    command = ["gcc", "-shared", "-fPIC", "-O2", "-Wall", f"-DPLUGIN_VERSION={interface_version()}"]
    with written_whole(target) as made:
        result = subprocess.run(
            [*command, "-o", made, *(one for one in sources if one.suffix == ".c")],
            capture_output=True,
            text=True,
            check=False,
        )
        if result.returncode:
            raise LabError(f"the plugin for QEMU cannot be built:\n{result.stderr}")
    return target
