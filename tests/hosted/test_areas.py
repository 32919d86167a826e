"""The areas of an address space and their tree alone, against a model of the pages, under the sanitizers."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.hash import compiled


@pytest.fixture(scope="module")
def areas() -> Path:
    flags = ("-fsanitize=address,undefined", "-fno-sanitize=alignment", "-fno-sanitize-recover=all", "-g")
    flags += (f"-I{compiled.PARTS}/include",)
    defines = ["CONFIG_HASH_WORD=64", "CONFIG_DEBUG"]
    return compiled.build("areas.c", compiled.scratch() / "areas", {}, defines, flags)


@pytest.mark.parametrize(("seed", "steps", "pages"), [(1, 20000, 2000), (2, 20000, 200), (3, 12000, 20000)])
def test_random_areas(areas, seed, steps, pages):
    command = [areas, str(seed), str(steps), str(pages)]
    result = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert result.returncode == 0 and result.stdout.startswith("ok"), result.stdout + result.stderr[-3000:]
