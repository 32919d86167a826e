"""Address spaces as programs see them: checks/*.c on Linux, the oracle, and on Chainwalk; and little memory."""

from __future__ import annotations

from pathlib import Path

import pytest

from lab.base import offspring
from tests.musl import static_program

HERE = Path(__file__).parent


@pytest.fixture(scope="session")
def memory_program(tmp_path_factory) -> Path:
    return static_program(tmp_path_factory.mktemp("memory") / "memory", *sorted((HERE / "checks").glob("*.c")))


def outcomes(output: bytes) -> list[str]:
    return [line for line in output.decode(errors="replace").splitlines() if line.startswith(("ok ", "not ok "))]


def test_linux_agrees(memory_program, tmp_path):
    done = offspring.run([memory_program, tmp_path], timeout=60)
    assert done.returncode == 0, done.stdout.decode()


@pytest.mark.turns(4)
@pytest.mark.parametrize(("root", "cpus"), [("tmpfs", 1), pytest.param("ext2", 4, marks=pytest.mark.check)])
def test_as_on_linux(cw_run, memory_program, root, cpus):
    result = cw_run(["/root/memory", "/root"], add=[f"{memory_program}:/root/memory"], root=root, smp=cpus)
    lines = outcomes(result.output)
    assert len(lines) >= 31
    assert all(line.startswith("ok ") for line in lines)


def costs(cw_run, program: Path, count: int) -> dict[str, tuple[int, int]]:
    """Instructions of an mmap and of a munmap among @count areas, by the order in which they come and go."""
    job = ["/root/areas", str(count)]
    result = cw_run(job, add=[f"{program}:/root/areas"], debug=False, icount=True, mem="512M", timeout=300)
    rows = [line.split() for line in result.output.decode().splitlines()]
    return {row[0]: (int(row[2]), int(row[3])) for row in rows}


def test_the_cost_of_an_area_does_not_grow_with_their_number(cw_run, tmp_path):
    program = tmp_path / "areas"
    static_program(program, HERE / "areas.c")
    few, many = costs(cw_run, program, 1000), costs(cw_run, program, 32000)
    assert len(few) == len(many) == 5
    for pattern in few:
        for cost_of_few, cost_of_many in zip(few[pattern], many[pattern], strict=True):
            assert cost_of_many <= 2 * cost_of_few, (pattern, few, many)


def areas(cw_run, **options) -> tuple[str, str]:
    """Where the heap and the stack of a program are: two programs, one boot."""
    script = "for i in 1 2; do cat /proc/self/maps | grep -E 'heap|stack' | cut -d- -f1 | tr '\\n' ' '; echo; done"
    first, second = cw_run(script=script, **options).output.decode().split("\n")[:2]
    assert len(first.split()) == len(second.split()) == 2
    return first, second


def test_addresses_are_random(cw_run):
    first, second = areas(cw_run)
    assert first.split()[0] != second.split()[0] and first.split()[1] != second.split()[1]


def test_addresses_repeat_where_they_should(cw_run):
    first, second = areas(cw_run, cmdline="norandmaps")
    assert first == second


@pytest.mark.parametrize("kernel", ["debug", "release"])
@pytest.mark.parametrize(
    ("name", "size"),
    [
        ("bomb", "64M"),
        ("fork_bomb", "64M"),
        ("sparse", "64M"),
        ("large_file", "32M"),
        ("pressure", "48M"),
    ],
)
def test_by_name(cw_run, memory_program, name, size, kernel):
    options = {"mem": size, "debug": kernel == "debug", "smp": 2 if name == "pressure" else 1, "timeout": 300}
    result = cw_run(["/root/memory", "/root", name], add=[f"{memory_program}:/root/memory"], **options)
    assert outcomes(result.output) == [f"ok {name}"]


def test_dropped_pages(cw_run, memory_program):
    """Private copies survive it; what is read again is counted as a major fault and not as a minor one, too."""
    names = ["copies_stay", "major_faults"]
    result = cw_run(["/root/memory", "/root", *names], add=[f"{memory_program}:/root/memory"], root="ext2")
    assert outcomes(result.output) == [f"ok {name}" for name in names]


def test_programs_go_on_after_a_bomb(cw_run, memory_program):
    script = "/root/memory /root bomb; cp /bin/busybox copy && cmp copy /bin/busybox && echo alive"
    result = cw_run(script=script, add=[f"{memory_program}:/root/memory"], mem="64M", smp=2)
    assert result.output.decode().rstrip().endswith("alive")


def test_a_disk_full_of_changes_is_written_without_free_memory(cw_run):
    """The requests that would free memory find none: one is kept for them (fs/block/block.c)."""
    from lab.guest.image import Ext2

    result = cw_run(
        "workload files --files 12000 --size-mean 1500 --operations 2000 --keep".split(), icount=True, debug=False, full=True,
        mem="168M", disk_model="cheetah", ext2=Ext2(block_size=1024, free_bytes=110 << 20),
    )  # fmt: skip
    assert b'"operations":2000' in result.output


def test_a_fork_finds_room_for_its_page_tables(cw_run, tmp_path):
    """Where memory is full of what can go."""
    program = static_program(tmp_path / "forks", Path(__file__).with_name("forks.c"))
    result = cw_run(["/forks"], add=[f"{program}:/forks"], root="ext2", mem="96M")
    assert b"forked" in result.output
