"""A row of the bench: what something takes here, what the other side takes in the same run, and what is wanted."""

from __future__ import annotations

import contextlib
import os
import statistics
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

Say = Callable[[str], None]
Clock = Callable[[], float]
#: makes so many steps, and returns when they are made
Steps = Callable[[int], None]


@dataclass(frozen=True)
class Row:
    """One thing that is measured, by round. Less is better, whatever the unit is.

    Args:
        work: what is done.
        unit: of all numbers.
        ours: what it takes, by round.
        others: what it takes another side, by round, each beside the round of ours.
        at_most: the most that is wanted, in the unit.
        times: how many times as fast as another side it is wanted to be.
    """

    work: str
    unit: str
    ours: list[float]
    others: Mapping[str, list[float]] = field(default_factory=dict)
    at_most: float | None = None
    times: Mapping[str, float] = field(default_factory=dict)

    def ratios(self, other: str) -> list[float]:
        """How many times as fast as the other side, by round."""
        return [theirs / ours for ours, theirs in zip(self.ours, self.others[other], strict=True)]

    @property
    def reached(self) -> bool | None:
        """Whether what is wanted was seen, by medians; None where nothing is, or the other side was not measured."""
        found = [] if self.at_most is None else [statistics.median(self.ours) <= self.at_most]
        for other, times in self.times.items():
            if other not in self.others:
                return None
            found.append(statistics.median(self.ratios(other)) >= times)
        return all(found) if found else None

    def wanted(self) -> str:
        """What is wanted, in words; nothing where nothing is."""
        parts = [] if self.at_most is None else [f"at most {self.at_most:g} {self.unit}"]
        return " and ".join([*parts, *(self._compared(f"{times:g}", other) for other, times in self.times.items())])

    def _compared(self, times: str, other: str) -> str:
        return f"{times} times as {'few' if self.unit == 'rows' else 'fast'} as {other}"

    def to_json(self) -> dict[str, Any]:
        return {
            "work": self.work,
            "unit": self.unit,
            "ours": self.ours,
            "others": dict(self.others),
            "ratios": {other: self.ratios(other) for other in self.others},
            "wanted": self.wanted(),
            "reached": self.reached,
        }

    def __str__(self) -> str:
        text = f"{self.work}: {spread(self.ours, digits_of(self.ours))} {self.unit}"
        compared = (self._compared(spread(self.ratios(other), 2), other) for other in self.others)
        text = "; ".join([text, *compared])
        if wanted := self.wanted():
            reached = {True: "reached", False: "NOT reached", None: "not asked: the other side was not measured"}
            text += f" | wanted: {wanted}: {reached[self.reached]}"
        return text


def spread(values: list[float], digits: int = 1) -> str:
    """Median and range."""
    low, middle, high = (f"{value:.{digits}f}" for value in (min(values), statistics.median(values), max(values)))
    return f"{middle} ({low} to {high})"


def digits_of(values: list[float]) -> int:
    """As many digits after the point as show three of a number below ten."""
    middle = statistics.median(values)
    return next((digits for digits, least in ((0, 100), (1, 10), (2, 1)) if middle >= least), 3)


@contextlib.contextmanager
def one_core() -> Iterator[None]:
    """Keeps this process on one core where the system can, so that both sides get the same."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(before)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def race(sides: Mapping[str, Steps], rounds: int, seconds: float, clock: Clock) -> dict[str, list[float]]:
    """Seconds per step of each side, by round; rounds of about `seconds` each alternate between them."""
    took: dict[str, list[float]] = {name: [] for name in sides}
    counts = {}
    for name, advance in sides.items():
        advance(1)  # compiles
        begun = clock()
        advance(3)
        counts[name] = max(3, int(seconds / ((clock() - begun) / 3)))
    for _ in range(rounds):
        for name, advance in sides.items():
            begun = clock()
            advance(counts[name])
            took[name].append((clock() - begun) / counts[name])
    return took


def in_turns(
    sides: Mapping[str, Callable[[], Any]], rounds: int, clock: Clock
) -> tuple[dict[str, list[float]], dict[str, Any]]:
    """Seconds that each side takes, by round, and what it gave at last; the sides take turns."""
    took: dict[str, list[float]] = {name: [] for name in sides}
    gave: dict[str, Any] = {}
    for _ in range(rounds):
        for name, work in sides.items():
            begun = clock()
            gave[name] = work()
            took[name].append(clock() - begun)
    return took, gave
