"""The trace of `./cw run --strace`.

The kernel sends raw records (kernel/trace/trace.c): `call` [pid, number, [arguments], memory], `result` [pid,
number, result, memory], `signal` and `exited`. Here they become lines as `strace -f` writes them: a call is
printed whole when it ends. As with strace, the trace begins when the job's program has been executed.
"""

from __future__ import annotations

import errno
import os
import signal
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lab.base.files import write_whole
from lab.base.syscalls import Argument, Call, read_table
from lab.compare.values import (
    BITS,
    CHILD_CODES,
    CODES,
    MEMORY,
    NUMBERS,
    ONE_OF,
    OPEN_BITS,
    RESTARTS,
    SIGNALS,
    address,
    file_mode,
    flags,
    mode,
    open_flags,
    quoted,
    signed,
)

SHOWN = 32  # bytes of a buffer, elements of an array
HEXADECIMAL_RESULTS = {"mmap", "brk"}


def show_argument(call: Call, index: int, values: list[int], memory: dict[str, Any], result: int | None) -> str:
    """One argument as strace prints it."""
    kind, value = call.arguments[index].kind, values[index]
    data = memory.get(str(index))
    if kind in ("path_t", "string_t"):
        return quoted(bytes.fromhex(data)) if data is not None and value else address(value)
    if kind == "argv_t" and isinstance(data, list):
        return f"[{', '.join(_element(bytes.fromhex(word)) for word in data)}{', ...' if len(data) == SHOWN else ''}]"
    if kind == "envp_t" and data is not None:
        count = f"{len(data)} or more" if len(data) == SHOWN else str(len(data))
        return f"{address(value)} /* {count} var{'s' if len(data) != 1 else ''} */"
    if kind in ("in_t", "out_t", "text_out_t") and data is not None:
        whole = values[index + 1] if kind == "in_t" else result or 0
        found = bytes.fromhex(data)[:whole]
        if len(found) < min(whole, SHOWN):  # not all of it could be read
            return address(value)
        if call.name == "getcwd":
            found = found.rstrip(b"\0")
        if call.name == "getrandom":
            hexadecimal = "".join(f"\\x{byte:02x}" for byte in found[:SHOWN])
            return f'"{hexadecimal}"' + ("..." if whole > SHOWN else "")
        return quoted(found[:SHOWN], cut=whole > SHOWN)
    if kind in MEMORY:
        size, show = MEMORY[kind]
        found = bytes.fromhex(data or "")
        return show(found[:size]) if len(found) >= size else address(value)
    if kind in NUMBERS:
        return NUMBERS[kind](value)
    if kind in ONE_OF:
        value = signed(value)
        return ONE_OF[kind].get(value, f"{value & 0xFFFFFFFF:#x}")
    if kind in BITS:
        return flags(value if kind == "mount_flags_t" else value & 0xFFFFFFFF, BITS[kind])
    return address(value)


def _element(word: bytes) -> str:
    return quoted(word[:SHOWN], cut=len(word) > SHOWN)


def shown_arguments(call: Call, values: list[int]) -> list[int]:
    """Indices of the arguments that this very call uses, in strace's order."""
    indices = list(range(len(call.arguments)))
    drop = set()
    if call.name in ("open", "openat") and not values[call.name == "openat" and 2 or 1] & 0o20000100:
        drop.add(indices[-1])
    elif call.name == "fcntl" and values[1] in (1, 3, 9, 11, 1025, 1032, 1034):
        drop.add(2)
    elif call.name == "futex":
        unused = {0: (4, 5), 1: (3, 4, 5), 9: (4,), 10: (3, 4)}
        drop.update(unused.get(values[1] & 0x7F, ()))
    return [index for index in indices if index not in drop]


def show_call(call: Call, values: list[int], memory: dict[str, Any], result: int | None) -> str:
    """NAME(ARGUMENTS)."""
    words = {i: show_argument(call, i, values, memory, result) for i in shown_arguments(call, values)}
    if call.name == "clone":
        parts = [f"child_stack={words[1]}", f"flags={words[0]}"]
        parts += [f"parent_tid={words[2]}"] if values[0] & 0x100000 else []
        parts += [f"tls={words[4]}"] if values[0] & 0x80000 else []
        parts += [f"child_tidptr={words[3]}"] if values[0] & 0x1200000 else []
        return f"clone({', '.join(parts)})"
    if call.name == "fcntl" and 2 in words:
        if values[1] == 2:
            words[2] = flags(values[2], {1: "FD_CLOEXEC"})
        elif values[1] == 4:
            words[2] = open_flags(values[2])
        elif values[1] in (0, 1030):
            words[2] = str(values[2])
    if call.name in ("mknod", "mknodat"):
        kind = values[len(call.arguments) - 2]
        words[len(call.arguments) - 2] = file_mode(kind & 0xFFFF)
        if kind >> 12 & 0xF not in (2, 6):
            del words[len(call.arguments) - 1]
    if call.name in ("pipe2", "dup3"):
        last = len(call.arguments) - 1
        words[last] = flags(values[last], OPEN_BITS)
    if call.name == "mmap":
        words[5] = f"{values[5]:#x}" if values[5] else "0"
    if call.name == "prctl":
        words = dict(list(words.items())[:2]) if values[0] not in (38, 39) else words
        if values[0] in (15, 16):
            words[1] = address(values[1])
    return f"{call.name}({', '.join(words.values())})"


def show_result(call: Call, values: list[int], result: int) -> str:
    if -4096 < result < 0:
        if -result in RESTARTS:
            return f"? {RESTARTS[-result]}"
        name = {95: "EOPNOTSUPP"}.get(-result) or errno.errorcode.get(-result, f"errno {-result}")
        return f"-1 {name} ({os.strerror(-result)})"
    if call.name in HEXADECIMAL_RESULTS:
        return address(result & (1 << 64) - 1) if result else "0"
    if call.name == "umask":
        return mode(result)
    if call.name == "fcntl" and values[1] == 1:
        return f"{result:#x} (flags {flags(result, {1: 'FD_CLOEXEC'})})" if result else "0"
    if call.name == "fcntl" and values[1] == 3:
        return f"{result:#x} (flags {open_flags(result)})"
    return str(result)


def show_signal(record: list[int]) -> str:
    _, number, code, pid, uid, status = record
    name = SIGNALS.get(number, str(number))
    words = [f"si_signo={name}", f"si_code={CODES.get(code, str(code))}"]
    if number == signal.SIGCHLD and code in CHILD_CODES:
        ended = SIGNALS.get(status, str(status)) if code != 1 else str(status)
        words[1] = f"si_code={CHILD_CODES[code]}"
        words += [f"si_pid={pid}", f"si_uid={uid}", f"si_status={ended}", "si_utime=0", "si_stime=0"]
    elif code in (0, -6, -1):
        words += [f"si_pid={pid}", f"si_uid={uid}"]
    return f"--- {name} {{{', '.join(words)}}} ---"


def show_end(code: int) -> str:
    ended = f"killed by {SIGNALS.get(code & 0x7F)}" if code & 0x7F else f"exited with {code >> 8}"
    return f"+++ {ended} +++"


# ---- the whole trace -------------------------------------------------------------------------------------------


@dataclass
class Event:
    """One line: a call that ended (or never did: result None), a signal, the end of a thread."""

    pid: int
    text: str
    call: str = ""
    result: int | None = None


def _pad(call: str, result: str) -> str:
    return f"{call:<39} = {result}"


class _Tracer:
    def __init__(self) -> None:
        self.calls = read_table(macro="SYSCALL_TRIED") | read_table()
        self.open: dict[int, tuple[Call, list[int], dict[str, Any]]] = {}
        self.begun = False

    def call(self, pid: int, number: int, values: list[int], memory: dict[str, Any]) -> Iterator[Event]:
        yield from self.finish(pid, 0)
        unknown = Call(number, f"syscall_{number:#x}", tuple(Argument("addr_t", f"a{i}") for i in range(6)), "")
        self.open[pid] = self.calls.get(number, unknown), values, memory

    def finish(self, pid: int, result: int | None, memory: dict[str, Any] | None = None) -> Iterator[Event]:
        """End what @pid has open. An execve or rt_sigreturn that is followed by another call has succeeded."""
        if pid not in self.open:
            return
        call, values, before = self.open.pop(pid)
        self.begun |= call.name == "execve" and result == 0
        if not self.begun:
            return
        text = show_call(call, values, before | (memory or {}), result)
        shown = "?" if result is None else show_result(call, values, result)
        yield Event(pid, _pad(text, shown), call.name, result)

    def record(self, kind: str, value: Any) -> Iterator[Event]:
        if kind == "call":
            yield from self.call(*value)
        elif kind == "result":
            pid, _, result, memory = value
            yield from self.finish(pid, result, memory)
        elif kind == "signal":
            yield from self.finish(value[0], 0)
            if self.begun:
                yield Event(value[0], show_signal(value))
        elif kind == "exited":
            pid, code = value
            yield from self.finish(pid, None if self.open.get(pid, (None,))[0] != "execve" else 0)
            if self.begun:
                yield Event(pid, show_end(code))


def events(records: Iterable[tuple[str, Any]]) -> Iterator[Event]:
    """The trace's lines from a control log's records."""
    tracer = _Tracer()
    for kind, value in records:
        yield from tracer.record(kind, value)


def lines(records: Iterable[tuple[str, Any]]) -> Iterator[str]:
    """As `strace -f` writes them to a terminal: with pids as soon as there is a second process."""
    first = None
    several = False
    for event in events(records):
        first = event.pid if first is None else first
        several = several or event.pid != first
        yield f"[pid {event.pid:5}] {event.text}" if several else event.text


def write_trace(records: Iterable[tuple[str, Any]], target: str) -> None:
    """To a file, every line with its pid as `strace -f -o FILE` has it; "-": to stderr."""
    if target == "-":
        sys.stderr.writelines(f"{line}\n" for line in lines(records))
    else:
        text = "".join(f"{event.pid:<5} {event.text}\n" for event in events(records))
        write_whole(Path(target), text)
