"""Packages that only some commands need, installed at the first command that does.

`make run` on a fresh machine needs little; reports, sweeps and replays need numpy and matplotlib, and a sweep on a
cluster needs dask. Their pinned lists are lab/build/requirements-NAME.txt, `make setup-NAME` installs one. The playground
needs two of the system's, the grader one.
"""

from __future__ import annotations

import fcntl
import importlib
import os
import shutil
import subprocess
import sys

from lab.base.paths import TOP, LabError

STAMPS = TOP / ".venv" / "stamps"


def need_lab() -> None:
    """numpy, scipy and matplotlib can be imported from here on."""
    _need("lab")


def need_dask() -> None:
    """dask.distributed can be imported from here on."""
    _need("dask")


def need_playground() -> None:
    """clang and wasm-ld are there from here on."""
    if not (shutil.which("clang") and shutil.which("wasm-ld")) and _make("playground"):
        raise LabError("the playground needs clang and lld, which cannot be installed: see above")


def need_grader() -> None:
    """bubblewrap is there from here on."""
    if not shutil.which("bwrap") and _make("grader"):
        raise LabError("the grader needs bubblewrap, which cannot be installed: see above")


def _make(name: str) -> int:
    # A make above this one (make test) must not lend its flags.
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("MAKE", "MFLAGS"))}
    command = ["make", "-s", "-C", str(TOP), f"setup-{name}"]
    return subprocess.run(command, env=environment, stdout=sys.stderr, check=False).returncode


def _need(name: str) -> None:
    """Install lab/build/requirements-@name.txt unless it is there as it now stands."""
    if _is_there(name):
        return
    STAMPS.mkdir(parents=True, exist_ok=True)
    with (STAMPS / ".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # two commands at once: the second one waits and finds all done
        if not _is_there(name) and _make(name):
            raise LabError(f"the Python packages of lab/build/requirements-{name}.txt cannot be installed: see above")
    importlib.invalidate_caches()


def _is_there(name: str) -> bool:
    try:
        installed = (STAMPS / f"python-{name}").stat().st_mtime
    except OSError:
        return False
    return installed >= (TOP / f"lab/build/requirements-{name}.txt").stat().st_mtime
