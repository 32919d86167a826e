"""The browser of all tests that look at pages."""

from __future__ import annotations

import pytest

from tests.lab.browser import started_chromium


@pytest.fixture(scope="module")
def browser():
    with started_chromium() as started:
        yield started
