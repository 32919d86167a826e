"""The playground in Firefox, where there is one: it opens, plays, and counts what it counts in Chromium."""

from __future__ import annotations

import asyncio

import pytest

from tests.lab.browser import require_chromium, started_chromium
from tests.lab.playground.firefox import FIREFOX, Page

require_chromium("the playground")
if FIREFOX is None:
    pytest.skip("there is no Firefox on this machine (Debian's is firefox-esr)", allow_module_level=True)

ADDRESS = "#stream=git&cache=dentry&at=5000&a=linux-2.2,chained,8,32,linux-2.2&b=formula,chained,8,64,linux-6.1"
READY = """new Promise((go, fail) => {
    const look = () => document.body.dataset.ready ? go(true) : document.getElementById("fault").hidden
        ? setTimeout(look, 50) : fail(new Error(document.getElementById("fault").textContent));
    look();
})"""
SEEN = """[...document.querySelectorAll("#side-a .figures td, #side-b .figures td, .walk")].map((one) => one.textContent)"""
KEY = """document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true, cancelable: true }))"""
DRAWN = """(() => {
    const canvas = document.querySelector("canvas"), pixels = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
    return new Set(new Uint32Array(pixels.buffer)).size;
})()"""


def test_firefox_shows_what_chromium_shows(page_file, tmp_path):
    async def look():
        async with Page(tmp_path) as firefox:
            await firefox.go(page_file.as_uri() + ADDRESS)
            assert await firefox.evaluate(READY)
            await firefox.evaluate(KEY)
            return await firefox.evaluate(SEEN), await firefox.evaluate(DRAWN)

    seen, shades = asyncio.run(look())  # before playwright, which keeps a loop of its own
    assert len(seen) > 20 and shades > 5, "the field of buckets is empty"
    with started_chromium() as chromium:
        page = chromium.new_page()
        page.goto(page_file.as_uri() + ADDRESS)
        page.wait_for_selector("body[data-ready=yes]")
        page.evaluate(KEY)
        assert seen == page.evaluate(SEEN)
