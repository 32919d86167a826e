"""What the playground's module counts is what ./cw replay counts, and its functions are the kernel's, to the bit."""

from __future__ import annotations

import json

import pytest

from lab.playground import module
from lab.playground.recordings import recording, recordings
from lab.record import engine, stream
from tests.hash import reference
from tests.hash.compiled import load_choose
from tests.lab.browser import require_chromium

require_chromium("the playground")

STREAMS = [one.name for one in recordings()]
ASKED = {
    one.name: [cache for cache, entry in stream.read_header(one.keys)["caches"].items() if entry["operations"]]
    for one in recordings()
}
# Per cache: function, structure, word, name hash, bits. Sparse and crowded, both words, a keyed one, trees, tagged buckets.
CHOICES = {
    "page": [("fibonacci", "chained", 64, "linux-6.1", 11), ("linux-2.2", "chained", 32, "linux-6.1", 8), ("fibonacci", "rbtree", 64, "linux-6.1", 1)],
    "buffer": [("fibonacci", "chained", 64, "linux-6.1", 10), ("steiner", "chained", 32, "linux-6.1", 6)],
    "inode": [("siphash", "chained", 64, "linux-6.1", 12), ("linux-2.2", "chained", 32, "linux-6.1", 9)],
    "dentry": [("linux-6.1", "chained", 64, "linux-6.1", 12), ("linux-2.2", "chained", 32, "linux-2.2", 9), ("multilinear", "chained", 64, "siphash", 14)],
    "swap": [("fibonacci", "chained", 64, "linux-6.1", 12), ("linux-2.2", "chained", 32, "linux-6.1", 8), ("tabulation", "chained", 64, "linux-6.1", 10), ("fibonacci", "rbtree", 64, "linux-6.1", 1)],
    "path": [("untransformed", "tagged", 64, "linux-6.1", 9), ("siphash", "tagged", 32, "linux-6.1", 6), ("untransformed", "chained", 64, "linux-6.1", 12), ("wyhash", "tagged", 64, "linux-6.1", 1)],
}  # fmt: skip
# Stops in the middle too, as who watches does: that must not matter.
REPLAY = """async ([name, cache, choices]) => {
    const { Engine, module, page, playground } = globalThis.playground;
    const source = await playground.stream(name), engine = new Engine(module, page.plugins);
    engine.load(source.caches[cache], source.header.seed);
    return choices.map((choice) => {
        engine.begin(choice);
        for (const part of [0.1, 0.35, 1]) {
            engine.run(Math.floor(source.caches[cache].until * part));
            if (engine.position) engine.trace(engine.position - 1);
        }
        const sizes = [...engine.sizes()], counted = engine.counters();
        return { report: engine.report(), sum: sizes.reduce((sum, one) => sum + one, 0), largest: Math.max(...sizes), counted };
    });
}"""


@pytest.mark.turns(8)
@pytest.mark.parametrize(("name", "cache"), [(name, cache) for name in STREAMS for cache in ASKED[name]])
def test_a_report_is_that_of_a_replay(opened, name, cache):
    source = engine.Replayable(stream.read(recording(name).keys), cache)
    keys = ("function", "structure", "word", "names", "bits")
    found = opened.evaluate(REPLAY, [name, cache, [dict(zip(keys, one, strict=True)) for one in CHOICES[cache]]])
    for (function, structure, word, names, bits), ours in zip(CHOICES[cache], found, strict=True):
        theirs = engine.replay(source, engine.Choice(cache, function, structure, word, names), bits).report
        # What a page shows while it plays comes by other ways than the report.
        assert ours["sum"] == theirs["objects"] and ours["largest"] == theirs["largest"]
        assert {key: theirs[key] for key in ours["counted"]} == ours["counted"]
        theirs["rule"] = ours["report"]["rule"]  # of the kernel's own choice the kernel's rule
        assert ours["report"] == theirs, f"{name}, {cache}, {function}"


def test_a_replay_is_busy_enough_to_prove_something(opened):
    for cache, choices in CHOICES.items():
        keys = ("function", "structure", "word", "names", "bits")
        crowded = dict(zip(keys, choices[1], strict=True))
        asked = [name for name in STREAMS if cache in ASKED[name]]
        reports = [opened.evaluate(REPLAY, [name, cache, [crowded]])[0]["report"] for name in asked]
        assert max(report["inserts"] for report in reports) > 500
        assert cache == "inode" or max(report["steps_per_lookup"] for report in reports) > 1.5


KEYS = [(0, 0), (1, 4096), (0xFFFF888003A1F4C0, 12 << 12), (0xFFFF88800012C200, 0xDEADBEEF), (2**64 - 1, 2**64 - 1)]
NAMES = ["", "a", "Makefile", "a_name_of_more_than_two_words.c", "\u00e9" * 9]
CALL = """([symbol, keys, bits, seed]) => {
    const engine = new playground.Engine(playground.module, playground.page.plugins);
    engine.calls.seed_set(BigInt(seed));
    return keys.map(([first, second]) => engine.calls[symbol](BigInt(first), BigInt(second), bits) >>> 0);
}"""
CALL_NAME = """([symbol, names, salt, seed]) => {
    const engine = new playground.Engine(playground.module, playground.page.plugins);
    engine.calls.seed_set(BigInt(seed));
    const at = engine.calls.heap_keep(512);
    return names.map((name) => {
        const bytes = new TextEncoder().encode(name);
        new Uint8Array(engine.calls.memory.buffer).fill(0, at, at + 512).set(bytes, at);
        return engine.calls[symbol](BigInt(salt), at, bytes.length) >>> 0;
    });
}""".replace(
    ".fill(0, at, at + 512).set(bytes, at)", ".set([...bytes, ...new Array(512 - bytes.length).fill(120)], at)"
)


@pytest.mark.parametrize("cache", module.CACHES)
def test_every_function_is_the_kernels(opened, cache):
    narrow = {"buffer": (32, 64), "swap": (32, 64), "dentry": (64, 32)}.get(cache, (64, 64))
    keys = [(first % (1 << narrow[0]), second % (1 << narrow[1])) for first, second in KEYS]
    checked = 0
    for name, function in module.functions(cache).items():
        formula = reference.REFERENCE[cache].get(name)
        for word, symbol in function["symbols"].items():
            for bits in (1, 10, 17):
                ours = opened.evaluate(CALL, [symbol, [list(map(str, key)) for key in keys], bits, str(reference.SEED)])
                assert max(ours) < 1 << bits, name
                assert formula is None or ours == [formula(key, bits, int(word)) for key in keys], (name, word, bits)
            checked += formula is not None
    assert checked > 10


def test_every_name_hash_is_the_kernels(opened):
    salt = 0xFFFF888001234500
    for name, function in module.functions("name").items():
        formula = reference.REFERENCE["name"].get(name)
        for word, symbol in function["symbols"].items():
            ours = opened.evaluate(CALL_NAME, [symbol, NAMES, str(salt), str(reference.SEED)])
            wanted = [formula(salt, one.encode(), int(word)) for one in NAMES] if formula else ours
            assert ours == wanted, (name, word)


def test_what_is_in_hash_is_on_the_page(opened):
    choose, plugins = load_choose(), opened.evaluate("playground.page.plugins")
    for cache in module.CACHES:
        assert sorted(plugins["caches"][cache]["functions"]) == choose.functions(cache)
        tables = set(choose.choices()[f"{cache.upper()}_TABLE"]) - set(choose.SHARED.get(cache, ()))
        assert set(plugins["caches"][cache]["structures"]) == tables
    assert sorted(plugins["names"]) == choose.functions("name")
    # Nothing of hash/ is left out, and there are keys of every cache that it serves.
    assert sorted(plugins["caches"]) == sorted(choose.TABLE_CACHES) == sorted(set().union(*ASKED.values()))
    assert {name for one in plugins["caches"].values() for name in one["structures"]} == set(choose.structures())
    told = {one["name"]: sorted(one["objects"]) for one in opened.evaluate("playground.page.streams")}
    assert told == {name: sorted(caches) for name, caches in ASKED.items()}
    assert opened.evaluate("playground.page.streams.map((one) => one.name)") == STREAMS


BAD = """([cut, change]) => {
    const bytes = Uint8Array.from(atob(document.getElementById("keys-mail").textContent.trim()), (one) => one.charCodeAt(0));
    if (change !== null) bytes[change] ^= 255;
    return playground.readStream(bytes.subarray(0, cut ?? bytes.length)).then(() => "read", (error) => error.message);
}"""


def test_what_is_no_stream_is_refused(opened):
    said = [opened.evaluate(BAD, [None, 0]), opened.evaluate(BAD, [None, 8]), opened.evaluate(BAD, [100_000, None])]
    assert "no key stream" in said[0] and "another version" in said[1] and said[2] != "read", json.dumps(said)
    header, block = opened.evaluate(BAD, [None, 100]), opened.evaluate(BAD, [None, 50_000])
    assert "does not fit its checksum" in header and "does not fit its checksum" in block, json.dumps([header, block])
    assert opened.evaluate(BAD, [None, None]) == "read"
