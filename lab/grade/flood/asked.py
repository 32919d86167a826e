"""A submission as two programs in the sandbox: one gives keys that are to break functions, the other is asked for the hashes of names.

The first is judged by what it gives, which the grader computes the functions of; how it found it is its own affair. The second is
judged as a function: each question is asked in two processes, in other orders and with something else behind the names, a few in processes that
know hardly anything else, and only what they agree on counts. The keys' seeds of a question are in the process, and nothing else that is drawn.
"""

from __future__ import annotations

import hashlib
import shutil
import struct
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from lab.base.paths import TOP, LabError
from lab.course.draw import Draw
from lab.grade import sandbox
from lab.grade.flood.broken import Broken
from lab.grade.flood.sets import words
from lab.grade.function import oracle
from lab.grade.sandbox import Limits, Outcome
from lab.grade.work import Refused, Work

HERE = Path(__file__).parent
PROGRAM = TOP / "coursework/lab3/starter/flood.c"  # what runs in the guest
MOST_WORDS = 1500  # of what the compiler said
COUNT, NAME_BYTES, SLACK = 1024, 256, 7  # as attack.c and hash.c have them
KINDS = ("product", "folded", "top", "names", "flood")
LARGEST_BLOCK = 1 << 48

# A right one takes some hundredths of a second for all its keys; to try blocks one by one would take minutes.
ATTACK = Limits(seconds=40, cpu=5, memory=256 << 20, processes=1, file=1 << 16, output=0, scratch=1 << 20, files=16)
HASH = replace(ATTACK, cpu=10)

COMPUTES = "-fno-strict-aliasing -fno-strict-overflow -DCONFIG_HASH_WORD_64=1"  # as the kernel does

SUBMITTED = "-DSUBMISSION='\"flood.h\"'"
HOSTED = f"-std=gnu11 -DHOSTED -I/grade {SUBMITTED} -w {COMPUTES}"
KERNEL = f'{oracle.KERNEL_FLAGS} -isystem "$inside" {SUBMITTED} -c /grade/submission.c'
CHECKED = f"-O1 {oracle.UNDEFINED}"
# What there is, and how it is made: the hash as the kernel takes it, with other optimization, with the sanitizer; the attacks; the guest's program.
PROGRAMS = {
    "hash": f"""gcc {HOSTED} -O2 -c -o ask.o /grade/hash.c || exit 2
gcc {KERNEL} -O2 -o submission.o || exit 1
gcc -static -no-pie -o hash ask.o submission.o || exit 3""",
    "hash-checked": f"""gcc {KERNEL} {CHECKED} -w -o submission-checked.o || exit 1
gcc -fsanitize=undefined -no-pie -o hash-checked ask.o submission-checked.o || exit 3""",
    "attack": f"gcc {HOSTED} -O2 -o attack /grade/attack.c || exit 1",
    "attack-checked": f"gcc {HOSTED} {CHECKED} -o attack-checked /grade/attack.c || exit 1",
    "flood": f"musl-gcc {HOSTED} -O2 -static -o flood /grade/flood.c || exit 1",
}
SMALL, FEW = 2, 8  # processes that are asked hardly anything, and how much

Hashes = npt.NDArray[np.uint32]


@dataclass(frozen=True)
class Named:
    """A name whose hash is asked: with which of the kernel's keys, in which directory."""

    seed: int
    salt: int
    name: bytes


def prepare(folder: Path, text: bytes) -> None:
    """Lay out in @folder what the sandbox is shown: headers, harnesses and the submission."""
    for name in oracle.HEADERS:
        (folder / "grade" / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(TOP / name, folder / "grade" / name)
    for path in (HERE / "attack.c", HERE / "hash.c", HERE / "submission.c", PROGRAM):
        shutil.copyfile(path, folder / "grade" / path.name)
    (folder / "grade" / "flood.h").write_bytes(text)
    (folder / "out").mkdir()
    sandbox.give(folder / "out")


def compile_programs(folder: Path, names: Sequence[str]) -> Outcome:
    """These of PROGRAMS, into @folder/out; what the compilers say of the submission is what is said."""
    lines = ["cd /out", "inside=$(gcc -print-file-name=include)", *(PROGRAMS[name] for name in names)]
    shown = {folder / "grade": "/grade"}
    return sandbox.run(["/bin/sh", "-c", "\n".join(lines)], oracle.COMPILE, shown, {folder / "out": "/out"})


@cache
def check_compiler(names: tuple[str, ...]) -> None:
    """A LabError where the lab's own starter does not compile here either. Once a process."""
    with sandbox.folder() as folder:
        prepare(folder, PROGRAM.with_name("flood.h").read_bytes())
        outcome = compile_programs(folder, names)
        if not outcome.good:
            said = outcome.said[:1000] or outcome.why(oracle.COMPILE, False)
            raise LabError(f"the grader cannot compile the starter of lab 3 in its sandbox: {said}")


class Flood:
    """Work.of(Flood): what parts know of this submission."""

    def __init__(self, work: Work):
        self.work = work
        self.compiled: str | None = None  # why it could not be compiled; "" when it was
        self.never_ends: dict[
            str, str
        ] = {}  # kind of keys, or hash -> how it used up a time limit: it is not asked again
        self.there: set[str] = set()  # of PROGRAMS

    def draw(self, *purpose: object) -> Draw:
        """What is drawn by a course's key is drawn anew for each submission: what one learns of its numbers, by its points or by how it fails, is worth
        nothing to the next. By a number for practice it is the same for everybody."""
        seeds = self.work.seeds
        own = (hashlib.sha256(self.work.text).hexdigest(),) if seeds.hidden else ()
        return Draw(seeds.seed(self.work.lab.number, *purpose, *own))

    def compile(self, *names: str) -> None:
        """Those that are not there yet. Refused: what the compiler says."""
        missing = [name for name in names if name not in self.there]
        outcome = compile_programs(self.work.folder, missing)
        if not outcome.good:
            check_compiler(tuple(missing))  # whose fault is it?
            self.compiled = "it does not compile" + (
                f": {outcome.why(oracle.COMPILE, False)}" if outcome.kind != "exit" else ""
            )
            raise Refused(f"{self.compiled}.\n{outcome.said.replace('/grade/flood.h', self.work.called)[:MOST_WORDS]}")
        self.compiled = self.compiled or ""
        self.there |= set(missing)

    def may_run(self, what: str) -> None:
        if self.compiled != "":
            raise Refused(f"not tried: {self.compiled or 'it was not compiled'}")
        if what in self.never_ends:
            raise Refused(f"not tried again: {self.never_ends[what]}")

    def _run(self, program: str, form: str, given: bytes, output: int, limits: Limits, purpose: str) -> bytes:
        self.may_run(purpose)
        if program + form not in self.there:
            self.compile(program + form)
        memory = 1 << 30 if form == "-checked" else limits.memory
        limits = replace(limits, output=output, memory=memory)
        outcome = sandbox.run([f"/out/{program}{form}"], limits, {self.work.folder / "out": "/out"}, given=given)
        if not outcome.good:
            at = oracle.undefined_at(outcome.said) if form == "-checked" else ""
            why = outcome.why(limits, False)  # what it was asked is this submission's alone (draw()), or no secret
            if outcome.slow:
                self.never_ends[purpose] = why
            raise Refused(at or why, outcome.slow)
        if len(outcome.output) != output:
            raise Refused(f"it ended after {len(outcome.output):,} of {output:,} bytes of answers")
        return outcome.output

    def keys(self, asked: Sequence[Broken], form: str = "") -> list[list[int] | list[bytes]]:
        """What it gives to break functions that are all of one kind: those of its keys that could be real, each once."""
        kind = KINDS.index(asked[0].kind)
        given = b"".join(struct.pack("<4Q", kind, one.first, one.second, one.bits) for one in asked)
        size = COUNT * (8 if kind < KINDS.index("names") else NAME_BYTES)
        output = self._run("attack", form, given, size * len(asked), ATTACK, asked[0].kind)
        pieces = [output[i : i + size] for i in range(0, len(output), size)]
        return [real_blocks(piece) if size == COUNT * 8 else real_names(piece) for piece in pieces]

    def hashes(self, asked: Sequence[Named], form: str = "", behind: int = 0) -> Hashes:
        """The answers of one process, in order, with bytes of the value @behind behind each name."""
        slack = bytes([behind]) * SLACK
        given = b"".join([struct.pack("<QQH", one.seed, one.salt, len(one.name)) + one.name + slack for one in asked])
        return np.frombuffer(self._run("hash", form, given, 4 * len(asked), HASH, "hash"), "<u4")

    def hashes_of_many(self, seed: int, salt: int, names: npt.NDArray[np.uint8]) -> Hashes:
        """Of names of one length, each a row: the answers of one process."""
        length = names.shape[1]
        head = np.frombuffer(struct.pack("<QQH", seed, salt, length), np.uint8)
        table = np.zeros((len(names), len(head) + length + SLACK), np.uint8)
        table[:, : len(head)] = head
        table[:, len(head) : len(head) + length] = names
        return np.frombuffer(self._run("hash", "", table.tobytes(), 4 * len(names), HASH, "hash"), "<u4")

    def hashes_twice(self, asked: Sequence[Named], draw: Draw) -> Hashes:
        """The answers, each given by two processes or more. Refused: they differ."""
        seeds = np.array([one.seed for one in asked], np.uint64)
        found: list[Hashes] = []
        for behind in (draw.between(1, 127), draw.between(128, 255)):
            # By seeds, since a new one makes all keys anew; in each process in another order.
            ranks = words(draw, len(asked))
            order = np.lexsort((ranks, seeds ^ np.uint64(behind)))
            answers = np.zeros(len(asked), np.uint32)
            answers[order] = self.hashes([asked[i] for i in order.tolist()], "", behind)
            found.append(answers)
        if wrong := int(np.count_nonzero(found[0] != found[1])):
            raise Refused(
                f"the same name gets another hash with the same key, in another process, among other names or with something else behind it ({wrong:,} of {len(asked):,})"
            )
        for _ in range(SMALL if asked else 0):
            few = [draw.below(len(asked)) for _ in range(FEW)]
            if np.any(self.hashes([asked[i] for i in few]) != found[0][few]):
                raise Refused("the same name gets another hash when hardly any other is asked for")
        return found[0]


def real_blocks(given: bytes) -> list[int]:
    """Blocks of a disk, each once."""
    return sorted({block for block in np.frombuffer(given, "<u8").tolist() if block < LARGEST_BLOCK})


def real_names(given: bytes) -> list[bytes]:
    """Names that a file can have and a person can type, each once, in their order."""
    fields = [given[i : i + NAME_BYTES].partition(b"\0")[0] for i in range(0, len(given), NAME_BYTES)]
    return list(dict.fromkeys(name for name in fields if is_real(name)))


def is_real(name: bytes) -> bool:
    return (
        0 < len(name) < NAME_BYTES
        and all(0x20 <= c < 0x7F for c in name)
        and b"/" not in name
        and name not in (b".", b"..")
    )
