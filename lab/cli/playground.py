"""./cw playground."""

from __future__ import annotations

import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from lab.base.paths import TOP


def playground(
    output: Annotated[Path | None, typer.Option("--output", metavar="FILE.html", help="Where to write it; build/playground.html without it.")] = None,
    show: Annotated[bool, typer.Option("--open", help="Open it in the browser.")] = False,
    again: Annotated[list[str] | None, typer.Option("--record", metavar="NAME|all", help="First record this stream of lab/playground/streams anew, or all of them: boots machines. May be given several times.")] = None,
) -> None:  # fmt: skip
    """Write the playground: hash functions at work on real programs' keys, one page that needs only a browser (docs/lab/playground.md)."""
    from lab.playground.page import write_page
    from lab.playground.recordings import record

    record(again or [])
    path = output or TOP / "build/playground.html"
    size = write_page(path)
    print(f"{path}: {size:,} bytes; open it in a browser")
    if show:
        webbrowser.open(path.absolute().as_uri())
