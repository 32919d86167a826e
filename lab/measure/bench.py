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
from lab.measure.calls import measure, shown
from lab.run.machine import run
from lab.run.options import Options

# Debian's Linux 6.1 under QEMU 7.2 TCG, the same program on tmpfs, by ./cw bench --against linux, which measures anew:
# instructions and locked instructions a call.
LINUX = {
    "getppid": (361, 0), "stat 1": (2641, 4), "stat 2": (2982, 4), "stat 4": (3676, 4), "stat 8": (5064, 4),
    "stat missing 1": (3155, 19.2), "stat missing 8": (5525, 19.215), "stat first of 8 missing": (3167, 19.19),
    "stat dotdot": (4042, 4), "stat link last": (3993, 4), "stat link first": (3562, 4),
    "open close 1": (4777, 27.26), "open close 4": (5742, 27.205), "open close 8": (7121, 27.17),
    "pread 4K": (1808, 4), "pwrite 4K": (2199, 6), "readdir 100": (43222, 358.2),
    "create close unlink": (13117, 98.925), "two renames": (12394, 80.485), "fork exit wait": (109489, 498.25),
    "exec static": (151047, 547), "context switch": (5032, 18), "pipe 1 byte": (2363, 7), "page fault": (3119, 9.625),
    "page fault of a file": (614, 4.953), "mmap munmap": (16723, 26.18), "one of 2000 areas": (17178, 24.884),
    "read 4K on": (1861, 4), "write 4K on": (4314, 14.969),
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
    """bench under icount on tmpfs: instructions and locked instructions a call."""
    measured = measure(Options(timeout=300))
    print(f"\n{'':26} {'instructions a call':>28}   {'locked instructions':>19}   wanted: at most 0.50")
    print(f"{'':26} {'Linux 6.1':>10} {'Chainwalk':>10} {'ratio':>6}   {'Linux':>9} {'Chainwalk':>9}")
    for name, ours in measured.items():
        linux, linux_locked = LINUX.get(name, (0, 0.0))
        there = [f"{linux}", f"{ours.instructions / linux:.2f}", shown(linux_locked)] if linux else [""] * 3
        print(f"{name:26} {there[0]:>10} {ours.instructions:10} {there[1]:>6}   {there[2]:>9} {shown(ours.locked):>9}")
    one, eight = measured["stat 1"], measured["stat 8"]
    print()
    row("stat of one component", str(one.instructions), "at most 800, counters on")
    row("each further component", f"{(eight.instructions - one.instructions) / 7:.0f}", "at most 120")
    row("locked instructions of a stat of one component", shown(one.locked), "at most 3 without locks")
    row("... of each further component", shown((eight.locked - one.locked) / 7), "none without locks")


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
