"""Designs against the published counts, and certificates against brute force."""

from __future__ import annotations

import itertools
import json
import math
import time

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from recombine import Product, Space, Subsets, UserError, supports

PUBLISHED = Subsets(16, 3)  # 696 combinations, of which .25 is held out
SMALL = Subsets(8, 3)  # 92
FACTORS = Product(color=4, shape=4, size=3)  # 48

small = settings(deadline=None, max_examples=40)


@st.composite
def some_rows(draw) -> tuple[Space, list[int]]:
    """A small space and ranks of some of its combinations."""
    m = draw(st.integers(2, 6))
    levels = draw(st.lists(st.integers(1, 3), min_size=1, max_size=3))
    subsets, product = Subsets(m, draw(st.integers(1, m))), Product(**{f"f{i}": n for i, n in enumerate(levels)})
    space = draw(st.sampled_from([subsets, product]))
    assume(space.size > 1)
    few = st.lists(st.integers(0, space.size - 1), min_size=1, max_size=min(space.size - 1, 8), unique=True)
    return space, draw(few)


def split_of(space: Space, ranks) -> supports.Support:
    return supports.from_combinations(space, space.unrank(ranks))


def sets_of(space: Space, rows: np.ndarray) -> list[frozenset[int]]:
    return [frozenset(i for i in row if i >= 0) for row in space.elements(rows).tolist()]


def spread(support: supports.Support) -> int:
    """The largest difference of usage within a class, counted again."""
    usage = support.space.multihot(support.train.combinations()).sum(0)
    return max(int(np.ptp(usage[list(members)])) for members in support.space.classes)


# -- the published counts (notes 4.6) -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "design, train, held_out",
    [
        ("random", 522, 174),
        ("balanced", 522, 174),
        ("popular", 522, 174),
        ("unpopular", 522, 174),
        ("missing", 575, 121),
        ("disconnected", 184, 512),
    ],
)
@pytest.mark.parametrize("seed", [0, 1])
def test_counts_at_16_modules_3_active(design, train, held_out, seed):
    support = supports.registry[design](PUBLISHED, seed=seed)
    certificate = support.certificate()
    assert (certificate.train, certificate.held_out) == (train, held_out)
    assert (support.train.size, support.held_out.size) == (train, held_out)
    assert certificate.disjoint and certificate.exact
    assert certificate.compositional is (design != "missing")
    assert certificate.connected is (design != "disconnected")


def test_balanced_uses_every_module_equally_often():
    assert spread(supports.balanced(PUBLISHED)) <= 1


def test_missing_holds_out_exactly_what_contains_the_last_module():
    support = supports.missing(PUBLISHED)
    assert not (support.train.combinations() == 15).any()
    assert (support.held_out.combinations() == 15).any(1).all()
    assert support.certificate().untrained == ("m15",)


def test_missing_takes_elements_by_id_by_name_and_by_factor_and_level():
    space = Product(color=["red", "green", "blue"], shape=2)
    for elements in ([1], ["color=green"], [("color", "green")]):
        support = supports.missing(space, elements=elements)
        assert support.certificate().untrained == ("color=green",) and support.train.size == 4
    two = supports.missing(space, elements=["color=green", "shape=1"])
    assert two.certificate().untrained == ("color=green", "shape=1") and two.train.size == 2


def test_popular_trains_everything_with_one_of_six_modules_and_one_more():
    support = supports.popular(PUBLISHED)
    has = [bool(chosen & set(range(6))) for chosen in sets_of(PUBLISHED, support.train.combinations())]
    assert sum(has) == 521
    assert all(6 in c for c, popular in zip(sets_of(PUBLISHED, support.train.combinations()), has) if not popular)
    assert not any(chosen & set(range(6)) for chosen in sets_of(PUBLISHED, support.held_out.combinations()))


def test_unpopular_trains_the_core_of_14_and_the_last_module_in_a_single_task():
    support = supports.unpopular(PUBLISHED)
    trained = sets_of(PUBLISHED, support.train.combinations())
    assert sum(chosen <= set(range(14)) for chosen in trained) == 469
    assert [chosen for chosen in trained if 15 in chosen] == [{0, 15}]
    assert sum(14 in chosen for chosen in trained) == 52


def held_out_of(space: Subsets, share: float) -> dict[str, int]:
    """How many combinations each design holds out, as published: which number is rounded down depends on the design."""
    size = sum(math.comb(space.modules, k) for k in range(1, space.at_most + 1))
    rounded = dict.fromkeys(("random", "balanced"), int(size * share))
    return rounded | dict.fromkeys(("popular", "unpopular"), size - int(size * (1 - share)))


@pytest.mark.parametrize("modules, at_most", [(8, 2), (8, 3), (10, 3), (10, 4), (12, 3), (16, 3)])
@pytest.mark.parametrize("share", [0.125, 0.25, 0.5, 0.6])
def test_held_out_combinations_are_counted_as_published(modules, at_most, share):
    space = Subsets(modules, at_most)
    wanted = held_out_of(space, share)
    found = {design: supports.registry[design](space, held_out=share).held_out.size for design in wanted}
    assert found == wanted


@pytest.mark.parametrize("seed", range(3))
def test_popular_draws_from_one_module_where_not_all_of_its_combinations_fit(seed):
    """385 combinations of 10 modules, 130 of them with the first, and 38 to train: published, so not refused."""
    space = Subsets(10, 4)
    support = supports.popular(space, held_out=0.9, seed=seed)
    trained = sets_of(space, support.train.combinations())
    assert len(trained) == int(385 * (1 - 0.9)) == 38 and all(0 in chosen for chosen in trained)
    certificate = support.certificate()
    assert certificate.compositional and certificate.connected and support.settings["popular"] == ["m0"]


def test_popular_refuses_what_one_module_cannot_connect():
    """Two combinations of at most four modules never use all of 10."""
    with pytest.raises(UserError, match="nearest found is held_out=") as refusal:
        supports.popular(Subsets(10, 4), held_out=1 - 2.5 / 385)
    assert "leaves 2 to train on" in str(refusal.value)


@pytest.mark.parametrize("blocks", [None, (1, 15), (4, 4, 8), (2, 14)], ids=str)
@pytest.mark.parametrize("within", [0.0, 0.2])
def test_disconnected_trains_inside_blocks_only(blocks, within):
    sizes = blocks or (8, 8)
    support = supports.disconnected(PUBLISHED, blocks=blocks, within=within)
    block_of = np.repeat(np.arange(len(sizes)), sizes)

    def crosses(rows: np.ndarray) -> np.ndarray:
        return np.array([len({block_of[i] for i in chosen}) > 1 for chosen in sets_of(PUBLISHED, rows)])

    inside = [sum(math.comb(size, k) for k in (1, 2, 3)) for size in sizes]
    assert support.train.size == sum(n - int(n * within) for n in inside)
    assert not crosses(support.train.combinations()).any()
    assert crosses(support.held_out.combinations()).sum() == 696 - sum(inside)
    certificate = support.certificate()
    names = iter(PUBLISHED.element_names)
    assert certificate.components == tuple(tuple(itertools.islice(names, size)) for size in sizes)
    assert certificate.compositional and not certificate.connected
    if not within:
        assert certificate.groups["cross-block"] == certificate.held_out and "within-block" not in certificate.groups


def test_disconnected_cuts_every_factor_of_a_product_in_two():
    support = supports.disconnected(FACTORS)
    assert support.train.size == 2 * 2 * 1 + 2 * 2 * 2
    low = support.train.combinations() >= np.array([2, 2, 1])
    assert (low.all(1) | ~low.any(1)).all()
    assert len(support.certificate().components) == 2 and support.certificate().compositional


# -- the certificate against brute force --------------------------------------------------------------------------


def connected_combinations(chosen: list[frozenset[int]]) -> bool:
    """The definition of notes 1.5: combinations are vertices, a shared element is an edge; breadth-first search."""
    reached, frontier = {0}, [0]
    while frontier:
        at = frontier.pop()
        new = {i for i in range(len(chosen)) if i not in reached and chosen[i] & chosen[at]}
        reached |= new
        frontier += new
    return len(reached) == len(chosen)


@settings(deadline=None, max_examples=80)
@given(some_rows())
def test_connected_is_what_a_search_over_combinations_finds(case):
    space, ranks = case
    certificate = split_of(space, ranks).certificate()
    assert certificate.connected == connected_combinations(sets_of(space, space.unrank(ranks)))
    assert len(certificate.components) == 1 or not certificate.connected


@settings(deadline=None, max_examples=80)
@given(some_rows())
def test_boolean_powers_of_the_cooccurrence_matrix_agree(case):
    space, ranks = case
    support = split_of(space, ranks)
    hot = space.multihot(space.unrank(ranks)).astype(int)
    counts = supports.cooccurrence(space, support.train.combinations())
    assert (counts == hot.T @ hot).all()
    reach = hot.T @ hot > 0
    for _ in range(math.ceil(math.log2(max(len(reach), 2)))):
        reach = reach.astype(int) @ reach.astype(int) > 0
    certificate = support.certificate()
    assert bool(reach.all()) == (certificate.compositional and certificate.connected)


@small
@given(some_rows())
def test_usage_and_coverage_against_brute_force(case):
    space, ranks = case
    certificate = split_of(space, ranks).certificate()
    chosen = sets_of(space, space.unrank(ranks))
    everything = sets_of(space, space.enumerate())
    for i, name in enumerate(space.element_names):
        assert certificate.usage[name] == sum(i in c for c in chosen)
    assert certificate.untrained == tuple(name for name, used in certificate.usage.items() if not used)
    assert certificate.compositional == (not certificate.untrained)
    assert [c.strength for c in certificate.coverage] == list(range(1, min(space.width, 3) + 1))
    for coverage in certificate.coverage:
        tuples = [
            {t for c in sets for t in itertools.combinations(sorted(c), coverage.strength)}
            for sets in (chosen, everything)
        ]
        assert (coverage.seen, coverage.possible) == tuple(map(len, tuples))
        assert coverage.share == coverage.seen / coverage.possible


@small
@given(some_rows())
def test_the_certificate_is_json_and_counts_both_sides(case):
    space, ranks = case
    support = split_of(space, ranks)
    certificate = support.certificate()
    again = json.loads(json.dumps(certificate.to_json(), allow_nan=False))
    assert (again["train"], again["held_out"]) == (len(ranks), space.size - len(ranks))
    assert again["disjoint"] and again["exact"] and again["usage"] == certificate.usage
    assert str(space.size) in str(certificate)


@small
@given(some_rows(), st.randoms(use_true_random=False))
def test_the_content_hash_says_what_the_split_is(case, random):
    space, ranks = case
    content = split_of(space, ranks).certificate().content
    shuffled = random.sample(ranks, len(ranks))
    rest = [r for r in range(space.size) if r not in ranks]
    same = supports.from_combinations(space, space.unrank(shuffled), space.unrank(rest))
    assert same.certificate().content == content
    if len(rest) > 1:  # one combination less held out, or moved to training, is another split
        fewer = supports.from_combinations(space, space.unrank(ranks), space.unrank(rest[1:]))
        moved = split_of(space, [*ranks, rest[0]])
        assert len({content, fewer.certificate().content, moved.certificate().content}) == 3


def test_the_content_hash_depends_on_the_space():
    assert split_of(Subsets(3, 1), [0]).certificate().content != split_of(Product(a=3), [0]).certificate().content


# -- balanced -----------------------------------------------------------------------------------------------------


def test_balancing_100_000_combinations_takes_seconds():
    begun = time.process_time()
    support = supports.balanced(Subsets(24, 6), held_out=0.45)
    seconds = time.process_time() - begun
    assert support.train.size == 190_050 - int(0.45 * 190_050) > 100_000
    assert spread(support) <= 1
    assert seconds < 5, seconds


@settings(deadline=None, max_examples=100)
@given(
    st.one_of(
        st.tuples(st.integers(3, 8), st.integers(2, 4)).filter(lambda mk: mk[1] <= mk[0]).map(lambda mk: Subsets(*mk)),
        st.lists(st.integers(2, 4), min_size=2, max_size=3).map(lambda n: Product(**dict(zip("abc", n)))),
    ),
    st.floats(0.02, 0.98),
    st.integers(0, 1000),
)
def test_balanced_is_balanced_whatever_is_held_out(space, held_out, seed):
    """An almost regular family exists for every number of combinations, so balance alone is never impossible."""
    assume(1 <= int(space.size * held_out) < space.size)
    support = supports.balanced(space, held_out=held_out, seed=seed, compositional=False, connected=False)
    assert support.held_out.size == int(space.size * held_out)
    assert spread(support) <= 1


@settings(deadline=None, max_examples=30)
@given(st.sampled_from([SMALL, FACTORS]), st.floats(0.05, 0.7), st.integers(0, 1000))
@pytest.mark.parametrize("design", ["random", "balanced"])
def test_random_designs_are_compositional_and_connected(design, space, held_out, seed):
    certificate = supports.registry[design](space, held_out=held_out, seed=seed).certificate()
    assert certificate.compositional and certificate.connected and certificate.disjoint
    assert certificate.held_out == int(space.size * held_out)


def test_random_can_be_told_not_to_insist():
    few = supports.random(PUBLISHED, held_out=0.996, compositional=False, connected=False).certificate()
    assert few.train == 3 and not few.compositional
