"""The 1991 text's systems (user/chainhash/others) against a dict, and each one's limits as the text tells them."""

from __future__ import annotations

import errno
import math
import os
import subprocess
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lab.base.paths import TOP
from tests.hash.compiled import scratch

OTHERS = TOP / "user" / "chainhash" / "others"
HERE = Path(__file__).parent
FLAGS = "-std=gnu11 -O1 -g -Wall -Wextra -fsanitize=address,undefined -fno-sanitize-recover=all".split()
EXAMPLES = settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))

# What is tested, by its name here: a system and its options. Small pages and tables, so that they overflow.
TABLES = {
    "dbm": ("dbm", "bucket=128"),
    "ndbm": ("ndbm", "bucket=64"),
    "sdbm": ("sdbm", "bucket=64,splits=10"),
    "gdbm": ("gdbm", "bucket=256,cache=600"),
    "gdbm without a cache": ("gdbm", "bucket=256,cache=0"),
    "hsearch": ("hsearch", "nelem=16"),
    "hsearch linear": ("hsearch", "nelem=16,collisions=linear"),
    "hsearch division": ("hsearch", "nelem=15,collisions=linear,hash=division"),
    "hsearch division, double": ("hsearch", "nelem=15,hash=division"),
    "hsearch brent": ("hsearch", "nelem=16,collisions=brent"),
    "hsearch chain": ("hsearch", "nelem=4,collisions=chain"),
    "hsearch chain up": ("hsearch", "nelem=4,collisions=chain,order=up"),
    "hsearch chain down": ("hsearch", "nelem=4,collisions=chain,order=down,hash=division"),
    "dynahash": ("dynahash", ""),
    "dynahash of a known size": ("dynahash", "nelem=300,fill=4"),
}
IN_MEMORY = {"hsearch", "dynahash"}


@cache
def driver() -> Path:
    sources = [*OTHERS.glob("*.c"), *(OTHERS / "parts").glob("*.c"), HERE / "driver.c"]
    return compiled("driver", *sources)


def compiled(name: str, *sources: Path) -> Path:
    output = scratch() / name
    werror = ["-Werror"] if os.environ.get("CI") else []
    subprocess.run(["gcc", *FLAGS, *werror, f"-I{TOP}", "-o", output, *sources], check=True)
    return output


def answers(lines: list[str]) -> list[str]:
    result = subprocess.run(
        [driver()], input="\n".join(lines) + "\n", capture_output=True, text=True, check=False, timeout=120
    )
    assert result.returncode == 0, result.stderr[-3000:]
    return result.stdout.splitlines()


def hexed(item: bytes) -> str:
    return item.hex() or "-"


def failed(number: int) -> str:
    return str(-number)


@dataclass
class Model:
    """What a table holds, and what it must answer: of a system and its options."""

    name: str
    options: str
    path: str
    pairs: dict[bytes, bytes] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)
    expected: list[set[str]] = field(default_factory=list)  # of each answer: what it may be

    def __post_init__(self):
        self.settings = {key: value for key, _, value in (one.partition("=") for one in self.options.split(","))}
        self.ask(f"open {self.name} {self.path} create {self.options or '-'}", "0")

    def ask(self, line: str, *expected: str) -> None:
        self.lines.append(line)
        self.expected.append(set(expected))

    def page_capacity(self) -> int:
        """Bytes of keys and data in a page; an item costs two more, and so does their number."""
        return int(self.settings["bucket"]) - 2

    def room(self) -> float:
        """Entries that hsearch's table has."""
        nelem = int(self.settings["nelem"])
        if self.settings.get("collisions") == "chain":
            return math.inf
        if self.settings.get("hash") == "division":
            return next(n for n in range(max(3, nelem), 2 * nelem + 3) if all(n % d for d in range(2, n)))
        return 1 << max(1, (nelem - 1).bit_length())

    def put(self, key: bytes, data: bytes, replace: bool) -> None:
        line = f"put {hexed(key)} {hexed(data)} {int(replace)}"
        if self.name in ("dbm", "ndbm", "sdbm") and len(key) + len(data) + 4 > self.page_capacity():
            self.ask(line, failed(errno.EMSGSIZE))
        elif key in self.pairs and not replace:
            self.ask(line, failed(errno.EEXIST))
        elif self.name == "hsearch" and key not in self.pairs and len(self.pairs) >= self.room():
            self.ask(line, failed(errno.ENOSPC))
        else:
            self.pairs[key] = data
            self.ask(line, "0")

    def get(self, key: bytes) -> None:
        found = self.pairs.get(key)
        self.ask(f"get {hexed(key)}", failed(errno.ENOENT) if found is None else f"0 {hexed(found)}")

    def remove(self, key: bytes) -> None:
        if self.name == "hsearch":
            self.ask(f"remove {hexed(key)}", failed(errno.EOPNOTSUPP))
        else:
            self.ask(f"remove {hexed(key)}", failed(errno.ENOENT) if self.pairs.pop(key, None) is None else "0")

    def reopen(self) -> None:
        if self.path != "-":
            self.ask("sync", "0")
            self.ask("close", "0")
            self.ask(f"open {self.name} {self.path} write {self.options or '-'}", "0")

    def scan(self) -> None:
        if self.name == "hsearch":
            self.ask("scan 1", failed(errno.EOPNOTSUPP))
            return
        for line, pairs in (
            ("scan 0", {f"pair {hexed(key)}" for key in self.pairs}),
            ("scan 1", {f"pair {hexed(key)} {hexed(data)}" for key, data in self.pairs.items()}),
        ):
            self.lines.append(line)
            self.expected += [pairs] * len(pairs) + [{failed(errno.ENOENT)}]

    def check(self) -> None:
        """Everything again, by key and in order; then what was answered, in order, each pair of a scan once."""
        for key in self.pairs:
            self.get(key)
        self.scan()
        self.ask("close", "0")
        said = answers(self.lines)
        assert len(said) == len(self.expected)
        before: set[str] = set()
        for number, (answer, expected) in enumerate(zip(said, self.expected, strict=True)):
            before = before if answer.startswith("pair") else set()
            assert answer in expected and answer not in before, (number, answer, expected, self.lines)
            before.add(answer)


KEYS = st.binary(max_size=12) | st.integers(0, 400).map(lambda n: f"key{n}".encode())
DATA = st.binary(max_size=30) | st.integers(0, 200).map(lambda n: bytes(n))
OPERATIONS = st.lists(
    st.tuples(st.just("put"), KEYS, DATA, st.booleans())
    | st.tuples(st.sampled_from(["get", "remove"]), KEYS)
    | st.tuples(st.just("many"), st.integers(0, 300), st.integers(1, 80))
    | st.tuples(st.sampled_from(["reopen", "scan"])),
    max_size=30,
)


def model_of(table: str, folder: Path) -> Model:
    name, options = TABLES[table]
    return Model(name, options, "-" if name in IN_MEMORY else str(folder / "table"))


@pytest.mark.parametrize("table", TABLES)
def test_a_table_is_a_dict(table, tmp_path):
    @EXAMPLES
    @given(OPERATIONS)
    def against_a_dict(operations):
        model = model_of(table, tmp_path)
        for operation, *arguments in operations:
            if operation == "many":
                first, count = arguments
                for number in range(first, first + count):
                    model.put(f"key{number}".encode(), f"{number}".encode(), True)
            else:
                getattr(model, operation)(*arguments)
        model.check()

    against_a_dict()


@pytest.mark.parametrize("table", TABLES)
def test_replacing_by_one_more_and_one_less_leaves_the_neighbours(table, tmp_path):
    model = model_of(table, tmp_path)
    for key in b"a", b"b", b"c":
        model.put(key, key * 9, False)
    for size in 9, 10, 9, 8, 9, 0, 1:
        model.put(b"b", b"x" * size, True)
        for key in b"a", b"b", b"c":
            model.get(key)
    model.check()


# The hash functions again, for many keys of one length at once, to find keys that collide.


def hash_65599(keys: np.ndarray) -> np.ndarray:
    total = np.zeros(len(keys), np.uint32)
    for column in keys.T:
        total = total * np.uint32(65599) + column
    return total


def hash_thompson(keys: np.ndarray) -> np.ndarray:
    state, tables = 0x1979, []
    for _ in range(16 + 64):
        for shift in (13, -17, 5):
            state ^= (state << shift if shift > 0 else state >> -shift) & 0xFFFFFFFF
        tables.append(state)
    by_four_bits, by_sum = np.array(tables[:63:-1], np.uint32), np.array(tables[63::-1], np.uint32)
    sums, total = np.zeros(len(keys), np.uint32), np.zeros(len(keys), np.uint32)
    for column in keys.T:
        for shift in (0, 4):
            sums = sums + by_four_bits[column >> shift & 15]
            total = total + by_sum[sums % 64]
    return total


def colliding(function) -> tuple[bytes, bytes]:
    """Two keys of eight bytes with the same 32 bits: by the birthdays of 400,000, of which some 19 pairs share one."""
    keys = np.random.default_rng(1991).integers(0, 256, (400_000, 8)).astype(np.uint32)
    hashes = function(keys)
    order = np.argsort(hashes, kind="stable")
    first = int(np.flatnonzero(np.diff(hashes[order]) == 0)[0])
    return tuple(bytes(keys[order[first + i]].astype(np.uint8)) for i in (0, 1))


@pytest.mark.parametrize(
    ("name", "page", "function"),
    [("dbm", 512, hash_thompson), ("ndbm", 1024, hash_thompson), ("sdbm", 1024, hash_65599)],
)
def test_a_page_is_the_limit(name, page, function, tmp_path):
    """Of a pair, and of all keys of one hash value; what is refused changes nothing, and what fits is there."""
    one, other = colliding(function)
    most = page - 2 - 4 - len(one)
    model = Model(name, f"bucket={page}", str(tmp_path / "table"))
    for number in range(50):
        model.put(f"word{number}".encode(), bytes(40), False)
    model.put(one, bytes(most), True)
    model.put(one, bytes(most + 1), True)
    assert model.expected[-1] == {failed(errno.EMSGSIZE)}
    model.put(one, bytes(page // 2), True)
    model.ask(f"put {one.hex()} {bytes(most).hex()} 0", failed(errno.EEXIST))
    for replace in 0, 1:
        model.ask(f"put {other.hex()} {bytes(page // 2).hex()} {replace}", failed(errno.ENOSPC))
    model.get(other)
    model.put(other, bytes(page // 4), False)
    # One that is there and becomes too long for both: the old one stays.
    model.ask(f"put {other.hex()} {bytes(page // 2).hex()} 1", failed(errno.ENOSPC))
    model.get(other)
    model.reopen()
    model.check()


def larson_family(count: int) -> list[bytes]:
    """Keys with one fold of Larson's (h = 101 h + c): two bytes are either (a, b + 101) or (a + 1, b)."""
    return [
        b"".join(bytes((65 + (n >> i & 1), 40 + 101 * (1 - (n >> i & 1)))) for i in range(count.bit_length()))
        for n in range(count)
    ]


def test_gdbm_has_no_limit_of_a_page_but_one_of_collisions(tmp_path):
    """A bucket of 256 bytes has ten elements: the eleventh key of one hash cannot be told from them by any split."""
    keys = larson_family(11)
    model = Model("gdbm", "bucket=256,cache=0", str(tmp_path / "table"))
    model.put(b"long", bytes(300_000), False)
    for number in range(40):
        model.put(f"other {number}".encode(), b"data", False)
    for key in keys[:10]:
        model.put(key, key * 3, False)
    model.ask(f"put {keys[10].hex()} 00 0", failed(errno.ENOSPC))
    model.get(keys[10])
    model.put(keys[3], b"another", True)
    model.remove(keys[4])
    model.put(keys[10], b"room", False)
    model.reopen()
    model.check()
    # It is one file, and one without holes.
    assert [path.name for path in tmp_path.iterdir()] == ["table"]


def test_dynahash_takes_any_number_of_colliding_keys():
    model = Model("dynahash", "fill=1", "-")
    for key in larson_family(300):
        model.put(key, key, False)
    model.check()


@pytest.mark.parametrize(("name", "error"), [("dbm", errno.EBUSY), ("hsearch", errno.EBUSY), ("ndbm", 0), ("sdbm", 0),
                                             ("gdbm", 0), ("dynahash", 0)])  # fmt: skip
def test_who_knows_one_table_only(name, error, tmp_path):
    path, other = ("-", "-") if name in IN_MEMORY else (tmp_path / "one", tmp_path / "other")
    lines = [f"open {name} {path} create -", "put 61 62 0", f"second {name} {other} -", "get 61", "close"]
    lines += [f"second {name} {other} -"]
    assert answers(lines) == ["0", "0", failed(error), "0 62", "0", "0"]


def test_hsearch_becomes_full_and_chains_do_not():
    for collisions in "double", "linear", "brent", "chain":
        model = Model("hsearch", f"nelem=64,collisions={collisions}", "-")
        for number in range(65):
            model.put(f"{number}".encode(), b"x", False)
        assert model.expected[-1] == ({"0"} if collisions == "chain" else {failed(errno.ENOSPC)})
        model.put(b"7", b"replaced", True)
        model.check()


def test_brent_makes_lookups_shorter():
    """Double hashing probes 1/a ln 1/(1 - a) times (Knuth 6.4); Brent's tables less than 2.5 times, however full."""
    program = compiled("brent", HERE / "brent.c", OTHERS / "system.c", *rest_of_systems())
    lines = subprocess.run([program], capture_output=True, text=True, check=True).stdout.splitlines()
    assert len(lines) == 4
    for line in lines:
        load, double, brent = map(float, line.split())
        assert double == pytest.approx(math.log(1 / (1 - load)) / load, rel=0.05)
        # Brent 1973: the begin of his series, whose further terms are some hundredths up to a load of 0.8.
        series = 1 + load / 2 + load**3 / 4 + load**4 / 15 - load**5 / 18
        assert brent < min(double, 2.5) and (load > 0.8 or brent == pytest.approx(series, rel=0.05)), line


def rest_of_systems() -> list[Path]:
    """All systems but hsearch, which brent.c has in itself."""
    return [path for path in (*OTHERS.glob("*.c"), *(OTHERS / "parts").glob("*.c"))
            if path.name not in ("hsearch.c", "system.c")]  # fmt: skip


@pytest.mark.parametrize("table", [table for table, (name, _) in TABLES.items() if name not in IN_MEMORY])
def test_a_damaged_file_is_an_error_and_no_crash(table, tmp_path):
    """Bytes are flipped or the file is cut: every call ends, with an errno or what it found."""
    name, options = TABLES[table]

    @EXAMPLES
    @given(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 10_000), st.integers(1, 255)), max_size=12),
           st.none() | st.integers(0, 5000))  # fmt: skip
    def damage(flips, length):
        model = model_of(table, tmp_path)
        for number in range(60):
            model.put(f"{number}".encode(), b"data", False)
        model.ask("close", "0")
        assert set(answers(model.lines)) == {"0"}
        paths = sorted(tmp_path.iterdir())
        for which, place, bits in flips:
            path = paths[which % len(paths)]
            content = bytearray(path.read_bytes())
            content[place % len(content)] ^= bits
            path.write_bytes(content)
        if length is not None:
            os.truncate(paths[-1], min(length, paths[-1].stat().st_size))
        used_although_damaged(name, options, tmp_path / "table")

    damage()


def used_although_damaged(name: str, options: str, path: Path) -> None:
    """Every call, on a table that may not even open: then each is EBADF."""
    calls = ["get 31", "scan 1", "scan 0", *(f"put {i:04x} 6162 1" for i in range(40)), "remove 32", "scan 1", "close"]
    errors = (0, errno.ENOENT, errno.EBADMSG, errno.EROFS, errno.ENOSPC, errno.EBADF)
    for how in "read", "write":
        for answer in answers([f"open {name} {path} {how} {options}", *calls]):
            assert answer in map(failed, errors) or answer.startswith(("pair ", "0 ")), answer
