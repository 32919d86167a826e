"""make lines: lines of code by folder, without comments and blank lines.

The default kernel, what a student reads in a term, has at most LIMIT. What is off by default is an optional room, counted
apart, of at most ROOM_LIMIT each: a folder with a Kconfig of its own (lab/base/rooms.py), and what ROOMS names, by its files
or by the symbol of Kconfig that its lines stand under. Every hash function and table structure that is not the default one is
such a room by being there.
"""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

from lab.base.choose import load_choose
from lab.base.paths import KERNEL_FOLDERS, TOP
from lab.base.rooms import optional_rooms

KERNEL = KERNEL_FOLDERS
WITH_PARTS = ("core", "mm", "fs", "kernel")  # whose folders are counted one by one, too
OTHERS = ("hosted", "user", "lab", "tests")
C_LIKE = {".c", ".h", ".S", ".ld", ".def"}
HASH_LIKE = {".py", ".sh", ".mk"}
LIMIT = 23_400  # of the default kernel: 22,500, and 900 of RCU, sequence counts and the walk without locks
ROOM_LIMIT = 1_500
# The library in user/chainhash, with its interfaces and its program; what stands beside it for comparison is not of it.
LIBRARY = tuple(f"user/chainhash/{part}" for part in ("include", "lib", "interfaces", "tool", "python"))
LIBRARY_LIMIT = 4_500
SYSTEMS = "user/chainhash/others"  # the 1991 text's other systems
SYSTEM_LIMIT = 300  # of each file

# Rooms that have a limit together, in place of ROOM_LIMIT each.
TOGETHER = {("fs/path/direct",): 1_100, ("fs/path/complete", "fs/path/negative"): 600}

# Of fs/path/signature what direct lookup has if nothing else is chosen.
SIGNATURES = tuple(f"fs/path/signature/{name}" for name in ("multilinear.[ch]", "linear.h", "bits.h", "words.h"))


@dataclass(frozen=True)
class Room:
    """Files that the default kernel has not."""

    name: str
    choice: str  # what puts it in
    files: tuple[str, ...]  # patterns, `*` being of one name or of many
    but: tuple[str, ...] = ()  # files among them that the default kernel does have
    symbol: str = ""  # what is between #ifdef CONFIG_... (#if, #elif) and #else or #endif elsewhere is this room's, too

    def has(self, name: str) -> bool:
        return name not in self.but and any(fnmatchcase(name, pattern) for pattern in self.files)


ROOMS = (
    Room("recording keys", "RECORD_KEYS=y", ("hash/record.c",), symbol="RECORD_KEYS"),
    Room("checks of a debug kernel", "DEBUG=y", ("core/lock/lockdep.c",), symbol="DEBUG"),
    Room("short turns", "SHORT_TURNS=y", ("core/lock/turn*",), symbol="SHORT_TURNS"),
    Room("region marks", "REGION_MARKS=y", (), symbol="REGION_MARKS"),
    Room("swap cache's table", "SWAP_TABLE=chained ...", (), symbol="SWAP_TABLE_OWN"),
    Room("pages looked up without locks", "PAGE_LOCK=sequence", (), symbol="PAGE_LOCK_SEQUENCE"),
    Room("buffers so looked up", "BUFFER_LOCK=sequence", ("fs/block/unlocked.h",), symbol="BUFFER_LOCK_SEQUENCE"),
    Room("inodes so looked up", "INODE_LOCK=sequence", ("fs/inode/unlocked.h",), symbol="INODE_LOCK_SEQUENCE"),
    Room("signatures of direct lookup", "DCACHE_FASTPATH=y", ("arch/x86/*/wide.[ch]", *SIGNATURES)),
    Room("signatures by AES", "PATH_SIGNATURE_AES=y", ("arch/x86/*/aes.[ch]", "fs/path/signature/aes.[ch]")),
    Room(
        "signatures by SipHash",
        "PATH_SIGNATURE_SIPHASH=y",
        ("fs/path/signature/siphash.[ch]", "fs/path/signature/value.h"),
    ),
    Room("paths compared", "PATH_SIGNATURE_TEXT=y", ("fs/path/signature/text.[ch]",)),
    Room(".. as in Plan 9", "DOTDOT_LEXICAL=y", ("fs/path/lexical/*",), symbol="DOTDOT_LEXICAL"),
    Room("ticket locks", "SPINLOCK_TICKET=y", (), symbol="SPINLOCK_TICKET"),
    Room("pruning aggressively", "DENTRY_SHRINK=aggressive", (), symbol="DENTRY_SHRINK_AGGRESSIVE"),
    Room("pruning by priority", "DENTRY_SHRINK=priority", (), symbol="DENTRY_SHRINK_PRIORITY"),
)


@cache
def folders() -> tuple[Room, ...]:
    """The folders with a Kconfig of their own. Of two with one symbol the first has what stands under it elsewhere."""
    found: dict[str, Room] = {}
    for folder, name in optional_rooms().items():
        taken = any(room.symbol == name for room in found.values())
        found[folder] = Room(folder, f"{name}=y", (f"{folder}/*",), symbol="" if taken else name)
    return tuple(found.values())


@cache
def rooms() -> tuple[Room, ...]:
    """ROOMS, and what hash/ has besides the defaults."""
    choose = load_choose()
    without = {cache for cache in choose.TABLE_CACHES if cache not in choose.own_tables(choose.DEFAULTS)}
    chosen = {cache: choose.DEFAULTS[f"{cache.upper()}_HASH"] for cache in choose.CACHES if cache not in without}
    defaults = tuple(str(choose.header(cache, name).relative_to(TOP)) for cache, name in chosen.items())
    own = (cache for cache in (*choose.CACHES, "any") if (TOP / "hash" / cache).is_dir())
    headers = (*(f"hash/{cache}/*.h" for cache in own), "hash/shared.h", "hash/keys.h")
    functions = Room("hash functions", "PAGE_HASH, BUFFER_HASH ...", headers, defaults)
    used = {choose.DEFAULTS[f"{cache.upper()}_TABLE"] for cache in choose.TABLE_CACHES}
    tables = [
        Room(f"table {name}", f"PAGE_TABLE={name} ...", (f"hash/table/{name}.h", f"hash/table/{name}_*"))
        for name in choose.structures()
        if name not in used
    ]
    locks = [choose.DEFAULTS[f"{cache.upper()}_LOCK"] for cache in choose.LOCK_CACHES]
    others = (*(f"hash/lock/{name}.h" for name in choose.schemes() if name not in locks), "hash/lock/sequence_*.h")
    schemes = Room("lock schemes", "PAGE_LOCK, DENTRY_LOCK ...", others, symbol=WITH_LOCKS)
    return (functions, *tables, schemes, *ROOMS, *folders())


def room_of(name: str) -> Room | None:
    """The optional room of the file @name; None: it is the default kernel's, or no part of the kernel."""
    return next((room for room in rooms() if room.has(name)), None)


# A statement of one line that a kernel without DEBUG has nothing of (core/lock/lockdep.h, core/log/assert.h).
ASSERTION = re.compile(r"\s*(lockdep_assert_\w+|assert_page_locked|ASSERT)\(.*\);\s*")


# A call of an optional room in the table of all calls.
CALL_OF_A_ROOM = re.compile(r"SYSCALL_(?:REFUSED_)?OF\((\w+), (?:E\w+, )?\d")


# What stands there for DENTRY_LOCK=bucket and the like, and not by default: behind the #else of LOCKLESS_WALK.
WITHOUT_LOCKS, WITH_LOCKS = "#ifdef LOCKLESS_WALK", "no LOCKLESS_WALK"


def symbol_of(condition: str, symbols: set[str]) -> str:
    """Which of @symbols an #ifdef, #if or #elif asks for alone; "" for none."""
    match = re.match(r"\s*#\s*(?:ifdef CONFIG_(\w+)|(?:el)?if defined\(CONFIG_(\w+)\))\s*$", condition)
    return next((name for name in (match.groups() if match else ()) if name in symbols), "")


@cache
def lines_under(text: str) -> Counter[str]:
    """Of C without comments: lines of code by the symbol of the innermost condition of a room that they stand in, "" for none.

    Assertions are a debug kernel's alone, the calls of a room in core/syscalls.def that room's.
    """
    symbols = {room.symbol for room in (*ROOMS, *folders()) if room.symbol}
    found: Counter[str] = Counter()
    within: list[str] = []
    call_of = ""  # the room of a line of core/syscalls.def, and of those that it goes on to
    for line in text.splitlines():
        if match := CALL_OF_A_ROOM.match(line):
            call_of = match[1] if match[1] in symbols else ""
        if call_of:
            found[call_of] += 1
            if line.rstrip().endswith(")"):
                call_of = ""
            continue
        if re.match(r"\s*#\s*if", line):
            within.append(WITHOUT_LOCKS if line.strip() == WITHOUT_LOCKS else symbol_of(line, symbols))
        elif line.strip() == "#else" and within and within[-1] == WITHOUT_LOCKS:
            within[-1] = WITH_LOCKS
        elif re.match(r"\s*#\s*el", line) and within:
            within[-1] = symbol_of(line, symbols)
        elif re.match(r"\s*#\s*endif", line) and within:
            within.pop()
        if ASSERTION.fullmatch(line):
            found["DEBUG"] += 1
        elif line.strip():
            found[next((symbol for symbol in reversed(within) if symbol and symbol != WITHOUT_LOCKS), "")] += 1
    return found


@cache
def code(path: Path) -> str:
    """The text without its comments."""
    text = path.read_text(encoding="utf-8", errors="replace")
    if path.suffix in C_LIKE:
        pattern = r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|/\*.*?\*/|//[^\n]*'
        text = re.sub(pattern, lambda m: " " if m[0].startswith("/") else m[0], text, flags=re.DOTALL)
    elif path.suffix in HASH_LIKE:
        text = re.sub(r'^\s*(?:r?""".*?""")\s*$', "", text, flags=re.DOTALL | re.MULTILINE)
        text = re.sub(r"^\s*#.*$", "", text, flags=re.MULTILINE)
    else:
        return ""
    return text


def code_lines(path: Path) -> int:
    """Lines that hold code: comments and blank lines do not count."""
    return sum(1 for line in code(path).splitlines() if line.strip())


def lines_for(path: Path, symbol: str) -> int:
    """Those of them that are there by CONFIG_@symbol; "": without any room's symbol."""
    if path.suffix not in C_LIKE:
        return 0 if symbol else code_lines(path)
    return lines_under(code(path))[symbol]


@cache
def files(folder: str) -> tuple[str, ...]:
    """What is counted below @folder: all files of the checkout; of the kernel those that are compiled."""
    command = ["git", "-C", str(TOP), "ls-files", "--cached", "--others", "--exclude-standard", folder]
    names = subprocess.run(command, capture_output=True, text=True, check=False).stdout.splitlines()
    found = names or [str(path.relative_to(TOP)) for path in (TOP / folder).rglob("*") if path.is_file()]
    c_only = folder.split("/")[0] in KERNEL  # hash/choose.py is a tool of the build
    return tuple(name for name in found if (TOP / name).exists() and (Path(name).suffix in C_LIKE or not c_only))


def count(folder: str) -> int:
    """The lines below @folder, those of optional rooms left out."""
    if folder.split("/")[0] not in KERNEL:
        return sum(code_lines(TOP / name) for name in files(folder))
    return sum(lines_for(TOP / name, "") for name in files(folder) if room_of(name) is None)


def count_room(room: Room) -> int:
    """Its own files, and what stands under its symbol in those of the default kernel."""
    lines = 0
    for name in (name for folder in KERNEL for name in files(folder)):
        if room_of(name) == room:
            lines += code_lines(TOP / name)
        elif room.symbol and room_of(name) is None:
            lines += lines_for(TOP / name, room.symbol)
    return lines


def limit_of(room: Room) -> int:
    return next((limit for names, limit in TOGETHER.items() if room.name in names), ROOM_LIMIT)


# What the rooms of the dentry cache stand under in files of others, and the headers that name their hooks.
DCACHE_SYMBOLS = ("DCACHE_FASTPATH", "DCACHE_COMPLETE", "DCACHE_NEGATIVE")
DCACHE_CHOICES = re.compile(r"DCACHE_|PREFIX_SIBLINGS|PATH_SIGNATURE|DOTDOT_")
DCACHE_HOOKS = ("fs/dcache_rooms.h", "fs/direct_hooks.h")


def lines_touched() -> Counter[str]:
    """By folder: lines of others that call a hook of the dentry cache's rooms, or stand under their choice (Tsai 2015, table 4)."""
    names = {name for header in DCACHE_HOOKS for name in re.findall(r"#define (\w+)\(", (TOP / header).read_text())}
    hook = re.compile(rf"\b(?:{'|'.join(sorted(names))})\(")
    found: Counter[str] = Counter()
    for name in (name for folder in KERNEL for name in files(folder)):
        room = room_of(name)
        if name in DCACHE_HOOKS or (room and DCACHE_CHOICES.match(room.choice)):
            continue
        text = code(TOP / name)
        under = lines_under(text)
        lines = sum(under[symbol] for symbol in DCACHE_SYMBOLS) + sum(
            1 for line in text.splitlines() if hook.search(line)
        )
        if lines:
            found["/".join(name.split("/")[:2])] += lines
    return found


def count_library() -> int:
    return sum(count(folder) for folder in LIBRARY)


def main() -> None:
    total = 0
    for folder in KERNEL:
        lines = count(folder)
        total += lines
        print(f"{folder:10} {lines:7}")
        if folder in WITH_PARTS:
            for part in sorted(p for p in (TOP / folder).iterdir() if p.is_dir()):
                print(f"  {part.name:8} {count(f'{folder}/{part.name}'):7}")
    print(f"{'the kernel':10} {total:7}   (at most {LIMIT}; by default)")
    print(f"\noff by default (at most {ROOM_LIMIT} each)")
    for room in rooms():
        print(f"  {room.name:20} {count_room(room):5}   {room.choice}")
    for together, limit in TOGETHER.items():
        lines = sum(count_room(room) for room in rooms() if room.name in together)
        print(f"  {' and '.join(together)}: {lines} (at most {limit})")
    print("\nof others, what calls the dentry cache's rooms or stands under their choice")
    for folder, lines in sorted(lines_touched().items()):
        print(f"  {folder:20} {lines:5}")
    print()
    for folder in OTHERS:
        print(f"{folder:10} {count(folder):7}")
    print(f"\nlibchainhash with interfaces and program: {count_library()} (at most {LIBRARY_LIMIT})")


if __name__ == "__main__":
    main()
