"""Drive: how many steps a call of the compiled program does, and how long they took."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from .step import State

CALL_SECONDS = 0.5  # aim for calls this long: short enough to show progress and stop, long enough to cost nothing


class Drive:
    """Decides how many steps a call does, and keeps the time; the first call, which compiles, is kept apart."""

    def __init__(self):
        self.seconds = 0.0
        self.compile_seconds = 0.0
        self.steps = 0
        self._per_step: float | None = None

    def next_count(self, left: int) -> int:
        if self._per_step is None:
            return 1
        return int(np.clip(CALL_SECONDS / self._per_step, 1, left))

    def timed(self, advance: Callable[..., State], count: int, state: State, *rest: Any) -> State:
        begun = time.perf_counter()
        state = advance(state, *rest, count)
        jax.block_until_ready(state.step)
        took = time.perf_counter() - begun
        if self._per_step is None:
            self.compile_seconds, self._per_step = took, CALL_SECONDS / 8  # a short second call measures the speed
        else:
            self.seconds += took
            self.steps += count
            self._per_step = took / count
        return state

    @property
    def rate(self) -> float:
        """Steps per second."""
        return self.steps / self.seconds if self.seconds else float("nan")
