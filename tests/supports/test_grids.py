"""Collection designs: sizes against closed forms, certificates, budgets."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recombine import supports
from recombine.errors import UserError
from recombine.spaces import Product
from recombine.supports.grids import extreme_levels

LEVELS = st.lists(st.integers(2, 5), min_size=2, max_size=4)


def space_of(levels) -> Product:
    return Product(**{f"f{i}": n for i, n in enumerate(levels)})


@settings(max_examples=20, deadline=None)
@given(LEVELS)
def test_sizes_and_certificates(levels):
    space = space_of(levels)
    one_at_a_time = 1 + sum(n - 1 for n in levels)
    for design in (supports.stair, supports.l_shape, supports.cross_arms):
        if one_at_a_time == space.size:
            continue
        certificate = design(space).certificate()
        assert certificate.train == one_at_a_time
        assert certificate.compositional and certificate.connected and certificate.disjoint
    certificate = supports.diagonal(space).certificate()
    assert certificate.train == max(levels)
    assert certificate.compositional
    if len(set(levels)) == 1:
        assert len(certificate.components) == levels[0]


@settings(max_examples=20, deadline=None)
@given(LEVELS, st.integers(0, 3), st.sampled_from([0.2, 1 / 3, 0.5]))
def test_orthotopes_have_the_size_of_the_closed_form(levels, at_most, share):
    at_most = min(at_most, len(levels) - 1)
    extreme = extreme_levels(tuple(levels), share)
    size = sum(
        math.prod(e if f in chosen else n - e for f, (n, e) in enumerate(zip(levels, extreme, strict=True)))
        for k in range(at_most + 1)
        for chosen in itertools.combinations(range(len(levels)), k)
    )
    support = supports.orthotope(space_of(levels), extreme=share, at_most=at_most)
    assert support.train.size == size
    held = support.held_out.combinations()
    assert ((held >= np.array(levels) - np.array(extreme)).sum(1) > at_most).all()


def test_what_the_designs_look_like():
    space = Product(x=3, y=3)
    ranks = {
        name: supports.registry[name](space).train.combinations().tolist()
        for name in ("stair", "l-shape", "diagonal", "cross-arms")
    }
    assert ranks["stair"] == [[0, 0], [1, 0], [1, 1], [2, 1], [2, 2]]
    assert ranks["l-shape"] == [[0, 0], [0, 1], [0, 2], [1, 0], [2, 0]]
    assert ranks["diagonal"] == [[0, 0], [1, 1], [2, 2]]
    assert ranks["cross-arms"] == [[0, 1], [1, 0], [1, 1], [1, 2], [2, 1]]


@pytest.mark.parametrize("design", ["stair", "l-shape", "cross-arms", "diagonal", "orthotope"])
def test_budgets_nest(design):
    space = Product(a=4, b=4, c=4)
    small, large = (set(supports.registry[design](space, trained=n).train.ranks.tolist()) for n in (2, 4))
    assert small < large and len(large) == 4
    with pytest.raises(UserError, match="trained=60"):
        supports.registry[design](space, trained=60)
