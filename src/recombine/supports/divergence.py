"""Divergence: how unlike two sides of a split are in their parts, and in the ways parts are put together.

The measure of Keysers et al. 2020 (Measuring Compositional Generalization, arXiv 1912.09713). *Atoms* are the elements
of a combination, *compounds* the sets of elements that stand together in one (pairs, unless told otherwise). With p_k
the share of atom or compound k among all of the training side and q_k that among all of the held-out side,

    C_a(p || q) = sum_k p_k^a q_k^(1-a)         the Chernoff coefficient, 1 where p = q, 0 where they share nothing
    D = 1 - C_a(p || q)                         a = .5 for atoms, a = .1 for compounds

An exponent of .1 asks whether a compound was trained at all rather than how often. A split that tests composition has
a low divergence of atoms (each part is as common on both sides) and a high one of compounds (what is asked was hardly
ever trained). A combination counts as often as its weight says: the rows of a table, where there is one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..spaces import Space, tuple_places

ATOM_EXPONENT, COMPOUND_EXPONENT = 0.5, 0.1
PAIRS = 2
_DENSE = 1 << 25  # cells of a table of counts


@dataclass(frozen=True)
class Divergences:
    """Both divergences of a split, from 0 to 1; None where a side has no atom, or no compound.

    Args:
        atoms: how unlike the two sides are in their elements.
        compounds: how unlike they are in the sets of elements that stand together.

    Example:
        >>> rc.supports.Divergences(atoms=0.02, compounds=0.7).compounds
        0.7
    """

    atoms: float | None
    compounds: float | None


def chernoff(p: np.ndarray, q: np.ndarray, exponent: float) -> float:
    """The Chernoff coefficient, sum_k p_k^a q_k^(1-a), of two arrays of weights: 1 where they are alike, 0 where apart.

    Args:
        p: weights, which are made shares.
        q: weights of the same things, which are made shares.
        exponent: a, from 0 to 1.

    Example:
        >>> round(rc.supports.chernoff(np.array([1, 1, 0]), np.array([0, 2, 2]), exponent=0.5), 6)
        0.5
    """
    p, q = np.asarray(p, float), np.asarray(q, float)
    both = (p > 0) & (q > 0)
    shares = (p[both] / p.sum()) ** exponent * (q[both] / q.sum()) ** (1 - exponent)
    coefficient = float(shares.sum())
    return min(coefficient, 1.0)  # rounding can lift it a hair above


def divergence_of(
    space: Space,
    train: np.ndarray,
    held_out: np.ndarray,
    *,
    strength: int,
    exponent: float,
    weights: tuple[np.ndarray | None, np.ndarray | None] = (None, None),
) -> float | None:
    """1 - C_a over sets of `strength` elements; None where a side has none of them.

    Args:
        space: whose combinations these are.
        train: rows of the training side, which p is about.
        held_out: rows of the held-out side, which q is about.
        strength: how many elements make one of what is compared: 1 for atoms, 2 for pairs.
        exponent: a.
        weights: of the rows of each side; all alike where None.
    """
    elements = len(space.element_names)
    (codes, places), (asked, asked_places) = (
        tuple_places(space.element_sets(rows), strength, elements) for rows in (train, held_out)
    )
    if not len(codes) or not len(asked):
        return None
    cells = elements**strength
    if cells > _DENSE:  # numbered by what occurs
        known, numbers = np.unique(np.concatenate([codes, asked]), return_inverse=True)
        codes, asked, cells = numbers[: len(codes)], numbers[len(codes) :], len(known)
    p, q = (
        np.bincount(found, None if own is None else np.asarray(own, float)[at], cells)
        for found, at, own in zip((codes, asked), (places, asked_places), weights, strict=True)
    )
    return 1 - chernoff(p, q, exponent)


def divergences(
    space: Space,
    train: np.ndarray,
    held_out: np.ndarray,
    weights: tuple[np.ndarray | None, np.ndarray | None] = (None, None),
    compounds: int = PAIRS,
) -> Divergences:
    """Divergence of atoms and of compounds between two sides.

    Args:
        space: whose combinations these are.
        train: (n, width) rows of the training side.
        held_out: (m, width) rows of the held-out side.
        weights: how often each row counts, on either side; once each where None.
        compounds: how many elements make a compound.

    Example:
        >>> found = rc.supports.divergences(rc.Product(x=2, y=2), [[0, 0], [1, 1]], [[0, 1], [1, 0]])
        >>> round(found.atoms, 6), round(found.compounds, 6)
        (0.0, 1.0)
    """
    train, held_out = space.check(train), space.check(held_out)
    return Divergences(
        divergence_of(space, train, held_out, strength=1, exponent=ATOM_EXPONENT, weights=weights),
        divergence_of(space, train, held_out, strength=compounds, exponent=COMPOUND_EXPONENT, weights=weights),
    )
