"""./cw profile, paths, bench, hashcost."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from lab.base.files import write_whole
from lab.base.paths import LabError
from lab.cli.options import chosen_ext2, finish, with_machine


@with_machine("package image add settings defconfig cmdline mem root disk_model icount seed user timeout", icount=True)
def profile(
    context: typer.Context,
    machine: Any,
    top: Annotated[int, typer.Option("--top", metavar="N", help="So many functions of the kernel.")] = 20,
    flame: Annotated[Path | None, typer.Option("--flame", metavar="FILE.svg", help="Write a flame graph, for a browser.")] = None,
    period: Annotated[int, typer.Option("--period", metavar="NS", help="Virtual nanoseconds from sample to sample.")] = 20_011,
) -> None:  # fmt: skip
    """Run PROGRAM under icount and show which functions of the kernel its time goes to (docs/lab/profile.md)."""
    from lab.measure.flame import flame_graph
    from lab.measure.profile import run_profiled, table

    if not context.args:
        raise LabError("which program? ./cw profile [options] -- PROGRAM ARG...")
    if flame and not flame.absolute().parent.is_dir():
        raise LabError(f"--flame {flame}: there is no folder {flame.parent}")
    result, found = run_profiled(replace(machine, job=context.args), period)
    if result.kind != "exit":
        print(f"cw: {result.message}", file=sys.stderr)
        finish(result.status)
    print(table(found, top))
    if flame:
        write_whole(flame, flame_graph(found, " ".join(context.args)))
        print(f"flame graph: {flame}")
    finish(result.status)


@with_machine("package image add settings defconfig mem root timeout", timeout=1800)
def paths(
    context: typer.Context,
    machine: Any,
    ext2_free: Annotated[int | None, typer.Option(metavar="MB", help="Free space of the ext2 image.")] = None,
) -> None:  # fmt: skip
    """Run PROGRAM and show what paths it and its children name in their calls, by program: number, length, depth, how many lead nowhere.

    A call with two paths counts twice. Not found are ENOENT and ENOTDIR (docs/lab/workloads.md, programs).
    """
    from lab.compare.paths import run_traced, table

    if not context.args:
        raise LabError("which program? ./cw paths [options] -- PROGRAM ARG...")
    result, found = run_traced(replace(machine, job=context.args, ext2=chosen_ext2(4096, 256, ext2_free)))
    print(table(found))
    finish(result.status)


@with_machine("package add settings defconfig mem root timeout", timeout=1800)
def bench(
    machine: Any,
    what: Annotated[str, typer.Argument(help="boot: the figures of starting up and of single system calls. native: nanoseconds of calls of the hosted kernel on threads, beside this host's Linux (docs/kernel/native.md).")] = "boot",
    rebuild: Annotated[bool, typer.Option(help="Time a clean build too.")] = True,
    against: Annotated[str, typer.Option("--against", metavar="linux[=VERSION]", help="Instructions and locked instructions a call here and on Linux, side by side (docs/lab/linux.md).")] = "",
    row: Annotated[list[str] | None, typer.Option("--row", metavar="NAME", help="With --against, and of native: only this row of the table; may be repeated.")] = None,
    job: Annotated[list[str] | None, typer.Option("--job", metavar="NAME|COMMAND", help="With --against: those of this job of lab/jobs or shell command instead, programs' and kernel's apart; may be repeated.")] = None,
    threads: Annotated[str, typer.Option("--threads", metavar="N,N", help="Of native: so many at a time, each on a processor.")] = "1,2",
    rounds: Annotated[int, typer.Option("--rounds", metavar="N", help="Of native: how often all is measured.")] = 5,
    ms: Annotated[int, typer.Option("--ms", metavar="N", help="Of native: milliseconds of a row in a round.")] = 20,
    files: Annotated[int, typer.Option("--files", metavar="N", help="Of native, instead of the rows: memory and nanoseconds of a file among a thousand and among N.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="With --against, and of native: as JSON.")] = False,
) -> None:  # fmt: skip
    """Measure, and print figures. Nothing here passes or fails.

    Of native, --set gives a second kernel beside the one that is built by default: --set DENTRY_LOCK=bucket.
    """
    of_machine = {"--package": machine.packages, "--add": machine.add, "--root": machine.root, "--defconfig": machine.defconfig,
                  "--mem": machine.mem != "512M", "--timeout": machine.timeout != 1800}  # fmt: skip
    if what == "native":
        from lab.measure.native import bench_native

        given = {"--against": against, "--job": job, **of_machine}
        if none := [name for name, value in given.items() if value]:
            raise LabError(f"bench native has no machine, and nothing to do with {', '.join(none)}")
        bench_native(threads, machine.settings, rounds, ms, files, row or [], as_json)
        return
    given = {"--threads": threads != "1,2", "--rounds": rounds != 5, "--ms": ms != 20, "--files": files != 0}
    if none := [name for name, value in given.items() if value]:
        raise LabError(f"{', '.join(none)}: for ./cw bench native alone")
    if against:
        from lab.measure.against import bench_against

        if against.partition("=")[0] != "linux":
            raise LabError(f"--against {against}: there is linux, and linux=VERSION")
        bench_against(against, machine, row or [], job or [], as_json)
        return
    from lab.measure.bench import bench_boot

    if what != "boot":
        raise LabError(f"no benchmark '{what}'. There are: boot, native, and --against linux")
    given = {**of_machine, "--set": machine.settings, "--job": job, "--row": row, "--json": as_json}
    if none := [name for name, value in given.items() if value]:
        raise LabError(f"bench boot is of the kernel as it is built by default: {', '.join(none)} would do nothing")
    bench_boot(rebuild)


def hash_cost(
    cache: Annotated[str, typer.Option("--cache", metavar="NAME", help="page, buffer, inode, dentry, name: several by commas; all without it.")] = "",
    functions: Annotated[str, typer.Option("--functions", metavar="A,B", help="These functions alone (./cw list).")] = "",
    bits: Annotated[int, typer.Option("--bits", metavar="N", help="The table's size: 2^N buckets.")] = 14,
    word: Annotated[str, typer.Option("--word", metavar="32|64|32,64", help="The word in which functions compute (HASH_WORD).")] = "64",
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:  # fmt: skip
    """What each hash function costs: instructions executed and bytes of code, compiled with the kernel's flags.

    KCFLAGS=-mcrc32 in the environment counts, as in the build (docs/lab/key-streams.md).
    """
    from lab.measure.cost import hashcost

    if not word or not set(word.split(",")) <= {"32", "64"}:
        raise LabError(f"--word {word}: there are 32 and 64, or both as 32,64")
    hashcost(cache, functions, bits, [int(one) for one in dict.fromkeys(word.split(","))], as_json)
