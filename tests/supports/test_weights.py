"""Training combinations drawn by weight: frequencies on host and device, what is kept, and what is refused."""

from __future__ import annotations

import math

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from recombine import Listed, Product, Subsets, UserError, supports
from recombine.supports.groups import Has
from recombine.supports.sides import ListedSide, TableSampler
from recombine.supports.weights import WeightedSampler, starts_of
from recombine.testing import check_support

SPACE = Subsets(6, 3)  # 41 combinations
N = 20_000
draw = eqx.filter_jit(lambda sampler, key: sampler(key, N))


def counts_of(support, how: str, seed: int = 0) -> np.ndarray:
    """How often each training combination was drawn."""
    side = support.train
    rows = side.sample(seed, N) if how == "host" else np.asarray(draw(side.sampler(), jax.random.key(seed)))
    assert rows.dtype == support.space.dtype and side.contains(rows).all()
    counts = np.bincount(support.space.rank(rows), minlength=support.space.size)
    return counts[support.space.rank(side.combinations())]


@settings(deadline=None, max_examples=25, derandomize=True)
@given(st.lists(st.integers(1, 40), min_size=1, max_size=30), st.permutations(range(41)), st.floats(1e-3, 1e3))
def test_frequencies_are_the_weights_on_host_and_device(weights, ranks, factor):
    rows = SPACE.unrank(ranks[: len(weights)])
    support = supports.from_combinations(SPACE, rows, weights=np.array(weights) * factor)
    expected = np.array(weights, float)[np.argsort(SPACE.rank(rows))]
    np.testing.assert_allclose(support.train.weights, expected * factor)
    for how in ("host", "device"):
        counts = counts_of(support, how)
        assert counts.sum() == N
        if len(weights) > 1:
            # the same 25 examples each time: a right sampler fails here with probability 50 x 1e-5 once, or never
            assert scipy.stats.chisquare(counts, expected / expected.sum() * N).pvalue > 1e-5, how


@pytest.mark.parametrize("how", ["host", "device"])
def test_planted_weights(how):
    support = supports.from_combinations(SPACE, SPACE.unrank([30, 2, 7]), weights=[1, 3, 6])
    assert SPACE.rank(support.train.combinations()).tolist() == [2, 7, 30]
    np.testing.assert_allclose(counts_of(support, how) / N, [0.3, 0.6, 0.1], atol=0.015)
    alike = supports.from_combinations(SPACE, SPACE.unrank([30, 2, 7]), weights=[5, 5, 5])
    np.testing.assert_allclose(counts_of(alike, how) / N, [1 / 3] * 3, atol=0.015)
    only = supports.from_combinations(SPACE, SPACE.unrank([3]), weights=[0.01])
    assert counts_of(only, how).tolist() == [N]


def test_weights_of_a_row_that_is_given_twice_add_up():
    support = supports.from_combinations(SPACE, SPACE.unrank([9, 2, 9]), weights=[1, 4, 2])
    assert SPACE.rank(support.train.combinations()).tolist() == [2, 9]
    assert support.train.weights.tolist() == [4, 3] and support.train.size == 2


@pytest.mark.parametrize("space", [Product(color=4, shape=3), Listed([[0], [1, 0], [0, 1], [1]], ["a", "b"])], ids=str)
def test_supports_with_weights_pass_the_checks(space):
    check_support(supports.from_combinations(space, space.unrank([0, 2]), weights=[1, 9]))


def test_a_space_beyond_64_bits_has_weights_too():
    space = Product(**{f"f{i}": 10 for i in range(30)})
    rows = space.sample(0, 3)
    support = supports.from_combinations(space, rows, space.sample(1, 3), weights=[1, 2, 97])
    for drawn in (support.train.sample(0, 300), np.asarray(support.train.sampler()(jax.random.key(0), 300))):
        assert (drawn == rows[2]).all(1).mean() > 0.9


# -- the device's numbers -------------------------------------------------------------------------------------------


@settings(deadline=None, max_examples=60)
@given(st.lists(st.floats(1e-12, 1e12), min_size=1, max_size=50), st.integers(0, 9))
def test_every_row_has_numbers_of_its_own_and_all_numbers_have_a_row(weights, more):
    starts = starts_of(np.array(weights), len(weights) + more)
    assert starts.dtype == np.uint32 and starts[0] == 0
    ends = np.append(starts[: len(weights)].astype(np.int64), 2**32)
    shares = np.diff(ends)
    assert (shares >= 1).all(), "a row that is never drawn"
    exact = np.array(weights) / math.fsum(weights)
    # one number each, the floor at both ends, and the rounding of a sum
    assert np.abs(shares / 2**32 - exact).max() <= (len(weights) + 2) / 2**32 + 1e-12
    assert (starts[len(weights) :] == 2**32 - 1).all()


def test_the_first_and_the_last_number_are_those_of_the_first_and_the_last_row(monkeypatch):
    """The last number is where padding starts, and yet the last row's."""
    sampler = supports.from_combinations(SPACE, SPACE.unrank([4, 5, 6]), weights=[1, 1, 1e-9]).train.sampler()
    assert isinstance(sampler, WeightedSampler) and len(sampler.starts) == SPACE.size
    bits = jnp.array([0, int(sampler.starts[1]) - 1, int(sampler.starts[1]), 2**32 - 1], jnp.uint32)
    monkeypatch.setattr(jax.random, "bits", lambda key, shape, dtype: bits)
    assert SPACE.rank(np.asarray(sampler(jax.random.key(0), 4))).tolist() == [4, 4, 5, 6]


def test_supports_of_one_space_share_a_compiled_program():
    compiled = jax.jit(lambda sampler, key: sampler(key, 8))
    for n in (2, 5, 30):
        side = supports.from_combinations(SPACE, SPACE.unrank(range(n)), weights=np.arange(1.0, n + 1)).train
        compiled(side.sampler(), jax.random.key(n))
    assert compiled._cache_size() == 1


def test_without_weights_the_same_combinations_are_drawn_as_ever():
    """Numbers of the sampler before there were weights."""
    side = supports.random(SPACE, seed=3).train
    assert side.weights is None and isinstance(side.sampler(), TableSampler)
    ranks = np.asarray(jax.random.randint(jax.random.key(5), (6,), 0, side.size))
    assert (np.asarray(side.sampler()(jax.random.key(5), 6)) == side.combinations()[ranks]).all()
    chosen = np.random.default_rng(5).choice(SPACE.rank(side.combinations()), size=6)
    assert (side.sample(5, 6) == SPACE.unrank(chosen)).all()


# -- what is kept ---------------------------------------------------------------------------------------------------


def test_a_part_of_a_side_keeps_its_weights():
    support = supports.from_combinations(SPACE, SPACE.unrank([0, 1, 6, 20]), weights=[1, 2, 3, 4])
    with_first = support.train.where(Has(SPACE, (1,)))
    kept = SPACE.rank(with_first.combinations()).tolist()
    assert 0 < len(kept) < 4
    assert with_first.weights.tolist() == [dict(zip([0, 1, 6, 20], [1, 2, 3, 4], strict=True))[r] for r in kept]
    plain = supports.from_combinations(SPACE, SPACE.unrank([0, 1, 6, 20]))
    assert plain.train.where(Has(SPACE, (1,))).weights is None


def test_weights_follow_their_ranks_into_order():
    side = ListedSide(SPACE, np.array([9, 2, 5]), np.array([9.0, 2.0, 5.0]))
    assert side.weights is not None and side.weights.tolist() == side.ranks.tolist() == [2, 5, 9]


def test_the_certificate_tells_weights_and_its_hash_covers_them():
    rows = SPACE.unrank([0, 1, 6])

    def certificate(weights):
        return supports.from_combinations(SPACE, rows, weights=weights).certificate()

    plain, light, twice, heavy = (certificate(w) for w in (None, [1, 1, 2], [2, 2, 4], [1, 2, 1]))
    assert plain.weights is None and "weights" not in str(plain)
    assert light.weights == (0.25, 0.5) and "a share of 0.25 to 0.5" in str(light)
    assert len({plain.content, light.content, heavy.content}) == 3 and light.content == twice.content
    # of before there were weights
    assert plain.content == "778f9212078e04b2dfd7122d904cfcc93178386190a7061d6933c8ece6e527bd"


# -- refused --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "weights, said",
    [
        ([1, -2, 1], r"the weight of \{m1\} is -2, negative"),
        ([1, math.nan, 1], r"the weight of \{m1\} is nan, not a finite number"),
        ([math.inf, 1, 1], r"the weight of \{m0\} is inf, not a finite number"),
        ([0, 0, 0], "all 3 weights are 0, so nothing would be trained"),
        ([1, 1, 0], r"the weight of \{m0, m1\} is 0, so it is not trained; leave it out"),
        ([1, 1], r"weights of shape \(2,\) do not cover the training side of 3 rows; give one per row"),
        ([[1, 1, 1]], r"do not cover the training side"),
        (2.0, r"do not cover the training side"),
        (["a", "b", "c"], "are not numbers"),
        ([1e308, 1e308, 1], r"the weight of \{m0\} is 1e\+308, more than can be added up"),
        ([1e-200, 1e200, 1], r"the weight of \{m0\} is 1e-200, nothing beside the largest"),
    ],
)
def test_weights_that_cannot_be_are_refused_in_one_sentence(weights, said):
    with pytest.raises(UserError, match=said) as refused:
        supports.from_combinations(SPACE, SPACE.unrank([0, 1, 6]), weights=weights)
    assert "\n" not in str(refused.value) and ". " not in str(refused.value)
