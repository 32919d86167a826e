"""A submitted structure compiled in the sandbox, as the machine's table and, with the sanitizers, as an ordinary process's."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from threading import Lock

from lab.base.choose import load_choose
from lab.base.paths import TOP, LabError
from lab.grade import sandbox
from lab.grade.contents import contents, listed
from lab.grade.function.oracle import COMPILE, KERNEL_FLAGS
from lab.grade.sandbox import Outcome

GUEST = Path(__file__).parent / "guest"
HEADERS = ("core", "hash", "arch/x86/include", "hosted/include")  # all .h of these folders are shown
SUBMITTED = "submitted.h"

MAILBOX = 0xFF0000  # guest/mailbox.h: behind the machine's image
DEFINES = "-DCONFIG_HASH_WORD=64 -DCONFIG_HASH_STATS=1 -DCONFIG_NR_CPUS=16 -I/grade/guest"
SANITIZERS = "-fsanitize=address,undefined -fno-sanitize=signed-integer-overflow,alignment,pointer-overflow -fno-sanitize-recover=all"
# What all submissions have in common.
FRAME = """cd /out
machine="{flags} {defines} -isystem $(gcc -print-file-name=include) -I/grade/arch/x86/include"
gcc $machine -c -o start.o /grade/guest/start.S && gcc $machine -c -o machine.o /grade/guest/machine.c && gcc {hosted} -c -o hosted.o /grade/guest/hosted.c
"""
# 1: the submission does not compile; 2: it does not link.
SCRIPT = """cd /out
machine="{flags} {defines} -isystem $(gcc -print-file-name=include) -I/grade/arch/x86/include"
gcc $machine {table} -c -o table.o /grade/guest/table.c || exit 1
ld -static -nostdlib -N --build-id=none -Ttext-segment=0x400000 -e machine_start -o machine /frame/start.o /frame/machine.o table.o || exit 2
[ $((0x$(nm machine | sed -n 's/ . _end$//p'))) -lt {mailbox} ] || {{ echo "it has megabytes of data of its own" >&2; exit 2; }}
gcc {hosted} {sanitizers} {table} -c -o hosted-table.o /grade/guest/table.c || exit 1
gcc {sanitizers} -o hosted /frame/hosted.o hosted-table.o || exit 2
"""
HOSTED = "-std=gnu11 -g -O0 -fno-omit-frame-pointer -fno-strict-aliasing -fno-common -DHOSTED -D_GNU_SOURCE -w -I/grade -I/grade/hosted/include"

# What table.c has for others, what it needs of others, and what a compiler may call by itself.
ITS_OWN = frozenset(
    "table_create table_insert table_remove table_find table_walk table_object_bytes"
    " hash_cache_create lock_class printk spin_lock_wait panic".split()
)
FROM_OTHERS = frozenset("machine_memory machine_stop memcpy memset memcmp memmove".split())
DATA = (".text", ".rodata", ".data", ".bss", ".eh_frame", "lock_names")


@dataclass(frozen=True)
class Structure:
    """What is compiled: a structure's two headers, as bytes, and what the struct that objects embed begins with."""

    name: str
    text: bytes
    link: bytes

    @classmethod
    def own(cls, name: str) -> Structure:
        """One of the kernel's."""
        folder = TOP / "hash/table"
        return cls(name, (folder / f"{name}.h").read_bytes(), (folder / f"{name}_link.h").read_bytes())


def prepare(folder: Path, structure: Structure) -> None:
    """Lay out in @folder what the sandbox is shown."""
    grade = folder / "grade"
    for name in HEADERS:
        only = shutil.ignore_patterns("*.c", "*.S", "*.py", "*.md", "*.def", "__pycache__")
        shutil.copytree(TOP / name, grade / name, ignore=only)
    shutil.copytree(GUEST, grade / "guest", ignore=shutil.ignore_patterns("witness.c"))
    choose = load_choose()
    (grade / "generated").mkdir()
    (grade / "generated/hash_choice.h").write_text(choose.choice_header(choose.DEFAULTS))
    (grade / "generated/hash_functions.h").write_text(choose.functions_header(choose.DEFAULTS))
    (grade / SUBMITTED).write_bytes(structure.text)
    (grade / f"hash/table/{structure.name}_link.h").write_bytes(structure.link)
    (folder / "out").mkdir()
    sandbox.give(folder / "out")


def script(text: str, table: str = "") -> list[str]:
    """@text for a shell, with the flags that it asks for by name."""
    words = {"flags": f"{KERNEL_FLAGS} -O2", "hosted": f"{HOSTED} {DEFINES}", "sanitizers": SANITIZERS}
    return ["/bin/sh", "-c", text.format(defines=DEFINES, table=table, mailbox=MAILBOX, **words)]


FRAME_LOCK = Lock()


@cache
def _frame_once() -> dict[str, bytes]:
    with sandbox.folder() as folder:
        prepare(folder, Structure.own("chained"))
        outcome = sandbox.run(script(FRAME), COMPILE, {folder / "grade": "/grade"}, {folder / "out": "/out"})
        if not outcome.good:
            raise LabError(
                f"the grader cannot compile what is its own: {outcome.said[:1000] or outcome.why(COMPILE, False)}"
            )
        return {path.name: path.read_bytes() for path in (folder / "out").iterdir()}


def frame() -> dict[str, bytes]:
    """What is around every submission, compiled: the objects by name. Once a process, in a sandbox without one."""
    with FRAME_LOCK:
        return _frame_once()


def instance(name: str) -> str:
    """Flags for guest/table.c: the submission, which calls what it defines @name."""
    return (
        f"-DTABLE_HEADER='\"{SUBMITTED}\"' -DTABLE_LINK_HEADER='\"hash/table/{name}_link.h\"'"
        f" -DTABLE_LINK_STRUCT={name}_link -DTABLE_ROOT_STRUCT={name}_root"
    )


def compile_all(folder: Path, name: str) -> Outcome:
    """The machine and the hosted process, into @folder/out; what is said is about the machine's, which has the kernel's flags."""
    (folder / "frame").mkdir()
    for file, content in frame().items():
        (folder / "frame" / file).write_bytes(content)
    shown = {folder / "grade": "/grade", folder / "frame": "/frame"}
    return sandbox.run(script(SCRIPT, instance(name)), COMPILE, shown, {folder / "out": "/out"})


@cache
def check_compiler() -> None:
    """A LabError where the kernel's own chains do not compile here either. Once a process."""
    with sandbox.folder() as folder:
        prepare(folder, Structure.own("chained"))
        outcome = compile_all(folder, "chained")
        if not outcome.good:
            raise LabError(
                f"the grader cannot compile the kernel's own hash/table/chained.h in its sandbox: {outcome.said[:1000] or outcome.why(COMPILE, False)}"
            )


def not_alone(folder: Path, file: str = "table.o", others_have: frozenset[str] = FROM_OTHERS) -> list[str]:
    """What of the compiled structure is more than one: foreign symbols, functions for others, code that runs by itself."""
    found = contents(folder, file)
    if found is None:
        return ["what it compiles to cannot be read"]
    faults = []
    if others := sorted(found.foreign - others_have):
        faults.append(f"it uses what is not its own: {listed(others, 8)}")
    if others := sorted(found.visible - ITS_OWN):
        faults.append(f"it defines what others can see, and is not static: {listed(others, 5)}")
    if others := [one.name[:40] for one in found.sections if not one.of(*DATA)]:
        faults.append(f"it has code that runs by itself, or data of another kind: section {listed(others, 5)}")
    return faults
