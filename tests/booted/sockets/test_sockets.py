"""Unix sockets used to the limit: each is an errno, and nothing stays behind (limits.c)."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from lab.check.fuzz import calls as fuzz
from tests.musl import static_program

TOO_MANY = -errno.ETOOMANYREFS
SAID = [
    f"itself {TOO_MANY} other end 0 chain 0 0 circle {TOO_MANY} listener {TOO_MANY}",
    "nested 3000",
    "inwards 5",
    f"under way 32768 error {TOO_MANY}",
    "memory ENOBUFS after 1",
    "unaccepted ENOMEM after 1",
    f"pairs 3 error {errno.EMFILE} one more 1",
    "torn off",
]


@pytest.fixture(scope="session")
def limits(tmp_path_factory) -> Path:
    return static_program(tmp_path_factory.mktemp("sockets") / "limits", Path(__file__).parent / "limits.c")


@pytest.mark.turns(3)
@pytest.mark.parametrize(("root", "cpus", "full"), [("ext2", 2, False), ("tmpfs", 1, False), ("tmpfs", 4, True)])
def test_limits_are_errors_and_nothing_stays(cw_run, limits, root, cpus, full):
    """Files passed, circles, deep nests, full queues; then not one object of the kernel more than before."""
    round_of = f"/root/limits 2> /dev/null; {fuzz.SETTLED}; echo ROUND; "
    add = [f"{limits}:/root/limits"]
    result = cw_run(script=round_of * 3, add=add, root=root, smp=cpus, full=full, mem="128M", timeout=200)
    rounds = result.output.decode().replace("\r", "").split("ROUND\n")
    for text in rounds[:3]:
        assert text.splitlines()[: len(SAID)] == SAID
    assert not fuzz.leaks(rounds[1], rounds[2])


def test_a_user_leaves_root_some_files_to_send(cw_run, limits):
    result = cw_run(["/root/limits", "user"], add=[f"{limits}:/root/limits"], mem="256M")
    assert result.output.decode().replace("\r", "") == f"under way 16384 error {TOO_MANY}\n"


def test_without_the_room_no_family_is_known(cw_run, tmp_path):
    """As of a kernel without networks: musl would take ENOSYS for a failure to read the groups."""
    source = tmp_path / "none.c"
    source.write_text(
        "#include <errno.h>\n#include <grp.h>\n#include <stdio.h>\n#include <sys/socket.h>\n"
        "int main(void) { int pair[2], n = 0; gid_t groups[32]; n = 32;\n"
        'printf("%d ", socket(AF_UNIX, SOCK_STREAM, 0) < 0 ? errno : 0);\n'
        'printf("%d ", socketpair(AF_UNIX, SOCK_STREAM, 0, pair) < 0 ? errno : 0);\n'
        'printf("%d ", getpeername(0, 0, 0) < 0 ? errno : 0);\n'
        'printf("%d ", listen(0, 1) < 0 ? errno : 0);\n'
        'printf("%d\\n", getgrouplist("root", 0, groups, &n)); return 0; }\n'
    )
    static_program(tmp_path / "none", source)
    result = cw_run(script="/none; dmesg | grep -A1 'call '", add=[f"{tmp_path}/none:/none"], debug=False)
    said = result.output.decode().splitlines()
    assert said[0] == f"{errno.EAFNOSUPPORT} {errno.EAFNOSUPPORT} {errno.ENOTSOCK} {errno.ENOSYS} 1"
    assert [line for line in said if "call 50 is not there" in line]
    assert [line for line in said if "SOCKETS=y has it" in line] and not [line for line in said if "call 41" in line]
