"""./cw compare, diff."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

import typer

from lab.base.paths import LabError
from lab.cli.options import Add, Mem, Package, Root, finish, with_machine


def compare(
    context: typer.Context,
    a: Annotated[
        str,
        typer.Argument(metavar="A", help="A kernel: a defconfig's name or settings, BUFFER_HASH=mult,HASH_WORD=32."),
    ],
    b: Annotated[str, typer.Argument(metavar="B", help="The other kernel.")],
    package: Package = None,
    add: Add = None,
    mem: Mem = "512M",
    root: Root = "",
    icount: Annotated[
        bool, typer.Option("--icount/--no-icount", help="Count instructions: repeatable to the byte.")
    ] = True,
    timeout: Annotated[float, typer.Option("--timeout", metavar="SECONDS")] = 600,
) -> None:
    """Run one program on two kernels and show their caches side by side: ./cw compare A B -- PROGRAM ARG..."""
    from lab.compare.kernels import compare_kernels

    arguments = context.args[1:] if context.args[:1] == ["--"] else context.args
    if not arguments:
        raise LabError("which program? ./cw compare A B -- PROGRAM ARG...")
    finish(compare_kernels(a, b, arguments, package or [], add or [], mem, root, icount, timeout))


@with_machine("package docs add settings defconfig mem smp root icount user accel timeout")
def diff_kernels(
    context: typer.Context,
    machine: Any,
    kernel: Annotated[str, typer.Option("--kernel", metavar="linux[=VERSION]", help="The kernel to compare with.")] = "linux",
    trace: Annotated[bool, typer.Option("--trace/--no-trace", help="Compare every system call's error too, in runs of their own.")] = True,
    job: Annotated[str, typer.Option("--job", metavar="NAME", help="Instead of a program: this job of lab/jobs, with its packages.")] = "",
    ignore: Annotated[list[str] | None, typer.Option("--ignore", metavar="PATTERN", help="Leave out files like this ('*/.git/index'); may be repeated.")] = None,
) -> None:  # fmt: skip
    """Run PROGRAM on Chainwalk and on Linux: output, exit status, changed files, the error of every call.

    Exit status 0: all the same; 1: something differs, and is printed; other: a machine or the lab failed.
    """
    from lab.compare.diff import diff
    from lab.guest import jobs

    if bool(context.args) == bool(job):
        raise LabError(f"which program? ./cw diff [options] -- PROGRAM ARG..., or --job {'|'.join(jobs.names())}")
    if kernel.partition("=")[0] != "linux":
        raise LabError(f"--kernel {kernel}: what Chainwalk is compared with is linux or linux=VERSION")
    options = replace(machine, job=context.args, kernel=kernel)
    ignored = list(ignore or [])
    if job:
        options = options.with_job(jobs.find(job))
        ignored += jobs.find(job).ignored
    finish(diff(options, trace, ignored))
