"""Puzzles of who lives where (Einstein's riddle): clues, all solutions by exact search, and clues by chance.

A puzzle has K houses in a row and M attributes with K values each; every value is in one house. Value v of attribute m
has the number m * K + v. A clue is (kind, value, value) or ("at", value, house).

    at        the value is in that house            left      directly to the left of the other
    with      both are in one house                 beside    in a house next to the other's
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from .chance import Chance

KINDS = ("at", "with", "left", "beside")
Domains = list[int]  # of each value the houses that it can be in, as bits


class Clue(NamedTuple):
    """One thing that is known."""

    kind: str
    first: int
    second: int


def solutions(houses: int, attributes: int, clues: Sequence[Clue], at_most: int = 2) -> list[tuple[int, ...]]:
    """The solutions of a puzzle: the house of each value. The search is exact and stops after `at_most` of them.

    Args:
        houses: K.
        attributes: M.
        clues: what is known.
        at_most: how many are looked for; 2 tell whether there is one only.

    Example:
        >>> from recombine.tasks.sequences.puzzle_solver import Clue, solutions
        >>> solutions(2, 2, [Clue("at", 0, 1), Clue("with", 0, 3)])
        [(1, 0, 0, 1)]
    """
    found: list[tuple[int, ...]] = []
    everywhere = (1 << houses) - 1

    def search(domains: Domains) -> None:
        if not narrowed(domains, houses, clues):
            return
        open_ = [(one.bit_count(), value) for value, one in enumerate(domains) if one & (one - 1)]
        if not open_:
            found.append(tuple(one.bit_length() - 1 for one in domains))
            return
        _, value = min(open_)
        for house in range(houses):
            if domains[value] >> house & 1:
                tried = list(domains)
                tried[value] = 1 << house
                search(tried)
                if len(found) >= at_most:
                    return

    search([everywhere] * (houses * attributes))
    return found


def narrowed(domains: Domains, houses: int, clues: Sequence[Clue]) -> bool:
    """Takes away, in place, houses that clues and values of one attribute exclude; False if nothing is left of one."""
    everywhere = (1 << houses) - 1
    while True:
        before = list(domains)
        for kind, first, second in clues:
            if kind == "at":
                domains[first] &= 1 << second
            elif kind == "with":
                domains[first] = domains[second] = domains[first] & domains[second]
            elif kind == "left":
                domains[first] &= domains[second] >> 1
                domains[second] &= domains[first] << 1
            else:
                domains[first] &= domains[second] << 1 | domains[second] >> 1
                domains[second] &= domains[first] << 1 | domains[first] >> 1
        for start in range(0, len(domains), houses):
            _one_each(domains, range(start, start + houses), everywhere)
        if not all(domains):
            return False
        if domains == before:
            return True


def _one_each(domains: Domains, values: range, everywhere: int) -> None:
    """Values of one attribute are in different houses, and each house has one."""
    once, twice = 0, 0
    for value in values:
        twice |= once & domains[value]
        once |= domains[value]
    if once != everywhere:  # a house that none of them can be in
        domains[values[0]] = 0
        return
    alone = once & ~twice  # houses that one of them only can be in
    for value in values:
        own = domains[value] & alone
        if own:
            domains[value] = own if not own & (own - 1) else 0
        if not domains[value] & (domains[value] - 1):
            for other in values:
                if other != value:
                    domains[other] &= ~domains[value]


def true_clues(houses: int, solution: Sequence[int]) -> list[Clue]:
    """Everything that clues can say of a solution.

    Args:
        houses: K.
        solution: the house of each value.
    """
    found = [Clue("at", value, house) for value, house in enumerate(solution)]
    for first, one in enumerate(solution):
        for second, other in enumerate(solution):
            if first // houses < second // houses and one == other:
                found.append(Clue("with", first, second))
            if one + 1 == other:
                found.append(Clue("left", first, second))
            if first < second and abs(one - other) == 1:
                found.append(Clue("beside", first, second))
    return found


def drawn_puzzle(houses: int, attributes: int, chance: Chance) -> list[Clue]:
    """Clues by chance that have one solution, and would have more without any of them.

    True clues are put in an order by lot; the shortest beginning of it that has one solution is found, and each of its
    clues is left out that can be.

    Args:
        houses: K.
        attributes: M.
        chance: what is drawn from.
    """
    solution = [house for _ in range(attributes) for house in shuffled_range(houses, chance)]
    order = true_clues(houses, solution)
    order = [order[place] for place in shuffled_range(len(order), chance)]
    low, high = 1, len(order)
    while low < high:
        middle = (low + high) // 2
        if len(solutions(houses, attributes, order[:middle])) == 1:
            high = middle
        else:
            low = middle + 1
    kept = order[:low]
    for clue in list(kept):
        fewer = [one for one in kept if one is not clue]
        if len(solutions(houses, attributes, fewer)) == 1:
            kept = fewer
    return kept


def shuffled_range(number: int, chance: Chance) -> list[int]:
    """0 to number - 1 in an order by lot."""
    order = list(range(number))
    for place in range(number - 1, 0, -1):
        other = chance.below(place + 1)
        order[place], order[other] = order[other], order[place]
    return order
