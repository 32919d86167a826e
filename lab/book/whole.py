"""All pages of the book in one, in reading order, and that as a PDF, printed by a browser without a window.

The one page, book.html, is made of the site's: each page's article becomes a chapter, what it is linked by gets the
page's name in front, so that links lead to the chapter and no two headings have one name. Links into the source are
text there: paper cannot follow them.
"""

from __future__ import annotations

import html
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path
from urllib.parse import unquote

from lab.base.paths import LabError
from lab.book.order import CONTENTS, Part
from lab.book.stage import staged

ONE, PDF = "book.html", "book.pdf"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
CHROMIUM_FLAGS = (
    "--headless --no-sandbox --disable-gpu --no-first-run --disable-background-networking --disable-component-update"
    " --no-pdf-header-footer --generate-pdf-document-outline"
).split()
NUMBER = re.compile(r'<span class="number" data-of="([^"]+)"></span>')
HEAD = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Chainwalk: the book</title>
<link rel="stylesheet" href="_static/print.css"></head><body>
<section class="title"><h1>Chainwalk</h1><p>the book</p></section>
"""


def chromium() -> str | None:
    """The browser that prints, and that looks at pages in the tests; None: there is none."""
    return next((path for name in BROWSERS if (path := shutil.which(name))), None)


def print_book(book: list[Part], site: Path) -> bool:
    """Write book.html and book.pdf of the site; False: there is no browser to print with.

    It is printed twice: the first time tells on which page each chapter is, for the table of contents.
    """
    browser = chromium()
    text = one_page(book, site)
    (site / ONE).write_text(text, encoding="utf-8")
    if browser is None:
        return False
    _print(browser, site)
    numbers = page_numbers(site / PDF)
    text = NUMBER.sub(
        lambda place: f'<span class="number" data-of="{place[1]}">{numbers.get(place[1], "")}</span>', text
    )
    (site / ONE).write_text(text, encoding="utf-8")
    _print(browser, site)
    return True


def _print(browser: str, site: Path) -> None:
    pdf = site / PDF
    # A profile of its own: one that is in use, by another print or by the user's own browser, is refused.
    with tempfile.TemporaryDirectory(prefix="cw-book-", ignore_cleanup_errors=True) as profile:
        command = [
            browser,
            *CHROMIUM_FLAGS,
            f"--user-data-dir={profile}",
            f"--print-to-pdf={pdf}",
            (site / ONE).as_uri(),
        ]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
        except subprocess.TimeoutExpired:
            raise LabError("the browser took more than five minutes to print the book") from None
    if done.returncode or not pdf.exists():
        raise LabError(f"{browser} printed no PDF: {done.stderr.strip()[-500:]}")


def page_numbers(pdf: Path) -> dict[str, int]:
    """The page of each place in @pdf that something in it links to, by the place's name."""
    from pypdf import PdfReader

    reader = PdfReader(pdf)
    found = {name: reader.get_destination_page_number(place) for name, place in reader.named_destinations.items()}
    return {unquote(name).lstrip("/"): number + 1 for name, number in found.items() if number is not None}


def name_of(page: str) -> str:
    """What a page's chapter is called in links: papers/lever-1999.html -> papers-lever-1999."""
    return re.sub(r"[^\w]+", "-", page.removesuffix(".html"))


def one_page(book: list[Part], site: Path) -> str:
    """The whole book as HTML."""
    pages = [_html(CONTENTS)] + [_html(page) for part in book for page in part.pages]
    titles, chapters = {}, {}
    for page in pages:
        chapters[page], titles[page] = _chapter(page, site, set(pages))
    body = [HEAD, _contents(book, titles), chapters[pages[0]]]
    for part in book:
        body.append(
            f'<section class="part"><h1 id="part-{name_of(part.title)}">{html.escape(part.title)}</h1></section>'
        )
        body += [chapters[_html(page)] for page in part.pages]
    return "\n".join([*body, "</body></html>\n"])


def _html(page: str) -> str:
    return re.sub(r"\.md$", ".html", staged(page))


def _contents(book: list[Part], titles: dict[str, str]) -> str:
    lines = ['<nav class="contents"><h1>Contents</h1>']
    for part in book:
        lines.append(f"<h2>{html.escape(part.title)}</h2><ul>")
        for page in map(_html, part.pages):
            number = f'<span class="number" data-of="{name_of(page)}"></span>'
            lines.append(f'<li><a href="#{name_of(page)}">{html.escape(titles[page])}</a>{number}</li>')
        lines.append("</ul>")
    return "\n".join([*lines, "</nav>"])


ARTICLE = re.compile(r"<article[^>]*>(.*)</article>", re.DOTALL)
HEADER_LINK = re.compile(r'<a class="headerlink".*?</a>', re.DOTALL)
LINK = re.compile(r'<a\b([^>]*?)\bhref="([^"]*)"([^>]*)>(.*?)</a>', re.DOTALL)


def _chapter(page: str, site: Path, pages: set[str]) -> tuple[str, str]:
    """The article of @page as a chapter, and its title. The site's HTML is regular: Sphinx has written it."""
    found = ARTICLE.search((site / page).read_text(encoding="utf-8"))
    if found is None:
        raise LabError(f"{page} of the site has no article")
    name, folder = name_of(page), os.path.dirname(page)
    text = HEADER_LINK.sub("", found[1])
    text = re.sub(r'\bid="([^"]+)"', rf'id="{name}--\1"', text)
    text = LINK.sub(lambda link: _led(link, page, pages), text)
    text = re.sub(r'\bsrc="([^"]+)"', lambda image: f'src="{os.path.normpath(os.path.join(folder, image[1]))}"', text)
    title = re.search(r"<h1>(.*?)</h1>", text, re.DOTALL)
    plain = html.unescape(re.sub(r"<[^>]+>", "", title[1])) if title else page
    return f'<section class="chapter" id="{name}">{text}</section>', plain


def _led(link: re.Match[str], page: str, pages: set[str]) -> str:
    """The @link of @page as one to a chapter, or as its text."""
    before, target, after, text = link.groups()
    place, _, anchor = html.unescape(target).partition("#")
    if re.match(r"[a-z]+:", place):
        return link[0]
    to = os.path.normpath(os.path.join(os.path.dirname(page), unquote(place))) if place else page
    if to not in pages:
        return text
    led = f"#{name_of(to)}--{anchor}" if anchor else f"#{name_of(to)}"
    return f'<a{before}href="{html.escape(led)}"{after}>{text}</a>'
