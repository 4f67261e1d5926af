"""Spaces against itertools where they are small, and against arithmetic where they are not."""

from __future__ import annotations

import itertools
import json
import math
import subprocess
import sys
import textwrap

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from recombine import Product, Subsets, UserError
from recombine.spaces import Space, space_from_json
from recombine.testing import check_space

small = settings(deadline=None, max_examples=40)


@st.composite
def subsets(draw, modules: int = 7) -> Subsets:
    m = draw(st.integers(1, modules))
    return Subsets(m, draw(st.integers(1, m)))


@st.composite
def products(draw, factors: int = 4) -> Product:
    levels = draw(st.lists(st.integers(1, 4), min_size=1, max_size=factors))
    return Product(**{f"f{i}": n for i, n in enumerate(levels)})


spaces = subsets() | products()


def listing(space: Space) -> list[tuple[int, ...]]:
    """All combinations, from itertools alone."""
    if isinstance(space, Product):
        return list(itertools.product(*(range(n) for n in space.levels)))
    chosen = (itertools.combinations(range(space.modules), k) for k in range(1, space.at_most + 1))
    return [c + (-1,) * (space.width - len(c)) for c in itertools.chain.from_iterable(chosen)]


def element_sets(space: Space) -> list[frozenset[int]]:
    """The elements of all combinations, from itertools alone."""
    if isinstance(space, Product):
        first = [sum(space.levels[:i]) for i in range(space.width)]
        return [frozenset(a + b for a, b in zip(first, row, strict=True)) for row in listing(space)]
    return [frozenset(i for i in row if i >= 0) for row in listing(space)]


# -- small spaces against itertools -----------------------------------------------------------------------------


@small
@given(spaces)
def test_size_and_order_are_those_of_itertools(space):
    expected = listing(space)
    assert space.size == len(expected) and type(space.size) is int
    assert [tuple(row) for row in space.enumerate().tolist()] == expected


@small
@given(spaces, st.randoms(use_true_random=False))
def test_rank_and_unrank_are_inverse_in_any_order(space, random):
    expected = listing(space)
    ranks = random.choices(range(space.size), k=20)
    rows = space.unrank(ranks)
    assert [tuple(row) for row in rows.tolist()] == [expected[r] for r in ranks]
    assert space.rank(rows).tolist() == ranks
    assert space.rank(np.array([expected[r] for r in ranks])).tolist() == ranks


@small
@given(spaces, st.integers(0, 2**32 - 1))
def test_contains_is_true_for_the_listed_rows_and_for_no_other(space, seed):
    rng = np.random.default_rng(seed)
    top = max((getattr(space, "modules", 0), *space.levels))
    listed = listing(space)
    near = np.array(listed)  # combinations with one entry changed
    near[np.arange(len(near)), rng.integers(0, space.width, len(near))] = rng.integers(-2, top + 2, len(near))
    anything = rng.integers(-2, top + 2, (300, space.width))
    rows, inside = np.concatenate([listed, near, anything]), set(listed)
    assert space.contains(rows).tolist() == [tuple(row) in inside for row in rows.tolist()]


@pytest.mark.parametrize("space", [Subsets(5, 3), Product(a=4, b=2, c=3)], ids=str)
def test_rows_of_another_width_or_kind_are_not_contained(space):
    for columns in (1, space.width - 1, space.width + 1):
        assert not space.contains(np.zeros((4, columns), int)).any()
    halves = np.array([[0.5, 1.0, 1.5]])
    assert not space.contains(halves).any(), "a row of fractions is no combination"


@settings(deadline=None, max_examples=8)  # every shape is compiled
@given(spaces)
def test_multihot_marks_the_elements(space):
    expected = np.zeros((space.size, len(space.element_names)), bool)
    for row, chosen in zip(expected, element_sets(space), strict=True):
        row[list(chosen)] = True
    rows = space.enumerate()
    assert (space.multihot(rows) == expected).all()
    assert (np.asarray(space.multihot(jnp.asarray(rows))) == expected).all()


@small
@given(spaces, st.integers(0, 5))
def test_possible_tuples_against_brute_force(space, strength):
    sets = {t for chosen in element_sets(space) for t in itertools.combinations(sorted(chosen), strength)}
    assert space.possible_tuples(strength) == len(sets)


@small
@given(spaces, st.data())
def test_replace_exchanges_one_element_and_keeps_the_others(space, data):
    members = data.draw(st.sampled_from([c for c in space.classes if len(c) > 1] or [None]))
    if members is None:
        return  # nothing can be exchanged where every class has one element
    old, new = data.draw(st.permutations(members))[:2]
    sets = element_sets(space)
    before = [i for i, chosen in enumerate(sets) if old in chosen and new not in chosen]
    rows = space.enumerate()[before]
    kept = rows.copy()
    replaced = space.replace(rows, old, new)
    assert (rows == kept).all(), "replace changed its argument"
    assert space.contains(replaced).all()
    assert [sets[r] for r in space.rank(replaced)] == [sets[i] - {old} | {new} for i in before]
    assert (space.replace(replaced, new, old) == rows).all()


# -- sampling ---------------------------------------------------------------------------------------------------

SAMPLED = [Subsets(6, 3), Subsets(5, 5), Subsets(4, 1), Product(color=4, shape=3, size=2), Product(only=7)]


@pytest.mark.parametrize("how", ["sample", "draw"])
@pytest.mark.parametrize("space", SAMPLED, ids=str)
def test_sampling_covers_the_space_uniformly(space, how):
    n = 400 * space.size
    rows = space.sample(7, n) if how == "sample" else np.asarray(space.draw(jax.random.key(7), n))
    assert rows.shape == (n, space.width) and rows.dtype == space.dtype
    counts = np.bincount(space.rank(rows), minlength=space.size)
    assert (counts > 0).all()
    # with 10 fixed seeds, a right sampler fails here with probability 10 x 1e-4 once and then never
    assert scipy.stats.chisquare(counts).pvalue > 1e-4


@small
@given(spaces, st.integers(0, 2**31))
def test_sampling_is_a_function_of_its_key(space, seed):
    assert (space.sample(seed, 30) == space.sample(seed, 30)).all()
    key = jax.random.key(seed)
    assert (space.sample(key, 30) == space.sample(key, 30)).all()
    assert space.contains(space.sample(key, 30)).all()


def test_other_keys_give_other_samples():
    space = Subsets(16, 3)
    assert (space.sample(0, 50) != space.sample(1, 50)).any()
    assert (space.sample(jax.random.key(0), 50) != space.sample(jax.random.key(1), 50)).any()
    assert (space.draw(jax.random.key(0), 50) != space.draw(jax.random.key(1), 50)).any()


def test_sampling_in_chunks_is_uniform_over_modules():
    """More rows than one chunk holds; every module equally often (Subsets(300, 2): chunks of about 14,000)."""
    space = Subsets(300, 2)
    rows = space.sample(3, 60_000)
    usage = np.bincount(rows[rows >= 0].astype(int), minlength=300)
    # counts of modules within a row exclude each other a little, which only makes chi-square smaller
    assert scipy.stats.chisquare(usage).pvalue > 1e-4


# -- elements and names -----------------------------------------------------------------------------------------


@small
@given(spaces)
def test_element_ids_names_and_classes_agree(space):
    names = space.element_names
    assert len(set(names)) == len(names)
    assert [space.element_id(name) for name in names] == list(range(len(names)))
    assert [space.element_id(i) for i in range(len(names))] == list(range(len(names)))
    assert sorted(i for members in space.classes for i in members) == list(range(len(names)))
    for row, chosen in zip(space.enumerate(), element_sets(space), strict=True):
        assert space.describe(row) == "{" + ", ".join(names[i] for i in sorted(chosen)) + "}"


def test_names_of_elements():
    space = Product(color=["red", "green"], size=3)
    assert Subsets(3, 2).element_names == ("m0", "m1", "m2")
    assert space.element_names == ("color=red", "color=green", "size=0", "size=1", "size=2")
    assert space.element_id(("color", "green")) == 1 and space.element_id(("size", 2)) == 4
    assert space.classes == ((0, 1), (2, 3, 4))


def test_levels_that_read_alike_get_different_names_or_are_refused():
    """1 and "1" would both be called color=1, and JSON could not tell the spaces apart."""
    try:
        space = Product(color=[1, "1"])
    except UserError as error:
        assert "1" in str(error)
    else:
        assert len(set(space.element_names)) == 2


@small
@given(spaces)
def test_spaces_are_equal_by_what_they_are(space):
    again = space_from_json(json.loads(json.dumps(space.to_json())))
    assert again == space and hash(again) == hash(space)
    assert space != Subsets(9, 2) and space != Product(other=2)


def test_from_sets():
    space = Subsets(6, 3)
    assert space.from_sets([{3, 0}, [5], (4, 2, 2)]).tolist() == [[0, 3, -1], [5, -1, -1], [2, 4, -1]]
    for bad, named in (({0, 1, 2, 3}, "at_most=3"), ({6}, "6"), ({-1}, "-1"), (set(), "-1"), ({40_000}, "40000")):
        with pytest.raises(UserError, match=named):
            space.from_sets([bad])


# -- large spaces -----------------------------------------------------------------------------------------------

LARGE = {
    "subsets": Subsets(200, 12),
    "product": Product(**{f"f{i}": 10 for i in range(30)}),
    # sizes around the ends of int64 and uint64, where arrays of numbers could turn into floats
    "below int64": Subsets(62, 62),
    "above int64": Subsets(64, 64),
    "far above": Subsets(130, 65),
}


@pytest.mark.parametrize("name", LARGE)
def test_large_spaces_pass_the_checks_that_small_ones_do(name):
    check_space(LARGE[name])


def test_sizes_of_large_spaces_are_exact():
    assert LARGE["subsets"].size == sum(math.comb(200, k) for k in range(1, 13))
    assert LARGE["product"].size == 10**30
    assert LARGE["above int64"].size == 2**64 - 1


@pytest.mark.parametrize("name", LARGE)
def test_ranks_of_large_spaces_are_exact_at_the_borders(name):
    space = LARGE[name]
    ranks = [0, 1, 2**53 + 1, space.size // 3, space.size - 2, space.size - 1]
    rows = space.unrank(ranks)
    assert [int(r) for r in space.rank(rows)] == ranks
    first = [0] * space.width if isinstance(space, Product) else [0] + [-1] * (space.width - 1)
    assert rows[0].tolist() == first
    last = [9] * 30 if isinstance(space, Product) else list(range(space.modules - space.at_most, space.modules))
    assert rows[-1].tolist() == last


@pytest.mark.parametrize("how", ["sample", "draw"])
def test_sampling_a_large_space_weighs_the_numbers_of_active_modules_exactly(how):
    space, n = Subsets(130, 65), 20_000
    rows = space.sample(0, n) if how == "sample" else np.asarray(space.draw(jax.random.key(0), n))
    active = np.bincount((rows >= 0).sum(1), minlength=66)
    expected = np.array([n * math.comb(130, k) / space.size for k in range(66)])
    often = expected >= 5
    observed = [*active[often], active[~often].sum()]
    assert scipy.stats.chisquare(observed, [*expected[often], expected[~often].sum()], sum_check=False).pvalue > 1e-4


MEASURE = """
    import resource, sys, time
    import numpy as np
    import jax
    from recombine import Product, Subsets

    def peak():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024  # MB on Linux

    Subsets(5, 2).rank(Subsets(5, 2).sample(0, 5))  # imports that come late
    before, begun = peak(), time.process_time()
    space = eval(sys.argv[1])
    rows = space.sample(0, 10_000)
    assert space.contains(rows).all()
    assert (space.unrank(space.rank(rows)) == rows).all()
    print(time.process_time() - begun, peak() - before)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the unit of ru_maxrss is that of Linux")
@pytest.mark.parametrize("space", ["Subsets(200, 12)", "Product(**{f'f{i}': 10 for i in range(30)})"])
def test_large_spaces_take_less_than_a_second_and_100_megabytes(space):
    command = [sys.executable, "-c", textwrap.dedent(MEASURE), space]
    seconds, megabytes = map(float, subprocess.run(command, capture_output=True, check=True, text=True).stdout.split())
    assert seconds < 1 and megabytes < 100, (seconds, megabytes)


@pytest.mark.parametrize("space", [LARGE["subsets"], LARGE["product"]], ids=["subsets", "product"])
def test_enumerate_refuses_a_large_space_and_says_its_size(space):
    with pytest.raises(UserError, match=f"{space.size:,}"):
        space.enumerate()


def test_the_limit_of_enumerate_is_inclusive():
    space = Subsets(4, 2)
    assert len(space.enumerate(limit=10)) == 10
    with pytest.raises(UserError, match="10 combinations.*limit of 9"):
        space.enumerate(limit=9)


# -- bad arguments ----------------------------------------------------------------------------------------------


BAD_ARGUMENTS = [
    (lambda: Subsets(3, 5), "at_most=5"),
    (lambda: Subsets(0, 1), "modules=0"),
    (lambda: Subsets(-2, 1), "modules=-2"),
    (lambda: Subsets(3, 0), "at_most=0"),
    (lambda: Subsets(10**9, 1), "modules=1000000000 is too large"),
    (lambda: Subsets(True, 1), "modules=True"),
    (lambda: Subsets(3, True), "at_most=True"),
    (lambda: Product(), "at least one factor"),
    (lambda: Product(color=[]), "'color'"),
    (lambda: Product(color=0), "'color'=0"),
    (lambda: Product(color=10**12), "at most 100000"),
    (lambda: Product(color=True), "'color'=True"),
    (lambda: Product(color=["red", "blue", "red"]), "'red'"),
    (lambda: Product(color="red"), "'red'"),
    (lambda: Product(color=b"red"), "b'red'"),
    (lambda: Product(color=[["red"], ["blue"]]), "red"),
    (lambda: Subsets(4, 2).unrank([0, 10]), "rank 10"),
    (lambda: Subsets(4, 2).unrank([-1]), "rank -1"),
    (lambda: Subsets(4, 2).unrank([2**70]), f"rank {2**70}"),
    (lambda: Subsets(4, 2).unrank([0.7]), "0.7"),
    (lambda: LARGE["product"].unrank([10**30]), f"rank {10**30}"),
    (lambda: Product(a=2, b=3).unrank([6]), "rank 6"),
    (lambda: Subsets(4, 2).rank([[1, 0]]), r"\[1, 0\]"),
    (lambda: Subsets(4, 2).rank([[0, 1], [-1, 2]]), r"\[-1, 2\]"),
    (lambda: Subsets(4, 2).rank([[0, 4]]), r"\[0, 4\]"),
    (lambda: Product(a=2, b=3).rank([[0, 3]]), r"\[0, 3\]"),
    (lambda: Product(a=2, b=3).rank([[0, -1]]), r"\[0, -1\]"),
    (lambda: Subsets(4, 2).check([[0, 1, 2]]), r"\(1, 3\)"),
    (lambda: Subsets(4, 2).check([0, 1]), r"\(2,\)"),
    (lambda: Subsets(4, 2).check([[0.0, 1.0]]), "float64"),
    (lambda: Subsets(4, 2).check([[True, False]]), "bool"),
    (lambda: Subsets(4, 2).check([["m0", "m1"]]), "U2"),
    (lambda: Subsets(4, 2).check([[0], [1, 2]]), "2 columns"),
    (lambda: Subsets(4, 2).element_id(4), "element=4"),
    (lambda: Subsets(4, 2).element_id(-1), "element=-1"),
    (lambda: Subsets(4, 2).element_id(True), "element=True"),
    (lambda: Subsets(4, 2).element_id("m4"), "'m4'"),
    (lambda: Product(color=["red"]).element_id(("color", "rad")), "'color=rad'; did you mean 'color=red'"),
    (lambda: space_from_json({"kind": "subset"}), "'subset'; did you mean 'subsets'"),
]


@pytest.mark.parametrize("make, named", BAD_ARGUMENTS, ids=[named for _, named in BAD_ARGUMENTS])
def test_bad_arguments_are_refused_by_name(make, named):
    with pytest.raises(UserError, match=named):
        make()


# Values of a wrong type: the tests' runtime type checks would refuse them first, users have no such checks.
WRONG_TYPES = {
    "Subsets('3', 2)": "modules='3'",
    "Subsets(3.0, 2)": "modules=3.0",
    "Subsets(3, None)": "at_most=None",
    "Product(color=2.5)": "2.5",
    "Product(color=None)": "None",
    "Subsets(4, 2).element_id(1.0)": "element=1.0",
}


@pytest.fixture(scope="module")
def answers(ask) -> dict[str, str]:
    return ask(list(WRONG_TYPES))


@pytest.mark.parametrize("text", WRONG_TYPES)
def test_wrong_types_are_refused_by_name(answers, text):
    assert answers[text].startswith("UserError") and WRONG_TYPES[text] in answers[text], answers[text]


@pytest.mark.parametrize("modules, at_most", [(1, 1), (6, 6), (9, 4), (12, 1), (17, 5)])
def test_a_list_of_all_subsets_is_what_each_rank_gives(modules, at_most):
    space = Subsets(modules, at_most)
    assert space._all_rows().tolist() == [space.unrank([rank])[0].tolist() for rank in range(space.size)]
