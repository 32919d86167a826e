"""What chainhash.h promises of single calls, each in a process of its own: calls.c says which."""

from __future__ import annotations

import pytest

from tests.chainhash.package import SANITIZED, TESTS, program, run

WRAPPED = ("malloc", "calloc", "realloc", "open64", "fcntl64", "fsync", "syncfs")
CHECKS = (
    "constructor",
    "first header",
    "standard descriptors",
    "scan that replaces",
    "refresh of another process",
    "writer of another process",
    "get of own bytes",
    "without memory",
    "replaced file",
    "claimed size",
    "message",
    "message of a full disk",
    "verify after a sync that failed",
    "verify looks anew",
    "lost map page",
    "map that leads to another",
    "folder",
    "folder behind a link",
    "unreadable folder",
    "unknown function",
    "past four gigabytes",
)


@pytest.fixture(scope="module")
def calls(sanitized):
    wrapped = "-Wl," + ",".join(f"--wrap={name}" for name in WRAPPED)
    return program(sanitized, "calls/calls", SANITIZED, wrapped, TESTS / "calls/handles.c")


@pytest.mark.check
@pytest.mark.parametrize("check", CHECKS)
def test_single_calls(calls, tmp_path, check):
    run(calls, tmp_path, check)
