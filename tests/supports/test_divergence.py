"""Divergences of atoms and compounds: closed forms, invariances, and splits that a search cannot beat."""

from __future__ import annotations

import itertools
import math
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recombine import Product, Subsets, UserError, supports
from recombine.spaces import Partial
from recombine.supports import chernoff, divergences
from recombine.supports.divergence_search import most_divergent
from recombine.tasks import scan_commands
from recombine.testing import check_support

few = settings(deadline=None, max_examples=30)


# -- the measure ------------------------------------------------------------------------------------------------------
def test_the_coefficient_is_the_published_sum():
    assert chernoff([1, 0], [1, 1], 0.5) == pytest.approx(math.sqrt(0.5))
    assert chernoff([1, 3], [3, 1], 0.1) == pytest.approx(0.25**0.1 * 0.75**0.9 + 0.75**0.1 * 0.25**0.9)
    assert chernoff([1, 0], [0, 1], 0.1) == 0 and chernoff([2, 4], [1, 2], 0.1) == pytest.approx(1)
    # .1 goes to the first, the training side: that a compound is rare there hardly matters, that it is not there does
    assert chernoff([1, 99], [99, 1], 0.1) > 0.6 > chernoff([0, 99], [99, 1], 0.1)


@pytest.mark.parametrize("levels", [2, 3, 7])
def test_two_latin_diagonals_share_every_atom_and_no_pair(levels):
    space = Product(x=levels, y=levels)
    at = np.arange(levels)
    found = divergences(space, np.stack([at, at], 1), np.stack([at, (at + 1) % levels], 1))
    assert found.atoms == pytest.approx(0, abs=1e-12) and found.compounds == 1


@pytest.mark.parametrize("factors", [2, 3, 4, 5])
def test_blocks_of_a_product_have_the_divergence_that_counting_gives(factors):
    certificate = supports.disconnected(Product(**{f"f{i}": 4 for i in range(factors)})).certificate()
    inside = 2.0 ** (1 - factors)  # share of the combinations that is trained: all levels of one half
    same = (0.5 - inside) / (1 - inside)  # share of the pairs of the held-out side that lie in one half
    assert certificate.atom_divergence == pytest.approx(0, abs=1e-12)
    assert certificate.compound_divergence == pytest.approx(1 - same**0.9)


@pytest.mark.parametrize("factors, levels", [(2, 3), (3, 4), (4, 2)])
def test_a_missing_level_is_one_atom_in_each_combination(factors, levels):
    certificate = supports.missing(Product(**{f"f{i}": levels for i in range(factors)})).certificate()
    assert certificate.atom_divergence == pytest.approx(1 / factors)
    assert certificate.compound_divergence == pytest.approx(2 / factors)  # pairs with the last factor


@few
@given(st.data())
def test_a_weight_is_a_repetition(data):
    space = Product(a=3, b=2, c=3)
    rows = space.enumerate()
    chosen = np.array(data.draw(st.lists(st.booleans(), min_size=18, max_size=18).filter(lambda m: 0 < sum(m) < 18)))
    times = np.array(data.draw(st.lists(st.integers(1, 4), min_size=18, max_size=18)))
    weighed = divergences(space, rows[chosen], rows[~chosen], (times[chosen], times[~chosen]))
    repeated = divergences(space, *(np.repeat(rows[side], times[side], axis=0) for side in (chosen, ~chosen)))
    scaled = divergences(space, rows[chosen], rows[~chosen], (7.5 * times[chosen], 0.1 * times[~chosen]))
    for other in (repeated, scaled):
        assert other.atoms == pytest.approx(weighed.atoms, abs=1e-12)
        assert other.compounds == pytest.approx(weighed.compounds, abs=1e-12)


@few
@given(st.lists(st.booleans(), min_size=25, max_size=25).filter(lambda m: 0 < sum(m) < 25))
def test_divergences_against_a_plain_count(mask):
    space = Subsets(modules=5, at_most=3)
    rows, mask = space.enumerate(), np.array(mask)

    def plain(strength: int, exponent: float) -> float | None:
        sides = []
        for side in (mask, ~mask):
            sets = [tuple(i for i in row if i >= 0) for row in rows[side].tolist()]
            counted: dict[tuple[int, ...], float] = {}
            for own in sets:
                for one in itertools.combinations(own, strength):
                    counted[one] = counted.get(one, 0) + 1
            sides.append({one: n / sum(counted.values()) for one, n in counted.items()})
        p, q = sides
        return 1 - sum(p[k] ** exponent * q[k] ** (1 - exponent) for k in p.keys() & q.keys()) if p and q else None

    found = divergences(space, rows[mask], rows[~mask])
    for value, wanted in ((found.atoms, plain(1, 0.5)), (found.compounds, plain(2, 0.1))):
        assert (value is None) == (wanted is None)
        assert value is None or value == pytest.approx(wanted, abs=1e-12)


def test_a_side_without_pairs_has_no_compound_divergence():
    space = Subsets(modules=3, at_most=2)
    certificate = supports.from_combinations(space, [[0, 1], [1, 2]], [[0, -1], [1, -1], [2, -1]]).certificate()
    assert certificate.compound_divergence is None and certificate.atom_divergence is not None
    assert certificate.to_json()["compound_divergence"] is None and "no combination of two elements" in str(certificate)


def test_what_follows_a_rule_says_that_no_divergence_was_computed():
    certificate = supports.implicit(Product(**{name: 100 for name in "abcdef"}), held_out=0.5).certificate()
    assert certificate.atom_divergence is None and "the sides follow a rule" in str(certificate)


# -- the search -------------------------------------------------------------------------------------------------------
SMALL = [
    (Product(a=2, b=3, c=2), 6),
    (Product(a=3, b=3, c=2), 4),
    (Subsets(5, 3), 6),
    (Product(**dict.fromkeys("abcd", 2)), 4),
]


def best_of_all(space, wanted: int, bound: float) -> float:
    """The largest compound divergence of any split within the bound, by going through all of them."""
    rows = space.enumerate()
    best = -1.0
    for chosen in itertools.combinations(range(len(rows)), wanted):
        held = np.zeros(len(rows), bool)
        held[list(chosen)] = True
        if set(space.elements(rows[~held])[space.elements(rows[~held]) >= 0]) != set(range(len(space.element_names))):
            continue
        found = divergences(space, rows[~held], rows[held])
        if found.atoms <= bound + 1e-9 and found.compounds is not None:
            best = max(best, found.compounds)
    return best


@pytest.mark.parametrize("space, wanted", SMALL, ids=str)
def test_no_split_of_a_small_space_is_better(space, wanted):
    best = best_of_all(space, wanted, 0.05)
    certificate = supports.divergence(space, held_out=(wanted + 0.01) / space.size, atoms=0.05).certificate()
    assert certificate.held_out == wanted and certificate.compositional
    assert certificate.atom_divergence <= 0.05 + 1e-9
    assert certificate.compound_divergence == pytest.approx(best)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_large_space_is_split_at_least_as_well_as_by_a_latin_square(seed):
    space = Product(a=4, b=4, c=4)  # holding out one latin square of (a, b) gives 1/3 at an atom divergence of 0
    certificate = supports.divergence(space, held_out=0.25, seed=seed).certificate()
    assert certificate.held_out == 16 and certificate.atom_divergence <= 0.02
    assert certificate.compound_divergence >= 1 / 3 - 1e-9
    plain = supports.random(space, held_out=0.25, seed=seed).certificate()
    assert plain.compound_divergence < certificate.compound_divergence / 2


def test_weights_decide_what_the_bound_is_about():
    space = Product(a=3, b=3, c=2)
    rng = np.random.default_rng(0)
    weights = rng.integers(1, 50, space.size)
    support = supports.divergence(space, held_out=0.3, atoms=0.05, weights=weights)
    train, held_out = support.train.ranks, support.held_out.ranks
    found = divergences(space, space.unrank(train), space.unrank(held_out), (weights[train], weights[held_out]))
    certificate = support.certificate()
    assert found.atoms <= 0.05 + 1e-9
    assert (certificate.atom_divergence, certificate.compound_divergence) == (found.atoms, found.compounds)


def test_units_stay_together():
    space = Product(a=4, b=4, c=2)
    rows = space.enumerate()
    units = np.arange(len(rows)) // 2 % 12
    held = most_divergent(space, rows, 8, atoms=0.2, units=units)
    for unit in range(12):
        assert len(set(held[units == unit].tolist())) == 1
    assert abs(int(held.sum()) - 8) <= np.bincount(units).max()


def test_a_bound_that_cannot_be_kept_is_refused_with_one_that_can():
    space = Product(a=2, b=3, c=2)
    with pytest.raises(UserError) as refusal:
        supports.divergence(space, held_out=0.2)
    near = float(re.search(r"atoms=([\d.]+)", str(refusal.value))[1])  # type: ignore[index]
    assert 0.02 < near < 1
    assert supports.divergence(space, held_out=0.2, atoms=near).certificate().atom_divergence <= near


@pytest.mark.parametrize("atoms", [0, -1, 1.5, math.nan, "x", True])
def test_a_bound_that_is_no_share_is_refused(atoms):
    with pytest.raises(UserError, match="atoms"):
        supports.divergence(Product(a=3, b=3), atoms=atoms)


@pytest.mark.parametrize("held_out, near", [(0, "0.1"), (0.01, "0.1"), (1, "0.9"), (1.5, "0.9")])
@pytest.mark.parametrize("design", ["divergence", "pairs"])
def test_a_share_of_nothing_or_all_is_refused_with_a_near_one(design, held_out, near):
    space = Product(a=3, b=3)
    with pytest.raises(UserError) as refusal:
        supports.registry[design](space, held_out=held_out)
    found = re.search(r"held_out=([\d.]+)$", str(refusal.value))[1]  # type: ignore[index]
    assert found.startswith(near) and 1 <= int(space.size * float(found)) < space.size


def test_a_list_is_split_too():
    product = Product(a=5, b=5, c=3)
    space = Partial(product, product.unrank(np.random.default_rng(1).permutation(75)[:60]))
    check_support(supports.divergence(space, held_out=0.2, atoms=0.05))


def test_without_pairs_there_is_nothing_to_make_divergent():
    with pytest.raises(UserError, match="no combination of two"):
        supports.divergence(Subsets(5, 1))


def test_splits_of_one_size_differ_in_their_divergence_by_what_the_search_chose():
    space = scan_commands(sentences=1)
    found = [supports.divergence(space, held_out=0.2, chosen=share) for share in (0.0, 0.5, 1.0)]
    assert {(one.train.size, one.held_out.size) for one in found} == {(82, 20)}
    low, middle, high = (one.certificate().compound_divergence for one in found)
    assert max(low, middle) < high / 2
    searched, half = (set(map(tuple, one.held_out.combinations().tolist())) for one in (found[2], found[1]))
    assert 10 <= len(searched & half) < 20
    with pytest.raises(UserError, match="chosen=1.5"):
        supports.divergence(space, chosen=1.5)
