"""make book: python3 -m lab.book [FOLDER]."""

from __future__ import annotations

import sys
import time
from pathlib import Path

from lab.base.paths import TOP, LabError
from lab.book.site import build_site
from lab.book.whole import print_book


def main() -> int:
    site = Path(sys.argv[1]).absolute() if len(sys.argv) > 1 else TOP / "build/book"
    began = time.monotonic()
    try:
        book = build_site(site, site.with_name(f"{site.name}.work"))
        printed = print_book(book, site)
    except LabError as error:
        print(f"book: {error}", file=sys.stderr)
        return 1
    pages = sum(len(part.pages) for part in book) + 1
    print(f"{site}/index.html: {pages} pages in {time.monotonic() - began:.0f} s; open it in a browser")
    print(f"{site}/book.pdf" if printed else "no PDF: there is no chromium on this machine to print the book with")
    return 0


if __name__ == "__main__":
    sys.exit(main())
