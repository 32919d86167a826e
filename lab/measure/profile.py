"""./cw profile: which functions of the kernel a job's time goes to, as a table; flame.py draws them.

The kernel looks at what it is doing at a timer's interrupts (arch/x86/profile/profile.c, lab/run/stacks.py).
"""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import replace

from lab.base.paths import LabError
from lab.run.machine import Result, run
from lab.run.options import Options
from lab.run.stacks import Profile

PERIOD_NS = 20_011  # on the average
PERIOD_LEAST = 10_000  # as in arch/x86/profile/profile.c


def run_profiled(options: Options, period_ns: int = PERIOD_NS) -> tuple[Result, Profile]:
    """Run the job under icount; the program's output goes where Options says."""
    if period_ns < PERIOD_LEAST:
        raise LabError(f"--period {period_ns}: at least {PERIOD_LEAST} ns, or programs get no time")
    if options.kernel != "chainwalk":
        raise LabError("Linux has no /proc/profile of this kind: leave out --kernel linux")
    options = replace(options, cmdline=f"{options.cmdline} job_profile={period_ns}".strip(), quiet=True)
    result = run(options, sys.stdout.buffer)  # without input, which would come at the host's time
    if result.kind != "exit":
        return result, Profile(period_ns, 0)
    if result.profile is None:
        raise LabError("the kernel sent no profile")
    return result, result.profile


def own_and_total(stacks: Counter[tuple[str, ...]]) -> tuple[Counter[str], Counter[str]]:
    """Samples in each function itself, and in it or what it called."""
    own: Counter[str] = Counter()
    total: Counter[str] = Counter()
    for stack, count in stacks.items():
        own[stack[-1]] += count
        for name in set(stack):
            total[name] += count
    return own, total


def table(profile: Profile, top: int) -> str:
    kernel = profile.kernel
    samples = kernel.total()
    lines = [profile.shares()]
    if samples:
        own, total = own_and_total(kernel)
        lines += ["", "of the kernel's samples", "  itself    all  function"]
    for name, count in sorted(own.items(), key=lambda item: (-item[1], item[0]))[:top] if samples else ():
        lines.append(f"  {100 * count / samples:5.1f}% {100 * total[name] / samples:5.1f}%  {name}")
    return "\n".join(lines)
