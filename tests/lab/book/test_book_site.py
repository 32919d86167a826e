"""The book as a reader has it: a site on a disk, in a browser without a network, and a PDF."""

from __future__ import annotations

import html
import os
import re
from collections import Counter
from pathlib import Path
from urllib.parse import unquote

import pypdf
import pytest

from lab.book.stage import staged
from tests.lab.browser import CHROMIUM, CONTRASTS, DESK, OVERFLOW, PHONE, require_chromium, watched

require_chromium("the book")

# Pages whose colours are looked at one by one: every kind of text is on one of them.
LOOKED_AT = [
    "index.html",
    "start/first-steps.html",
    "hashing/structures.html",
    "papers/lever-1999.html",
    "search.html?q=bucket",
]


@pytest.fixture
def visit(browser, book):
    """Open a page of the site from its file: visit("index.html", viewport=PHONE)."""
    with watched(browser, ("file:", "data:")) as window:
        yield lambda name, **options: window(f"{book.site.as_uri()}/{name}", **options)


def pages(book) -> list[str]:
    return ["index.html"] + [staged(page).removesuffix(".md") + ".html" for part in book.parts for page in part.pages]


def dead_links(site: Path) -> list[str]:
    """Links of all pages at @site that lead to no file there or to no anchor of it."""
    texts = {path: path.read_text(encoding="utf-8") for path in sorted(site.rglob("*.html"))}
    anchors = {path: set(map(html.unescape, re.findall(r'\bid="([^"]+)"', text))) for path, text in texts.items()}
    dead = []
    for path, text in texts.items():
        for found in set(re.findall(r'<(?:a|link|img|script)\b[^>]*?\b(?:href|src)="([^"]*)"', text)):
            target, _, anchor = html.unescape(found).partition("#")
            if re.match(r"[a-z]+:", target) or found == "#":
                continue
            target = target.partition("?")[0]
            place = Path(os.path.normpath(path.parent / unquote(target))) if target else path
            if not place.exists() or (anchor and place in anchors and unquote(anchor) not in anchors[place]):
                dead.append(f"{path.relative_to(site)}: {found}")
    return dead


def test_every_link_leads_somewhere(book):
    assert not dead_links(book.site)


def test_a_dead_link_and_a_dead_anchor_are_noticed(tmp_path):
    (tmp_path / "a.html").write_text(
        '<a class="x" href="b.html#there">1</a><a href="b.html#gone">2</a><a href="c.html">3</a>'
    )
    (tmp_path / "b.html").write_text('<p id="there"></p><img src="d.svg"><a href="https://x.y/z">4</a>')
    assert sorted(dead_links(tmp_path)) == ["a.html: b.html#gone", "a.html: c.html", "b.html: d.svg"]


def test_no_page_is_wider_than_a_phone(visit, book):
    page, wide = visit("index.html", viewport=PHONE, java_script_enabled=False), []
    for name in pages(book) + ["source/hash/any.html", "source/fs/path/dcache.c.html"]:
        page.goto((book.site / name).as_uri())
        wide += [name] if page.evaluate(OVERFLOW) else []
    assert not wide
    page.evaluate("document.body.insertAdjacentHTML('beforeend', '<div style=\"width: 500px\">planted</div>')")
    assert page.evaluate(OVERFLOW), "a box of 500 pixels is not noticed"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out(visit, book, scheme):
    page, weak = visit("index.html", viewport=DESK, color_scheme=scheme), []
    for name in LOOKED_AT:
        page.goto(f"{book.site.as_uri()}/{name}")
        weak += [f"{name}: {one}" for one in page.evaluate(CONTRASTS)]
    assert not weak
    page.goto(f"{book.site.as_uri()}/index.html")
    page.evaluate("document.querySelector('h1').style.color = getComputedStyle(document.body).backgroundColor")
    assert page.evaluate(CONTRASTS), "a heading in the colour of its ground is not noticed"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pictures_are_in_the_pages_colours(visit, scheme):
    """By the system's choice, and by the button against it: the ground of the picture is light on a light page."""
    page = visit("hashing/chance.html", viewport=DESK, color_scheme=scheme)
    picture = "getComputedStyle(document.querySelector('article img')).colorScheme"
    assert page.evaluate(picture) == scheme
    page.evaluate("document.body.dataset.theme = 'dark'")
    assert page.evaluate(picture) == "dark"
    assert page.evaluate(
        "[...document.querySelectorAll('article img')].every((one) => one.alt.length > 40 && one.naturalWidth > 100)"
    )


def test_search_finds_a_word_without_a_server(visit):
    page = visit("index.html", viewport=DESK)
    page.fill("input[name=q]", "buddy-in-waiting")
    page.press("input[name=q]", "Enter")
    found = page.locator("ul.search li a", has_text="Seltzer and Yigit 1991").first
    found.wait_for(timeout=20_000)
    found.click()
    assert page.locator("article h1").inner_text().startswith("Seltzer and Yigit 1991")


def test_search_says_when_there_is_nothing(visit):
    page = visit("search.html?q=xyzzyplugh", viewport=DESK)
    page.get_by_text("did not match any documents").wait_for(timeout=20_000)


def test_the_pdf_has_every_chapter(book):
    assert book.printed and CHROMIUM
    reader = pypdf.PdfReader(book.site / "book.pdf")
    listed = Counter("".join(entry.title.split()) for entry in reader.outline if not isinstance(entry, list))
    # A part may have the name of its first chapter. Where a line breaks a blank is lost.
    wanted = Counter("".join(title(book.site / name).split()) for name in pages(book))
    wanted += Counter("".join(part.title.split()) for part in book.parts)
    assert len(wanted) > 50 and not wanted - listed
    assert len(reader.pages) > 100
    first = next(entry for entry in reader.outline if not isinstance(entry, list) and entry.title == "Commands")
    number = (reader.get_destination_page_number(first) or 0) + 1
    contents = "".join("".join(page.extract_text().split()) for page in reader.pages[1:4])
    assert f"Commands{number}Settings" in contents, "the table of contents has other numbers"


def test_nothing_is_wider_than_the_paper(visit):
    """Else the browser would print the whole book smaller. A4 without its margins is 672 pixels wide."""
    page = visit("book.html", viewport={"width": 672, "height": 1000})
    page.emulate_media(media="print")
    assert page.evaluate(OVERFLOW) == 0
    page.evaluate(
        "document.body.insertAdjacentHTML('beforeend', '<table><tr><td>' + 'planted'.repeat(30) + '</td></tr></table>')"
    )
    assert page.evaluate(OVERFLOW), "a word of 210 letters in a table is not noticed"


def title(path: Path) -> str:
    heading = re.search(r"<h1>(.*?)<a class=\"headerlink\"", path.read_text(encoding="utf-8"), re.DOTALL)
    assert heading, path
    return " ".join(html.unescape(re.sub(r"<[^>]+>", "", heading[1])).split())
