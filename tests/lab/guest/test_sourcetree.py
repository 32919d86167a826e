"""The tree of sources: the same by the same seed, of the size and the shape that are told, and its archive has it whole."""

from __future__ import annotations

import io
import subprocess
import sys
import tarfile
from collections import Counter
from statistics import fmean, median

from lab.guest.sourcetree import FILES_A_FOLDER, MOST_LEVELS, archive, tree


def test_the_shape_of_a_source_tree():
    entries = tree(2015, 2000)
    files = {path: content for path, content in entries.items() if content is not None}
    folders = {path for path, content in entries.items() if content is None}
    assert len(files) == 2000 and len(folders) == 2000 // FILES_A_FOLDER
    for path in entries:
        parent = path.rpartition("/")[0]
        assert not parent or parent in folders, "each lies in a folder that is there"
    assert max(path.count("/") + 1 for path in folders) <= MOST_LEVELS
    assert all(f"{folder}/Makefile" in files for folder in folders)
    sizes = Counter(path.rpartition("/")[0] for path in files).values()
    assert max(sizes) > 10 * median(sizes), "a few folders have very many files"
    assert 2.5 < fmean(path.count("/") + 1 for path in files) < 4.5
    assert 6 < fmean(len(name) for path in files for name in path.split("/")) < 9
    lengths = [len(content) for content in files.values()]
    assert 1300 < fmean(lengths) < 2100 and 900 < median(lengths) < 1300


def test_a_seed_makes_one_tree():
    assert tree(1, 200) == tree(1, 200) != tree(2, 200)
    assert len(tree(3, 1)) == 2, "one file needs a folder"


def test_the_archive_has_it_all(tmp_path):
    command = [sys.executable, "-m", "lab.guest.sourcetree", str(tmp_path), "--seed", "4", "--files", "150"]
    subprocess.run(command, check=True)
    made = (tmp_path / "source-150.tar.gz").read_bytes()
    expected = tree(4, 150)
    assert made == archive(expected)
    assert int.from_bytes(made[4:8], "little") == 1_000_000_000, "the time in gzip's head is not today's"
    with tarfile.open(fileobj=io.BytesIO(made)) as tar:
        members = tar.getmembers()
        assert {one.name for one in members} == set(expected) and {one.mtime for one in members} == {1_000_000_000}
        for one in members:
            content = tar.extractfile(one)
            assert (content.read() if content else None) == expected[one.name]
    before = (tmp_path / "source-150.tar.gz").stat().st_mtime_ns
    subprocess.run(command, check=True)
    assert (tmp_path / "source-150.tar.gz").stat().st_mtime_ns == before, "what is the same is left alone"
