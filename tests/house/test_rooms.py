"""Optional rooms, folders with a Kconfig of their own: left out by default, built by a choice, told of where missed."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from lab.base.paths import TOP, output_folder
from lab.base.rooms import optional_rooms
from lab.base.syscalls import read_table
from lab.build.configure import configure
from lab.build.link_order import link_order
from lab.check.kernels import full_output
from tests.musl import static_program

pytestmark = pytest.mark.check


def linked(build: Path) -> list[str]:
    """The kernel's objects, as kernel/main.o."""
    return [str((TOP / line).relative_to(build)) for line in (build / "objects.list").read_text().split()]


def test_the_full_kernel_has_every_room():
    chosen = (TOP / "configs/full_defconfig").read_text().split("\n")
    assert optional_rooms() and {f"CONFIG_{name}=y" for name in optional_rooms().values()} <= set(chosen)


def test_what_make_leaves_out(tmp_path):
    """A folder with its symbol is a room by lying there; of a chosen one nothing is left out."""
    for settings in [], [f"{name}=y" for name in optional_rooms().values()]:
        configure(tmp_path, settings=settings)
        told = made_known(tmp_path)
        assert told["ABSENT_ROOMS"].split() == ([] if settings else list(optional_rooms()))
        assert told["LAYOUT"] == "0"


def made_known(output: Path) -> dict[str, str]:
    """The variables of rooms.mk."""
    lines = (output / "include/generated/rooms.mk").read_text().splitlines()
    return {name.strip(): value.strip() for name, _, value in (line.partition(":=") for line in lines[1:])}


def test_a_layout_is_another_order_of_the_same_objects(tmp_path):
    objects = [f"{n}.o" for n in range(100)]
    orders = [link_order(objects, layout) for layout in (0, 1, 1, 2)]
    assert orders[0] == objects and orders[1] == orders[2] and len(set(map(tuple, orders))) == 3
    assert all(sorted(order) == sorted(objects) for order in orders)
    configure(tmp_path, settings=["LAYOUT=7"])
    assert made_known(tmp_path)["LAYOUT"] == "7"


@pytest.mark.parametrize("folder", optional_rooms())
def test_only_a_chosen_room_is_linked(folder):
    assert not [name for name in linked(output_folder()) if name.startswith(f"{folder}/")]
    assert [name for name in linked(Path(full_output())) if name.startswith(f"{folder}/")]


def test_a_folder_becomes_a_room_by_its_kconfig(tmp_path):
    (tmp_path / "fs/new").mkdir(parents=True)
    (tmp_path / "fs/old").mkdir()
    (tmp_path / "fs/new/Kconfig").write_text('# of its own\nconfig NEW\n\tbool "new"\nconfig NEW_TOO\n\tbool "too"\n')
    (tmp_path / "fs/old/Kconfig").write_text("# none\n")
    assert optional_rooms(tmp_path) == {"fs/new": "NEW"}


def test_every_call_of_a_room_names_one_that_is_there():
    rooms = {call.room for call in read_table().values() if call.room}
    assert rooms and rooms <= set(optional_rooms().values())


def test_the_objects_of_a_goal_that_needs_no_kernel_stay():
    """`make user` knows nothing of what is chosen: it must not write a list that has every room."""
    before = (output_folder() / "objects.list").read_text()
    subprocess.run(["make", "-s", "-n", "user", f"O={output_folder()}"], cwd=TOP, check=True, capture_output=True)
    assert (output_folder() / "objects.list").read_text() == before


def test_who_misses_a_call_is_told_what_brings_it(cw_run):
    """ENOSYS, and once in the log the choice that has it."""
    script = "mkdir /ipc && cd /ipc && ipcmk -M 4096; ipcmk -M 4096; dmesg | grep -A1 'call 29 '"
    result = cw_run(script=script, debug=False, packages=["util-linux"])
    said = result.output.decode()
    assert said.count("call 29 is not there: ENOSYS") == said.count("a kernel built with SYSVIPC=y has it") == 1, said
    assert "Function not implemented" in said


def test_what_programs_ask_of_every_file_is_refused_quietly(cw_run, tmp_path):
    """ls -l would complain of ENOSYS, for each file; musl would read no groups."""
    asked = {call.number: call.error for call in read_table().values() if call.error != "ENOSYS"}
    assert sorted(asked.values()) == 2 * ["EAFNOSUPPORT"] + ["ENOTSOCK"] + 14 * ["EOPNOTSUPP"]
    source = tmp_path / "asked.c"
    source.write_text("#include <errno.h>\n#include <unistd.h>\n#include <sys/syscall.h>\nint main(void) {\n"
        + "".join(f'if (syscall({number}, "/", "user.a", "b", 1, 0) != -1 || errno != {error}) return 1;\n' for number, error in asked.items())
        + "return 0; }\n")  # fmt: skip
    static_program(tmp_path / "asked", source, flags=["-w"])
    result = cw_run(script="/asked && dmesg", debug=False, add=[f"{tmp_path}/asked:/asked"])
    assert b"is not there" not in result.output
