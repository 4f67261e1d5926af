"""A way to the solution of a puzzle, step by step: which values are placed after which clues (Dziri et al. 2023).

Each step takes the one clue that places most values, given all that is known; where none places any, the smallest set
of clues that does, of up to `TOGETHER`; where that does not help either, all that are left.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence

from .puzzle_solver import Clue, Domains, narrowed, solutions

TOGETHER = 3


def reasoning_path(houses: int, attributes: int, clues: Sequence[Clue]) -> list[list[tuple[int, int]]]:
    """The steps to the one solution of a puzzle: the values that each step places, and their houses.

    Args:
        houses: K.
        attributes: M.
        clues: with one solution.

    Example:
        >>> from recombine.tasks.sequences.puzzle_solver import Clue
        >>> from recombine.tasks.sequences.puzzle_steps import reasoning_path
        >>> reasoning_path(2, 2, [Clue("with", 0, 3), Clue("at", 0, 1)])
        [[(0, 1), (1, 0)], [(2, 0), (3, 1)]]
    """
    everywhere = (1 << houses) - 1
    known, left = [everywhere] * (houses * attributes), list(clues)
    used: list[Clue] = []
    steps: list[list[tuple[int, int]]] = []
    while any(one & (one - 1) for one in known):
        taken, after = _best(known, used, left, houses)
        if not taken:  # nothing follows without trying: what is left is placed together
            (solution,) = solutions(houses, attributes, clues)
            after = [1 << house for house in solution]
        new = [value for value, one in enumerate(after) if _placed(one) and not _placed(known[value])]
        steps.append([(value, after[value].bit_length() - 1) for value in new])
        used += taken
        left = [clue for clue in left if clue not in taken]
        known = after
    return steps


def _best(known: Domains, used: Sequence[Clue], left: Sequence[Clue], houses: int) -> tuple[list[Clue], Domains]:
    """The clues to take next, and what is known after them; no clues if none helps."""
    before = sum(map(_placed, known))
    for size in range(1, TOGETHER + 1):
        found = _most(itertools.combinations(left, size), known, used, houses)
        if found and sum(map(_placed, found[1])) > before:
            return found
    found = _most([tuple(left)], known, used, houses)
    return found if found and sum(map(_placed, found[1])) > before else ([], known)


def _most(
    choices: Iterable[tuple[Clue, ...]], known: Domains, used: Sequence[Clue], houses: int
) -> tuple[list[Clue], Domains] | None:
    """The choice after which most values are placed; the first of those that are as good."""
    best: tuple[list[Clue], Domains] | None = None
    most = -1
    for choice in choices:
        after = list(known)
        narrowed(after, houses, [*used, *choice])
        number = sum(map(_placed, after))
        if number > most:
            best, most = (list(choice), after), number
    return best


def _placed(domain: int) -> bool:
    return not domain & (domain - 1)
