"""Sizes beyond training: groups by size, a share of the trained sizes, and refusals."""

from __future__ import annotations

import numpy as np
import pytest

import recombine as rc
from recombine import UserError
from recombine.supports import sizes
from recombine.tasks import DynamicProgram, Multiplication
from recombine.testing import check_support

LISTS = DynamicProgram.default_space()
PAIRS = Multiplication.default_space()


def test_larger_sizes_are_held_out_each_as_a_group():
    support = sizes(LISTS, trained=("1", "2", "3"), seed=1)
    check_support(support, n=50)
    lengths = [(LISTS.elements(side.combinations()) >= 0).sum(1) for side in (support.train, support.group("larger"))]
    assert lengths[0].max() == 3 and set(lengths[1].tolist()) == {4, 5, 6}
    assert support.group("5").size == 100 and support.asks == "held_out/larger"
    inside = support.group("in-domain")
    assert inside.size == pytest.approx(0.1 * (11 + 121 + 1331), abs=5)
    assert (LISTS.elements(inside.combinations()) >= 0).sum(1).max() == 3


def test_the_size_of_a_product_is_told_by_either_side():
    support = sizes(PAIRS, trained=("1x1", "2x1", "2x2"), in_domain=0)
    assert support.train.size == 81 + 600 + 600 and "in-domain" not in support.groups
    assert (support.group("3x1").size, support.group("3x2").size) == (600, 600)
    assert sizes(PAIRS).settings["trained"] == ["1x1", "2x1", "3x1"]  # the smaller half


def test_the_seed_decides_what_is_held_out_inside():
    first, same, other = (set(sizes(LISTS, seed=seed).held_out.ranks) for seed in (0, 0, 1))
    assert first == same != other


REFUSED = {
    "an unknown size": ({"trained": ("7",)}, "size of the texts.*'7'"),
    "all sizes": ({"trained": tuple("123456")}, r"leave none to ask about; \['1'\] would do"),
    "a share of one": ({"in_domain": 1}, "in_domain=1 is no share"),
    "a negative seed": ({"seed": -1}, "seed=-1"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_bad_splits_are_refused_by_value_and_remedy(name):
    options, named = REFUSED[name]
    with pytest.raises(UserError, match=named):
        sizes(LISTS, **options)


def test_a_list_of_one_size_words_that_stay_untrained_and_other_spaces_are_refused():
    with pytest.raises(UserError, match="has the size 2;"):
        sizes(rc.Listed([[0, 1], [1, 0]], ["a", "b"]))
    with pytest.raises(UserError, match=r"trained=\['1'\] leaves 'b' untrained"):
        sizes(rc.Listed([[0], [1, 0]], ["a", "b"]))
    for other in (rc.Product(a=2, b=2), rc.Subsets(4, 2)):
        with pytest.raises(UserError, match=r"needs a list of texts.*got "):
            sizes(other)
    assert np.isin(sizes(LISTS, in_domain=0).train.ranks, np.arange(LISTS.size)).all()
