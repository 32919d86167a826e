"""Pages for the files and folders that the book links to, so that the site has them without a network.

Plain text with numbered lines, and a list of what a folder holds. A file of a linked folder has a page, too, unless
the folder holds hundreds.
"""

from __future__ import annotations

import html
import os
import subprocess
from collections.abc import Iterable
from pathlib import Path

from lab.base.paths import TOP
from lab.book.extension import source_page

MOST_FILES = 60
LARGEST = 400_000  # bytes of a file that is shown whole
PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>{path} - Chainwalk</title><link rel="stylesheet" href="{up}_static/source.css"></head>
<body><header><a href="{up}index.html">The book</a> / {way}</header>
<main>
<h1>{path}</h1>
{body}
</main></body></html>
"""


def tracked(top: Path = TOP) -> list[str]:
    """All files of the checkout but those that are ignored."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(command, cwd=top, capture_output=True, text=True, check=True).stdout.splitlines()
    return sorted({name for name in names if (top / name).is_file()})


def with_neighbours(targets: Iterable[str], files: list[str], top: Path = TOP) -> set[str]:
    """@targets, and the files of those that are folders."""
    found = set(targets)
    for folder in [target for target in found if (top / target).is_dir()]:
        inside = [name for name in files if os.path.dirname(name) == folder]
        found.update(inside if len(inside) <= MOST_FILES else [])
    return found


def write_sources(targets: Iterable[str], site: Path, top: Path = TOP) -> int:
    """Write a page for each of @targets into @site; how many there are."""
    files = tracked(top)
    shown = with_neighbours(targets, files, top)
    for path in shown:
        place = site / source_page(path)
        place.parent.mkdir(parents=True, exist_ok=True)
        body = _listing(path, files, shown) if (top / path).is_dir() else _text(top / path)
        place.write_text(
            PAGE.format(path=html.escape(path), up="../" * (path.count("/") + 1), way=_way(path, shown), body=body)
        )
    return len(shown)


def _way(path: str, shown: set[str]) -> str:
    names = path.split("/")
    steps = []
    for i, name in enumerate(names[:-1]):
        above = "/".join(names[: i + 1])
        up = "../" * (len(names) - 1 - i)
        steps.append(
            f'<a href="{up}{html.escape(name)}.html">{html.escape(name)}</a>' if above in shown else html.escape(name)
        )
    return " / ".join([*steps, html.escape(names[-1])])


def _listing(folder: str, files: list[str], shown: set[str]) -> str:
    inside = [name.removeprefix(f"{folder}/") for name in files if name.startswith(f"{folder}/")]
    entries = dict.fromkeys(name.split("/")[0] + ("/" if "/" in name else "") for name in inside)
    here = os.path.basename(folder)
    lines = []
    for entry in sorted(entries):
        name = html.escape(entry)
        there = f"{folder}/{entry.rstrip('/')}" in shown
        lines.append(
            f'<li><a href="{html.escape(here)}/{name.rstrip("/")}.html">{name}</a></li>'
            if there
            else f"<li>{name}</li>"
        )
    return "<ul>" + "".join(lines) + "</ul>"


def _text(path: Path) -> str:
    try:
        text = path.read_bytes()[:LARGEST].decode()
    except UnicodeDecodeError:
        return f"<p>{path.stat().st_size} bytes that are no text.</p>"
    return f"<pre tabindex=0>{html.escape(text)}</pre>"
