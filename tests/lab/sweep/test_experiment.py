"""Files of experiments: what is wrong in one, which cells it asks for, and how long they take."""

from __future__ import annotations

from dataclasses import replace

import pytest

from lab.base.paths import TOP, LabError
from lab.report.reproduce import group
from lab.sweep import plan as planning
from lab.sweep.command import number_list
from lab.sweep.kernels import LINUX
from lab.sweep.plan import Plan
from lab.sweep.progress import Estimate, spoken
from lab.sweep.runner import finished_cell
from lab.sweep.store import Store
from lab.sweep.validate import load
from tests.lab.sweep.small import HEAD, OTHER, WORKLOAD, write

# ---- what is wrong in a file -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("seeds = [1, 2]", "seads = [1, 2]", ["5: seads: there is no such key", "seeds"]),
        ("seeds = [1, 2]", 'seeds = [1, 2]\nfull_keep = "middle"', ["5: seeds: keep = \"middle\" leaves out two"]),
        ('mem = "128M"', 'cache_sim = "pentium"', ["8: machine.cache_sim: ", "pentium", "ppro"]),
        ('mem = "128M"', "mem = 128", ["8: machine.mem: ", "string"]),
        ('mem = "128M"', 'mem = "12M"', ["8: machine.mem: '12M' is no size of memory: give 64M to 16G"]),
        ('mem = "128M"', 'image = "sdn"', ["8: machine.image: there is no image 'sdn'"]),
        ("[machine]", '[machine]\ncmdline = "hash_sizing=3"', ["8: machine.cmdline: hash_sizing=3", "2.2.5", "6.1"]),
        ('"lever-reference"', '"lever-refrence"', ["12: kernel.defconfig: no defconfig 'lever-refrence'", "lever-reference"]),
        ('"lever-reference"', '"lever-reference"\nsettings = ["PAGE_HUSH=mult"]', ["13: kernel.settings: no setting", "PAGE_HASH"]),
        ('"lever-reference"', '"default"\nsettings = ["PAGE_HASH=no"]', ["13: kernel.settings: no value of PAGE_HASH 'no'", "mult"]),
        ('"lever-reference"', '"default"\nsettings = ["NR_CPUS=17"]', ["13: kernel.settings: NR_CPUS=17 is refused: wanted 1 to 16"]),
        ('"lever-reference"', '"default"\nsettings = ["BUFFER_TABLE=rbtree"]', ["13: kernel.settings: ", "rbtree serves the caches page"]),
        ('["sh", "-c", "find', '["workload", "sdn", "find', ["16: workload.run: the workload program has no load 'sdn'"]),
        ('defconfig = "lever-reference"', 'linux = true\nsettings = ["NR_CPUS=1"]', ["13: kernel.settings: settings is for a kernel of ours"]),
        ('defconfig = "lever-reference"', 'linux = true\ndisk_model = "ssd"', ["13: kernel.disk_model: disk_model is for a kernel of ours"]),
        ('"128M"\n\n[[kernel]]\nname', '"128M"\ndisk_model = "ssd"\n[[kernel]]\nlinux = true\nname', ["disk_model is Chainwalk's own RAM disk's"]),
        ('[[measure]]', 'add = ["no/such/file:/x"]\n\n[[measure]]', ["18: workload.add: there is no 'no/such/file'"]),
        ('[[measure]]', 'packages = ["Not a name"]\n\n[[measure]]', ["18: workload.packages: ", "as Debian writes it"]),
        ('"metric:n"', '"metrik:n"', ["20: measure.from: 'metrik:n'", "metric:NAME"]),
    ],
)  # fmt: skip
def test_a_fault_is_told_with_its_line_and_what_is_allowed(tmp_path, old, new, says):
    assert old in HEAD + WORKLOAD
    path = write(tmp_path, (HEAD + WORKLOAD).replace(old, new, 1))
    with pytest.raises(LabError) as caught:
        load(path)
    assert str(caught.value).startswith(f"{path}:"), caught.value
    for word in says:
        assert word in str(caught.value)


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ('more = ["reference", "no"]', "more: there is no kernel 'no'"),
        ('more = "reference"\nworkload = ["", "no"]', "workload: there is no workload or case 'no'"),
        ("", "give more, a kernel, or at_most, a number"),
        ('more = "reference"\nat_most = 3', "give more, a kernel, or at_most, a number"),
        ("more = []", "expect.more: "),
    ],
)
def test_a_fault_of_an_expectation_is_told_with_its_line(tmp_path, more, says):
    right = '\n[[expect]]\ntext = "as it is"\nmeasure = "n"\nmore = "reference"\nthan = "reference"\n'
    wrong = f'\n[[expect]]\ntext = "wrong"\nmeasure = "n"\nthan = "reference"\n{more}\n'
    path = write(tmp_path, HEAD + WORKLOAD + right + wrong)
    with pytest.raises(LabError) as caught:
        load(path)
    (line,) = str(caught.value).splitlines()
    number = int(line.removeprefix(f"{path}:").split(":")[0])
    assert says in line and number >= path.read_text()[: path.read_text().index('"wrong"')].count("\n")


def test_all_faults_are_told_at_once_and_nothing_is_built(cw, tmp_path):
    text = HEAD.replace("lever-reference", "nothing") + WORKLOAD.replace('"sh", "-c"', '"workload", "nothing"')
    done = cw("sweep", write(tmp_path, text), write(tmp_path, "name = 1", "other"), "--results", tmp_path / "r")
    said = done.stderr.decode()
    assert done.returncode == 125 and not done.stdout and not (tmp_path / "r").exists()
    assert "small.toml:12: kernel.defconfig: no defconfig 'nothing'" in said
    assert "the workload program has no load 'nothing'" in said and "other.toml:1: name:" in said


def test_check_and_dry_run_record_nothing(cw, tmp_path):
    path = write(tmp_path, HEAD + WORKLOAD)
    done = cw("sweep", path, "--check", "--results", tmp_path / "r")
    assert (done.returncode, done.stdout) == (0, b"small: right; 2 runs of 1 kernels\n")
    done = cw("sweep", path, "--dry-run", "--results", tmp_path / "r")
    assert done.returncode == 0 and b"2 cells: 0 recorded already, 2 to run" in done.stdout
    with Store(tmp_path / "r") as store:
        assert not store.experiments() and not store.timings()


# ---- which cells, how long ---------------------------------------------------------------------------------


def test_a_run_that_two_experiments_ask_for_is_one_cell(tmp_path):
    plan = Plan()
    plan.add(load(write(tmp_path, HEAD + WORKLOAD)))
    again = (
        HEAD.replace('"small"', '"again"')
        .replace('name = "reference"', 'name = "same"')
        .replace('reference = "reference"', 'reference = "same"')
    )
    plan.add(load(write(tmp_path, again + OTHER + WORKLOAD, "again")))
    assert len(plan.cells) == 4 and len(plan.uses) == 6
    shared = [cell for cell in plan.cells.values() if len(cell.uses) == 2]
    assert {use.kernel for cell in shared for use in cell.uses} == {"reference", "same"}


def test_everything_that_determines_a_run_is_in_its_id(tmp_path):
    def ids(text: str) -> set[str]:
        plan = Plan()
        plan.add(load(write(tmp_path, text)))
        return set(plan.cells)

    base = ids(HEAD + WORKLOAD)
    for old, new in (
        ("128M", "129M"), ('mem =', 'user = "user"\nmem ='), ("[1, 2]", "[3, 4]"), ("lever-reference", "lever-mult"),
        ("find /", "find /bin"), ("mem =", 'cmdline = "x"\nmem ='), ("[[measure]]", 'add = ["README.md"]\n[[measure]]'),
    ):  # fmt: skip
        assert not base & ids((HEAD + WORKLOAD).replace(old, new, 1)), old
    for old, new in (('"find"', '"look"'), ("mem =", "timeout = 60\nmem ="), ('title = "Small"', 'title = "Other"')):
        assert base == ids((HEAD + WORKLOAD).replace(old, new, 1)), old


def test_linux_is_one_run_for_all_seeds_unless_its_words_have_them(tmp_path):
    """It draws nothing from a seed; the kernels of ours do."""
    linux = '\n[[kernel]]\nname = "Linux"\nlinux = true\n'
    for words, cells in ((WORKLOAD, [2, 2]), (WORKLOAD.replace("{seed}", "1"), [2, 1])):
        plan = Plan()
        plan.add(load(write(tmp_path, 'settings = ["NR_CPUS=1"]\n' + HEAD + linux + words)))
        ours = [cell for cell in plan.cells.values() if cell.kernel != LINUX]
        theirs = [cell for cell in plan.cells.values() if cell.kernel == LINUX]
        assert [len(ours), len(theirs)] == cells
        assert sum(len(cell.uses) for cell in theirs) == 2
        assert all("--kernel linux=" in cell.command and "--seed" not in cell.command for cell in theirs)
        assert all("--set NR_CPUS=1" in cell.command and "--seed" in cell.command for cell in ours)


def test_only_some_cells(tmp_path):
    plan = Plan()
    plan.add(load(write(tmp_path, HEAD + OTHER + WORKLOAD)))
    assert len(plan.only([])) == 4
    assert {cell.uses[0].kernel for cell in plan.only(["12*"])} == {"12 bits"}
    assert len(plan.only(["*/find", "reference"])) == 4
    with pytest.raises(LabError, match=r"--only x fits nothing(.|\n)*12 bits/find"):
        plan.only(["x"])


def test_lists_of_seeds():
    assert number_list("1,3,5-7,3") == [1, 3, 5, 6, 7]
    for wrong in ("", "a", "5-1", "-1", "1,,2"):
        with pytest.raises(LabError, match="--seeds"):
            number_list(wrong)


def test_estimates(tmp_path):
    plan = Plan()
    plan.add(load(write(tmp_path, HEAD + WORKLOAD)))
    first, second = plan.cells.values()
    with Store(tmp_path / "r") as store:
        assert Estimate(store).rest([first], 2) is None, "nothing is known"
        result = {"status": "ok", "kind": "exit", "message": "", "seconds": 8.0, "results": [{"n": 1}]}
        store.record(finished_cell(first, result))
        estimate = Estimate(store)
    assert estimate.seconds(first) == 8.0 and estimate.rest([first], 4) == 8.0
    plan.add(load(write(tmp_path, (HEAD + WORKLOAD).replace("find /", "find /usr"))))
    assert estimate.seconds(list(plan.cells.values())[2]) == 8.0, "of another kind: as what is recorded"
    estimate.learn(second, 4.0)
    assert estimate.rest([first, second], 2) == 8.0, "no sooner than the longest"
    assert estimate.rest([first, second], 1) == 12.0
    told = (HEAD + WORKLOAD).replace("find /", "find /etc").replace('name = "find"', 'name = "find"\ntakes = 100')
    known = Estimate(Store(tmp_path / "r"))
    for full, seconds in ((False, 8.0), (True, 100.0)):
        plan = Plan()
        plan.add(load(write(tmp_path, told)), full)
        cell = next(iter(plan.cells.values()))
        assert known.seconds(cell) == seconds and known.guessed([cell]) == 1, "the file tells of the full size"
    known.learn(cell, 3.0)
    assert known.seconds(cell) == 3.0 and known.guessed([cell]) == 0
    alone = [replace(one, kernel=None) for one in (first, second)]
    assert estimate.rest([*alone, first, second], 2) == 12.0 + 8.0, "on this host one after the other"
    assert [spoken(seconds) for seconds in (None, 7.6, 200, 7500)] == ["unknown", "8 s", "3 min 20 s", "2 h 5 min"]


def test_what_a_run_must_print(tmp_path):
    text = HEAD + WORKLOAD.replace('name = "find"', 'name = "find"\ncases = ["a", "b"]')
    plan = Plan()
    plan.add(load(write(tmp_path, text)))
    cell = next(iter(plan.cells.values()))
    found = {"status": "ok", "kind": "exit", "message": "", "exit": 0}
    assert finished_cell(cell, {**found, "results": [{"case": "a"}, {"case": "b"}]}).ok
    lacking = finished_cell(cell, {**found, "results": [{"case": "a"}, {"case": "c"}]})
    assert (lacking.status, lacking.message) == ("failed", "the job printed no result for b")
    nothing = finished_cell(cell, {**found, "results": []})
    assert (nothing.status, nothing.message) == ("failed", "the job printed no result")


def test_the_papers_experiments_are_right(monkeypatch):
    """All files of experiments/, at both sizes; what the tables have in common is run once."""
    monkeypatch.setattr(planning, "made_files", lambda _: None)
    plan, places = Plan(), 0
    for path in sorted((TOP / "experiments").glob("*.toml")):
        experiment = load(path)
        for full in (False, True):
            plan.add(experiment, full)
            places += len(experiment.kernel) * len(experiment.variants(full)) * len(experiment.seeds_at(full))
    assert places == len(plan.uses) and len(plan.cells) < places
    builds = {cell.kernel.build_key for cell in plan.cells.values() if cell.kernel}
    assert len(builds) < len({cell.kernel.key for cell in plan.cells.values() if cell.kernel})


def test_a_group_that_is_not_there():
    assert "lever-table3" in group("lever") and set(group("lever")) <= set(group("all"))
    with pytest.raises(
        LabError,
        match="nothing to reproduce is called 'levers'. There are: lever, lever-tables, santos, .*, all, and each",
    ):
        group("levers")


def test_a_papers_tables_alone_and_one_experiment_alone():
    assert group("lever-tables") == [f"lever-table{number}" for number in range(1, 7)]
    assert "lever-table2-4" in group("lever-tables", full=True)  # another machine's: with --full alone
    assert group("tsai-figures") and not set(group("tsai-figures")) & set(group("tsai-tables"))
    assert group("lever-table3") == ["lever-table3"] and group("lever-table2-4") == ["lever-table2-4"]
