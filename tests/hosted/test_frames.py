"""The allocators of frames and objects alone, against a model, under the sanitizers; and what frames are used for."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.hash import compiled


@pytest.fixture(scope="module", params=["debug", "release"])
def frames(request) -> Path:
    defines = ["CONFIG_HASH_WORD=64", *(["CONFIG_DEBUG"] if request.param == "debug" else [])]
    # A list head is no object of the list: taking it for one in a loop's end condition is not misaligned use.
    flags = ("-fsanitize=address,undefined", "-fno-sanitize=alignment", "-fno-sanitize-recover=all", "-g")
    flags += (f"-I{compiled.PARTS}/include",)
    return compiled.build("frames.c", compiled.scratch() / f"frames-{request.param}", {}, defines, flags)


@pytest.mark.check
@pytest.mark.parametrize("seed", range(1, 6))
def test_random_allocations(frames, seed):
    result = subprocess.run([frames, str(seed), "60000"], capture_output=True, text=True, check=False, timeout=300)
    assert (result.returncode, result.stdout) == (0, "ok\n"), result.stdout + result.stderr[-3000:]


@pytest.mark.parametrize("optimized", ["-O0", "-O2"])
def test_an_interrupt_loses_no_count(optimized):
    flags = (optimized, f"-I{compiled.TOP}/arch/x86/include", "-DCONFIG_NR_CPUS=16")
    program = compiled.build("counts.c", compiled.scratch() / f"counts{optimized}", {}, (), flags)
    result = subprocess.run([program], capture_output=True, text=True, check=False, timeout=60)
    assert result.returncode == 0 and result.stdout.startswith("ok"), result.stdout
