"""The allocators of frames and objects alone, against a model, under the sanitizers."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.hash import compiled

HERE = Path(__file__).resolve().parent


@pytest.fixture(scope="module", params=["debug", "release"])
def frames(request) -> Path:
    defines = ["CONFIG_HASH_WORD=64", *(["CONFIG_DEBUG"] if request.param == "debug" else [])]
    # A list head is no object of the list: taking it for one in a loop's end condition is not misaligned use.
    flags = ("-fsanitize=address,undefined", "-fno-sanitize=alignment", "-fno-sanitize-recover=all", "-g")
    flags += (f"-I{HERE}/include",)
    return compiled.build(str(HERE / "frames.c"), compiled.scratch() / f"frames-{request.param}", {}, defines, flags)


@pytest.mark.check
@pytest.mark.parametrize("seed", range(1, 6))
def test_random_allocations(frames, seed):
    result = subprocess.run([frames, str(seed), "60000"], capture_output=True, text=True, check=False, timeout=300)
    assert (result.returncode, result.stdout) == (0, "ok\n"), result.stdout + result.stderr[-3000:]
