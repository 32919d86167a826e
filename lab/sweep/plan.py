"""From an experiment to its cells: each run that it asks for, with everything that determines it.

A cell's id is a hash of its configuration: the kernel's sources and .config, its command line, machine, image, job and
seed, and QEMU's version. The same run asked for twice, by one experiment or by two, is one cell. Other sources are other
ids; whether they make another machine shows when it is built (lab/sweep/runner.py).
"""

from __future__ import annotations

import fnmatch
import hashlib
import json
import os
import shlex
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from lab.base.paths import TOP, LabError
from lab.guest import workloads
from lab.run.cachesim.several import is_several
from lab.run.cachesim.simulation import MARKS
from lab.run.linux import linux_kernel
from lab.run.options import PROFILE, PROFILED, SHORT_TURNS
from lab.run.qemu.disks import DISK_MODEL, disk_option
from lab.run.qemu.given import qemu_version
from lab.run.result import host
from lab.sweep.experiment import Experiment, Kernel, Machine, Variant, filled
from lab.sweep.kernels import LINUX, Choice, check_sources, compiler, digest_of, sources_digest, tools
from lab.sweep.libraries import libraries, system
from lab.sweep.store import Use
from lab.sweep.validate import Configurator

# Of a configuration: how it was asked for, what its sources' hash is of, what was there when it ran; not what it is.
OF_THE_RUN = ("kernel_sha256", "machine_sha256", "host")  # what is told by the run itself
# The same of some runs: the host's load average, of what ran on it; that what determines it was looked at before and after it.
OF_SOME_RUNS = ("load_average", "checked")
WORDS_ONLY = ("defconfig", "settings", "requested_packages", "load", "tools", "system", *OF_THE_RUN, *OF_SOME_RUNS)


@dataclass
class Planned:
    """A cell to run."""

    id: str
    config: dict[str, Any]
    kernel: Choice | None  # None: it runs on this host itself
    options: list[str]  # of ./cw run, without the kernel's
    job: list[str]
    timeout: float
    needs: list[str]  # the cases of which there must be a result; [""]: any result
    takes: float | None = None  # seconds, as the experiment guesses them
    uses: list[Use] = field(default_factory=list)

    @property
    def command(self) -> str:
        """What repeats the run."""
        if not self.kernel:
            return shlex.join(on_host(self.job, self.config["add"], Path()))
        kernel = ["--defconfig", self.kernel.defconfig or "default"] if self.kernel != LINUX else []
        kernel += [word for setting in self.kernel.settings for word in ("--set", setting)]
        return shlex.join(["./cw", "run", *kernel, *self.options, "--result", "result.json", "--", *self.job])

    @property
    def name(self) -> str:
        use = self.uses[0]
        return f"{use.experiment}: {use.kernel}, {use.workload}, seed {use.seed}"

    @property
    def kind(self) -> str:
        """Cells of one kind take about as long as one another: the same job on the same machine."""
        return kind_of(self.config)


def kind_of(config: dict[str, Any]) -> str:
    names = (
        "mem",
        "smp",
        "icount",
        "instruction_ns",
        "root",
        "image",
        "packages",
        "disk_model",
        "cache_sim",
        "ext2_free",
    )
    job = list(config.get("load") or config.get("run", []))  # the load is the same whatever the seed
    if "--seed" in job:
        del job[job.index("--seed") : job.index("--seed") + 2]
    return json.dumps([job, *(config.get(name) for name in names)])


# Loads whose files stay, so that what the caches hold when the machine ends is what the load left in them.
KEPT = ("sdm", "sdet", "files")


def of_host(config: dict[str, Any]) -> bool:
    """Whether the cell with the configuration @config runs on the host itself, without a machine."""
    return "processor" in config


class Plan:
    """All cells of some experiments, each once."""

    def __init__(self, make: bool = True) -> None:
        """@make: files to add are made first; without, they are taken as they are, and self.lacking has those that are not there."""
        self.make = make
        self.lacking: dict[str, str] = {}  # paths, and the goals of make that make them
        self.cells: dict[str, Planned] = {}
        self.configurator = Configurator()
        self.choices: dict[str, Choice] = {}

    @property
    def uses(self) -> dict[Use, str]:
        return {use: cell.id for cell in self.cells.values() for use in cell.uses}

    def add(self, experiment: Experiment, full: bool = False, seeds: list[int] | None = None) -> None:
        """The cells of @experiment."""
        scale = "full" if full else "reduced"
        for kernel in (one.at(full) for one in experiment.kernel):
            for variant in experiment.variants(full):
                machine = kernel.machine(variant.machine)
                turns = bool(machine.icount) and (machine.smp or [1])[0] > 1 or is_several(machine.cache_sim or "")
                rooms = {
                    MARKS: bool(machine.cache_sim),
                    SHORT_TURNS: turns,
                    DISK_MODEL: disk_option(machine.disk_model or "none") != "",
                    PROFILE: PROFILED in f"{machine.cmdline} {kernel.cmdline}" and PROFILE not in kernel.settings,
                }
                self._made(variant)
                choice = self._choice(kernel, [setting for setting, needed in rooms.items() if needed])
                for seed in seeds or experiment.seeds_at(full):
                    made = _planned(experiment, kernel, choice, at_seed(experiment, variant, seed, full), seed)
                    made.takes = variant.workload.takes if full else None
                    cell = self.cells.setdefault(made.id, made)
                    cell.needs = list(dict.fromkeys([*cell.needs, *made.needs]))
                    cell.uses.append(Use(experiment.name, kernel.name, variant.name, seed, scale))

    def _made(self, variant: Variant) -> None:
        """Bring the files up to date that @variant adds, or note which are not there."""
        workload = variant.workload
        if self.make:
            made_files(tuple(workload.make))
            return
        for path in (one.partition(":")[0] for one in workload.add):
            if not (TOP / path).exists():
                self.lacking[path] = " ".join(workload.make)

    def _choice(self, kernel: Kernel, rooms: list[str]) -> Choice:
        """What to build for @kernel, with the settings @rooms that its machine needs."""
        if kernel.linux:
            return LINUX
        if rooms:
            kernel = kernel.model_copy(update={"settings": [*kernel.settings, *rooms]})
        wanted = json.dumps([kernel.defconfig, kernel.settings])
        if wanted not in self.choices:
            text = self.configurator.text(kernel)
            self.choices[wanted] = Choice(kernel.defconfig, tuple(kernel.settings), text)
        return self.choices[wanted]

    def only(self, patterns: Iterable[str]) -> list[Planned]:
        """The cells whose KERNEL/WORKLOAD fits one of @patterns (`*` and `?` as in a shell); all, without patterns."""
        chosen: dict[str, Planned] = {}
        for pattern in patterns:
            kernel, _, workload = pattern.partition("/")
            found = {
                cell.id: cell
                for cell in self.cells.values()
                for use in cell.uses
                if fnmatch.fnmatchcase(use.kernel, kernel or "*") and fnmatch.fnmatchcase(use.workload, workload or "*")
            }
            if not found:
                there = dict.fromkeys(f"{use.kernel}/{use.workload}" for use in self.uses)
                raise LabError(f"--only {pattern} fits nothing. There are:\n" + "\n".join(f"  {one}" for one in there))
            chosen.update(found)
        return list(chosen.values()) if chosen else list(self.cells.values())


def at_seed(experiment: Experiment, variant: Variant, seed: int, full: bool) -> Variant:
    """@variant as it runs with @seed: at the full size some seeds may tell what conclusions rest on, for all."""
    if not full or seed in (experiment.sensitivity_seeds or [seed]):
        return variant
    caches = (variant.machine.cache_sim or "").replace(",sensitivity", "") or None
    return variant.model_copy(update={"machine": variant.machine.model_copy(update={"cache_sim": caches})})


def asked_for(kernel: Kernel, variant: Variant, seed: int) -> dict[str, Any]:
    """Those parts of a cell's configuration that the experiment's file alone tells; nothing is built for them."""
    machine = kernel.machine(variant.machine)
    asked = {"load": variant.run, "run": _job(kernel, variant, seed), **_in_words(machine)}
    if machine.host:
        return asked | {"icount": False}
    return asked | {
        "defconfig": kernel.defconfig or "default", "settings": list(kernel.settings),
        "requested_packages": list(variant.workload.packages),
        "cmdline": " ".join(part for part in (machine.cmdline, kernel.cmdline) if part),
    }  # fmt: skip


def _job(kernel: Kernel, variant: Variant, seed: int) -> list[str]:
    """The words that run: the load's, with the kernel's words and the seed filled in. `workload` is told the seed even where
    the load doesn't name it, and to keep its files (KEPT)."""
    job = [filled(word, {**kernel.words, "seed": str(seed)}) for word in variant.run]
    if job[0] != "workload":
        return job
    if "--seed" not in job:
        job += ["--seed", str(seed)]
    if job[1:2] and job[1] in KEPT and "--keep" not in job:
        job.append("--keep")
    return job


def _planned(experiment: Experiment, kernel: Kernel, choice: Choice, variant: Variant, seed: int) -> Planned:
    machine, workload = kernel.machine(variant.machine), variant.workload
    asked = asked_for(kernel, variant, seed)
    job = asked["run"]
    measured = any(measure.of_result for measure in experiment.measure)
    needs = list(workload.cases) if measured and workload.cases else [""] if measured or job[0] == "workload" else []
    added = {one: _digest_of_added(one) for one in workload.add}
    timeout = float(machine.timeout or 600)
    if machine.host:
        return _planned_on_host(asked, seed, added, timeout, needs)
    # Linux draws nothing from a seed: what differs from run to run is in the job's words, if anything.
    drawn, linux = (None, linux_kernel().version) if kernel.linux else (seed, "")
    config = {
        **asked, "seed": drawn, "sources": sources_digest(),
        "kernel_config": choice.config, "kernel_config_sha256": hashlib.sha256(choice.config.encode()).hexdigest(),
        "packages": package_versions(workload.packages, machine.image), "add": added,
        "qemu": qemu_version(), "tools": tools(), **({"linux": linux} if linux else {}),
    }  # fmt: skip
    options = ["--kernel", f"linux={linux}"] if linux else []
    options += _options(machine, workload.packages, workload.add, asked["cmdline"], drawn)
    return Planned(
        id=identity(config), config=config, kernel=choice, options=options, job=job,
        timeout=timeout, needs=needs,
    )  # fmt: skip


def _planned_on_host(
    asked: dict[str, Any], seed: int, added: dict[str, str], timeout: float, needs: list[str]
) -> Planned:
    """A cell without a machine: what determines it are its programs with their libraries, and this processor."""
    programs = tuple(_programs(added))
    loaded, described = _host_parts(programs, tuple(added.values()))
    config = {
        "defconfig": "", "settings": [], "sources": "", "kernel_config": "", "kernel_config_sha256": "", "cmdline": "",
        **asked, "seed": seed, "requested_packages": [], "packages": [], "add": added,
        "qemu": "", "tools": {"compiler": compiler()}, "processor": host(),
        **({"libraries": loaded} if loaded else {}), "system": described,
    }  # fmt: skip
    return Planned(identity(config), config, None, [], asked["run"], timeout, needs)


def _programs(added: Iterable[str]) -> list[Path]:
    return [TOP / one.partition(":")[0] for one in added]


@cache
def _host_parts(programs: tuple[Path, ...], _: tuple[str, ...]) -> tuple[dict[str, str], dict[str, Any]]:
    """libraries() and system() of @programs, asked once for all runs of files with the same digests @_."""
    return libraries(programs), system(programs)


def check_unchanged(cell: Planned) -> None:
    """LabError where what determines @cell is by now another than when it was planned: then nobody knows of which it is."""
    config = cell.config
    others = [one.partition(":")[0] for one, digest in config["add"].items() if _digest_of_added(one) != digest]
    if not cell.kernel and libraries(_programs(config["add"])) != config.get("libraries", {}):
        others.append("a library of its programs")
    if others:
        raise LabError(
            f"{', '.join(others)} changed while the sweep ran. The run that it belongs to is thrown away, what was recorded before"
            " stays: give the same command again"
        )
    if cell.kernel:
        check_sources("the sweep ran")


def _digest_of_added(one: str) -> str:
    return digest_of([TOP / one.partition(":")[0]])


def on_host(job: list[str], added: Iterable[str], top: Path = TOP) -> list[str]:
    """@job with the host's paths in place of the guest's, of all that is @added as HOSTPATH:GUESTPATH below @top."""
    paths = {}
    for one in added:
        here, _, there = one.partition(":")
        paths[there or f"/{Path(here).name}"] = str(top / here)
    return [paths.get(word, word) for word in job]


@cache
def made_files(goals: tuple[str, ...]) -> None:
    """Let make bring the files up to date that an experiment adds. LabError: it cannot."""
    if not goals:
        return
    environment = {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MAKELEVEL")}
    done = subprocess.run(
        ["make", "-s", "-C", TOP, *goals], capture_output=True, text=True, env=environment, check=False
    )
    if done.returncode:
        raise LabError(f"make {' '.join(goals)} failed:\n{(done.stderr or done.stdout).strip()}")


def identity(config: dict[str, Any]) -> str:
    """The id of the cell with the configuration @config: of another one it is another."""
    text = json.dumps({key: value for key, value in config.items() if key not in WORDS_ONLY}, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _in_words(machine: Machine) -> dict[str, Any]:
    """What a machine is, in a cell's configuration."""
    names = ("icount", "root", "disk_model", "ext2_block", "ext2_free", "cache_sim", "user", "image")
    return {
        "mem": (machine.mem or [""])[0],
        "smp": (machine.smp or [1])[0],
        **{name: getattr(machine, name) for name in names},
        **{name: getattr(machine, name) for name in ("instruction_ns", "cpu") if getattr(machine, name)},
    }


def _options(machine: Machine, packages: list[str], add: list[str], cmdline: str, seed: int | None) -> list[str]:
    """The same as options of ./cw run. @seed: None where the machine takes none."""
    options = ["--icount"] if machine.icount else []
    options += ["--seed", str(seed)] if machine.icount and seed is not None else []
    options += ["--mem", (machine.mem or ["512M"])[0]]
    options += ["--smp", str((machine.smp or [1])[0])] if (machine.smp or [1])[0] != 1 else []
    for name in ("cpu", "instruction_ns", "root", "disk_model", "ext2_block", "ext2_free", "cache_sim", "image"):
        value = getattr(machine, name)
        options += [f"--{name.replace('_', '-')}", str(value)] if value is not None else []
    options += ["--user", machine.user] if machine.user not in (None, "root") else []
    options += [word for package in packages for word in ("--package", package)]
    options += [word for one in add for word in ("--add", one)]
    options += ["--cmdline", cmdline] if cmdline else []
    return [*options, "--timeout", f"{machine.timeout:g}"]


def package_versions(packages: list[str], image: str | None) -> list[str]:
    """The versions of all packages that are in the image."""
    requested = list(packages)
    if image:
        requested += workloads.find(image).packages
    if not requested:
        return []
    from lab.guest.packages import package_set

    return package_set(requested).versions()
