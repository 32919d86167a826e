"""./cw run --result: one file that tells everything, however the run ended, with ./cw run's own exit status kept."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from lab.base.paths import TOP
from lab.run import result
from lab.run.control import ControlLog

MEMBERS = {
    "kernel_sha256", "machine_sha256", "host",
    "status", "kind", "message", "exit", "results", "stats", "cachesim", "virtual_ns", "seconds", "command", "revision",
    "qemu", "config", "log",
}  # fmt: skip


def run(cw, path: Path, script: str, *options: str) -> tuple[int, dict]:
    done = cw("run", "--icount", "--mem", "128M", "--result", path, *options, "--", "sh", "-c", script)
    assert not list(path.parent.glob(".*")), "nothing half written is left"
    return done.returncode, json.loads(path.read_text())


def test_a_job_that_prints_results(cw, tmp_path):
    script = """echo '{"case":"a","n":5}'; echo '{broken'; echo '[1]'; echo ' {"no":1}'; echo '{"case":"b","n":6}'"""
    status, found = run(cw, tmp_path / "r.json", script)
    assert set(found) == MEMBERS
    assert (status, found["status"], found["kind"], found["exit"]) == (0, "ok", "exit", 0)
    assert found["results"] == [{"case": "a", "n": 5}, {"case": "b", "n": 6}]
    assert set(found["stats"]) == {"page", "buffer", "inode", "dentry"} and found["stats"]["page"]["lookups"] > 0
    assert 0 < found["virtual_ns"] < 10**9 and found["qemu"].startswith("QEMU")
    assert "CONFIG_PAGE_HASH=" in found["config"] and "command line:" in found["log"]
    assert found["command"].startswith("./cw run --icount --mem 128M --result ")


def test_a_job_that_fails_keeps_its_status(cw, tmp_path):
    status, found = run(cw, tmp_path / "r.json", """echo '{"n":1}'; exit 7""")
    assert (status, found["exit"], found["status"], found["kind"]) == (7, 7, "failed", "exit")
    assert found["results"] == [{"n": 1}]


@pytest.mark.parametrize(
    ("script", "status", "kind", "says"),
    [
        ("echo c > /proc/sysrq-trigger", 120, "panic", "sysrq triggered a crash"),
        ("busybox reboot -f", 121, "silence", "without a whole status record"),
        ("while :; do :; done", 124, "timeout", "time-out"),
    ],
)
def test_a_machine_that_fails_leaves_its_file(cw, tmp_path, script, status, kind, says):
    (tmp_path / "r.json").write_text("of an earlier run")
    options = ("--timeout", "6") if kind == "timeout" else ()
    code, found = run(cw, tmp_path / "r.json", f"echo said; {script}", *options)
    assert (code, found["exit"], found["kind"], found["status"]) == (status, status, kind, "failed")
    assert says in found["message"] and "said" in found["log"]


def test_what_the_lab_refuses_leaves_its_file(cw, tmp_path):
    code, found = run(cw, tmp_path / "r.json", "true", "--add", "/no/such/file")
    assert (code, found["kind"], found["status"]) == (125, "error", "failed")
    assert "/no/such/file" in found["message"]


def test_a_refused_option_is_told_in_the_file(cw, tmp_path):
    (tmp_path / "r.json").write_text("of an earlier run")
    code, found = run(cw, tmp_path / "r.json", "true", "--smp", "99")
    assert (code, found["kind"]) == (125, "error") and "--smp" in found["message"]


def test_a_folder_that_is_not_there_is_refused_at_once(cw, tmp_path):
    done = cw("run", "--result", tmp_path / "nowhere" / "r.json", "--", "true")
    assert done.returncode == 125 and b"there is no folder" in done.stderr and not done.stdout


def test_a_file_that_cannot_be_written_whole_is_not_there(tmp_path):
    """A limit on files' sizes stands in for a full disk."""
    script = (
        "import resource, signal, sys; from pathlib import Path; from lab.run import result;"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN); resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096));"
        "result.write(Path(sys.argv[1]), {'log': 'x' * 10000})"
    )
    (tmp_path / "r.json").write_text("earlier")
    done = subprocess.run(
        [sys.executable, "-c", script, tmp_path / "r.json"], capture_output=True, text=True, check=False, cwd=TOP
    )
    assert "LabError: --result" in done.stderr and "File too large" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["r.json"] and (tmp_path / "r.json").read_text() == "earlier"


def test_virtual_time_is_from_the_jobs_start_to_its_end():
    log = ControlLog([("mark", {"name": "first_user", "ns": 3}), ("mark", {"name": "job", "ns": 10})])
    assert result.virtual_ns(log) is None
    log.records.append(("mark", {"name": "job_end", "ns": 35}))
    assert result.virtual_ns(log) == 25


def test_an_instruction_takes_as_long_as_one_says(cw, tmp_path):
    (_, one), (_, eight), (_, again) = (
        run(cw, tmp_path / f"{number}.json", "find / -xdev | wc -l", "--instruction-ns", ns)
        for number, ns in enumerate(("1", "8", "8"))
    )
    assert 7.5 < eight["virtual_ns"] / one["virtual_ns"] < 8.5
    assert len({found["machine_sha256"] for found in (one, eight, again)}) == 2
    assert (eight["stats"], eight["virtual_ns"]) == (again["stats"], again["virtual_ns"])


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--icount", "--instruction-ns", "3"), "--instruction-ns takes 1, 2, 4, 8, 16, 32, 64"),
        (("--instruction-ns", "2"), "add --icount"),
    ],
)
def test_what_no_instruction_can_take_is_refused(cw, options, says):
    done = cw("run", *options, "--", "true")
    assert done.returncode == 125 and says in done.stderr.decode()


@pytest.mark.parametrize("option", ["--stats", "--strace"])
def test_an_older_outcome_stays_where_nothing_can_run(cw, tmp_path, option):
    older = tmp_path / "older"
    older.write_text("of the last run")
    done = cw("run", "--smp", "99", option, older, "--", "true")
    assert done.returncode == 125 and b"--smp" in done.stderr
    assert older.read_text() == "of the last run"
