"""The command line of ./cw. Modules that a command needs are imported by the command, so that each starts fast."""

from __future__ import annotations

import functools
import inspect
import os
import signal
import sys
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from lab.base.paths import LabError

app = typer.Typer(
    help="Chainwalk's laboratory: boot kernels, run programs in them, read what their caches counted.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)

ERROR = 125
PROGRAM = {"allow_extra_args": True, "ignore_unknown_options": False, "allow_interspersed_args": False}

Add = Annotated[list[str] | None, typer.Option("--add", metavar="HOSTPATH[:GUESTPATH]", help="Put a file or folder into the image; may be repeated. It belongs to the program's user (--user), and without GUESTPATH goes to that user's home.")]  # fmt: skip
Package = Annotated[list[str] | None, typer.Option("--package", metavar="NAME[=VERSION]", help="A Debian package for the image, with all it depends on; may be repeated (docs/packages.md).")]  # fmt: skip
Image = Annotated[str, typer.Option("--image", metavar="NAME", help="A prepared image for a load of /bin/workload: base, files, sdm (docs/workloads.md, ./cw list IMAGE).")]  # fmt: skip
Documents = Annotated[bool, typer.Option("--docs", help="With the packages' documentation, manual pages and translations.")]  # fmt: skip
Kernel = Annotated[str, typer.Option("--kernel", metavar="chainwalk|linux[=VERSION]", help="linux: Debian's cloud kernel on the same image and machine (docs/linux.md).")]  # fmt: skip
Set = Annotated[list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="A Kconfig setting for this run: BUFFER_HASH=steiner, HASH_WORD=32 ... (./cw list).")]  # fmt: skip
Defconfig = Annotated[str, typer.Option("--defconfig", metavar="NAME", help="Start from configs/NAME_defconfig.")]
Cmdline = Annotated[str, typer.Option("--cmdline", metavar="TEXT", help="More of the kernel's command line.")]
Mem = Annotated[str, typer.Option("--mem", metavar="SIZE", help="Memory of the machine, 64M to 16G.")]
Smp = Annotated[int, typer.Option("--smp", metavar="N", help="Number of CPUs, 1 to 16.")]
Root = Annotated[str, typer.Option("--root", metavar="ext2|tmpfs|ram", help="Root file system: ext2 on a virtio disk (default), tmpfs, or ext2 on a RAM disk (default with --icount).")]  # fmt: skip
Disk = Annotated[Path | None, typer.Option("--disk", metavar="FILE", help="The disk /dev/vda, changed in place. With --root ext2 it is the root, made if it is not there.")]  # fmt: skip
DiskModel = Annotated[str, typer.Option("--disk-model", metavar="none|fireball|cheetah|ssd", help="The RAM disk takes this disk's time (docs/disk-model.md).")]  # fmt: skip
CacheSim = Annotated[str, typer.Option("--cache-sim", metavar="PRESET|l1d=SIZE/WAYS/LINE,l2=...", help="Simulate a processor's memory caches: ppro, xeon-p2, current or sizes of yours (docs/cache-simulation.md).")]  # fmt: skip
Icount = Annotated[
    bool,
    typer.Option(
        "--icount/--no-icount", help="One virtual nanosecond is one instruction; repeatable to the byte. One CPU."
    ),
]
Seed = Annotated[int | None, typer.Option("--seed", metavar="N", help="With --icount: what differs from run to run (addresses, process numbers, random bytes) is drawn from N; 1 without it.")]  # fmt: skip
User = Annotated[
    str, typer.Option("--user", metavar="NAME", help="Run the program as this user of the guest (root, user).")
]
Accel = Annotated[str, typer.Option("--accel", metavar="tcg|kvm", help="QEMU's accelerator.")]
Timeout = Annotated[float, typer.Option("--timeout", metavar="SECONDS", help="End a machine after so long (0: never).")]


def _machine(
    kernel: Kernel = "chainwalk",
    package: Package = None,
    image: Image = "",
    docs: Documents = False,
    add: Add = None,
    settings: Set = None,
    defconfig: Defconfig = "",
    cmdline: Cmdline = "",
    mem: Mem = "512M",
    smp: Smp = 1,
    root: Root = "",
    disk: Disk = None,
    disk_model: DiskModel = "none",
    cache_sim: CacheSim = "",
    icount: Icount = False,
    seed: Seed = None,
    user: User = "root",
    accel: Accel = "tcg",
    timeout: Timeout = 600,
) -> Any:  # Options
    """What commands can be told of their machine; with_machine() gives a command those of these options that it takes."""
    from lab.run.options import Options

    if seed is not None and (not icount or kernel != "chainwalk"):
        raise LabError("--seed is for runs that are repeatable: Chainwalk's own kernel with --icount")
    return Options(
        kernel=kernel, packages=package or [], image=image, documents=docs, add=add or [], settings=settings or [], defconfig=defconfig,
        cmdline=cmdline, mem=mem, smp=smp, root=root, disk=disk and disk.absolute(), disk_model=disk_model, cache_sim=cache_sim, icount=icount, seed=1 if seed is None else seed,
        user=user, accel=accel, timeout=timeout,
    )  # fmt: skip


def with_shared(outcome: str, options: Callable[..., Any], names: Iterable[str], **defaults):
    """A command gets these options of @options beside its own, and what @options makes of them as @outcome.

    @defaults: where they differ from those of @options."""

    def wrap(command):
        own = {
            name: parameter
            for name, parameter in inspect.signature(command, eval_str=True).parameters.items()
            if name != outcome
        }
        every = inspect.signature(options, eval_str=True).parameters
        shared = {name: every[name].replace(default=defaults.get(name, every[name].default)) for name in names}
        order = sorted([*own.values(), *shared.values()], key=lambda one: one.default is not inspect.Parameter.empty)

        @functools.wraps(command)
        def call(**given):
            return command(**{outcome: options(**{name: given.pop(name) for name in shared})}, **given)

        call.__signature__ = inspect.Signature([one.replace(kind=one.KEYWORD_ONLY) for one in order])
        call.__annotations__ = {one.name: one.annotation for one in order}
        del call.__wrapped__  # whose parameters are others
        return call

    return wrap


def with_machine(names: str, **defaults):
    """A command gets these options of _machine(), and their outcome as `machine`."""
    return with_shared("machine", _machine, names.split(), **defaults)


MACHINE = "kernel package image docs add settings defconfig cmdline mem smp root disk user accel"


def chosen_ext2(block: int, inode: int, free: int | None):
    from lab.guest.image import Ext2

    if block not in (1024, 2048, 4096) or inode not in (128, 256):
        raise LabError("ext2 has blocks of 1024, 2048 or 4096 bytes and inodes of 128 or 256")
    if free is not None and free < 1:
        raise LabError(f"--ext2-free {free}: give it in MB, 1 or more")
    return Ext2(block_size=block, inode_size=inode, free_bytes=None if free is None else free << 20)


@app.command(context_settings=PROGRAM, options_metavar="[OPTIONS] -- PROGRAM ARG...")
@with_machine(f"{MACHINE} disk_model cache_sim icount seed timeout")
def run(
    context: typer.Context,
    machine: Any,
    stats: Annotated[Path | None, typer.Option("--stats", metavar="FILE.json", help="Write all four caches' statistics at the end of the run.")] = None,
    result_file: Annotated[Path | None, typer.Option("--result", metavar="FILE.json", help="Write all there is to know of the run, however it ended: status, results, statistics, configuration, log (docs/experiments.md).")] = None,
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

    if not context.args:
        raise LabError("which program? ./cw run [options] -- PROGRAM ARG...")
    options = replace(
        machine, job=context.args, stats=(stats or result_file or Path()).absolute() if stats or result_file else None,
        strace=bool(strace), quiet=quiet, ext2=chosen_ext2(ext2_block, ext2_inode, ext2_free),
    )  # fmt: skip
    if result_file:
        from lab.run.result import run_with_result

        result = run_with_result(result_file.absolute(), options, sys.argv[1:], sys.stdout.buffer, sys.stdin.buffer)
    else:
        result = run_machine(options, sys.stdout.buffer, sys.stdin.buffer)
    if stats:
        import json

        stats.write_text(json.dumps(result.stats, indent=1, sort_keys=True) + "\n")
    if strace:
        from lab.compare.strace import write_trace

        write_trace(result.log.records, strace)
    if result.cachesim:
        from lab.run.cachesim.counts import print_table

        print_table(result.cachesim)
    if result.kind != "exit":
        print(f"cw: {result.message}", file=sys.stderr)
    elif stats and not result.stats:
        raise LabError("the kernel sent no statistics (is it built with HASH_STATS=n?)")
    finish(result.status)


@app.command(context_settings=PROGRAM)
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


@app.command("list")
def list_choices(
    what: Annotated[str, typer.Argument(help="Only this choice, such as BUFFER_HASH.")] = "",
) -> None:
    """What can be chosen: hash functions, table structures, sizing rules, defconfigs, settings."""
    from lab.run.listing import print_choices

    print_choices(what)


@app.command(context_settings=PROGRAM, options_metavar="[OPTIONS]", no_args_is_help=True)
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


@app.command("diff", context_settings=PROGRAM, options_metavar="[OPTIONS] -- PROGRAM ARG...")
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


@app.command(context_settings=PROGRAM, options_metavar="[OPTIONS] -- PROGRAM ARG...")
@with_machine("package add settings defconfig cmdline mem root disk_model icount seed user timeout", icount=True)
def profile(
    context: typer.Context,
    machine: Any,
    top: Annotated[int, typer.Option("--top", metavar="N", help="So many functions of the kernel.")] = 20,
    flame: Annotated[Path | None, typer.Option("--flame", metavar="FILE.svg", help="Write a flame graph, for a browser.")] = None,
    period: Annotated[int, typer.Option("--period", metavar="NS", help="Virtual nanoseconds from sample to sample.")] = 20_011,
) -> None:  # fmt: skip
    """Run PROGRAM under icount and show which functions of the kernel its time goes to (docs/profile.md)."""
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
        flame.write_text(flame_graph(found, " ".join(context.args)), encoding="utf-8")
        print(f"flame graph: {flame}")
    finish(result.status)


@app.command()
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


@app.command()
@with_machine("package add settings defconfig mem root timeout", timeout=1800)
def bench(
    machine: Any,
    what: Annotated[str, typer.Argument(help="boot: the figures of starting up and of single system calls.")] = "boot",
    rebuild: Annotated[bool, typer.Option(help="Time a clean build too.")] = True,
    against: Annotated[str, typer.Option("--against", metavar="linux[=VERSION]", help="Instructions a call here and on Linux, side by side (docs/linux.md).")] = "",
    row: Annotated[list[str] | None, typer.Option("--row", metavar="NAME", help="With --against: only this row of the table; may be repeated.")] = None,
    job: Annotated[list[str] | None, typer.Option("--job", metavar="NAME|COMMAND", help="With --against: instructions of this job of lab/jobs or shell command instead, programs' and kernel's apart; may be repeated.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="With --against: as JSON.")] = False,
) -> None:  # fmt: skip
    """Measure, and print figures. Nothing here passes or fails."""
    if against:
        from lab.measure.against import bench_against

        if against.partition("=")[0] != "linux":
            raise LabError(f"--against {against}: there is linux, and linux=VERSION")
        bench_against(against, machine, row or [], job or [], as_json)
        return
    from lab.measure.bench import bench_boot

    if what != "boot":
        raise LabError(f"no benchmark '{what}'. There are: boot, and --against linux")
    bench_boot(rebuild)


@app.command("record", context_settings=PROGRAM, options_metavar="[OPTIONS] --output FILE.keys -- PROGRAM ARG...")
@with_machine(f"{MACHINE} disk_model icount seed timeout", icount=True)
def record_keys(
    context: typer.Context,
    machine: Any,
    output: Annotated[Path, typer.Option("--output", metavar="FILE.keys", help="The key stream to write (docs/key-streams.md).")],
    size: Annotated[str, typer.Option("--size", metavar="SIZE", help="Memory for the recording, which the machine gets besides: 40 bytes an operation.")] = "256M",
    quiet: Annotated[bool, typer.Option("--quiet", help="The program's output alone on stdout.")] = False,
    ext2_block: Annotated[int, typer.Option(metavar="BYTES", help="Block size of the ext2 image.")] = 4096,
    ext2_inode: Annotated[int, typer.Option(metavar="BYTES", help="Inode size of the ext2 image.")] = 256,
    ext2_free: Annotated[int | None, typer.Option(metavar="MB", help="Free space of the ext2 image.")] = None,
) -> None:  # fmt: skip
    """Run PROGRAM and keep every operation of the four caches, with its key, for ./cw replay. Exits as ./cw run does."""
    from lab.build.setup import need_lab

    need_lab()
    from lab.record.record import record

    if not context.args:
        raise LabError("which program? ./cw record [options] --output FILE.keys -- PROGRAM ARG...")
    options = replace(machine, job=context.args, quiet=quiet, ext2=chosen_ext2(ext2_block, ext2_inode, ext2_free))
    result = record(options, output, size, sys.argv[1:], sys.stdout.buffer)
    if result.kind != "exit":
        print(f"cw: {result.message}", file=sys.stderr)
    finish(result.status)


@app.command("replay")
def replay_keys(
    file: Annotated[Path, typer.Argument(metavar="FILE.keys", help="What ./cw record wrote.")],
    cache: Annotated[str, typer.Option("--cache", metavar="NAME", help="page, buffer, inode, dentry: several by commas; all without it.")] = "",
    functions: Annotated[str, typer.Option("--functions", metavar="all|A,B", help="Hash functions (./cw list); without it the recorded one.")] = "",
    tables: Annotated[str, typer.Option("--tables", metavar="all|A,B", help="Table structures: chained, rbtree ...")] = "",
    bits: Annotated[str, typer.Option("--bits", metavar="N|N..M", help="Sizes of the table: 2^N buckets; several by commas.")] = "",
    word: Annotated[str, typer.Option("--word", metavar="32|64|32,64", help="The word in which functions compute (HASH_WORD).")] = "",
    names: Annotated[str, typer.Option("--names", metavar="all|A,B", help="Name hashes, for --cache dentry.")] = "",
    repeats: Annotated[int, typer.Option("--repeats", metavar="N", help="Replay each so often; the best time counts.")] = 3,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON, with each table's whole report.")] = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="As CSV.")] = False,
    histogram: Annotated[bool, typer.Option("--histogram", help="With the bucket histograms, found and expected.")] = False,
) -> None:  # fmt: skip
    """Replay a key stream through hash functions, structures and sizes: steps, fit to chance, time (docs/key-streams.md).

    What was recorded is compared with the kernel's own counters: `equal`, or exit status 1.
    """
    from lab.build.setup import need_lab

    need_lab()
    from lab.record.replay import replay_file

    finish(replay_file(file, cache, functions, tables, bits, word, names, repeats, as_json, as_csv, histogram))


@app.command("hashcost")
def hash_cost(
    cache: Annotated[str, typer.Option("--cache", metavar="NAME", help="page, buffer, inode, dentry, name: several by commas; all without it.")] = "",
    functions: Annotated[str, typer.Option("--functions", metavar="A,B", help="These functions alone (./cw list).")] = "",
    bits: Annotated[int, typer.Option("--bits", metavar="N", help="The table's size: 2^N buckets.")] = 14,
    word: Annotated[str, typer.Option("--word", metavar="32|64|32,64", help="The word in which functions compute (HASH_WORD).")] = "64",
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:  # fmt: skip
    """What each hash function costs: instructions executed and bytes of code, compiled with the kernel's flags.

    KCFLAGS=-mcrc32 in the environment counts, as in the build (docs/key-streams.md).
    """
    from lab.measure.cost import hashcost

    if not word or not set(word.split(",")) <= {"32", "64"}:
        raise LabError(f"--word {word}: there are 32 and 64, or both as 32,64")
    hashcost(cache, functions, bits, [int(one) for one in dict.fromkeys(word.split(","))], as_json)


@app.command()
def fuzz(
    sequences: Annotated[int, typer.Option("--sequences", metavar="N", help="How many sequences of file calls.")] = 2000,
    seed: Annotated[int, typer.Option("--seed", metavar="N", help="The first one's seed.")] = 0,
    root: Annotated[str, typer.Option("--root", metavar="ext2|tmpfs", help="On this root alone.")] = "",
    smp: Smp = 1,
    jobs: Annotated[int, typer.Option("--jobs", metavar="N", help="Machines at once.")] = 2,
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
    from lab.check.fuzz import ROOTS, fuzz_calls_long, fuzz_files, print_permissions

    if root and root not in ROOTS:
        raise LabError(f"no root '{root}'. There are: {', '.join(ROOTS)}")
    with build_lock():
        build(tuple(settings or ()))
    if calls:
        finish(fuzz_calls_long(calls, seed, root or "tmpfs", smp, icount))
    if permissions:
        finish(print_permissions([root] if root else list(ROOTS)))
    finish(fuzz_files([root] if root else list(ROOTS), seed, sequences, smp, jobs, fresh, keep, without))


@app.command("report")
def make_report(
    experiment: Annotated[list[str] | None, typer.Argument(metavar="EXPERIMENT...", help="Names of experiments/NAME.toml, or files.")] = None,
    every: Annotated[bool, typer.Option("--all", help="Every experiment that has results.")] = False,
    results: Annotated[Path | None, typer.Option("--results", metavar="FILE", help="The results of sweeps; build/results.sqlite without it.")] = None,
    full: Annotated[bool, typer.Option("--full", help="The results of the full size.")] = False,
    text: Annotated[bool, typer.Option("--text", help="Print plain text, without colours and at one width.")] = False,
    csv: Annotated[Path | None, typer.Option("--csv", metavar="FILE", help="Write the tables as CSV; `-`: to stdout.")] = None,
    json: Annotated[Path | None, typer.Option("--json", metavar="FILE", help="Write everything as JSON; `-`: to stdout.")] = None,
    html: Annotated[Path | None, typer.Option("--html", metavar="FILE", help="Write one HTML page, its charts as PNG and SVG in a folder beside it.")] = None,
    output: Annotated[Path | None, typer.Option("--output", metavar="DIR", help="Write all forms into a folder.")] = None,
) -> None:  # fmt: skip
    """What sweeps measured beside what the papers found: tables of ratios with intervals, histograms, judgements."""
    from lab.report.command import report

    report(experiment or [], every, results, full, text, csv, json, html, output)


Results = Annotated[Path | None, typer.Option("--results", metavar="FILE", help="The file of results; build/results.sqlite without it.")]  # fmt: skip
Full = Annotated[bool, typer.Option("--full", help="The full size, as in the paper.")]
Jobs = Annotated[int, typer.Option("--jobs", metavar="N", min=0, help="Machines at once; 0: as many as this host has CPUs.")]  # fmt: skip
Dask = Annotated[str, typer.Option("--dask", metavar="ADDRESS|local", help="Run on a dask.distributed cluster, tcp://HOST:8786 (docs/experiments.md).")]  # fmt: skip


def _request(
    again: Annotated[bool, typer.Option("--again", help="Run what is recorded already, too.")] = False,
    jobs: Jobs = 0,
    results: Results = None,
    dask: Dask = "",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would be run, and how long it would take.")
    ] = False,
    check: Annotated[bool, typer.Option("--check", help="Only look whether the files are right.")] = False,
) -> Any:  # Request
    """What both commands that run cells can be told of how; which cells is each one's own."""
    from lab.sweep.command import Request

    return Request([], again=again, jobs=jobs, results=results, dask=dask, dry_run=dry_run, check=check)


with_request = with_shared("request", _request, inspect.signature(_request).parameters)


@app.command("sweep")
@with_request
def run_sweep(
    request: Any,
    experiment: Annotated[list[str], typer.Argument(metavar="EXPERIMENT...", help="Names of experiments/NAME.toml, or files.")],
    full: Full = False,
    seeds: Annotated[str, typer.Option("--seeds", metavar="1,2,5-7", help="Other seeds than the file's.")] = "",
    only: Annotated[list[str] | None, typer.Option("--only", metavar="KERNEL[/WORKLOAD]", help="Run only these cells; * and ? as in a shell; may be repeated.")] = None,
) -> None:  # fmt: skip
    """Run an experiment's kernels x workloads x machines x seeds, and record each run as it ends.

    What is recorded is not run again, so after Ctrl-C the same command goes on. Exit status 0: every cell ended
    well; 1: some failed, which are named; 125: a file is wrong, or results cannot be written.
    """
    from lab.sweep.command import number_list, sweep

    chosen = number_list(seeds) if seeds else []
    finish(sweep(replace(request, names=experiment, full=full, seeds=chosen, only=only or [])))


@app.command()
@with_request
def reproduce(
    request: Any,
    group: Annotated[str, typer.Argument(metavar="lever|santos|all", help="Whose tables and histograms.")],
    full: Full = False,
    report: Annotated[Path | None, typer.Option("--report", metavar="DIR", help="Where the report goes; build/report/GROUP without it.")] = None,
) -> None:  # fmt: skip
    """Run all experiments of a paper, and write the report: what was measured beside what the paper found."""
    from lab.report.reproduce import reproduce as reproduce_group

    finish(reproduce_group(group, replace(request, full=full), report))


@app.command()
def worker(
    address: Annotated[str, typer.Argument(metavar="ADDRESS", help="The scheduler's, tcp://HOST:8786.")],
    jobs: Jobs = 0,
) -> None:
    """Let this machine run cells of sweeps: a dask worker in this checkout (docs/experiments.md)."""
    from lab.sweep.cluster import worker as join

    finish(join(address, jobs or os.cpu_count() or 1))


@app.command(hidden=True)
def demo(mem: Mem = "512M", smp: Smp = 1, cmdline: Cmdline = "") -> None:
    """The job of `make run`."""
    from lab.run.demo import run_demo

    settings = os.environ.get("CW_SETTINGS", "").split()
    finish(run_demo(mem, smp, settings, os.environ.get("CW_DEFCONFIG", ""), cmdline))


@app.command(hidden=True)
def iso(output: Path, cmdline: Cmdline = "") -> None:
    """The bootable ISO of `make iso`."""
    from lab.guest.iso import make_iso

    make_iso(output, cmdline)


@app.command(hidden=True)
def gdb() -> None:
    """What `make gdb` runs."""
    from lab.run.gdb.debugger import debug

    finish(debug())


def finish(status: int) -> None:
    """Leave at once: nothing is left to do that a slow interpreter shutdown would do better."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


def main() -> None:
    # Whatever ends us takes the machine along and leaves the terminal as it was.
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.default_int_handler)
    arguments = sys.argv[1:]
    end = arguments.index("--") if "--" in arguments else len(arguments)  # what follows is the program's
    try:
        words = ["--strace=-" if word == "--strace" else word for word in arguments[:end]]
        finish(app([*words, *arguments[end:]], prog_name="cw", standalone_mode=False) or 0)
    except LabError as error:
        print(f"cw: {error}", file=sys.stderr)
        finish(ERROR)
    except (KeyboardInterrupt, typer.Abort):
        print("cw: interrupted", file=sys.stderr)
        finish(130)
    except Exception as error:
        show = getattr(error, "show", None)
        if show is None:
            raise
        show()  # a usage error of the command line: which option, and where the help is
        finish(ERROR if getattr(error, "exit_code", 1) else 0)
