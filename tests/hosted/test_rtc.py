"""The battery-backed clock's dates (arch/x86/cpu/clock.c), alone in a process."""

from __future__ import annotations

import subprocess

from tests.hash import compiled


def test_every_day_of_the_century():
    # Only what the date needs is linked: the rest of the file is for a machine.
    flags = (
        "-ffunction-sections",
        "-fdata-sections",
        "-Wl,--gc-sections",
        f"-I{compiled.TOP}/arch/x86/include",
        "-DCONFIG_NR_CPUS=16",
    )
    program = compiled.build("rtc.c", compiled.scratch() / "rtc", {}, (), flags)
    result = subprocess.run([program], capture_output=True, text=True, check=False, timeout=60)
    assert (result.returncode, result.stdout) == (0, "ok\n")
