"""The playground as one uses it: phone and desk, light and dark, by mouse and by keyboard, by link and by file."""

from __future__ import annotations

import pytest

from lab.playground import page as made
from lab.playground.recordings import recordings
from tests.hash import compiled
from tests.lab.browser import CONTRASTS, DESK, OVERFLOW, PHONE, require_chromium

require_chromium("the playground")

PAIR = (
    "#stream=git&cache=page&at=20000&speed=100&a=linux-2.2,chained,10,32,linux-6.1&b=fibonacci,rbtree,12,64,linux-6.1"
)
STEPS = "(() => { const c = playground.playground.panels.a.engine.counters(); return c.hit_steps + c.miss_steps; })()"
FAULT = "x = inode / 64;\n(x + offset) / (offset - 4096)"
UNFOLD = "document.querySelectorAll('details').forEach((one) => one.open = true)"
# Of what one can act on: all that has no name for a screen reader.
NAMELESS = """() => [...document.querySelectorAll("button, select, input, textarea, canvas, [tabindex]")]
    .filter((one) => one.getClientRects().length)
    .filter((one) => !(one.getAttribute("aria-label") || one.textContent.trim() && one.matches("button")
        || [...(one.labels ?? [])].some((label) => label.textContent.trim())))
    .map((one) => one.outerHTML.slice(0, 80))"""


def at(page):
    return page.evaluate("playground.playground.player.position")


def test_the_page_is_one_small_file_without_any_other(page_file):
    text = page_file.read_text()
    assert 100_000 < len(text.encode()) <= made.LARGEST
    assert "http:" not in text.replace("http://www.w3.org/2000/svg", "") and "https:" not in text
    assert text.count("<script") == 3 + len(recordings())


@pytest.mark.parametrize("address", ["", PAIR], ids=["one", "two"])
def test_nothing_is_wider_than_the_window(visit, address):
    page = visit(address, viewport=DESK)
    page.evaluate(UNFOLD)
    page.fill("#formula", FAULT)
    for size in (DESK, PHONE, {"width": 320, "height": 600}):
        page.set_viewport_size(size)
        assert page.evaluate(OVERFLOW) == 0
        box = page.locator("canvas").first.bounding_box()
        assert box["height"] > 150 and box["width"] > 200


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out(visit, scheme):
    page = visit(PAIR, viewport=DESK, color_scheme=scheme)
    page.evaluate(UNFOLD)
    page.fill("#formula", FAULT)
    assert page.evaluate(CONTRASTS) == []
    page.locator("#theme").click()  # the other one, by the button
    assert page.evaluate(CONTRASTS) == []


def test_all_that_can_be_used_has_a_name(visit):
    page = visit(PAIR, viewport=DESK)
    page.fill("#formula", "inode")
    page.get_by_role("button", name="Judge it against the field").click()
    page.wait_for_selector("#field:not([hidden])")
    assert page.evaluate(NAMELESS) == []
    assert (
        page.get_by_role("region", name="Choice A").count() == page.get_by_role("region", name="Choice B").count() == 1
    )


def test_the_keyboard_plays_steps_and_goes_to_the_ends(visit):
    page = visit("#stream=find&cache=dentry&speed=1000")
    heard = page.locator("#heard")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert at(page) == 2 and "Operation 2 of" in heard.inner_text()
    page.keyboard.press("ArrowLeft")
    assert at(page) == 1
    page.keyboard.press("End")
    end = at(page)
    assert end > 100_000 and page.locator("#play").inner_text() == "Again"
    page.keyboard.press("Home")
    assert at(page) == 0
    page.keyboard.press("Space")
    page.wait_for_function("() => playground.playground.player.position > 20")
    assert page.locator("#play").inner_text() == "Pause"
    page.keyboard.press("Space")
    stopped = at(page)
    assert 20 < stopped < end and f"Operation {stopped:,}" in heard.inner_text()
    # What is typed into the formula plays nothing.
    page.locator("#formula").press("End")
    page.keyboard.type(" ")
    assert at(page) == stopped


def test_a_step_back_is_what_was_there_before(visit):
    page = visit("#stream=git&cache=dentry&at=4000&a=linux-2.2,chained,7,32,linux-2.2")
    figures = page.locator("#side-a .figures").inner_text()
    chain = page.locator("#side-a .walk").inner_text()
    for key in ("ArrowRight", "ArrowRight", "ArrowLeft", "ArrowLeft"):
        page.keyboard.press(key)
    assert page.locator("#side-a .figures").inner_text() == figures
    assert page.locator("#side-a .walk").inner_text() == chain


def test_the_walk_is_the_chain_to_what_was_found(visit):
    """Step by step: what the picture calls visited is what the counters count."""
    page = visit("#stream=mail&cache=dentry&at=20000&a=linux-2.2,chained,6,32,linux-2.2")
    seen = set()
    for _ in range(60):
        before = page.evaluate(STEPS)
        page.keyboard.press("ArrowRight")
        told = page.locator("#side-a [data-part=walk]").inner_text()
        if not told.startswith("Lookup"):
            continue
        visited = page.locator("#side-a .chain .visited").count() + page.locator("#side-a .chain .found").count()
        assert page.evaluate(STEPS) - before == visited, told
        assert page.locator("#side-a .chain .found").count() == ("found as" in told)
        seen.add(visited)
    assert max(seen) > 3, seen


def test_a_link_shows_the_same(visit):
    page = visit(PAIR, viewport=DESK)
    page.fill("#formula", "inode / 64 ^ offset >> 12")
    page.select_option("#side-a [data-choice=function]", "formula")
    page.keyboard.press("Escape")
    page.locator("#step").click()
    page.wait_for_function("() => location.hash.includes('at=20001') && location.hash.includes('formula')")
    address = page.evaluate("location.hash")
    again = visit(address, viewport=DESK)
    for part in (".figures", ".walk", ".choices"):
        for side in ("#side-a", "#side-b"):
            assert again.locator(f"{side} {part}").inner_text() == page.locator(f"{side} {part}").inner_text()
    assert again.locator("#formula").input_value() == "inode / 64 ^ offset >> 12"
    assert again.locator("#speed-said").inner_text() == "100 a second" and at(again) == 20001


@pytest.mark.parametrize(
    "address",
    [
        "#stream=none&cache=constructor&at=-3&speed=7&a=,,,,",
        "#cache=inode&a=fibonacci,chained,99,64,linux-6.1&at=1e99",
        "#cache=page&a=toString,chained,8,64,linux-6.1&b=fibonacci,__proto__,8,64,x",
        "#cache=buffer&a=formula,chained,8,64,linux-6.1&formula=block%20%2F%200&at=50",
        "#%E0%A4%A",
    ],
)
def test_a_link_from_anywhere_does_no_harm(visit, address):
    page = visit(address)
    page.keyboard.press("ArrowRight")
    assert page.locator("#fault").is_hidden() or "formula" in page.locator("#fault").inner_text()
    assert at(page) > 0 or "formula" in page.locator("#fault").inner_text()


def test_a_cache_without_keys_in_a_stream_brings_another_stream(visit):
    """And the other way round; who cannot see it hears it."""
    page = visit("#stream=git&cache=dentry&a=linux-2.2,chained,8,32,linux-2.2")
    stream, turned = page.locator("#stream"), page.locator("#turned")
    chosen = page.get_by_role("radio", name="swap")
    page.get_by_role("radio", name="dentry").focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_function("() => playground.playground.state.cache === 'swap'")
    assert stream.input_value() == "swap" and chosen.is_checked()
    assert "had no keys of the swap cache" in turned.inner_text() and turned.get_attribute("role") == "status"
    page.get_by_role("radio", name="buffer").check(force=True)
    page.wait_for_function("() => playground.playground.state.cache === 'buffer'")
    assert stream.input_value() == "swap" and turned.is_hidden()
    page.get_by_role("radio", name="swap").check(force=True)
    page.wait_for_function("() => playground.playground.state.cache === 'swap'")
    page.select_option("#stream", "git")
    page.wait_for_function("() => playground.playground.state.cache === 'dentry'")
    assert turned.inner_text() == "This stream has no keys of the swap cache."
    # A link that asks for both at once.
    page = visit("#stream=paths&cache=swap")
    assert page.evaluate("[playground.playground.state.stream, playground.playground.state.cache]") == ["paths", "path"]


def test_what_is_still_being_read_is_not_shown_and_may_be_overtaken(visit):
    """Reading a stream takes a while on a slow computer: till then the other one is all there, and goes on."""
    page = visit("#stream=git&cache=dentry&a=linux-2.2,chained,8,32,linux-2.2")
    page.evaluate("""async () => {
        globalThis.mail = await playground.playground.stream("mail");
        playground.playground.streams.set("mail", new Promise((go) => globalThis.go = go));
    }""")
    shown = "[playground.playground.state.stream, playground.playground.state.cache, playground.playground.player.end]"
    before = page.evaluate(shown)
    page.select_option("#stream", "mail")
    page.locator("#step").click()
    assert page.evaluate(shown) == before and at(page) == 1
    page.get_by_role("radio", name="inode").check(force=True)
    page.select_option("#stream", "git")
    page.wait_for_function("() => playground.playground.state.cache === 'inode'")
    begun = page.evaluate(shown)
    page.evaluate("go(mail)")
    page.evaluate("playground.playground.streams.get('mail')")
    assert page.evaluate(shown) == begun and begun[:2] == ["git", "inode"]
    page.select_option("#stream", "mail")
    page.wait_for_function("() => playground.playground.state.stream === 'mail'")
    assert page.evaluate(shown)[1] == "inode"


def test_a_tagged_bucket_is_shown_with_all_that_is_in_it(visit):
    """What has another tag is not visited, and stands behind what is."""
    page = visit("#stream=paths&cache=path&at=12000&a=untransformed,tagged,8,64,linux-6.1")
    seen = set()
    for _ in range(40):
        before = page.evaluate(STEPS)
        page.keyboard.press("ArrowRight")
        told = page.locator("#side-a [data-part=walk]").inner_text()
        bucket, objects = page.evaluate("""(() => {
            const { engine } = playground.playground.panels.a, trace = engine.trace(engine.position - 1);
            return [engine.sizes()[trace.bucket], trace.chain.map((one) => one.object)];
        })()""")
        assert len(set(objects)) == len(objects) == bucket, told
        if told.startswith("Lookup"):
            visited = page.locator("#side-a .chain .visited").count() + page.locator("#side-a .chain .found").count()
            assert page.evaluate(STEPS) - before == visited, told
            seen.add((visited, bucket))
    assert any(visited < bucket for visited, bucket in seen) and max(bucket for _, bucket in seen) > 7, seen


def test_a_formula_is_checked_while_it_is_typed_and_watched(visit, tmp_path):
    page = visit("#stream=find&cache=buffer&at=5000&a=fibonacci,chained,9,64,linux-6.1")
    page.fill("#formula", "block / (device - 1)")
    assert page.locator("#formula").get_attribute("aria-invalid") == "true"
    assert page.locator("#own mark").inner_text() == "(device - 1)"
    assert page.locator("#own [data-part=message]").inner_text().startswith("Line 1, column 9: This could be zero")
    assert page.get_by_role("button", name="Watch it").is_disabled()
    page.get_by_role("button", name="Go there").click()
    assert page.evaluate("document.activeElement.value.slice(document.activeElement.selectionStart)") == "(device - 1)"
    page.fill("#formula", "7")
    page.get_by_role("button", name="Watch it").click()
    report = "playground.playground.panels.a.report"
    assert page.evaluate(f"{report}.largest") == page.evaluate(f"{report}.objects") > 100, "all in one bucket"
    page.fill("#formula", "block")
    page.wait_for_function(f"() => {report}.largest < 50")
    with page.expect_download() as download:
        page.get_by_role("button", name="Download the header").click()
    assert download.value.suggested_filename == "mine.h"
    folder = compiled.copy_of_hash(tmp_path)
    download.value.save_as(folder / "buffer" / "mine.h")
    function = compiled.Function("buffer", "mine", 64, folder)
    assert function.many([1, 1], [5, 1000], 9).tolist() == [5, 1000 % 512]
    assert "BUFFER_HASH=mine" in page.locator("#own [data-part=where]").inner_text()


def test_a_stream_of_ones_own_is_opened(visit, tmp_path):
    page = visit("#cache=inode")
    page.set_input_files("#file", recordings()[1].keys)
    page.wait_for_function("() => playground.playground.state.stream.startsWith('own')")
    page.keyboard.press("End")
    assert page.locator("#stream option:checked").inner_text() == "find.keys"
    assert at(page) == page.evaluate("async () => (await playground.playground.stream('find')).caches.inode.until") > 0
    bad = tmp_path / "bad.keys"
    bad.write_bytes(b"nothing of the kind")
    page.set_input_files("#file", bad)
    page.wait_for_selector("#fault:not([hidden])")
    assert page.locator("#fault").inner_text() == "bad.keys: This is no key stream: ./cw record makes one."


@pytest.mark.turns(4)
def test_full_speed_comes_to_the_same_end(visit):
    page = visit("#stream=compile&cache=page&speed=Infinity&b=linux-2.2,chained,9,32,linux-6.1")
    page.keyboard.press("Space")
    page.wait_for_function("() => playground.playground.player.position === playground.playground.player.end")
    figures = page.locator("#side-b .figures").inner_text()
    page.keyboard.press("Home")
    page.keyboard.press("End")
    assert page.locator("#side-b .figures").inner_text() == figures
    assert "operations a second" in page.locator("#measured").inner_text()
