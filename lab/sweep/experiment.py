"""An experiment file: its parts as classes, and its reading, with the file and the line of everything that is wrong.

docs/lab/experiments.md describes the format. Here stands what a file can say and how its parts refer to each other;
whether its defconfigs, settings and programs exist is asked by lab/sweep/validate.py before anything is built.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from lab.sweep.toml import like
from lab.sweep.toml.files import find, located, read, tables
from lab.sweep.toml.lines import Path as Place

CACHES = ("page", "buffer", "inode", "dentry", "path")  # the last: of kernels with direct lookup
SOURCES = (
    "metric:NAME", "counters:CACHE.FIELD", "simulated:RATE", "simulated:seconds", "stats:CACHE.FIELD", "cachesim:CACHE.FIELD",
    "hashcost:CACHE.instructions", "hashcost:CACHE.called", "hashcost:CACHE.code_bytes", "profile:FUNCTION[+-FUNCTION...]", "profile:FUNCTION[+-FUNCTION...]/FUNCTION*METRIC", "run:virtual_ns", "run:seconds",
)  # fmt: skip
_CACHE = "(page|buffer|inode|dentry)"
SOURCE = re.compile(
    rf"metric:\w+|stats:({_CACHE}|swap)(\.\w+)+|cachesim:\w[\w.]*|hashcost:({_CACHE}|swap)\.(instructions|called|code_bytes)"
    rf"|counters:{_CACHE}\.(lookups|hit_percent|steps_per_(lookup|hit|miss))|simulated:(\w+_per_(second|hour)|seconds)"
    r"|profile:\w+([+-]\w+)*(/\w+\*\w+)?|run:(virtual_ns|seconds)"
)
ROWS = 17  # of a bucket histogram: sizes 0 to 15, and more


def _memory(value: str) -> str:
    match = re.fullmatch(r"([1-9]\d*)([MG])(\+disk)?", value)
    if not match or not 64 <= int(match[1]) * (1024 if match[2] == "G" else 1) <= 16384:
        raise ValueError(f"'{value}' is no size of memory: give 64M to 16G, or as 128M+disk")
    return value


def _source(value: str) -> str:
    if not SOURCE.fullmatch(value):
        raise ValueError(f"'{value}' says not where the number comes from. There are: {', '.join(SOURCES)}")
    return value


def _as_list(value: Any) -> Any:
    return value if isinstance(value, list) else [value]


def _different(values: list) -> list:
    twice = [str(value) for value, count in Counter(values).items() if count > 1]
    if twice:
        raise ValueError(f"{', '.join(twice)} stands there twice")
    return values


Name = Annotated[str, Field(min_length=1, max_length=80)]
Seeds = Annotated[list[Annotated[int, Field(ge=0, lt=1 << 31)]], Field(min_length=1), AfterValidator(_different)]
Memories = Annotated[
    list[Annotated[str, AfterValidator(_memory)]],
    BeforeValidator(_as_list),
    Field(min_length=1),
    AfterValidator(_different),
]
Processors = Annotated[
    list[Annotated[int, Field(ge=1, le=16)]], BeforeValidator(_as_list), Field(min_length=1), AfterValidator(_different)
]
Names = Annotated[list[str], BeforeValidator(_as_list), Field(min_length=1), AfterValidator(_different)]
Command = Annotated[list[str], Field(min_length=1)]
DiskModel = Literal["none", "fireball", "cheetah", "ssd"]
Number = int | float
PaperRow = dict[str, Number | str]


def filled(text: str, words: Mapping[str, str]) -> str:
    """@text with each {NAME} of @words replaced."""
    for name, by in words.items():
        text = text.replace(f"{{{name}}}", by)
    return text


class Part(BaseModel):
    """A table of the file: its keys and their types are what stands here, and nothing else."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, populate_by_name=True)


class Machine(Part):
    """What to run on; None: as [machine] has it, or else the default."""

    mem: Memories | None = None
    smp: Processors | None = None
    icount: bool | None = None
    instruction_ns: Literal[1, 2, 4, 8, 16, 32, 64] | None = None  # virtual nanoseconds an instruction takes
    root: Literal["ext2", "tmpfs", "ram"] | None = None
    disk_model: DiskModel | None = None
    ext2_block: Literal[1024, 2048, 4096] | None = None
    ext2_free: Annotated[int, Field(ge=1, le=65536)] | None = None  # MB
    cmdline: str | None = None
    timeout: Annotated[Number, Field(gt=0)] | None = None  # seconds of the host's clock
    cache_sim: str | None = None
    cpu: str | None = None  # QEMU's model of the processor
    image: str | None = None  # a recipe of lab/guest/workloads.py
    user: str | None = None
    host: bool | None = None  # no machine: the job runs on this host, and is timed there

    def over(self, under: Machine) -> Machine:
        """This machine, with @under's values where it has none."""
        names = Machine.model_fields
        given = {name: getattr(self, name) for name in names if getattr(self, name) is not None}
        return Machine.model_construct(**{**{name: getattr(under, name) for name in names}, **given})


DEFAULTS = Machine(mem=["512M"], smp=[1], icount=True, cmdline="", timeout=600, user="root", host=False)


class FullMachine(Machine):
    """[machine] and what --full changes of it."""

    full: Machine = Machine()


class Kernel(Part):
    name: Name
    defconfig: str = ""
    settings: list[str] = []
    cmdline: str = ""
    full_cmdline: str | None = None  # in place of cmdline with --full: tables that are as full with a larger load
    disk_model: DiskModel | None = None  # in place of the machine's
    smp: Annotated[int, Field(ge=1, le=16)] | None = None  # CPUs, in place of the machine's
    linux: bool = False  # Debian's Linux on the same machine and image, in place of a kernel of ours
    # What {NAME} in a run becomes: so something else than kernels is compared. Of the lines of a result those count that
    # have the same under NAME, or nothing.
    words: dict[str, str] = {}
    paper: PaperRow | dict[str, PaperRow] = {}
    untested: dict[str, str] = {}  # a workload or case -> why what was run does not test what the paper has there

    def at(self, full: bool) -> Kernel:
        """As it is booted with --full, or without."""
        return (
            self.model_copy(update={"cmdline": self.full_cmdline}) if full and self.full_cmdline is not None else self
        )

    def machine(self, machine: Machine) -> Machine:
        """@machine with what this kernel has in its place."""
        return Machine(disk_model=self.disk_model, smp=[self.smp] if self.smp else None).over(machine)

    def paper_row(self, workload: str) -> PaperRow:
        """What the paper printed for this kernel and a workload or case; a file with one row for all has no names."""
        nested = {key: value for key, value in self.paper.items() if isinstance(value, dict)}
        return nested.get(workload, {}) if nested else {k: v for k, v in self.paper.items() if not isinstance(v, dict)}


class Workload(FullMachine):
    name: Name
    run: Command
    full_run: Command | None = None
    cases: list[Name] = []  # where one run prints several results: the names they have
    packages: list[str] = []
    add: list[str] = []
    make: list[str] = []  # goals of make: what makes the files to add
    takes: Annotated[Number, Field(gt=0)] | None = None  # seconds of a full run, as long as no like one was timed


class Measure(Part):
    name: Name
    unit: str = ""
    better: Literal["higher", "lower", ""] = ""
    paper: str = ""  # the key of the kernels' paper rows that holds the same
    over: Literal["mean", "mean but the first", "median", "maximum", "sum", "deviation"] = (
        "mean"  # of a case's several results
    )
    source: Annotated[str, AfterValidator(_source), Field(alias="from")]
    digit: Annotated[Number, Field(ge=0)] = 0  # the last that the paper prints: half of it either way is what it tells
    resolution: Annotated[Number, Field(ge=0)] = 0  # the least difference that it tells, in its unit: a clock's tick
    builds: Annotated[Number, Field(ge=0)] = 0  # how far from 1 the ratio of two layouts of one kernel was seen

    @property
    def kind(self) -> str:
        return self.source.partition(":")[0]

    @property
    def of_case(self) -> bool:
        """Of each case its own number, not one of a run as a whole."""
        return self.kind in ("metric", "counters", "simulated", "cachesim")

    @property
    def of_result(self) -> bool:
        """A number of the workload's result, or made from one: there is none without a result line."""
        return self.kind in ("metric", "simulated")


class PaperHistogram(Part):
    objects: int | None = None
    largest: int | None = None
    lookups: int | None = None
    hit_rate: Number | None = None  # percent
    steps_per_lookup: Number | None = None
    buckets: Annotated[list[int], Field(min_length=ROWS, max_length=ROWS)] | None = None


class Histogram(Part):
    kernel: str
    cache: Literal["page", "buffer", "inode", "dentry", "path"]
    workload: str = ""  # the first
    title: str = ""
    paper: PaperHistogram = PaperHistogram()


def _places_kernels(pattern: str) -> str:
    try:
        if "x" in re.compile(pattern).groupindex:
            return pattern
    except re.error as error:
        raise ValueError(f"'{pattern}' is no pattern: {error}") from None
    raise ValueError(f"'{pattern}' says not what of a kernel's name is its place: (?P<x>...)")


class Figure(Part):
    """A figure of the text, drawn of our runs: curves over what the kernels' names say, or stacked bars."""

    title: Name
    # Which kernels are in it, by their whole names: the group x is where one stands on the axis, the group line, if there is
    # one, of which curve it is or which bar of its place.
    kernels: Annotated[str, AfterValidator(_places_kernels)]
    x: Name  # what the axis says
    measures: Names  # a curve of each; of bars the parts, from below
    bars: bool = False
    up_to: str = ""  # of bars: the measure to whose height each is filled up
    workload: str = ""  # the first

    def place(self, kernel: str) -> tuple[str, str] | None:
        """(line, x) of a kernel; None: it is not in this figure."""
        match = re.fullmatch(self.kernels, kernel)
        return (match.groupdict().get("line") or "", match["x"]) if match else None


class Expected(Part):
    """What of an expectation is the same for all workloads and kernels that it names."""

    text: Annotated[str, Field(min_length=1)]
    measure: str
    than: str
    at_least: Annotated[Number, Field(gt=0)] = 1.0  # more / than >= at_least
    largest: Annotated[Number, Field(gt=1)] | None = None  # where the paper's size ends, which at_least begins
    at_most: Annotated[Number, Field(gt=0)] | None = None  # in place of more: what the value of than may be
    asked: bool = False  # the paper asks whether it is so, and has no finding of its own
    goal: bool = False  # the paper says nothing of it: it is what we want to reach
    open: str = ""  # what the paper itself left open of it
    untested: str = ""  # why what was run does not test it
    conclusion: str = ""  # what we make of it, beside the verdict


class Expect(Expected):
    """One of them."""

    workload: str = ""  # the first
    more: str = ""  # a kernel, or "" with at_most

    @property
    def above(self) -> str:
        """What stands above the line of the quotient: a kernel, or the number that is not to be exceeded."""
        return self.more if self.at_most is None else f"{self.at_most:g}"

    @property
    def wanted(self) -> str:
        """The size that the paper says in words; "": it says none, or that nothing is lost."""
        if self.at_least <= 1:
            return ""
        return f"at least {self.at_least:g}" + (f", at most {self.largest:g}" if self.largest else "")

    @property
    def question(self) -> str:
        """The text of what the paper has no finding of; "": it has."""
        return f"{self.text}?" if self.asked else f"our aim: {self.text}" if self.goal else ""


class Expects(Expected):
    """What stands in a file: a name or a list of them, each of which {workload} and {more} in the text become."""

    workload: Names = [""]
    more: Names = [""]

    @property
    def each(self) -> list[Expect]:
        common = self.model_dump(exclude={"text", "workload", "more"})
        return [
            Expect(text=filled(self.text, {"workload": place, "more": kernel}), workload=place, more=kernel, **common)
            for place in self.workload
            for kernel in self.more
        ]


class Variant(Part):
    """A workload on one machine: every value of the machine is one value."""

    name: str
    workload: Workload
    run: list[str]
    machine: Machine

    @property
    def cases(self) -> list[str]:
        return self.workload.cases or [self.name]


class Experiment(Part):
    name: Name
    title: Name
    like: str = ""  # the experiment that has what is not said here (lab/sweep/toml/like.py)
    paper: str = ""
    settings: list[str] = []  # of all kernels, before their own
    reference: str
    seeds: Seeds
    full_seeds: Seeds | None = None
    keep: Literal["all", "middle"] = "all"
    full_keep: Literal["all", "middle"] | None = None
    sensitivity_seeds: Seeds | None = (
        None  # those of --full that are simulated with ,sensitivity; None: as cache_sim says
    )
    notes: str = ""
    printed: bool = False  # the page also has the text's table as it is printed: values, and percent that are saved
    whole: bool = False  # the reduced size is the paper's whole load, too: it is judged
    smallest: Annotated[Number, Field(ge=0)] = 0  # the least distance of a ratio from 1 that counts as an effect
    # Why, as the paper says, what its rows differ by is noise, or which workloads' or cases' is: they are left open.
    noise: str | dict[str, list[Name]] = ""
    tolerance: Annotated[Number, Field(ge=0)] = 0  # where it says so of those that differ by no more than this
    machine: FullMachine = FullMachine()
    kernel: Annotated[list[Kernel], Field(min_length=1)]
    workload: Annotated[list[Workload], Field(min_length=1)]
    measure: Annotated[list[Measure], Field(min_length=1)]
    histogram: list[Histogram] = []
    figure: list[Figure] = []
    expects: Annotated[list[Expects], Field(alias="expect")] = []

    def noise_at(self, place: str, ratio: float | None) -> str:
        """Why the paper's @ratio at a workload or case is noise, as the paper has it; "": it is none."""
        told = (
            self.noise
            if isinstance(self.noise, str)
            else next((why for why, of in self.noise.items() if place in of), "")
        )
        if not told and ratio is not None and self.tolerance and abs(ratio - 1) <= self.tolerance:
            return f"the paper calls a difference of up to {self.tolerance:.0%} variability"
        return told

    @property
    def expect(self) -> list[Expect]:
        """What the paper found, and what we want to reach, one by one."""
        return [one for group in self.expects for one in group.each]

    def seeds_at(self, full: bool) -> list[int]:
        return (self.full_seeds if full else None) or self.seeds

    def keep_at(self, full: bool) -> str:
        return (self.full_keep if full else None) or self.keep

    def variants(self, full: bool = False) -> list[Variant]:
        """Every workload on every memory and number of CPUs; where there are several, the name says which."""
        found = []
        for workload in self.workload:
            machine = workload.over(self.machine).over(DEFAULTS)
            if full:
                machine = workload.full.over(self.machine.full).over(machine)
            run = (workload.full_run if full else None) or workload.run
            memories, processors = machine.mem or [], machine.smp or []
            for mem in memories:
                for smp in processors:
                    name = workload.name + (f", {mem}" if len(memories) > 1 else "")
                    name += f", {smp} CPU{'s' if smp > 1 else ''}" if len(processors) > 1 else ""
                    single = Machine(mem=[mem], smp=[smp]).over(machine)
                    found.append(Variant(name=name, workload=workload, run=run, machine=single))
        return found

    def places(self, full: bool = False) -> list[str]:
        """The names that results stand under: workloads, or the cases of those that have several."""
        return [case for variant in self.variants(full) for case in variant.cases]

    def find_kernel(self, name: str) -> Kernel:
        return next(kernel for kernel in self.kernel if kernel.name == name)


def load(name: str | Path) -> Experiment:
    """Read experiments/NAME.toml, or a file by its path. LabError has a line for each fault."""
    path = find(name)
    return parse(read(path), path)


def parse(text: str, path: Path) -> Experiment:
    """The experiment that @text, the content of @path, describes."""
    try:
        experiment = Experiment.model_validate(like.with_settings(tables(text, path)))
    except ValidationError as error:
        raise located(path, text, [_fault(one) for one in error.errors()]) from None
    faults = list(_inconsistent(experiment, path))
    if faults:
        raise located(path, text, faults)
    return experiment


def _fault(error: Any) -> tuple[Place, str]:
    """pydantic's words for what is wrong, in ours."""
    place = tuple(part for part in error["loc"] if not str(part).startswith(("dict[", "function-", "list[")))
    place = tuple("from" if part == "source" else part for part in place)
    kind = error["type"]
    if kind == "extra_forbidden":
        return place, f"there is no such key. There are: {', '.join(_keys(place[:-1]))}"
    if kind == "missing":
        return place, "is missing"
    if kind == "value_error":
        return place, str(error["ctx"]["error"])
    given = error["input"]
    shown = "" if isinstance(given, (dict, list)) else f", not {given!r}"
    return place, error["msg"].replace("Input should be", "wanted is").replace("List should", "it should") + shown


def _keys(place: Place) -> list[str]:
    """The keys that the table at @place may have."""
    model: type[BaseModel] = Experiment
    for part in place:
        model = TABLES.get(str(part), model)
    return [one.alias or name for name, one in model.model_fields.items()]


TABLES: dict[str, type[BaseModel]] = {
    "machine": FullMachine, "kernel": Kernel, "workload": Workload, "measure": Measure, "histogram": Histogram,
    "expect": Expects, "figure": Figure, "full": Machine, "paper": PaperHistogram,
}  # fmt: skip


def _inconsistent(experiment: Experiment, path: Path) -> Iterator[tuple[Place, str]]:
    """What does not fit together in a file whose parts are right by themselves."""
    if experiment.name != path.stem:
        yield ("name",), f"'{experiment.name}' is not the file's name, '{path.stem}'"
    kernels = [kernel.name for kernel in experiment.kernel]
    places = list(dict.fromkeys([*experiment.places(), *experiment.places(full=True)]))
    measures = [measure.name for measure in experiment.measure]
    for table, names in (("kernel", kernels), ("workload", [one.name for one in experiment.workload]), ("measure", measures)):  # fmt: skip
        for name, count in Counter(names).items():
            if count > 1:
                yield (table, len(names) - 1 - names[::-1].index(name), "name"), f"'{name}' stands there twice"
    yield from _one_of(("reference",), experiment.reference, kernels, "kernel")
    for full in (False, True):
        seeds = experiment.seeds_at(full)
        if experiment.keep_at(full) == "middle" and len(seeds) < 4:
            what = f'keep = "middle" leaves out two seeds\' runs: {len(seeds)} are too few, give four or more'
            yield ("full_seeds" if full and experiment.full_seeds else "seeds",), what
    yield from _machines(experiment)
    for index, kernel in enumerate(experiment.kernel):
        for key in ("defconfig", "settings", "cmdline", "full_cmdline", "disk_model"):
            if kernel.linux and getattr(kernel, key):
                yield ("kernel", index, key), f"{key} is for a kernel of ours, not for linux = true"
        for key, value in kernel.paper.items():
            if isinstance(value, dict):
                yield from _one_of(("kernel", index, "paper"), key, places, "workload or case")
    for index, histogram in enumerate(experiment.histogram):
        here = ("histogram", index)
        yield from _one_of((*here, "kernel"), histogram.kernel, kernels, "kernel")
        yield from _one_of((*here, "workload"), histogram.workload or places[0], places, "workload or case")
    for index, figure in enumerate(experiment.figure):
        here = ("figure", index)
        yield from _one_of((*here, "workload"), figure.workload or places[0], places, "workload or case")
        for key, names in (("measures", figure.measures), ("up_to", [figure.up_to] if figure.up_to else [])):
            for name in names:
                yield from _one_of((*here, key), name, measures, "measure")
        if not any(map(figure.place, kernels)):
            yield (*here, "kernels"), f"'{figure.kernels}' fits no kernel. There are: {', '.join(kernels)}"
    for index, expect in enumerate(experiment.expects):
        here = ("expect", index)
        yield from _one_of((*here, "measure"), expect.measure, measures, "measure")
        for workload in expect.workload:
            yield from _one_of((*here, "workload"), workload or places[0], places, "workload or case")
        if (expect.at_most is None) == (expect.more == [""]):
            yield here, "give more, a kernel, or at_most, a number: one of the two is compared with than"
        for key, names in (("more", [name for name in expect.more if name]), ("than", [expect.than])):
            for name in names:
                yield from _one_of((*here, key), name, kernels, "kernel")


def _machines(experiment: Experiment) -> Iterator[tuple[Place, str]]:
    """Machines that cannot be."""
    for full in (False, True):
        for variant in experiment.variants(full):
            place: Place = ("workload", experiment.workload.index(variant.workload))
            if variant.machine.instruction_ns and not variant.machine.icount:
                yield place, "instruction_ns is of a clock that counts instructions: icount = true, or leave it out"
            if variant.machine.disk_model not in (None, "none") and any(kernel.linux for kernel in experiment.kernel):
                yield place, "disk_model is Chainwalk's own RAM disk's: there is none beside a kernel with linux = true"
            if variant.machine.icount and variant.machine.root == "ext2":
                yield place, 'the host\'s disk is not repeatable under icount: set root = "ram", or icount = false'


def _one_of(place: Place, name: str, names: list[str], what: str) -> Iterator[tuple[Place, str]]:
    if name not in names:
        yield place, f"there is no {what} '{name}'. There are: {', '.join(dict.fromkeys(names))}"
