"""PATH_SIGNATURE: direct lookup by each function of fs/path/signature; the debug kernel checks all entries at the end."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from lab.base.paths import TOP
from lab.run import machine
from tests.booted.lookup.test_direct_lookup import FOUND, SCRIPT
from tests.lab.test_workload import results
from tests.musl import static_program

# So many directories with a file that some 17 pairs of their paths have the same 16 bits of signature, half of these differing
# in the directory alone: each is opened again and again, and has its number in it. OTHER is what should not be said.
MANY = """
mkdir /tmp/many; cd /tmp/many
names=; for i in $(seq 1500); do names="$names $((i * 2654435761))"; done
mkdir $names; for i in $names; do echo $i > $i/$((i % 2)); done
for pass in 1 2 3; do for i in $names; do
    read there < /tmp/many/$i/$((i % 2)); [ $there = $i ] || echo OTHER
done; done
cd /; rm -r /tmp/many
"""
# With so few bits a signature takes one path for another. Names that are compared do not.
SETTINGS = {"aes": (), "siphash": (), "text": ("SIGNATURE_BITS=16",)}


@pytest.fixture(scope="module")
def registers(tmp_path_factory) -> Path:
    return static_program(tmp_path_factory.mktemp("registers") / "registers", Path(__file__).with_name("registers.c"))


def build(folder: Path, monkeypatch, *settings: str) -> None:
    """A kernel of its own, which ./cw and machine.run() boot from then on."""
    monkeypatch.setenv("CW_OUTPUT", str(folder / "build"))
    command = ["make", "-j2", "kernel", "user", f"SET={' '.join(settings)}", f"O={folder / 'build'}"]
    built = subprocess.run(command, cwd=TOP, capture_output=True, check=False)
    assert built.returncode == 0, built.stderr.decode(errors="replace")
    monkeypatch.setenv("CW_BUILD", "no")


@pytest.mark.builds
def test_a_collision_leads_nobody_where_he_may_not(cw, tmp_path, monkeypatch):
    """20,000 names that are not there, 16 bits, 16 buckets: of 2,048 files 39 are found by them, of their owner's; root finds more."""
    build(tmp_path, monkeypatch, "DCACHE_FASTPATH=y", "SIGNATURE_BITS=16")
    load = ["workload", "collide", "--paths", "2048", "--lookups", "20000", "--dir", "/tmp"]
    machine_options = ["--icount", "--seed", "1", "--mem", "256M", "--root", "tmpfs", "--cmdline", "dlhash_entries=16"]
    result = cw("run", *machine_options, "--quiet", "--", *load, timeout=300)
    assert result.returncode == 0, result.stderr.decode(errors="replace")
    root, user = results(result.stdout)
    assert user["closed_found"] == 0 and 15 < user["reachable_found"] < 70, user
    assert root["closed_found"] > 15 and root["reachable_found"] > 15, root


@pytest.mark.builds
@pytest.mark.parametrize("name", SETTINGS)
def test_nobody_gets_where_he_may_not(cw, registers, tmp_path, monkeypatch, name):
    """As with the default one; and a program's vector registers are its own, which AES instructions use."""
    build(tmp_path, monkeypatch, "DEBUG=y", "DCACHE_FASTPATH=y", f"PATH_SIGNATURE={name}", *SETTINGS[name])
    ask = f"mkdir -p /tmp/with/registers; /registers /tmp/with/registers; {MANY if SETTINGS[name] else ''}"
    options = ["--mem", "256M", "--smp", "4", "--quiet", "--timeout", "200", "--add", f"{registers}:/registers"]
    result = cw("run", *options, "--", "/bin/sh", "-c", f"{ask}\n{SCRIPT}", timeout=600)
    said = result.stdout.decode(errors="replace").replace("\r", "")
    assert result.returncode == 0, said + result.stderr.decode(errors="replace")
    registers_kept, *found = said.partition("Path cache")[0].splitlines()
    assert registers_kept.startswith("kept"), said
    assert found == FOUND
    hits = re.search(r"^ hit: (\d+)", said, re.MULTILINE)
    assert hits and int(hits[1]) > (3000 if SETTINGS[name] else 200), said
    if name == "aes":
        without = machine.Options(job=["/bin/true"], build=False, quiet=True, mem="128M", cpu="max,-aes", timeout=100)
        refused = machine.run(without)
        assert refused.kind == "panic" and "has no AES instructions" in refused.message, refused.message
