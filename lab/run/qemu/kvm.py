"""KVM, the host's accelerator (--accel kvm): does it let us make a machine? QEMU, if it does not, only aborts."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from lab.base.paths import LabError

DEVICE = Path("/dev/kvm")
KVM_CREATE_VM = 0xAE01  # linux/kvm.h: _IO(0xAE, 0x01)
WITHOUT = "run without --accel kvm"


def check_kvm(device: Path = DEVICE) -> None:
    """Make a virtual machine and let it go; what KVM refuses is an error that says what to do."""
    try:
        with device.open("rb+", buffering=0) as kvm:
            os.close(fcntl.ioctl(kvm, KVM_CREATE_VM, 0))
    except PermissionError:
        raise LabError(f"--accel kvm: you may not use {device}: join its group (kvm, mostly), or {WITHOUT}") from None
    except FileNotFoundError:
        raise LabError(f"--accel kvm: there is no {device} on this host: load its module, or {WITHOUT}") from None
    except OSError as error:
        raise LabError(f"--accel kvm: KVM refuses to make a machine ({error.strerror}): {WITHOUT}") from None


def likely_cause(message: str) -> str:
    """What to say of a machine under KVM that ended badly, or not at all."""
    return f"{message} (under --accel kvm: some hosts' KVM cannot run it; {WITHOUT})"
