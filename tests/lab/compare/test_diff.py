"""./cw diff: what is compared, how a difference is said, and both kernels at work."""

from __future__ import annotations

import shutil
import struct

import pytest

from lab.base.paths import LabError
from lab.compare import diff, values
from lab.compare.diff import Call, Outcome
from lab.guest import jobs
from lab.run import control, machine


def outcome(kernel: str, output: bytes = b"one\ntwo\n", status: int = 0, **given) -> Outcome:
    return Outcome(kernel, machine.Result(status, "exit", "", control.ControlLog(), output), **given)


FILE = "-\t0644\t0\t0\t1\t3\tabcd"


def compare(**there) -> dict[str, list[str]]:
    ours = {"files": {"/a": FILE, "/b": "="}, "calls": {"1": [Call("open", "ENOENT"), Call("read", "")]}}
    return diff.compare(outcome("chainwalk", **ours), outcome("linux", **{**ours, **there}))


def test_the_same_is_no_finding():
    assert compare() == {}


@pytest.mark.parametrize(
    ("there", "heading", "said"),
    [
        ({"output": b"one\n"}, "output", "+two"),
        ({"status": 3}, "exit status", "linux: 3"),
        ({"files": {"/a": FILE.replace("0644", "0600"), "/b": "="}}, "files", "/a: mode: linux 0600, chainwalk 0644"),
        ({"files": {"/a": FILE.replace("\t1\t", "\t2\t"), "/b": "="}}, "files", "/a: links: linux 2, chainwalk 1"),
        ({"files": {"/a": FILE}}, "files", "/b: only on chainwalk: unchanged"),
        ({"files": {"/a": FILE, "/b": FILE}}, "files", "/b: linux: -\t0644"),
        ({"calls": {"1": [Call("open", ""), Call("read", "")]}}, "calls", "-open = ok"),
        ({"calls": {"1": [Call("open", "ENOENT")]}}, "calls", "+read = ok"),
        ({"calls": {}}, "calls", "process 1: only on chainwalk"),
        ({"damage": "bitmap wrong"}, "e2fsck", "linux: bitmap wrong"),
    ],
)
def test_each_difference_is_found_and_said(there, heading, said):
    findings = compare(**there)
    assert list(findings) == [heading]
    assert said in "\n".join(findings[heading])


def test_calls_that_vary_count_only_where_they_fail():
    more = [Call("open", "ENOENT"), Call("mmap", ""), Call("read", ""), Call("clock_gettime", "")]
    assert compare(calls={"1": more}) == {}
    assert "calls" in compare(calls={"1": [*more, Call("mmap", "ENOMEM")]})


def test_a_pipe_may_be_read_in_any_number_of_pieces():
    once = [Call("pipe", ""), Call("read", ""), Call("write", ""), Call("close", "")]
    often = [
        Call("pipe", ""),
        *2 * [Call("read", ""), Call("write", ""), Call("brk", "")],
        Call("read", ""),
        Call("close", ""),
    ]
    here, there = (outcome(kernel, calls={"1": calls}) for kernel, calls in (("a", once), ("b", often)))
    assert diff.compare(here, there) == {}
    for other in (once[:2] + once[3:], [*once, Call("read", "")], [*once[:3], Call("read", "EIO"), once[3]]):
        there.calls["1"] = other
        assert "calls" in diff.compare(here, there)


def test_what_chainwalk_does_not_offer_is_said_and_no_difference():
    refused = [Call("rseq", "ENOSYS"), Call("socket", "EAFNOSUPPORT"), Call("close", "")]
    offered = [Call("rseq", ""), Call("socket", ""), Call("connect", "ENOENT"), Call("close", ""), Call("close", "")]
    here, there = (outcome(kernel, calls={"1": calls}) for kernel, calls in (("a", refused), ("b", offered)))
    assert diff.compare(here, there) == {}
    assert diff.refusals(here) == "rseq (1), socket (1)"
    assert diff._name("syscall_0x14e") == "rseq" and diff._name("open") == "open"


def test_descriptors_of_calls_that_are_not_offered_are_closed_by_one_kernel_alone():
    events = [Call("epoll_create1", ""), Call("epoll_ctl", ""), Call("close", ""), Call("close", "")]
    here, there = outcome("a", calls={"1": events[3:]}), outcome("b", calls={"1": events})
    assert diff.compare(here, there) == {}
    here.result.config = "CONFIG_EVENTS=y"
    assert "calls" in diff.compare(here, there)


def test_which_calls_are_not_offered_is_in_the_table():
    kernel = outcome("a")
    kernel.result.config = "CONFIG_SOCKETS=y\nCONFIG_MREMAP=y"
    absent = diff.unoffered(kernel)
    assert absent["rseq"] == "ENOSYS" and not absent.keys() & {"socket", "connect", "mremap"}
    kernel.result.config = ""
    absent = diff.unoffered(kernel)
    assert (absent["socket"], absent["connect"], absent["mremap"]) == ("EAFNOSUPPORT", "ENOSYS", "ENOSYS")


def test_what_an_optional_room_has_is_compared_where_the_room_is():
    refused, offered = [Call("getxattr", "EOPNOTSUPP")], [Call("getxattr", "ENODATA"), Call("getxattr", "ENODATA")]
    here, there = (outcome(kernel, calls={"1": calls}) for kernel, calls in (("a", refused), ("b", offered)))
    here.result.config = "# CONFIG_XATTR is not set"
    assert diff.compare(here, there) == {} and diff.refusals(here) == "getxattr (1)"
    here.result.config = "CONFIG_XATTR=y"
    assert "calls" in diff.compare(here, there) and not diff.refusals(here)


TRACE = """\
80    execve("/bin/x", ["x"], 0x7ffc /* 5 vars */) = 0
80    openat(AT_FDCWD, "/a = b", O_RDONLY) = -1 ENOENT (No such file or directory)
80    clone(child_stack=NULL, flags=SIGCHLD <unfinished ...>
90    read(3, "= 5\\n", 10) = 4
80    <... clone resumed>, child_tidptr=0x7f) = 90
80    umask(0)                          = 022
80    mmap(NULL, 8192, PROT_READ, MAP_PRIVATE, -1, 0) = 0x7f0000000000
80    vfork()                           = 91
80    --- SIGCHLD {si_signo=SIGCHLD, si_pid=90} ---
91    wait4(-1, 0x7ffc, 0, NULL)        = ? ERESTARTSYS (To be restarted if SA_RESTART is set)
91    exit_group(0)                     = ?
91    +++ exited with 0 +++
"""


def test_a_trace_is_read_process_by_process():
    found = diff._by_process(diff.parse_strace(TRACE))
    said = {label: [str(call) for call in calls] for label, calls in found.items()}
    assert said == {
        "1": ["execve = ok", "openat = ENOENT", "clone = ok", "umask = ok", "mmap = ok", "vfork = ok"],
        "1.1": ["read = ok"],
        "1.2": ["wait4 = ok", "exit_group = ok"],
    }


def test_seconds_of_a_time_that_is_omitted_are_not_looked_at():
    assert values.moment(struct.pack("<qq", 1 << 62, 0x3FFFFFFE)) == "UTIME_OMIT"
    assert values.moment(struct.pack("<qq", 1, 5)).startswith("{tv_sec=1, tv_nsec=5} /* 19")


def test_a_limit_counts_kilobytes_from_two_on():
    """As strace has it: 1024, of open files mostly, is no size."""
    assert [values.limit(value) for value in (1023, 1024, 1025, 2048)] == ["1023", "1024", "1025", "2*1024"]


def test_a_list_that_is_cut_is_refused(tmp_path):
    path = tmp_path / "list"
    path.write_bytes(b"/a\t=\nend\t1\n" + bytes(100))
    assert diff.read_list(path) == {"/a": "="}
    path.write_bytes(b"/a\t=\n/b\t=\nend\t1\n" + bytes(100))
    with pytest.raises(LabError, match="not whole"):
        diff.read_list(path)


needs_apt = pytest.mark.skipif(not shutil.which("apt-get"), reason="no apt on this machine")
JOB = """
mkdir -p d/e; echo one > d/a; ln d/a d/b; ln -s nowhere d/s; mv d/b d/e; chmod 2750 d/e; chown 1:2 d/a; mkfifo d/p
cat /no/such; rm /etc/hostname; mkdir d; echo "$(ls -l d | wc -l)"; exit 3
"""


@pytest.mark.turns(2)
@needs_apt
@pytest.mark.usefixtures("on_the_full_kernel")
def test_a_shell_script_does_the_same_on_both(capsys):
    options = machine.Options(kernel="linux", job=["sh", "-c", JOB], timeout=240)
    assert diff.diff(options) == 0, capsys.readouterr().out
    said = capsys.readouterr().out
    assert "status 3" in said and "calls of" in said


@needs_apt
def test_what_differs_ends_with_1(capsys):
    options = machine.Options(kernel="linux", job=["sh", "-c", "uname -s; cp /proc/version /root/v"], timeout=240)
    assert diff.diff(options, traced=False) == 1
    said = capsys.readouterr().out
    assert "-Linux" in said or "== files" in said
    assert "/root/v: content" in said


def test_jobs_say_what_they_need():
    assert {"git", "make", "sqlite", "tools"} <= set(jobs.names()) and not {"demo", "common"} & set(jobs.names())
    assert jobs.find("git").ignored == ("*/.git/index",) and "git" in jobs.find("git").packages
    with pytest.raises(LabError, match="There are: dbench, git, make"):
        jobs.find("demo")


@pytest.mark.turns(4)
@needs_apt
def test_a_job_of_real_programs_does_the_same_on_both(capsys):
    """One for the way through ./cw diff --job; tests/programs compares them all."""
    options = machine.Options(kernel="linux", root="tmpfs", smp=2, timeout=240)
    assert diff.diff(options.with_job(jobs.find("perl")), traced=False) == 0, capsys.readouterr().out
