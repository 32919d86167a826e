"""./cw record, replay, keys."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from lab.base.paths import LabError
from lab.cli.options import MACHINE, chosen_ext2, finish, with_machine


@with_machine(f"{MACHINE} disk_model icount seed timeout", icount=True)
def record_keys(
    context: typer.Context,
    machine: Any,
    output: Annotated[Path, typer.Option("--output", metavar="FILE.keys", help="The key stream to write (docs/lab/key-streams.md).")],
    size: Annotated[str, typer.Option("--size", metavar="SIZE", help="Memory for the recording, which the machine gets besides: 40 bytes an operation.")] = "256M",
    quiet: Annotated[bool, typer.Option("--quiet", help="The program's output alone on stdout.")] = False,
    ext2_block: Annotated[int, typer.Option(metavar="BYTES", help="Block size of the ext2 image.")] = 4096,
    ext2_inode: Annotated[int, typer.Option(metavar="BYTES", help="Inode size of the ext2 image.")] = 256,
    ext2_free: Annotated[int | None, typer.Option(metavar="MB", help="Free space of the ext2 image.")] = None,
) -> None:  # fmt: skip
    """Run PROGRAM and keep every operation of the caches, with its key, for ./cw replay. Exits as ./cw run does."""
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
    """Replay a key stream through hash functions, structures and sizes: steps, fit to chance, time (docs/lab/key-streams.md).

    What was recorded is compared with the kernel's own counters: `equal`, or exit status 1.
    """
    from lab.build.setup import need_lab

    need_lab()
    from lab.record.replay import replay_file

    finish(replay_file(file, cache, functions, tables, bits, word, names, repeats, as_json, as_csv, histogram))


def file_set_keys(
    files: Annotated[int, typer.Option("--files", metavar="N", help="Files of the set, to 50 million; Santos had 20 million.")] = 20_000_000,
    bits: Annotated[str, typer.Option("--bits", metavar="N,M", help="Sizes of the tables: 2^N buckets.")] = "24,25",
    operations: Annotated[int, typer.Option("--operations", metavar="N", help="How many use the set; as many as files without it.")] = 0,
    seeds: Annotated[str, typer.Option("--seeds", metavar="N-M", help="A set of each.")] = "1",
    cache: Annotated[str, typer.Option("--cache", metavar="NAME", help="inode or dentry; both without it.")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="As JSON, with each table's whole report.")] = False,
    histogram: Annotated[bool, typer.Option("--histogram", help="With the bucket histograms, found and expected.")] = False,
    again: Annotated[bool, typer.Option("--again", help="Make what was made before anew, too.")] = False,
) -> None:  # fmt: skip
    """A file server's set of files through the hashes of Linux 2.6 before and after Santos's patch (docs/lab/file-sets.md).

    Natively, on this host. Says at first what memory and time it takes; after Ctrl-C the same command goes on.
    """
    from lab.build.setup import need_lab

    need_lab()
    from lab.record.keys import keys

    finish(keys(files, bits, operations, seeds, cache, as_json, histogram, again))
