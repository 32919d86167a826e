"""What the plugins say of an instruction by its bytes, against the disassembler."""

from __future__ import annotations

import ctypes
import re
import subprocess
from pathlib import Path

import pytest

from lab.base.paths import TOP
from lab.build.kernel import kernel_image
from lab.run.qemu.plugin import INSTRUCTION

LINE = re.compile(r"^ +[0-9a-f]+:\t((?:[0-9a-f]{2} )+) *\t(.*)$")


@pytest.fixture(scope="module")
def is_locked(tmp_path_factory):
    folder = tmp_path_factory.mktemp("instruction")
    source = folder / "shim.c"
    source.write_text(
        f'#include "{INSTRUCTION}"\n'
        "int locked(const void *from, size_t size)\n"
        "{\n\tstruct bytes bytes = {.size = size};\n\n\tmemcpy(bytes.byte, from, size);\n\treturn is_locked(bytes);\n}\n"
    )
    flags = ["-shared", "-fPIC", "-O2", "-Wall", "-Wextra", "-Werror", "-DPLUGIN_VERSION=1"]
    subprocess.run(["cc", *flags, "-o", folder / "shim.so", source], check=True)
    library = ctypes.CDLL(str(folder / "shim.so"))
    return lambda code: bool(library.locked(code, ctypes.c_size_t(len(code))))


def disassembled(file: Path) -> dict[bytes, str]:
    """Instructions of @file, each once."""
    command = ["objdump", "-d", "--insn-width=15", file]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found = (LINE.match(line) for line in text.splitlines())
    return {bytes.fromhex(one[1]): one[2] for one in found if one and "(bad)" not in one[2]}


def locks(text: str) -> bool:
    """As the disassembler writes it: with lock, or xchg of anything but registers."""
    words = text.partition("#")[0].split()
    xchg = next((number for number, word in enumerate(words) if re.fullmatch(r"xchg[bwlq]?", word)), None)
    return "lock" in words or (xchg is not None and not re.fullmatch(r"%\w+,%\w+", words[xchg + 1]))


def test_all_instructions_of_the_kernel_and_of_the_c_library(is_locked):
    """The library has what the kernel has not: VEX and EVEX, and more of prefixes."""
    maps = Path("/proc/self/maps").read_text()
    library = next(Path(line.split()[-1]) for line in maps.splitlines() if re.search(r"/libc[-.]\S*so", line))
    known = {**disassembled(TOP / kernel_image()), **disassembled(library)}
    wrong = {code.hex(): text for code, text in known.items() if is_locked(code) != locks(text)}
    assert not wrong
    assert sum(map(locks, known.values())) > 300
    assert sum(text.startswith("v") for text in known.values()) > 1000
    assert sum(0xF0 in code and not locks(text) for code, text in known.items()) > 300
