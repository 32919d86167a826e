"""The kernel with a submitted path cache, and the machines that it is asked in: built and run in the sandbox.

The rest of the kernel is built once, and linked to one object; of each submission only its file is compiled. In the machine asker
(guest/asker.c) does what a script says; a plugin of QEMU's (guest/counts.c) counts instructions outside.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import tempfile
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from threading import Lock

import numpy as np

from lab.base.paths import LabError, output_folder
from lab.build.kernel import build_lock
from lab.grade import sandbox
from lab.grade.booted import machine
from lab.grade.booted.kernel import HOME, StandIn, copy_of_tree, prepare
from lab.grade.function.oracle import COMPILE, UNDEFINED
from lab.grade.sandbox import Limits
from lab.guest.tree import base_tree
from lab.run.options import Options
from lab.run.qemu.plugin import INSTRUCTION, plugin

GUEST = Path(__file__).parent / "guest"
# A right one takes up to 5 seconds of a processor that others use as well.
BOOT = Limits(
    seconds=150, cpu=40, memory=16 << 30, processes=64, file=256 << 20, output=8 << 20, files=256, shares=True
)

# What the Makefile has; a test compares (tests/lab/grade/lab6).
FLAGS = (
    "-std=gnu11 -O2 -g -ffreestanding -fbuiltin -nostdinc -fno-pic -mcmodel=kernel -mno-red-zone -mgeneral-regs-only"
    " -mpreferred-stack-boundary=3 -falign-loops=1 -falign-jumps=1 -fno-omit-frame-pointer -fno-stack-protector -fno-strict-aliasing"
    " -fno-strict-overflow -fno-common -fno-asynchronous-unwind-tables -fno-delete-null-pointer-checks -fcf-protection=none"
    " -Wall -Wextra -Wno-unused-parameter"
)
LINK = (
    "-nostdlib -static -z max-page-size=0x1000 -z noexecstack --build-id=none --no-warn-rwx-segments -T boot/kernel.ld"
)
# The sanitizer of addresses calls functions of ours (guest/touched.c) before each access. It knows nothing of the stack: for that it would write
# into a shadow of all memory, which this kernel has not.
ADDRESSES = "-fsanitize=kernel-address --param asan-stack=0 --param asan-globals=1 --param asan-instrumentation-with-call-threshold=0"
REPLACED = " ".join(
    [f"--redefine-sym {name}=checked_{name}" for name in ("kmalloc", "kfree", "memcpy", "memmove", "memset")]
    + ["--rename-section .init_array=variables_told", "--remove-section .fini_array"]
)
# 1: the file does not compile; 2: the kernel does not link with it.
SCRIPT = f"""cd {HOME}
gcc="gcc -I. -Iarch/x86/include -I/built/include -include /built/include/generated/autoconf.h {FLAGS} -isystem $(gcc -print-file-name=include)"
$gcc $CHECKS -c -o /out/pathcache.o /submitted/pathcache.c || exit 1
if [ -n "$CHECKS" ]; then
	objcopy {REPLACED} /out/pathcache.o || exit 3
	$gcc -c -o /out/undefined.o /built/undefined.c && $gcc -c -o /out/touched.o /built/touched.c || exit 3
fi
ld {LINK} -o /out/chainwalk /built/rest.o /out/*.o || exit 2
strip -o /out/chainwalk.stripped /out/chainwalk || exit 2
"""
ODD = (1 << 32) - 1  # guest/counts.c: what is counted means nothing
LOCK = Lock()


@cache
def _rest(stand_in: StandIn, folder: str) -> Path:
    """All of the kernel but the file that is submitted, as one object. Once a process; another may be copying the last one."""
    target = stand_in.out / "rest.o"
    linked = target.with_suffix(f".{os.getpid()}.o")
    own = f"{Path(stand_in.replaces).with_suffix('.o')}"
    objects = (stand_in.out / "objects.list").read_text().split()
    others = [name for name in objects if not name.endswith(own)]
    if len(others) + 1 != len(objects):
        raise LabError(f"the kernel has no object of {stand_in.replaces}")
    command = ["ld", "-r", "-o", str(linked), *others, f"{stand_in.out}/symbols-0.o"]
    result = subprocess.run(command, cwd=stand_in.tree, capture_output=True, text=True, check=False)
    if result.returncode:
        raise LabError(f"the kernel cannot be linked without {stand_in.replaces}: {result.stderr[:1000]}")
    linked.replace(target)
    return target


def build(folder: Path, stand_in: StandIn, text: bytes, called: str) -> str:
    """The kernel with @text, as @folder/out/chainwalk.stripped: what went wrong, or "". In booted.judge.home()."""
    prepare(stand_in)
    with LOCK:
        _rest(stand_in, str(output_folder()))
    submitted, built, out = folder / "submitted", folder / "built", folder / "out"
    for place in (submitted, built):
        place.mkdir()
    with build_lock():
        source = copy_of_tree(folder, stand_in)
        shutil.copytree(stand_in.out / "include", built / "include")
        shutil.copy(stand_in.out / "rest.o", built)
    for name in ("undefined.c", "touched.c"):
        shutil.copy(GUEST / name, built)
    (submitted / Path(stand_in.replaces).name).write_bytes(text)
    return _compile(folder, source, out, "", called)


def build_checked(folder: Path, out: Path, called: str) -> str:
    """After build() in @folder: the same with the sanitizers of undefined behaviour and of addresses, which end the machine, as @out/chainwalk.stripped."""
    return _compile(folder, folder / "source", out, f"{UNDEFINED} {ADDRESSES}", called)


def _compile(folder: Path, source: Path, out: Path, checks: str, called: str) -> str:
    out.mkdir()
    shown = {source: HOME, folder / "built": "/built", folder / "submitted": "/submitted"}
    script = f"CHECKS='{checks}'\n{SCRIPT}"
    outcome = sandbox.run(["/bin/sh", "-c", script], COMPILE, shown, {sandbox.give(out): "/out"})
    if outcome.good:
        return ""
    return outcome.said.replace("/submitted/pathcache.c", called)[:1500] or outcome.why(COMPILE, False)


def with_line(folder: Path, said: str) -> str:
    """@said of the kernel that build_checked() has made as @folder/out, with the submission's line in the place of an address in it."""
    found = re.search(r" at ([0-9a-f]{16}):", said)
    if not found:
        return said
    # The address is where the call returns to, behind the access.
    command = ["addr2line", "-i", "-e", "/out/chainwalk", f"{int(found[1], 16) - 1:x}"]
    outcome = sandbox.run(command, COMPILE, {folder / "out": "/out"})
    lines = re.findall(r"pathcache\.c:(\d+)", outcome.output.decode(errors="replace"))
    return said.replace(found[0], f" in line {lines[0]}:" if lines else ":")


def kernel_of(folder: Path) -> bytes:
    """What build() has made there."""
    return (folder / "out/chainwalk.stripped").read_bytes()


@cache
def _asker() -> bytes:
    """The program, compiled; its source is the grader's own. In a folder of this process: others may be compiling it, too."""
    with tempfile.TemporaryDirectory(prefix="cw-asker-") as folder:
        target = Path(folder) / "asker"
        warnings = ["-Wall", "-Wextra"]
        command = ["musl-gcc", "-std=gnu11", "-O2", "-static", *warnings, "-o", str(target), str(GUEST / "asker.c")]
        try:
            subprocess.run(command, check=True)
        except (OSError, subprocess.CalledProcessError) as error:
            raise LabError(f"{shlex.join(command)}: {error}") from None
        return target.read_bytes()


def asker() -> bytes:
    with LOCK:
        return _asker()


@cache
def _counts(folder: str) -> bytes:
    return plugin(GUEST / "counts.c", INSTRUCTION).read_bytes()


@dataclass(frozen=True)
class Answers:
    """What asker has said, line by line as words; what the plugin counted: of each question, and of all beside."""

    lines: list[list[str]]
    counts: list[int]
    beside: int
    ended: str  # why there is no more; "": it came to its end
    slow: bool = False  # it used up a limit
    noted: list[int] = field(default_factory=list)  # what counts.c has beside each count

    @property
    def answers(self) -> list[int]:
        return [int(words[1]) for words in self.lines if _is(words, "answer")]

    @property
    def failed(self) -> list[tuple[int, int]]:
        """Changes that failed: before which answer, and by which error."""
        found, answers = [], 0
        for words in self.lines:
            answers += _is(words, "answer")
            if _is(words, "changed"):
                found.append((answers, int(words[1])))
        return found

    @property
    def seen(self) -> list[list[int]]:
        """In a storm: worker, question, changes begun and done, answer."""
        return [[int(word) for word in words[1:]] for words in self.lines if words[:1] == ["seen"] and not _odd(words)]

    def cannot_be(self, asked: int) -> bool:
        """Does it say what the program never says: numbers that are none, or other answers than to @asked questions?

        The kernel reaches the port that the program's output comes by, and can put lines of its own among it."""
        answers = len(self.answers)
        return any(map(_odd, self.lines)) or answers > asked or (answers < asked and not self.ended)


NUMBERS = {"answer": 1, "changed": 1, "seen": 5}  # how many of them come behind a word of the program's
NUMBER = re.compile("[0-9]{1,20}")  # of 64 bits


def _odd(words: list[str]) -> bool:
    """A line that begins as one of the program's, and is none."""
    if not words or words[0] not in NUMBERS:
        return False
    return len(words) != NUMBERS[words[0]] + 1 or not all(map(NUMBER.fullmatch, words[1:]))


def _is(words: list[str], what: str) -> bool:
    return words[:1] == [what] and not _odd(words)


def ask(
    folder: Path, kernel: bytes, script: str, options: Options, counted: bool = False, hidden: bool = False
) -> Answers:
    """Run @script in a fresh machine, in @folder, which is empty. @hidden: as booted.machine.run() has it."""
    out, tree = folder / "out", base_tree()
    out.mkdir(exist_ok=True)
    (out / "chainwalk.stripped").write_bytes(kernel)
    tree.text("/bin/asker", asker(), 0o755)
    tree.text("/etc/script", script)
    options.job = ["/bin/asker", "/etc/script"]
    if counted:
        with LOCK:
            (out / "counts.so").write_bytes(_counts(str(output_folder())))
        options.extra_qemu = ["-plugin", f"file=/kernel/counts.so,out={folder}/run/counts"]
    result = machine.run(folder, options, tree, BOOT, hidden)
    ended, output = (result, b"") if isinstance(result, str) else ("", result.output)
    lines = [line.split() for line in output.decode(errors="replace").splitlines()]
    if not ended and ["end"] not in lines:
        ended = f"The program that asks ended early{machine.quoted(output, hidden)}"
    words = machine.plain_bytes(folder / "run/counts") if counted else b""
    pairs = np.frombuffer(words[: len(words) // 8 * 8], "<u4").reshape(-1, 2).tolist()
    counts, noted = [count for count, _ in pairs], [beside for _, beside in pairs]
    slow = ended == machine.ENDLESS
    return Answers(lines, counts[:-1], counts[-1] if counts else 0, ended, slow, noted[:-1])
