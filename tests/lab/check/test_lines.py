"""make lines: the default kernel and each optional room are small, and each file is counted where it belongs."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

import pytest

from lab.base.choose import load_choose
from lab.base.paths import TOP, output_folder
from lab.build import configure
from lab.check import lines
from lab.check.lines import (
    KERNEL,
    LIBRARY,
    LIBRARY_LIMIT,
    LIMIT,
    ROOMS,
    SYSTEM_LIMIT,
    SYSTEMS,
    TOGETHER,
    Room,
    code_lines,
    count,
    count_library,
    count_room,
    files,
    limit_of,
    lines_touched,
    room_of,
    rooms,
)


@pytest.mark.check
def test_the_kernel_is_small():
    assert sum(count(folder) for folder in KERNEL) <= LIMIT, "make lines tells by folder"


@pytest.mark.check
@pytest.mark.parametrize("room", rooms(), ids=lambda room: room.name)
def test_an_optional_room_is_small_and_there(room):
    assert 0 < count_room(room) <= limit_of(room)
    for pattern in room.files:
        assert list(TOP.glob(pattern)), f"{pattern} fits nothing"


@pytest.mark.check
@pytest.mark.parametrize("together", TOGETHER, ids=" ".join)
def test_rooms_that_have_a_limit_together(together):
    found = [count_room(room) for room in rooms() if room.name in together]
    assert len(found) == len(together) and sum(found) <= TOGETHER[together]


def test_the_page_has_the_directory_caches_lines():
    """Tsai 2015, table 4: each part's own, and what it takes in files of others."""
    page = (TOP / "docs/papers/tsai-2015.md").read_text()
    rows = re.findall(r"^\| `([^`]+)`[^|]*\| ([\d,]+) \|$", page, re.MULTILINE)
    shown = {name: int(number.replace(",", "")) for name, number in rows}
    own = {room.name: count_room(room) for room in rooms()}
    touched = lines_touched()
    assert {name: touched[name] or own.get(name, 0) for name in shown} == shown
    assert set(touched) < set(shown), "a folder that the page does not name"
    parts = {room.name for room in rooms() if lines.DCACHE_CHOICES.match(room.choice)}
    assert parts <= set(shown), "a part that the page does not name"


def test_what_the_directory_cache_takes_of_others():
    touched = lines_touched()
    assert touched["fs/ext2"] and touched["fs/path"] > touched["fs/ext2"]
    assert not touched["fs/tmpfs"] and not touched["fs/path/direct"]


@pytest.mark.check
def test_the_hash_package_is_small():
    """The library with its interfaces and its program, and each of the systems that it is compared with."""
    assert all(count(folder) for folder in LIBRARY), "a part of the library is not where it is counted"
    assert count_library() <= LIBRARY_LIMIT, "make lines counts it"
    for name in files(SYSTEMS):
        assert code_lines(TOP / name) <= SYSTEM_LIMIT, name


def test_nothing_is_counted_twice_or_left_out():
    every = [name for folder in KERNEL for name in files(folder)]
    whole = sum(code_lines(TOP / name) for name in every)
    assert whole == sum(count(folder) for folder in KERNEL) + sum(count_room(room) for room in rooms())
    for name in every:
        assert sum(room.has(name) for room in rooms()) <= 1, name
    assert any(name.endswith(".def") for name in every), "the table of calls is code, too"


def of_symbol(symbol: str) -> str:
    """What Kconfig has for it when nobody chooses."""
    with tempfile.TemporaryDirectory() as folder:
        return configure.load_kconfig(Path(folder)).syms[symbol].str_value


@pytest.mark.parametrize("room", (*ROOMS, *lines.folders()), ids=lambda room: room.name)
def test_a_room_is_off_by_default(room):
    symbol, _, value = room.choice.partition("=")
    assert (value == "y" or room.symbol) and of_symbol(room.symbol or symbol) == "n"


def whole_file_for(text: str) -> str:
    """The symbol whose #ifdef is around all code of a file, "" where there is none."""
    text = re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.DOTALL)
    code = [line for line in text.splitlines() if line.strip() and not line.startswith(("#include", "#pragma"))]
    first = re.fullmatch(r"#ifdef CONFIG_(\w+)|#if defined\(CONFIG_(\w+)\)", code[0].strip()) if code else None
    if not first or not code[-1].startswith("#endif"):
        return ""
    depth = 0
    for line in code[:-1]:
        depth += line.startswith("#if")
        depth -= line.startswith("#endif")
        if depth == 0 or (depth == 1 and line.startswith(("#else", "#elif"))):
            return ""
    return first[1] or first[2]


def test_a_file_that_is_nothing_by_default_is_in_a_room():
    assert whole_file_for('#include "a.h"\n#ifdef CONFIG_X\nint x;\n#endif\n') == "X"
    assert not whole_file_for("#ifdef CONFIG_X\nint x;\n#else\nint y;\n#endif\n")
    assert not whole_file_for("#ifdef CONFIG_X\nint x;\n#endif\nint y;\n#ifdef CONFIG_X\n#endif\n")
    found = 0
    for name in (name for folder in KERNEL for name in files(folder)):
        symbol = whole_file_for((TOP / name).read_text())
        if symbol and of_symbol(symbol) == "n":
            found += 1
            room = room_of(name)
            assert room and room.choice == f"{symbol}=y", f"{name} is {symbol}'s: say so in lab/check/lines.py"
    assert found >= 2


def test_every_structure_is_the_default_one_or_a_room():
    choose = load_choose()
    for name in choose.structures():
        default = name in choose.DEFAULTS.values()
        assert (room_of(f"hash/table/{name}.h") is None) == default, name
    assert room_of("hash/dentry/linux-6.1.h") is None and room_of("hash/dentry/lever.h") is not None


def test_the_default_kernel_has_no_header_of_a_room():
    """As the compiler saw it: what it read for an object lies in the .d file beside it."""
    build = output_folder()
    with tempfile.TemporaryDirectory() as folder:
        default = configure.config_text(configure.configure(Path(folder)))
    if not (build / "chainwalk").exists() or (build / "effective.config").read_text() != default:
        pytest.skip("no default kernel is built here")
    beside = (path for folder in lines.KERNEL for path in (build / folder).rglob("*.d"))
    read = {word for path in beside for word in path.read_text().split()}
    assert "hash/table/chained.h" in read
    assert not [name for name in sorted(read) if name.endswith(".h") and room_of(name)]


def test_rooms_are_told_apart(monkeypatch):
    room = Room("x", "X=y", ("mm/swap/*",), but=("mm/swap/default.h",))
    assert room.has("mm/swap/swap.c") and not room.has("mm/swap/default.h") and not room.has("mm/cache/swap.c")
    before = count("core")
    monkeypatch.setattr(lines, "rooms", lambda: (Room("log", "LOG=y", ("core/log/*",)),))
    assert before - count("core") > 100


def test_code_lines_leave_out_comments(tmp_path):
    path = tmp_path / "a.c"
    path.write_text('/* one\n * two */\nint a; // three\n\nchar *s = "/* not a comment */";\n')
    assert code_lines(path) == 2


def test_a_rooms_calls_are_its_own():
    text = 'SYSCALL(1, a, (void), "")\nSYSCALL_OF(SYSVIPC, 2, b, (int x),\n\t"differs")\nSYSCALL_OF(SYSVIPC, 3, c, (void), "")\nSYSCALL(4, d, (void),\n\t"")\n'
    assert lines.lines_under(text) == {"": 3, "SYSVIPC": 3}


def test_what_stands_under_a_condition_is_that_rooms():
    """The condition is the room's as well; what is there when none of several was chosen is everybody's."""
    one, other = "DENTRY_SHRINK_AGGRESSIVE", "DENTRY_SHRINK_PRIORITY"
    text = f"#if defined(CONFIG_{one})\na\nb\n#elif defined(CONFIG_{other})\nc\n#else\nd\n#endif\n#ifdef CONFIG_DEBUG\ne\n#endif\nf\n"
    assert lines.lines_under(text) == {"": 5, one: 3, other: 2, "DEBUG": 2}
    assert lines.symbol_of("#if defined(CONFIG_DEBUG) && X", {"DEBUG"}) == ""


def test_what_is_there_for_locks_alone_is_the_schemes():
    """The walk without locks is the default one; what stands in its place is not."""
    text = "#ifdef LOCKLESS_WALK\na\n#ifdef CONFIG_DEBUG\nb\n#endif\n#else\nc\nd\n#endif\n#ifndef LOCKLESS_WALK\ne\n#else\nf\n#endif\n"
    assert lines.lines_under(text) == {"": 9, "DEBUG": 2, lines.WITH_LOCKS: 3}
