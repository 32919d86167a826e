"""The pages of the book in reading order, as docs/README.md lists them.

A heading with a number ("## 3. The four caches") is a part; the pages that its lines link to are the part's, in that
order. A page that two parts name is where it is named first. The labs bring their own folder: what lies in docs/labs/
and is named nowhere is the part "The labs", before the results.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from lab.base.paths import TOP, LabError

CONTENTS = "docs/README.md"
# Fragments, which `make docs` joins into docs/results.md.
FRAGMENTS = ("docs/results/",)
LABS, LABS_BEFORE = "docs/labs/", "Results"
PART = re.compile(r"^## (?:\d+\. )(.+)$", re.MULTILINE)
LINK = re.compile(r"\]\(([^)\s#]+\.md)\)")


@dataclass(frozen=True)
class Part:
    title: str
    pages: tuple[str, ...]  # paths in the checkout


def parts(top: Path = TOP) -> list[Part]:
    """The parts of the book in the checkout at @top; LabError: pages of docs/ that have no place in it."""
    text = (top / CONTENTS).read_text(encoding="utf-8")
    pieces = PART.split(text)
    taken: set[str] = {CONTENTS}
    found = []
    for title, body in zip(pieces[1::2], pieces[2::2], strict=True):
        named = [os.path.normpath(f"docs/{target}") for target in LINK.findall(body)]
        pages = tuple(page for page in dict.fromkeys(named) if page not in taken)
        taken.update(pages)
        found.append(Part(title, pages))
    there = sorted(str(path.relative_to(top)) for path in (top / "docs").rglob("*.md"))
    lost = [page for page in there if page not in taken and not page.startswith(FRAGMENTS)]
    labs = tuple(
        sorted((page for page in lost if page.startswith(LABS)), key=lambda page: ("README" not in page, page))
    )
    if labs:
        place = next((i for i, part in enumerate(found) if part.title.startswith(LABS_BEFORE)), len(found))
        found.insert(place, Part("The labs", labs))
    lost = [page for page in lost if page not in labs]
    if lost:
        raise LabError(f"pages without a place in the book; {CONTENTS} is to name them: {' '.join(lost)}")
    return found
