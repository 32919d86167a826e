"""hashbench (user/chainhash/bench): its data, its tests on every system of this machine, what it counts and refuses."""

from __future__ import annotations

import hashlib
import json
import os
import statistics
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from lab.base.paths import TOP
from tests.hash.compiled import scratch

BENCH = TOP / "user" / "chainhash" / "bench"
TESTS = ["create", "read", "scattered", "verify", "keys", "pairs", "both", "memory"]
MIXES = list("abcdef")


@cache
def program() -> Path:
    """With what libraries there are, under ASan and UBSan (of which the libraries have nothing)."""
    output = scratch() / "hashbench"
    flags = "-O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all"
    subprocess.run(["make", "-s", "-C", BENCH, f"O={output}", f"CFLAGS={flags}"], check=True)
    return output / "hashbench"


@cache
def data() -> Path:
    folder = scratch() / "hashbench-data"
    arguments = ["--words", "1500", "--accounts", "60"]
    subprocess.run([sys.executable, BENCH / "makedata.py", folder, *arguments], check=True)
    return folder


def bench(*arguments: object, status: int = 0) -> subprocess.CompletedProcess:
    # Libraries keep what they have allocated to the end of a process, which leaves by _exit() anyway.
    environment = {**os.environ, "ASAN_OPTIONS": "detect_leaks=0"}
    command = [program(), *map(str, arguments)]
    result = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300, env=environment)
    assert result.returncode == status, result.stdout[-2000:] + result.stderr[-3000:]
    return result


def lines(*arguments: object, status: int = 0) -> list[dict]:
    return [json.loads(line) for line in bench(*arguments, status=status).stdout.splitlines()]


@cache
def systems() -> dict[str, set[str]]:
    """Each system of the build and its options."""
    found: dict[str, set[str]] = {}
    for line in bench("--list").stdout.splitlines():
        if line.startswith("    "):
            found[list(found)[-1]].add(line.split()[0])
        elif not line.startswith("absent: "):
            found[line.split()[0]] = set()
    return found


def test_the_same_seed_makes_the_same_data(tmp_path):
    """And what the text has: 24,474 words, all different; 300 accounts, whose names and user ids are no two the same."""
    for name, seed in (("one", 1991), ("again", 1991), ("other", 7)):
        subprocess.run([sys.executable, BENCH / "makedata.py", tmp_path / name, "--seed", str(seed)], check=True)
    one, again, other = ((tmp_path / name) for name in ("one", "again", "other"))
    for file in "dictionary", "passwd":
        assert (one / file).read_bytes() == (again / file).read_bytes() != (other / file).read_bytes()
    words = (one / "dictionary").read_text().split("\n")[:-1]
    assert len(words) == len(set(words)) == 24_474 and words == sorted(words)
    accounts = [line.split(":") for line in (one / "passwd").read_text().splitlines()]
    assert {len(account) for account in accounts} == {7} and len(accounts) == 300
    assert len({key for account in accounts for key in (account[0], account[2])}) == 600
    # Kept results name their data by the seed alone.
    digest = hashlib.sha256((one / "dictionary").read_bytes() + (one / "passwd").read_bytes()).hexdigest()
    assert digest[:16] == "398e0965c6bd2a1b"


@pytest.mark.turns(3)
def test_every_system_does_every_test(tmp_path):
    """All records are there and right, by key and in order; what a system has not is said, not left out."""
    for words, count in (("--words", 1500), ("--passwd", 120)):
        file = data() / ("dictionary" if words == "--words" else "passwd")
        said = lines(words, file, "--folder", tmp_path, "--runs", 1, "--tests", ",".join(TESTS))
        runs = [line for line in said if "run" in line]
        assert [(line["system"], line["test"]) for line in runs] == [(a, b) for a in systems() for b in TESTS]
        for line in runs:
            skipped = line.get("skipped")
            assert skipped in (None, "no tables in memory", "no tables on disk", "no scan")
            twice = line["test"] in ("both", "memory")
            assert skipped or line["operations"] == count * (2 if twice else 1), line
            assert skipped or not (line["missing"] or line["wrong"] or line["refused"] or "error" in line), line
            assert skipped or (line["bytes"] > 0) == (line["test"] != "memory"), line
        created = {line["system"] for line in runs if line["test"] == "create" and "skipped" not in line}
        assert created >= {"dbm", "ndbm", "sdbm", "gdbm"}
    assert not list(tmp_path.iterdir())


@pytest.mark.turns(4)
def test_mixes_by_threads(tmp_path):
    """Every operation is done; reads find what is there, inserts of the threads too."""
    arguments = ["--records", 600, "--operations", 1200, "--threads", "1,3", "--tests", ",".join(MIXES)]
    said = lines(*arguments, "--folder", tmp_path, "--runs", 1)
    for line in said:
        if "run" not in line:
            continue
        if "skipped" in line:
            assert line["skipped"] in ("no threads", "no threads that write", "no scan")
            assert line["skipped"] == "no scan" or line["threads"] == 3
        else:
            assert line["operations"] == 1200 and not line["missing"] and not line["wrong"], line
            assert "error" not in line and not line["refused"], line
    done = {(line["system"], line["test"], line["threads"]) for line in said if "runs" in line}
    assert {("dynahash", mix, 1) for mix in MIXES} | {("dynahash", "c", 3), ("hsearch", "c", 3)} <= done
    assert ("dynahash", "a", 3) not in done


def test_mixes_on_one_file(tmp_path):
    """With --loaded all mixes run on the file of create: what one has put is not there twice, and is found by a scan. With
    --locked threads take turns where the system has none; only then, and it is told."""
    arguments = ["--records", 600, "--operations", 1200, "--scans", 50, "--threads", "1,3", "--name", "some"]
    tests = ["create", *MIXES, "keys"]
    said = lines(*arguments, "--loaded", "--locked", "--tests", ",".join(tests), "--folder", tmp_path, "--runs", 1)
    for name in systems():
        runs = {line["case"]: line for line in said if "run" in line and line["system"] == name}
        assert list(runs) == ["some create", *(f"some {mix}, {n}" for mix in MIXES for n in ("1 thread", "3 threads")), "some keys"]  # fmt: skip
        on_disk = "skipped" not in runs["some create"]
        for case, line in runs.items():
            if "skipped" in line:
                assert not on_disk or line["skipped"] == "no scan"
                continue
            assert not line["missing"] and not line["wrong"] and "error" not in line and not line["refused"], line
            if line["test"] in MIXES:
                assert line["operations"] == (
                    48 if case == "some e, 3 threads" else 50 if line["test"] == "e" else 1200
                )
                assert (line["stored"] > 0) != on_disk, "a table in memory is loaded for each mix"
        # d and e insert one in twenty, by one thread and by three: 120 and 5 of them, all different.
        if on_disk:
            assert 600 + 125 - 45 < runs["some keys"]["operations"] < 600 + 125 + 45
    locked = {(line["system"], line["test"]) for line in said if line.get("locked")}
    assert all(line["threads"] == 3 for line in said if line.get("locked"))
    assert ("ndbm", "c") in locked and ("dynahash", "a") in locked and ("dynahash", "c") not in locked


def test_a_mix_needs_the_file_that_it_is_to_run_on(tmp_path):
    said = lines(
        "--records", 10, "--loaded", "--tests", "a", "--system", "ndbm", "--folder", tmp_path, "--runs", 1, status=1
    )
    assert said[0]["error"] == "No such file or directory"


def test_parts_are_numbered_over_all_processes(tmp_path):
    """As the lab's simulation of memory caches counts them; a test that is left out is none."""
    said = lines("--records", 50, "--folder", tmp_path, "--runs", 1, "--tests", "create,memory,read,c",
                 "--system", "ndbm", "--system", "sdbm", "--system", "dynahash")  # fmt: skip
    runs = [line for line in said if "run" in line and "skipped" not in line]
    assert [line["part"] for line in runs] == list(range(len(runs))) and len(runs) == 3 + 3 + 2
    assert all(abs(line["elapsed_ns"] - line["elapsed"] * 1e9) < 1000 for line in runs)
    assert [line["part"] for line in said if "runs" in line] == list(range(len(runs))), "of one run the medians are it"


def test_bytes_on_disk_are_told_by_the_byte_stored(tmp_path):
    said = lines("--records", 1000, "--folder", tmp_path, "--runs", 1, "--tests", "create,read", "--system", "ndbm")
    assert said[0]["disk_per_byte"] == pytest.approx(said[0]["disk_bytes"] / 116_000, abs=1e-6)
    assert "disk_per_byte" not in said[1]
    for line in said[:2]:
        assert line.get("wait", 0) == pytest.approx(max(line["elapsed"] - line["cpu"], 0), abs=2e-6)
    assert said[1]["operations_per_second"] == pytest.approx(1000 / said[1]["elapsed"], rel=0.05)


def test_zipf_draws_some_records_often():
    """In a table that has no room for all, reads of the popular first records find little less than the law says."""
    law = [rank**-0.99 for rank in range(1, 1001)]
    # Half of the records are refused by a table of half their number. Ranks are scattered by a permutation: 1 of 2 is there.
    said = lines("--records", 1000, "--operations", 20000, "--tests", "c", "--runs", 1,
                 "--system", "hsearch:nelem=512")  # fmt: skip
    refused, missing = said[0]["refused"], said[0]["missing"]
    assert refused == 1000 - 512
    factor = next(f for f in range(619, 3000, 2) if all(f % prime for prime in (2, 5)))
    expected = sum(weight for rank, weight in enumerate(law) if rank * factor % 1000 >= 512) / sum(law)
    assert missing / 20000 == pytest.approx(expected, abs=0.015)


def test_runs_are_in_turn_and_medians_are_medians(tmp_path):
    said = lines("--words", data() / "dictionary", "--folder", tmp_path, "--runs", 3, "--tests", "create,read",
                 "--system", "ndbm", "--system", "sdbm:bucket=512")  # fmt: skip
    runs, medians = [line for line in said if "run" in line], [line for line in said if "runs" in line]
    assert [(line["run"], line["system"]) for line in runs[::2]] == [
        (run, system) for run in (1, 2, 3) for system in ("ndbm", "sdbm:bucket=512")
    ]
    assert len(medians) == 4 and said[-4:] == medians
    for line in medians:
        own = [run for run in runs if (run["system"], run["test"]) == (line["system"], line["test"])]
        for name in "user", "sys", "elapsed", "cpu", "bytes":
            assert line[name] == pytest.approx(statistics.median(run[name] for run in own), abs=2e-6)


def test_what_is_set_reaches_those_who_have_it(tmp_path):
    """A file is of whole buckets (and a block of bits); the one behind a system's name goes first."""
    arguments = ["--words", data() / "dictionary", "--folder", tmp_path, "--runs", 1, "--tests", "create"]
    said = lines(*arguments, "--set", "bucket=16384,fill=4", "--system", "ndbm", "--system", "ndbm:bucket=256",
                 "--system", "dynahash")  # fmt: skip
    large, small, none = said[:3]
    assert large["bytes"] % 16384 == 4096 and small["bytes"] % 16384 != 4096 and small["bytes"] % 256 == 0
    assert none["skipped"] == "no tables on disk"


def test_limits_are_counted(tmp_path):
    """Pairs of a passwd line fit no page of 64 bytes: refused, missing when they are read, and no failure."""
    said = lines("--passwd", data() / "passwd", "--folder", tmp_path, "--runs", 1, "--tests", "create,read",
                 "--system", "ndbm:bucket=64")  # fmt: skip
    assert 60 <= said[0]["refused"] == said[1]["missing"] <= 120


def test_a_failure_is_status_1(tmp_path):
    """No folder; a table that is lost between two tests is not found again."""
    said = lines("--records", 10, "--folder", tmp_path / "nowhere", "--runs", 1, "--system", "ndbm", status=1)
    assert said[0]["error"] == "No such file or directory" and not [line for line in said if "runs" in line]


def test_a_process_that_dies_is_a_failure(tmp_path):
    """Of a run that ends by a signal (a file may have 3,000 bytes) what it did is told, and what it did not come to."""
    command = f"ulimit -f 3; exec {program()} --words {data()}/dictionary --folder {tmp_path} --runs 1 --system ndbm --tests memory,create,read"
    result = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False, timeout=60)
    memory, create, read = map(json.loads, result.stdout.splitlines())
    assert result.returncode == 1 and "ended by signal" in result.stderr
    assert "skipped" in memory and create["error"] == read["error"] == "No child processes"


@pytest.mark.parametrize(("test", "count"), [("verify", "wrong"), ("keys", "missing"), ("pairs", "missing")])
def test_wrong_and_missing_records_are_a_failure(test, count, tmp_path):
    """Of a word that comes twice the first number is replaced, and the table has one record less than the file."""
    words = tmp_path / "words"
    words.write_text("one\ntwo\none\n")
    arguments = ["--words", words, "--folder", tmp_path, "--runs", 1, "--system", "ndbm"]
    assert not lines(*arguments, "--tests", "create,read")[1]["missing"]
    assert lines(*arguments, "--tests", f"create,{test}", status=1)[1][count] == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "one of --words, --passwd and --records"),
        (["--records", "5", "--words", "x"], "one of --words, --passwd and --records"),
        (["--records", "0"], "a number from 1 to"),
        (["--records", "5", "--tests", "craete"], "craete: no such test"),
        (["--records", "5", "--tests", "create,,read"], "nothing between two commas"),
        (["--records", "5", "--system", "nbdm"], "nbdm: no such system"),
        (["--records", "5", "--system", "ndbm:bucket=63"], "bucket is 64 to 32768"),
        (["--records", "5", "--system", "ndbm:fill=3"], "ndbm has no option 'fill'"),
        (["--records", "5", "--system", "hsearch:collisions=x"], "collisions is double|linear|brent|chain"),
        (["--records", "5", "--set", "bucket=7"], "bucket is"),
        (["--records", "5", "--zipf", "1"], "but not 1"),
        (["--records", "5", "--threads", "65"], "from 1 to 64"),
        (["--records"], "the value is missing"),
        (["--records", "5", "--name", 'a "b"'], "letters without quotation marks"),
        (["--records", "5", "--scans", "0"], "a number from 1"),
        (["--recrods", "5"], "no such option"),
        (["--words", "/nowhere"], "/nowhere: No such file"),
        (["--words", "/dev/null"], "no word in it"),
        (["--passwd", "/dev/null"], "no account in it"),
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_refused(arguments, said):
    result = bench(*arguments, status=2)
    assert said in result.stderr and not result.stdout


def test_the_build_without_libraries(tmp_path):
    """A static program of musl, as it runs on Chainwalk: the text's systems, and the adapters are told as absent."""
    output = tmp_path / "static"
    arguments = [f"O={output}", "CC=musl-gcc", "STATIC=y", "ADAPTERS=libc_hsearch"]
    subprocess.run(["make", "-s", "-C", BENCH, *arguments], check=True)
    listed = subprocess.run([output / "hashbench", "--list"], capture_output=True, text=True, check=True).stdout
    absent = [line.split()[1] for line in listed.splitlines() if line.startswith("absent: ")]
    assert [name for name in absent if name != "chainhash"] == [
        "gdbm-ndbm",
        "apr-sdbm",
        "libgdbm",
        "berkeley-db",
        "tdb",
        "lmdb",
        "tokyo-cabinet",
    ]
    assert "\nlibc-hsearch " in listed and listed.startswith("dbm ")
