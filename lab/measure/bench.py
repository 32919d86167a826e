"""./cw bench boot: the figures of building, starting and of single system calls, beside what is to be reached.

Figures are printed, never judged: timing decides no test.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from lab.base.paths import TOP, LabError, output_folder
from lab.build.configure import hash_functions
from lab.build.kernel import build, build_lock, kernel_image
from lab.run.machine import run
from lab.run.options import Options

# Debian's Linux 6.1 under QEMU 7.2 TCG, -icount shift=0, the same kind of program on tmpfs: instructions a call.
LINUX = {
    "getppid": 359, "stat 1": 2404, "stat 2": 2718, "stat 4": 3389, "stat 8": 4728, "stat missing 1": 3150,
    "stat missing 8": 5966, "stat first of 8 missing": 3393, "stat dotdot": 3928, "stat link last": 3975,
    "stat link first": 3925, "open close 1": 4087, "open close 4": 5315, "open close 8": 6685, "pread 4K": 1820,
    "pwrite 4K": 2177, "readdir 100": 43164, "create close unlink": 12803, "two renames": 14391,
    "fork exit wait": 114131,
}  # fmt: skip


def row(what: str, value: str, wanted: str) -> None:
    print(f"{what:56} {value:>14}   {wanted}", flush=True)


def seconds_of(command: list[str], **options: Any) -> float:
    began = time.monotonic()
    result = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False, **options)
    if result.returncode:
        raise LabError(f"{' '.join(command)} ended with {result.returncode}:\n{result.stderr.decode()[-2000:]}")
    return time.monotonic() - began


def clean_build() -> None:
    with tempfile.TemporaryDirectory(prefix="cw-bench-") as folder:
        taken = seconds_of(["make", "-s", "-C", str(TOP), f"O={folder}", "kernel"])
    row("clean build of the kernel", f"{taken:.1f} s", "at most 30 s on 2 cores")


def change_of_function(cw: str) -> None:
    """From another hash function to its histogram, on a small job; and back again."""
    names = hash_functions("dentry")
    if len(names) < 2:
        return
    with tempfile.TemporaryDirectory(prefix="cw-bench-") as folder:
        times = []
        for name in (names[0], names[1]):
            command = [cw, "run", "--quiet", "--set", f"DENTRY_HASH={name}", "--stats", f"{folder}/stats"]
            times.append(seconds_of([*command, "--", "/bin/busybox", "find", "/usr"]))
    row("change one hash function, boot, see its histogram", f"{min(times):.1f} s", "at most 5 s")


def enter_to_prompt(cw: str) -> None:
    command = [cw, "run", "--quiet", "--", "/bin/busybox", "true"]
    seconds_of(command)
    taken = sorted(seconds_of(command) for _ in range(5))
    row("./cw run --quiet -- /bin/busybox true", f"{taken[2]:.2f} s", "at most 1.5 s (median of 5)")


def boot_instructions() -> None:
    result = run(Options(job=["/bin/busybox", "true"], icount=True, quiet=True))
    marks = {mark.get("name"): mark for mark in result.log.all("mark")}
    first = marks.get("first_user", {}).get("instructions") or marks.get("first_user", {}).get("ns")
    value = f"{first / 1e6:.1f} million" if first else "not reported"
    row("instructions from the kernel's first to the first of a program", value, "at most 60 million at 512 MB")


def repeatable() -> None:
    options = Options(
        job=["/bin/sh", "-c", "find / -xdev | wc -l; ls -lR /usr > /tmp/x; rm /tmp/x"], icount=True, quiet=True
    )
    options.stats = output_folder() / "bench.json"
    one, two = (json.dumps(run(options).stats, sort_keys=True) for _ in range(2))
    same = "identical" if one == two and one != "{}" else "DIFFERENT"
    row("counters of two runs under --icount", same, "byte-identical")


def system_calls() -> None:
    """bench under icount on tmpfs: instructions a call."""
    result = run(Options(job=["/usr/local/bin/bench", "/tmp/bench"], icount=True, quiet=True, timeout=300))
    if result.kind != "exit" or result.status:
        raise LabError(f"bench: {result.message}\n{result.output.decode(errors='replace')[-2000:]}")
    print(f"\n{'instructions a call':26} {'Linux 6.1':>10} {'Chainwalk':>10} {'ratio':>6}   wanted: at most 0.50")
    measured = {}
    for line in result.output.decode().splitlines():
        if line.startswith("{"):
            record = json.loads(line)
            measured[record["row"]] = record["ticks"]
    for name, ours in measured.items():
        linux = LINUX.get(name)
        ratio = f"{ours / linux:6.2f}" if linux else ""
        print(f"{name:26} {linux or '':>10} {ours:10} {ratio}")
    if {"stat 1", "stat 8"} <= measured.keys():
        each = (measured["stat 8"] - measured["stat 1"]) / 7
        print()
        row("stat of one component", str(measured["stat 1"]), "at most 800, counters on")
        row("each further component", f"{each:.0f}", "at most 120")


def bench_boot(rebuild: bool = True) -> None:
    cw = str(TOP / "cw")
    with build_lock():
        build()
    os.environ["CW_OUTPUT"] = str(output_folder())
    if rebuild:
        clean_build()
    change_of_function(cw)
    with build_lock():
        build(quiet=True)
    size = Path(kernel_image()).stat().st_size
    row("kernel image", f"{size / 1024:.0f} KB", "at most 1024 KB")
    enter_to_prompt(cw)
    boot_instructions()
    repeatable()
    system_calls()
    sys.stdout.flush()
