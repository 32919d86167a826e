"""./cw packages; what make iso starts."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lab.cli.options import Cmdline


def packages(
    update: Annotated[bool, typer.Option("--update", help="Get the newest index and forget the versions chosen so far.")] = False,
    clear: Annotated[bool, typer.Option("--clear", help="Remove everything that was downloaded.")] = False,
) -> None:  # fmt: skip
    """The sets of Debian packages in the cache, each with the versions it is pinned to."""
    from lab.guest import packages

    if clear:
        packages.clear()
    elif update:
        packages.update()
    for versions in packages.list_sets():
        print(*versions, "", sep="\n")


def iso(output: Path, cmdline: Cmdline = "") -> None:
    """The bootable ISO of `make iso`."""
    from lab.guest.iso import make_iso

    make_iso(output, cmdline)
