"""lab/build/setup.sh on machines that lack something or have it too old; it installs nothing here."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from lab.base.paths import TOP

TOOLS = (
    "sh sed sort head grep tail tr find ldd cat env id python3 make gcc ld musl-gcc qemu-system-x86_64 mke2fs".split()
)
ISO_TOOLS = ["grub-mkrescue", "xorriso", "mformat"]


@pytest.fixture
def machine(tmp_path) -> Path:
    """A PATH of its own: everything that setup.sh looks for, and no package manager. (setup.sh also looks
    into /usr/sbin and /sbin, where no package manager lives.)"""
    for tool in TOOLS + ISO_TOOLS:
        found = shutil.which(tool, path="/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin") or shutil.which(tool)
        assert found, tool
        (tmp_path / tool).write_text(f'#!/bin/sh\nexec "{found}" "$@"\n')
        (tmp_path / tool).chmod(0o755)
    return tmp_path


def program(path: Path, text: str) -> None:
    path.write_text(f"#!/bin/sh\necho '{text}'\n")
    path.chmod(0o755)


def setup(machine: Path, level: str = "run") -> subprocess.CompletedProcess[str]:
    command = ["/bin/sh", str(TOP / "lab/build/setup.sh"), level]
    return subprocess.run(command, env={"PATH": str(machine)}, capture_output=True, text=True, check=False)


def test_a_complete_machine_is_left_alone(machine):
    result = setup(machine)
    assert (result.returncode, result.stdout) == (0, ""), result.stderr


@pytest.mark.parametrize(
    ("tool", "level", "answer", "found", "wanted"),
    [
        ("gcc", "run", "9.4.0", "9.4.0", "10"),
        ("ld", "run", "GNU ld (GNU Binutils) 2.30", "2.30", "2.35"),
        ("qemu-system-x86_64", "run", "QEMU emulator version 4.2.1", "4.2.1", "6.2"),
        ("make", "run", "GNU Make 3.81", "3.81", "4.2"),
        ("grub-mkrescue", "iso", "grub-mkrescue (GRUB) 2.02", "2.02", "2.04"),
    ],
)
def test_what_is_too_old_is_named(machine, tool, level, answer, found, wanted):
    program(machine / tool, answer)
    result = setup(machine, level)
    assert result.returncode == 1
    assert f"{tool} is version {found}; {wanted} or newer is needed" in result.stderr


def test_an_old_python_is_named(machine):
    (machine / "python3").write_text('#!/bin/sh\n[ "$1" = --version ] && echo Python 3.9.2\nexit 0\n')
    result = setup(machine)
    assert "python3 is version 3.9.2; 3.11 or newer is needed" in result.stderr


@pytest.mark.parametrize(
    ("manager", "line"),
    [
        ("dnf", "sudo dnf install qemu-system-x86-core"),
        ("pacman", "sudo pacman -S qemu-system-x86"),
        ("brew", "brew install qemu"),
        ("nothing", "qemu-system-x86"),
    ],
)
def test_what_is_missing_is_listed_for_other_systems(machine, manager, line):
    (machine / "qemu-system-x86_64").unlink()
    program(machine / manager, "not called")
    result = setup(machine)
    assert result.returncode == 1
    assert line in result.stderr
    assert "not called" not in result.stdout


def test_on_debian_the_missing_are_named_and_installed(machine):
    """apt-get is a stand-in that brings the program."""
    installed = machine / "mformat"
    kept = installed.read_text()
    installed.unlink()
    (machine / "id").write_text("#!/bin/sh\necho 0\n")
    (machine / "apt-get").write_text(
        f"#!/bin/sh\necho apt-get $*\ncase $* in *install*) cat > {installed} <<'END'\n{kept}END\n/bin/chmod 755 {installed};; esac\n"
    )
    (machine / "apt-get").chmod(0o755)
    result = setup(machine, "iso")
    assert result.returncode == 0, result.stderr
    assert "Installing packages: mtools" in result.stdout
    assert "install -q -y --no-install-recommends mtools" in result.stdout


def test_an_unknown_level_is_refused(machine):
    assert setup(machine, "nonsense").returncode == 2
