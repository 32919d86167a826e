"""The streams of the playground: whole, small, and made by the commands that stand beside them."""

from __future__ import annotations

import re

import pytest

from lab.base.paths import TOP, LabError
from lab.playground import recordings
from lab.record import engine, stream


@pytest.mark.parametrize("name", [one.name for one in recordings.recordings()])
def test_a_stream_is_whole_and_its_command_is_that_beside_it(name):
    one = recordings.recording(name)
    source = stream.read(one.keys)
    header = source.header
    assert header["kind"] == "exit" and header["status"] == 0 and not header["cut"]
    assert one.about and 50_000 < one.keys.stat().st_size < 400_000
    assert header["command"] == ["./cw", *one.command()] or header["command"].split() == ["./cw", *one.command()]
    # The kernel's own counters come out: then nothing is missing, and nothing was changed.
    asked = [cache for cache, entry in header["caches"].items() if entry["operations"]]
    assert {*stream.CACHES, *asked} - {*asked} <= {"dentry"} and ("dentry" in asked) != (stream.PATH in asked)
    for cache in asked:
        mine = engine.Replayable(source, cache)
        assert engine.replay(mine, mine.recorded, mine.entry["bits"]).differs == []


def test_a_name_that_is_not_there_is_refused():
    with pytest.raises(LabError, match="There are: compile, find, git, mail, paths, swap"):
        recordings.recording("nothing")


# The programs whose lookups these are.
MADE_WITH = {"maildrop=2.9.3-2.1", "notmuch=0.37-1+b1", "mblaze=1.1-1"}
MESSAGE = re.compile(rb"^\d+\.(M\d+P\d+)(V\w+)?(_.*)$")


def asked_of_mail(source: stream.Stream) -> list[tuple[int, bytes]]:
    """What the job asked the dentry cache about its messages, in order: whether found, and the name, which has a number in
    place of the time, the process and the inode."""
    operations = source.of_cache("dentry")
    lengths, names = operations.lengths.tolist(), operations.names.tobytes()
    key = object_ = name = 0
    of_object: dict[int, bytes] = {}
    found, messages = [], {}
    for kind in operations.kinds.tolist():
        low, hit, current = kind & 7, kind & stream.FOUND, b""
        number = None
        if low in (stream.INSERT, stream.REMOVE) or hit:
            number = int(operations.objects[object_])
            object_ += 1
        if low == stream.INSERT or (low in (stream.FIND, stream.LOOK) and not hit):
            current = names[name : name + lengths[key]]
            name += lengths[key]
            key += 1
        if low == stream.INSERT and number is not None:
            of_object[number] = current
        if low == stream.FIND:
            current = current if number is None else of_object[number]
            if message := MESSAGE.match(current):
                which = messages.setdefault(message[1], len(messages))
                found.append((hit, b"%d%s%s" % (which, b"V" if message[2] else b"", message[3])))
    return found


@pytest.mark.turns(8)
def test_a_stream_is_made_again_the_same(cw, tmp_path):
    """Of what depends on neither this host's busybox nor the compiler (addresses, blocks, the base system's files): the
    lookups of messages, by the same versions of the programs. If a change of the kernel means others: ./cw playground
    --record all."""
    one = recordings.recording("mail")
    output = tmp_path / "mail.keys"
    words = one.command()
    words[words.index("--output") + 1] = str(output)
    result = cw(*words, timeout=900, cwd=TOP)
    assert result.returncode == 0, (result.stdout + result.stderr).decode(errors="replace")[-3000:]
    wanted, ours = asked_of_mail(stream.read(one.keys)), asked_of_mail(stream.read(output))
    assert len(wanted) > 1500 and {hit for hit, _ in wanted} == {0, stream.FOUND}
    assert {hit for hit, _ in ours} == {0, stream.FOUND}
    if set(cw("packages").stdout.decode().split()) >= MADE_WITH:
        assert ours == wanted
