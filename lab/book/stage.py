"""Copies of the pages for the generator: same text, links that it can follow.

A page of docs/ keeps its place (docs/README.md is the site's first page); a page from elsewhere that the book has lies
in project/. A link to one of these stays a link to Markdown, so that the generator looks for page and heading. One to
anything else in the checkout becomes `source:PATH`, for extension.py. One that leads nowhere is an error.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from lab.base.paths import TOP, LabError
from lab.book.order import CONTENTS, Part

LINK = re.compile(r"(\]\()([^)\s#]*)(#[^)\s]*)?(\))")
FENCE = re.compile(r"^(```|~~~)")


def staged(page: str) -> str:
    """Where the copy of @page lies, below the folder of copies."""
    if page == CONTENTS:
        return "index.md"
    return page.removeprefix("docs/") if page.startswith("docs/") else f"project/{page}"


def rewritten(page: str, text: str, pages: set[str], top: Path = TOP) -> str:
    """The @text of @page with its links as the site has them; @pages are all of the book."""
    here, lines, fenced = os.path.dirname(page), [], False

    def link(match: re.Match[str]) -> str:
        before, target, anchor, after = match[1], match[2], match[3] or "", match[4]
        if not target or re.match(r"[a-z]+:", target):
            return match[0]
        path = os.path.normpath(os.path.join(here, target))
        if path in pages:
            to = os.path.relpath(staged(path), os.path.dirname(staged(page)) or ".")
            return f"{before}{to}{anchor}{after}"
        if path.startswith("..") or not (top / path).exists():
            raise LabError(f"{page}: a link leads nowhere: {target}")
        if path.startswith("docs/") and path.endswith(".svg"):
            return match[0]
        return f"{before}source:{path}{after}"

    for line in text.split("\n"):
        if FENCE.match(line):
            fenced = not fenced
        lines.append(line if fenced else LINK.sub(link, line))
    return "\n".join(lines)


def contents(parts: list[Part]) -> str:
    """What the first page gets besides its text: the site's navigation."""
    trees = []
    for part in parts:
        entries = "\n".join(staged(page).removesuffix(".md") for page in part.pages)
        trees.append(f"```{{toctree}}\n:hidden:\n:caption: {part.title}\n\n{entries}\n```\n")
    return "\n" + "\n".join(trees)


def stage(parts: list[Part], folder: Path, top: Path = TOP) -> None:
    """Write the copies of all pages and pictures into @folder; what has not changed is left alone, what is gone goes."""
    pages = {page for part in parts for page in part.pages} | {CONTENTS}
    wanted: dict[Path, bytes] = {}
    for page in sorted(pages):
        text = rewritten(page, (top / page).read_text(encoding="utf-8"), pages, top)
        if page == CONTENTS:
            text += contents(parts)
        wanted[folder / staged(page)] = text.encode()
    for picture in (top / "docs").rglob("*.svg"):
        wanted[folder / picture.relative_to(top / "docs")] = picture.read_bytes()
    for path in [path for path in folder.rglob("*") if path.is_file() and path not in wanted]:
        path.unlink()
    for path, content in wanted.items():
        if not path.exists() or path.read_bytes() != content:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
