"""Core-seconds of a reference core: CPU time that means the same on a slower or a shared core.

CPU time alone is not a property of a program. A slower core, or one that shares its units or its caches with a busy
neighbor, takes up to twice as much for the same work. So a short fixed piece of work of the same kind (Python, tracing,
compiling, small products) is timed before a run, every few seconds during it, and after it. Between two of these looks

    core-seconds = CPU time / slowness,   slowness = CPU time of the fixed work / REFERENCE

with the mean slowness of the two. The CPU time of the looks themselves does not count. On a faster core a run counts
for more than its CPU time, so that a limit is the same everywhere. What this does not even out: a core that is slow at
one kind of work only, and a neighbor that comes and goes between two looks.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..lab.driver.engines.base import Listener
from ..lab.driver.engines.in_process import InProcess
from ..lab.driver.queue import Queue
from ..lab.driver.stop import Stop
from ..lab.study import Study

#: CPU seconds that the fixed work takes on the reference core; on a core of 2023 with many neighbors it took .17 to .23
REFERENCE = 0.13
EVERY = 2.0  # CPU seconds between two looks
WIDTH, STEPS, TREES = 48, 100, 150  # of the fixed work
WITH_THE_SAME_CARE: dict[str, Any] = {"xla_backend_optimization_level": 1}


def fixed_work() -> None:
    """Traces, compiles and runs a short training, and writes JSON: a little of what the cell of a study does.

    It is compiled each time: from no cache, into no cache, and with the same care whatever XLA_FLAGS say.
    """
    import jax
    import jax.numpy as jnp

    def loss(weights: list[jax.Array], x: jax.Array) -> jax.Array:
        for weight in weights:
            x = jnp.tanh(x @ weight)
        return jnp.mean(x**2)

    def train(weights: list[jax.Array], x: jax.Array) -> list[jax.Array]:
        def step(_: int, now: list[jax.Array]) -> list[jax.Array]:
            return jax.tree.map(lambda weight, slope: weight - 0.1 * slope, now, jax.grad(loss)(now, x))

        return jax.lax.fori_loop(0, STEPS, step, weights)

    arguments = [jnp.eye(WIDTH)] * 3, jnp.ones((WIDTH, WIDTH))
    least = "jax_persistent_cache_min_compile_time_secs"
    before = getattr(jax.config, least)
    jax.config.update(least, float("inf"))  # so that it is never kept, and never found
    try:
        lowered = jax.jit(train).lower(*arguments)
        compiled = lowered.compile(compiler_options=WITH_THE_SAME_CARE)
    finally:
        jax.config.update(least, before)
    jax.block_until_ready(compiled(*arguments))
    tree = {str(number): [number / 7, {"name": str(number)}] for number in range(TREES)}
    for _ in range(10):
        json.loads(json.dumps(tree, sort_keys=True))


class CoreSeconds:
    """A stopwatch of CPU time that looks how fast the core is.

    Args:
        work: what is timed to see it.
        clock: CPU time of this process, all its threads together.
    """

    def __init__(self, work: Callable[[], None] = fixed_work, clock: Callable[[], float] = time.process_time):
        self._work, self._clock = work, clock
        self.reference = 0.0  # core-seconds of the reference core
        self.here = 0.0  # CPU seconds of this one
        work()  # the first time jax begins
        self._slowness = self._look()
        self._since = clock()

    def look(self) -> None:
        """Counts the CPU time since the last look, by how fast the core was at both."""
        took, before = self._clock() - self._since, self._slowness
        self._slowness = self._look()
        self.here += took
        self.reference += took / ((before + self._slowness) / 2)
        self._since = self._clock()

    def look_if_due(self) -> None:
        if self._clock() - self._since >= EVERY:
            self.look()

    def _look(self) -> float:
        began = self._clock()
        self._work()
        return max(self._clock() - began, 1e-9) / REFERENCE


class CountedInProcess(InProcess):
    """Cells one after the other, here; whenever one tells something, the stopwatch may look."""

    def __init__(self, spent: CoreSeconds):
        self.spent = spent

    def compute(self, study: Study, cells: Queue, checkpoints: Path | None, tell: Listener, stop: Stop) -> None:
        def heard(event: str, cell: object, payload: object) -> None:
            tell(event, cell, payload)  # type: ignore[arg-type]
            self.spent.look_if_due()

        super().compute(study, cells, checkpoints, heard, stop)
