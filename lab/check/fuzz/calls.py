"""./cw fuzz --calls: system calls at random with plausible, border and wild arguments."""

from __future__ import annotations

import tempfile
from pathlib import Path

from lab.base.paths import LabError, output_folder
from lab.base.syscalls import read_table
from lab.check.fuzz.programs import SOURCES, compile_program
from lab.guest import image
from lab.run import machine
from lab.run.options import Options

# What an argument means to callfuzz.c, by its type in syscalls.def; by its name, where the type says little.
BY_TYPE = {
    "path_t": "p", "string_t": "r", "fd_t": "f", "dirfd_t": "d", "size_t": "n", "u64": "n", "addr_t": "a",
    "loff_t": "o", "uid_t": "u", "gid_t": "u", "umode_t": "m", "umask_t": "m", "signo_t": "s", "open_flags_t": "F",
    "ioctl_t": "k", "fcntl_t": "k", "argv_t": "g", "envp_t": "g", "timespec_in_t": "t", "sigset_in_t": "S",
    "in_t": "c", "const_ptr_t": "c", "int": "i", "u32": "i", "whence_t": "i", "signalfd_t": "f",
    "epoll_operation_t": "i", "wait_kind_t": "i",
    "family_t": "U", "socket_type_t": "T", "sockaddr_in_t": "A", "message_flags_t": "y",
}  # fmt: skip
BY_NAME = {
    "pid": "P",
    "group": "P",
    "thread": "P",
    "who": "P",
    "vector": "v",
    "set_size": "8",
    "fd": "f",
    "number": "I",
    "message": "M",
}

# What ext2 lets go of is free after the second commit behind that (fs/ext2/commit.c): what a rename has replaced behind the
# rename, and an inode that only the caches still kept behind the first dropping of them.
SETTLED = (
    "sync; sync; echo 3 > /proc/sys/vm/drop_caches; sync; sync; echo 3 > /proc/sys/vm/drop_caches; cat /proc/slabinfo"
)


def call_table() -> str:
    """A line of C for each call of syscalls.def."""
    lines = []
    for call in read_table().values():
        letters = ""
        for argument in call.arguments:
            pointer = "b" if argument.kind.endswith(("*", "ptr_t", "out_t")) else "x"
            letters += BY_NAME.get(argument.name) or BY_TYPE.get(argument.kind) or pointer
        lines.append(f'{{{call.number}, "{call.name}", "{letters}"}},')
    if len(lines) < 100:
        raise LabError("core/syscalls.def: its form has changed, the fuzzer of calls cannot read it")
    return "\n".join(lines) + "\n"


def call_fuzzer() -> Path:
    folder = output_folder() / "fuzz"
    folder.mkdir(parents=True, exist_ok=True)
    header = folder / "calls.h"
    table = call_table()
    if not header.exists() or header.read_text() != table:
        header.write_text(table)
    return compile_program(sorted((SOURCES / "calls").glob("*.c")), "callfuzz", [header])


def leaks(before: str, after: str) -> list[str]:
    """Kinds of kernel objects of which there are more, of two states of /proc/slabinfo."""

    def counts(text: str) -> dict[str, int]:
        rows = (line.split() for line in text.splitlines() if line and not line.startswith("#"))
        # A name with a colon is of /proc/meminfo, if somebody has printed that, too.
        return {row[0]: int(row[1]) for row in rows if len(row) > 2 and row[1].isdigit() and row[0][-1] != ":"}

    old, new = counts(before), counts(after)
    return [f"{name}: {old.get(name, 0)} before, {n} after" for name, n in new.items() if n > old.get(name, 0)]


def fuzz_calls(
    calls: int, seed: int, root: str, smp: int, icount: bool, processes: int = 8, threads: int = 2, timeout: float = 0
) -> str:
    """Calls at random in one machine; what went wrong, or nothing. Prints what the program says."""
    program = f"/callfuzz {seed} {{}} {processes} {threads}"
    script = (
        f": > /tmp/before; : > /tmp/after; {program.format(min(calls, 6000))} > /dev/null; {SETTLED} > /tmp/before;"
        f" {program.format(calls)}; status=$?; {SETTLED} > /tmp/after; echo BEFORE; cat /tmp/before;"
        " echo AFTER; cat /tmp/after; echo END; exit $status"
    )
    with tempfile.TemporaryDirectory(prefix="cw-fuzz-") as name:
        disk = Path(name) / "disk" if root == "ext2" else None
        result = machine.run(
            Options(
                job=["/bin/sh", "-c", script],
                add=[f"{call_fuzzer()}:/callfuzz"],
                root=root,
                smp=smp,
                mem="256M",
                quiet=True,
                build=False,
                icount=icount,
                disk=disk,
                flushes=False,
                timeout=timeout or 120 + calls / 500,
            )  # fmt: skip
        )
        text = result.output.decode(errors="replace").replace("\r\n", "\n")
        said, _, rest = text.partition("BEFORE\n")
        print(said, end="", flush=True)
        if result.kind != "exit" or result.status or "callfuzz: ok" not in said:
            return f"seed {seed}: {result.message}\n{text[-3000:]}"
        before, _, after = rest.partition("AFTER\n")
        if left := leaks(before, after.partition("END")[0]):
            return f"seed {seed}: kernel objects are left:\n  " + "\n  ".join(left)
        if disk:
            clean, report = image.check(disk)
            return "" if clean else f"seed {seed}: e2fsck: {report}"
    return ""


def fuzz_calls_long(calls: int, seed: int, root: str, smp: int, icount: bool) -> int:
    """As many machines as it takes, each with a seed of its own."""
    each = 500_000
    while calls > 0:
        if wrong := fuzz_calls(min(calls, each), seed, root, smp, icount):
            print(wrong)
            return 1
        calls, seed = calls - each, seed + 1
    return 0
