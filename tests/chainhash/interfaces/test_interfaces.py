"""What stands on libchainhash: ndbm, dbm and hsearch, the module of Python, and what is installed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.chainhash.package import PACKAGE, SANITIZED, run

HERE = Path(__file__).parent


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
        run("gcc", *flags, HERE / f"{name}.c", f"-lchainhash_{library}", "-lchainhash", "-o", target)
        environment = {**os.environ, "LD_LIBRARY_PATH": str(sanitized)}
        print(run(target, cwd=tmp_path, env=environment))


DBM_IN_CPP = """
#include <dbm.h>
int main() { char key[] = "key"; datum item = {key, 3}; return dbminit("t") || store(item, item) || !fetch(item).dptr || dbmclose(); }
"""


def test_dbm_in_cpp(plain, tmp_path):
    (tmp_path / "main.cc").write_text(DBM_IN_CPP)
    flags = ["-Wall", "-Wextra", "-Werror", f"-I{PACKAGE / 'include' / 'chainhash'}"]
    libraries = [plain / "libchainhash_ndbm.a", plain / "libchainhash.a"]
    run("g++", *flags, tmp_path / "main.cc", *libraries, "-o", tmp_path / "main")
    run(tmp_path / "main", cwd=tmp_path)


PYTHON_WITH_ERRORS = """
import chainhash_dbm, errno
with chainhash_dbm.open('pairs', 'c') as db:
    for call in (lambda: db.__setitem__('a', bytes(2**31)), lambda: db[bytes(2**31)], lambda: 'a' in db):
        try:
            print(call())
        except chainhash_dbm.error as error:
            print(errno.errorcode[error.errno])
    for i in range(2000):
        db[str(i)] = b'v' * 50
with open('pairs.pag', 'r+b') as file:
    file.seek(60000)
    file.write(bytes([file.read(1)[0] ^ 1]))
with chainhash_dbm.open('pairs') as db:
    for call in (lambda: len(db), lambda: db.keys(), lambda: [db[str(i)] for i in range(2000)]):
        try:
            print(len(call()))
        except chainhash_dbm.error as error:
            print(errno.errorcode[error.errno])
"""


def test_python_hears_of_errors(plain, tmp_path):
    """A value that is too large is refused, and a damaged page is not the end of the keys, nor a missing one."""
    environment = {**os.environ, "CHAINHASH_LIBRARY": str(plain), "PYTHONPATH": str(PACKAGE / "python")}
    said = run(sys.executable, "-c", PYTHON_WITH_ERRORS, cwd=tmp_path, env=environment).split()
    assert said == ["EMSGSIZE", "EMSGSIZE", "False", *["EBADMSG"] * 3]


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


PYTHON_WITH_THREADS = """
import chainhash_dbm, contextlib, threading
db = chainhash_dbm.open('pairs', 'n')
wrong = []
def work(number):
    for i in range(4000):
        key = b'%d-%d' % (number, i % 300)
        value = key * (1 + i % 300)
        db[key] = value
        keys = db.keys() if i % 400 == 0 else []
        if db[key] != value or len(set(keys)) != len(keys):
            wrong.append(key)
        if i % 7 == 0:
            if db.setdefault('of all', 'a value') != b'a value':
                wrong.append('of all')
            with contextlib.suppress(KeyError):
                del db['of all']
threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
closers = [threading.Thread(target=db.close) for _ in threads]
[thread.start() for thread in closers]
[thread.join() for thread in closers]
with chainhash_dbm.open('pairs') as db:
    print(len(wrong), len(db))
"""


def test_python_with_threads(plain, tmp_path):
    """Threads may share an object: each call is whole, and what it gives is the call's own."""
    environment = {**os.environ, "CHAINHASH_LIBRARY": str(plain), "PYTHONPATH": str(PACKAGE / "python")}
    assert run(sys.executable, "-c", PYTHON_WITH_THREADS, cwd=tmp_path, env=environment) == "0 1200\n"


PYTHON_THAT_FORKS = """
import chainhash_dbm, os, signal, threading
db = chainhash_dbm.open('pairs', 'n')
other = chainhash_dbm.open('others', 'n')
for i in range(300):
    db[str(i)] = other[str(i)] = b'v'
ended = False
def work():
    while not ended:
        db.keys()
        other.keys()
thread = threading.Thread(target=work)
thread.start()
wrong = children = 0
while not wrong and children < 200:
    child = os.fork()
    if not child:
        signal.alarm(5)
        os._exit(db.get(b'5') != b'v' or other.get(b'7') != b'v')
    wrong = os.waitpid(child, 0)[1]
    children += 1
ended = True
thread.join()
db['after'] = b'v'
print(wrong)
"""


def test_python_forks_beside_a_thread(plain, tmp_path):
    """A child process may use an object that another thread of its parent was using."""
    environment = {**os.environ, "CHAINHASH_LIBRARY": str(plain), "PYTHONPATH": str(PACKAGE / "python")}
    command = (sys.executable, "-W", "ignore", "-c", PYTHON_THAT_FORKS)
    assert run(*command, cwd=tmp_path, env=environment) == "0\n"


def test_python_takes_no_name_with_a_zero(plain, tmp_path):
    """As dbm.ndbm: what stands before the zero is another file's name."""
    environment = {**os.environ, "CHAINHASH_LIBRARY": str(plain), "PYTHONPATH": str(PACKAGE / "python")}
    script = "import chainhash_dbm; chainhash_dbm.open('pairs\\0more', 'c')"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=False, env=environment, cwd=tmp_path
    )
    assert "ValueError: embedded null" in done.stderr and not list(tmp_path.iterdir())


def test_install(plain, tmp_path):
    """What is installed serves a C and a C++ program by pkg-config, and shows its own names only."""
    run("make", "-s", "-C", PACKAGE, f"O={plain}", "install", "PREFIX=/usr", f"DESTDIR={tmp_path}")
    config = (tmp_path / "usr/lib/pkgconfig/chainhash.pc").read_text()
    assert "libdir=${prefix}/lib" in config and "-lchainhash" in config
    assert config.startswith("prefix=/usr\n")
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
    (module,) = (tmp_path / "usr").rglob("chainhash_dbm.py")
    assert module.parent.name.endswith("-packages")
    environment = {**os.environ, "LD_LIBRARY_PATH": str(lib), "PYTHONPATH": str(module.parent)}
    environment.pop("CHAINHASH_LIBRARY", None)
    script = (
        "import chainhash_dbm; db = chainhash_dbm.open('pairs', 'c'); db['key'] = 'data'; print(db['key'].decode())"
    )
    assert run(sys.executable, "-c", script, cwd=tmp_path, env=environment) == "data\n"
    stripped = tmp_path / "stripped"
    run("strip", "-o", stripped, lib / "libchainhash.so.0")
    assert stripped.stat().st_size <= 120_000
