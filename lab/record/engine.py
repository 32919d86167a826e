"""Replaying recorded operations: lab/record/replay.c compiled for each choice and called.

What is compiled is kept in build/replay/ under a digest of all that it is made of.
"""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import json
import os
import re
import subprocess
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from lab.base.choose import load_choose
from lab.base.paths import TOP, LabError, made_folder
from lab.record.stream import REPORT, Operations, Stream

SOURCE = TOP / "lab/record/replay.c"
CC = os.environ.get("CC", "gcc")
# The kernel's, as far as they decide what its code becomes (lab/build/make/kernel.mk).
FLAGS = (
    "-std=gnu11", "-O2", "-mgeneral-regs-only", "-fno-strict-aliasing", "-fno-strict-overflow", "-fcf-protection=none",
    "-fno-stack-protector", "-fno-delete-null-pointer-checks", "-Wall", "-Wextra", "-Wno-unused-parameter",
    "-Wno-unused-function",
)  # fmt: skip


def crc_flags(cpuinfo: str) -> tuple[str, ...]:
    """Of a processor that /proc/cpuinfo tells of: CRC-32C has an instruction in SSE 4.2, which hash/any/crc32c.h takes."""
    flags = re.search(r"^flags\s*:(.*)$", cpuinfo, re.MULTILINE)
    return ("-mcrc32",) if flags and "sse4_2" in flags[1].split() else ()


@cache
def flags() -> tuple[str, ...]:
    """How this host's engines are compiled."""
    with contextlib.suppress(OSError):
        return FLAGS + crc_flags(Path("/proc/cpuinfo").read_text())
    return FLAGS


CHUNK = 1 << 20  # operations in a call, between which Ctrl-C is seen
LARGEST_BITS = 28  # 2 GB of pointers
OPERATION_BYTES = 40


@dataclass(frozen=True)
class Choice:
    """What a cache's operations are replayed through, apart from the table's size."""

    cache: str
    function: str
    structure: str
    word: int
    name_function: str

    def settings(self) -> dict[str, str]:
        """What hash/choose.py is asked for; the other caches do not matter."""
        upper = self.cache.upper()
        names = {"NAME_HASH": self.name_function} if self.cache == "dentry" else {}
        return load_choose().with_defaults({f"{upper}_HASH": self.function, f"{upper}_TABLE": self.structure, **names})


def check_choice(choice: Choice) -> None:
    """Refuse names that are not there and what cannot go together, with what there is."""
    choose = load_choose()
    try:
        choose.check(choice.settings())
    except choose.ChoiceError as error:
        raise LabError(str(error)) from None
    if choice.word not in (32, 64):
        raise LabError(f"--word {choice.word}: there are 32 and 64")


@cache
def _sources() -> str:
    """A digest of everything but the chosen functions that goes into an engine."""
    rooms = ("hash", "hash/any", "hash/name", "hash/table", "hash/lock", "hosted/include/arch", "core")
    folders = [TOP / name for name in rooms]
    folders += sorted(path for path in (TOP / "core").rglob("*") if path.is_dir())
    files = [path for folder in folders for path in sorted(folder.glob("*")) if path.suffix in (".c", ".h", ".def")]
    said = subprocess.run([CC, "--version"], capture_output=True, text=True, check=False).stdout
    digest = hashlib.sha256(f"{said} {flags()}".encode())
    for path in (SOURCE, *sorted(SOURCE.parent.glob("*.h")), TOP / "hash" / "choose.py", *files):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def compiled(choice: Choice) -> Path:
    """The shared object of @choice, built unless it is there."""
    choose = load_choose()
    settings = choice.settings()
    header = choose.header(choice.cache, choice.function).read_bytes()
    made_of = f"{_sources()} {choice.cache} {choice.word} {sorted(settings.items())}"
    digest = hashlib.sha256(made_of.encode() + header).hexdigest()[:16]
    target = made_folder("replay") / f"{choice.cache}-{choice.function}-{digest}.so"
    if target.exists():
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".build-", dir=target.parent) as name:
        folder = Path(name)
        (folder / "generated").mkdir()
        (folder / "generated" / "hash_choice.h").write_text(choose.choice_header(settings))
        (folder / "generated" / "hash_functions.h").write_text(choose.functions_header(settings))
        made = folder / "engine.so"
        command = [CC, *flags(), "-shared", "-fPIC", "-DHOSTED", "-D_GNU_SOURCE", "-DCONFIG_HASH_STATS=1"]
        command += [f"-DCONFIG_HASH_WORD={choice.word}", f"-DREPLAY_{choice.cache.upper()}"]
        command += [f"-DREPLAY_{choice.structure.upper()}", f"-I{TOP}"]
        command += [f"-I{TOP}/hosted/include", f"-I{folder}", "-o", str(made), str(SOURCE)]
        try:
            result = subprocess.run(command, capture_output=True, text=True, check=False)
        except FileNotFoundError:
            raise LabError(f"{CC} is missing: install gcc, or name a C compiler in CC") from None
        if result.returncode:
            where = choose.header(choice.cache, choice.function).relative_to(TOP)
            raise LabError(f"{where} cannot be compiled for a replay:\n{result.stderr}")
        made.replace(target)
    return target


def compile_all(choices: list[Choice], progress: Callable[[str], None]) -> None:
    """Compile what is not there yet, as many at once as there are processors."""
    done = 0
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        for _ in pool.map(compiled, choices):
            done += 1
            progress(f"compiled {done} of {len(choices)}")


@cache
def _library(path: Path) -> ctypes.CDLL:
    library = ctypes.CDLL(str(path))
    library.replay_complaint.restype = ctypes.c_char_p
    library.replay_expand.restype = library.replay_run.restype = library.replay_report.restype = ctypes.c_uint64
    if hasattr(library, "replay_plain"):
        library.replay_plain.restype = ctypes.c_uint64
    return library


def _pointer(array: np.ndarray[Any, Any]) -> ctypes.c_void_p:
    return array.ctypes.data_as(ctypes.c_void_p)


class Replayable:
    """One cache's operations as the engines take them."""

    def __init__(self, stream: Stream, cache: str):
        self.cache, self.entry = cache, stream.header["caches"][cache]
        self.seed = int(stream.header["seed"], 16)
        operations: Operations = stream.of_cache(cache)
        self.count = len(operations.kinds)
        reports = np.flatnonzero(operations.kinds & 7 == REPORT)
        # The kernel's own counters are of this moment; what follows is the machine's way down.
        self.until = int(reports[0]) if len(reports) else self.count
        self.recorded = Choice(
            cache, self.entry["function"], self.entry["structure"], stream.header["word"], stream.header["name_function"]
        )  # fmt: skip
        roots = np.zeros(len(operations.first), np.uint32)
        self.roots = 1
        if cache == "page" and len(roots):
            files, inverse = np.unique(operations.first, return_inverse=True)
            self.roots, roots = len(files), inverse.astype(np.uint32)
        self._names = np.concatenate([operations.names, np.zeros(8, np.uint8)])
        self.expanded = np.zeros(self.count * OPERATION_BYTES, np.uint8)
        # Every engine expands alike; that of the default functions is there for all.
        choose = load_choose()
        library = _library(
            compiled(Choice(cache, choose.DEFAULTS[f"{cache.upper()}_HASH"], "chained", 64, "linux-6.1"))
        )
        done = library.replay_expand(
            _pointer(operations.kinds), ctypes.c_uint64(self.count), _pointer(operations.objects), _pointer(operations.first),
            _pointer(operations.second), _pointer(roots), _pointer(operations.lengths) if cache == "dentry" else None,
            _pointer(self._names), ctypes.c_uint32(self.entry["objects"]), _pointer(self.expanded),
        )  # fmt: skip
        if done != self.count:
            raise LabError(
                f"operation {done:,} of the {cache} cache is about an object that never came: no real stream"
            )


@dataclass(frozen=True)
class Replayed:
    """What came of a replay."""

    choice: Choice
    bits: int
    report: dict[str, Any]  # as the kernel's JSON, docs/kernel/counters.md
    text: str  # the same as the kernel's text
    operations: int
    nanoseconds: float  # an operation, on this processor; the best of the repeats
    differs: list[str] | None  # from the kernel's own report: None when that is not of this choice


def replay(
    source: Replayable, choice: Choice, bits: int, repeats: int = 1, progress: Callable[[str], None] | None = None
) -> Replayed:
    """@source's operations, to the kernel's own report, through @choice with a table of 1 << @bits buckets."""
    library = _library(compiled(choice))
    same_names = choice.name_function == source.recorded.name_function and choice.word == source.recorded.word
    same = choice == source.recorded and (bits == source.entry["bits"] or choice.structure == "rbtree")
    rule = (source.entry["report"] or {}).get("rule", "replay") if same else "replay"
    best = 0
    for turn in range(repeats):
        if library.replay_begin(
            ctypes.c_uint(bits), ctypes.c_uint32(source.entry["objects"]), ctypes.c_uint32(source.roots),
            ctypes.c_uint64(source.seed), rule.encode(),
        ):  # fmt: skip
            raise LabError(library.replay_complaint().decode(errors="replace"))
        taken = ctypes.c_uint64(0)
        for begin in range(0, source.until, CHUNK):
            end = min(begin + CHUNK, source.until)
            reached = library.replay_run(
                _pointer(source.expanded), ctypes.c_uint64(begin), ctypes.c_uint64(end),
                ctypes.c_bool(same_names and source.cache == "dentry"), ctypes.byref(taken),
            )  # fmt: skip
            if reached != end:
                raise LabError(
                    f"{choice.cache} cache, {choice.function}, {choice.structure}, {bits} bits: operation {reached:,}:"
                    f" {library.replay_complaint().decode(errors='replace')}"
                )
            if progress:
                progress(f"{choice.function}, {bits} bits: {end:,} of {source.until:,}, run {turn + 1} of {repeats}")
        best = min(best, taken.value) if best else taken.value
    report = json.loads(_report(library, True))
    text = _report(library, False)
    library.replay_end()
    kernel = source.entry["report"] if same and source.until < source.count else None
    differs = differences(kernel, report) if kernel else None
    return Replayed(choice, bits, report, text, source.until, best / max(source.until, 1), differs)


def _report(library: ctypes.CDLL, as_json: bool) -> str:
    out = ctypes.create_string_buffer(1 << 16)
    length = library.replay_report(ctypes.c_bool(as_json), out, ctypes.c_uint64(len(out)))
    if not 0 < length < len(out):
        raise LabError(f"the report has {length} bytes: more than lab/record/engine.py expects")
    return out.value.decode()


def differences(kernel: dict[str, Any], ours: dict[str, Any]) -> list[str]:
    """Every member of the two reports that is not the same in both."""
    names = sorted({*kernel, *ours})
    return [f"{name}: {kernel.get(name)} in the kernel, {ours.get(name)} in the replay" for name in names if kernel.get(name) != ours.get(name)]  # fmt: skip
