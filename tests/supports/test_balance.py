"""Balancing gives the splits that a search over the whole space would, and looks at one side only."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recombine.spaces import Product, Subsets
from recombine.supports import balanced
from recombine.supports.balance import balance, usage_of_all
from recombine.supports.certificate import components, element_usage
from recombine.supports.ranks import as_text, distinct_ranks, in_both

SPACES = [
    Subsets(6, 2),
    Subsets(8, 3),
    Subsets(5, 5),
    Subsets(20, 4),
    Product(a=4, b=4),
    Product(a=3, b=5, c=2),
    Product(a=7),
]


def exchange_over_all(space, rows, in_train, a, b, d, rng):
    """What `_exchange` does, from its definition: every training combination and its partner."""
    has_a, has_b = ((space.elements(rows) == element).any(1) for element in (a, b))
    out = np.flatnonzero(in_train & has_a & ~has_b)
    into = space.rank(space.replace(rows[out], a, b)).astype(np.int64)
    chosen = rng.permutation(np.flatnonzero(~in_train[into]))[:d]
    in_train[out[chosen]], in_train[into[chosen]] = False, True
    return len(chosen)


def transferred_over_all(space, train, rng):
    """Training flags after all transfers of usage, by scans of the whole space."""
    rows, in_train = space.enumerate(), np.zeros(space.size, bool)
    in_train[train] = True
    for members in space.classes:
        usage = element_usage(space, rows[in_train])[list(members)]
        goal = np.full(len(members), usage.sum() // len(members))
        goal[np.argsort(-usage, kind="stable")[: usage.sum() % len(members)]] += 1
        surplus = usage - goal
        for a in np.argsort(-surplus, kind="stable"):
            for b in np.argsort(surplus, kind="stable"):
                d = min(int(surplus[a]), int(-surplus[b]))
                if d <= 0:
                    break
                moved = exchange_over_all(space, rows, in_train, members[a], members[b], d, rng)
                surplus[a], surplus[b] = surplus[a] - moved, surplus[b] + moved
    return in_train


@pytest.mark.parametrize("space", SPACES, ids=str)
@pytest.mark.parametrize("share", [0.2, 0.5, 0.8])
@pytest.mark.parametrize("seed", range(3))
def test_transfers_are_those_of_a_search_over_all_combinations(space, share, seed, monkeypatch):
    monkeypatch.setattr("recombine.supports.balance._polish", lambda *given: None)
    train = np.random.default_rng(seed).permutation(space.size)[: max(1, int(space.size * share))]
    found, _ = balance(space, train, np.random.default_rng(seed))
    expected = transferred_over_all(space, train, np.random.default_rng(seed))
    assert found.tolist() == np.flatnonzero(expected).tolist()


@pytest.mark.parametrize("space", SPACES, ids=str)
@pytest.mark.parametrize("share", [0.3, 0.7])
def test_the_spread_is_that_of_the_usage_that_is_counted(space, share):
    train = np.random.default_rng(1).permutation(space.size)[: max(1, int(space.size * share))]
    ranks, left = balance(space, train, np.random.default_rng(1))
    usage = element_usage(space, space.unrank(ranks))
    assert len(ranks) == len(train)
    assert left == max(np.ptp(usage[list(members)]) for members in space.classes)


@pytest.mark.parametrize("space", SPACES, ids=str)
def test_the_usage_of_the_whole_space_is_known_without_listing_it(space):
    assert usage_of_all(space).tolist() == element_usage(space, space.enumerate()).tolist()


def test_a_large_split_is_made_without_listing_the_space(monkeypatch):
    space = Subsets(modules=20, at_most=5)
    looked_at = []
    unrank, rank = Subsets.unrank, Subsets.rank
    monkeypatch.setattr(Subsets, "unrank", lambda self, ranks: looked_at.append(len(ranks)) or unrank(self, ranks))
    monkeypatch.setattr(Subsets, "rank", lambda self, rows: looked_at.append(len(rows)) or rank(self, rows))
    split = balanced(space, held_out=0.25)
    made = sum(looked_at)
    # the held-out side once, a few combinations to judge it by, and for each of some 20 transfers the part of the
    # held-out side that has one element and lacks another: a scan of the space for each would be 20 times its size
    assert made < 2 * space.size
    looked_at.clear()
    split.certificate()
    assert sum(looked_at) == space.size  # each side once


def test_components_are_read_no_further_than_to_the_last_join(monkeypatch):
    monkeypatch.setattr("recombine.supports.certificate._BLOCK", 64)
    space, read = Subsets(8, 3), []
    sets = Subsets.element_sets
    monkeypatch.setattr(Subsets, "element_sets", lambda self, rows: read.append(len(rows)) or sets(self, rows))
    rows = space.enumerate()
    assert components(space, rows) == [list(range(8))]
    assert sum(read) <= 64 < len(rows)
    read.clear()
    apart = rows[(sets(space, rows) < 4).all(1)]  # the upper half never occurs: all must be read to know
    assert components(space, apart) == [[0, 1, 2, 3]]
    assert sum(read) == len(apart)


# -- ranks ------------------------------------------------------------------------------------------------------------
LARGE = Product(a=201, b=300, c=300)  # too large for flags
rank_lists = st.lists(st.integers(0, 200), min_size=1, max_size=60)


@settings(max_examples=60)
@given(rank_lists, rank_lists)
def test_ranks_once_and_in_both(first, second):
    space = Product(a=201)
    one, _ = distinct_ranks(space, np.array(first))
    other, _ = distinct_ranks(space, np.array(second))
    assert one.tolist() == sorted(set(first))
    assert in_both(one, other).tolist() == sorted(set(first) & set(second))


@settings(max_examples=60)
@given(st.lists(st.tuples(st.integers(0, 200), st.floats(0.1, 9)), min_size=1, max_size=40))
def test_weights_of_a_rank_add_up_alike_with_flags_and_by_sorting(pairs):
    ranks, weights = np.array([rank for rank, _ in pairs]), np.array([weight for _, weight in pairs])
    for ours, theirs in zip(
        distinct_ranks(Product(a=201), ranks, weights), distinct_ranks(LARGE, ranks, weights), strict=True
    ):
        assert ours.tolist() == theirs.tolist()


@settings(max_examples=60)
@given(st.lists(st.integers(0, 10**12), max_size=60, unique=True))
def test_ranks_as_text_are_decimal_with_commas(ranks):
    ranks = sorted(ranks)
    expected = ",".join(map(str, ranks)).encode()
    assert as_text(np.array(ranks, np.int64)) == expected
    assert as_text(np.array(ranks, object)) == expected
