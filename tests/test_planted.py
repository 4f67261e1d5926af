"""Planted models: each is right exactly where its definition says, by brute force."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recombine.audit.planted import FOLLOW_COVERAGE, LOT, NOISE, plant, planted
from recombine.errors import UserError
from recombine.spaces import Product, Subsets
from recombine.supports.certificate import components

SPACES = (Product(a=3, b=4, c=2), Product(a=5, b=5), Subsets(7, 3))


@settings(max_examples=30, deadline=None)
@given(st.sampled_from(SPACES), st.integers(1, 8), st.integers(0, 50))
def test_truths(space, n, seed):
    trained, rows = np.unique(space.sample(seed, n), axis=0), space.enumerate()
    sets = [frozenset(e for e in ids if e >= 0) for ids in space.elements(rows).tolist()]
    known = [frozenset(e for e in ids if e >= 0) for ids in space.elements(trained).tolist()]
    pairs = {frozenset(p) for one in known for p in itertools.combinations(one, 2)}
    levels = set().union(*known)
    parts = [set(part) for part in components(space, trained)]
    expected = {
        "composer": [True] * len(sets),
        "memorizer": [one in known for one in sets],
        "binder": [
            one <= levels and all(frozenset(p) in pairs for p in itertools.combinations(one, 2)) for one in sets
        ],
        "connected": [any(one <= part for part in parts) for one in sets],
    }
    for name, truth in expected.items():
        assert plant(name, space, trained, seed).right(rows).tolist() == truth, name


def test_lots_are_fair_fixed_and_of_their_seed():
    space = Product(a=30, b=30, c=10)
    rows = space.enumerate()
    first = plant("unrelated", space, rows[:50], 0).right(rows)
    assert abs((~first).mean() - LOT) < 0.02
    order = np.random.default_rng(0).permutation(len(rows))
    assert (plant("unrelated", space, rows[:50], 0).right(rows[order]) == first[order]).all()
    assert (plant("unrelated", space, rows[:50], 1).right(rows) != first).mean() > 0.3
    assert abs((plant("unrelated", space, rows[50:99], 0).right(rows) == first).mean()) == 1  # whatever was trained
    flipped = plant("noisy", space, rows[:500], 0).right(rows) != plant("binder", space, rows[:500], 0).right(rows)
    assert abs(flipped.mean() - NOISE) < 0.02


def test_registry_and_refusals():
    space = Product(a=2, b=2)
    assert set(planted) == {"composer", "memorizer", "binder", "connected", "noisy", "unrelated"}
    assert set(FOLLOW_COVERAGE) < set(planted)
    with pytest.raises(UserError, match="binder"):
        plant("bindr", space, space.enumerate())
    with pytest.raises(UserError, match="at least one"):
        plant("binder", space, space.enumerate()[:0])
