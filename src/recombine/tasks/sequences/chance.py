"""Choices by chance, many and cheap: what samplers of sentences and expressions draw from.

A generator of NumPy takes a microsecond for one number. Here they come in blocks, so that a hundred thousand sentences
are made in seconds.
"""

from __future__ import annotations

import itertools
from bisect import bisect_right
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import TypeVar

import numpy as np

from ...errors import UserError

T = TypeVar("T")
H = TypeVar("H", bound=Hashable)
BLOCK = 1 << 14
TRIES = 200  # draws for one that is new, before a sampler gives up


class Weighted:
    """Things to choose from, each with a weight.

    Args:
        things: what there is.
        weights: one per thing, up to a factor; None: all alike.
    """

    def __init__(self, things: Sequence, weights: Sequence[float] | np.ndarray | None = None):
        self.things = tuple(things)
        rising = np.cumsum(np.ones(len(self.things)) if weights is None else np.asarray(weights, float))
        self.rising = (rising / rising[-1]).tolist()

    @classmethod
    def zipf(cls, things: Sequence, exponent: float = 1.0) -> Weighted:
        """The n-th thing has the weight 1 / n^exponent, as words of a language have."""
        return cls(things, np.arange(1.0, len(things) + 1) ** -exponent)


class Chance:
    """A stream of numbers between 0 and 1, and choices by it.

    Args:
        rng: what the numbers come from.
    """

    def __init__(self, rng: np.random.Generator):
        self._rng = rng
        self._numbers: Iterator[float] = iter(())

    def number(self) -> float:
        """The next one."""
        for one in self._numbers:
            return one
        self._numbers = iter(self._rng.random(BLOCK).tolist())
        return next(self._numbers)

    def one_of(self, weighted: Weighted):
        """One of the things."""
        return weighted.things[min(bisect_right(weighted.rising, self.number()), len(weighted.things) - 1)]

    def below(self, number: int) -> int:
        """A whole number from 0 on, below this one."""
        return int(self.number() * number)

    def happens(self, share: float) -> bool:
        """Whether something does that does so in this share of cases."""
        return self.number() < share


def distinct(
    draw: Callable[[], H],
    number: int,
    what: str,
    accept: Callable[[H], bool] | None = None,
    known: set[H] | None = None,
) -> list[H]:
    """So many different draws, in the order in which they came.

    Args:
        draw: makes one.
        number: how many; refused if so many do not come.
        what: they are called, for the refusal.
        accept: whether one is wanted.
        known: what was drawn before and does not count again; grows.
    """
    seen: set[H] = set() if known is None else known
    found: list[H] = []
    for _ in itertools.repeat(None, TRIES * (number + 1)):
        if len(found) == number:
            return found
        one = draw()
        if one not in seen and (accept is None or accept(one)):
            seen.add(one)
            found.append(one)
    if len(found) == number:
        return found
    fewer = f"{len(found)} would do" if found else "more other texts, whose words they need, would do"
    raise UserError(f"{number:,} {what} were asked for and only {len(found):,} different ones found; {fewer}")
