"""A user's own split, and splits that cannot be: refused by name, with the nearest possible one."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

from recombine import Product, Subsets, UserError, supports

PUBLISHED = Subsets(16, 3)  # 696 combinations, of which .25 is held out
SMALL = Subsets(8, 3)  # 92
FACTORS = Product(color=4, shape=4, size=3)  # 48


# -- a user's own split -------------------------------------------------------------------------------------------


def test_overlap_is_refused_and_named():
    space = Product(color=["red", "green"], shape=["disk", "ring"])
    with pytest.raises(UserError, match="color=green, shape=disk.*both trained and held out"):
        supports.from_combinations(space, [[0, 0], [1, 0]], [[1, 0], [1, 1]])


def test_own_rows_may_be_partial_repeated_and_in_any_order():
    support = supports.from_combinations(SMALL, SMALL.unrank([5, 2, 5]), SMALL.unrank([9]))
    assert (support.train.size, support.held_out.size) == (2, 1)
    assert SMALL.rank(support.train.combinations()).tolist() == [2, 5]
    assert not support.train.contains(SMALL.unrank([9, 3])).any()


def test_own_rows_of_a_space_beyond_int64():
    space = Product(**{f"f{i}": 10 for i in range(30)})
    train, held_out = space.sample(0, 40), space.sample(1, 20)
    support = supports.from_combinations(space, train, held_out)
    assert support.train.contains(train).all() and support.held_out.contains(held_out).all()
    assert not support.train.contains(held_out).any() and support.certificate().train == 40


@pytest.mark.parametrize(
    "train, held_out, named",
    [
        ([[0, 9, -1]], None, r"\[0, 9, -1\]"),
        ([[0, 1, -1]], [[1, 0, -1]], r"\[1, 0, -1\]"),
        (np.empty((0, 3), int), None, "nothing to train on"),
        ([[0, 1, -1]], np.empty((0, 3), int), "nothing to hold out"),
        (SMALL.enumerate(), None, "nothing to hold out"),
    ],
    ids=["outside", "unsorted", "no training", "no held-out", "everything trained"],
)
def test_own_rows_that_make_no_split_are_refused(train, held_out, named):
    with pytest.raises(UserError, match=named):
        supports.from_combinations(SMALL, train, held_out)


def test_own_rows_need_held_out_ones_where_the_rest_cannot_be_listed():
    space = Subsets(200, 12)
    with pytest.raises(UserError, match=f"{space.size:,}"):
        supports.from_combinations(space, space.sample(0, 3))


# -- impossible requests ------------------------------------------------------------------------------------------

SHARED = ["random", "balanced", "popular", "unpopular", "implicit"]


@pytest.mark.parametrize("design", SHARED)
@pytest.mark.parametrize("held_out", [0.0, 1.0, -0.25, 1.5, math.nan, math.inf, -math.inf], ids=repr)
def test_impossible_shares_are_refused_by_name(design, held_out):
    with pytest.raises(UserError, match=re.escape(f"held_out={held_out}")):
        supports.registry[design](PUBLISHED, held_out=held_out)


def nearest_of(error: UserError) -> float:
    """The share that a refusal names as possible."""
    found = re.search(r"nearest[^;]*?(?:held_out=|is )(0?\.\d+(?:e-\d+)?)", str(error))
    assert found, f"names no nearest share: {error}"
    return float(found[1])


@pytest.mark.parametrize("space", [SMALL, FACTORS], ids=str)
@pytest.mark.parametrize("held_out", [0.0, -0.5, 1e-9, 1.0, 0.985])
@pytest.mark.parametrize("design", ["random", "balanced", "popular", "unpopular"])
def test_the_nearest_share_that_a_refusal_names_is_possible(design, space, held_out):
    if held_out == 1e-9 and "popular" in design:  # trained combinations are rounded down: one is held out
        assert supports.registry[design](space, held_out=held_out).held_out.size == 1
        return
    with pytest.raises(UserError) as refusal:
        supports.registry[design](space, held_out=held_out)
    nearest = nearest_of(refusal.value)
    support = supports.registry[design](space, held_out=nearest)
    if held_out <= 1e-9:
        assert support.held_out.size == 1, "something nearer was possible"
    else:
        assert nearest < held_out


@pytest.mark.parametrize("design", ["random", "balanced", "implicit"])
def test_too_few_to_be_connected(design):
    """Fewer than (M - 1) / (K - 1) combinations cannot be connected; with a few times as many it is easy."""
    least = math.ceil((PUBLISHED.modules - 1) / (PUBLISHED.at_most - 1))
    with pytest.raises(UserError, match="compositional and connected") as refusal:
        supports.registry[design](PUBLISHED, held_out=1 - least / 2 / PUBLISHED.size)
    certificate = supports.registry[design](PUBLISHED, held_out=nearest_of(refusal.value)).certificate()
    assert least <= certificate.train <= 4 * least
    assert certificate.compositional and certificate.connected


def test_the_count_that_a_refusal_names_is_what_its_share_gives():
    with pytest.raises(UserError, match="train on") as refusal:
        supports.random(SMALL, held_out=1.0, compositional=False, connected=False)
    named = int(re.search(r"train on (\d+)", str(refusal.value))[1])
    support = supports.random(SMALL, held_out=nearest_of(refusal.value), compositional=False, connected=False)
    assert support.train.size == named


@pytest.mark.parametrize("design", [*SHARED, "missing", "disconnected"])
@pytest.mark.parametrize("space", [Subsets(1, 1), Product(color=1)], ids=str)
def test_one_combination_cannot_be_split(design, space):
    with pytest.raises(UserError):
        supports.registry[design](space)


@pytest.mark.parametrize("design", ["random", "balanced"])
def test_single_modules_are_never_connected(design):
    with pytest.raises(UserError, match="connected"):
        supports.registry[design](Subsets(5, 1))


BAD_ARGUMENTS = {
    "blocks that miss a module": (lambda: supports.disconnected(SMALL, blocks=(3, 4)), r"\[3, 4\].*8 modules"),
    "one block": (lambda: supports.disconnected(SMALL, blocks=(8,)), r"\[8\]"),
    "an empty block": (lambda: supports.disconnected(SMALL, blocks=(0, 8)), "block size=0"),
    "blocks of a product": (lambda: supports.disconnected(FACTORS, blocks=(2, 2)), r"\[2, 2\]"),
    "blocks of single modules": (lambda: supports.disconnected(Subsets(6, 1)), "Subsets"),
    "blocks of one level": (lambda: supports.disconnected(Product(a=3, b=1)), "one level"),
    "everything within": (lambda: supports.disconnected(SMALL, within=1.0), "within=1.0"),
    "negative within": (lambda: supports.disconnected(SMALL, within=-0.1), "within=-0.1"),
    "nan within": (lambda: supports.disconnected(SMALL, within=math.nan), "within=nan"),
    "too much within": (lambda: supports.disconnected(SMALL, within=0.95), "within=0.95"),
    "no elements": (lambda: supports.missing(SMALL, elements=[]), r"elements=\[\]"),
    "all modules": (lambda: supports.missing(Subsets(2, 2), elements=[0, 1]), "m0, m1"),
    "all levels of a factor": (lambda: supports.missing(FACTORS, elements=["size=0", "size=1", "size=2"]), "size=2"),
    "an unknown element": (lambda: supports.missing(SMALL, elements=["m8"]), "'m8'"),
    "an element out of range": (lambda: supports.missing(SMALL, elements=[8]), "element=8"),
    "one factor alone": (lambda: supports.random(Product(angle=6)), "compositional=False and connected=False"),
    "a negative seed": (lambda: supports.random(SMALL, seed=-1), "seed=-1"),
    "too many to list": (lambda: supports.balanced(Subsets(200, 12)), f"{Subsets(200, 12).size:,}"),
    "too many to cut": (lambda: supports.missing(Subsets(200, 12)), f"{Subsets(200, 12).size:,}"),
}


@pytest.mark.parametrize("name", BAD_ARGUMENTS)
def test_bad_arguments_are_refused_by_name(name):
    make, named = BAD_ARGUMENTS[name]
    with pytest.raises(UserError, match=named):
        make()


# Values of a wrong type: the tests' runtime type checks would refuse them first, users have no such checks.
WRONG_TYPES = [
    *[("held_out", value) for value in ("0", "1", "True", "'x'", "None")],
    *[("seed", value) for value in ("1.5", "'x'", "True")],
]


def call(design: str, name: str, value: str) -> str:
    return f"supports.{design}(Subsets(8, 3), {name}={value})"


@pytest.fixture(scope="module")
def answers(ask) -> dict[str, str]:
    calls = [call(design, name, value) for design in ("random", "implicit") for name, value in WRONG_TYPES]
    calls.append(call("random", "held_out", "np.float32(0.25)"))
    return ask(calls)


@pytest.mark.parametrize("name, value", WRONG_TYPES)
@pytest.mark.parametrize("design", ["random", "implicit"])
def test_wrong_types_are_refused_by_name(answers, design, name, value):
    answer = answers[call(design, name, value)]
    assert answer.startswith("UserError") and f"{name}={value}" in answer, answer


def test_a_number_of_numpy_is_a_number(answers):
    assert "69 trained, 23 held out" in answers[call("random", "held_out", "np.float32(0.25)")]


def test_an_unknown_design_is_refused_with_the_near_one():
    with pytest.raises(UserError, match="'balance'; did you mean 'balanced'"):
        supports.registry["balance"]
