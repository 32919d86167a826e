"""./cw run --package: what comes into the tree, what is kept, what is said when it cannot be had."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess

import pytest

from lab.base.paths import TOP, LabError
from lab.guest import image, packages
from lab.guest.packages import add_packages, package_set
from lab.guest.tree import Entry, Tree, base_tree
from lab.run import machine

REQUEST = ["tcc", "libc6-dev"]


@pytest.fixture(scope="session")
def chosen() -> packages.PackageSet:
    """One small set for all of these tests: downloaded once, kept in the user's cache."""
    if not shutil.which("apt-get"):
        pytest.skip("no apt on this machine")
    return package_set(REQUEST)


def text_of(tree: Tree, path: str) -> str:
    return os.fsdecode(tree.entries[path].content)


def test_links_among_the_folders_are_followed():
    tree = Tree()
    tree.link("/lib", "usr/lib")
    tree.link("/usr/lib/deep", "/lib/real")
    tree.text("/lib/deep/../deep/file", "x")
    assert "/usr/lib/real/file" in tree.entries
    tree.folder("/lib")  # a link to a folder serves as that folder
    assert stat.S_ISLNK(tree.entries["/lib"].mode)
    tree.link("/round", "round")
    assert tree.has("/round") and not tree.has("/round/x")


def test_a_set_has_everything_down_to_the_loader(chosen):
    names = {package.name for package in chosen.packages}
    assert {"tcc", "libc6", "libc6-dev", "dash"} <= names
    tree = base_tree(merged=True)
    add_packages(tree, chosen)
    assert tree.has("/lib64/ld-linux-x86-64.so.2") and tree.has("/lib/x86_64-linux-gnu/libc.so.6")
    assert not any(path.startswith(("/usr/share/doc/", "/usr/share/man/")) for path in tree.entries)
    assert all(stat.S_ISLNK(tree.entries[name].mode) for name in ("/bin", "/sbin", "/lib", "/lib64"))
    assert text_of(tree, "/usr/bin/cc") == "/etc/alternatives/cc"
    assert text_of(tree, "/etc/alternatives/cc") == "/usr/bin/tcc"
    assert text_of(tree, "/usr/bin/sh") == "dash" and tree.is_applet("/usr/bin/ls")
    assert b"libc.so.6" in tree.entries["/etc/ld.so.cache"].data()
    documented = base_tree(merged=True)
    add_packages(documented, chosen, documents=True)
    assert documented.has("/usr/share/doc/tcc/copyright")


def test_a_program_of_a_package_moves_every_applet_of_that_name():
    tree = Tree()
    tree.link("/usr/bin/chroot", "/bin/busybox")
    packages._put(tree, "/usr/sbin/chroot", Entry(stat.S_IFREG | 0o755))
    assert not tree.has("/usr/bin/chroot") and tree.has("/usr/sbin/chroot")


def test_an_answer_stays_without_apt(chosen, monkeypatch):
    monkeypatch.setenv("PATH", "/nonexistent")
    again = package_set(reversed(REQUEST))
    assert again.versions() == chosen.versions()
    assert chosen.versions() in packages.list_sets()


def test_trees_of_the_same_set_share_an_image(chosen):
    one, two = (base_tree(merged=True) for _ in range(2))
    for tree in (one, two):
        add_packages(tree, chosen)
    assert one.signature() == two.signature()


@pytest.mark.parametrize("name", ["Not A Name", "x", "tcc=", "-o=x", "tcc;rm"])
def test_what_is_no_name_never_reaches_apt(name, monkeypatch):
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(LabError, match="NAME=VERSION"):
        package_set([name])


def test_what_is_missing_is_said(chosen, tmp_path, monkeypatch):
    with pytest.raises(LabError, match="no-such-package-here(.|\n)*--update"):
        package_set(["no-such-package-here"])
    with pytest.raises(LabError, match="'0.1' for 'tcc'(.|\n)*policy"):
        package_set(["tcc=0.1"])
    monkeypatch.setenv("CW_CACHE", str(tmp_path))
    monkeypatch.setenv("CW_SOURCES", str(tmp_path / "none.list"))
    with pytest.raises(LabError, match="CW_SOURCES=FILE"):
        package_set(["tcc"])
    (tmp_path / "far.list").write_text("deb [trusted=yes] http://127.0.0.1:9/debian bookworm main\n")
    monkeypatch.setenv("CW_SOURCES", str(tmp_path / "far.list"))
    with pytest.raises(LabError, match="needs no network"):
        package_set(["tcc"])
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(LabError, match="needs apt-get"):
        package_set(["tcc"])
    assert not list(tmp_path.glob("**/sets/*")) and not list(tmp_path.glob("**/.new-*"))


@pytest.mark.parametrize("root", ["ext2", "tmpfs"])
def test_a_dynamic_compiler_makes_a_dynamic_program(chosen, root, tmp_path):
    (tmp_path / "a.c").write_text('#include <stdio.h>\nint main(void) { return printf("made here\\n") - 3; }\n')
    options = machine.Options(
        packages=REQUEST, add=[f"{tmp_path}/a.c:/root/"], root=root, quiet=True, timeout=120,
        job=["sh", "-c", "cc -o /root/a /root/a.c && /root/a"],
    )  # fmt: skip
    result = machine.run(options)
    assert (result.output, result.status) == (b"made here\n", 7), result.message


def test_the_image_is_clean(chosen):
    tree = base_tree(merged=True)
    add_packages(tree, chosen)
    clean, report = image.check(image.ext2_image(tree))
    assert clean, report


def test_the_command_lists_what_is_kept(chosen):
    said = subprocess.run([TOP / "cw", "packages"], capture_output=True, text=True, check=True).stdout
    assert set(chosen.versions()) <= set(said.split())
