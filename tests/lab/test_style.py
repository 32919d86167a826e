"""The linters, as tests: what `make lint` says is part of `make test`."""

from __future__ import annotations

import subprocess
import sys

import pytest

from lab.base.paths import TOP
from lab.check import style

TOOLS = {
    "ruff check": ["-m", "ruff", "check", "-q", "lab", "tests", "hash", "boot"],
    "ruff format": ["-m", "ruff", "format", "-q", "--check", "lab", "tests", "hash", "boot"],
    "mypy": ["-m", "mypy", "--no-error-summary"],
    "lab.check.style": ["-m", "lab.check.style"],
}


@pytest.mark.check
@pytest.mark.parametrize("tool", TOOLS)
def test_lint(tool):
    result = subprocess.run([sys.executable, *TOOLS[tool]], cwd=TOP, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("fs/x.c", '#include "arch/x86/x86.h"\n', "may not include"),
        ("hash/x.h", '#pragma once\n#include "core/memory/page.h"\n', "may not include"),
        ("mm/x.c", "int x; \n", "blanks"),
        ("mm/x.c", "\t\t" + "x" * 120 + "\n", "columns"),
        ("mm/x.c", "        int x;\n", "tabs"),
        ("fs/x.h", "int x;\n", "pragma"),
        ("fs/x.c", "int x;", "newline"),
    ],
)
def test_style_finds_what_it_is_for(name, text, words):
    assert any(words in fault for fault in style.faults(name, text))
    assert not list(style.faults("fs/good.c", '#include "core/memory/page.h"\n#include "core/base/list.h"\n\tint x;\n'))
