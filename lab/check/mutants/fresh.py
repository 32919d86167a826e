"""New mutants, drawn by seed: one small change in a line of C (or of the lab's Python), as a tired person makes it.

Rules of our own, since those of the mutation tools that take any language (universalmutator: every * becomes a +,
comments included) mostly do not compile here, and know nothing of errno, locks, references, flags and barriers,
which is what goes wrong in a kernel. A rule looks at tokens; what is a comment, a string, a directive of the
preprocessor, an assertion or a message of the log is left alone. Whether a change compiles, without a new warning,
and makes another kernel is found out by compiling it (judge.py).
"""

from __future__ import annotations

import difflib
import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from lab.check.c_tokens import TOKEN, Token
from lab.check.mutants.kept import Mutant
from lab.check.mutants.rooms import room_of

PYTHON_TOKEN = re.compile(
    r"(?P<comment>#[^\n]*)"
    r"|(?P<string>[rfb]*(?:\"\"\".*?\"\"\"|'''.*?'''|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'))"
    r"|(?P<word>[A-Za-z_]\w*)"
    r"|(?P<number>\d\w*)"
    r"|(?P<operator>\*\*|//|->|<<|>>|<=|>=|==|!=|[-+*/%&|^]=|[^\sA-Za-z_0-9])",
    re.DOTALL,
)
LEFT_ALONE = re.compile(
    r"\b(printk|pr_\w+|panic|ASSERT|BUG_ON|_Static_assert|static_assert|lockdep_\w+|might_sleep|text_printf|HASH_COUNT"
    r"|HASH_RECORD|REGION_MARK|\w*_init|init_\w+|DEFINE_\w+|likely_never|help|description|print|assert|raise|import)\b"
)
ERRORS = "EPERM ENOENT EINTR EIO EBADF EAGAIN ENOMEM EACCES EFAULT EBUSY EEXIST EXDEV ENOTDIR EISDIR EINVAL ENOSPC ESPIPE EROFS ERANGE".split()


@dataclass(frozen=True)
class Change:
    start: int
    end: int
    new: str


def tokens_of(text: str, python: bool = False) -> list[Token]:
    """What can be changed: words, numbers and operators (and strings, so that neighbours are known)."""
    found = (PYTHON_TOKEN if python else TOKEN).finditer(text)
    return [
        Token(str(match.lastgroup), match.group(), match.start())
        for match in found
        if match.lastgroup not in ("comment", "directive")
    ]


# ---- the rules: each gives the changes that it knows for the token at @at ----------------------------

Rule = Callable[[list[Token], int, random.Random], Iterator[Change]]


def swap(table: dict[str, str], binary: bool = True) -> Rule:
    """A token that becomes another; @binary: only between two operands."""

    def rule(tokens: list[Token], at: int, rng: random.Random) -> Iterator[Change]:
        token, before, after = tokens[at], tokens[at - 1], tokens[at + 1]
        if token.text not in table:
            return
        ends_operand = before.kind in ("word", "number") or before.text in (")", "]")
        begins_operand = after.kind in ("word", "number", "string") or after.text in ("(", "&", "*", "~", "-", "!")
        if not binary or (ends_operand and begins_operand and before.text not in ("return", "case")):
            yield Change(token.start, token.end, table[token.text])

    return rule


def closing(tokens: list[Token], opening: int) -> int:
    """The index of the parenthesis that closes the one at @opening."""
    depth = 0
    for at in range(opening, len(tokens)):
        depth += (tokens[at].text == "(") - (tokens[at].text == ")")
        if depth == 0:
            return at
    return opening


def inverted_condition(tokens: list[Token], at: int, rng: random.Random) -> Iterator[Change]:
    if tokens[at].text in ("if", "while") and tokens[at + 1].text == "(":
        end = closing(tokens, at + 1)
        start = tokens[at + 1].start
        if tokens[end].start - start < 120:
            yield Change(start, start + 1, "(!(")
            yield Change(tokens[end].start, tokens[end].end, "))")


def dropped_not(tokens: list[Token], at: int, rng: random.Random) -> Iterator[Change]:
    if tokens[at].text == "!" and tokens[at + 1].text != "=" and tokens[at - 1].text != "!":
        yield Change(tokens[at].start, tokens[at].end, "")
    if tokens[at].text == "not" and tokens[at - 1].text != "is" and tokens[at + 1].text != "in":
        yield Change(tokens[at].start, tokens[at].end + 1, "")


def off_by_one(tokens: list[Token], at: int, rng: random.Random) -> Iterator[Change]:
    token, before, after = tokens[at], tokens[at - 1], tokens[at + 1]
    if token.text in "+-" and after.text == "1" and (before.kind == "word" or before.text in ")]"):
        yield Change(before.end, after.end, "")
    elif token.kind == "number" and re.fullmatch(r"\d{1,4}", token.text) and before.text not in ("=", "[", "case", "."):
        yield Change(token.start, token.end, str(int(token.text) + 1))


def wrong_errno(tokens: list[Token], at: int, rng: random.Random) -> Iterator[Change]:
    if tokens[at].text in ERRORS and tokens[at - 1].text == "-":
        yield Change(tokens[at].start, tokens[at].end, rng.choice([name for name in ERRORS if name != tokens[at].text]))


def dropped_statement(tokens: list[Token], at: int, rng: random.Random) -> Iterator[Change]:
    """A call whose value nobody takes, an assignment to a member, a jump: put_page(page); a->b = c; break;"""
    if tokens[at - 1].text not in (";", "{", "}", ")") or tokens[at].kind != "word":
        return
    end = at
    while end < len(tokens) and tokens[end].text not in (";", "{", "}"):
        end += 1
    statement = tokens[at:end]
    if end == len(tokens) or tokens[end].text != ";" or len(statement) > 30:
        return
    first, texts = tokens[at].text, [token.text for token in statement]
    call = len(statement) > 2 and texts[1] == "(" and closing(tokens, at + 1) == end - 1
    assignment = "=" in texts and "->" in texts[: texts.index("=")]
    if first in ("if", "for", "while", "switch", "return", "sizeof", "case", "else"):
        return
    if first in ("break", "continue") or call or assignment:
        yield Change(tokens[at].start, tokens[end].start, "")


def swapped_arguments(tokens: list[Token], at: int, rng: random.Random) -> Iterator[Change]:
    """f(a, b as f(b, a, of two simple words."""
    if tokens[at].text != "(" or at + 4 >= len(tokens) or tokens[at - 1].kind != "word":
        return
    first, comma, second, end = tokens[at + 1 : at + 5]
    if comma.text == "," and end.text in (")", ",") and {first.kind, second.kind} <= {"word", "number"}:
        yield Change(first.start, first.end, second.text)
        yield Change(second.start, second.end, first.text)


def dropped_flag(tokens: list[Token], at: int, rng: random.Random) -> Iterator[Change]:
    """One of A | B, or the ~ of a & ~B."""
    token, before, after = tokens[at], tokens[at - 1], tokens[at + 1]
    if token.text == "|" and re.fullmatch(r"[A-Z_0-9]+", after.text) and (before.kind == "word" or before.text == ")"):
        yield Change(before.end, after.end, "")
    elif token.text == "~" and before.text == "&":
        yield Change(token.start, token.end, "")


def wrong_result(tokens: list[Token], at: int, rng: random.Random) -> Iterator[Change]:
    """An error that is not handed on, a truth that is not."""
    if tokens[at].text != "return":
        return
    value, end = tokens[at + 1], tokens[at + 2]
    if end.text == ";" and value.text in ("true", "false"):
        yield Change(value.start, value.end, "false" if value.text == "true" else "true")
    elif end.text == ";" and value.text in ("error", "result", "status"):
        yield Change(value.start, value.end, "0")


C_RULES: dict[str, Rule] = {
    "boundary": swap({"<": "<=", "<=": "<", ">": ">=", ">=": ">"}),
    "equality": swap({"==": "!=", "!=": "=="}),
    "and or": swap({"&&": "||", "||": "&&"}),
    "arithmetic": swap({"+": "-", "-": "+", "+=": "-=", "-=": "+=", "<<": ">>", ">>": "<<"}),
    "min max": swap({"min": "max", "max": "min", "min_t": "max_t", "max_t": "min_t"}, binary=False),
    "steps": swap({"++": "--", "--": "++"}, binary=False),
    "inverted condition": inverted_condition,
    "dropped not": dropped_not,
    "off by one": off_by_one,
    "wrong errno": wrong_errno,
    "dropped statement": dropped_statement,
    "swapped arguments": swapped_arguments,
    "dropped flag": dropped_flag,
    "wrong result": wrong_result,
}
PYTHON_RULES: dict[str, Rule] = {
    name: C_RULES[name]
    for name in ("boundary", "equality", "arithmetic", "dropped not", "off by one", "swapped arguments")
} | {
    "and or": swap({"and": "or", "or": "and"}, binary=False),
    "min max": swap({"min": "max", "max": "min"}, binary=False),
    "truth": swap({"True": "False", "False": "True"}, binary=False),
}


# ---- where, and the patch ----------------------------------------------------------------------------


def line_around(text: str, place: int) -> str:
    """The line of @place, with the one before if a statement goes on from there: it may be the log's."""
    start = text.rfind("\n", 0, place) + 1
    end = text.find("\n", place)
    before = text.rfind("\n", 0, max(start - 1, 0)) + 1
    if not text[before:start].rstrip().endswith((";", "{", "}", ":")):
        start = before
    return text[start : end if end >= 0 else len(text)]


@lru_cache(maxsize=100)
def sites(text: str, python: bool) -> dict[str, list[int]]:
    """By rule, the indices of the tokens where it has something to say."""
    tokens = tokens_of(text, python)
    found: dict[str, list[int]] = {}
    for name, rule in (PYTHON_RULES if python else C_RULES).items():
        for at in range(1, len(tokens) - 2):
            if next(rule(tokens, at, random.Random(0)), None) is None:
                continue
            if not LEFT_ALONE.search(line_around(text, tokens[at].start)):
                found.setdefault(name, []).append(at)
    return found


def change(text: str, name: str, at: int, rng: random.Random, python: bool) -> str:
    """@text with the change that rule @name makes at token @at."""
    rule = (PYTHON_RULES if python else C_RULES)[name]
    for part in sorted(rule(tokens_of(text, python), at, rng), key=lambda part: -part.start):
        text = text[: part.start] + part.new + text[part.end :]
    return text


def make_patch(path: str, old: str, new: str) -> str:
    lines = difflib.unified_diff(old.splitlines(True), new.splitlines(True), f"a/{path}", f"b/{path}", n=3)
    return "".join(lines)


# No C of the kernel: whether a change of it compiles is asked of the kernel's build alone.
NOT_DRAWN = ("other", "lab", "chainhash")


def source_files(names: list[str]) -> dict[str, list[str]]:
    """By room, the files in which bugs are planted."""
    rooms: dict[str, list[str]] = {}
    for name in names:
        c = name.endswith((".c", ".h")) and room_of(name) not in NOT_DRAWN
        python = name.endswith(".py") and name.startswith("lab/") and not name.startswith("lab/check/mutants/")
        if c or python:
            rooms.setdefault(room_of(name), []).append(name)
    return rooms


def fresh_mutants(top: Path, names: list[str], seed: int, rooms: list[str] | None = None) -> Iterator[Mutant]:
    """Mutants without end, the same for the same seed and tree: a room after the other, in it a file by its size, a
    rule, a place. What does not compile the user of this leaves out."""
    rng = random.Random(f"mutants {seed}")
    by_room = source_files(sorted(names))
    wanted = [room for room in sorted(by_room) if not rooms or room in rooms]
    seen: set[str] = set()
    number = 0
    while wanted:
        room = wanted[len(seen) % len(wanted)]  # each in turn
        number += 1
        files = by_room[room]
        path = rng.choices(files, [(top / name).stat().st_size for name in files])[0]
        text, python = (top / path).read_text(), path.endswith(".py")
        found = sites(text, python)
        if not found:
            continue
        rule = rng.choice(sorted(found))
        at = rng.choice(found[rule])
        patch = make_patch(path, text, change(text, rule, at, rng, python))
        if not patch or patch in seen:
            continue
        seen.add(patch)
        line = text.count("\n", 0, tokens_of(text, python)[at].start) + 1
        name = f"{seed}-{number}-{Path(path).stem}-{line}-{rule.replace(' ', '-')}"
        yield Mutant(name=name, room=room, what=f"{path}:{line}: {rule}", patch=patch)
