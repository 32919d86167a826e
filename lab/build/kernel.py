"""Build the kernel and the user programs through make; find out what was built."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lab.base.paths import TOP, LabError, output_folder


@contextmanager
def build_lock() -> Iterator[None]:
    """One build at a time in one output folder; what was built stays as it is while the lock is held."""
    folder = output_folder()
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def build(
    settings: tuple[str, ...] = (), defconfig: str = "", quiet: bool = False, goals: tuple[str, ...] = (),
    copy: Path | None = None,
) -> None:  # fmt: skip
    """Bring the kernel and the user programs up to date; of @copy, another tree, in its folder `build`. Under build_lock().

    With CW_BUILD=no in the environment (make test sets it once it has built) what is there is taken as it is.
    """
    if os.environ.get("CW_BUILD") == "no" and not settings and not defconfig and kernel_image().exists():
        return
    where_to = ["-C", str(copy), "O=build"] if copy else ["-C", str(TOP), f"O={output_folder()}"]
    command = ["make", "-s", *where_to, *(goals or ("kernel", "user"))]
    command += [f"SET={' '.join(settings)}", f"DEFCONFIG={defconfig}"]
    environment = {key: value for key, value in os.environ.items() if key not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")}
    where = subprocess.PIPE if quiet else sys.stderr
    try:
        result = subprocess.run(command, env=environment, stdout=where, stderr=subprocess.STDOUT, check=False)
    except FileNotFoundError:
        raise LabError("make is missing: install it (apt-get install make)") from None
    if result.returncode:
        text = result.stdout.decode(errors="replace").strip() if quiet else "see above"
        raise LabError(f"the build failed:\n{text}" if quiet else f"the build failed ({text})")


def effective_config() -> dict[str, str]:
    """What the built kernel was configured with: NAME -> value."""
    values = {}
    for line in config_file().read_text().splitlines():
        if line.startswith("CONFIG_"):
            name, _, value = line[len("CONFIG_") :].partition("=")
            values[name] = value.strip('"')
    return values


def config_file() -> Path:
    return output_folder() / "effective.config"


def kernel_image() -> Path:
    return output_folder() / "chainwalk.stripped"


def symbols_file() -> Path:
    """The same with its symbols and what debuggers want."""
    return output_folder() / "chainwalk"
