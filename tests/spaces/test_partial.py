"""Partial: the combinations of a product that are there, against the product itself."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recombine import Product, UserError, supports
from recombine.spaces import Partial, space_from_json
from recombine.testing import check_space, check_support

few = settings(deadline=None, max_examples=30)
PRODUCT = Product(color=["red", "green", "blue"], shape=4, size=2)


@few
@given(st.sets(st.integers(0, PRODUCT.size - 1), min_size=1), st.randoms(use_true_random=False))
def test_it_is_the_product_without_the_others(ranks, random):
    rows = PRODUCT.unrank(sorted(ranks))
    shuffled = rows[random.sample(range(len(rows)), len(rows))]
    space = Partial(PRODUCT, shuffled)
    assert space.size == len(ranks) and (space.enumerate() == rows).all()
    assert space.contains(PRODUCT.enumerate()).tolist() == [r in ranks for r in range(PRODUCT.size)]
    assert (space.elements(rows) == PRODUCT.elements(rows)).all() and space.columns == PRODUCT.columns
    assert np.flatnonzero(space.occurs).tolist() == sorted(set(PRODUCT.elements(rows).ravel().tolist()))
    assert space == Partial(PRODUCT, rows) == space_from_json(space.to_json()) != PRODUCT


def test_it_passes_the_checks_of_a_space_also_where_the_product_is_beyond_64_bits():
    check_space(Partial(PRODUCT, PRODUCT.sample(0, 9)[:1]))
    check_space(Partial(PRODUCT, PRODUCT.unrank([0, 3, 5, 17, 23])))
    huge = Product(**{f"f{i}": 100 for i in range(12)})
    check_space(Partial(huge, huge.sample(0, 500)))


def test_tuples_are_counted_among_what_is_there():
    space = Partial(Product(a=2, b=2, c=2), [[0, 0, 0], [1, 1, 1]])
    assert [space.possible_tuples(t) for t in (1, 2, 3)] == [6, 6, 2]


@pytest.mark.parametrize(
    "design",
    [
        "random",
        "missing",
        "disconnected",
        "popular",
        "unpopular",
        "pairs",
        "donut",
        "corner",
        "cross",
        "band",
        "gap",
        "orthotope",
        "stair",
        "l-shape",
        "cross-arms",
        "diagonal",
        "divergence",
    ],
)
def test_designs_split_what_is_there_and_nothing_else(design):
    product = Product(x=6, y=6, z=2)
    space = Partial(product, product.unrank(np.random.default_rng(0).permutation(72)[:60]))
    options = {"atoms": 0.2} if design == "divergence" else {}
    support = supports.registry[design](space, **options)
    check_support(support)
    both = np.concatenate([support.train.combinations(), support.held_out.combinations()])
    assert len(both) == 60 and space.contains(both).all()


def test_what_it_is_made_of_is_checked():
    with pytest.raises(UserError, match=r"\[9, 0, 0\] is not a combination"):
        Partial(PRODUCT, [[9, 0, 0]])
    with pytest.raises(UserError, match="1 of 3 rows list a combination again"):
        Partial(PRODUCT, [[0, 0, 0], [1, 0, 0], [0, 0, 0]])
    with pytest.raises(UserError, match="at least one"):
        Partial(PRODUCT, np.zeros((0, 3), int))
    space = Partial(PRODUCT, [[0, 0, 0], [1, 1, 1]])
    with pytest.raises(UserError, match="the result need not be there"):
        space.replace(space.enumerate(), 0, 1)
    with pytest.raises(UserError, match="combine freely"):
        supports.balanced(space)
    with pytest.raises(UserError, match=r"\[0, 1, 0\] is not a combination of Partial"):
        space.rank([[0, 1, 0]])
