"""Formulas of the playground: what they compute here is what their header computes; what is wrong is said with its place."""

from __future__ import annotations

import subprocess

import numpy as np
import pytest

from lab.base.paths import TOP
from lab.playground.recordings import recordings
from tests.hash import compiled
from tests.hash.keys import KEYS
from tests.lab.browser import require_chromium

require_chromium("the playground")

# One of each operator and function, loose beside tight, names, constants at their borders.
FORMULAS = {
    "page": "mixed = inode / 64 + offset / 4096;\nturned = rotl(mixed, 23) ^ rotr(mixed, offset);\ntop(turned * golden) ^ 0b1_01 ^ 18_446744073709551615",
    "buffer": "-block * 9 - ~device % (1 << bits) << 3 >> device & 0xffff_ffff | (block / bits + block % (device | 1))",
    "inode": "high(number * golden) + low(superblock >> 6) - (number << number) - -(-number) - ~~1",
    "swap": "slot / 16 * 5 + (slot & 15) ^ type << 9 ^ low(slot * golden) >> 7",
    "path": "index * 3 + space ^ index >> 12 ^ top(index << 40)",
    "dentry": "mixed = hash ^ parent / 64;\nmixed ^ mixed >> bits ^ mixed << 64 - bits ^ top(hash << 32)",
}  # fmt: skip
HEADER = "([text, cache]) => playground.headerOf(playground.parseFormula(text, cache), 'mine')"
COMPUTE = """([text, cache, keys, bits]) => {
    const f = playground.compileFormula(playground.parseFormula(text, cache));
    return keys.map(([first, second]) => f(BigInt(first), BigInt(second), bits) >>> 0);
}"""
# The fault of a formula: its sentence and what of the text it points to.
FAULT = """([text, cache]) => {
    try {
        playground.parseFormula(text, cache);
    } catch (error) {
        return [error.message, text.slice(error.from, error.to), error.from];
    }
    return null;
}"""


@pytest.mark.parametrize("cache", FORMULAS)
def test_the_header_builds_and_is_the_same_function(opened, tmp_path, monkeypatch, cache):
    monkeypatch.setenv("CI", "1")  # a warning is an error
    folder = compiled.copy_of_hash(tmp_path)
    header = opened.evaluate(HEADER, [FORMULAS[cache], cache])
    (folder / cache).mkdir(exist_ok=True)  # paths have only functions of hash/any so far
    (folder / cache / "mine.h").write_text(header)
    choose = compiled.load_choose(folder)
    assert "mine" in choose.functions(cache) and "formula" in choose.summary(folder / cache / "mine.h")
    theirs = compiled.Function(cache, "mine", 64, folder)
    first, second = KEYS[cache](np.random.default_rng(3), 400)
    edges = np.array([0, 1, 63, 64, 2**32 - 1], np.uint64)
    first, second = np.concatenate([edges, first]), np.concatenate([edges[::-1], second])
    keys = [[str(a), str(b)] for a, b in zip(first.tolist(), second.tolist(), strict=True)]
    for bits in (1, 11, 20):
        ours = opened.evaluate(COMPUTE, [FORMULAS[cache], cache, keys, bits])
        assert ours == theirs.many(first, second, bits).tolist(), bits
    assert len(set(ours)) > 100


DEEPEST = "1 | 1 ^ 1 & block << 1 + 1 * high(" * 29 + "block" + ")" * 29
# Names and words of the key that are not used; long chains; as deep as allowed; what a compiler takes for a slip.
WARNED = {
    "unused": ("buffer", "x = block; y = x + 1; device"),
    "shifted": ("buffer", "z = 3; block << z"),
    "constant": ("page", "2 ^ 16"),
    "loose": ("inode", "a = number & 7 | number << 3 + 1 ^ -number; b = a - a - ~a * 3; b ^ b"),
    "sum": ("buffer", "+".join(["1"] * 900)),
    "chain": ("dentry", "-".join(["hash + 8 * 9 / 3 % 5"] * 90)),
    "shifts": ("dentry", "hash" + " >> bits << 1" * 120),
    "deepest": ("buffer", DEEPEST),
    "minuses": ("buffer", "-" * 30 + "block"),
    "turns": ("page", "rotr(1 + offset, " * 29 + "inode" + ")" * 29),
    "idle words": ("path", "7"),
    "narrow": ("swap", "type << 40 ^ rotl(slot, 3)"),
    "tops": ("page", "3 - top(" * 29 + "inode" + ")" * 29),
}


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("name", WARNED)
def test_no_compiler_warns_of_a_header(opened, tmp_path, name, compiler):
    cache, text = WARNED[name]
    (tmp_path / "mine.h").write_text(opened.evaluate(HEADER, [text, cache]))
    (tmp_path / "all.c").write_text(f"""#include <core/base/types.h>
#include <hash/shared.h>
#include "mine.h"

u32 mine(u64 first, u64 second, unsigned bits);
u32 mine(u64 first, u64 second, unsigned bits)
{{
	return {cache}_hash({"(u32)" if cache in ("buffer", "swap") else ""}first, {"(u32)" if cache == "dentry" else ""}second, bits);
}}
""")
    command = [compiler, "-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", "-c", "-o", "all.o", "all.c"]
    command += [f"-isystem{TOP}/hosted/include", f"-isystem{TOP}"]  # what is not the header's own may warn
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=30)
    assert done.returncode == 0, done.stderr[:2000]


def test_a_chain_without_brackets_has_its_value(opened, tmp_path):
    """What is left of an operator that binds as tightly needs none; what is right of it does."""
    text = "n = number; n - (n - superblock - 3) - 4 + (n << 3 >> bits << 2) ^ n * 9 / (n | 1) % 7 * (n / bits) ^ n & (n ^ 12)"
    folder = compiled.copy_of_hash(tmp_path)
    (folder / "inode" / "mine.h").write_text(opened.evaluate(HEADER, [text, "inode"]))
    theirs = compiled.Function("inode", "mine", 64, folder)
    first, second = KEYS["inode"](np.random.default_rng(5), 300)
    keys = [[str(a), str(b)] for a, b in zip(first.tolist(), second.tolist(), strict=True)]
    assert opened.evaluate(COMPUTE, [text, "inode", keys, 20]) == theirs.many(first, second, 20).tolist()


@pytest.mark.parametrize(
    ("text", "place", "said"),
    [
        ("block +", "", "ends where a value should follow"),
        ("block + * 3", "*", "A value is missing here"),
        ("block 3", "3", "An operator is missing"),
        ("(block + 3", "", "“)” is missing"),
        ("block)", ")", "There is no “(” to this"),
        ("blok * 3", "blok", "There are: device, block, bits, golden"),
        ("mix(block)", "mix", "There is no function “mix”"),
        ("constructor(block)", "constructor", "There is no function"),
        ("top(block, 3)", "top(block, 3)", "takes one value, not 2"),
        ("rotl(block)", "rotl(block)", "takes two values, not 1"),
        ("block # 3", "#", "means nothing here"),
        ("block * 12ab", "12a", "A number runs into a name"),
        ("block * 0x", "0x", "“0x” is no number. Numbers look like 12, 0xff"),
        ("block + 0xfg + 1", "0xfg", "“0xfg” is no number. Numbers look like 12, 0xff"),
        ("block + 0b102", "0b102", "“0b102” is no number. Numbers look like 12, 0xff"),
        ("0B__ + block", "0B__", "“0B__” is no number. Numbers look like 12, 0xff"),
        ("block * 0x1_0000_0000_0000_0000", "0x1_0000_0000_0000_0000", "more than 64 bits"),
        ("block / 0", "0", "Division by zero. Write (… | 1), or divide by"),
        ("block % (4 - 2 * 2)", "(4 - 2 * 2)", "Division by zero. Write (… | 1), or divide by"),
        ("z = 5 - 5; block / z", "z", "Division by zero. Write (… | 1), or divide by"),
        ("block / device", "device", "could be zero, and a division by zero has no value. Write (… | 1), or divide by"),
        ("block / (bits - 1)", "(bits - 1)", "could be zero"),
        ("block / (1 << block)", "(1 << block)", "could be zero"),
        ("block << 64", "64", "0 to 63"),
        ("bits = 3; bits", "bits", "has a meaning already"),
        ("x = block x", "x", "“;” is missing"),
        ("x = block;", "", "ends where a value should follow"),
        ("block + 3 = 4", "=", "Only a name can be given a value"),
        ("block;", ";", "ends without"),
        ("", "", "ends where a value should follow"),
        ("(" * 100 + "1" + ")" * 100, "(", "Too many parentheses"),
        ("-" * 100 + "1", "-", "Too many parentheses"),
        ("1+" * 1100 + "1", None, "at most 2000 characters"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(opened, text, place, said):
    message, at, start = opened.evaluate(FAULT, [text, "buffer"])
    assert said in message and 0 <= start <= len(text)
    assert place is None or at == place


@pytest.mark.parametrize("divisor", ["3", "bits", "(1 << bits)", "(block | 1)", "(1 | device)", "(x | 0)", "x"])
def test_a_divisor_that_is_never_zero_is_allowed(opened, divisor):
    assert opened.evaluate(FAULT, [f"x = bits | device; block / {divisor} + block % {divisor}", "buffer"]) is None


def test_names_of_names_are_no_work(opened):
    """Each is twice the one before: their values, if they were worked out again at each use, would take for ever."""
    text = "a0 = 1;" + "".join(f"a{i} = a{i - 1} + a{i - 1};" for i in range(1, 70)) + "block / (a69 | 1) + a63"
    assert opened.evaluate(COMPUTE, [text, "buffer", [["0", "640"]], 8]) == [640 & 255]


def test_a_comment_cannot_be_ended_by_a_formula(opened):
    header = opened.evaluate(HEADER, ["block *\n\n3", "buffer"])
    assert header.count("*/") == 1 and "\n *\n" in header


def test_the_field_is_all_functions_on_all_streams(opened):
    rows = opened.evaluate("""async () => {
        const { playground: p, page, module, judge, compileFormula, parseFormula } = playground;
        const having = page.streams.filter((one) => "inode" in one.objects);
        const streams = await Promise.all(having.map((one) => p.stream(one.name)));
        const constant = compileFormula(parseFormula("7", "inode"));
        return judge(module, page.plugins, streams, "inode", { ...p.state.a, bits: 8 }, constant, () => {});
    }""")
    names = [row["name"] for row in rows]
    assert sorted(names) == sorted(["formula", *compiled.headers("inode")])
    assert rows[-1]["name"] == "formula" and rows[-1]["rank"] == len(rows), "one bucket for all is the worst there is"
    assert {len(row["steps"]) for row in rows} == {len(recordings())}
    assert rows[0]["rank"] == 1 and rows == sorted(rows, key=lambda row: row["score"])
