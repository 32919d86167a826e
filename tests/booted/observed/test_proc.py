"""/proc as Debian's procps and util-linux read it, and its files by themselves."""

from __future__ import annotations

import re

PROGRAMS = """
export TERM=linux
echo == ps; ps -eo pid,ppid,stat,tty,nlwp,comm
echo == top; top -b -n1
echo == free; free -k
echo == uptime; uptime
mkdir /tmp/small; mount -t tmpfs -o size=1m,nr_inodes=10,nosuid small /tmp/small
mount --bind /usr/bin /mnt
echo == findmnt; findmnt -rn -o TARGET,SOURCE,FSTYPE,OPTIONS
echo == df; df -k /tmp/small
echo == prlimit; ulimit -n 77; prlimit --raw --noheadings -n
"""

FILES = """
exec 5</etc/passwd
echo == stat; cat /proc/self/stat
echo == status; cat /proc/self/status
echo == links; ls -l /proc/$$/fd/5 /proc/$$/exe /proc/$$/cwd /proc/$$/root /proc/self
echo == environ; HELLO=proc cat /proc/self/environ | tr '\\0' '\\n' | grep HELLO
echo == task; ls /proc/$$/task; cat /proc/$$/task/$$/comm
echo == gone; cat /proc/99999/stat /proc/self/fd/77 2>&1
true
"""


def parts(output: bytes) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for block in output.decode().replace("\r", "").split("== ")[1:]:
        name, *lines = block.splitlines()
        found[name.strip()] = lines
    return found


def test_procps_reads_proc(cw_run):
    packages = ["procps", "ncurses-base", "util-linux", "mount"]
    part = parts(cw_run(script=PROGRAMS, packages=packages, root="tmpfs").output)
    assert any(re.match(r"\s*1\s+0 Ss\s+\? +1 init", line) for line in part["ps"])
    assert any(re.match(r"\s*\d+\s+2 R\+?\s+\S+ +1 ps$", line) for line in part["ps"])
    assert any(re.search(r" top$", line) for line in part["top"]) and "Tasks:" in part["top"][1]
    total, used, free, _, cache, available = map(int, part["free"][1].split()[1:])
    assert (
        100_000 < total < 262_144
        and used == total - available
        and free <= total
        and cache > 0
        and available > free // 2
    )
    assert " up " in part["uptime"][0]
    assert "/proc proc proc rw,relatime" in part["findmnt"]
    assert "/tmp/small small tmpfs rw,nosuid,relatime" in part["findmnt"]
    assert any(line.startswith("/mnt ") and "[/usr/bin]" in line for line in part["findmnt"])
    assert re.match(r"small +1024 +0 +1024 +0% /tmp/small", part["df"][1])
    assert part["prlimit"][0].split()[-3:] == ["77", "77", "files"]


def test_files_of_proc(cw_run):
    part = parts(cw_run(script=FILES, root="tmpfs").output)
    assert len(part["stat"][0].split()) == 52
    assert {"Tgid:", "Uid:", "Groups:", "VmRSS:", "Threads:", "SigCgt:", "CapEff:"} <= {
        line.split()[0] for line in part["status"]
    }
    links = [line.split(" -> ")[1] for line in part["links"] if " -> " in line]
    assert links[:4] == ["/root", "/bin/busybox", "/etc/passwd", "/"]
    assert part["environ"] == ["HELLO=proc"]
    assert part["task"][1] == "sh"
    assert all("No such file" in line for line in part["gone"]) and len(part["gone"]) == 2


def test_looking_at_descriptors_closes_none(cw_run):
    """A table's last file may unmount what it was on, under a lock that mounting takes before a directory's: whoever
    lists a process that ends must not be left with that. The debug kernel tells by the order of the locks alone.
    """
    script = "mkdir /m; mount -t tmpfs none /m; ls -l /proc/self/fd /proc/1/fd > /dev/null; umount /m; echo listed"
    assert b"listed" in cw_run(script=script).output


def kilobytes(text: str) -> dict[str, int]:
    return {name: int(number) for name, number in re.findall(r"^(\S+): +(\d+) kB", text, re.MULTILINE)}


def test_what_memory_is_used_for_goes_down_again(cw_run):
    """Counts of /proc/meminfo that grew with files and their names are back when those are gone from the caches."""
    script = (
        "drop() { sync; echo 3 > /proc/sys/vm/drop_caches; echo 3 > /proc/sys/vm/drop_caches; };"
        "files() { mkdir m; for i in $(seq 1500); do echo $i > m/$i; done; cat m/* > /dev/null; };"
        "cd /root; files; rm -r m; drop; cat /proc/meminfo; echo PART; files; cat /proc/meminfo; echo PART;"
        " rm -r m; drop; cat /proc/meminfo"
    )
    for root in ("ext2", "tmpfs"):
        output = cw_run(script=script, root=root).output.decode().replace("\r", "")
        before, meanwhile, after = (kilobytes(part) for part in output.split("PART\n"))
        assert (
            meanwhile["SReclaimable"] > before["SReclaimable"] + 300 and meanwhile["Cached"] > before["Cached"] + 4000
        )
        for name in (
            "SReclaimable",
            "SUnreclaim",
            "Slab",
            "Cached",
            "Buffers",
            "Dirty",
            "AnonPages",
            "Shmem",
            "PageTables",
        ):
            assert after[name] <= before[name] + 200, name
            assert max(before[name], meanwhile[name], after[name]) <= before["MemTotal"], name
        assert (
            after["MemFree"] + 400 >= before["MemFree"] and after["Slab"] == after["SReclaimable"] + after["SUnreclaim"]
        )


def test_the_times_of_each_cpu_add_up_to_the_clock(cw_run):
    """Busy or idle, also of a CPU that does not leave its idle task in between: half a second is 50 ticks.

    The clock is read before the CPUs' times and after them: what they are lies in between, however busy the host is."""
    look = "cat /proc/uptime; grep '^cpu[0-9]' /proc/stat; cat /proc/uptime;"
    work = "(while :; do :; done) & busy=$!; sleep 0.5; "
    result = cw_run(
        script=f"sleep 0.2; {work} echo == before; {look} sleep 0.5; echo == after; {look} kill $busy", smp=4
    )
    part = parts(result.output)
    clocks, sums, idle = [], [], []
    for name in ("before", "after"):
        earlier, *cpus, later = part[name]
        times = [[int(ticks) for ticks in line.split()[1:]] for line in cpus]
        assert len(times) == 4
        up, idle_before = (float(number) * 100 for number in earlier.split())
        up_later, idle_later = (float(number) * 100 for number in later.split())
        clocks.append((up, up_later))
        idle.append([one[3] for one in times])
        sums.append([sum(one) for one in times])
        assert idle_before - 8 <= sum(idle[-1]) <= idle_later + 8  # each is rounded: 4 CPUs, two readings
    least, most = clocks[1][0] - clocks[0][1], clocks[1][1] - clocks[0][0]
    assert least >= 50
    assert all(least - 4 <= after - before <= most + 4 for before, after in zip(*sums, strict=True)), (sums, clocks)
    grown = sorted(after - before for before, after in zip(*idle, strict=True))
    assert grown[0] < 0.5 * most and grown[1] > 0.5 * least  # one CPU worked
