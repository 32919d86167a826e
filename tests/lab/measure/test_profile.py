"""./cw profile: what the kernel was busy with is what it says."""

from __future__ import annotations

import re
import signal
import subprocess
import time
import xml.etree.ElementTree as ElementTree
from collections import Counter

import pytest

from lab.base.paths import TOP, LabError
from lab.measure.flame import flame_graph
from lab.measure.profile import own_and_total, table
from lab.run.stacks import Profile, read_profile
from tests.conftest import PATIENCE

# Bytes that are made zero in the kernel, page by page; and names that are not there, looked up in a directory.
ZEROS = ["dd", "if=/dev/zero", "of=/dev/null", "bs=4096", "count=60000"]
NAMES = ["sh", "-c", "i=0; while [ $i -lt 4000 ]; do [ -e /usr/no/such/name ]; [ -e /etc/x$i ]; i=$((i + 1)); done"]

WALK = ("lockless_find", "walk_without_locks", "walk_on")  # of no one alone are there always samples


def rows(text: bytes):
    found = re.findall(r"^ +([\d.]+)% +([\d.]+)%  (.+)$", text.decode(), re.MULTILINE)
    return {name: (float(own), float(total)) for own, total, name in found}


def profile(cw, *arguments):
    result = cw("profile", *arguments)
    assert result.returncode == 0, result.stderr.decode()
    return result.stdout


@pytest.mark.usefixtures("on_the_full_kernel")
def test_a_job_that_spins_in_a_known_path_shows_it(cw, tmp_path):
    drawn = tmp_path / "zeros.svg"
    text = profile(cw, "--flame", drawn, "--", *ZEROS)
    zeros, names = rows(text), rows(profile(cw, "--top", "1000", "--", *NAMES))
    assert next(iter(zeros)) == "arch_copy_user" and zeros["sys_read"][1] > 60, zeros
    assert len(zeros) > 8, "the loop of the job and the timer keep step"
    walks = [share for name, (_, share) in names.items() if name.startswith(WALK)]
    assert max(walks, default=0) > 15 and not any(name.startswith(WALK) for name in zeros), (names, zeros)
    again = drawn.read_bytes()
    assert text == profile(cw, "--flame", drawn, "--", *ZEROS) and again == drawn.read_bytes()
    assert text != profile(cw, "--seed", "2", "--period", "30011", "--flame", drawn, "--", *ZEROS)


@pytest.mark.usefixtures("on_the_full_kernel")
def test_waiting_for_a_disk_is_idleness(cw):
    text = profile(cw, "--disk-model", "fireball", "--", "sh", "-c", "find / -xdev -type f | xargs cat > /dev/null")
    assert float(re.search(rb"idle ([\d.]+) %", text)[1]) > 50
    assert "sched_idle_loop" not in rows(text)


def test_counters_are_what_was_sampled(cw_run):
    """The file and the record agree; it begins anew, and ends; one of four CPUs too."""
    script = """
        i=0; while [ $i -lt 300 ]; do i=$((i + 1)); [ -e /etc/none$i ]; done; find / -xdev > /dev/null
        echo 0 > /proc/profile; cat /proc/profile
    """
    for options in ({"icount": True}, {"smp": 4}):
        result = cw_run(script=script, cmdline="job_profile=50021", **options)
        head, *lines = result.output.decode().splitlines()
        assert result.log.all("profile")[0] == ";".join([head, *lines, ""])
        samples = int(head.split()[-1])
        assert samples > 100 and sum(int(line.split()[0]) for line in lines) == samples
        assert len({line.partition(" ")[2] for line in lines}) == len(lines)
        assert all(word.startswith("ffffffff8") for line in lines for word in line.split()[1:])
    assert cw_run(script="cat /proc/profile; echo 1 > /proc/profile", status=1).output.startswith(
        b"period_ns 0 samples 0\n"
    )


def sample_profile():
    stacks = Counter({(): 50, ("entry", "read", "copy"): 30, ("entry", "read"): 10, ("entry", "<b>&"): 6, ("start", "sched_idle_loop"): 3})  # fmt: skip
    return Profile(1000, 100, stacks)


def test_shares_add_up():
    profile = sample_profile()
    assert (profile.programs, profile.idle, profile.lost, profile.kernel.total()) == (50, 3, 1, 46)
    own, total = own_and_total(profile.kernel)
    assert own == {"copy": 30, "read": 10, "<b>&": 6} and total == {"entry": 46, "read": 40, "copy": 30, "<b>&": 6}
    said = table(profile, 2).splitlines()
    assert said[0] == "100 samples, one in 1000 ns: kernel 46.0 %, programs 50.0 %, idle 3.0 %, lost 1.0 %"
    assert said[4:] == ["   65.2%  65.2%  copy", "   21.7%  87.0%  read"]


def test_a_function_that_calls_itself_counts_once():
    own, total = own_and_total(Counter({("entry", "walk", "walk", "walk"): 4, ("walk", "read", "walk", "read"): 3}))
    assert own == {"walk": 4, "read": 3} and total == {"entry": 4, "walk": 7, "read": 3}


def test_the_flame_graph_is_whole():
    """Every function as wide as it was found, inside what called it; names are escaped, and nothing is fetched."""
    text = flame_graph(sample_profile(), "a & b")
    tree = ElementTree.fromstring(text.split("\n", 1)[1])
    frames = {f.get("data-n"): f for f in tree.iter("{http://www.w3.org/2000/svg}g")}
    assert set(frames) == {"the kernel", "entry", "read", "copy", "<b>&"}
    width = {name: float(f.get("data-w")) for name, f in frames.items()}
    assert width["entry"] == width["the kernel"] == 1200
    assert abs(width["copy"] / width["read"] - 0.75) < 1e-3
    left = {name: float(f.get("data-x")) for name, f in frames.items()}
    assert left["copy"] == left["read"] and left["<b>&"] < left["read"]
    assert len(re.findall(r"https?://", text)) == 1


def test_names_of_inlined_functions_and_of_calls(tmp_path):
    """A call's address is that behind it, which may already belong to the next function."""
    source = tmp_path / "a.c"
    source.write_text("""
        static inline __attribute__((always_inline)) int small(volatile int *p) { return *p + 1; }
        __attribute__((noinline, noreturn)) void last(void) { for (;;); }
        int outer(volatile int *p) { return small(p); }
        void ends(void) { last(); }
        int main(void) { return 0; }
    """)
    binary = tmp_path / "a"
    subprocess.run(["gcc", "-g", "-O1", "-no-pie", "-o", binary, source], check=True)
    table_of = {
        words[2]: int(words[0], 16)
        for words in (line.split() for line in subprocess.check_output(["nm", binary], text=True).splitlines())
        if len(words) == 3
    }
    behind = table_of["main"]
    found = read_profile(f"period_ns 1 samples 3;2 {table_of['outer']:x};1 {table_of['last']:x} {behind:x};", binary)
    assert found.stacks == {("outer", "small (inlined)"): 2, ("ends", "last"): 1}
    with pytest.raises(LabError, match="no profile"):
        read_profile("segmentation fault", binary)


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        ([], b"which program"),
        (["--period", "10", "--", "true"], b"at least 10000"),
        (["--flame", "/no/such/folder/x.svg", "--", "true"], b"no folder"),
        (["--disk-model", "drum", "--", "true"], b"none, fireball"),
        (["--top", "many", "--", "true"], b"'many' is not"),
    ],
)
def test_bad_options_are_refused(cw, arguments, word):
    result = cw("profile", *arguments)
    assert result.returncode != 0 and word in result.stderr


@pytest.mark.usefixtures("on_the_full_kernel")
def test_the_jobs_own_end_is_told(cw):
    assert cw("profile", "--", "/bin/false").returncode == 1
    result = cw("profile", "--", "sh", "-c", "echo c > /proc/sysrq-trigger")
    assert result.returncode == 120 and b"panicked" in result.stderr


@pytest.mark.usefixtures("on_the_full_kernel")
def test_interrupted(tmp_path):
    command = [
        str(TOP / "cw"),
        "profile",
        "--flame",
        str(tmp_path / "x.svg"),
        "--",
        "sh",
        "-c",
        "echo begun; sleep 100000000",
    ]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
    assert process.stdout.readline() == b"begun\n"
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=30 * PATIENCE)
    assert process.returncode == 130 and b"Traceback" not in errors
    assert not (tmp_path / "x.svg").exists()
