"""A sweep's cells on a cluster of dask.distributed: `--dask ADDRESS` of its scheduler, or `--dask local`.

A worker runs a cell in a process of its own, `python3 -m lab.sweep.cluster`, with what it is to do on standard input:
it builds the kernel in the worker's own checkout, unless it has it already, and runs the cell like a local sweep. So
a worker is started in a checkout, by `./cw worker ADDRESS`, whose sources, tools and packages must be the same as here:
one where they are not says so, and the sweep ends. Results are recorded here, by one process, as cells end.

Known limit: a cell that runs on a worker when the sweep is interrupted runs to its end there, and is thrown away.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Generator, Iterator, Mapping
from pathlib import Path
from typing import Any

from lab.base.paths import TOP, LabError
from lab.sweep import kernels
from lab.sweep.plan import Planned
from lab.sweep.runner import PAUSE, ended_cell, outcome, start, stop
from lab.sweep.store import Cell

CONNECT, FIRST_WORKER = 6, 30  # seconds to wait for the scheduler, and for its first worker
HOW = "On each machine, in a checkout of the same commit: ./cw worker ADDRESS"


def run_on_cluster(
    cells: list[Planned],
    address: str,
    jobs: int,
    tick: Callable[[list[Planned]], None],
    known: Mapping[str, Cell],
) -> Generator[tuple[Planned, Cell]]:
    """Run @cells on the cluster at @address, and give each as it ends. @known: as run_local()'s."""
    from lab.build.setup import need_dask

    need_dask()
    from distributed import as_completed

    with _client(address, jobs) as client:
        try:
            client.wait_for_workers(1, timeout=FIRST_WORKER)
        except (TimeoutError, OSError):
            raise LabError(f"the cluster at {address} has no workers. {HOW}") from None
        run = f"{os.getpid()}-{time.time_ns()}"
        futures = {
            client.submit(run_task, _task(cell, list(known)), key=f"cell-{cell.id}-{run}", retries=0): cell
            for cell in cells
        }
        try:
            tick([])
            for future in as_completed(futures):
                cell = futures.pop(future)
                yield cell, ended_cell(cell, _outcome(future, address), known)
        finally:
            with contextlib.suppress(Exception):
                client.cancel(list(futures), force=True)


def _outcome(future: Any, address: str) -> dict[str, Any]:
    try:
        found = future.result()
    except ModuleNotFoundError as error:
        raise LabError(f"a worker of {address} was not started in a checkout ({error}). {HOW}") from None
    except Exception as error:  # the worker died, or lost its connection: this cell's fault, as far as one knows
        return {"status": "failed", "kind": "error", "message": f"the worker: {error}", "log": ""}
    if "refused" in found:
        raise LabError(f"{found['refused']}. {HOW}")
    return found


@contextlib.contextmanager
def _client(address: str, jobs: int) -> Iterator[Any]:
    """A connection to the scheduler at @address, or to a cluster of this process."""
    from distributed import Client, LocalCluster

    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    with contextlib.ExitStack() as stack:
        target: Any = address
        if address == "local":
            target = stack.enter_context(
                LocalCluster(n_workers=1, threads_per_worker=jobs, processes=False, dashboard_address=None)
            )
        try:
            client = Client(target, timeout=CONNECT)
        except (OSError, ValueError) as error:
            raise LabError(f"--dask {address}: there is no scheduler: {error}") from None
        yield stack.enter_context(client)


def _task(cell: Planned, known: list[str]) -> dict[str, Any]:
    kernel = cell.kernel
    assert kernel, "what runs on this host goes to no cluster"
    return {
        "id": cell.id, "config": cell.config, "options": cell.options, "job": cell.job, "timeout": cell.timeout,
        "kernel": [kernel.defconfig, list(kernel.settings), kernel.config], "known": known,
    }  # fmt: skip


def run_task(task: dict[str, Any]) -> dict[str, Any]:
    """On a worker: run the cell in a process of its own, and give what came of it, or `refused` with the reason."""
    done = subprocess.run(
        [sys.executable, "-m", "lab.sweep.cluster"], input=json.dumps(task), capture_output=True, text=True, cwd=TOP,
        env={**os.environ, "PYTHONPATH": str(TOP)}, check=False,
    )  # fmt: skip
    try:
        return json.loads(done.stdout.splitlines()[-1])
    except (ValueError, IndexError):
        said = (done.stderr.strip().splitlines() or ["nothing"])[-1]
        return {"status": "failed", "kind": "error", "message": f"the worker's process said {said}", "log": done.stderr}


def worker(address: str, jobs: int) -> int:
    """./cw worker: join the cluster at @address, until its scheduler goes."""
    from lab.build.setup import need_dask

    need_dask()
    command = [sys.executable, "-m", "distributed.cli.dask_worker", address, "--nthreads", str(jobs), "--no-dashboard"]
    command += ["--name", f"{platform.node()}-{os.getpid()}"]
    return subprocess.run(command, env={**os.environ, "PYTHONPATH": str(TOP)}, check=False).returncode


def _difference(config: dict[str, Any]) -> str:
    """What this checkout lacks to run such a cell as the sweep's own would; "" if nothing."""
    from lab.run.qemu.given import qemu_version
    from lab.sweep.plan import package_versions

    where = f"the worker on {platform.node()} ({TOP})"
    if kernels.sources_digest() != config["sources"]:
        return f"{where} has other sources or another compiler"
    if qemu_version() != config["qemu"]:
        return f"{where} has '{qemu_version()}', the sweep has '{config['qemu']}'"
    requested = [one.partition("=")[0] for one in config["packages"]]
    if requested and package_versions(config["requested_packages"], config["image"]) != config["packages"]:
        return f"{where} has other versions of Debian's packages (./cw packages --update on both)"
    return ""


def _run_here(task: dict[str, Any]) -> dict[str, Any]:
    """What a worker's process does."""
    refused = _difference(task["config"])
    if refused:
        return {"refused": refused}
    defconfig, settings, config = task["kernel"]
    choice = kernels.Choice(defconfig, tuple(settings), config)
    cell = Planned(task["id"], task["config"], choice, task["options"], task["job"], task["timeout"], [])
    build = kernels.prepare([choice], lambda *_: None)[choice]
    with tempfile.TemporaryDirectory(prefix="sweep-", dir=TOP / "build") as folder:
        running = start(cell, build, Path(folder) / cell.id, task["known"])
        try:
            while True:
                found = outcome(running)
                if found is not None:
                    return found
                time.sleep(PAUSE)
        finally:
            stop(running)


if __name__ == "__main__":
    try:
        answer = _run_here(json.load(sys.stdin))
    except LabError as error:
        answer = {"status": "failed", "kind": "error", "message": str(error), "log": ""}
    print(json.dumps(answer))
