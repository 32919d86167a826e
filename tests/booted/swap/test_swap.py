"""Programs whose memory does not fit, with swap on a disk and in a file (swapping.c); files in memory and shared memory
that do not (filling.c); swapon's and swapoff's errors.

The same programs on Linux, in the same machine.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.musl import static_program

HERE = Path(__file__).parent
MEGABYTES = 128  # of the disk
PARTS = ["pattern", "forks", "together", "dontneed", "rights", "shared", "locked", "off", "full"]


def built(folder: Path, name: str) -> Path:
    return static_program(folder / name, HERE / f"{name}.c")


@pytest.fixture(scope="session")
def swapping(tmp_path_factory) -> Path:
    return built(tmp_path_factory.mktemp("swapping"), "swapping")


@pytest.fixture(scope="session")
def filling(tmp_path_factory) -> Path:
    return built(tmp_path_factory.mktemp("filling"), "filling")


@pytest.fixture(scope="session")
def swap_errors(tmp_path_factory) -> Path:
    return built(tmp_path_factory.mktemp("swap_errors"), "swap_errors")


@pytest.fixture
def disk(tmp_path) -> Path:
    path = tmp_path / "swap"
    with path.open("wb") as file:
        file.truncate(MEGABYTES << 20)
    return path


def lines_of(result) -> list[str]:
    return [line for line in result.output.decode().replace("\r", "").splitlines() if "ok" in line]


@pytest.mark.turns(6)
@pytest.mark.parametrize(
    ("cpus", "kernel", "parts"),
    [(1, "full", PARTS), (2, "debug", ["forks", "rights", "off"]), (4, "full", ["together", "forks", "off"])],
)
def test_memory_of_twice_the_machine(cw_run, swapping, disk, cpus, kernel, parts):
    result = cw_run(
        ["/root/swapping", "/dev/vda", "96", *parts],
        add=[f"{swapping}:/root/swapping"], root="tmpfs", disk=disk, mem="64M", smp=cpus,
        full=kernel == "full", status=None, timeout=400,
    )  # fmt: skip
    assert lines_of(result) == [f"ok {part}" for part in [*parts, "end"]], result.output.decode()


@pytest.mark.turns(8)
@pytest.mark.parametrize(
    ("cpus", "kernel", "parts"),
    [
        (1, "full", ["accounts", "holes", "private", "segment", "locked"]),
        (2, "debug", ["file", "off"]),
        (4, "full", ["shared", "file", "off"]),
        (1, "linux", ["accounts", "holes", "private", "segment", "locked", "off"]),
    ],
)
def test_filling(cw_run, filling, disk, cpus, kernel, parts):
    """Files in memory and shared memory. A machine with Linux has more memory, since the kernel itself takes more."""
    memory, megabytes = ("128M", "112") if kernel == "linux" else ("64M", "96")
    with disk.open("r+b") as file:
        file.truncate(192 << 20)
    result = cw_run(
        ["/root/filling", "/dev/vda", megabytes, *parts],
        add=[f"{filling}:/root/filling"], root="tmpfs", disk=disk, mem=memory, smp=cpus,
        full=kernel == "full", kernel="linux" if kernel == "linux" else "chainwalk", status=None, timeout=400,
    )  # fmt: skip
    assert lines_of(result) == [f"ok {part}" for part in [*parts, "end"]], result.output.decode()


@pytest.mark.builds
def test_a_table_of_its_own(cw, swapping, disk, tmp_path, monkeypatch):
    """As a debug kernel; what the table says of itself is in all reports. Other structures: tests/hosted/test_hosted.py."""
    monkeypatch.setenv("CW_OUTPUT", str(tmp_path / "build"))
    settings = ["SWAP=y", "SWAP_TABLE=chained", "SWAP_HASH=offset", "DEBUG=y"]
    job = (
        "/root/swapping /dev/vda 80 pattern forks off; echo > /proc/hash/dump; cat /proc/hash/swap /proc/hash/swap.json"
    )
    options = [word for setting in settings for word in ("--set", setting)]
    result = cw(
        "run", *options, "--quiet", "--root", "tmpfs", "--disk", disk, "--mem", "64M", "--timeout", "300",
        "--cmdline", "shash_entries=512", "--add", f"{swapping}:/root/swapping", "--", "/bin/sh", "-c", job, timeout=600,
    )  # fmt: skip
    text = result.stdout.decode().replace("\r", "")
    assert result.returncode == 0, text + result.stderr.decode()
    assert [line for line in text.splitlines() if line.startswith(("ok", "not"))] == [
        "ok pattern", "ok forks", "ok off", "ok end",
    ]  # fmt: skip
    assert text.count("Swap cache total lookups: ") == 2  # on the console and in /proc
    found = json.loads(next(line for line in text.splitlines() if line.startswith('{"cache":"swap"')))
    assert found["lookups"] == found["hits"] + found["misses"]
    assert found["objects"] == found["inserts"] - found["removes"] == 0
    assert found["hits"] <= found["compares"] <= found["hit_steps"] + found["miss_steps"]
    assert found["hits"] > 1000 and found["structure"] == "chained"
    assert (found["function"], found["buckets"], found["rule"]) == ("offset", 512, "number")


def test_a_file(cw_run, swapping):
    script = (
        "dd if=/dev/zero of=/swapfile bs=1M count=56 2>/dev/null && /root/swapping /swapfile 72 pattern dontneed off"
    )
    result = cw_run(script=script, add=[f"{swapping}:/root/swapping"], mem="64M", full=True, status=None, timeout=400)
    assert lines_of(result) == ["ok pattern", "ok dontneed", "ok off", "ok end"], result.output.decode()


def test_busyboxs_programs(cw_run, disk):
    script = (
        "mkswap /dev/vda >/dev/null && swapon /dev/vda && cat /proc/swaps && grep SwapTotal /proc/meminfo"
        " && swapoff /dev/vda && cat /proc/swaps"
    )
    result = cw_run(script=script, root="tmpfs", disk=disk, full=True)
    lines = result.output.decode().replace("\r", "").splitlines()
    header = "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority"
    kilobytes = (MEGABYTES << 10) - 4
    assert lines[0] == lines[3] == header and len(lines) == 4
    assert lines[1].split() == ["/dev/vda", "partition", str(kilobytes), "0", "-2"]
    assert lines[2].split() == ["SwapTotal:", str(kilobytes), "kB"]


@pytest.mark.parametrize("kernel", ["chainwalk", "linux"])
def test_what_must_not_be_done_to_a_file_in_use(cw_run, swap_errors, kernel):
    result = cw_run(
        ["/root/swap_errors", "-f", "/root"],
        add=[f"{swap_errors}:/root/swap_errors"], root="ext2", full=True, status=None, kernel=kernel,
    )  # fmt: skip
    lines = [line for line in result.output.decode().replace("\r", "").splitlines() if "ok" in line]
    assert lines == ["ok end"], lines


@pytest.mark.parametrize("kernel", ["chainwalk", "linux"])
def test_errors(cw_run, swap_errors, disk, kernel):
    """The program itself has Linux's numbers."""
    result = cw_run(
        ["/root/swap_errors", "/dev/vda"],
        add=[f"{swap_errors}:/root/swap_errors"], root="tmpfs", disk=disk, full=True, status=None, kernel=kernel,
    )  # fmt: skip
    lines = lines_of(result)
    assert lines[-1:] == ["ok end"] and not [line for line in lines if line.startswith("not")], lines
