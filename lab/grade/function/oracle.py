"""A submitted function as an oracle: compiled in the sandbox, asked for buckets in fresh processes, believed only where it says the same again.

A process with the submission in it can do what it likes with the answers: read all questions beforehand, count, remember, depend on
the time. What it cannot do is tell a fresh process what it answered before. So each question is asked in two processes, among
other questions and in another order each time, and a few in processes that know hardly anything else. What then comes out
equal is a function of the key and the table's size, and that is all that a hash function has to be.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from lab.base.paths import TOP, LabError
from lab.course.draw import Draw
from lab.grade import sandbox
from lab.grade.contents import contents, listed
from lab.grade.sandbox import Limits, Outcome
from lab.grade.work import Refused

Question = tuple[int, ...]  # of a hash function: the key's two words, the table's bits
Buckets = npt.NDArray[np.uint32]

COMPILE = Limits(seconds=60, cpu=20, memory=1 << 30, processes=8, file=64 << 20, output=1 << 20)
ASK = Limits(seconds=40, cpu=10, memory=256 << 20, processes=1, file=1 << 16, output=0, scratch=1 << 20, files=16)

HERE = Path(__file__).parent
HEADERS = (
    "core/base/types.h",
    "core/random.h",
    "hash/word.h",
    "hash/shared.h",
    "hash/keys.h",
    "lab/grade/function/pipe.h",
)
# The kernel's (lab/build/make/kernel.mk), as far as they decide what its code becomes or what it is warned of.
KERNEL_FLAGS = (
    "-std=gnu11 -ffreestanding -fbuiltin -nostdinc -fno-pic -mno-red-zone -mgeneral-regs-only -fno-strict-aliasing"
    " -fno-strict-overflow -fno-common -fno-stack-protector -fno-asynchronous-unwind-tables -fno-delete-null-pointer-checks"
    " -fcf-protection=none -Wall -Wextra -Wno-unused-parameter -Wno-unused-function -DCONFIG_HASH_WORD_64=1 -I/grade"
)
# Undefined behaviour ends the program; what the kernel's flags define (signed overflow) is left out.
UNDEFINED = (
    "-fsanitize=undefined -fno-sanitize=signed-integer-overflow,alignment,pointer-overflow -fno-sanitize-recover=all"
)
FORMS = {"": "-O2", "-plain": "-O0", "-checked": f"-O1 {UNDEFINED}"}
SCRIPT = """cd /out
inside=$(gcc -print-file-name=include)
gcc -std=gnu11 -O2 -w -DHOSTED -DQUESTION=WORDS -I/grade -c -o ask.o /grade/ask.c || exit 2
"""

# What the kernel's keyed functions may use, and what a compiler may call by itself.
FROM_KERNEL = frozenset(
    "hash_siphash_key hash_multilinear_keys hash_pearson_table hash_tabulation_table memcpy memset memcmp memmove".split()
)
ONLY_READ = (".text", ".rodata", ".eh_frame")
SMALL, FEW = 6, 8  # processes that are asked hardly anything, and how much
CHUNKS = 4


@dataclass(frozen=True)
class Interface:
    """How a kind of submission is asked."""

    around: Path  # C that has the submission in it and calls it: submission_answer() of ask.c
    own: Path  # what could be handed in and is right: where that does not compile, it is the grader that does not work
    words: int = 3  # of a question
    headers: tuple[str, ...] = ()  # that it may have besides HEADERS
    defines: str = ""


def hashed(cache: str, call: str) -> Interface:
    """A hash function of @cache's, which @call calls with a key's two words and the table's bits."""
    return Interface(
        HERE / "submission.c", TOP / f"hash/{cache}/linux-2.2.h", defines=f"-D'SUBMITTED(first,second,bits)={call}'"
    )


FUNCTIONS = {
    "buffer": hashed("buffer", "buffer_hash((u32)(first), (second), (bits))"),
    "page": hashed("page", "page_hash((uintptr_t)(first), (second), (bits))"),
}


def prepare(folder: Path, text: bytes, interface: Interface) -> None:
    """Lay out in @folder what the sandbox is shown: the headers and the submission."""
    for name in (*HEADERS, *interface.headers):
        (folder / "grade" / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(TOP / name, folder / "grade" / name)
    shutil.copyfile(HERE / "ask.c", folder / "grade" / "ask.c")
    shutil.copyfile(interface.around, folder / "grade" / "submission.c")
    (folder / "grade" / "submission.h").write_bytes(text)
    (folder / "out").mkdir()
    sandbox.give(folder / "out")


def compile_all(folder: Path, interface: Interface) -> Outcome:
    """All FORMS of the oracle, into @folder/out; the compiler's words about the first are what is said."""
    defines = f"-DSUBMISSION='\"submission.h\"' {interface.defines}"
    lines = [SCRIPT.replace("WORDS", str(interface.words))]
    for name, flags in FORMS.items():
        quiet = "" if not name else " -w"
        lines.append(
            f'gcc {KERNEL_FLAGS} {flags}{quiet} -isystem "$inside" {defines} -c -o submission{name}.o /grade/submission.c || exit 1'
        )
    for name in FORMS:
        link = "-fsanitize=undefined" if name == "-checked" else "-static"
        lines.append(f"gcc {link} -no-pie -o ask{name} ask.o submission{name}.o || exit 3")
    shown = {folder / "grade": "/grade"}
    return sandbox.run(["/bin/sh", "-c", "\n".join(lines)], COMPILE, shown, {folder / "out": "/out"})


@cache
def check_compiler(interface: Interface) -> None:
    """A LabError where what is ours does not compile here either. Once a process."""
    with sandbox.folder() as folder:
        prepare(folder, interface.own.read_bytes(), interface)
        outcome = compile_all(folder, interface)
        if not outcome.good:
            raise LabError(
                f"the grader cannot compile the kernel's own {interface.own.relative_to(TOP)} in its sandbox: {outcome.said[:1000] or outcome.why(COMPILE, False)}"
            )


def not_alone(folder: Path, own_name: str = "submission_answer") -> list[str]:
    """What of the compiled submission is more than the function @own_name: foreign symbols, memory to remember in, code before main()."""
    found = contents(folder, "submission.o")
    if found is None:
        return ["what it compiles to cannot be read"]
    faults = []
    if others := sorted(found.foreign - FROM_KERNEL):
        faults.append(f"it uses what is not its own: {listed(others, 8)}")
    if others := [one.name[:40] for one in found.sections if not (one.of(*ONLY_READ) and one.read_only)]:
        faults.append(f"it has variables that outlive a call, or code that runs by itself: section {listed(others, 5)}")
    if others := sorted(found.visible - {own_name}):
        faults.append(f"it defines what others can see, and is not `static inline`: {listed(others, 5)}")
    return faults


def ask(folder: Path, questions: Sequence[Question], form: str, hidden: bool) -> Buckets:
    """The answers of one fresh process, in order. Refused: it did not give as many as it was asked for.

    @hidden: what it is asked is not to come out, so nothing is told that it may choose: no status, no number, none of its words."""
    table = np.array(questions, "<u8")
    limits = Limits(
        **{**ASK.__dict__, "output": 4 * len(questions), "memory": ASK.memory if form != "-checked" else 1 << 30}
    )
    outcome = sandbox.run([f"/out/ask{form}"], limits, {folder / "out": "/out"}, given=table.tobytes())
    if not outcome.good:
        at = undefined_at(outcome.said) if form == "-checked" and not hidden else ""
        raise Refused(at or outcome.why(limits, hidden), outcome.slow)
    if len(outcome.output) != 4 * len(questions):
        if hidden:
            raise Refused("it ended before it had answered all")
        raise Refused(f"it ended after {len(outcome.output) // 4:,} of {len(questions):,} answers")
    return np.frombuffer(outcome.output, "<u4")


def undefined_at(said: str) -> str:
    """The sanitizer's line, without paths."""
    for line in said.splitlines():
        if "runtime error:" in line:
            place, _, what = line.partition("runtime error:")
            number = place.split(":")[1] if place.count(":") > 1 else "?"
            return f"undefined behaviour in line {number}: {what.strip()[:160]}"
    return ""


def ask_twice(folder: Path, questions: Sequence[Question], draw: Draw, hidden: bool) -> Buckets:
    """The answers, each given by two processes or more, in orders and among others that @draw draws. Refused: they differ."""
    order = draw.shuffled(range(len(questions)))
    chunks = [order[begin::CHUNKS] for begin in range(CHUNKS)]
    first, again = np.zeros(len(questions), np.uint32), np.zeros(len(questions), np.uint32)
    for one, other in zip(chunks, [*chunks[1:], chunks[0]], strict=True):
        both = draw.shuffled([*one, *other])
        answers = np.zeros(len(questions), np.uint32)
        answers[both] = ask(folder, [questions[i] for i in both], "", hidden)
        first[one], again[other] = answers[one], answers[other]
    if len(wrong := np.flatnonzero(first != again)):
        many = "" if hidden else f" ({len(wrong):,} of {len(questions):,})"
        raise Refused(
            f"the same question gets another answer in another process, among other questions or in another order{many}"
        )
    for _ in range(SMALL):
        few = [draw.below(len(questions)) for _ in range(FEW)]
        if np.any(ask(folder, [questions[i] for i in few], "", hidden) != first[few]):
            raise Refused("the same question gets another answer when hardly any other is asked")
    return first


def outside(questions: Sequence[Question], buckets: Buckets) -> int | None:
    """The first question whose answer is no bucket of the table; None: all are."""
    bits = np.array([question[2] for question in questions], np.uint64)
    wrong = np.flatnonzero(buckets.astype(np.uint64) >> bits)
    return int(wrong[0]) if len(wrong) else None
