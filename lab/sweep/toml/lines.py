"""On which line each table and key of a TOML file stands: tomllib tells values, not places, and a user wants the place.

Only what experiment files have is told apart: tables, arrays of tables, bare, quoted and dotted keys. A key of an
inline table, or an element of an array, has the line of the key that it belongs to.
"""

from __future__ import annotations

import re

TABLE = re.compile(r"\s*(\[\[?)\s*([^\]]+?)\s*\]\]?\s*(?:#.*)?$")
KEY = re.compile(r"""\s*((?:"[^"]*"|'[^']*'|[\w-]+)(?:\s*\.\s*(?:"[^"]*"|'[^']*'|[\w-]+))*)\s*=""")
PART = re.compile(r""""([^"]*)"|'([^']*)'|([\w-]+)""")
# What a value is made of, as far as it matters where it ends: strings first, since brackets in them are none.
TOKEN = re.compile(r'"""|\'\'\'|"(?:\\.|[^"\\])*"|\'[^\']*\'|#.*|[\[\]{}]')

Path = tuple[str | int, ...]


def line_numbers(text: str) -> dict[Path, int]:
    """("kernel", 0) and ("kernel", 0, "name") -> the line, from 1."""
    found: dict[Path, int] = {}
    counts: dict[str, int] = {}
    table: Path = ()
    depth, quote = 0, ""
    for number, line in enumerate(text.splitlines(), 1):
        rest = line
        if not depth and not quote:
            header, key = TABLE.match(line), KEY.match(line)
            if header:
                table = _table(header, counts)
                found.setdefault(table, number)
                continue
            if key:
                path = (*table, *_parts(key[1]))
                for end in range(len(table) + 1, len(path) + 1):
                    found.setdefault(path[:end], number)
                rest = line[key.end() :]
        depth, quote = _scan(rest, depth, quote)
    return found


def line_of(numbers: dict[Path, int], path: Path) -> int:
    """The line of @path, or of the nearest that it is part of."""
    while path and path not in numbers:
        path = path[:-1]
    return numbers.get(path, 1)


def _parts(name: str) -> tuple[str, ...]:
    return tuple(one or two or three for one, two, three in PART.findall(name))


def _table(header: re.Match[str], counts: dict[str, int]) -> Path:
    """The path of a table's header; [x.y] below [[x]] belongs to the last x."""
    names = _parts(header[2])
    if header[1] == "[[":
        counts[names[0]] = counts.get(names[0], -1) + 1
    at: Path = (counts[names[0]],) if names[0] in counts else ()
    return (names[0], *at, *names[1:])


def _scan(text: str, depth: int, quote: str) -> tuple[int, str]:
    """How many brackets are open, and which long string, behind @text."""
    position = 0
    while position < len(text):
        if quote:
            end = text.find(quote, position)
            if end < 0:
                return depth, quote
            position, quote = end + 3, ""
            continue
        token = TOKEN.search(text, position)
        if token is None:
            break
        position = token.end()
        if token[0] in ('"""', "'''"):
            quote = token[0]
        elif token[0] in ("[", "{"):
            depth += 1
        elif token[0] in ("]", "}"):
            depth -= 1
    return depth, quote
