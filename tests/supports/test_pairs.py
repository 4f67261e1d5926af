"""The design 'pairs': elements that are each trained, and never together."""

from __future__ import annotations

import re

import numpy as np
import pytest

from recombine import Product, Subsets, UserError, supports
from recombine.spaces import Partial
from recombine.testing import check_support

FACTORS = Product(color=["red", "green", "blue"], shape=["box", "ball"], size=3)


def together(space, rows) -> set[tuple[int, int]]:
    """Pairs of elements that stand together in some row."""
    found = set()
    for own in space.elements(rows).tolist():
        ids = [i for i in own if i >= 0]
        found |= {(a, b) for a in ids for b in ids if a < b}
    return found


@pytest.mark.parametrize("space", [FACTORS, Subsets(8, 3), Product(a=6, b=6)], ids=str)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_drawn_pairs_are_never_trained_and_their_elements_are(space, seed):
    support = supports.pairs(space, held_out=0.3, seed=seed)
    certificate = support.certificate()
    assert certificate.compositional and certificate.connected
    assert 1 <= certificate.held_out <= 0.3 * space.size
    named = {tuple(sorted(space.element_id(name) for name in pair)) for pair in support.settings["pairs"]}
    assert named and not named & together(space, support.train.combinations())
    for own in space.elements(support.held_out.combinations()).tolist():
        assert any({a, b} <= set(own) for a, b in named)  # and what is held out has one of them


@pytest.mark.parametrize(
    "pair", ["color=red & shape=box", ("color=red", "shape=box"), [("color", "red"), ("shape", "box")]]
)
def test_a_named_pair_holds_out_exactly_its_combinations(pair):
    support = supports.pairs(FACTORS, pairs=[pair])
    assert support.held_out.size == 3
    assert all((row[:2] == [0, 0]).all() for row in support.held_out.combinations())


def test_pairs_of_a_list_that_falls_into_parts_leave_its_parts():
    product = Product(a=4, b=4, c=2)
    apart = [row for row in product.enumerate().tolist() if (row[0] < 2) == (row[1] < 2) and row[2] == int(row[0] < 2)]
    space = Partial(product, apart)
    certificate = supports.pairs(space, held_out=0.3).certificate()
    assert certificate.compositional and len(certificate.components) == 2
    check_support(supports.pairs(space, held_out=0.3))


@pytest.mark.parametrize(
    "options, words",
    [
        ({"pairs": ["color=red"]}, ["'color=red'", "color=red & shape=box"]),
        ({"pairs": ["color=red & color=blue"]}, ["color=red", "color=blue", "no combination"]),
        ({"pairs": ["color=red & shape=bux"]}, ["'shape=bux'", "'shape=box'"]),
        ({"pairs": []}, ["pairs=[]", "color=red & shape=box"]),
        ({"pairs": ["color=red & shape=box"], "held_out": 0.5}, ["held_out=0.5", "pairs="]),
        ({"seed": -1}, ["seed=-1"]),
    ],
)
def test_bad_pairs_are_refused_by_value_and_remedy(options, words):
    with pytest.raises(UserError) as refusal:
        supports.pairs(FACTORS, **options)
    assert all(word in str(refusal.value) for word in words), str(refusal.value)


def test_a_share_smaller_than_any_pair_is_refused_with_one_that_is_not():
    space = Product(a=3, b=3, c=9)
    with pytest.raises(UserError) as refusal:
        supports.pairs(space, held_out=0.02)
    near = float(re.search(r"held_out=([\d.]+)$", str(refusal.value))[1])  # type: ignore[index]
    assert 1 <= supports.pairs(space, held_out=near).held_out.size <= np.ceil(near * space.size)


def test_what_cannot_lose_a_pair_is_refused():
    with pytest.raises(UserError, match="use the design 'missing'"):
        supports.pairs(Product(a=2, b=1), held_out=0.5)
