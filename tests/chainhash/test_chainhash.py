"""libchainhash: against a model, power cuts and failing calls, readers beside a writer, its interfaces and its program.

The library is built once for each kind of check, below build/, as its own Makefile does it. CHAINHASH_SCALE=20 makes the
seeded tests twenty times as long, CHAINHASH_SEED=n begins elsewhere.
"""

from __future__ import annotations

import fcntl
import json
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from lab.base.paths import TOP, output_folder

PACKAGE = TOP / "user" / "chainhash"
TESTS = TOP / "tests" / "chainhash"
OUTPUT = output_folder().parent / f"{output_folder().name}-chainhash"
SCALE = int(os.environ.get("CHAINHASH_SCALE", "1"))
SEED = int(os.environ.get("CHAINHASH_SEED", "1"))
SANITIZED = "-O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all"
THREADS = "-O1 -g -fsanitize=thread"
WRAPPED = (
    "-Wl,--wrap=pwritev64,--wrap=pread64,--wrap=fdatasync,--wrap=ftruncate64,--wrap=malloc,--wrap=calloc,--wrap=realloc"
)

OPENS = (
    "malloc",
    "calloc",
    "realloc",
    "strdup",
    "open64",
    "fstat64",
    "fcntl64",
    "fsync",
    "ftruncate64",
    "pread64",
    "pwritev64",
    "fdatasync",
    "mmap64",
)


def run(*command: str | Path, status: int | None = 0, **options) -> str:
    """What @command prints; it must end with @status."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, **options)
    assert status is None or done.returncode == status, (
        f"{command}: {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-4000:]}"
    )
    return done.stdout


def build(kind: str, *settings: str, goals: tuple[str, ...] = ("all",)) -> Path:
    """The package, built in a folder for @kind: one at a time."""
    output = OUTPUT / kind
    output.mkdir(parents=True, exist_ok=True)
    environment = {key: value for key, value in os.environ.items() if key not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")}
    environment["CI"] = "1"
    with (output / ".lock").open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        command = ["make", "-s", "-C", str(PACKAGE), f"-j{os.cpu_count() or 1}", f"O={output}", *settings, *goals]
        run(*command, env=environment)
    return output


def program(library: Path, name: str, flags: str, *more: str, compiler: str = "gcc") -> Path:
    """A test program linked with all objects of the library, hidden names included."""
    target = library / name
    sources = [TESTS / f"{name}.c", TESTS / "model.c"]
    objects = sorted((library / "lib").rglob("*.o"))
    includes = [f"-I{PACKAGE / 'include'}", f"-I{PACKAGE / 'lib'}"]
    with (library / ".lock").open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        run(*compiler.split(), "-std=gnu11", "-D_GNU_SOURCE", "-D_FILE_OFFSET_BITS=64", "-Wall", "-Wextra", "-Werror",
            *flags.split(), *includes, *sources, *objects, *more, "-o", target)  # fmt: skip
    return target


@pytest.fixture(scope="session")
def plain() -> Path:
    return build("plain")


@pytest.fixture(scope="session")
def sanitized() -> Path:
    return build("sanitized", f"CFLAGS={SANITIZED}")


@pytest.mark.check
def test_properties(sanitized, tmp_path):
    """A table does what a model does, over all options."""
    print(run(program(sanitized, "properties", SANITIZED), tmp_path, SEED, 150 * SCALE))


def test_power_cuts_and_failing_calls(sanitized, tmp_path):
    print(run(program(sanitized, "cuts", SANITIZED, WRAPPED), tmp_path, SEED, 4 * SCALE))


@pytest.mark.check
def test_failures_while_a_table_is_opened(sanitized, tmp_path):
    """Every call and every request for memory in turn: the error is heard of, nothing leaks, the file is as it was."""
    wrapped = "-Wl," + ",".join(f"--wrap={name}" for name in OPENS)
    print(run(program(sanitized, "opens", SANITIZED, wrapped), tmp_path))


@pytest.mark.turns(2)
@pytest.mark.parametrize("kind", ["threads", "processes"])
def test_readers_beside_a_writer(tmp_path, kind):
    library = build("threads", f"CFLAGS={THREADS}")
    print(run(program(library, "readers", THREADS, "-pthread"), tmp_path, 60 * SCALE, 4, kind))


@pytest.mark.check
def test_units(sanitized):
    """The quick forms of functions, and every hash function: the same values with another compiler and on 32 bits."""
    values = run(program(sanitized, "units", SANITIZED))
    names = {path.stem for path in (TOP / "hash" / "name").glob("*.h")}
    assert {line.split()[0] for line in values.splitlines()} == names
    assert values.splitlines()[0].startswith("package-33 ")
    clang = build("clang", "CC=clang")
    assert run(program(clang, "units", "-O2", compiler="clang")) == values


# Machines that differ: a compiler, a program that runs what it makes, and the packages of Debian with the two.
MACHINES = {
    "32 bits": ("gcc -m32", (), "gcc-multilib"),
    "big-endian": (
        "powerpc-linux-gnu-gcc",
        ("qemu-ppc-static",),
        "gcc-powerpc-linux-gnu libc6-dev-powerpc-cross qemu-user-static",
    ),
}


@pytest.mark.parametrize("machine", MACHINES)
def test_other_machines_have_the_same_files(plain, sanitized, tmp_path, machine):
    compiler, runner, packages = MACHINES[machine]
    (tmp_path / "main.c").write_text(
        '#include <errno.h>\n#include <stdio.h>\nint main(void) { return puts("") < 0; }\n'
    )
    try:
        run(*compiler.split(), "-static", tmp_path / "main.c", "-o", tmp_path / "main")
        run(*runner, tmp_path / "main")
    except (AssertionError, FileNotFoundError):
        pytest.skip(f"needs {packages}")
    prefix = compiler.removesuffix("gcc") if runner else ""
    settings = (f"CC={compiler}", f"OBJCOPY={prefix}objcopy", f"AR={prefix}ar")
    other = build(machine.replace(" ", "-"), *settings, goals=("objects", "static"))
    flags = "-O1 -g -static"
    print(run(*runner, program(other, "properties", flags, compiler=compiler), tmp_path, SEED, 20))
    here = run(program(sanitized, "units", SANITIZED))
    assert run(*runner, program(other, "units", flags, compiler=compiler)) == here
    text = words(tmp_path, 3000)
    ours, theirs = (plain / "chainhash",), (*runner, other / "chainhash.static")
    for writer, reader in ((ours, theirs), (theirs, ours)):
        table = tmp_path / writer[-1].name
        run(*writer, "load", table, text, "--bucket-size", "512")
        assert sorted(run(*reader, "dump", table).splitlines()[1:]) == sorted(text.read_text().splitlines())
        run(*reader, "verify", table)


def test_musl_builds_it(tmp_path):
    chainhash = build("musl", "CC=musl-gcc", goals=("static",)) / "chainhash.static"
    run(chainhash, "put", tmp_path / "t", "a", "b")
    assert run(chainhash, "get", tmp_path / "t", "a") == "b\n"


def words(folder: Path, count: int) -> Path:
    """Records as text, the same each time."""
    draw = random.Random(5)
    text = folder / "words.txt"
    keys = {"".join(draw.choices("abcdefghijklmnopqrstuvwxyz", k=draw.randint(3, 12))) for _ in range(count)}
    text.write_text("".join(f"{key}\t{number}\n" for number, key in enumerate(sorted(keys))))
    return text


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
    sound = json.loads(run(chainhash, "verify", "--json", table))
    assert sound == {"problems": [told[:-1]], "records": 1, "sound": True}
    assert run(chainhash, "repair", table, new, status=1).startswith(told)
    run(chainhash, "put", table, "key", "three")
    assert run(chainhash, "verify", table) == f"{table}: 1 records, nothing is wrong\n"


@pytest.mark.turns(3)
def test_damaged_files(sanitized, tmp_path):
    """A flipped byte anywhere is an error or makes no difference, never a wrong record; repair saves the others."""
    chainhash, text = sanitized / "chainhash", words(tmp_path, 400)
    table, damaged = tmp_path / "t", tmp_path / "damaged"
    run(chainhash, "load", "-b", "256", table, text)
    whole, right = table.read_bytes(), set(text.read_text().splitlines())
    draw = random.Random(SEED)
    for number in range(30 * SCALE):
        place = draw.randrange(len(whole))
        damaged.write_bytes(whole[:place] + bytes([whole[place] ^ 1 << draw.randrange(8)]) + whole[place + 1 :])
        dump = subprocess.run([chainhash, "dump", damaged], capture_output=True, text=True, check=False)
        assert dump.returncode in (0, 2), dump.stderr
        assert set(dump.stdout.splitlines()[1:]) <= right, place
        assert dump.returncode or len(dump.stdout.splitlines()) == len(right) + 1
        verified = subprocess.run([chainhash, "verify", damaged], capture_output=True, text=True, check=False)
        assert (verified.returncode != 0) >= (dump.returncode != 0), (place, verified.stdout)
        if not dump.returncode:
            continue
        new = tmp_path / f"new{number}"
        repaired = subprocess.run([chainhash, "repair", damaged, new], capture_output=True, text=True, check=False)
        assert repaired.returncode in (1, 2), repaired.stderr
        if repaired.returncode == 1:
            saved = set(run(chainhash, "dump", new).splitlines()[1:])
            assert saved <= right and run(chainhash, "verify", new)
            assert len(saved) >= len(right) * 0.7, (place, repaired.stdout)


@pytest.mark.check
def test_kept_inputs_of_the_fuzzer(sanitized):
    """What libFuzzer found worth keeping, and what once broke something."""
    print(run(program(sanitized, "fuzz", f"{SANITIZED} -DALONE"), *sorted((TESTS / "corpus").iterdir()), timeout=300))


def test_standard_library_tests(plain, tmp_path):
    """The standard library's own tests of dbm, with this module in the place of dbm.ndbm."""
    pytest.importorskip("test.support", reason="Python comes without its tests")
    script = (
        "import unittest, dbm, chainhash_dbm; chainhash_dbm.take_the_place_of_ndbm(); dbm._names = ['dbm.ndbm', 'dbm.dumb'];"
        "unittest.main(module=None, argv=['x', 'test.test_dbm_ndbm', 'test.test_dbm'])"
    )
    environment = {**os.environ, "CHAINHASH_LIBRARY": str(plain), "PYTHONPATH": str(PACKAGE / "python")}
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False, env=environment, cwd=tmp_path
    )
    assert done.returncode == 0 and "skipped" not in done.stderr.splitlines()[-1], done.stderr
    assert int(done.stderr.split("Ran ")[1].split()[0]) >= 40


def test_interfaces(sanitized, tmp_path):
    """ndbm, dbm, hsearch and hsearch_r by a program written to each."""
    flags = [
        *SANITIZED.split(),
        "-Wall",
        "-Wextra",
        "-Werror",
        f"-I{PACKAGE / 'include' / 'chainhash'}",
        f"-L{sanitized}",
    ]
    for name, library in (("ndbm", "ndbm"), ("hsearch", "hsearch")):
        target = tmp_path / name
        run("gcc", *flags, TESTS / f"{name}.c", f"-lchainhash_{library}", "-lchainhash", "-o", target)
        environment = {**os.environ, "LD_LIBRARY_PATH": str(sanitized)}
        print(run(target, cwd=tmp_path, env=environment))


PYTHON_ON_A_FULL_DISK = """
import chainhash_dbm, resource, signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
db = chainhash_dbm.open('pairs', 'c')
resource.setrlimit(resource.RLIMIT_FSIZE, (40000, 40000))
for i in range(2000):
    db[f'k{i}'] = b'v' * 50
try:
    db.close()
except chainhash_dbm.error as error:
    print(error.strerror)
db.close()
"""


def test_python_hears_of_a_close_that_failed(plain, tmp_path):
    environment = {**os.environ, "CHAINHASH_LIBRARY": str(plain), "PYTHONPATH": str(PACKAGE / "python")}
    script = PYTHON_ON_A_FULL_DISK
    assert run(sys.executable, "-c", script, cwd=tmp_path, env=environment) == "File too large\n"


PERL = """
use NDBM_File; use Fcntl;
tie(my %h, 'NDBM_File', 'pairs', O_RDWR|O_CREAT, 0640) or die "tie: $!";
$h{"k$_"} = "v" x ($_ % 5000) for 1..3000;
die unless length($h{k2999}) == 2999;
delete $h{k5};
die if defined $h{k5};
my $n = 0;
while (my ($k, $v) = each %h) { $n++ }
untie %h;
print "$n pairs\\n";
"""


def test_a_compiled_program_of_debian(plain, tmp_path):
    """Perl's NDBM_File, built against gdbm's ndbm: it finds our functions first, and nothing else is done to it."""
    probe = subprocess.run(["perl", "-MNDBM_File", "-e", "1"], capture_output=True, check=False)
    if probe.returncode:
        pytest.skip("perl has no NDBM_File")
    environment = {**os.environ, "LD_LIBRARY_PATH": str(plain), "LD_PRELOAD": str(plain / "libchainhash_ndbm.so.0")}
    assert run("perl", "-e", PERL, cwd=tmp_path, env=environment) == "2999 pairs\n"
    assert "2999 records, nothing is wrong" in run(plain / "chainhash", "verify", tmp_path / "pairs.pag")


def test_install(plain, tmp_path):
    """What is installed serves a C and a C++ program by pkg-config, and shows its own names only."""
    run("make", "-s", "-C", PACKAGE, f"O={plain}", "install", "PREFIX=/usr", f"DESTDIR={tmp_path}")
    config = (tmp_path / "usr/lib/pkgconfig/chainhash.pc").read_text()
    assert "libdir=${prefix}/lib" in config and "-lchainhash" in config
    include, lib = tmp_path / "usr/include", tmp_path / "usr/lib"
    source = "#include <chainhash.h>\nint main() { struct chainhash *t; return chainhash_open(&t, 0, 0, 0, 0) || chainhash_close(t); }\n"
    for compiler, name in (("gcc", "main.c"), ("g++", "main.cc")):
        (tmp_path / name).write_text(source)
        for how in ((f"-L{lib}", "-lchainhash", f"-Wl,-rpath,{lib}"), (str(lib / "libchainhash.a"),)):
            run(
                compiler,
                "-Wall",
                "-Wextra",
                "-pedantic",
                "-Werror",
                f"-I{include}",
                tmp_path / name,
                *how,
                "-o",
                tmp_path / "main",
            )
            run(tmp_path / "main")
    assert "libchainhash.so.0" in run("readelf", "-d", tmp_path / "usr/lib/libchainhash.so.0")
    for library in (["-D", str(lib / "libchainhash.so.0")], [str(lib / "libchainhash.a")]):
        names = [line.split()[-1] for line in run("nm", "--defined-only", "-g", *library).splitlines() if " " in line]
        assert names and all(name.startswith("chainhash_") for name in names)
    stripped = tmp_path / "stripped"
    run("strip", "-o", stripped, lib / "libchainhash.so.0")
    assert stripped.stat().st_size <= 120_000


def test_a_function_dropped_in(tmp_path):
    """A file in hash/name is all it takes."""
    for folder in ("name", "any"):
        (tmp_path / "hash" / folder).mkdir(parents=True)
        for path in (TOP / "hash" / folder).glob("*.h"):
            (tmp_path / "hash" / folder / path.name).write_bytes(path.read_bytes())
    (tmp_path / "hash/name/mine.h").write_text("/* Mine. */\nHASH_BYTES(u32, 5, h * 7 + c, h)\n")
    run(sys.executable, PACKAGE / "lib/buckets/functions.py", tmp_path / "hash", tmp_path / "functions.h")
    assert '{"mine", name_mine, false}' in (tmp_path / "functions.h").read_text()
