"""The library of the several CPUs' caches and clocks, and machines made with it."""

from __future__ import annotations

import ctypes
import subprocess
from typing import Any

import pytest

from lab.base.paths import TOP
from tests.lab.run.coherent.simulated import Delay, Happened, Machine

FOLDER = TOP / "lab/run/cachesim/coherent"


@pytest.fixture(scope="session")
def library(tmp_path_factory):
    target = tmp_path_factory.mktemp("coherent") / "coherent.so"
    flags = ["-shared", "-fPIC", "-O2", "-Wall", "-Wextra", "-Werror", "-fsanitize=undefined", "-fno-sanitize-recover"]
    subprocess.run(
        ["cc", *flags, "-o", target, *(FOLDER / f"{name}.c" for name in ("mesi", "clocks", "bus"))], check=True
    )
    found: Any = ctypes.CDLL(str(target))
    found.mesi_make.restype = found.clocks_make.restype = ctypes.c_void_p
    found.mesi_access.restype, found.clocks_access.restype = Happened, Delay
    found.clocks_now.restype = found.clocks_take_lock.restype = ctypes.c_uint64
    return found


@pytest.fixture
def machine(library):
    made = []

    def make(*arguments, **options):
        made.append(Machine(library, *arguments, **options))
        return made[-1]

    yield make
    for one in made:
        one.close()
