"""Weights of the two regularizers of `render`: at the start of training they count as much as where published.

Both regularizers are sums over all levels, and the squared error per pixel shrinks with the area of the picture. So the
published weights (.1 and .01 at N = 32, sigma = 1.5) mean less for smaller pictures: at N = 12, sigma = 1 a thirteenth
(entropy) and an eighth (variance). What is kept here is each term at the start, by the error of an empty picture:

    entropy     2 N (digamma(N / 2 + 1) - digamma(3 / 2))     squares of N normal numbers by their sum, 2 N levels
    variance    4 N                                           1 / N for each of 2 N levels, N components, 2 sides
    empty       pi sigma^2 / N^2
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

PUBLISHED = {"entropy": 0.1, "variance": 0.01}
PUBLISHED_SIZE, PUBLISHED_SIGMA = 32, 1.5


def at_start(term: str, size: int) -> float:
    """The expected value of a regularizer without its weight, before training."""
    from scipy.special import digamma

    return 4.0 * size if term == "variance" else 2 * size * float(digamma(size / 2 + 1) - digamma(1.5))


def empty_error(size: int, sigma: float) -> float:
    """Squared error per pixel of an empty picture."""
    return math.pi * sigma**2 / size**2


def weight(term: str, size: int, sigma: float) -> float:
    """The weight of a regularizer for pictures of a size, so that it counts as much as published; three digits."""
    counted = PUBLISHED[term] * at_start(term, PUBLISHED_SIZE) / empty_error(PUBLISHED_SIZE, PUBLISHED_SIGMA)
    return float(f"{counted * empty_error(size, sigma) / at_start(term, size):.3g}")


def scaled(term: str) -> Callable[[dict[str, Any]], float]:
    """The weight of a regularizer in a world of pictures."""
    return lambda world: weight(term, world["space"]["size"], world["sigma"])
