"""hash/choose.py, which is a script of the build and no module of a package."""

from __future__ import annotations

import importlib.util
from functools import cache
from typing import Any

from lab.base.paths import TOP


@cache
def load_choose() -> Any:
    """The module: which functions and structures there are, and the headers that choose them."""
    specification = importlib.util.spec_from_file_location("choose", TOP / "hash" / "choose.py")
    assert specification and specification.loader
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module
