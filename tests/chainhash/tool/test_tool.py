"""The program chainhash: what it prints, how it ends, and what it says is wrong."""

from __future__ import annotations

import contextlib
import json
import os
import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.chainhash.package import PACKAGE, run, words


def test_program(plain, tmp_path):
    """Load, dump, get, put, delete, stat, verify: what they print and how they end."""
    chainhash, table, text = plain / "chainhash", tmp_path / "t", words(tmp_path, 5000)
    run(chainhash, "load", "-b", "1024", "-f", "32", table, text)
    dump = run(chainhash, "dump", table)
    assert sorted(dump.splitlines()[1:]) == sorted(text.read_text().splitlines())
    run(chainhash, "load", "-b", "256", tmp_path / "again", input=dump)
    assert sorted(run(chainhash, "dump", tmp_path / "again").splitlines()[1:]) == sorted(dump.splitlines()[1:])

    run(chainhash, "get", table, "not there", status=1)
    run(chainhash, "put", table, r"odd\x00\tkey", r"line\n\\")
    assert run(chainhash, "get", table, r"odd\x00\tkey") == "line\\n\\\\\n"
    run(chainhash, "put", "--keep", table, r"odd\x00\tkey", "other", status=1)
    run(chainhash, "delete", table, r"odd\x00\tkey")
    run(chainhash, "delete", table, r"odd\x00\tkey", status=1)

    about = json.loads(run(chainhash, "stat", "--json", table))
    assert about["records"] == len(dump.splitlines()) - 1 == sum(i * n for i, n in enumerate(about["histogram"]))
    assert sum(about["histogram"]) == about["buckets"] and abs(sum(about["expected"]) - about["buckets"]) < 1
    assert json.loads(run(chainhash, "verify", "--json", table)) == {
        "problems": [],
        "records": about["records"],
        "sound": True,
    }
    assert "hash table histogram:" in run(chainhash, "stat", table)


def test_a_file_of_zeros_is_nobodys(plain, tmp_path):
    """What begins with zeros, as an image of a disc does, is not taken for a table that nobody has synced yet."""
    image = tmp_path / "image.pag"
    image.write_bytes(bytes(40000) + b"CD001")
    run(plain / "chainhash", "put", image, "a", "b", status=2)
    run(plain / "chainhash", "get", image, "a", status=2)
    environment = {**os.environ, "CHAINHASH_LIBRARY": str(plain), "PYTHONPATH": str(PACKAGE / "python")}
    for how in "wc":
        script = f"import chainhash_dbm; chainhash_dbm.open('image', '{how}')['a'] = 'b'"
        run(sys.executable, "-c", script, status=1, env=environment, cwd=tmp_path)
    assert image.read_bytes() == bytes(40000) + b"CD001"


def test_program_tunes(plain, tmp_path):
    run(plain / "chainhash", "load", tmp_path / "t", words(tmp_path, 1000))
    choices = json.loads(run(plain / "chainhash", "tune", "--json", tmp_path / "t"))["choices"]
    assert sum(choice["best"] for choice in choices) == 1 and len({choice["bucket_size"] for choice in choices}) > 3


def has_nameless_below(pid: int, folder: Path) -> bool:
    for descriptor in Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(OSError):  # closed meanwhile
            if str(folder) in (name := os.readlink(descriptor)) and name.endswith(" (deleted)"):
                return True
    return False


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_tuning_that_is_ended_leaves_nothing(plain, tmp_path, number):
    run(plain / "chainhash", "load", tmp_path / "t", words(tmp_path, 20000))
    folder = tmp_path / "folder"
    folder.mkdir()
    tuning = subprocess.Popen([plain / "chainhash", "tune", tmp_path / "t"], env={**os.environ, "TMPDIR": str(folder)})
    # Until the table to measure with is made, and its name gone, which a kill would leave.
    while not has_nameless_below(tuning.pid, folder):
        assert tuning.poll() is None
    tuning.send_signal(number)
    assert tuning.wait() == -number
    assert not list(folder.iterdir())


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("load", "-b", "100", "new", "words.txt"), "bucket size 100: a power of two from 64 to 32768"),
        (("load", "-f", "70000", "new", "words.txt"), "fill factor 70000: from 1 to 65535"),
        (("get", "t", "a", "-H", "siphash"), "made with hash function 'package-33', not 'siphash'"),
        (("get", "words.txt", "a"), "not a file of chainhash"),
        (("get", "gdbm", "a"), "of gdbm"),
        (("get", "lmdb", "a"), "not a file of chainhash"),
        (("get", "no-header", "a"), "no header of it is whole"),
        (("get", "version", "a"), "version 9"),
        (("get", "cut", "a"), "cut off"),
        (("get", "nowhere", "a"), "No such file"),
        (("load", "new", "bad.txt"), "line 2 is no KEY<TAB>DATA"),
        (("load", "new", "bad.txt"), "new: no line was stored"),
        (("put", "t", r"a\q", "b"), "a backslash must be before"),
        (("load", "-H", "nonsense", "new", "words.txt"), "there is no hash function 'nonsense'"),
    ],
)
def test_program_says_what_is_wrong(plain, tmp_path, arguments, says):
    text = words(tmp_path, 500)
    run(plain / "chainhash", "load", tmp_path / "t", text)
    whole = (tmp_path / "t").read_bytes()
    (tmp_path / "gdbm").write_bytes(b"\xce\x9a\x57\x13" + bytes(100))
    # Page 0: its number, flags, room; then the magic. The same behind 4096 bytes.
    page = bytes(10) + b"\x08\0\0\0\0\0\xde\xc0\xef\xbe\x01\0\0\0"
    (tmp_path / "lmdb").write_bytes((page.ljust(4096, b"\0") * 2).ljust(16384, b"\0"))
    (tmp_path / "no-header").write_bytes(bytes(4096) + whole[4096:4200] + bytes(8000))
    (tmp_path / "cut").write_bytes(whole[:-5000])
    crc = crc32c(header := whole[4096 : 4096 + 8] + b"\x09\0\0\0" + whole[4096 + 12 : 4096 + 508])
    (tmp_path / "version").write_bytes(whole[:4096] + header + crc.to_bytes(4, "little") + whole[4096 + 512 :])
    (tmp_path / "bad.txt").write_text("a\tb\nc\n")
    command = [str(plain / "chainhash"), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 2 and says in done.stderr, done.stderr


def crc32c(data: bytes) -> int:
    """Bit by bit: a second opinion on the format's checksum."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 & -(crc & 1))
    return crc ^ 0xFFFFFFFF


def test_a_damaged_header_is_told(plain, tmp_path):
    """The state before counts, as after a power cut in a sync, but not without a word; the next sync mends it."""
    chainhash, table, new = plain / "chainhash", tmp_path / "t", tmp_path / "new"
    for data in ("one", "two"):
        run(chainhash, "put", table, "key", data)
    whole = table.read_bytes()
    table.write_bytes(whole[:24] + bytes([whole[24] ^ 1]) + whole[25:])
    assert run(chainhash, "get", table, "key") == "one\n"
    told = "note: one header is torn, by a power cut in a sync or by damage: the state before counts\n"
    assert run(chainhash, "verify", table) == f"{told}{table}: 1 records, nothing else is wrong\n"
    assert "; one header is torn" in run(chainhash, "stat", table)
    assert json.loads(run(chainhash, "stat", "--json", table))["torn"] == 1
    sound = json.loads(run(chainhash, "verify", "--json", table))
    assert sound == {"problems": [told[:-1]], "records": 1, "sound": True}
    assert run(chainhash, "repair", table, new).startswith(told)
    run(chainhash, "put", table, "key", "three")
    assert run(chainhash, "verify", table) == f"{table}: 1 records, nothing is wrong\n"
    assert json.loads(run(chainhash, "stat", "--json", table))["torn"] == 0


def test_a_repaired_table_has_the_shape_of_the_old_one(plain, tmp_path):
    """Unless options say otherwise."""
    chainhash, table = plain / "chainhash", tmp_path / "t"
    run(chainhash, "load", table, words(tmp_path, 100), "-b", "256", "-f", "4", "-s", "both", "-H", "siphash")
    run(chainhash, "repair", table, tmp_path / "same")
    run(chainhash, "repair", table, tmp_path / "other", "-b", "512", "-f", "9")
    for name, bucket_size, fill_factor in (("same", 256, 4), ("other", 512, 9)):
        about = json.loads(run(chainhash, "stat", "--json", tmp_path / name))
        assert (about["bucket_size"], about["fill_factor"]) == (bucket_size, fill_factor)
        assert (about["split"], about["hash"], about["checksums"]) == (2, "siphash", 1)
    run(chainhash, "load", tmp_path / "plain", words(tmp_path, 100), "-C")
    run(chainhash, "repair", tmp_path / "plain", tmp_path / "without")
    assert json.loads(run(chainhash, "stat", "--json", tmp_path / "without"))["checksums"] == 0


def test_verify_of_a_file_that_cannot_be_opened(plain, tmp_path):
    """Damage of the map, or a file that is cut off, is damage as any other: status 1, and JSON."""
    chainhash, table, text = plain / "chainhash", tmp_path / "t", words(tmp_path, 2000)
    run(chainhash, "load", "-b", "256", table, text)
    whole = table.read_bytes()
    root = int.from_bytes(whole[4096 + 56 : 4096 + 60], "little") * 256
    for damaged, says in (
        (whole[:-1], "the file is damaged: it is cut off"),
        (whole[: root + 9] + bytes([whole[root + 9] ^ 1]) + whole[root + 10 :], "its map of pages is wrong"),
        (bytes(4096) + whole[4096:4200] + bytes(8000), "no header of it is whole"),
    ):
        table.write_bytes(damaged)
        found = json.loads(run(chainhash, "verify", "--json", table, status=1))
        assert len(found["problems"]) == 1 and says in found["problems"][0] and found["sound"] is False
        assert run(chainhash, "verify", table, status=1).endswith(f"{table}: 1 things are wrong\n")
    table.write_bytes(b"no table" * 2000)
    run(chainhash, "verify", table, status=2)


def test_a_dump_that_is_cut_off_is_not_loaded(plain, tmp_path):
    """Its first line says how many records there are to be; half a line is none of them."""
    chainhash, table, new = plain / "chainhash", tmp_path / "t", tmp_path / "new"
    run(chainhash, "load", table, words(tmp_path, 100))
    dump = run(chainhash, "dump", table)
    lines = dump.splitlines(keepends=True)
    for cut in (dump[:-1], "".join(lines[:-1]), "".join(lines[:50])[:-1], lines[0]):
        command = [chainhash, "load", new]
        done = subprocess.run(command, input=cut, capture_output=True, text=True, check=False)
        there = sum(line.endswith("\n") for line in cut.splitlines(keepends=True)) - 1
        assert done.returncode == 1 and f"{there} records of {len(lines) - 1}" in done.stderr, done.stderr
        run(chainhash, "get", new, "a", status=2)
    run(chainhash, "load", new, input=dump + dump)
    run(chainhash, "load", new, input="a\tno line behind it")
    assert len(run(chainhash, "dump", new).splitlines()) == len(lines) + 1


def test_a_repair_that_fails_leaves_nothing(plain, tmp_path):
    """Also where what fails is the new table's begin, or its close; but for what was there before."""
    chainhash, table, new = plain / "chainhash", tmp_path / "t", tmp_path / "new"
    run(chainhash, "load", table, words(tmp_path, 2000))
    for limit in (small_files, no_files):
        run(chainhash, "repair", table, new, status=2, preexec_fn=limit)
        assert table.exists() and not new.exists()
    new.write_text("another's")
    run(chainhash, "repair", table, new, status=2)
    run(chainhash, "repair", table, new, "-b", "100", status=2)
    assert new.read_text() == "another's"


def test_help_that_nobody_gets(plain):
    for arguments in (["--help"], ["functions"]):
        with Path("/dev/full").open("w") as full:
            command = [plain / "chainhash", *arguments]
            done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
        assert done.returncode == 2 and "standard output: No space left" in done.stderr


def small_files(size: int = 9000) -> None:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


def no_files() -> None:
    small_files(0)


def little_memory() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (1 << 26, 1 << 26))


def test_text_that_cannot_be_read_is_not_loaded_in_part(plain, tmp_path):
    chainhash, table, text = plain / "chainhash", tmp_path / "t", tmp_path / "text"
    with text.open("wb") as file:
        file.write(b"a\tb\n")
        file.truncate(1 << 27)
    for what, limit, says in ((text, little_memory, "Cannot allocate memory"), (tmp_path, None, "Is a directory")):
        done = subprocess.run(
            [chainhash, "load", table, what], capture_output=True, text=True, check=False, preexec_fn=limit
        )  # noqa: PLW1509
        assert done.returncode == 2 and says in done.stderr, done.stderr
        run(chainhash, "get", table, "a", status=2)


def test_a_line_without_a_tab(plain, tmp_path):
    """No place is computed from the tab that is not there."""
    flags = ["-O1", "-std=gnu11", "-D_GNU_SOURCE", "-D_FILE_OFFSET_BITS=64", f"-I{PACKAGE / 'include'}"]
    checks = ["-fsanitize=pointer-overflow", "-fno-sanitize-recover=all"]
    sources = [*sorted((PACKAGE / "tool").glob("*.c")), plain / "libchainhash.a"]
    run("clang", *flags, *checks, *sources, "-lm", "-o", tmp_path / "chainhash")
    command = [tmp_path / "chainhash", "load", tmp_path / "t"]
    done = subprocess.run(command, input="a\n", capture_output=True, text=True, check=False)
    assert done.returncode == 2 and done.stderr.startswith("chainhash: -: line 1 is no KEY<TAB>DATA"), done.stderr


def test_options_stand_anywhere(plain, tmp_path):
    """Also where the environment wants them before all words."""
    environment = {**os.environ, "POSIXLY_CORRECT": "1"}
    run(plain / "chainhash", "put", tmp_path / "t", "a", "b", "-b", "512", env=environment)
    assert run(plain / "chainhash", "get", "-q", tmp_path / "t", "a", env=environment) == "b\n"


NO_MAPPING = """
#include <dlfcn.h>
#include <errno.h>
#include <sys/mman.h>
void *mmap64(void *address, size_t size, int how, int flags, int number, off_t at)
{
    void *(*real)(void *, size_t, int, int, int, off_t) = dlsym(RTLD_NEXT, "mmap64");

    if (number < 0)
        return real(address, size, how, flags, number, at);
    errno = ENODEV;
    return MAP_FAILED;
}
"""


def test_files_that_cannot_be_mapped(plain, tmp_path):
    """As on a file system that has no mappings: all that reads does so by the pool."""
    (tmp_path / "shim.c").write_text(NO_MAPPING)
    run("gcc", "-D_GNU_SOURCE", "-shared", "-fPIC", tmp_path / "shim.c", "-o", tmp_path / "shim.so")
    environment = {**os.environ, "LD_PRELOAD": str(tmp_path / "shim.so")}
    run(plain / "chainhash", "load", tmp_path / "t", words(tmp_path, 100), env=environment)
    for command in ("dump", "stat", "tune", "verify"):
        assert run(plain / "chainhash", command, tmp_path / "t", env=environment)
