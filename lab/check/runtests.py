"""make test: build the kernels that the tests boot, run the three rings, end with `N passed, N failed`.

Arguments are pytest's (TESTS="tests/booted -k shell"). Without any, of the long tests those run that the commit draws
(tests/draw.py); --all: all of them. A build that fails, a test file that cannot be read
and a run without a single test are failures. A test that has not ended after LIMIT is one, too, and whoever stops the
run is told which tests had not ended. Nothing that failed can end in status 0.

make check (--check): the same for the tests with the mark `check`, the hosted ones at a fifth of their length.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path

import pytest

from lab.base.commit import head
from lab.base.paths import TOP, LabError, output_folder
from lab.build.configure import ConfigureError
from lab.check.kernels import build_kernels

LIMIT = 900.0  # seconds, for one test: the slowest, a lab's text, took 431 beside much else on two CPUs
SCALES = ("HOSTED_SCALE", "POWERCUT_SCALE", "CHAINHASH_SCALE")  # how much longer than usual tests are asked to look


def limit() -> float:
    """The seconds that one test has: more where it is asked for more, or the host is busy."""
    longest = max(1.0, *(float(os.environ.get(name, "1")) for name in SCALES))
    return LIMIT * longest * float(os.environ.get("CW_PATIENCE", "1"))


class Counter:
    """A pytest plugin that counts outcomes, setup and teardown errors among the failures, and what each test took."""

    def __init__(self, times: Path) -> None:
        """@times: a file for every test's outcome, seconds and CPU seconds, a line each as it ends: for whoever wants to
        shorten the whole, or to know what failed before that has ended."""
        times.parent.mkdir(parents=True, exist_ok=True)
        self.times = times.open("w", buffering=1)
        self.outcome: dict[str, str] = {}
        self.running: dict[str, float] = {}  # since when
        self.seconds: dict[str, float] = {}
        self.cpu_seconds: dict[str, float] = {}  # tests/conftest.py
        self.collection_errors = 0
        self.left = 0  # to other commits

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node) -> None:
        self.left = getattr(node, "workeroutput", {}).get("left", 0)

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self.running[nodeid] = time.monotonic()

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        self.running.pop(nodeid, None)

    def pytest_sessionstart(self, session: pytest.Session) -> None:
        self.terminal = session.config.get_terminal_writer()  # what a hook prints is captured

    def pytest_keyboard_interrupt(self) -> None:
        """Of a run that hangs this is what one wants to know, at once: the workers have ten seconds to end."""
        for test, since in self.running.items():
            self.terminal.line(f"\nnot ended after {time.monotonic() - since:.0f} s: {test}")
        self.terminal.flush()

    def pytest_runtest_logreport(self, report) -> None:
        self.seconds[report.nodeid] = self.seconds.get(report.nodeid, 0) + report.duration
        self.cpu_seconds[report.nodeid] = dict(report.user_properties).get("cpu_seconds", 0)
        if report.failed:
            self.outcome[report.nodeid] = "failed"
        elif report.skipped:
            self.outcome.setdefault(report.nodeid, "skipped")
        elif report.when == "call":
            self.outcome.setdefault(report.nodeid, "passed")
        if report.when == "teardown":
            test, outcome = report.nodeid, self.outcome.get(report.nodeid, "-")
            self.times.write(f"{outcome}\t{self.seconds[test]:.2f}\t{self.cpu_seconds[test]:.2f}\t{test}\n")

    def pytest_collectreport(self, report) -> None:
        if report.failed:
            self.collection_errors += 1

    def count(self, what: str) -> int:
        return sum(1 for outcome in self.outcome.values() if outcome == what)

    def print_slowest(self, count: int = 20) -> None:
        """On a busy host seconds tell little; a CPU's, of all that a test starts, tell what it costs."""
        slowest = sorted(self.seconds, key=lambda test: -self.seconds[test])[:count]
        print(f"{sum(self.cpu_seconds.values()):.0f} CPU seconds in all; seconds and CPU seconds of the slowest:")
        for test in slowest:
            print(f"{self.seconds[test]:8.1f} {self.cpu_seconds[test]:8.1f}  {test}")


def drawn(arguments: list[str]) -> list[str]:
    """What pytest is asked for: all tests, of the long ones those that are the commit's; --all: these, too. What was
    named is run whole."""
    if arguments == ["--all"]:
        return ["tests"]
    return arguments or ["tests", "--draw", head()]


def main() -> None:
    began = time.monotonic()
    counter = Counter(output_folder() / "test.times")
    extra = 0
    try:
        build_kernels()
        arguments = drawn(sys.argv[1:])
        if "--check" in arguments:
            arguments = [word for word in arguments if word != "--check"] + ["-m", "check"]
            os.environ.setdefault("HOSTED_SCALE", "0.2")
        if not any(word.startswith("-n") for word in arguments):
            # Two more than there are CPUs: many tests wait, for a key's echo or a time-out.
            arguments += ["-n", str(min((os.cpu_count() or 1) + 2, 8)), "--dist", "worksteal"]
        signal.signal(signal.SIGTERM, signal.default_int_handler)  # as Ctrl-C
        always = ["-q", "-p", "no:cacheprovider", "--rootdir", str(TOP), "--timeout", str(limit())]
        status = int(pytest.main([*always, *arguments], plugins=[counter]))
    except (LabError, ConfigureError) as error:
        print(f"make test: {error}", file=sys.stderr)
        status, extra = 1, 1
    failed = counter.count("failed") + counter.collection_errors + extra
    if status and not failed:
        failed = 1  # interrupted, no tests, an internal error: never a success
    if len(counter.seconds) > 1:
        counter.print_slowest()
    skipped = counter.count("skipped")
    if skipped:
        print(f"{skipped} skipped")
    if counter.left:
        print(f"{counter.left} long tests were left to other commits: `make test ALL=y` leaves none out")
    print(f"{time.monotonic() - began:.0f} seconds")
    count = f"{counter.count('passed')} passed, {failed} failed"
    (output_folder() / "test.count").write_text(f"{count}\n")
    print(count, flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
