"""Mazes: walls that grow as published, and the lengths of shortest paths in them."""

from __future__ import annotations

import numpy as np

from .episode_task import MOVES

COMPLEXITY = DENSITY = 0.75


def maze_walls(rng: np.random.Generator, grid: int) -> np.ndarray:
    """(grid, grid) of booleans: walls grow from even points into free ones, two cells at a time, as published.

    They grow on a grid with a wall all around, which is cut off. Each wall is a tree and none touches another, so all
    free cells stay connected. `np.random.default_rng(n)` gives the maze of seed n of the public code.
    """
    side = grid + 2
    walls = np.ones((side, side), bool)
    walls[1:-1, 1:-1] = False
    for _ in range(int(DENSITY * (side // 2) ** 2)):
        column, row = (2 * rng.integers(0, side // 2 + 1) for _ in range(2))
        walls[row, column] = True
        for _ in range(int(COMPLEXITY * 10 * side)):
            ways = [
                (down, right)
                for down, right in ((0, -1), (0, 1), (-1, 0), (1, 0))
                if 0 <= row + 2 * down < side and 0 <= column + 2 * right < side
            ]
            down, right = ways[rng.integers(0, len(ways))]
            if not walls[row + 2 * down, column + 2 * right]:
                walls[row + down, column + right] = walls[row + 2 * down, column + 2 * right] = True
                row, column = row + 2 * down, column + 2 * right
    return walls[1:-1, 1:-1]


def distances(reached: np.ndarray, free: np.ndarray) -> np.ndarray:
    """(cells, cells): steps of a shortest path between free cells, -1 where there is none."""
    steps = np.full((len(reached), len(reached)), -1)
    frontier = np.eye(len(reached), dtype=bool) & free.ravel()[:, None]
    length = 0
    while frontier.any():  # all sources at once: cells reached for the first time
        steps[frontier] = length
        beyond = np.zeros_like(frontier)
        for move in range(len(MOVES)):
            sources, cells = np.nonzero(frontier)
            beyond[sources, reached[cells, move]] = True
        frontier, length = beyond & (steps < 0), length + 1
    return steps
