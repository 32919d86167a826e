"""Interleavings: each program of hosted/interleave by fixed seeds, and the run-time itself by toys with planted defects.

The ring is built once, under a lock, into build/<name>-interleave. docs/testing.md says how to see a seed again.
"""

from __future__ import annotations

import fcntl
import os
import re
import subprocess
from pathlib import Path

import pytest

from lab.base.paths import TOP, output_folder

RING = TOP / "hosted" / "interleave"
OUTPUT = output_folder().parent / f"{output_folder().name}-interleave"
PROGRAMS = [
    name
    for source in sorted([*RING.glob("programs/**/*.c"), *RING.glob("toys/*.c")])
    for name in re.findall(r"^RING_PROGRAM\((\w+),", source.read_text(), re.MULTILINE)
]
# What is another there: the locks of these lookups, and whose counts those are.
OTHERS = [name for name in PROGRAMS if name.startswith(("buffers_", "inodes_", "percpu_"))]
# What the rooms of the dentry cache change: lookups, and what stays of a name.
NAMES = [name for name in PROGRAMS if name.startswith(("complete_", "negative_", "lockless_"))]
# What is there only with direct lookup, or what that has to know.
DIRECT = [name for name in PROGRAMS if name.startswith(("direct_", "labels_"))]
# In which entries come and go while others look for them: with another structure of the table, and two paths of a file, too.
TAGGED = [
    f"direct_{name}"
    for name in ("replaced", "each_once", "reclaim", "evicted", "both_move", "both_renamed", "two_ways")
]
# In which mounts, and names above, change: with names that are compared, through mounts, in place of signatures.
COMPARED = [f"direct_{name}" for name in ("unbound", "mount_above", "mount_below", "bind", "rename_above")]
# In which names get another place among a directory's children while all below is visited: a listing gives it only there.
BESIDE = [name for name in PROGRAMS if re.match(r"direct_\w+_beside_", name)]
KERNEL = [name for name in PROGRAMS if not name.startswith(("toy_", "table_", "direct_"))]
# Of what is rare: enough that each mend of tests/mutants/mend-0*, taken out, is found.
RUNS = {
    "frames_tmpfs": 4000,
    "frames_read": 1500,
    "map_behind_end": 5000,
    "swap_stores": 10000,
    "shmem_reserved": 1500,
    "shmem_cut": 2500,
    "shmem_gone": 4000,
    "fsync_meets": 6000,
    "sync_meets": 2500,
    "map_extend": 2000,
    "threads_copy": 4000,
    "inode_changes": 2500,
    "inodes_evicted": 2500,
    "device_written": 1500,
    "device_read_beside_pointers": 2500,
    "buffers_let_go": 6000,
    "buffers_evicted": 1200,
    "buffers_of_files": 1200,
    "buffers_beside": 1200,
    "lockless_evict": 2500,
    "lockless_reclaim": 5000,
    "lockless_replaced": 1200,
    "lockless_umount": 3000,
    "rcu_many": 1500,
    "direct_start_moves": 1500,
    "direct_evicted": 1500,
    "direct_moved_meanwhile": 1500,
    "direct_exchange_above": 1200,
    "direct_new_names_below": 8000,
    "direct_chmod_beside_rename": 2000,
    "direct_rename_beside_rename": 4000,
    "direct_chmod_beside_listing": 3000,
    "complete_evict": 1500,
    "complete_fill": 1200,
    "complete_number": 1200,
}
USUAL_RUNS = 600

# What each toy's defect looks like when it is found; and where the other task was.
PLANTED = {
    "toy_counter": ("data race on static data", "count_plain"),
    "toy_lost": ("counter is 1, not 2", ""),
    "toy_late_lock": ("counter is 1, not 2", ""),
    "toy_two_locks": ("data race on static data", "count_other"),
    "toy_no_release": ("data race on static data", "publish_too_early"),
    "toy_lost_wakeup": ("deadlock: all tasks wait", "await_badly"),
    "table_moved": ("data race on", "toy_table_insert"),
    "table_removed": ("data race on", "toy_table_remove"),
    "toy_freed": ("of memory of kmalloc()", "drop_box"),
    "toy_no_fence": ("seen_first || seen_second", ""),
    "toy_released": ("seen_first || seen_second", ""),
    "toy_one_fence": ("seen_first || seen_second", ""),
}


def build(output: Path, *choices: str) -> Path:
    """The program, built: one at a time."""
    output.mkdir(parents=True, exist_ok=True)
    environment = {key: value for key, value in os.environ.items() if key not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")}
    command = ["make", "-f", "hosted/interleave/interleave.mk", f"-j{os.cpu_count() or 1}", *choices]
    command += [f"HOSTED_O={os.path.relpath(output, TOP)}"]
    with (output / ".lock").open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        built = subprocess.run(command, cwd=TOP, env=environment, capture_output=True, text=True, check=False)
    assert built.returncode == 0, f"the ring does not build:\n{built.stdout[-3000:]}\n{built.stderr[-3000:]}"
    return output / "ring"


@pytest.fixture(scope="session")
def ring() -> Path:
    """With all that is looked up without locks."""
    return build(OUTPUT)


@pytest.fixture(scope="session")
def other_ring() -> Path:
    """Pages, buffers and dentries with the locks of buckets; inodes without, for whose sake alone they wait for readers. Counts
    that are shared out to CPUs."""
    choices = ["HOSTED_SET=DENTRY_LOCK=bucket INODE_LOCK=sequence NAME_HASH=linux-2.2"]
    choices += ["HOSTED_ROOMS=SWAP=y XATTR=y OPENAT2=y FALLOCATE=y PERCPU_COUNTS=y"]
    return build(OUTPUT.with_name(f"{OUTPUT.name}-other"), *choices)


DIRECT_ROOMS = "SWAP=y XATTR=y OPENAT2=y FALLOCATE=y DCACHE_FASTPATH=y DCACHE_SYMLINK_ALIAS=y DCACHE_NEGATIVE=y MOUNT_NS=y SECURITY_LABELS=y PREFIX_KB=1"


@pytest.fixture(scope="session")
def direct_ring() -> Path:
    """As the first, with direct lookup: a form of its own, since what is found so is not walked, which the others are for."""
    return build(OUTPUT.with_name(f"{OUTPUT.name}-direct"), f"HOSTED_ROOMS={DIRECT_ROOMS}")


@pytest.fixture(scope="session")
def tagged_ring() -> Path:
    """That, with tagged buckets, two of them, so that some entries are in their chains; and a path by each of two mounts."""
    return build(
        OUTPUT.with_name(f"{OUTPUT.name}-tagged"), f"HOSTED_ROOMS={DIRECT_ROOMS} PATH_TABLE=tagged DIRECT_PATHS=2"
    )


@pytest.fixture(scope="session")
def compared_ring() -> Path:
    """Direct lookup by names that are compared, without aliases."""
    rooms = DIRECT_ROOMS.replace("DCACHE_SYMLINK_ALIAS=y ", "")
    return build(OUTPUT.with_name(f"{OUTPUT.name}-compared"), f"HOSTED_ROOMS={rooms} PATH_SIGNATURE=text")


@pytest.fixture(scope="session")
def listed_ring() -> Path:
    """Direct lookup with complete directories."""
    return build(OUTPUT.with_name(f"{OUTPUT.name}-listed"), f"HOSTED_ROOMS={DIRECT_ROOMS} DCACHE_COMPLETE=y")


@pytest.fixture(scope="session")
def names_ring() -> Path:
    """Complete directories, and more negative dentries."""
    rooms = "SWAP=y XATTR=y OPENAT2=y FALLOCATE=y DCACHE_COMPLETE=y DCACHE_NEGATIVE=y"
    return build(OUTPUT.with_name(f"{OUTPUT.name}-names"), f"HOSTED_ROOMS={rooms}")


def run(ring: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(ring), *arguments], capture_output=True, text=True, timeout=3000, check=False)


def passes(ring: Path, program: str, runs: int) -> None:
    """Nothing goes wrong, and nothing races, in so many schedules."""
    result = run(ring, program, "--runs", str(runs))
    assert result.returncode == 0 and f"ok {program}:" in result.stdout, (result.stdout + result.stderr)[-8000:]
    print(result.stdout)


@pytest.mark.turns(8)
@pytest.mark.parametrize("program", KERNEL)
def test_program(ring, program):
    passes(ring, program, RUNS.get(program, USUAL_RUNS))


@pytest.mark.builds("the ring in the other form")
@pytest.mark.turns(2)
@pytest.mark.parametrize("program", OTHERS)
def test_program_in_the_other_form(other_ring, program):
    passes(other_ring, program, USUAL_RUNS)


@pytest.mark.builds("the ring with direct lookup")
@pytest.mark.turns(2)
@pytest.mark.parametrize("program", DIRECT)
def test_program_with_direct_lookup(direct_ring, program):
    passes(direct_ring, program, RUNS.get(program, USUAL_RUNS))


@pytest.mark.builds("the ring with tagged buckets")
@pytest.mark.turns(2)
@pytest.mark.parametrize("program", TAGGED)
def test_program_with_tagged_buckets(tagged_ring, program):
    passes(tagged_ring, program, RUNS.get(program, USUAL_RUNS))


@pytest.mark.builds("the ring with names compared")
@pytest.mark.parametrize("program", COMPARED)
def test_program_with_names_compared(compared_ring, program):
    passes(compared_ring, program, RUNS.get(program, USUAL_RUNS))


@pytest.mark.builds("the ring with direct lookup and complete directories")
@pytest.mark.parametrize("program", BESIDE)
def test_program_with_direct_lookup_of_what_is_listed(listed_ring, program):
    passes(listed_ring, program, RUNS.get(program, USUAL_RUNS))


@pytest.mark.builds("the ring with complete directories")
@pytest.mark.turns(2)
@pytest.mark.parametrize("program", NAMES)
def test_program_with_complete_directories(names_ring, program):
    passes(names_ring, program, RUNS.get(program, USUAL_RUNS))


@pytest.mark.turns(3)
@pytest.mark.parametrize("toy", PLANTED)
def test_planted_defect_is_found(ring, toy):
    """It is found, by a seed that shows it again, point by point the same."""
    message, place = PLANTED[toy]
    found = run(ring, toy, "--runs", "2000")
    seed = re.search(r"--seed (\d+:\d+)$", found.stdout, re.MULTILINE)
    assert found.returncode == 1 and seed, found.stdout + found.stderr
    assert message in found.stderr and place in found.stderr, found.stderr
    first, again = (run(ring, toy, "--seed", seed[1], "--trace") for _ in range(2))
    assert first.returncode == 1 and message in first.stderr, first.stdout + first.stderr
    assert first.stdout == again.stdout and first.stderr == again.stderr
    assert len(first.stdout.splitlines()) > 2


@pytest.mark.parametrize("toy", [name for name in PROGRAMS if name.startswith("toy_") and name not in PLANTED])
def test_correct_toy_is_quiet(ring, toy):
    result = run(ring, toy, "--runs", "2000")
    assert result.returncode == 0, result.stdout + result.stderr


def test_schedules_differ(ring):
    """Other seeds are other traces, of a program long enough for that; the same seed is the same one."""
    traces = [run(ring, "generated_tmpfs", "--seed", f"1:{1000 + n % 4}").stdout.split()[-1] for n in range(8)]
    assert traces[:4] == traces[4:] and len(set(traces)) == 4, traces


def test_every_program_is_listed(ring):
    assert sorted(run(ring, "--list").stdout.split()) == sorted(PROGRAMS)


def test_what_is_not_there_does_not_look_as_if_it_had_passed(ring, tmp_path):
    result = run(ring, "toy_counter", "table_movd", "--runs", "3")
    assert result.returncode == 2 and "there is no program table_movd" in result.stderr and not result.stdout
    assert "usage: ring" in run(ring, "--help").stderr
    command = ["make", "-f", "hosted/interleave/interleave.mk", f"HOSTED_O={os.path.relpath(ring.parent, TOP)}"]
    made = subprocess.run(
        [*command, f"RING_TABLE={tmp_path}/none.h"], cwd=TOP, capture_output=True, text=True, check=False
    )
    assert made.returncode == 2 and "none.h" in made.stderr
