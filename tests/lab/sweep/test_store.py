"""The file of results: a sweep that writes its plan changes the places of its own experiment and scale alone."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest

from lab.sweep.store import SCALES, Cell, Store, Use, by_machine

EXPERIMENTS, KERNELS, SEEDS = ("one", "other"), ("plain", "twice"), (1, 2)


def cell(name: str, status: str = "ok") -> Cell:
    return Cell(
        id=name, config={"name": name}, command="./cw run", revision="0" * 40, qemu="QEMU", status=status,
        kind="exit", message="", log="", seconds=1.0, results=[],
    )  # fmt: skip


def places(experiment: str, scale: str, kernels=KERNELS, seeds=SEEDS, mark: str = "") -> dict[Use, str]:
    return {
        Use(experiment, kernel, "load", seed, scale): f"{experiment} {scale} {kernel} {seed}{mark}"
        for kernel in kernels for seed in seeds
    }  # fmt: skip


def planned(store: Store) -> dict[Use, str]:
    """Every place that the file has, with its cell."""
    return {Use(*row[:5]): row[5] for row in store.connection.execute("SELECT * FROM use")}


@pytest.fixture
def store(tmp_path):
    """Two experiments at both scales, all of whose cells have been run."""
    with Store(tmp_path / "results") as found:
        for experiment, scale in itertools.product(EXPERIMENTS, SCALES):
            uses = places(experiment, scale)
            found.plan(uses)
            for id in uses.values():
                found.record(cell(id))
        yield found


ALL = {use: id for one in itertools.product(EXPERIMENTS, SCALES) for use, id in places(*one).items()}


def test_plans_lie_side_by_side(store):
    assert planned(store) == ALL
    assert store.experiments() == [("one", "full"), ("one", "reduced"), ("other", "full"), ("other", "reduced")]


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("experiment", EXPERIMENTS)
def test_a_plan_takes_the_place_of_its_own_experiments_and_scales_alone(store, experiment, scale):
    wanted = places(experiment, scale, KERNELS[:1], (2, 3), " new")
    store.plan(wanted)
    rest = {use: id for use, id in ALL.items() if (use.experiment, use.scale) != (experiment, scale)}
    assert planned(store) == rest | wanted
    found = dict(store.cells(experiment, scale))
    assert {*found} == {*wanted} and not any(found.values()), "none of these has been run"
    for one in itertools.product(EXPERIMENTS, SCALES):
        if one != (experiment, scale):
            assert {use: filled.id for use, filled in store.cells(*one) if filled} == places(*one)


def test_a_plan_of_several_takes_the_place_of_each(store):
    wanted = places("one", "full", ("twice",)) | places("other", "reduced", ("new",))
    store.plan(wanted)
    assert planned(store) == wanted | places("one", "reduced") | places("other", "full")


def test_places_are_added_where_a_plan_is_not_whole(store):
    more = places("one", "reduced", ("new",)) | places("one", "reduced", ("plain",), (1,), " again")
    store.plan(more, whole=False)
    assert planned(store) == ALL | more


def test_a_plan_of_nothing_changes_nothing(store):
    store.plan({})
    assert planned(store) == ALL


def test_no_plan_takes_a_cell_away(store):
    """What has been run is found again by whoever asks for it."""
    store.plan(places("one", "full", ("new",)))
    store.plan(places("other", "full", ("new",)))
    assert store.finished(ALL.values()) == {*ALL.values()}
    assert store.seconds(ALL.values()) == dict.fromkeys(ALL.values(), 1.0)


def test_a_cell_that_is_recorded_again_fills_its_places_anew(store):
    store.record(cell("one full plain 1", "failed"))
    found = {use.seed: filled.status for use, filled in store.cells("one", "full") if use.kernel == "plain"}
    assert found == {1: "failed", 2: "ok"}
    assert store.finished(ALL.values()) == {*ALL.values()} - {"one full plain 1"}
    assert "one full plain 1" not in {id for id, _, _ in store.timings()}


def test_a_run_by_the_hosts_time_is_no_other_run_of_its_machine():
    """Only what counts the same each time is known by what QEMU was given."""
    counted = replace(cell("counted"), config={"machine_sha256": "one", "icount": True})
    timed = replace(cell("timed"), config={"machine_sha256": "other", "icount": False})
    assert by_machine([counted, timed, cell("of no machine")]) == {"one": counted}
