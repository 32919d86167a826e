"""./cw fuzz."""

from __future__ import annotations

from typing import Annotated

import typer

from lab.base.paths import LabError
from lab.cli.options import Icount, Set, Smp, finish


def fuzz(
    sequences: Annotated[int, typer.Option("--sequences", metavar="N", help="How many sequences of file calls.")] = 2000,
    seed: Annotated[int, typer.Option("--seed", metavar="N", help="The first one's seed.")] = 0,
    root: Annotated[str, typer.Option("--root", metavar="ext2|tmpfs", help="On this root alone.")] = "",
    smp: Smp = 1,
    jobs: Annotated[int, typer.Option("--jobs", metavar="N", min=1, help="Machines at once.")] = 2,
    fresh: Annotated[bool, typer.Option("--fresh", help="Begin anew, also where the same command was interrupted.")] = False,
    keep: Annotated[bool, typer.Option("--keep/--no-keep", help="Write what differs, shrunk, to tests/fuzz/found.")] = True,
    without: Annotated[str, typer.Option("--without", metavar="A,B", help="Leave these operations out.")] = "",
    calls: Annotated[int, typer.Option("--calls", metavar="N", help="Instead: so many system calls with wild arguments, by an ordinary user.")] = 0,
    permissions: Annotated[bool, typer.Option("--permissions", help="Instead: the table of users, modes, owners and calls, cell by cell.")] = False,
    icount: Icount = False,
    settings: Set = None,
) -> None:  # fmt: skip
    """Sequences of file calls at random, compared with Linux on this host (as root, in a mount namespace).

    With --calls: every system call with plausible, border and wild arguments. --set DEBUG=y boots the kernel
    with its assertions.
    """
    from lab.build.kernel import build, build_lock
    from lab.check.fuzz.both import ROOTS
    from lab.check.fuzz.calls import fuzz_calls_long
    from lab.check.fuzz.campaign import fuzz_files
    from lab.check.fuzz.permissions import print_permissions

    if root and root not in ROOTS:
        raise LabError(f"no root '{root}'. There are: {', '.join(ROOTS)}")
    with build_lock():
        build(tuple(settings or ()))
    if calls:
        finish(fuzz_calls_long(calls, seed, root or "tmpfs", smp, icount))
    if permissions:
        finish(print_permissions([root] if root else list(ROOTS)))
    finish(fuzz_files([root] if root else list(ROOTS), seed, sequences, smp, jobs, fresh, keep, without))
