"""Kernels that an experiment waits for: `awaited = true` of a [[kernel]] says that its configuration may not be there yet.

As long as configs/ or Kconfig has not what it asks for, it is left out, with what compares or draws it, and the experiment's
notes say so: the file can be written, checked and run for the other kernels before.
"""

from __future__ import annotations

import tempfile
from collections.abc import Collection
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from lab.build import configure

if TYPE_CHECKING:
    from lab.sweep.experiment import Expects, Experiment


@cache
def lacking(defconfig: str, settings: tuple[str, ...]) -> str:
    """Why a kernel of @defconfig with @settings can't be built here; "": it can."""
    with tempfile.TemporaryDirectory() as folder:
        kconfig = configure.load_kconfig(Path(folder))
    try:
        configure.load_config(kconfig, configure.defconfig_path(defconfig or "default"))
        for setting in settings:
            name, _, value = setting.partition("=")
            configure.assign(kconfig, name, value)
    except configure.ConfigureError as error:
        return str(error).partition("\n")[0].partition(". There are")[0]
    return ""


def without_awaited(experiment: Experiment) -> Experiment:
    """@experiment as far as its kernels can be built here."""
    gone = {
        kernel.name: why
        for kernel in experiment.kernel
        if kernel.awaited and (why := lacking(kernel.defconfig, tuple(kernel.settings)))
    }
    if not gone:
        return experiment
    kernels = [kernel for kernel in experiment.kernel if kernel.name not in gone]
    expects = [kept for one in experiment.expects if (kept := _of_kernels(one, gone))]
    return experiment.model_copy(
        update={
            "kernel": kernels,
            "expects": expects,
            "histogram": [one for one in experiment.histogram if one.kernel not in gone],
            "figure": [one for one in experiment.figure if any(one.place(kernel.name) for kernel in kernels)],
            "notes": f"{experiment.notes.rstrip()}\nLeft out, with what compares it: "
            + "; ".join(f"{name} ({why})" for name, why in gone.items()),
        }
    )


def _of_kernels(expects: Expects, gone: Collection[str]) -> Expects | None:
    """@expects of the kernels that are not @gone; None: there is nothing to compare."""
    more = [name for name in expects.more if name not in gone]
    return expects.model_copy(update={"more": more}) if more and expects.than not in gone else None
