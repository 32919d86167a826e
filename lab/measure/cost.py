"""./cw hashcost: what a hash function costs, in instructions and bytes of code, from the machine code itself.

Each function is compiled with the kernel's flags, by itself. Then it is executed, one instruction after the other
(lab/measure/cost.c), on keys as the kernel has them. A function by itself has a frame and returns; where it is inlined, as
in the kernel, it has not: these instructions are found by an empty function and taken off.
"""

from __future__ import annotations

import json
import os
import random
import re
import shlex
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from lab.base.choose import load_choose
from lab.base.paths import TOP, LabError

CACHES = ("page", "buffer", "inode", "dentry", "swap", "path", "name")
SOURCE = TOP / "lab/measure/cost.c"
KEYS = 6  # different ones for each function: the count may depend on them
PARAMETERS = {
    "page": "uintptr_t first, u64 second, unsigned bits", "buffer": "u32 first, u64 second, unsigned bits",
    "inode": "uintptr_t first, u64 second, unsigned bits", "dentry": "uintptr_t first, u32 second, unsigned bits",
    "swap": "u32 first, u64 second, unsigned bits", "path": "u64 first, u64 second, unsigned bits",
    "name": "uintptr_t salt, const char *name, size_t length",
}  # fmt: skip
ARGUMENTS = {"name": "salt, name, length"}
LENGTHS = (1, 4, 8, 16, 32, 64)  # of names


@dataclass
class Cost:
    """One function's. Instructions are what inlining adds to a caller; `called` has frame and return besides."""

    cache: str
    function: str
    word: int
    bits: int  # of the table; 0 for a name hash
    instructions: int  # executed: the least for the keys that were tried; for names of 8 bytes
    most: int  # and the most
    called: int  # executed when called: the least, with frame and return
    code_bytes: int  # all of it, with frame and return
    in_code: int  # instructions that stand in the code
    branches: int  # conditional ones among them
    by_length: dict[int, int] = field(default_factory=dict)  # of names: bytes -> instructions
    per_byte: float = 0.0  # of names: between the two longest

    def row(self) -> dict[str, Any]:
        return asdict(self)


def kernel_flags() -> list[str]:
    """The kernel's compiler with its flags, as make has them: KCFLAGS=-mcrc32 in the environment is among them."""
    command = ["make", "-s", "-C", str(TOP), "--eval", "print-flags: ; @echo $(CC) $(CFLAGS)", "print-flags"]
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("MAKE", "MFLAGS"))}
    result = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    words = shlex.split(result.stdout)
    if result.returncode or not words:
        raise LabError(f"make does not say what the kernel is compiled with:\n{result.stderr}")
    return [word for word in words if word not in ("-g", "-Werror")]


def source_of(cache: str, header: Path, symbol: str) -> str:
    """A file with the function of @header as @symbol."""
    choose = load_choose()
    lines = ['#include "hash/shared.h"', f'#include "{header}"']
    if header.parent.name == "any":
        parameters, words = choose.WORDS[cache]
        lines.append(f"static inline u32 {cache}_hash({parameters}, unsigned bits)")
        lines.append(f"{{ return {choose.any_function(header.stem)}({words}, bits); }}")
    arguments = ARGUMENTS.get(cache, "first, second, bits")
    lines.append(f"u32 {symbol}({PARAMETERS[cache]}) {{ return {cache}_hash({arguments}); }}")
    return "\n".join([*lines, ""])


def measure(
    functions: list[tuple[str, str, Path]], words: list[int], bits: int, flags: list[str] | None = None
) -> list[Cost]:
    """The cost of each (cache, name, header) with each word."""
    flags = flags or kernel_flags()
    wanted = [(cache, name, header, word) for word in words for cache, name, header in functions]
    with tempfile.TemporaryDirectory(prefix="cw-cost-") as folder:
        place = Path(folder)
        sources = [source_of(cache, header, f"cost_{number}") for number, (cache, _, header, _) in enumerate(wanted)]
        # What a function has by itself: frame and return.
        sources.append('#include "core/base/types.h"\nvoid cost_empty(uintptr_t a, u64 b, u32 c) { }\n')
        symbols = [f"cost_{number}" for number in range(len(wanted))] + ["cost_empty"]
        with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
            words_of = [word for *_, word in wanted] + [64]
            objects = list(
                pool.map(lambda job: _compile(place, flags, *job), zip(symbols, sources, words_of, strict=True))
            )
        runner = _link(place, symbols, objects)
        empty = len(wanted)
        asked = [_questions(number, one, bits) for number, one in enumerate(wanted)]
        counts = _run(runner, [f"{empty} 0 0 1", *(line for lines in asked for line in lines)])
        overhead, at, found = counts[0], 1, []
        for number, (cache, name, _, word) in enumerate(wanted):
            mine = counts[at : at + len(asked[number])]
            at += len(mine)
            listing = disassemble(objects[number], symbols[number])
            found.append(_cost(cache, name, word, bits, mine, overhead, listing))
        return found


def _cost(cache: str, name: str, word: int, bits: int, counts: list[int], overhead: int, listing: Listing) -> Cost:
    by_length = {}
    if cache == "name":
        each = len(counts) // len(LENGTHS)
        groups = [counts[i * each : (i + 1) * each] for i in range(len(LENGTHS))]
        by_length = {length: min(group) - overhead for length, group in zip(LENGTHS, groups, strict=True)}
        counts = groups[LENGTHS.index(8)]
    least, most = min(counts), max(counts)
    last, before = LENGTHS[-1], LENGTHS[-2]
    return Cost(
        cache, name, word, 0 if cache == "name" else bits, least - overhead, most - overhead, least, listing.code_bytes,
        listing.instructions, listing.branches, by_length,
        round((by_length[last] - by_length[before]) / (last - before), 3) if by_length else 0.0,
    )  # fmt: skip


def _compile(place: Path, flags: list[str], symbol: str, source: str, word: int) -> Path:
    file, target = place / f"{symbol}.c", place / f"{symbol}.o"
    file.write_text(source)
    command = [
        *flags,
        f"-I{TOP}",
        f"-I{TOP}/arch/x86/include",
        f"-DCONFIG_HASH_WORD={word}",
        "-c",
        "-o",
        str(target),
        str(file),
    ]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode:
        raise LabError(f"a hash function cannot be compiled:\n{source}\n{result.stderr}")
    return target


def _link(place: Path, symbols: list[str], objects: list[Path]) -> Path:
    table, runner = place / "table.c", place / "runner"
    lines = [f"void {symbol}(void);" for symbol in symbols]
    lines += ["void *const functions[] = {", *(f"\t(void *){symbol}," for symbol in symbols), "};"]
    lines.append(f"const unsigned function_count = {len(symbols)};")
    table.write_text("\n".join([*lines, ""]))
    # At low addresses, where the kernel's code model can be linked to.
    command = ["gcc", "-O1", "-no-pie", "-Wl,-z,noexecstack", "-o", str(runner), str(SOURCE), str(table)]
    command += [str(one) for one in objects]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode:
        raise LabError(f"the program that counts instructions cannot be built:\n{result.stderr}")
    return runner


def _questions(number: int, one: tuple[str, str, Path, int], bits: int) -> list[str]:
    """What cost.c is asked of a function: keys as the kernel has them."""
    cache = one[0]
    draw = random.Random(number)
    address = [0xFFFF_8880_0000_0000 + draw.randrange(1 << 28) * 64 for _ in range(KEYS)]
    if cache == "name":
        return [f"{number} {salt} x{draw.randbytes(length).hex()}" for length in LENGTHS for salt in address]
    first = {
        "buffer": [0x100 + draw.randrange(16) for _ in range(KEYS)], "path": [draw.randrange(1 << 24) for _ in range(KEYS)],
    }.get(cache, address)  # fmt: skip
    second = {
        "page": [draw.randrange(1 << 20) << 12 for _ in range(KEYS)], "dentry": [draw.randrange(1 << 32) for _ in range(KEYS)],
        "path": [0] * KEYS,
    }.get(cache, [draw.randrange(1 << 24) for _ in range(KEYS)])  # fmt: skip
    return [f"{number} {a} {b} {bits}" for a, b in zip(first, second, strict=True)]


def _run(runner: Path, questions: list[str]) -> list[int]:
    text = "\n".join([*questions, ""])
    result = subprocess.run([runner], input=text, capture_output=True, text=True, check=False)
    counts = [int(line) for line in result.stdout.split()]
    if result.returncode or len(counts) != len(questions) or min(counts) < 1:
        raise LabError(
            "this host does not let a program step through itself (the trap flag has no effect): run ./cw hashcost on"
            f" another x86-64 machine (status {result.returncode})"
        )
    return counts


@dataclass(frozen=True)
class Listing:
    """What stands in an object's code."""

    instructions: int
    branches: int
    code_bytes: int


def disassemble(path: Path, symbol: str) -> Listing:
    """The whole of the object's code, which is the function and what the compiler did not inline into it."""
    said = subprocess.run(["objdump", "-d", "-w", path], capture_output=True, text=True, check=False)
    if said.returncode or f"<{symbol}>:" not in said.stdout:
        raise LabError(f"objdump does not show the code of {symbol}: {said.stderr}")
    lines = re.findall(r"^ +[0-9a-f]+:\t((?:[0-9a-f]{2} )+) *\t(.*)$", said.stdout, re.MULTILINE)
    while lines and re.match(r"(cs )?(nop|data16|xchg +%ax,%ax)", lines[-1][1]):  # padding at the end
        lines.pop()
    size = sum(len(code.split()) for code, _ in lines)
    branches = sum(1 for _, text in lines if re.match(r"j(?!mp)", text))
    return Listing(len(lines), branches, size)


# ---- the command --------------------------------------------------------------------------------


def hashcost(caches: str, functions: str, bits: int, words: list[int], as_json: bool) -> None:
    """Measure and print."""
    choose = load_choose()
    wanted = list(CACHES) if caches in ("", "all") else caches.split(",")
    if not set(wanted) <= set(CACHES):
        raise LabError(f"--cache {caches}: there are {', '.join(CACHES)}, and all")
    if not 1 <= bits <= 31:
        raise LabError(f"--bits {bits}: a table has 1 to 31 bits")
    chosen = functions.split(",") if functions not in ("", "all") else None
    known = sorted({name for cache in wanted for name in choose.functions(cache)})
    for name in chosen or []:
        if name not in known:
            raise LabError(f"--functions {name}: there is no such one. There are: all, {', '.join(known)}")
    pairs = [(cache, name) for cache in wanted for name in choose.functions(cache) if not chosen or name in chosen]
    found = measure([(cache, name, choose.header(cache, name)) for cache, name in pairs], words, bits)
    if as_json:
        print(json.dumps([cost.row() for cost in found], indent=1))
        return
    for cache in wanted:
        for word in words:
            _print(cache, word, [cost for cost in found if cost.cache == cache and cost.word == word])


def _print(cache: str, word: int, costs: list[Cost]) -> None:
    if not costs:
        return
    of = "names" if cache == "name" else f"{costs[0].bits} bits"
    print(f"{cache} hash, {word}-bit words, {of}: instructions")
    lengths = "".join(f"{length:>6}" for length in LENGTHS) + "  a byte" if cache == "name" else ""
    print(f"  {'':18}{'inlined':>8}{'called':>8}{'code bytes':>12}{'branches':>10}{lengths}")
    for cost in sorted(costs, key=lambda one: (one.instructions, one.function)):
        inlined = str(cost.instructions) if cost.instructions == cost.most else f"{cost.instructions}-{cost.most}"
        line = f"  {cost.function:18}{inlined:>8}{cost.called:>8}{cost.code_bytes:>12}{cost.branches:>10}"
        if cache == "name":
            line += "".join(f"{cost.by_length[length]:>6}" for length in LENGTHS) + f"{cost.per_byte:>8.2f}"
        print(line)
    print()
