"""How far a run is, how fast it goes, and how long it will take."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

from ...labels import duration
from ..cells import Cell


class RunProgress:
    """Counts what an engine tells. Cells weigh what they were estimated to take: long ones first do not deceive.

    Time is counted from the first cell on, by a clock that does not jump.
    """

    def __init__(
        self, total: int, done: int, label: Callable[[Cell], str], clock: Callable[[], float] = time.monotonic
    ):
        self.total, self.done, self.failed = total, done, 0
        self.label, self.clock = label, clock
        self.running: dict[str, str] = {}  # label by id
        self.last_error = ""
        self.memory: Callable[[], int | None] = lambda: None
        self._begun: float | None = None
        self._counted_from = 0.0
        self._finished, self._weight, self._expected = 0, 0.0, 0.0
        self._costs: Mapping[str, float] = {}

    def expect(self, costs: Mapping[str, float]) -> None:
        """What the cells to come are estimated to take, by id."""
        self._costs = costs
        self._weight, self._expected = 0.0, sum(costs.values())
        self._counted_from = self._elapsed

    def heard(self, event: str, cell: Cell, payload: Any) -> None:
        """Takes notice of what an engine tells."""
        if event == "started":
            self._begun = self.clock() if self._begun is None else self._begun
            self.running[cell.id] = self.label(cell)
        elif event in ("done", "failed", "lost"):
            self.running.pop(cell.id, None)
        if event in ("done", "failed"):
            self._finished += 1
            self._weight += self._costs.get(cell.id, 1.0)
            self.done += event == "done"
            self.failed += event == "failed"
        if event == "failed":
            self.last_error = f"{self.label(cell)}: {payload[0]}"

    def elsewhere(self, done: int, failed: int = 0) -> None:
        """Cells that another driver finished."""
        self.done, self.failed = self.done + done, self.failed + failed

    @property
    def left(self) -> int:
        return max(0, self.total - self.done - self.failed)

    @property
    def rate(self) -> float | None:
        """Cells a second in this run."""
        return self._finished / self._elapsed if self._finished and self._elapsed > 0 else None

    @property
    def seconds_left(self) -> float | None:
        """An estimate, from what finished and what is left."""
        if not self._weight or not self.left:
            return None
        return max(0.0, self._expected - self._weight) * max(0.0, self._elapsed - self._counted_from) / self._weight

    @property
    def _elapsed(self) -> float:
        return max(0.0, self.clock() - self._begun) if self._begun is not None else 0.0

    def to_json(self) -> dict[str, Any]:
        return {
            "total": self.total,
            "done": self.done,
            "failed": self.failed,
            "left": self.left,
            "running": list(self.running.values()),
            "rate": self.rate,
            "seconds_left": self.seconds_left,
            "last_error": self.last_error,
            "memory": self.memory(),
        }


def in_words(rate: float | None, seconds_left: float | None, memory: int | None) -> str:
    """Rate, estimate and memory in a few words, those that are known."""
    words = []
    if rate is not None:
        words.append(f"{rate:.3g} a second" if rate >= 1 else f"{60 * rate:.3g} a minute")
    if seconds_left is not None:
        words.append(f"about {duration(seconds_left)} left")
    if memory is not None:
        words.append(f"{memory / 1e9:.1f} GB" if memory >= 1e9 else f"{memory / 1e6:.0f} MB")
    return ", ".join(words)
