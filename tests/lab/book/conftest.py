"""The book's site, built once for all workers: it takes ten seconds."""

from __future__ import annotations

import fcntl
import os
import pickle
from dataclasses import dataclass
from pathlib import Path

import pytest

from lab.book.order import Part
from lab.book.site import build_site
from lab.book.whole import print_book


@dataclass(frozen=True)
class Book:
    site: Path
    parts: list[Part]
    printed: bool


@pytest.fixture(scope="session")
def book(tmp_path_factory) -> Book:
    """As `make book` makes it. LabError, and so a failure of whoever asks, if there is a warning."""
    folder = tmp_path_factory.getbasetemp()
    if os.environ.get("PYTEST_XDIST_WORKER"):
        folder = folder.parent  # of all workers
    done, site = folder / "book.done", folder / "book"
    with (folder / "book.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.exists():
            parts = build_site(site, folder / "book.work")
            done.write_bytes(pickle.dumps((parts, print_book(parts, site))))
    parts, printed = pickle.loads(done.read_bytes())
    return Book(site, parts, printed)
