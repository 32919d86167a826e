"""./cw run, shell, list; what make run and make gdb start."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from lab.base.files import make_room, write_whole
from lab.base.paths import LabError
from lab.cli.options import MACHINE, Cmdline, Mem, Smp, chosen_ext2, finish, with_machine


@with_machine(f"{MACHINE} disk_model cache_sim icount instruction_ns seed timeout")
def run(
    context: typer.Context,
    machine: Any,
    stats: Annotated[Path | None, typer.Option("--stats", metavar="FILE.json", help="Write all four caches' statistics at the end of the run.")] = None,
    result_file: Annotated[Path | None, typer.Option("--result", metavar="FILE.json", help="Write all there is to know of the run, however it ended: status, results, statistics, configuration, log (docs/lab/experiments.md).")] = None,
    known: Annotated[Path | None, typer.Option("--known", metavar="FILE", hidden=True, help="With --result: hashes of machines that need not run, one a line.")] = None,
    strace: Annotated[str, typer.Option("--strace", metavar="[=FILE]", help="Trace the program's system calls as `strace -f` does: to stderr at the end, or to FILE.")] = "",
    quiet: Annotated[bool, typer.Option("--quiet", help="The program's output alone on stdout.")] = False,
    ext2_block: Annotated[int, typer.Option(metavar="BYTES", help="Block size of the ext2 image.")] = 4096,
    ext2_inode: Annotated[int, typer.Option(metavar="BYTES", help="Inode size of the ext2 image.")] = 256,
    ext2_free: Annotated[int | None, typer.Option(metavar="MB", help="Free space of the ext2 image: 64, on a RAM disk 16 or what its --image needs.")] = None,
) -> None:  # fmt: skip
    """Boot, run PROGRAM as the job, print its output, exit with its status.

    The machine's own end is never a success: 120 panic, 121 no status came, 122 hang, 124 time-out, 125 the
    lab failed (a wrong name, a build error).
    """
    from lab.run.machine import run as run_machine
    from lab.run.options import check_options

    if not context.args:
        raise LabError("which program? ./cw run [options] -- PROGRAM ARG...")
    counted = stats or (None if machine.linux else result_file)  # Linux has no statistics for the result
    options = replace(
        machine, job=context.args, stats=counted.absolute() if counted else None,
        known=frozenset(known.read_text().split()) if known else None, strace=bool(strace), quiet=quiet, ext2=chosen_ext2(ext2_block, ext2_inode, ext2_free),
    )  # fmt: skip
    if not result_file:  # which tells what was refused
        check_options(options)  # before older outcomes go
    if stats:
        make_room(stats, "--stats")
    if strace not in ("", "-"):
        make_room(Path(strace), "--strace")
    if result_file:
        from lab.run.result import run_with_result

        result = run_with_result(result_file.absolute(), options, sys.argv[1:], sys.stdout.buffer, sys.stdin.buffer)
    else:
        result = run_machine(options, sys.stdout.buffer, sys.stdin.buffer)
    if stats:
        import json

        write_whole(stats, json.dumps(result.stats, indent=1, sort_keys=True) + "\n")
    if strace:
        from lab.compare.strace import write_trace

        write_trace(result.log.records, strace)
    if result.cachesim:
        from lab.run.cachesim.counts import print_table
        from lab.run.cachesim.several import print_tables

        (print_tables if "clocks" in result.cachesim else print_table)(result.cachesim)
    if result.kind != "exit":
        print(f"cw: {result.message}", file=sys.stderr)
    elif stats and not result.stats:
        raise LabError("the kernel sent no statistics (is it built with HASH_STATS=n?)")
    finish(result.status)


@with_machine(MACHINE)
def shell(context: typer.Context, machine: Any) -> None:
    """A shell in the booted system. Leave it with `exit`; Ctrl-A X ends the machine at once."""
    from lab.run.machine import run as run_machine

    size = os.get_terminal_size(0) if sys.stdin.isatty() else None
    environment = {"COLUMNS": str(size.columns), "LINES": str(size.lines)} if size and size.columns else {}
    options = replace(
        machine, job=context.args or ["/bin/sh", "-l"], cmdline=f"quiet {machine.cmdline}".strip(), interactive=True,
        timeout=0, environment=environment,
    )  # fmt: skip
    result = run_machine(options)
    if result.kind != "exit":
        print(f"cw: {result.message}", file=sys.stderr)
    finish(result.status)


def list_choices(
    what: Annotated[str, typer.Argument(help="Only this choice, such as BUFFER_HASH.")] = "",
) -> None:
    """What can be chosen: hash functions, table structures, sizing rules, defconfigs, settings."""
    from lab.run.listing import print_choices

    print_choices(what)


def demo(mem: Mem = "512M", smp: Smp = 1, cmdline: Cmdline = "") -> None:
    """The job of `make run`."""
    from lab.run.demo import run_demo

    settings = os.environ.get("CW_SETTINGS", "").split()
    finish(run_demo(mem, smp, settings, os.environ.get("CW_DEFCONFIG", ""), cmdline))


def gdb() -> None:
    """What `make gdb` runs."""
    from lab.run.gdb.debugger import debug

    finish(debug())
