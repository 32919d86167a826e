"""What all tests share: one machine a test, booted by the lab itself and judged by what it truly did."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
from pathlib import Path

import pytest

from lab.base import offspring
from lab.base.paths import TOP, output_folder
from lab.check.kernels import debug_output, full_output
from lab.guest import image
from lab.run import machine
from tests import draw

PATIENCE = float(os.environ.get("CW_PATIENCE", "1"))  # how much longer than usual a busy host may take

# A run started in the background of a script ignores the keyboard's signals, and so would all that it starts.
for ignored in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
    if signal.getsignal(ignored) is signal.SIG_IGN:
        signal.signal(ignored, signal.default_int_handler if ignored == signal.SIGINT else signal.SIG_DFL)


def pytest_addoption(parser):
    parser.addoption("--draw", metavar="WORD", help="of tests that take turns, those that WORD draws (tests/draw.py)")


LEFT = pytest.StashKey[int]()


def pytest_collection_modifyitems(config, items):
    """The long ones first: one that comes last would run while other CPUs are idle. Some take turns."""
    word = config.getoption("draw")
    left = draw.left_out(items, word) if word else []
    config.stash[LEFT] = len(left)
    if left:
        config.hook.pytest_deselected(items=left)
        gone = set(left)
        items[:] = [item for item in items if item not in gone]
    items.sort(key=lambda item: item.get_closest_marker("long") is None)


def pytest_sessionfinish(session):
    """A worker tells how many it left to other commits (lab/check/runtests.py prints it)."""
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["left"] = session.config.stash.get(LEFT, 0)


def cpu_seconds() -> float:
    """Of this process and of what it has started and waited for: machines, compilers."""
    usages = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


BEGAN = pytest.StashKey[float]()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    item.stash[BEGAN] = cpu_seconds()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """What the test cost, with its last report (lab/check/runtests.py prints it)."""
    report = yield
    if report.when == "teardown":
        report.user_properties.append(("cpu_seconds", cpu_seconds() - item.stash.get(BEGAN, 0)))
    return report


@pytest.fixture
def cw_run(tmp_path):
    """Boot a machine of its own and run a job in it: cw_run(["/bin/ls", "/"], smp=2) -> Result.

    `script="..."` runs a shell script instead. The run must end with status @status (None: any) and in the
    way @kind; a panic, hang, silence or time-out fails the test with the console's last lines. A disk that
    the run wrote is checked with e2fsck. The debug kernel is booted, which has all optional rooms that programs
    may need; with debug=False the kernel as it ships, with full=True that with these rooms and without the checks.
    """

    def boot(
        job=None, *, script=None, status=0, kind="exit", debug=True, full=False, fsck=True, input_file=None, **options
    ):
        plain = str(output_folder())
        checked = debug_output() if debug else plain
        os.environ["CW_OUTPUT"] = full_output() if full else checked
        try:
            if script is not None:
                job = ["/bin/sh", "-c", script]
            options["timeout"] = options.get("timeout", 120) * PATIENCE
            options.setdefault("mem", "256M")
            options.setdefault("quiet", True)
            options.setdefault("build", False)
            options.setdefault("flushes", False)  # the host outlives the test
            given = machine.Options(job=list(job or []), **options)
            if given.root_kind() == "ext2" and given.disk is None and not given.iso:
                given.disk = tmp_path / f"disk-{len(list(tmp_path.iterdir()))}"
            result = machine.run(given, source=input_file)
        finally:
            os.environ["CW_OUTPUT"] = plain
        text = result.output.decode(errors="replace")
        said = f"{result.message}\nthe console's last lines:\n{text[-3000:]}"
        assert result.kind == kind, said
        if status is not None and kind == "exit":
            assert result.status == status, said
        if fsck and kind == "exit" and given.disk is not None and given.root_kind() == "ext2":
            clean, report = image.check(given.disk)
            assert clean, f"e2fsck: {report}\n{said}"
        result.disk = given.disk
        return result

    return boot


@pytest.fixture
def cw(tmp_path):
    """Run ./cw as a user would: cw("run", "--quiet", "--", "/bin/true") -> CompletedProcess (bytes)."""

    def call(*arguments, timeout=300, **options):
        command = [str(TOP / "cw"), *map(str, arguments)]
        options.setdefault("stdin", subprocess.DEVNULL)
        return offspring.run(command, timeout=timeout * PATIENCE, **options)

    return call


@pytest.fixture
def on_the_full_kernel(monkeypatch):
    """./cw takes the kernel with all optional rooms, which stands, and does not build one with a room that it needs.

    Not together with cw_run, which chooses among the kernels itself.
    """
    monkeypatch.setenv("CW_OUTPUT", full_output())


@pytest.fixture(scope="session")
def top() -> Path:
    return TOP
