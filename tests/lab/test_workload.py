"""The workload program: the same operations on Linux and here by the same seed, faults told, nothing left behind."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

from lab.base import offspring
from lab.base.paths import TOP, LabError, output_folder
from lab.guest import workloads
from lab.guest.sourcetree import archive, tree
from lab.run import machine

LOADS = "sdm sdet files lat readdir mkstemp maildir tree miss change listing programs collide".split()

# Every load that needs nothing of an image, in a size of which a debug kernel makes short work.
SMALL = [
    "files --files 400 --depth 1 --operations 1500 --processes 3 --seed 9",
    "files --files 300 --depth 2 --width 5 --operations 800 --name-style mail --access-share 50 --cold",
    "files --files 200 --depth 0 --operations 300 --name-style hash --mix create=3,remove=2,readdir=1",
    "lat --calls 20",
    "readdir --entries 10,300 --passes 3",
    "mkstemp --entries 10,300 --calls 30 --seed 4",
    "maildir --messages 20,50 --mailboxes 3 --operations 40",
    "tree --files 200 --depth 2 --width 4 --passes 1 --cold",
    "change --depths 0,1,3 --files 12 --repeat 1",
    "listing --entries 10,100 --requests 2",
]

needs_packages = pytest.mark.skipif(not shutil.which("apt-get"), reason="no apt on this machine")


def results(output: bytes) -> list[dict]:
    """The JSON lines of what was printed."""
    return [json.loads(line) for line in output.decode(errors="replace").splitlines() if line.startswith("{")]


def on_host(*arguments, status=0, **options) -> subprocess.CompletedProcess:
    command = [str(output_folder() / "user" / "workload"), *map(str, arguments)]
    result = offspring.run(command, timeout=300, **options)
    assert result.returncode == status, result.stderr.decode()
    return result


@pytest.fixture
def host(tmp_path) -> Path:
    """An empty folder of the host."""
    folder = tmp_path / "host"
    folder.mkdir()
    return folder


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "Usage: workload LOAD"),
        (["smd"], "there is no load 'smd'"),
        (["sdm", "--script", "3"], "no such option"),
        (["sdm", "--scripts"], "the value is missing"),
        (["sdm", "--scripts", "0"], "from 1 to 128"),
        (["sdm", "--scripts", "129"], "from 1 to 128"),
        (["sdm", "--scripts", "1,,2"], "no number"),
        (["sdm", "--scripts", "-1"], "no number"),
        (["sdm", "--scripts", ",".join("1" * 40)], "at most 32"),
        (["sdm", "--size", "big"], "small|cpu|io"),
        (["sdm", "--seed", "1x"], "a number"),
        (["sdm", "--seed", "99999999999999999999999"], "no number"),
        (["sdm", "--keep=1"], "takes no value"),
        (["sdm", "16"], "All arguments are options"),
        (["sdm", "--source", "/nowhere"], "--image sdm"),
        (["sdet", "--threads", "0"], "from 1 to 128"),
        (["files", "--mix", "lookup"], "NAME=WEIGHT"),
        (["files", "--mix", "lookup=1,mkdir=2"], "no such operation. There are lookup, read"),
        (["files", "--mix", "lookup=x"], "the weight is a number"),
        (["files", "--mix", "lookup=0,read=0"], "no operation has a weight"),
        (["files", "--files", "50"], "50 files in 100 folders"),
        (["files", "--files", "51000001"], "from 1 to 50000000"),
        (["files", "--files", "99999999999G"], "too much"),
        (["files", "--name-style", "big"], "short|long|numbered|mail|hash"),
        (["lat", "--only", "stat 3-comp"], "no case is called so"),
        (["tree", "--walks", "find,ls"], "there are find, du, read and rm"),
        (["tree", "--tree", "/nowhere"], "No such file"),
        (["readdir", "--entries", "0"], "from 1 to"),
        (["maildir", "--messages", "10,"], "no number"),
        (["change", "--depths", "4", "--files", "3"], "3 files in 8 folders"),
        (["listing", "--requests", "0"], "from 1 to"),
        (["programs", "--only", "find,gcc", "--source", "/nowhere"], "--source /nowhere: No such file"),
        (["programs", "--only", "gcc"], "no program is called so"),
    ],
)
def test_wrong_arguments(arguments, said):
    assert said in on_host(*arguments, status=2).stderr.decode()


def test_help():
    text = on_host("--help").stdout.decode()
    for load in LOADS:
        assert f"  {load} " in text
        its = on_host(load, "--help").stdout.decode()
        assert its.startswith(f"Usage: workload {load} ") and "--seed N" in its and "Exit status" in its
    assert "--scripts N,..." in on_host("sdm", "--help").stdout.decode()


def test_image_names(cw):
    wrong = cw("run", "--image", "sdn", "--", "true")
    assert wrong.returncode == machine.ERROR and b"no image 'sdn'" in wrong.stderr and b"  sdm " in wrong.stderr
    assert b"--image" in cw("list", "image").stdout
    with pytest.raises(LabError, match="There are"):
        workloads.find("")


def test_random_numbers(tmp_path):
    """xoshiro256**'s reference values from the state 1, 2, 3, 4; the exponential distribution's mean and its share
    above it; each digit as often as the others within five deviations; a permutation."""
    program = tmp_path / "random"
    sources = [TOP / "tests/lab/random_numbers.c", TOP / "user/workload/common.c"]
    subprocess.run(["cc", "-std=gnu11", "-I", TOP, "-o", program, *sources], check=True)
    words = subprocess.run([program], capture_output=True, text=True, check=True).stdout.split()
    assert words[:4] == ["11520", "0", "1509978240", "1215971899390074240"]
    assert float(words[4]) == pytest.approx(4096, rel=0.01)
    assert float(words[5]) == pytest.approx(0.3679, abs=0.005)
    assert all(abs(int(count) - 20000) < 5 * 134 for count in words[6:16])
    assert words[16] == str(99 * 100 // 2)


def of_any_time(line: dict) -> dict:
    """What of a result has nothing to do with time, nor with this kernel's counters."""
    times = ("_ns", "ns_", "_per_", "counters")
    return {key: value for key, value in line.items() if not any(part in key for part in times)}


@pytest.mark.turns(4)
def test_the_same_operations_here_and_on_linux(cw_run, host):
    """Each load by the same seed: the same cases, counts and checksums of operations; and nothing is left."""
    script = "cd /var/tmp; " + "; ".join(f"workload {load} 2>/dev/null || exit" for load in SMALL) + "; ls -A"
    here = cw_run(script=script, timeout=240)
    linux = [line for load in SMALL for line in results(on_host(*load.split(), "--dir", host).stdout)]
    assert len(linux) > 40 and not list(host.iterdir())
    assert [of_any_time(line) for line in results(here.output)] == [of_any_time(line) for line in linux]
    assert not any("counters" in line for line in linux)
    assert len(here.output.splitlines()) == len(linux), here.output[-500:]
    other = results(on_host(*SMALL[0].split()[:-1], "10", "--dir", host).stdout)
    assert other[0]["digest"] != linux[0]["digest"]


@pytest.mark.parametrize(("processes", "shown"), [(1, "%n %a %s"), (2, "%n %s")])
def test_the_same_tree_here_and_on_linux(cw_run, host, processes, shown):
    """What files leaves with --keep: names, sizes, links; and modes, but which of two processes changes one last is chance."""
    load = f"files --files 500 --depth 1 --operations 3000 --processes {processes} --keep"
    tree = f"find . -type f -exec stat -c '{shown}' {{}} + | sort; find . -type l -exec readlink {{}} ';' | sort"
    here = cw_run(script=f"cd /var/tmp; workload {load} 2>/dev/null >&2; cd workload/set && {{ {tree}; }}").output
    on_host(*load.split(), "--dir", host)
    linux = subprocess.run(tree, shell=True, cwd=host / "workload/set", capture_output=True, check=True).stdout
    assert len(linux.splitlines()) > 480
    assert here.decode().splitlines() == linux.decode().splitlines()


def test_loads_are_repeatable(cw_run):
    script = "cd /var/tmp; " + "; ".join(f"workload {load} || exit" for load in (SMALL[0], *SMALL[3:]))
    first, second = (cw_run(script=script, icount=True, debug=False).output for _ in range(2))
    assert len(results(first)) == 50
    assert first == second


def test_counters_are_of_the_measured_part_alone(cw_run):
    """20 calls of stat in a case of lat look a dentry up for each component, whatever the case before did."""
    script = "workload lat --calls 20; workload files --files 400 --depth 1 --operations 50 --cold; cat /proc/hash/dentry.json"
    *lines, last = results(cw_run(script=script, icount=True, debug=False).output)
    assert all(list(line["counters"]) == ["page", "buffer", "inode", "dentry"] for line in lines)
    counted = {
        line["case"]: {name: of["hits"] + of["misses"] for name, of in line["counters"].items()} for line in lines
    }
    assert counted["null call"] == {"page": 0, "buffer": 0, "inode": 0, "dentry": 0}
    assert counted["read 4K"]["page"] > 0 == counted["read 4K"]["buffer"]
    cold = lines[-1]["counters"]
    assert cold["inode"]["misses"] > 10 and cold["buffer"]["misses"] > 10, "they had been dropped"
    assert sum(one["dentry"] for one in counted.values()) < last["lookups"]


def test_calls_are_measured_above_one_that_does_nothing(host):
    """Whatever --only leaves of them."""
    found = {line["case"]: line for line in results(on_host("lat", "--only", "comp", "--dir", host).stdout)}
    assert {"stat 8-comp", "open 1-comp", "fstatat 1-comp", "openat 1-comp"} <= set(found) and "null call" not in found
    assert all(0 < line["ns_over_null"] < line["ns_per_call"] for line in found.values())


def test_each_change_is_measured_alone(cw_run):
    """A rename looks the folder up by both of its names, whatever lies below it; the lookups around it do not count."""
    script = "workload change --depths 0,1,3 --files 1,40 --repeat 2"
    lines = results(cw_run(script=script, icount=True, debug=False).output)
    assert len(lines) == 2 * 2 * (1 + 2 + 2) and [line["part"] for line in lines] == list(range(len(lines)))
    assert len({line["case"] for line in lines}) == len(lines) / 2
    for line in lines:
        assert sum(line["counters"]["dentry"][name] for name in ("hits", "misses")) <= 2, line
        assert line["descendants"] in (0, 1, 40) and 0 < line["ns_per_call"] < 100_000
        assert ("ns_per_next_lookup" in line) == (line["descendants"] > 0)


def test_a_walk_that_warms_up_is_not_told(host):
    load = "tree --walks find,du --passes 1 --files 60 --depth 1 --warm-up".split()
    assert [(line["case"], line["part"]) for line in results(on_host(*load, "--dir", host).stdout)] == [("find 1", 1), ("du 1", 3)]  # fmt: skip


@needs_packages
def test_real_programs_on_a_tree(cw_run, tmp_path):
    """Each so often, of the tree that was made; one that fails is named with its words, and nothing stays."""
    (tmp_path / "source.tar.gz").write_bytes(archive(tree(1, 90)))
    script = (
        "workload programs --passes 2 --only 'find,tar xzf,rm -r,du -s,updatedb,git status,git diff' 2>/dev/null || exit; "
        "workload programs --cold --passes 1 --only du,find 2>/dev/null; rm /usr/bin/du; workload programs --only 'du -s'; echo $?; ls -A /var/tmp"
    )
    run = cw_run(script=script, image="programs", icount=True, debug=False, add=[f"{tmp_path}/source.tar.gz:/usr/src/source.tar.gz"])  # fmt: skip
    lines = results(run.output)
    names = ["find", "tar xzf", "rm -r", "du -s", "updatedb", "git status", "git diff"]
    assert [line["case"] for line in lines] == [*(name for name in names for _ in range(2)), "find"]
    counted = {line["case"]: line["counters"]["dentry"] for line in lines[:-1]}
    assert counted["du -s"]["hits"] > 90 and counted["du -s"]["misses"] == 0, "warm: it asks for each file"
    assert counted["find"]["hits"] < 90 < counted["rm -r"]["hits"], "find believes what the folders say"
    assert counted["tar xzf"]["misses"] > 90, "what it makes is not there"
    assert lines[-1]["counters"]["inode"]["misses"] > 0, "cold: inodes had been dropped"
    said = run.output.decode().split("workload: ")[-1]
    assert said.split("\n")[0].startswith("'du -s tree' ended with status 127; it said: du: No such file")
    assert said.split()[-1] == "1", "nothing is left below /var/tmp"


def test_a_miss_costs_more_than_a_hit(cw_run):
    """On a disk that is timed: what is read from it costs milliseconds, what is cached microseconds.

    The full kernel lists a complete directory from memory: there its block is not missed.
    """
    run = cw_run(["workload", "miss", "--objects", "40"], icount=True, debug=False, full=True, disk_model="cheetah")
    found = {line["case"]: line for line in results(run.output)}
    assert len(found) == 9
    for name, line in found.items():
        slow = name.endswith(("on disk", "page miss"))
        assert (line["ns_per_call"] > 1e6) == slow, line
        assert "more_ns" not in line or line["more_ns"] > 0 or name == "buffer miss"
    assert found["dentry miss, blocks cached"]["more_ns"] > found["dentry hit"]["ns_per_call"]


def test_an_ordinary_user(cw_run):
    """Anyone may run a load; to drop the caches takes root, and the message says so."""
    script = (
        "cd /; workload tree --files 50 --depth 1 && ! workload miss && ! workload lat --dir /root && ls -A /var/tmp"
    )
    said = cw_run(script=script, user="user").output.decode()
    assert len(results(said.encode())) == 7
    assert "root only" in said and "no folder can be made in /root" in said
    assert "workload\r\n" not in said


def test_a_full_disk(cw_run):
    script = "workload files --files 100000 --size-mean 0; s=$?; ls -A /var/tmp; df -i / | awk 'NR == 2 { print $3 }'; exit $s"
    said = cw_run(script=script, icount=True, debug=False, status=1).output.decode()
    assert "--ext2-free" in said and not results(said.encode())
    assert int(said.split()[-1]) < 1000  # inodes in use


def start_on_host(folder, *arguments) -> subprocess.Popen:
    """A load on the host, when its folder is there."""
    command = [str(output_folder() / "user" / "workload"), *arguments, "--dir", str(folder)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    for _ in range(1000):
        if list(folder.glob("workload/set/d*")):
            return process
        time.sleep(0.01)
    process.kill()
    raise AssertionError(process.communicate())


def group_of(parent: int) -> list[int]:
    """The processes in the group of a process's only child."""
    child = Path(f"/proc/{parent}/task/{parent}/children").read_text().split()[0]
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            words = stat.read_text().rpartition(")")[2].split()
            if words[2] == child and words[0] != "Z":
                found.append(int(stat.parent.name))
    return found


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_cleans_up(host, number):
    process = start_on_host(host, "files", "--files", "2000000")
    assert group_of(process.pid)
    process.send_signal(number)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == -number and not out
    assert not list(host.iterdir())


def test_a_load_that_is_killed(host):
    """Its supervisor says so, and cleans up."""
    process = start_on_host(host, "files", "--files", "2000000")
    os.kill(group_of(process.pid)[0], signal.SIGKILL)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 1 and b"ended by signal 9" in said
    assert not list(host.iterdir())


def test_folders_do_not_collide(host):
    """Two at once in one place; what was there before stays."""
    (host / "workload").mkdir()
    (host / "workload" / "mine").touch()
    on_host("readdir", "--entries", "10", "--dir", host)
    assert [path.name for path in host.rglob("*")] == ["workload", "mine"]


def test_progress(host):
    """None into a file unless wanted; never in the way of the results."""
    quiet = on_host("tree", "--files", "50", "--depth", "1", "--dir", host)
    assert quiet.stderr == b""
    loud = on_host("files", "--operations", "200000", "--dir", host, "--progress")
    assert b"workload files: " in loud.stderr and b"%)" in loud.stderr
    assert len(loud.stdout.splitlines()) == len(results(loud.stdout)) == 1


@needs_packages
def test_sdm_is_repeatable_and_leaves_nothing(cw_run):
    """Twice under --icount: the same to the byte, the clock's nanoseconds included."""
    script = "workload sdm --scripts 2,1 --steps 14 --seed 5 2>/dev/null; ls -A /var/tmp"
    options = {"script": script, "image": "sdm", "icount": True, "debug": False}
    first, second = (cw_run(**options).output for _ in range(2))
    assert first == second
    two, one = results(first)
    assert [two["case"], one["case"]] == ["2 scripts", "1 script"]
    assert (two["steps"], one["steps"], two["scripts"], two["seed"]) == (28, 14, 2, 5)
    assert two["scripts_per_hour"] == pytest.approx(2 * 3600e9 / two["elapsed_ns"], rel=1e-6)
    assert len(first.splitlines()) == 2


@needs_packages
def test_sdm_runs_so_often_and_warms_up_before(cw_run):
    script = "workload sdm --scripts 2,1 --steps 6 --repeat 2 --warm-up 3 --seed 5 2>/dev/null"
    lines = results(cw_run(script=script, image="sdm", icount=True, debug=False).output)
    assert [(line["scripts"], line["run"], line["part"]) for line in lines] == [
        (2, 1, 0),
        (2, 2, 1),
        (1, 1, 2),
        (1, 2, 3),
    ]
    digests = [line["digest"] for line in lines]
    assert digests[0] == digests[1] != digests[2] == digests[3], "the scripts are the same each time"
    script = "workload sdm --scripts 2,1 --steps 6 --seed 5 2>/dev/null"
    alone = results(cw_run(script=script, image="sdm", icount=True, debug=False).output)
    assert [line["digest"] for line in alone] == [digests[0], digests[2]]


@pytest.mark.turns(4)
def test_sdm_is_the_same_on_linux(cw_run):
    """The same plan by the same seed, and the same tree at the end."""
    script = (
        "workload sdm --scripts 2 --seed 3 --keep 2>/dev/null && cd /var/tmp/workload && "
        "find . -not -type d -exec ls -l {} + | awk '{ print $1, $3, $9, $NF }' | sort && "
        "find . -type f -not -name listing -not -name counts -not -name '*.diff' -not -name objects "
        "-not -name src.tar -exec sha256sum {} + | sort"
    )
    here = cw_run(script=script, image="sdm", debug=False)
    linux = cw_run(script=script, image="sdm", debug=False, kernel="linux", timeout=300)
    (ours,), (theirs,) = results(here.output), results(linux.output)
    assert ours["digest"] == theirs["digest"] and ours["steps"] == theirs["steps"]
    trees = [run.output.decode().splitlines()[1:] for run in (here, linux)]
    assert len(trees[0]) > 150
    assert trees[0] == trees[1]


@needs_packages
def test_a_step_that_fails_is_named(cw_run):
    run = cw_run(
        script="rm /usr/bin/mandoc; workload sdm --scripts 2; s=$?; ls -A /var/tmp; exit $s", image="sdm", status=1
    )
    said = run.output.decode()
    assert "mandoc: ended with status 127" in said and "the step: mandoc -T ascii doc/lua.1" in said
    assert not results(run.output) and "workload\n" not in said.replace("\r", "")


@needs_packages
def test_a_signal_ends_sdm_and_all_it_started(cw_run):
    script = "timeout -s INT 1 workload sdm --scripts 4 --steps 1000; echo status $?; ls -A /var/tmp; ps -o comm | grep -c workload"
    lines = cw_run(script=script, image="sdm", status=1).output.decode().split()
    assert lines[-3:] == ["status", "130", "0"]
