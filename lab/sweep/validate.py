"""What an experiment file asks for must be there: asked before anything is built, and told with the file's lines.

lab/sweep/experiment.py has seen that the file is right by itself. Here the checkout is asked: its configs/, its
Kconfig, the packages of Debian, the workload program's loads, the recipes of images, files to add. All faults are
reported at once.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

from lab.base.paths import TOP, LabError
from lab.build import configure
from lab.guest import workloads
from lab.guest.packages import package_set
from lab.run.cachesim.several import is_several, parse_machine
from lab.run.cachesim.specification import parse_specification
from lab.run.cmdline import check_sizing
from lab.sweep.experiment import Experiment, Kernel, parse
from lab.sweep.toml.files import find, located, read
from lab.sweep.toml.lines import Path as Place

LOADS = re.compile(r"^(?:const )?struct load \w+ = \{\s*(?:\.name = )?\"([\w-]+)\"", re.MULTILINE)
UPPER_LIMIT = 255  # words of a job (lab/run/machine.py: the kernel's limit of arguments)


class Configurator:
    """The effective configuration of kernels, without building them. Reads Kconfig once."""

    def __init__(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            self.kconfig = configure.load_kconfig(Path(folder))

    def base(self, defconfig: str) -> None:
        """Take a defconfig. ConfigureError: there is none of that name, or it is wrong."""
        self.kconfig.unset_values()
        configure.load_config(self.kconfig, configure.defconfig_path(defconfig or "default"))

    def set(self, setting: str) -> None:
        """Take NAME=VALUE. ConfigureError says which names and values there are."""
        name, equals, value = setting.partition("=")
        if not equals:
            raise configure.ConfigureError(f"'{setting}' is not NAME=VALUE (./cw list)")
        configure.assign(self.kconfig, name, value)

    def text(self, kernel: Kernel) -> str:
        """The configuration of a kernel that is known to be right, as .config lines."""
        self.base(kernel.defconfig)
        for setting in kernel.settings:
            self.set(setting)
        return configure.config_text(self.kconfig)


def load(name: str | Path) -> Experiment:
    """The experiment of that name or file, right in itself and in what it asks for. LabError has every fault's line."""
    path = find(name)
    text = read(path)
    experiment = parse(text, path)
    faults = [*_kernels(experiment), *_machines(experiment), *_workloads(experiment), *_measures(experiment)]
    if faults:
        raise located(path, text, faults)
    return experiment


def _kernels(experiment: Experiment) -> Iterator[tuple[Place, str]]:
    configurator = Configurator()
    for index, kernel in enumerate(experiment.kernel):
        here: Place = ("kernel", index)
        try:
            configurator.base(kernel.defconfig)
        except configure.ConfigureError as error:
            yield (*here, "defconfig"), str(error)
            continue
        right = True
        for setting in kernel.settings:
            try:
                configurator.set(setting)
            except configure.ConfigureError as error:
                right = False
                yield (*here, "settings"), str(error)
        chosen = configure.chosen(configurator.kconfig)
        try:
            configure.plugins().check(configure.plugins().with_defaults(chosen))
        except configure.plugins().ChoiceError as error:
            if right:
                yield (*here, "settings" if kernel.settings else "defconfig"), str(error)
        yield from _line(kernel.cmdline, (*here, "cmdline"))
        yield from _line(kernel.full_cmdline or "", (*here, "full_cmdline"))


def _line(cmdline: str, place: Place) -> Iterator[tuple[Place, str]]:
    if "hash_sizing" in cmdline:
        try:
            check_sizing(cmdline)
        except LabError as error:
            yield place, str(error)


def _machines(experiment: Experiment) -> Iterator[tuple[Place, str]]:
    tables: list[tuple[Place, object]] = [(("machine",), experiment.machine)]
    tables += [(("workload", index), workload) for index, workload in enumerate(experiment.workload)]
    for place, table in tables:
        for here, machine in ((place, table), ((*place, "full"), getattr(table, "full", None))):
            yield from _line(getattr(machine, "cmdline", None) or "", (*here, "cmdline"))
            yield from _cache_sim(getattr(machine, "cache_sim", None), (*here, "cache_sim"))
            yield from _image(getattr(machine, "image", None), (*here, "image"))


def _measures(experiment: Experiment) -> Iterator[tuple[Place, str]]:
    """What the simulation of memory caches counts is there if it is asked for, and its time if instructions are time."""
    machines = [variant.machine for full in (False, True) for variant in experiment.variants(full)]
    for index, measure in enumerate(experiment.measure):
        place = ("measure", index, "from")
        if measure.kind in ("cachesim", "simulated") and not any(machine.cache_sim for machine in machines):
            yield place, f"'{measure.source}' needs cache_sim, in [machine] or of a workload"
        elif measure.kind == "simulated" and any(machine.cache_sim and not machine.icount for machine in machines):
            yield place, f"'{measure.source}' replaces the time of instructions: it needs icount = true"


def _cache_sim(value: str | None, place: Place) -> Iterator[tuple[Place, str]]:
    if value:
        try:
            (parse_machine if is_several(value) else parse_specification)(value)
        except LabError as error:
            yield place, str(error)


def _image(value: str | None, place: Place) -> Iterator[tuple[Place, str]]:
    if value and value not in workloads.names():
        yield place, f"there is no image '{value}'. There are: {', '.join(workloads.names())}"


def loads() -> list[str]:
    """The loads of the workload program, from its sources: it may not have been built yet."""
    texts = (path.read_text(encoding="utf-8") for path in sorted((TOP / "user/workload").glob("*.c")))
    return sorted({name for text in texts for name in LOADS.findall(text)})


def _workloads(experiment: Experiment) -> Iterator[tuple[Place, str]]:
    known = loads()
    for index, workload in enumerate(experiment.workload):
        here: Place = ("workload", index)
        for key, run in (("run", workload.run), ("full_run", workload.full_run)):
            if run and run[0] == "workload" and (len(run) < 2 or run[1] not in known):
                given = f"'{run[1]}'" if len(run) > 1 else "nothing"
                yield (*here, key), f"the workload program has no load {given}. There are: {', '.join(known) or 'none'}"
            if run and len(run) > UPPER_LIMIT:
                yield (*here, key), f"{len(run)} words: a job has at most {UPPER_LIMIT}"
        for specification in workload.add:
            if not workload.make and not (TOP / specification.partition(":")[0]).exists():
                what = f"there is no '{specification.partition(':')[0]}' (paths are from the checkout's top)"
                yield (*here, "add"), what
        if workload.packages:
            try:
                package_set(workload.packages)
            except LabError as error:
                yield (*here, "packages"), str(error)
