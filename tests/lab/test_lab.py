"""The lab by itself: records, trees, images, configuration; no machine is booted."""

from __future__ import annotations

import json
import os
import re
import stat
import subprocess
import sys
import zlib
from types import SimpleNamespace

import pexpect
import pytest

from lab.base.paths import LabError
from lab.build import configure
from lab.check.runtests import Counter
from lab.guest import image
from lab.guest.tree import Tree
from lab.run import cmdline, control, listing, machine
from lab.run.options import Options, check_options


def record(sequence: int, kind: str, value) -> bytes:
    return whole(sequence, kind, json.dumps(value).encode())


def whole(sequence: int, kind: str, text: bytes) -> bytes:
    return b"@CW %d %d %08x %s %s\n" % (sequence, len(text), zlib.crc32(text), kind.encode(), text)


def good_log(status: int = 0) -> bytes:
    return record(0, "mark", {"name": "x"}) + record(1, "exit", {"status": status}) + record(2, "end", {"records": 2})


def test_a_whole_log_is_believed():
    log = control.parse(good_log(7))
    assert log.complete
    result = machine.judge(machine.QEMU_SHUTDOWN, log)
    assert (result.kind, result.status) == ("exit", 7)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        record(0, "exit", {"status": 0}),  # no end
        record(0, "mark", {}) + record(2, "exit", {"status": 0}) + record(3, "end", {"records": 3}),  # a gap
        good_log().replace(b'"status": 0', b'"status": 1'),  # a wrong checksum
        record(0, "end", {"records": 0}),  # no status
        good_log() + b"noise\n",
        # What a kernel that means harm can say.
        record(0, "exit", {"status": 0}) + record(1, "end", []),
        record(0, "exit", []) + record(1, "end", {"records": 1}),
        record(0, "exit", {"status": "0"}) + record(1, "end", {"records": 1}),
        record(0, "exit", {"status": 0}) + record(1, "end", {"records": [1]}),
        record(0, "exit", {"status": 0}) + b"@CW " + b"1" * 5000 + b" 2 00000000 end {}\n",
        record(0, "exit", {"status": 0}) + whole(1, "end", b"[" * 100000 + b"]" * 100000),
    ],
)
def test_anything_less_is_never_a_success(data):
    result = machine.judge(machine.QEMU_SHUTDOWN, control.parse(data))
    assert result.status == machine.SILENCE


@pytest.mark.parametrize(
    ("ended", "status"),
    [(85, 120), (0, 121), (1, 121), (-9, 121), ("timeout", 124), ("hang", 122)],
)
def test_how_qemu_ended_counts_too(ended, status):
    assert machine.judge(ended, control.parse(good_log())).status == status


def test_a_panic_record_outdoes_a_status():
    for said in ({"message": "x"}, {}, [], "x"):
        data = record(0, "exit", {"status": 0}) + record(1, "panic", said) + record(2, "end", {"records": 2})
        assert machine.judge(machine.QEMU_SHUTDOWN, control.parse(data)).status == machine.PANIC


@pytest.mark.parametrize("word", ["plain", "", "two words", "q\"uo'te\\s", "100%", "%41", "ü", "--", "a\nb"])
def test_words_survive_the_command_line(word):
    coded = cmdline.encode_word(word)
    assert coded and not set(coded) & set(" \"'\\\n")
    decoded = subprocess.run(
        ["python3", "-c", "import sys,urllib.parse as u; sys.stdout.write(u.unquote(sys.argv[1]))", coded],
        capture_output=True, check=True,
    ).stdout.decode()  # fmt: skip
    assert decoded == (word or "%")


def small_tree(folder) -> Tree:
    (folder / "deep" / "er").mkdir(parents=True)
    (folder / "deep" / "er" / "file").write_bytes(bytes(range(256)) * 300)
    (folder / "zero").write_bytes(b"")
    (folder / "link").symlink_to("deep/er/file")
    tree = Tree()
    tree.folder("/home/user", 0o755, 1000, 1000)
    tree.folder("/tmp", 0o1777)
    tree.add(f"{folder}:/data")
    tree.text("/etc/motd", "hello\n")
    return tree


def test_an_added_folder_leaves_the_one_that_is_there_as_it_is(tmp_path):
    (tmp_path / "file").write_text("x")
    tree = Tree()
    tree.folder("/tmp", 0o1777)
    tree.add(f"{tmp_path}:/tmp")
    assert tree.entries["/tmp"].mode == stat.S_IFDIR | 0o1777 and tree.has("/tmp/file")


def test_an_added_file_brings_no_other_rights_along(tmp_path):
    """What is set-id here would be root's there."""
    (tmp_path / "su").write_text("x")
    (tmp_path / "su").chmod(0o6755)
    tree = Tree()
    tree.add(f"{tmp_path}:/data")
    assert tree.entries["/data/su"].mode == stat.S_IFREG | 0o755


@pytest.mark.parametrize(("block", "inode"), [(1024, 128), (2048, 256), (4096, 256)])
def test_ext2_images_are_clean_and_repeatable(tmp_path, block, inode):
    tree = small_tree(tmp_path / "host")
    options = image.Ext2(block_size=block, inode_size=inode, free_bytes=1 << 20, free_inodes=16)
    first, second = tmp_path / "a.ext2", tmp_path / "b.ext2"
    image.make_ext2(tree, first, options)
    image.make_ext2(tree, second, options)
    assert first.read_bytes() == second.read_bytes()
    clean, report = image.check(first)
    assert clean, report
    image.read_back(first, "/data", tmp_path / "back")
    host = (tmp_path / "host" / "deep" / "er" / "file").read_bytes()
    assert (tmp_path / "back" / "data" / "deep" / "er" / "file").read_bytes() == host
    listing = image.debugfs(first, "stat /home/user\nstat /tmp\nstat /data/link\nstat /data/deep")
    assert "User:  1000   Group:  1000" in listing
    assert "Mode:  01777" in listing
    assert 'Fast link dest: "deep/er/file"' in listing
    assert listing.count("User:     0") == 3
    features = subprocess.run(["dumpe2fs", "-h", first], capture_output=True, text=True, check=True).stdout
    line = next(line for line in features.splitlines() if line.startswith("Filesystem features"))
    assert set(line.split(":")[1].split()) <= {"filetype", "sparse_super", "large_file"}


def test_cpio_is_what_busybox_reads(tmp_path):
    image.make_cpio(small_tree(tmp_path / "host"), tmp_path / "a.cpio")
    back = tmp_path / "back"
    back.mkdir()
    subprocess.run(
        ["busybox", "cpio", "-idm"], stdin=(tmp_path / "a.cpio").open(), cwd=back, check=True, capture_output=True
    )
    assert (back / "data/deep/er/file").read_bytes() == bytes(range(256)) * 300
    assert (back / "data/link").readlink().as_posix() == "deep/er/file"


def test_a_signature_follows_the_content(tmp_path):
    tree, other = Tree(), Tree()
    tree.text("/a", "1")
    other.text("/a", "2")
    assert tree.signature() != other.signature()
    other.text("/a", "1")
    assert tree.signature() == other.signature()


def test_a_signature_follows_a_file_that_is_edited_in_place(tmp_path):
    """To the same length: its time tells, to the nanosecond, or that of its last change, which nobody sets."""
    tree, file, signatures = Tree(), tmp_path / "file", set()
    file.write_text("one")
    tree.file("/file", file)
    for content, nanoseconds in (("two", 10**18), ("six", 10**18 + 1), ("ten", 2 * 10**18)):
        file.write_text(content)
        os.utime(file, ns=(0, nanoseconds))
        signatures.add(tree.signature())
    assert len(signatures) == 3
    assert file.read_text() == "ten" and tree.signature() in signatures  # that it was read is no change
    file.write_text("net")
    os.utime(file, ns=(0, 2 * 10**18))
    assert tree.signature() not in signatures


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"mem": "much"}, "give it as 64M or 2G"),
        ({"mem": "128M+ram"}, "128M\\+disk"),
        ({"mem": "128M+disk"}, "no RAM disk without --root ram"),
        ({"mem": "128M+disk", "root": "tmpfs", "icount": True}, "no RAM disk without --root ram"),
    ],
)
def test_wrong_memories_say_how_they_are_given(options, said):
    with pytest.raises(LabError, match=said):
        check_options(Options(**options))


def test_add_names_what_is_missing():
    with pytest.raises(LabError, match="no-such-file"):
        Tree().add("/no-such-file:/x")


def test_wrong_settings_name_the_right_ones(tmp_path):
    with pytest.raises(configure.ConfigureError, match="HASH_WORD") as caught:
        configure.configure(tmp_path, settings=["FOO=1"])
    assert "BUFFER_HASH" in str(caught.value)
    with pytest.raises(configure.ConfigureError) as caught:
        configure.configure(tmp_path, settings=["BUFFER_HASH=nope"])
    for name in configure.hash_functions("buffer"):
        assert name in str(caught.value)
    with pytest.raises(configure.ConfigureError, match="1 to 16"):
        configure.configure(tmp_path, settings=["NR_CPUS=17"])
    with pytest.raises(configure.ConfigureError, match="default"):
        configure.configure(tmp_path, defconfig="nope")


@pytest.mark.parametrize(
    "path", sorted(p.name.removesuffix("_defconfig") for p in (configure.TOP / "configs").glob("*_defconfig"))
)
def test_each_defconfig_means_what_it_says(tmp_path, path):
    kconfig = configure.configure(tmp_path, defconfig=path)
    stands = configure.chosen(kconfig)
    for line in (configure.TOP / "configs" / f"{path}_defconfig").read_text().splitlines():
        name, equals, value = line.removeprefix("CONFIG_").partition("=")
        if equals and not line.startswith("#") and name in stands:
            assert stands[name] == value.strip('"')


# What brings the tables that the default kernel has not.
NEEDED = {"SWAP": ["SWAP=y", "SWAP_TABLE=chained"], "PATH": ["DCACHE_FASTPATH=y"]}


def test_every_function_can_be_chosen(tmp_path):
    for choice, values in configure.hash_choices().items():
        assert values, choice
        for value in values:
            needed = NEEDED.get(choice.partition("_")[0], [])
            kconfig = configure.configure(tmp_path, settings=[*needed, f"{choice}={value}"])
            assert configure.chosen(kconfig)[choice] == value
            assert f'CONFIG_{choice}="{value}"' in (tmp_path / "effective.config").read_text()


def test_a_run_of_the_tests_names_the_slowest_and_what_they_cost(capsys, tmp_path):
    counter = Counter(tmp_path / "times")
    for number in range(30):
        for when, seconds, properties in (
            ("setup", 1, []),
            ("call", number, []),
            ("teardown", 0, [("cpu_seconds", 2)]),
        ):
            counter.pytest_runtest_logreport(SimpleNamespace(
                nodeid=f"test_{number}", when=when, duration=seconds, user_properties=properties, failed=False,
                skipped=False,
            ))  # fmt: skip
        assert len((tmp_path / "times").read_text().splitlines()) == number + 1, "a test that has ended is not written"
    assert (tmp_path / "times").read_text().splitlines()[5] == "passed\t6.00\t2.00\ttest_5"
    counter.print_slowest()
    first, *rows = capsys.readouterr().out.splitlines()
    assert first.startswith("60 CPU seconds in all") and counter.count("passed") == 30
    assert [row.split() for row in rows] == [[f"{n + 1}.0", "2.0", f"test_{n}"] for n in range(29, 9, -1)]


def test_menuconfig_saves_what_was_chosen(tmp_path):
    """By hand: into the first menu, its first choice, one further down, leave and save."""
    names = configure.hash_functions("page")
    configure.configure(tmp_path, settings=[f"PAGE_HASH={names[0]}"], save=True)
    child = pexpect.spawn(
        sys.executable, [str(configure.TOP / "lab/build/configure.py"), "--output", str(tmp_path), "--menu"],
        env={**os.environ, "TERM": "xterm"}, dimensions=(40, 120), timeout=20, encoding="utf-8",
    )  # fmt: skip
    child.expect("Caches: hash functions and structures")
    child.send("\n")
    child.expect("Page cache hash function")
    child.send("\n")
    child.expect(re.escape(names[1]))
    child.send("j")  # down
    child.send(" ")  # choose; back in the menu above
    child.send("q")
    child.expect("Save configuration")
    child.send("y")
    child.expect(pexpect.EOF)
    assert f'CONFIG_PAGE_HASH="{names[1]}"' in (tmp_path / ".config").read_text()


def test_structures_that_cannot_serve_are_refused_with_the_reason(tmp_path):
    for path in sorted((configure.TOP / "hash/table").glob("*.h")):
        served = configure.plugins().served_caches(path)
        for cache in set(configure.plugins().TABLE_CACHES) - set(served or configure.plugins().TABLE_CACHES):
            with pytest.raises(configure.ConfigureError, match="cannot work"):
                configure.configure(tmp_path, settings=[f"{cache.upper()}_TABLE={path.stem}"])


@pytest.mark.parametrize(
    ("settings", "needs"),
    [
        (["SWAP_HASH=mult"], "SWAP_HASH=mult has no effect: it needs SWAP_TABLE_OWN"),
        (["SWAP=y", "SWAP_HASH=mult"], "SWAP_HASH=mult has no effect"),
        (["SWAP_TABLE=chained"], "SWAP_TABLE=chained has no effect: it needs SWAP"),
    ],
)
def test_a_choice_that_is_none_with_the_other_settings_is_refused(tmp_path, settings, needs):
    with pytest.raises(configure.ConfigureError, match=re.escape(needs)):
        configure.configure(tmp_path, settings=settings)
    kconfig = configure.configure(tmp_path, settings=["SWAP=y", "SWAP_HASH=mult", "SWAP_TABLE=rbtree"])
    assert configure.chosen(kconfig)["SWAP_HASH"] == "mult"
    assert "CONFIG_SWAP_TABLE_OWN 1" in (tmp_path / "include/generated/autoconf.h").read_text()


def test_a_setting_lasts_for_one_command_only(tmp_path):
    name = configure.hash_functions("buffer")[0]
    standard = configure.chosen(configure.configure(tmp_path))["BUFFER_HASH"]
    configure.configure(tmp_path, settings=[f"BUFFER_HASH={name}"])
    assert configure.chosen(configure.configure(tmp_path))["BUFFER_HASH"] == standard


def test_the_list_names_everything(capsys):
    listing.print_choices()
    said = capsys.readouterr().out
    for choice, values in configure.hash_choices().items():
        assert f"\n{choice}\n" in f"\n{said}"
        for value in values:
            assert f"\n  {value}" in said
    with pytest.raises(LabError, match="BUFFER_HASH"):
        listing.print_choices("nope")
