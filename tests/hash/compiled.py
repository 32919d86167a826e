"""Hash functions, tables and statistics as the kernel compiles them, in shared objects that a test can call."""

from __future__ import annotations

import ctypes
import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

import numpy as np

from lab.base.paths import TOP, output_folder

PARTS = TOP / "hosted" / "parts"
CC = os.environ.get("CC", "cc")
BITS = (1, 8, 10, 11, 13, 14, 16, 20)
WORDS = (32, 64)
TABLE_CACHES = ("page", "buffer", "inode", "dentry", "swap", "path")
OWN_TABLES = {"swap": "SWAP_TABLE", "path": "PATH_TABLE"}  # which the default kernel has not


def load_choose(hash_folder: Path = TOP / "hash"):
    """hash/choose.py of @hash_folder, which may be a copy with a file dropped in."""
    specification = importlib.util.spec_from_file_location("choose", hash_folder / "choose.py")
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def headers(cache_name: str) -> list[str]:
    """The hash functions that there are."""
    return load_choose().functions(cache_name)


def copy_of_hash(folder: Path) -> Path:
    """A copy of hash/ to drop files into; what is not in it comes from the checkout."""
    shutil.copytree(TOP / "hash", folder / "hash", ignore=shutil.ignore_patterns("__pycache__"))
    return folder / "hash"


@cache
def scratch() -> Path:
    folder = tempfile.TemporaryDirectory(prefix="cw-hash-")
    scratch.keep = folder  # removed with the process
    return Path(folder.name)


def build(source: str, output: Path, chosen: dict | None = None, defines=(), flags=(), hash_folder=TOP / "hash"):
    """Compile hosted/parts/@source into @output with the functions @chosen; the compiler's words if it fails."""
    include = output.parent / f"{output.name}.include"
    (include / "generated").mkdir(parents=True, exist_ok=True)
    load_choose(hash_folder).write_headers(chosen or {}, include / "generated" / "hash_choice.h")
    command = [CC, "-std=gnu11", "-O1", "-Wall", "-Wextra", *(["-Werror"] if os.environ.get("CI") else [])]
    command += [
        "-Wno-unused-parameter",
        "-DHOSTED",
        "-D_GNU_SOURCE",
        *(f"-D{d}" for d in defines),
        *flags,
        f"-iquote{hash_folder.parent}",
        f"-I{TOP}",
    ]
    command += [f"-I{TOP}/hosted/include", f"-I{include}", "-o", str(output), str(PARTS / source)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, f"{' '.join(command)}\n{result.stderr}"
    return output


@cache
def sources_digest() -> str:
    """What a hash function's object is made of, but for its own header."""
    files = [PARTS / "functions.c", Path(__file__).resolve(), *sorted((TOP / "hash").glob("*.[ch]"))]
    files += [*sorted((TOP / "hash" / "any").glob("*.h")), TOP / "core" / "base" / "types.h"]
    return hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()


def shared(source: str, name: str, chosen: dict | None = None, defines=(), hash_folder=TOP / "hash", keep: str = ""):
    """Load @source as a shared object; with a digest @keep, from the build folder if it is there already."""
    kept = output_folder() / "hash-tests" / f"{name}-{keep[:16]}.so"
    if not keep or not kept.exists():
        output = scratch() / f"{name}.so"
        build(source, output, chosen, defines, ("-shared", "-fPIC"), hash_folder)
        if not keep:
            return ctypes.CDLL(str(output))
        kept.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(output, kept.with_suffix(f".{os.getpid()}"))
        kept.with_suffix(f".{os.getpid()}").replace(kept)
    return ctypes.CDLL(str(kept))


def pointer(array: np.ndarray):
    return array.ctypes.data_as(ctypes.c_void_p)


class Function:
    """One hash function at one word size."""

    def __init__(self, cache_name: str, name: str, word: int, hash_folder: Path = TOP / "hash"):
        table = OWN_TABLES.get(cache_name)
        chosen = {f"{cache_name.upper()}_HASH": name, **({table: "chained"} if table else {})}
        defines = [f"CONFIG_HASH_WORD={word}", f"TEST_{cache_name.upper()}"]
        header = load_choose(hash_folder).header(cache_name, name).read_text(encoding="utf-8")
        keep = hashlib.sha256(f"{sources_digest()} {CC} {header}".encode()).hexdigest()
        self.library = shared("functions.c", f"{cache_name}-{name}-{word}", chosen, defines, hash_folder, keep)
        self.library.seed(ctypes.c_uint64(0x0123456789ABCDEF))
        self.library.hash_name.restype = ctypes.c_uint32

    def many(self, first, second, bits: int) -> np.ndarray:
        """Buckets of the keys (first[i], second[i]), in the order of the function's parameters."""
        a, b = np.ascontiguousarray(first, np.uint64), np.ascontiguousarray(second, np.uint64)
        out = np.empty(len(a), np.uint32)
        self.library.hash_many(pointer(a), pointer(b), ctypes.c_uint64(len(a)), ctypes.c_uint(bits), pointer(out))
        return out

    def name(self, salt: int, name: bytes) -> int:
        """Of a name that lies at the end of a page but for the seven bytes that may be read."""
        return self.library.hash_name(ctypes.c_uint64(salt), name, ctypes.c_uint64(len(name)))


@cache
def function(cache_name: str, name: str, word: int) -> Function:
    return Function(cache_name, name, word)


def sanitized(
    source: str, name: str, chosen=None, defines=(), hash_folder=TOP / "hash", sanitizers="address,undefined"
) -> Path:
    """A program with the address and undefined-behaviour sanitizers, or others."""
    # the thread sanitizer knows nothing of fences
    flags = (f"-fsanitize={sanitizers}", "-fno-sanitize-recover=all", "-Wno-tsan", "-g")
    return build(source, scratch() / name, chosen, defines, flags, hash_folder)


if __name__ == "__main__":
    sys.exit("a module of the tests")
