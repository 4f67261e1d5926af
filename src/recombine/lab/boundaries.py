"""Boundaries of the confidence sequence over seeds: how far a mean may lie from the truth at each look.

Seeds are looked at when there are 3, 4, 6, ... 64 of them. By look n an error of alpha(n) = .05 (1 - 2/n) has been
spent (Lan & DeMets 1983: an open-ended spending function; .05 is never passed). For normal readings the path of
t-statistics at the true mean depends neither on mean nor on spread, so the boundary c_n is where a share of exactly
alpha(n) - alpha(before) of all paths crosses for the first time. It was found by simulation:

    python -m recombine.lab.boundaries     makes the table again, from sixteen million paths
"""

from __future__ import annotations

import numpy as np

LOOKS = (3, 4, 6, 8, 12, 16, 24, 32, 48, 64)
MOST_SEEDS = 10_000  # of a run: what is more is a slip of the hand, and would be prepared for hours
LEVEL = 0.05
#: c_n for each of LOOKS, on both sides together
BOUNDARIES = (7.649, 5.341, 3.860, 3.643, 3.317, 3.334, 3.239, 3.319, 3.304, 3.414)
PATHS, BLOCK = 16_000_000, 50_000


def spent(n: int) -> float:
    """The error that has been spent by look n."""
    return LEVEL * (1 - 2 / n)


def t_paths(paths: int, generator: np.random.Generator) -> np.ndarray:
    """(paths, looks): |t| of normal readings with mean zero, at each look."""
    readings = generator.standard_normal((paths, LOOKS[-1]))
    counts = np.array(LOOKS)
    sums = np.cumsum(readings, axis=1)[:, counts - 1]
    squares = np.cumsum(readings**2, axis=1)[:, counts - 1]
    means = sums / counts
    variances = (squares - counts * means**2) / (counts - 1)
    return np.abs(means) / np.sqrt(variances / counts)


def simulated_boundaries(paths: int = PATHS, seed: int = 0) -> list[float]:
    """c_n for each look, from as many simulated paths."""
    generator = np.random.default_rng(seed)
    blocks = [min(BLOCK, paths - begun) for begun in range(0, paths, BLOCK)]
    found = np.concatenate([t_paths(block, generator).astype(np.float32) for block in blocks])
    inside = np.ones(paths, dtype=bool)  # paths that have not crossed yet
    boundaries, before = [], 0.0
    for number, n in enumerate(LOOKS):
        crossing = round((spent(n) - before) * paths)
        there = np.sort(found[inside, number])
        boundary = float(there[len(there) - crossing])
        boundaries.append(boundary)
        inside &= found[:, number] < boundary
        before = spent(n)
    return boundaries


if __name__ == "__main__":
    for n, boundary in zip(LOOKS, simulated_boundaries(), strict=True):
        print(f"{n:3d} {boundary:.3f}")
