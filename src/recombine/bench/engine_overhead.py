"""bench of engines: what a cell costs beyond its own work, whether that grows, and how many processes are best.

overhead    seconds per cell of a study whose cells do nothing, from the first cell to the last, at 1,000 and 10,000
memory      of the driver, after a tenth of the larger run and after all of it
status      how long `recombine status` reads a store of 10,000
load        how long `recombine.load` takes for 100,000 records
processes   steps per second of two processes with one thread each, by those of one process with two
"""

from __future__ import annotations

import functools
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..context import Context
from ..lab.cells import Cell
from ..lab.driver.engines import Engine, Listener, parse_engine
from ..lab.driver.engines.base import resident
from ..lab.driver.queue import Queue
from ..lab.driver.run import run_study
from ..lab.driver.stop import Stop
from ..lab.loaded import load
from ..lab.record import Record
from ..lab.status import status_of
from ..lab.store import Store
from ..lab.study import Study
from ..lab.synthetic import Synthetic
from ..machine.processes import cores

FEW, MANY, RECORDS = 1_000, 10_000, 100_000
SECONDS = 5.0  # of training, for the comparison of processes and threads

Say = Callable[[str], None]


class Clocked:
    """An engine, and when its first cell began, when its last one ended, and how large this process was on the way."""

    def __init__(self, engine: Engine):
        self.engine = engine
        self.begun = self.ended = 0.0
        self.sizes: list[int] = []  # bytes, by cells done

    def compute(self, study: Study, cells: Queue, checkpoints: Path | None, tell: Listener, stop: Stop) -> None:
        def listen(event: str, cell: Cell, payload: Any) -> None:
            if event == "started" and not self.begun:
                self.begun = time.perf_counter()
            tell(event, cell, payload)
            if event == "done":
                self.sizes.append(resident(os.getpid()) or 0)

        self.engine.compute(study, cells, checkpoints, listen, stop)
        self.ended = time.perf_counter()

    def memory(self) -> int | None:
        return self.engine.memory()


def measure_engine(engine: str, cells: int, folder: Path, study: Study | None = None) -> Clocked:
    """Runs so many cells that do nothing, with everything that is done for real ones."""
    clocked = Clocked(parse_engine(engine))
    result = run_study(
        study or Synthetic(), "smoke", seeds=1, changes={"cells": cells}, out=folder, engine=clocked, quiet=True
    )
    if result.failures:
        raise RuntimeError(f"a cell that does nothing failed: {result.failures[0].error}")
    return clocked


def write_records(folder: Path, count: int) -> None:
    """A store of so many records, written as fast as possible: reading them is what is measured."""
    study = Synthetic()
    about = {"study": study.id, "version": study.version, "scale": "smoke", "settings": {}, "seeds": 1}
    Store.create(folder, about)
    (folder / "records").mkdir()
    for spec in study.grid(study.settings("smoke", {"cells": count}), 0):
        record = study.compute(Cell(study.id, study.version, spec), Context())
        record = Record(
            record.cell, record.rows, {"seconds": 1.0}, {"recombine": "0", "processor": "some", "cores": "2"}
        )
        (folder / "records" / f"{record.cell.id}.json").write_bytes(record.to_bytes())


def run_bench_engine(engine: str, say: Say, few: int = FEW, many: int = MANY, records: int = RECORDS) -> dict[str, Any]:
    """All of it, as data."""
    found: dict[str, Any] = {"engine": engine}
    with tempfile.TemporaryDirectory(prefix="recombine-bench-") as name:
        root = Path(name)
        times = {}
        for count in (few, many):
            clocked = measure_engine(engine, count, root / str(count))
            times[count] = (clocked.ended - clocked.begun) / count
            say(f"engine {engine}: {1e3 * times[count]:.2f} ms per cell at {count:,} cells that do nothing")
        found["seconds_a_cell"] = times
        found["growth"] = times[many] / times[few]
        found["memory"] = [clocked.sizes[many // 10], clocked.sizes[-1]]
        say(
            f"  growth {found['growth']:.2f}; the driver has {found['memory'][0] / 1e6:.0f} MB after {many // 10:,} "
            f"cells and {found['memory'][1] / 1e6:.0f} MB after {many:,}"
        )
        begun = time.perf_counter()
        status_of(root / str(many), {"synthetic": Synthetic()})
        found["status"] = time.perf_counter() - begun
        say(f"status of {many:,} cells: {found['status']:.2f} s")
        write_records(root / "load", records)
        begun = time.perf_counter()
        rows = len(load(root / "load").table)
        found["load"] = time.perf_counter() - begun
        say(f"load of {rows:,} records: {found['load']:.1f} s")
    found["processes"] = measure_processes(say)
    return found


# -- processes against threads ----------------------------------------------------------------------------------------
def measure_processes(say: Say, seconds: float = SECONDS) -> dict[str, float]:
    """Steps a second of the default net: one process with all cores, against one process of one thread per core."""
    number = cores()
    alone = _steps_a_second(1, "threads", seconds)
    together = _steps_a_second(number, "one-thread", seconds)
    ratio = together / alone
    say(
        f"{number} processes of one thread: {ratio:.2f} times the steps of one process of {number} threads "
        f"({together:.0f} and {alone:.0f} per second)"
    )
    return {"threads": alone, "processes": together, "ratio": ratio}


def _steps_a_second(processes: int, kind: str, seconds: float) -> float:
    command = [sys.executable, "-P", "-m", "recombine.bench.engine_overhead", kind, str(seconds)]
    running = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(processes)
    ]
    try:
        for process in running:  # all have compiled before one starts to train
            assert process.stdout is not None
            process.stdout.readline()
        return sum(float(process.communicate("go\n")[0]) for process in _all_told(running))
    finally:
        for process in running:
            process.kill()
            process.wait()


def _all_told(running: list[subprocess.Popen]) -> list[subprocess.Popen]:
    """Tells all to go before the first is waited for."""
    for process in running[1:]:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    return running


def train_for(kind: str, seconds: float) -> float:
    """Trains the default net by the default recipe for some seconds, when told; steps per second."""
    import jax

    from ..machine.precision import one_thread, resolve
    from ..nets import MLP
    from ..spaces import Subsets
    from ..supports import random
    from ..tasks import Hyperteacher
    from ..training import Recipe
    from ..training.step import one_step
    from .throughput import begin

    recipe = Recipe()
    space = Subsets(modules=16, at_most=3)
    state, *arguments = begin(MLP(), Hyperteacher(space), random(space), recipe, resolve(recipe.precision))
    options = one_thread() if kind == "one-thread" else None
    step = jax.jit(functools.partial(one_step, shape=recipe.shape()), donate_argnums=0, compiler_options=options)
    state = jax.block_until_ready(step(state, *arguments))
    print("ready", flush=True)
    sys.stdin.readline()
    begun, steps = time.perf_counter(), 0
    while time.perf_counter() - begun < seconds:
        for _ in range(10):
            state = step(state, *arguments)
        jax.block_until_ready(state)
        steps += 10
    return steps / (time.perf_counter() - begun)


if __name__ == "__main__":
    print(train_for(sys.argv[1], float(sys.argv[2])))
