"""The playground's page in a browser, for all its tests."""

from __future__ import annotations

import pytest

from tests.lab.browser import watched


@pytest.fixture(scope="session")
def page_file(tmp_path_factory):
    """The page as ./cw playground writes it."""
    from lab.playground.page import write_page

    path = tmp_path_factory.mktemp("playground") / "playground.html"
    write_page(path)
    return path


@pytest.fixture(scope="module")
def opened(browser, page_file):
    """The page, opened once for tests that only call what it holds."""
    page = browser.new_page()
    faults: list[str] = []
    page.on("console", lambda message: faults.append(message.text))
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.goto(page_file.as_uri())
    page.wait_for_selector("body[data-ready=yes]")
    yield page
    assert not faults


@pytest.fixture
def visit(browser, page_file):
    """Open the page anew; at the end nothing may have been complained about, asked for elsewhere, or popped up."""
    with watched(browser, ("file:", "data:", "blob:")) as window:

        def opened(address="", **options):
            page = window(page_file.as_uri() + address, **options)
            page.wait_for_selector("body[data-ready=yes]")
            return page

        yield opened
