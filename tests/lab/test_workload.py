"""The workload program: the same operations on Linux and here by the same seed, faults told, nothing left behind."""

from __future__ import annotations

import json
import shutil
import subprocess

import pytest

from lab import machine, workloads
from lab.paths import LabError, output_folder

needs_packages = pytest.mark.skipif(not shutil.which("apt-get"), reason="no apt on this machine")


def results(output: bytes) -> list[dict]:
    """The JSON lines of what was printed."""
    return [json.loads(line) for line in output.decode(errors="replace").splitlines() if line.startswith("{")]


def on_host(*arguments, status=0, **options) -> subprocess.CompletedProcess:
    command = [str(output_folder() / "user" / "workload"), *map(str, arguments)]
    result = subprocess.run(command, capture_output=True, timeout=300, check=False, **options)
    assert result.returncode == status, result.stderr.decode()
    return result


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "Usage: workload LOAD"),
        (["smd"], "there is no load 'smd'"),
        (["sdm", "--script", "3"], "no such option"),
        (["sdm", "--scripts"], "the value is missing"),
        (["sdm", "--scripts", "0"], "from 1 to 128"),
        (["sdm", "--scripts", "129"], "from 1 to 128"),
        (["sdm", "--scripts", "1,,2"], "no number"),
        (["sdm", "--scripts", "-1"], "no number"),
        (["sdm", "--scripts", ",".join("1" * 40)], "at most 32"),
        (["sdm", "--size", "big"], "small|cpu|io"),
        (["sdm", "--seed", "1x"], "a number"),
        (["sdm", "--seed", "99999999999999999999999"], "no number"),
        (["sdm", "--keep=1"], "takes no value"),
        (["sdm", "16"], "All arguments are options"),
        (["sdm", "--source", "/nowhere"], "--image sdm"),
    ],
)
def test_wrong_arguments(arguments, said):
    assert said in on_host(*arguments, status=2).stderr.decode()


def test_help():
    loads = on_host("--help").stdout.decode()
    assert "sdm" in loads and "sdet" in loads
    text = on_host("sdm", "--help").stdout.decode()
    assert "--scripts N,..." in text and "--seed N" in text


def test_image_names(cw):
    wrong = cw("run", "--image", "sdn", "--", "true")
    assert wrong.returncode == machine.ERROR and b"no image 'sdn'" in wrong.stderr and b"  sdm " in wrong.stderr
    assert b"--image" in cw("list", "image").stdout
    with pytest.raises(LabError, match="There are"):
        workloads.find("")


@needs_packages
def test_sdm_is_repeatable_and_leaves_nothing(cw_run):
    """Twice under --icount: the same to the byte, the clock's nanoseconds included."""
    script = "workload sdm --scripts 2,1 --steps 14 --seed 5 2>/dev/null; ls -A /var/tmp"
    options = {"script": script, "image": "sdm", "icount": True, "debug": False}
    first, second = (cw_run(**options).output for _ in range(2))
    assert first == second
    two, one = results(first)
    assert [two["case"], one["case"]] == ["2 scripts", "1 scripts"]
    assert (two["steps"], one["steps"], two["scripts"], two["seed"]) == (28, 14, 2, 5)
    assert two["scripts_per_hour"] == pytest.approx(2 * 3600e9 / two["elapsed_ns"], rel=1e-6)
    assert len(first.splitlines()) == 2


@needs_packages
def test_sdm_is_the_same_on_linux(cw_run):
    """The same plan by the same seed, and the same tree at the end."""
    script = (
        "workload sdm --scripts 2 --seed 3 --keep 2>/dev/null && cd /var/tmp/workload && "
        "find . -not -type d -exec ls -l {} + | awk '{ print $1, $3, $9, $NF }' | sort && "
        "find . -type f -not -name listing -not -name counts -not -name '*.diff' -not -name objects "
        "-not -name src.tar -exec sha256sum {} + | sort"
    )
    here = cw_run(script=script, image="sdm", debug=False)
    linux = cw_run(script=script, image="sdm", debug=False, kernel="linux", timeout=300)
    (ours,), (theirs,) = results(here.output), results(linux.output)
    assert ours["digest"] == theirs["digest"] and ours["steps"] == theirs["steps"]
    trees = [run.output.decode().splitlines()[1:] for run in (here, linux)]
    assert len(trees[0]) > 150
    assert trees[0] == trees[1]


@needs_packages
def test_a_step_that_fails_is_named(cw_run):
    run = cw_run(
        script="rm /usr/bin/mandoc; workload sdm --scripts 2; s=$?; ls -A /var/tmp; exit $s", image="sdm", status=1
    )
    said = run.output.decode()
    assert "mandoc: ended with status 127" in said and "the step: mandoc -T ascii doc/lua.1" in said
    assert not results(run.output) and "workload\n" not in said.replace("\r", "")


@needs_packages
def test_a_signal_ends_sdm_and_all_it_started(cw_run):
    script = "timeout -s INT 1 workload sdm --scripts 4 --steps 1000; echo status $?; ls -A /var/tmp; ps -o comm | grep -c workload"
    lines = cw_run(script=script, image="sdm", status=1).output.decode().split()
    assert lines[-3:] == ["status", "130", "0"]
