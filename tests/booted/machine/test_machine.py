"""The machine in its sizes: CPUs, memory, roots, start by ISO under BIOS and UEFI, repeatability."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from lab.base import offspring
from lab.base.paths import TOP, output_folder
from lab.build.kernel import build_lock, kernel_image
from lab.check.kernels import full_output
from lab.guest import iso
from lab.guest.image import Ext2
from lab.run import machine
from tests.musl import static_program

LOAD = """
cd /root
for i in 1 2 3 4; do (mkdir d$i; cp -r /usr d$i/; find d$i | wc -l; seq 1 5000 | sort -n | md5sum; rm -r d$i) & done
wait
(cat /bin/busybox | cat | md5sum) < /dev/null
"""


@pytest.mark.parametrize("cpus", [1, 2, 4, 16])
def test_cpus(cw_run, cpus):
    result = cw_run(script=f"nproc; {LOAD}", smp=cpus, timeout=240)
    lines = result.output.decode().split("\n")
    assert int(lines[0]) == cpus
    assert len(set(lines[1:-2])) == 2, "four equal jobs gave different output"


@pytest.mark.parametrize("memory", ["64M", "128M", "3G", "5G", "16G"])
def test_memory(cw_run, memory):
    result = cw_run(script="free | awk '/Mem:/ {print $2}'; find / -xdev | wc -l", mem=memory)
    kilobytes = int(result.output.split()[0])
    size = int(memory[:-1]) << (10 if memory.endswith("M") else 20)
    assert 0.75 * size < kilobytes <= size


@pytest.mark.parametrize(("block", "inode"), [(1024, 128), (2048, 256), (4096, 256)])
def test_ext2_block_sizes(cw_run, block, inode):
    from lab.guest.image import Ext2

    script = "cd /root; seq 1 300000 > big; cp big copy; cmp big copy && rm big; sync; md5sum copy; mkdir -p a/b; mv copy a/b"
    result = cw_run(script=script, ext2=Ext2(block_size=block, inode_size=inode))
    assert (
        result.output.split()[0].decode()
        == hashlib.md5("".join(f"{n}\n" for n in range(1, 300001)).encode()).hexdigest()
    )


def test_a_full_disk_says_so_and_stays_whole(cw_run):
    from lab.guest.image import Ext2

    script = "dd if=/dev/zero of=/root/big bs=64k; rm /root/big; df -k / | tail -n 1; echo written > /root/after"
    result = cw_run(script=script, ext2=Ext2(block_size=1024, free_bytes=1 << 20, free_inodes=20))
    assert b"No space left on device" in result.output
    result = cw_run(
        script="cd /root; i=0; while echo > f$i; do i=$((i + 1)); done; rm f*; echo written > /root/after; echo $i",
        ext2=Ext2(block_size=1024, free_bytes=1 << 20, free_inodes=20),
    )
    assert b"No space left on device" in result.output and int(result.output.split()[-1]) >= 20


def test_a_ram_disk_is_as_large_as_is_wanted(cw):
    """--ext2-free counts there too, and its inodes with it; without it a RAM disk is small."""
    script = ["--icount", "--quiet", "--", "/bin/sh", "-c", "df -m / | tail -n 1; df -i / | tail -n 1"]
    small = cw("run", *script).stdout.split()
    large = cw("run", "--ext2-free", "100", *script).stdout.split()
    assert 15 <= int(small[3]) <= 20 and 100 <= int(large[3]) <= 104
    assert int(large[9]) >= 12800 > int(small[9])
    assert b"--ext2-free 0" in cw("run", "--ext2-free", "0", *script).stderr


def test_what_the_guest_wrote_is_on_the_disk(cw_run, tmp_path):
    from lab.guest.image import read_back

    content = os.urandom(3_000_000)
    (tmp_path / "random").write_bytes(content)
    script = "cp /data/random /home/user/copy && chown user /home/user/copy && ln -s copy /home/user/link"
    result = cw_run(script=script, add=[f"{tmp_path / 'random'}:/data/random"])
    read_back(result.disk, "/home/user", tmp_path / "back")
    assert (tmp_path / "back/user/copy").read_bytes() == content
    assert (tmp_path / "back/user/link").readlink().name == "copy"


def test_the_disk_of_one_run_is_the_root_of_the_next(cw, tmp_path):
    disk = tmp_path / "disk"
    first = cw("run", "--quiet", "--disk", disk, "--", "/bin/sh", "-c", "echo kept > /root/note")
    assert first.returncode == 0, first.stderr
    second = cw("run", "--quiet", "--disk", disk, "--", "/bin/cat", "/root/note")
    assert second.stdout == b"kept\n", second.stderr


def test_two_counted_runs_are_identical(cw, tmp_path):
    outputs = []
    for name in ("one", "two"):
        path = tmp_path / name
        job = "find / -xdev | wc -l; mkdir /tmp/d; cp -r /etc /tmp/d; ls -lR /tmp; cat /proc/uptime; seq 1 3000 | sort | md5sum"
        result = cw("run", "--icount", "--quiet", "--stats", path, "--", "/bin/sh", "-c", job)
        assert result.returncode == 0, result.stderr
        outputs.append((path.read_bytes(), result.stdout))
    assert outputs[0] == outputs[1]
    stats = json.loads(outputs[0][0])
    assert {"page", "buffer", "inode", "dentry"} <= set(stats)


@pytest.fixture(scope="module")
def image(tmp_path_factory):
    """The ISO; its job prints a line and leaves with status 5."""
    path = tmp_path_factory.mktemp("iso") / "chainwalk.iso"
    with build_lock():
        return iso.make_iso(path, "quiet -- /bin/sh -c echo%20from%20the%20ISO;nproc;exit%205".replace(";", "%3b"))


@pytest.mark.parametrize("firmware", ["BIOS", "UEFI"])
def test_iso(cw_run, image, firmware):
    path = iso.uefi_firmware() if firmware == "UEFI" else None
    result = cw_run(["unused"], iso=image, firmware=path, status=5, timeout=240, debug=False, mem="512M", smp=2)
    assert b"from the ISO\n2\n" in result.output.replace(b"\r", b""), "lines, and CPUs, which ACPI tells"


GDB_SCRIPT = """
break d_add
ignore 1 300
continue
backtrace
dentry-path dentry
hash-counters dentry
hash-histogram dentry
hash-histogram page
python
try: gdb.execute("kill")
except gdb.error: pass  # the machine may be gone before it has answered
end
"""


GDB_PATHS = """
break prefix_new_version
ignore 1 3
continue
hash-counters path
hash-histogram path
python
try: gdb.execute("kill")
except gdb.error: pass
end
"""


def in_gdb(script: Path, output: str, *words: str, job: str = "") -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "GDB_ARGS": f"-batch -x {script}", "CW_OUTPUT": output}
    environment |= {"JOB": job} if job else {}
    command = ["make", "-s", "-C", str(TOP), f"O={output}", *words, "gdb"]
    return offspring.run(command, timeout=240, env=environment, text=True, stdin=subprocess.DEVNULL)


def test_gdb_shows_the_table_of_paths(tmp_path):
    """Of a kernel that is not the default one: what was asked for is what gdb is at."""
    script = tmp_path / "script.gdb"
    script.write_text(GDB_PATHS)
    paths = " ".join(["/usr/bin/env /usr/sbin/chroot /etc/passwd /bin/busybox"] * 5)
    result = in_gdb(script, full_output(), "DEFCONFIG=full", job=f"/bin/busybox stat {paths}")
    said = result.stdout + result.stderr
    assert result.returncode == 0, said
    inserts = int(re.search(r"^inserts +(\d+)$", result.stdout, re.MULTILINE)[1])
    objects = int(re.search(r"Path cache\n.*\n hash table contains (\d+) objects", result.stdout)[1])
    assert 0 < objects <= inserts, said


def test_gdb_breaks_and_walks(tmp_path):
    """A breakpoint in the middle of a run of find, the path of the dentry that is being added, the histograms."""
    script = tmp_path / "script.gdb"
    script.write_text(GDB_SCRIPT)
    result = in_gdb(script, str(output_folder()))
    said = result.stdout + result.stderr
    assert result.returncode == 0, said
    assert "Breakpoint 1, d_add" in result.stdout, said
    assert re.search(r"^/(usr|s?bin)/\S+$", result.stdout, re.MULTILINE), said
    hits = int(re.search(r"^hits +(\d+)$", result.stdout, re.MULTILINE)[1])
    inserts = int(re.search(r"^inserts +(\d+)$", result.stdout, re.MULTILINE)[1])
    assert hits > 100 and inserts > 250, said  # an interrupt at the breakpoint makes gdb count it twice
    for cache in ("Dentry", "Page"):
        objects = int(re.search(rf"{cache} cache\n.*\n hash table contains (\d+) objects", result.stdout)[1])
        assert objects > 100, said
    assert result.stdout.count("hash table histogram:") == 2, said


def test_memory_beside_the_ram_disk(cw_run):
    """What a program finds does not depend on the size of the RAM disk, but for the page structures of its memory."""
    free = []
    for megabytes in (16, 150):
        options = {"icount": True, "debug": False, "mem": "80M+disk", "ext2": Ext2(free_bytes=megabytes << 20)}
        free.append(int(cw_run(script="free -m | awk '/Mem:/ {print $2}'", **options).output.split()[0]))
    assert 60 <= free[1] <= free[0] <= free[1] + 4 and free[0] < 80


def test_more_busy_programs_than_cpus_share_them_all(cw_run, tmp_path):
    """Eight that one process makes while all CPUs are busy do not stay on that process's own."""
    program = static_program(tmp_path / "share", Path(__file__).parent / "share.c")
    options = {"smp": 4, "icount": True, "debug": False, "timeout": 200}
    least, greatest = map(int, cw_run(["/share"], add=[f"{program}:/share"], **options).output.split())
    assert 70 < least <= greatest < 130


def test_time_is_not_set_where_no_clock_can_tell_it(cw_run, tmp_path):
    """Beyond the year 2262, or so early that the start lay before 1970: EINVAL, and the clock goes on."""
    script = "for t in @9300000000 @1; do date -s $t 2>&1 | grep -c 'set date: Invalid'; done; date +%Y; date -s @9000000000 +%Y"
    late, early, before, after = map(int, cw_run(script=f"sleep 2; {script}").output.split())
    assert late == early == 1 and 2000 <= before < 2255 == after


def test_a_program_is_loaded_as_aligned_as_it_wants(cw_run, tmp_path):
    """One that may lie anywhere, too: the random part of its place is of what that leaves."""
    program, source = tmp_path / "aligned", Path(__file__).parent / "aligned.c"
    subprocess.run(["gcc", "-static-pie", "-O1", "-o", program, source], check=True)
    assert cw_run(["/aligned"], add=[f"{program}:/aligned"]).output.split() == [b"off:", b"0"]


@pytest.mark.turns(3)
def test_demo_in_64_megabytes():
    """The whole of `make run` with the least memory: tree copied bit-identical, disk clean, four reports."""
    command = ["make", "-s", "-C", str(TOP), f"O={output_folder()}", "run", "MEM=64M"]
    result = offspring.run(command, timeout=1200, text=True, stdin=subprocess.DEVNULL)
    assert result.returncode == 0, result.stdout[-3000:] + result.stderr[-3000:]
    assert "bit-identical" in result.stdout
    for cache in ("Page", "Buffer", "Inode", "Dentry"):
        assert f"{cache} cache total lookups:" in result.stdout


def test_machine_options_are_refused_by_name(cw, tmp_path):
    big = tmp_path / "big"
    big.write_bytes(bytes(60 << 20))
    for arguments, words in (
        (["--root", "floppy"], b"ext2, tmpfs, ram"),
        (["--smp", "17"], b"1 to 16"),
        (["--mem", "lots"], b"64M"),
        (["--defconfig", "nope"], b"default"),
        (["--set", "BUFFER_HASH=nope"], b"linux-2.2"),
        (["--set", "NOPE=1"], b"BUFFER_HASH"),
        (["--cmdline", "bhash_sizing=2.3"], b"2.2.16"),
        (["--add", "/no/such/file"], b"/no/such/file"),
        (["--disk", "/dev/zero", "--add", "/etc/passwd"], b"without the file a new one is made"),
        (["--root", "tmpfs", "--mem", "64M", "--add", big], b"--mem 14"),
        (["--root", "ram", "--mem", "64M", "--add", big], b"--mem 1"),
    ):
        result = cw("run", *arguments, "--", "/bin/true")
        assert result.returncode == machine.ERROR
        assert words in result.stderr, result.stderr


def test_budgets(cw_run):
    """What the kernel promises to stay within: its image, and its start in instructions."""
    assert kernel_image().stat().st_size <= 1 << 20
    result = cw_run(["/bin/busybox", "true"], icount=True, mem="512M", debug=False)
    marks = {mark["name"]: mark["ns"] for mark in result.log.all("mark")}
    assert marks["first_user"] <= 60_000_000, "instructions from the kernel's first to init's"


def test_contended_locks(cw_run):
    """Four writers of one file wait for its lock, and the report says for which; nobody waits for what none wants."""
    write = "dd if=/dev/zero of=/tmp/file bs=64k count=300 conv=notrunc"
    result = cw_run(script=f"for i in 1 2 3 4; do {write} & done; wait; cat /proc/chainwalk/locks", smp=4)
    waited = dict(re.findall(r"^(\S+) +(\d+) +\d+$", result.output.decode(), re.MULTILINE))
    assert int(waited["inode->lock"]) > 0
    assert "mount_mutex" not in waited and "(unnamed)" not in waited


@pytest.mark.parametrize("cpus", [1, 4])
def test_vector_registers(cw_run, tmp_path, cpus):
    """Each thread's own, across switches, forks and signals, and in a signal's frame: vectors.c, as on Linux."""
    program = tmp_path / "vectors"
    static_program(program, Path(__file__).parent / "vectors.c")
    here = subprocess.run([program], capture_output=True, check=True).stdout
    result = cw_run(["/root/vectors"], add=[f"{program}:/root/vectors"], smp=cpus)
    assert result.output == here == b"ok forked\nok frame\nok workers\n"


def test_process_numbers_begin_anew(cw_run, tmp_path):
    """All 32768 of them are given out; those of sessions and groups whose leaders have ended are passed over."""
    program = tmp_path / "numbers"
    static_program(program, Path(__file__).parent / "numbers.c")
    result = cw_run(["/root/numbers"], add=[f"{program}:/root/numbers"], debug=False)
    assert result.output == b"1 rounds, 0 that were used\n"


@pytest.mark.parametrize("cpus", [1, 2])
def test_a_kernel_stack_that_overflows_ends_in_a_panic_that_says_so(cw_run, cpus):
    """k of a debug kernel goes down the stack for ever; below it nothing is mapped."""
    result = cw_run(script="echo k > /proc/sysrq-trigger; exit 0", kind="panic", smp=cpus, quiet=False)
    assert "kernel stack overflow" in result.message
    assert result.output.count(b"overflow_stack+") > 10


@pytest.mark.parametrize("cpus", [1, 4])
def test_kernel_stacks_come_back(cw_run, cpus):
    """300 processes at a time have 300 stacks of 16 KB; of those that nobody uses 32 stay."""
    script = (
        "stacks() { sed -n 's/^KernelStack: *//p' /proc/meminfo; }; stacks; "
        "for round in 1 2 3; do for i in $(seq 300); do sleep 1000 & done; "
        "stacks; kill $(jobs -p); wait; sleep 0; stacks; done 2>/dev/null"
    )
    sizes = [int(line.split()[0]) for line in cw_run(script=script, smp=cpus).output.decode().splitlines()]
    few, many, after = sizes[0], sizes[1::2], sizes[2::2]
    assert len(sizes) == 7 and few > 0
    assert all(size >= 300 * 16 for size in many)
    assert all(size <= few + 40 * 16 for size in after), sizes


def test_times_never_become_less(cw_run, tmp_path):
    """User and system time, whatever a tick falls into; together they are the process's clock."""
    program = static_program(tmp_path / "times", Path(__file__).with_name("times.c"))
    cw_run(["/root/times"], icount=True, add=[f"{program}:/root/times"])
    cw_run(["/root/times", "beside"], smp=2, add=[f"{program}:/root/times"])
