"""A run's status: the job's own when the kernel sent it, another non-zero one for whatever the machine did."""

from __future__ import annotations

import os

import pytest

from lab.run import machine


@pytest.mark.check
@pytest.mark.parametrize("root", ["ext2", "tmpfs", "ram"])
@pytest.mark.parametrize("debug", [False, True], ids=["plain", "debug"])
def test_the_jobs_own_status(cw_run, root, debug):
    cw_run(["/bin/busybox", "true"], root=root, debug=debug)
    cw_run(script="exit 7", root=root, status=7, debug=debug)


@pytest.mark.parametrize(
    ("script", "status"),
    [("exit 255", 255), ("kill -9 $$", 137), ("kill -TERM $$", 143), ("/no/such/program", 127), ("/etc/passwd", 126)],
)
def test_statuses_as_in_a_shell(cw_run, script, status):
    cw_run(script=script, status=status)


def test_a_missing_program_is_127(cw_run):
    cw_run(["/no/such/program"], status=127)


def test_a_damaged_program_is_126(cw_run, tmp_path):
    path = tmp_path / "not-elf"
    path.write_bytes(b"\x7fELF" + bytes(60))
    path.chmod(0o755)
    result = cw_run(["/not-elf"], add=[f"{path}:/not-elf"], status=126)
    assert b"Exec format error" in result.output


def test_a_panic_is_never_a_success(cw_run):
    result = cw_run(script="echo c > /proc/sysrq-trigger; exit 0", kind="panic")
    assert result.status == machine.PANIC


def test_a_job_that_does_not_end_is_a_timeout(cw_run):
    result = cw_run(["/bin/busybox", "sleep", "1000"], kind="timeout", timeout=6)
    assert result.status == machine.TIMEOUT
    result = cw_run(script="while :; do :; done", kind="timeout", timeout=6)
    assert result.status == machine.TIMEOUT


def test_a_reset_without_status_is_silence(cw_run):
    result = cw_run(["/bin/busybox", "reboot", "-f"], kind="silence")
    assert result.status == machine.SILENCE


def test_a_missing_init_is_never_a_success(cw_run):
    result = cw_run(["/bin/true"], cmdline="init=/no/such/init", kind="panic", fsck=False)
    assert result.status == machine.PANIC


def test_a_missing_root_is_never_a_success(cw_run):
    result = cw_run(["/bin/true"], root="tmpfs", cmdline="root=/dev/vda", kind="panic", fsck=False)
    assert result.status == machine.PANIC


def test_quiet_is_the_programs_output_alone(cw):
    result = cw("run", "--quiet", "--", "/bin/sh", "-c", "printf 'a\\n\\001\\377b'; echo err >&2; exit 3")
    assert result.stdout == b"a\n\x01\xffberr\n"
    assert result.returncode == 3, result.stderr


def test_arguments_arrive_as_they_are(cw):
    words = ["two words", "", "q\"uo'te", "100%", "$HOME", "back\\slash", "ü", "a=b", "--", "-x"]
    result = cw("run", "--quiet", "--", "/bin/busybox", "printf", "<%s>\\n", *words)
    assert result.stdout.decode() == "".join(f"<{word}>\n" for word in words)


def test_a_long_argument_list_arrives(cw):
    words = [f"{number}-" + "x" * 40 for number in range(200)]
    result = cw("run", "--quiet", "--", "/bin/echo", *words)
    assert result.stdout.decode().split() == words
    result = cw("run", "--quiet", "--", "/bin/echo", *words, *words)
    assert result.returncode == 125, "more than 255 arguments are refused, not cut"


@pytest.mark.turns(4)
@pytest.mark.parametrize("length", [300, 700, 1100, 1700, 2500])
@pytest.mark.parametrize("character", ['"', "%", "\n"])
def test_a_long_script_arrives_whatever_is_in_it(cw, character, length):
    """Each character takes several on the way: what is too long for the command line goes by a file."""
    script = f": '{character * length}'; echo arrived"
    result = cw("run", "--quiet", "--", "sh", "-c", script)
    assert (result.returncode, result.stdout) == (0, b"arrived\n"), result.stderr


def test_standard_input_reaches_the_job(cw):
    done = cw("run", "--quiet", "--timeout", "60", "--", "/bin/cat", input=b"one\ntwo\n", timeout=120)
    assert (done.returncode, done.stdout) == (0, b"one\ntwo\n"), done.stderr


@pytest.mark.parametrize(
    ("job", "said"), [("sleep 1000", b""), ("while :; do echo here; done", b"here\nhere\n")], ids=["waits", "writes"]
)
def test_a_job_that_does_not_read_its_input_is_not_held_up(cw, tmp_path, job, said):
    """What is to be typed is more than all buffers on the way hold: the job's output comes, and its time runs out."""
    typed = tmp_path / "typed"
    typed.write_bytes(b"all work and no play\n" * 50000)
    with typed.open("rb") as keys:
        done = cw("run", "--quiet", "--timeout", "8", "--", "sh", "-c", job, stdin=keys, timeout=60)
    assert done.returncode == machine.TIMEOUT and said in done.stdout, done.stderr
    assert done.stderr == b"cw: time-out: the job did not end in time\n"


def test_an_ordinary_user(cw_run):
    result = cw_run(script="id -un; cd; pwd; touch mine; stat -c %U mine; touch /etc/x", user="user", status=1)
    assert result.output.decode().splitlines()[:3] == ["user", "/home/user", "user"]
    assert b"Permission denied" in result.output


@pytest.fixture
def umask_077():
    before = os.umask(0o077)
    yield
    os.umask(before)


@pytest.mark.parametrize("root", ["ext2", "tmpfs"])
def test_what_is_added_is_the_users_whatever_the_umask(cw_run, tmp_path, umask_077, root):
    """Modes are the host's, folders the lab's own; what only the owner may read the job's user may read."""
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "private").write_text("mine\n")
    (tmp_path / "folder" / "public").write_text("all's\n")
    (tmp_path / "folder" / "public").chmod(0o644)
    script = "cd; pwd; cat folder/private; echo more > folder/new; cd /srv/new/folder; stat -c '%a %U %n' . * .. ../.."
    add = [f"{tmp_path}/folder", f"{tmp_path}/folder:/srv/new/"]
    result = cw_run(script=script, user="user", add=add, root=root)
    assert result.output.decode().split("\n")[:-1] == [
        "/home/user", "mine", "755 user .", "600 user private", "644 user public", "755 root ..", "755 root ../..",
    ]  # fmt: skip
