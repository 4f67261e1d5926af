"""The smallest number that is enough, by bisection on a logarithmic axis."""

from __future__ import annotations

import math
from collections.abc import Callable

CLOSE = 1.2  # it ends when the smallest number that is enough is within this factor of one that is not


def smallest_enough(low: int, most: int, enough: Callable[[int], bool], close: float | int = CLOSE) -> int | None:
    """The smallest number above `low` that is enough, within a factor `close`; None if not even `most` is.

    low: a number that is known, or taken, not to be enough; at least 1, so that it has a logarithm.
    """
    high = most
    if not enough(most):
        return None
    while high > low + 1 and high / low > close:
        middle = max(low + 1, min(high - 1, round(math.sqrt(low * high))))
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def expected_tries(low: int, most: int) -> float:
    """About how many numbers will be tried, for progress."""
    return 2 + math.log2(max(math.log(most / low) / math.log(CLOSE), 1))
