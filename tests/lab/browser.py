"""Debian's chromium for tests of pages, driven by playwright; `make test` installs both."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from lab.book.whole import chromium

CHROMIUM = chromium()
PHONE, DESK = {"width": 375, "height": 740}, {"width": 1280, "height": 800}
FLAGS = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking"
    " --disable-component-update --disable-sync"
).split()

# Of every element with text of its own: how its colour stands out from what is behind it (WCAG 2's formula).
CONTRASTS = """() => {
    const channel = (v) => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
    const numbers = (colour) => (colour.match(/[\\d.]+/g) || []).map(Number);
    const light = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
    const behind = (element) => {
        for (; element; element = element.parentElement) {
            const colour = numbers(getComputedStyle(element).backgroundColor);
            if (colour.length === 3 || colour[3] > 0) return colour;
        }
        return [255, 255, 255];
    };
    const weak = [];
    for (const element of document.body.querySelectorAll("*")) {
        const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
        if (!own || !element.getClientRects().length || element.closest("title, desc, script")) continue;
        const style = getComputedStyle(element);
        const [a, b] = [light(numbers(element.closest("svg") ? style.fill : style.color)), light(behind(element))];
        const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
        if (contrast < 4.5) weak.push(`${element.tagName} ${element.textContent.trim().slice(0, 40)}: ${contrast.toFixed(2)}`);
    }
    return weak;
}"""
OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


def require_chromium(what: str) -> None:
    """For a module of tests of @what: without a chromium they are skipped, but never where CI is set."""
    if CHROMIUM is None and not os.environ.get("CI"):
        pytest.skip(f"there is no chromium on this machine: install it to see {what} tested", allow_module_level=True)


@contextlib.contextmanager
def started_chromium() -> Iterator[Any]:
    """A browser, until the end of the block."""
    from playwright.sync_api import sync_playwright

    assert CHROMIUM, "CI has a chromium: lab/build/setup.sh test installs it"
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield started
        started.close()


@contextlib.contextmanager
def watched(browser: Any, allowed: tuple[str, ...]) -> Iterator[Callable[..., Any]]:
    """A call that opens an address in a window of its own (@options of it) until the end of the block.

    By then nothing may have been complained about, popped up, or asked for at an address that does not begin as one
    of @allowed does.
    """
    contexts: list[Any] = []
    faults: list[str] = []

    def opened(address: str, **options: Any) -> Any:
        context = browser.new_context(**options)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: faults.append(f"console: {message.text}"))
        page.on("pageerror", lambda error: faults.append(f"error: {error}"))
        page.on("dialog", lambda dialog: (faults.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        page.on("request", lambda request: request.url.startswith(allowed) or faults.append(request.url))
        page.goto(address)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert not faults
