"""--accel kvm where the host has no KVM, or none that works: an error that says what to do, never QEMU's abort."""

from __future__ import annotations

import os

import pytest

from lab.base.paths import LabError
from lab.run import machine, options
from lab.run.qemu import kvm


def test_a_device_that_refuses_is_told_with_what_to_do(tmp_path):
    with pytest.raises(LabError, match="no .*/kvm on this host.*run without --accel kvm"):
        kvm.check_kvm(tmp_path / "kvm")
    (tmp_path / "kvm").touch()
    with pytest.raises(LabError, match=r"refuses to make a machine \(.*\): run without --accel kvm"):
        kvm.check_kvm(tmp_path / "kvm")
    if os.geteuid():
        (tmp_path / "kvm").chmod(0)
        with pytest.raises(LabError, match="may not use .*group"):
            kvm.check_kvm(tmp_path / "kvm")


@pytest.mark.parametrize(("accel", "icount", "word"), [("xen", False, "tcg and kvm"), ("kvm", True, "--icount")])
def test_what_cannot_be_together_is_refused(accel, icount, word):
    with pytest.raises(LabError, match=word):
        machine.check_options(machine.Options(job=["true"], accel=accel, icount=icount))


@pytest.mark.parametrize(("qemu", "kind"), [("kill -ABRT $$", "silence"), ("exec sleep 1000", "timeout")])
def test_a_machine_that_kvm_does_not_run_names_kvm(tmp_path, monkeypatch, qemu, kind):
    """With a QEMU that ends as the real one does under such a KVM, or waits for ever."""
    program = tmp_path / "qemu-system-x86_64"
    program.write_text(f"#!/bin/sh\n{qemu}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setattr(options, "check_kvm", lambda: None)
    result = machine.run(machine.Options(job=["true"], accel="kvm", timeout=0.5, quiet=True, build=False))
    assert result.kind == kind
    assert "run without --accel kvm" in result.message
