"""Splits of high compound divergence at low atom divergence, by search (after the greedy one of Keysers et al. 2020).

First whole compounds are held out, all combinations with one of a set of pairs of elements, and that set is changed at
random as long as it does not get worse. Combinations are then exchanged between the sides, many at a time while that
helps, and at last one at a time: in turns the best one goes in and the best one goes out, and what was moved rests for
a while (tabu search), so that the search leaves what a greedy one would be caught in. The best of several starts is
taken.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import UserError, require_number
from ..spaces import Space
from .designs import supports
from .divergence_costs import ROUNDING, Costs, State
from .drawn_sides import held_out_count, refuse_unlisted, seeded
from .support import Support, from_ranks

ATOM_BOUND = 0.02  # of the published splits
_STARTS = 8
_DRAWN = 2_000  # compounds that a start tries to hold out
_CHANGES = (60, 1_500)  # of the set of compounds that is held out whole: the fewest and the most
_WORK = 400_000_000  # entries of the table of units and compounds that are looked at in all
_ROUNDS = (40, 800)  # of single units: the fewest and the most
_PATIENCE = 200  # rounds without a better split
_SHORTLIST = 8  # units whose move is computed, of those whose estimates are best
_REST = (4, 12)  # rounds for which a moved unit stays where it is


@supports.register("divergence")
def divergence(
    space: Space,
    *,
    held_out: float = 0.25,
    atoms: float = ATOM_BOUND,
    chosen: float = 1.0,
    seed: int = 0,
    weights: Any = None,
) -> Support:
    """The compound divergence is as high as a search finds, with an atom divergence of at most `atoms`.

    Args:
        space: what can be combined.
        held_out: share of the combinations.
        atoms: the largest atom divergence.
        chosen: share of the held-out combinations that the search chooses; the others are drawn from all by lot, so
            that splits of one size differ in their divergence.
        seed: of the search.
        weights: (size,) how often each combination counts, in order of rank; once each if left out.

    Example:
        >>> found = rc.supports.divergence(rc.Product(x=4, y=4)).certificate()
        >>> found.atom_divergence <= 0.02, round(found.compound_divergence, 6)
        (True, 1.0)
    """
    refuse_unlisted(space)
    wanted = held_out_count(space, held_out)
    held = most_divergent(space, space.enumerate(), wanted, atoms=atoms, seed=seed, weights=weights)
    settings = {"held_out": held_out, "atoms": atoms, "seed": seed}
    if require_number("chosen", chosen, at_least=0, at_most=1) < 1:
        held, settings["chosen"] = _partly(held, chosen, seeded("support-divergence-lot", seed)), chosen
    train, others = np.flatnonzero(~held), np.flatnonzero(held)
    own = (
        {}
        if weights is None
        else {"weights": np.asarray(weights)[train], "held_out_weights": np.asarray(weights)[others]}
    )
    return from_ranks(space, train, others, "divergence", settings=settings, **own)


def _partly(held: np.ndarray, chosen: float, rng: np.random.Generator) -> np.ndarray:
    """As many held out, of which this share stays and the others are drawn from all the rest by lot."""
    order = rng.permutation(np.flatnonzero(held))
    stays = order[: round(chosen * len(order))]
    rest = np.setdiff1d(np.arange(len(held)), stays)
    found = np.zeros(len(held), bool)
    found[stays] = True
    found[rng.choice(rest, len(order) - len(stays), replace=False)] = True
    return found


def most_divergent(
    space: Space,
    rows: np.ndarray,
    wanted: int,
    *,
    atoms: float = ATOM_BOUND,
    seed: int = 0,
    weights: Any = None,
    units: np.ndarray | None = None,
) -> np.ndarray:
    """(n,): which of the combinations to hold out; refused, with the lowest atom divergence found, above the bound.

    Args:
        space: whose combinations these are.
        rows: (n, width) the combinations that are split.
        wanted: how many are held out; as near as whole units allow.
        atoms: the largest atom divergence.
        seed: of the search.
        weights: (n,) how often each combination counts.
        units: (n,) numbers from 0: combinations of the same one stay together. Each is its own if left out.
    """
    bound = require_number("atoms", atoms, above=0, at_most=1)
    if max(space.sizes) < 2:
        raise UserError(
            f"{space} has no combination of two elements, so no compound to hold out; use the design 'random'"
        )
    costs = Costs(space, rows, wanted, bound, weights, units)
    rng = seeded("support-divergence", seed)
    best = min((_searched(costs, rng) for _ in range(_STARTS)), key=costs.judged)
    divergence, untrained = costs.atom_divergence(best), costs.untrained(best)
    if untrained or divergence > bound + ROUNDING:
        near = f"{np.ceil(divergence * 1000) / 1000:g}"
        what = f"{untrained} elements untrained" if untrained else f"{divergence:.4f}: try atoms={near}"
        raise UserError(
            f"no split of {space} with {wanted:,} combinations held out was found whose atom divergence is at most "
            f"{bound:g}; the nearest found has {what}, or hold out another share"
        )
    return best.held[costs.units]


def _searched(costs: Costs, rng: np.random.Generator) -> State:
    state = _compounds_held(costs, rng)
    state = _filled(costs, state, rng)
    state = _exchanged(costs, state)
    return _polished(costs, state, rng)


def _compounds_held(costs: Costs, rng: np.random.Generator) -> State:
    """Whole compounds are held out: all units with one of a set of compounds.

    The set begins with drawn ones, as many as there is room for. It is then changed at random, one compound at a time
    (added, dropped or exchanged), and a change stays if the cost does not rise.
    """
    members: Any = costs.compounds.table.tocsc()
    columns = members.shape[1]
    chosen: list[int] = []
    times = np.zeros(len(costs.sizes), int)  # how many of the compounds hold each unit out
    for column in rng.permutation(columns)[:_DRAWN].tolist():
        tried = times.copy()
        tried[_units_with(members, column)] += 1
        if times.sum() < tried.sum() and costs.sizes[tried > 0].sum() <= costs.wanted:
            times, chosen = tried, [*chosen, column]
    state = costs.state(times > 0)
    cost = costs.cost_of_compounds(state)
    for _ in range(_rounds_of(costs, _CHANGES)):
        drop = int(rng.integers(len(chosen))) if chosen and rng.random() < 0.8 else None
        add = int(rng.integers(columns)) if drop is None or rng.random() < 0.9 else None
        tried = times.copy()
        if drop is not None:
            tried[_units_with(members, chosen[drop])] -= 1
        if add is not None:
            tried[_units_with(members, add)] += 1
        if add in chosen or not 0 < costs.sizes[tried > 0].sum() <= costs.wanted:
            continue
        after = costs.state(tried > 0)
        if (less := costs.cost_of_compounds(after)) <= cost + ROUNDING:
            state, cost, times = after, less, tried
            chosen = [one for at, one in enumerate(chosen) if at != drop] + ([] if add is None else [add])
    return state


def _units_with(members: Any, column: int) -> np.ndarray:
    return members.indices[members.indptr[column] : members.indptr[column + 1]]


def _rounds_of(costs: Costs, limits: tuple[int, int]) -> int:
    """As many as the work allows that a search may take."""
    entries = costs.compounds.table.nnz + costs.atoms.table.nnz
    return int(np.clip(_WORK // _STARTS // max(entries, 1), *limits))


def _filled(costs: Costs, state: State, rng: np.random.Generator) -> State:
    """Drawn units are held out until there are as many combinations as wanted, or as near as whole units come."""
    held, size = state.held.copy(), state.size
    for unit in rng.permutation(np.flatnonzero(~held)).tolist():
        after = size + int(costs.sizes[unit])
        if abs(after - costs.wanted) < abs(size - costs.wanted):
            held[unit], size = True, after
    return costs.state(held)


def _exchanged(costs: Costs, state: State) -> State:
    """Many units at once change sides, by their estimates, and fewer where that does not help: far in few steps."""
    many, cost = int(state.held.sum()) // 4, costs.cost(state)
    while many >= 1:
        leaving, entering = np.flatnonzero(state.held), np.flatnonzero(~state.held)
        out = leaving[np.argsort(costs.estimates(state, leaving, False), kind="stable")[:many]]
        into = entering[np.argsort(costs.estimates(state, entering, True), kind="stable")[:many]]
        held = state.held.copy()
        held[out], held[into] = False, True
        after = costs.state(held)
        if (less := costs.cost(after)) < cost - ROUNDING:
            state, cost = after, less
        else:
            many //= 2
    return state


def _polished(costs: Costs, state: State, rng: np.random.Generator) -> State:
    """One unit at a time, in and out in turns; the best split on the way."""
    resting = np.zeros(len(costs.sizes), int)  # the round from which a unit may move again
    best, least, found = state, costs.judged(state), 0
    for number in range(_rounds_of(costs, _ROUNDS)):
        inward = state.size < costs.wanted or (state.size == costs.wanted and number % 2 == 0)
        free = np.flatnonzero((state.held != inward) & (resting <= number))
        if not len(free) or (not inward and state.held.sum() < 2):
            continue
        unit = _best_move(costs, state, free, inward)
        state = costs.moved(state, unit, inward)
        resting[unit] = number + int(rng.integers(*_REST))
        if (judged := costs.judged(state)) < least:
            best, least, found = state, judged, number
        if number - found > _PATIENCE:
            break
    return best


def _best_move(costs: Costs, state: State, free: np.ndarray, inward: bool) -> int:
    """The unit whose move costs least: by estimates, and by what the best of them come to."""
    estimates = costs.estimates(state, free, inward)
    if costs.exact:
        return int(free[np.argmin(estimates)])
    short = free[np.argsort(estimates, kind="stable")[:_SHORTLIST]]
    return int(min(short, key=lambda unit: costs.cost(costs.moved(state, int(unit), inward))))
