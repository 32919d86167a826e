"""The library, built once for all tests of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.chainhash.package import SANITIZED, build


@pytest.fixture(scope="session")
def plain() -> Path:
    return build("plain")


@pytest.fixture(scope="session")
def sanitized() -> Path:
    return build("sanitized", f"CFLAGS={SANITIZED}")
