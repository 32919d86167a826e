"""Sweeps of small experiments, on machines that end well, panic, fall silent or never end, alone and in a cluster."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import sqlite3
import struct
import subprocess
import time
from pathlib import Path

import pytest

from lab.base import offspring
from lab.base.paths import TOP
from lab.report import reproduce
from lab.sweep import command, kernels
from lab.sweep.plan import Plan
from lab.sweep.store import Store
from lab.sweep.toml import files
from lab.sweep.validate import load
from tests.lab.sweep.small import HEAD, OTHER, WORKLOAD, rows, write

PATIENCE = float(os.environ.get("CW_PATIENCE", "1"))


def test_a_sweep_goes_on_over_cells_that_fail(cw, tmp_path):
    """Panic, silence, time-out, a failing job, a job that prints nothing: told, recorded, run again the next time."""
    kinds = {
        "panics": "echo c > /proc/sysrq-trigger", "silent": "busybox reboot -f", "endless": "while :; do :; done",
        "fails": "exit 3", "wordless": "exit 0", "well": "echo '{\\\"n\\\":5}'",
    }  # fmt: skip
    workloads = "".join(
        f'\n[[workload]]\nname = "{name}"\nrun = ["sh", "-c", "echo said; {script}"]\ntimeout = {4 if name == "endless" else 300}\n'
        for name, script in kinds.items()
    )
    text = HEAD.replace("[1, 2]", "[1]") + workloads + '\n[[measure]]\nname = "n"\nfrom = "metric:n"\n'
    path, results = write(tmp_path, text), tmp_path / "r.sqlite"
    done = cw("sweep", path, "--results", results)
    said = done.stdout.decode()
    assert done.returncode == 1, said
    assert "6 cells: 0 recorded already, 6 to run" in said and "5 of 6 cells failed:" in said
    found = {place.split("/")[1]: row for place, row in rows(results).items()}
    assert {name: row[:2] for name, row in found.items()} == {
        "panics": ("failed", "panic"), "silent": ("failed", "silence"), "endless": ("failed", "timeout"),
        "fails": ("failed", "exit"), "wordless": ("failed", "exit"), "well": ("ok", "exit"),
    }  # fmt: skip
    assert found["fails"][2] == "the job failed with status 3" and found["wordless"][2] == "the job printed no result"
    assert "sysrq triggered a crash" in found["panics"][2] and "panic+0x" in found["panics"][3]
    assert all("said" in row[3] for row in found.values()), "each has its log"
    assert "small: reference, panics, seed 1: panic: the kernel panicked" in said
    done = cw("sweep", path, "--results", results, "--only", "*/fails", "--only", "*/well")
    assert b"2 cells: 1 recorded already, 1 to run" in done.stdout and done.returncode == 1


def test_linux_beside_a_kernel_of_ours(cw, tmp_path):
    """The same image and job on both; the seeds, which say nothing to Linux, are one run of it."""
    run = """["sh", "-c", "echo '{\\"case\\":\\"x\\",\\"n\\":1'$(uname -r | grep -c chainwalk)'}'"]"""
    linux = '\n[[kernel]]\nname = "Linux"\nlinux = true\n'
    workload = f'\n[[workload]]\nname = "uname"\nrun = {run}\n\n[[measure]]\nname = "n"\nfrom = "metric:n"\n'
    path, results = write(tmp_path, HEAD + linux + workload), tmp_path / "r.sqlite"
    done = cw("sweep", path, "--results", results)
    assert done.returncode == 0 and b"3 cells are recorded" in done.stdout, done.stdout
    assert {row[0] for row in rows(results).values()} == {"ok"} and len(rows(results)) == 4
    again = cw("sweep", path, "--results", results)
    assert b"3 cells: 3 recorded already" in again.stdout
    report = cw("report", path, "--results", results, "--text").stdout.decode()
    assert re.search(r"Linux +0\.909 exact +10 s=0", report), report  # 10 of there to 11 of here
    assert re.search(r"Linux, uname:\n +\./cw run --kernel linux=\S+ --icount --mem", report), "one command, not a loop"


def plant_a_hang(build: Path, folder: Path) -> Path:
    """The build folder @build copied to @folder, where /proc/sysrq-trigger halts the CPU with interrupts off."""
    shutil.copytree(build, folder, symlinks=True)
    symbols = subprocess.run(["nm", folder / "chainwalk"], capture_output=True, text=True, check=True).stdout
    (address,) = [int(line.split()[0], 16) for line in symbols.splitlines() if line.endswith(" sysrq_write")]
    path = folder / "chainwalk.stripped"
    image = bytearray(path.read_bytes())
    offset, start = struct.unpack_from("<QQ", image, 64 + 8)  # of the first segment, the code
    at = address - start + offset
    image[at : at + 4] = b"\xfa\xf4\xeb\xfd"  # cli; 1: hlt; jmp 1b
    path.unlink()  # a link to what all sweeps share
    path.write_bytes(image)
    return folder


def test_a_sweep_goes_on_over_a_machine_that_hangs(cw, tmp_path, monkeypatch, capsys):
    """One cell's kernel halts for good in a system call; the other's, the same, does not come there."""
    scripts = {"hangs": "echo c > /proc/sysrq-trigger", "well": "echo '{\\\"n\\\":5}'"}
    workloads = "".join(
        f'\n[[workload]]\nname = "{name}"\nrun = ["sh", "-c", "echo said; {script}"]\n'
        f"timeout = {5 * PATIENCE if name == 'hangs' else 300}\n"
        for name, script in scripts.items()
    )
    text = HEAD.replace("[1, 2]", "[1]") + workloads + '\n[[measure]]\nname = "n"\nfrom = "metric:n"\n'
    path, results = write(tmp_path, text), tmp_path / "r.sqlite"
    prepare = kernels.prepare

    def prepare_hanging(choices, tell):
        return {choice: plant_a_hang(build, tmp_path / choice.key) for choice, build in prepare(choices, tell).items()}

    monkeypatch.setattr(kernels, "prepare", prepare_hanging)
    assert command.sweep(command.Request([str(path)], jobs=1, results=results)) == 1
    said = capsys.readouterr().out
    assert "1 of 2 cells failed:" in said and "small: reference, hangs, seed 1: hang: the machine hangs" in said
    found = {place.split("/")[1]: row for place, row in rows(results).items()}
    assert {name: row[:2] for name, row in found.items()} == {"hangs": ("failed", "hang"), "well": ("ok", "exit")}
    assert all("said" in row[3] for row in found.values()), "each has its log"
    report = cw("report", path, "--results", results, "--text")
    assert report.returncode == 0, report.stderr
    assert "reference, hangs, seed 1: hang: the machine hangs" in report.stdout.decode()


@pytest.mark.builds
def test_equal_on_two_runs_and_by_the_command_that_is_printed(cw, tmp_path):
    path = write(tmp_path, HEAD.replace("[1, 2]", "[7]") + OTHER + WORKLOAD)
    found = []
    for results in (tmp_path / "a", tmp_path / "b"):
        done = cw("sweep", path, "--results", results)
        assert done.returncode == 0, done.stdout + done.stderr
        with Store(results) as store:
            found.append({use.kernel: cell for use, cell in store.cells("small", "reduced") if cell})
    first, second = found
    assert set(first) == {"reference", "12 bits"} and first["reference"].stats != first["12 bits"].stats
    assert first["reference"].stats["inode"]["buckets"] == 256 and first["12 bits"].stats["inode"]["buckets"] == 4096
    for name, cell in first.items():
        other = second[name]
        assert (cell.id, cell.stats, cell.results) == (other.id, other.stats, other.results)
        assert cell.results == [{"case": "x", "n": 7}] and cell.revision and cell.qemu.startswith("QEMU")
        assert 'CONFIG_INODE_HASH="linux-2.2"' in cell.config["kernel_config"]
    # By hand, in the checkout, with a build folder of one's own.
    command = first["12 bits"].command.replace("result.json", str(tmp_path / "result.json"))
    assert command.startswith("./cw run --defconfig lever-inode-12bit --icount --seed 7 --mem 128M ")
    environment = {**os.environ, "CW_OUTPUT": str(TOP / "build/kernels/by-hand")}
    subprocess.run(["sh", "-c", command], cwd=TOP, env=environment, check=True, capture_output=True)
    again = json.loads((tmp_path / "result.json").read_text())
    assert (again["stats"], again["results"]) == (first["12 bits"].stats, first["12 bits"].results)


def machines_of(sweep: str) -> list[str]:
    """The QEMUs of the sweep with this in its environment: other tests' have machines of the same kernels."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            words, environment = (path / "cmdline").read_bytes(), (path / "environ").read_bytes()
        except OSError:
            continue
        if b"qemu-system" in words and sweep.encode() in environment.split(b"\0"):
            found.append(path.name)
    return found


def test_an_interrupted_sweep_goes_on_where_it_was(cw, tmp_path):
    text = HEAD.replace("[1, 2]", "[1, 2, 3, 4, 5, 6]") + WORKLOAD.replace("find /", "sleep 0.1; find /")
    path, results = write(tmp_path, text), tmp_path / "r.sqlite"
    process = subprocess.Popen(
        [TOP / "cw", "sweep", path, "--results", results, "--jobs", "2"], stdout=subprocess.PIPE, text=True,
        stderr=subprocess.PIPE, env={**os.environ, "SWEEP": str(path)},
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )  # fmt: skip
    assert process.stdout is not None
    lines = []
    for line in process.stdout:
        lines.append(line)
        if line.startswith("[2/6]"):
            break
    deadline = time.monotonic() + 30 * PATIENCE
    while not machines_of(f"SWEEP={path}"):
        assert time.monotonic() < deadline, "a running machine is found by its sweep's environment"
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    out, errors = process.communicate(timeout=60 * PATIENCE)
    assert process.returncode == 130, (lines, out, errors)
    assert "cells are recorded; the same command goes on from there" in out
    assert not machines_of(f"SWEEP={path}"), "no machine is left"
    recorded = len(rows(results))
    assert 2 <= recorded < 6
    with sqlite3.connect(results) as connection:
        before = dict(connection.execute("SELECT id, finished || log FROM cell"))
    done = cw("sweep", path, "--results", results)
    assert done.returncode == 0
    assert f"6 cells: {recorded} recorded already, {6 - recorded} to run".encode() in done.stdout
    with sqlite3.connect(results) as connection:
        after = dict(connection.execute("SELECT id, finished || log FROM cell"))
    assert len(after) == 6 and {id: after[id] for id in before} == before, "what was recorded was not run again"


def test_two_sweeps_on_one_file_of_results(cw, tmp_path):
    path, results = write(tmp_path, HEAD + WORKLOAD), tmp_path / "r.sqlite"
    other = write(tmp_path, HEAD.replace('"small"', '"other"').replace("[1, 2]", "[2, 3]") + WORKLOAD, "other")
    both = [
        subprocess.Popen([TOP / "cw", "sweep", one, "--results", results], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        for one in (path, other)
    ]  # fmt: skip
    for process in both:
        out, _ = process.communicate(timeout=120 * PATIENCE)
        assert process.returncode == 0, out
    with Store(results) as store:
        for name, seeds in (("small", {1, 2}), ("other", {2, 3})):
            found = store.cells(name, "reduced")
            assert {use.seed for use, cell in found if cell and cell.ok} == seeds


def test_a_file_that_is_not_of_results_is_left_as_it_is(cw, tmp_path):
    path = write(tmp_path, HEAD + WORKLOAD)
    (tmp_path / "text").write_text(
        "my precious notes, longer than a header of SQLite is, so that it is looked at\n" * 3
    )
    with sqlite3.connect(tmp_path / "theirs") as connection:
        connection.execute("CREATE TABLE cell (id)")
    for name, reason in (("text", "no file of results"), ("theirs", "another program's")):
        before = (tmp_path / name).read_bytes()
        done = cw("sweep", path, "--results", tmp_path / name)
        assert done.returncode == 125 and reason in done.stderr.decode(), done
        assert (tmp_path / name).read_bytes() == before and b"[1/" not in done.stdout


def test_a_full_disk_loses_nothing_that_was_recorded(tmp_path):
    """The results lie on a file system of 300 kB, each cell's log is some 100 kB."""
    script = "head -c 100000 /dev/zero | tr '\\\\0' x; echo; echo '{\\\"n\\\":1}'"
    workload = (
        f'\n[[workload]]\nname = "long"\nrun = ["sh", "-c", "{script}"]\n\n[[measure]]\nname = "n"\nfrom = "metric:n"\n'
    )
    path = write(tmp_path, HEAD.replace("[1, 2]", "[1, 2, 3, 4, 5, 6]") + workload)
    (tmp_path / "small").mkdir()
    inside = (
        f"mount -t tmpfs -o size=300k none {tmp_path}/small || exit 77; "
        f"{TOP}/cw sweep {path} --jobs 1 --results {tmp_path}/small/r.sqlite; status=$?; "
        f"cp {tmp_path}/small/r.sqlite* {tmp_path}; exit $status"
    )
    command = ["unshare", "--mount", "sh", "-c", inside]
    if os.geteuid() and subprocess.run(["sudo", "-n", "true"], capture_output=True, check=False).returncode == 0:
        command = ["sudo", "-n", *command]
    if shutil.which("unshare") is None:
        pytest.skip("unshare is not there")
    done = offspring.run(command, timeout=200 * PATIENCE, text=True)
    if done.returncode in (1, 77) and ("Operation not permitted" in done.stderr or "permission denied" in done.stderr):
        pytest.skip("mounting is not permitted here")
    assert done.returncode == 125, done
    assert "the disk is full. What was recorded before is kept; make room and go on" in done.stderr
    recorded = rows(tmp_path / "r.sqlite")
    assert 1 <= len(recorded) < 6 and all(row[0] == "ok" and len(row[3]) > 100000 for row in recorded.values())
    assert done.stdout.count(" s; about") == len(recorded)


def test_reproduce_sweeps_a_group_and_writes_its_report(tmp_path, monkeypatch, capsys):
    folder = tmp_path / "experiments"
    folder.mkdir()
    finding = '\n[[expect]]\ntext = "the same"\nmeasure = "n"\nmore = "reference"\nthan = "12 bits"\n'
    write(folder, (HEAD + OTHER + WORKLOAD + finding).replace('"small"', '"lever-small"'), "lever-small")
    write(folder, "this is another group's", "santos-small")
    for module in (reproduce, files):
        monkeypatch.setattr(module, "FOLDER", folder)
    monkeypatch.delenv("CW_BUILD", raising=False)
    request = command.Request([], results=tmp_path / "r.sqlite")
    assert reproduce.reproduce("lever", request, tmp_path / "report") == 0
    said = capsys.readouterr().out
    assert "4 cells are recorded" in said and "lever-small: Small" in said
    assert "the same (reference / 12 bits = 1)" in said and "the report:" in said
    for name in ("report.html", "report.txt", "report.csv", "report.json"):
        assert "lever-small" in (tmp_path / "report" / name).read_text()


# ---- a cluster ---------------------------------------------------------------------------------------------


@pytest.fixture
def scheduler(tmp_path):
    """A dask scheduler on this machine; its address."""
    command = [TOP / ".venv/bin/python3", "-m", "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0"]
    address = tmp_path / "scheduler.json"
    process = subprocess.Popen(
        [*command, "--no-dashboard", "--scheduler-file", address], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        deadline = time.monotonic() + 60 * PATIENCE
        while not (address.exists() and address.stat().st_size) and time.monotonic() < deadline:
            time.sleep(0.1)
        yield json.loads(address.read_text())["address"]
    finally:
        process.terminate()
        process.wait(60 * PATIENCE)


def test_a_cluster_gives_the_same_cells(cw, tmp_path, scheduler):
    path = write(tmp_path, HEAD + WORKLOAD)
    worker = subprocess.Popen(
        [TOP / "cw", "worker", scheduler, "--jobs", "2"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        done = cw("sweep", path, "--dask", scheduler, "--results", tmp_path / "far")
        assert done.returncode == 0, done.stdout + done.stderr
    finally:
        worker.terminate()
        worker.wait(60 * PATIENCE)
    done = cw("sweep", path, "--results", tmp_path / "near")
    with Store(tmp_path / "far") as far, Store(tmp_path / "near") as near:
        pairs = list(zip(far.cells("small", "reduced"), near.cells("small", "reduced"), strict=True))
    assert len(pairs) == 2
    for (_, one), (_, other) in pairs:
        assert one and other and one.ok and (one.id, one.stats, one.results) == (other.id, other.stats, other.results)


def test_no_scheduler_at_that_address(cw, tmp_path):
    done = cw("sweep", write(tmp_path, HEAD + WORKLOAD), "--dask", "tcp://127.0.0.1:1", "--results", tmp_path / "r")
    assert done.returncode == 125 and b"--dask tcp://127.0.0.1:1: there is no scheduler" in done.stderr, done.stderr


def test_a_worker_with_other_sources_is_refused(tmp_path):
    from lab.sweep import cluster

    plan = Plan()
    plan.add(load(write(tmp_path, HEAD + WORKLOAD)))
    config = next(iter(plan.cells.values())).config
    assert cluster._difference(config) == ""
    assert "other sources or another compiler" in cluster._difference({**config, "sources": "0"})
    assert "the sweep has 'QEMU 1'" in cluster._difference({**config, "qemu": "QEMU 1"})
