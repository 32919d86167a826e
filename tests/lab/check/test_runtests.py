"""A test that hangs is a failure with a name, and a run that is stopped tells what had not ended (lab/check/runtests.py)."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time

import pytest

from lab.base.paths import TOP
from lab.check import runtests

TESTS = """
import time

def test_that_ends():
    pass

def test_that_does_not():
    time.sleep(600)
"""
RUN = """
from lab.check import runtests
runtests.build_kernels = lambda: None
runtests.LIMIT = {limit}
runtests.main()
"""


@pytest.fixture
def run(tmp_path):
    """run(limit) -> a test run of two tests, one of which hangs, each with @limit seconds; ended with the test."""
    runs: list[subprocess.Popen] = []
    hanging = tmp_path / "test_hanging.py"
    hanging.write_text(TESTS)

    def start(limit: float) -> subprocess.Popen:
        command = [sys.executable, "-c", RUN.format(limit=limit), "-n", "2", "--rootdir", tmp_path, hanging]
        # A run's own variables would make a worker of it, and give it other limits.
        others = ("PYTEST_", "CW_PATIENCE", *runtests.SCALES)
        environment = {name: value for name, value in os.environ.items() if not name.startswith(others)}
        environment["CW_OUTPUT"] = str(tmp_path)
        runs.append(subprocess.Popen(command, cwd=TOP, env=environment, stdout=subprocess.PIPE, text=True))
        return runs[-1]

    yield start
    for one in runs:
        one.kill()
        one.wait()


def test_a_test_that_hangs_fails(run):
    started = run(3)
    said, _ = started.communicate(timeout=120)
    assert started.returncode == 1
    assert said.splitlines()[-1] == "1 passed, 1 failed"
    assert "Timeout (>3.0s)" in said and "test_that_does_not" in said


def test_who_stops_a_run_is_told_what_hangs(run, tmp_path):
    started = run(600)
    times = tmp_path / "test.times"
    while not times.exists() or "test_that_ends" not in times.read_text():
        assert started.poll() is None
        time.sleep(0.1)
    started.send_signal(signal.SIGTERM)
    said, _ = started.communicate(timeout=120)
    assert started.returncode == 1
    assert re.search(r"not ended after \d+ s: \S*test_hanging.py::test_that_does_not", said)
    assert said.splitlines()[-1] == "1 passed, 1 failed"


@pytest.mark.parametrize(
    ("given", "seconds"),
    [
        ({}, 900),
        ({"CW_PATIENCE": "3"}, 2700),
        ({"HOSTED_SCALE": "10", "CHAINHASH_SCALE": "2", "CW_PATIENCE": "2"}, 18000),
        ({"HOSTED_SCALE": "0.2"}, 900),
    ],
    ids=["usual", "busy", "longer", "shorter"],
)
def test_who_is_to_look_longer_may(monkeypatch, given, seconds):
    for name in ("CW_PATIENCE", *runtests.SCALES):
        monkeypatch.delenv(name, raising=False)
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    assert runtests.limit() == seconds
