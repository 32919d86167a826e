"""What the kernel's profile record says: the stacks that it was found in, and how often, with functions' names.

The kernel looks at what it is doing at a timer's interrupts and counts each stack it finds (arch/x86/profile/profile.c);
addresses become names here, with those of the functions that the compiler has inlined (docs/lab/profile.md).
"""

from __future__ import annotations

import bisect
import re
import subprocess
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from lab.base.paths import LabError

IDLE = "sched_idle_loop"


@dataclass
class Profile:
    """What was found. A stack has the names of functions from the outside in; an empty one is a program's."""

    period_ns: int
    samples: int
    stacks: Counter[tuple[str, ...]] = field(default_factory=Counter)

    @property
    def programs(self) -> int:
        return self.stacks[()]

    @property
    def idle(self) -> int:
        return sum(count for stack, count in self.stacks.items() if IDLE in stack)

    @property
    def kernel(self) -> Counter[tuple[str, ...]]:
        return Counter({stack: count for stack, count in self.stacks.items() if stack and IDLE not in stack})

    @property
    def lost(self) -> int:
        """Found no room in the kernel's table."""
        return self.samples - self.stacks.total()

    def shares(self) -> str:
        """In words: samples, and what part of them fell where."""
        parts = [
            ("kernel", self.kernel.total()), ("programs", self.programs), ("idle", self.idle), ("lost", self.lost),
        ]  # fmt: skip
        said = ", ".join(f"{name} {100 * count / max(self.samples, 1):.1f} %" for name, count in parts if count)
        return f"{self.samples} samples, one in {self.period_ns} ns: {said or 'none'}"


class Names:
    """The functions at an address of the kernel: the one in the symbol table, and those inlined into it there."""

    def __init__(self, image: Path):
        self.image = image
        self.known: dict[int, tuple[str, ...]] = {}
        listing = _tool(["nm", "-n", "--defined-only", str(image)])
        found = [line.split() for line in listing.splitlines()]
        symbols = [(int(words[0], 16), words[2]) for words in found if len(words) == 3 and words[1] in "tTwW"]
        self.starts = [address for address, _ in symbols]
        self.symbols = [name for _, name in symbols]

    def look_up(self, addresses: set[int]) -> None:
        """Find the names of all of these at once: each start of the tool reads all of the debugging information."""
        wanted = sorted(addresses)
        text = _tool(["addr2line", "-a", "-f", "-i", "-e", str(self.image)], "".join(f"{a:#x}\n" for a in wanted))
        for part in re.split(r"^0x", text, flags=re.MULTILINE)[1:]:
            lines = part.splitlines()
            address, inlined = int(lines[0], 16), lines[1:-2:2]  # from the inside out; a place follows each name
            at = bisect.bisect_right(self.starts, address) - 1
            outermost = self.symbols[at] if at >= 0 else hex(address)
            self.known[address] = (outermost, *(f"{name} (inlined)" for name in reversed(inlined)))

    def of(self, address: int) -> tuple[str, ...]:
        return self.known[address]


def _tool(command: list[str], given: str | None = None) -> str:
    try:
        return subprocess.run(command, input=given, capture_output=True, text=True, check=True).stdout
    except FileNotFoundError:
        raise LabError(f"{command[0]} is missing: install binutils") from None
    except subprocess.CalledProcessError as error:
        raise LabError(f"{' '.join(command)}: {error.stderr.strip()}") from None


def read_profile(text: str, image: Path) -> Profile:
    """@text: the kernel's record, or /proc/profile. The address of a call is that of the instruction behind it."""
    head, *lines = (line for line in re.split(r"[;\n]", text) if line)
    match = re.fullmatch(r"period_ns (\d+) samples (\d+)", head)
    if not match:
        raise LabError(f"this is no profile of the kernel: it begins with {head[:60]!r}")
    found = []
    for line in lines:
        count, *words = line.split()
        addresses = [int(word, 16) for word in words]
        found.append((int(count), addresses[:1] + [address - 1 for address in addresses[1:]]))
    names = Names(image)
    names.look_up({address for _, addresses in found for address in addresses})
    profile = Profile(int(match[1]), int(match[2]))
    for number, addresses in found:
        profile.stacks[tuple(name for address in reversed(addresses) for name in names.of(address))] += number
    return profile


def functions_of(profile: Profile) -> dict[str, float]:
    """The percentage of the kernel's samples that fell into each function, or into what it called."""
    stacks = profile.kernel
    total: Counter[str] = Counter()
    for stack, count in stacks.items():
        for name in {name.removesuffix(" (inlined)") for name in stack}:
            total[name] += count
    return {name: round(100 * count / stacks.total(), 3) for name, count in total.items()}
