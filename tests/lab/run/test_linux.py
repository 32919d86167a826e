"""Debian's cloud kernel in the same machine: same image, same init, status carried out as truthfully."""

from __future__ import annotations

import shutil

import pytest

from lab.base.paths import LabError
from lab.run import linux, machine


@pytest.fixture(scope="session")
def kernel() -> linux.LinuxKernel:
    if not shutil.which("apt-get"):
        pytest.skip("no apt on this machine")
    return linux.linux_kernel()


def job(script: str, **given) -> machine.Result:
    options = machine.Options(kernel="linux", job=["sh", "-c", script], quiet=True, timeout=240, **given)
    return machine.run(options)


def test_the_kernel_comes_with_what_the_machine_needs(kernel):
    assert kernel.image.exists() and kernel.release.endswith("-cloud-amd64")
    assert {path.name for path in kernel.modules} >= {"virtio_blk.ko", "brd.ko"}


def test_a_job_runs_on_the_disk_with_its_user_cpus_and_status(kernel):
    result = job("uname -r; nproc; id -un; grep ' / ' /proc/mounts; env; exit 7", smp=2, user="user")
    lines = result.output.decode().splitlines()
    assert (result.status, result.kind) == (7, "exit"), result.message
    assert lines[:3] == [kernel.release, "2", "user"] and lines[3].startswith("/dev/vda / ext2 ")
    assert {line.partition("=")[0] for line in lines[4:]} == {"PATH", "TERM", "HOME", "USER", "LOGNAME", "SHLVL", "PWD"}


def test_a_job_s_last_words_are_waited_for(kernel, tmp_path):
    """The console has yet to send them when the job ends, held up by a Ctrl-S; Linux would throw them away."""
    typed = tmp_path / "typed"
    typed.write_bytes(b"\x13")
    options = machine.Options(
        kernel="linux", job=["sh", "-c", "sleep 1; exec echo last words"], quiet=True, timeout=120
    )
    with typed.open("rb") as source:
        result = machine.run(options, source=source)
    assert result.status == 0, result.message
    assert b"last words" in result.output


@pytest.mark.turns(6)
@pytest.mark.parametrize(("root", "expected"), [("ram", "/dev/ram0 / ext2"), ("tmpfs", "rootfs / rootfs")])
def test_roots_in_memory_and_icount(kernel, root, expected):
    result = job("grep ' / ' /proc/mounts; echo x > /new && cat /new", root=root, icount=root == "ram")
    assert result.status == 0, result.message
    assert result.output.decode().startswith(expected) and result.output.endswith(b"x\n")


@pytest.mark.turns(3)
@pytest.mark.parametrize("count", [linux.INIT_ARGUMENTS, 50, 255])
def test_a_job_of_many_arguments(kernel, count):
    """More than Linux gives its init go another way: it would panic."""
    words = ["printf", "%s.", *map(str, range(2, count))]
    result = machine.run(machine.Options(kernel="linux", job=words, quiet=True, timeout=240, root="tmpfs"))
    assert result.status == 0, result.message
    assert result.output.decode() == "".join(f"{number}." for number in range(2, count))


def test_a_panic_is_no_success(kernel):
    assert job("echo c > /proc/sysrq-trigger").status == machine.SILENCE


def test_what_only_chainwalk_has_is_refused():
    with pytest.raises(LabError, match="--set"):
        job("true", settings=["HASH_WORD=32"])
    with pytest.raises(LabError, match="chainwalk, linux"):
        machine.run(machine.Options(kernel="hurd", job=["true"]))
