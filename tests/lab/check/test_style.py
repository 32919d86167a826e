"""The linters, as tests: what `make lint` says is part of `make test`."""

from __future__ import annotations

import ast
import subprocess
import sys

import pytest

from lab.base.paths import TOP, LabError
from lab.check.style import code, known, locks, text
from lab.check.style.fault import Fault

TOOLS = {
    "ruff check": ["-m", "ruff", "check", "-q", "lab", "tests", "hash", "boot", "user"],
    "ruff format": ["-m", "ruff", "format", "-q", "--check", "lab", "tests", "hash", "boot", "user"],
    "mypy": ["-m", "mypy", "--no-error-summary"],
    "lab.check.style": ["-m", "lab.check.style"],
}


@pytest.mark.check
@pytest.mark.parametrize("tool", TOOLS)
def test_lint(tool):
    result = subprocess.run([sys.executable, *TOOLS[tool]], cwd=TOP, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize(
    ("name", "source", "words"),
    [
        ("fs/x.c", '#include "arch/x86/x86.h"\n', "may not include"),
        ("hash/x.h", '#pragma once\n#include "mm/cache/page_cache.h"\n', "may not include"),
        ("mm/x.c", "int x; \n", "blanks"),
        ("mm/x.c", "\t\t" + "x" * 120 + "\n", "columns"),
        ("mm/x.c", "        int x;\n", "tabs"),
        ("fs/x.h", "int x;\n", "pragma"),
        ("fs/x.c", "int x;", "newline"),
    ],
)
def test_lines_that_break_a_rule_are_found(name, source, words):
    assert any(words in str(fault) for fault in text.faults(name, source))
    assert not list(text.faults("fs/good.c", '#include "core/memory/page.h"\n#include "core/base/list.h"\n\tint x;\n'))


# ---- code

GOOD = """
/* f(TRY(a)) ? b : c ? d : e */
#define TRY(call) ({ int error = (call); if (error < 0) return error; error; })
static const int table[] = {A ? 1 : 2, B ? 3 : 4, [C ? 0 : 1] = 5};

int good(struct x *x, int b)
{
	int a = TRY(find(x, b));

	TRY(other(a ? b : 0));
	if (TRY(third()))
		return TRY(fourth()) + 1;
	printk("TRY(f(TRY(x))) ? ? :");
	for (int i = a ? 1 : 2; i < b; i++)
		x->y = i ? a : b;
	return sizeof(x);
}
"""


def found(source: str, rule: str) -> list[int]:
    """The lines of @source that break @rule."""
    return [fault.line for fault in code.faults("fs/x.c", source) if fault.rule == rule]


def test_good_code_breaks_no_rule():
    assert not list(code.faults("fs/x.c", GOOD))
    assert [function.name for function in code.Code(GOOD).functions()] == ["good"]


@pytest.mark.parametrize(
    "line",
    [
        "return f(TRY(g()));",
        "x = f(1, (int)TRY_PTR(g()));",
        "ASSERT(a == TRY(g()));",
        "if (f(TRY(g())))",
        "return ERR_CAST(a ? b : TRY_PTR(c));",
        "TRY(f(TRY(g())));",
    ],
)
def test_a_try_among_arguments_is_found(line):
    assert found(f"int f(void)\n{{\n\t{line}\n}}\n", "try") == [3]
    assert found(f"int x;\n#define MACRO(a) do {{ \\\n\t{line} }} while (0)\n", "try") == [2]


@pytest.mark.parametrize(
    ("line", "count"),
    [
        ("return a ? b : c ? d : e;", 1),
        ("return f(a ? b : c, d ? e : f);", 1),
        ("x = a ?: b ?: c;", 1),
        ("return a ? b : c ? d : e ? f : g;", 2),
        ("int t[] = {a ? b : c ? d : e, 0};", 1),
        ("struct s s = {.x = a ? b : c, .y = d ? e : f};", 0),
        ("a = b ? c : d; e = f ? g : h;", 0),
        ("for (a = b ? 1 : 2; c ? d : e; a++)", 0),
    ],
)
def test_a_second_ternary_is_found(line, count):
    rule = "ternaries in one expression"
    assert found(f"int f(void)\n{{\n\t{line}\n}}\n", rule) == [3] * count
    assert len(found(f"#define MACRO(a) {line}\n", rule)) == count


def test_a_long_function_is_found():
    def source(lines: int) -> str:
        return f"/* about */\nint g(void);\nstatic int\nf(int a)\n{{\n{chr(10) * (lines - 4)}}}\nint h(void)\n{{\n}}\n"

    assert not found(source(60), "long functions")
    [fault] = code.faults("fs/x.c", source(63))
    assert (fault.line, fault.weight) == (3, 3) and "f() has 63 lines, at most 60" in fault.what
    table = "const struct x x = {\n" + "\t.a = 1,\n" * 70 + "};\n"
    assert not found(table, "long functions") and not found(f"struct x {{\n{table}}};\n", "long functions")
    assert found("ATTRIBUTED(1) int f(void)\n{\n" + "\tg();\n" * 70 + "}\n", "long functions") == [1]


def test_a_long_file_is_found():
    assert not found("int x;\n" * 500, "long files")
    [fault] = code.faults("fs/x.c", "int x;\n" * 507)
    assert fault.weight == 7 and "507 lines" in fault.what


def test_many_ternaries_are_found():
    files = {"fs/x.c": "int a = b ? c : d; /* ? */\n#define M(x) ((x) ? 1 : 2)\n", "fs/y.h": 'char *s = "?";\n'}
    assert code.ternaries(files["fs/x.c"]) == 2 and code.ternaries(files["fs/y.h"]) == 0
    assert not list(code.density_fault(files, 100))
    [fault] = code.density_fault(files, 99)
    assert fault.weight == 1 and "2 ternaries in 99 lines" in fault.what


# ---- locks

LOCKED = "static int f(void)\n{\n\tg();\n}\n"


@pytest.mark.parametrize(
    "comment",
    [
        "/* process_lock held. */",
        "/* The slab comes onto the list. The lock is held. */",
        "/* mm->lock is held for writing. */",
        "/* Bucket lock or sb->inodes_lock held: take a reference. */",
        "/* inode->lock\n * held: bytes written. */",
        "/* Leave the process under the lock. */",
        "/* Asked under its mutex; may sleep. */",
        "/* Under the page's lock. */",
        "// process_lock held",
    ],
)
def test_a_lock_that_a_comment_says_is_held_is_asserted(comment):
    def of(source: str, name: str = "fs/x.c") -> list[str]:
        return [str(fault) for fault in locks.faults({name: source})]

    assert of(f"int x;\n\n{comment}\n{LOCKED}") and not of(f"{comment}\n{LOCKED}", "hosted/x.c")
    assert not of(f"{comment}\n{LOCKED.replace('g()', 'lockdep_assert_held(&lock)')}")
    assert not of(f"{comment}\n\n{LOCKED}"), "a comment about what follows in the file"
    assert not of(f"{comment}\nstruct x {{\n\tint a;\n}};\n{LOCKED}")


@pytest.mark.parametrize(
    "comment",
    [
        "/* No lock held, interrupts off. */",
        "/* The lock is not held. */",
        "/* Any lock but spinlocks may be held. */",
        "/* not with a lock held that is below mount_mutex */",
        "/* The index of @lock among what is held. */",
        "/* takes inode->lock */",
        "/* The page is held by its block. */",
        "/* not under whatever locks it had */",
    ],
)
def test_what_a_comment_says_of_other_locks_is_no_promise(comment):
    assert not list(locks.faults({"fs/x.c": f"{comment}\n{LOCKED}"}))


def test_who_takes_the_lock_himself_may_say_so():
    taking = LOCKED.replace("g()", "guard(mutex, &x)")
    assert not list(locks.faults({"fs/x.c": f"/* Print under process_lock. */\n{taking}"}))
    assert list(locks.faults({"fs/x.c": f"/* process_lock held. */\n{taking}"}))


def test_a_header_promises_for_the_function():
    header = "#pragma once\nint g(void);\n/* process_lock held. */\nint f(int a, void (*then)(void));\nint h(void);\n"
    body = "{\n\treturn 0;\n}\n"
    source = f"int f(int a, void (*then)(void))\n{body}int h(void)\n{body}"
    [fault] = locks.faults({"fs/x.h": header, "fs/x.c": source})
    assert fault.file == "fs/x.c" and "f(): fs/x.h says" in fault.what
    assert not list(locks.faults({"fs/x.h": header, "fs/x.c": "static " + source})), "another one of that name"


# ---- what is known


def test_only_what_is_new_is_said():
    faults = [Fault("try", "a.c", 1, "x"), Fault("try", "a.c", 2, "y"), Fault("long files", "b.c", 600, "z", 100)]
    listed = {"try": {"a.c": 2}, "long files": {"b.c": 100}}
    assert not known.new(faults, listed) and not known.mended(faults, listed)
    assert known.new(faults, {"try": {"a.c": 1}, "long files": {"b.c": 100}}) == faults[:2]
    assert known.new(faults, {"try": {"a.c": 2}, "long files": {"b.c": 99}}) == faults[2:]
    assert known.new(faults, {}) == faults
    assert known.mended(faults[:1], listed) == ["a.c: try: 2 known, 1 there", "b.c: long files: 100 known, 0 there"]


def test_the_list_only_shrinks(tmp_path):
    listed = {"try": {"a.c": 2, "b.c": 1}}
    moved = [Fault("try", "c.c", 1, "x"), Fault("try", "c.c", 2, "x")]
    assert known.settled(moved, listed) == {"try": {"c.c": 2}}, "a file has been split"
    (tmp_path / "known.toml").write_text(known.text(known.settled(moved, listed)))
    assert known.read(tmp_path / "known.toml") == {"try": {"c.c": 2}}
    with pytest.raises(LabError, match="try: 4, and 3 were known"):
        known.settled([*moved, *moved], listed)
    with pytest.raises(LabError, match="long files: 1, and 0"):
        known.settled([Fault("long files", "c.c", 1, "x")], listed)


def test_the_lab_keeps_to_these_lengths_too():
    for path in sorted((TOP / "lab").rglob("*.py")):
        source = path.read_text()
        assert source.count("\n") <= code.FILE_LINES, path
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.FunctionDef):
                assert (node.end_lineno or 0) - node.lineno < code.FUNCTION_LINES, f"{path}: {node.name}"


def test_no_folder_of_the_lab_is_full():
    folders = {path.parent for path in (TOP / "lab").rglob("*") if path.is_file() and path.suffix != ".pyc"}
    for folder in folders:
        files = [path for path in folder.iterdir() if path.is_file()]
        assert len(files) <= 12, folder
