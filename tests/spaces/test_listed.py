"""Combinations given one by one: a list against plain Python, what cannot be one, and what can be done with it."""

from __future__ import annotations

import itertools
import json
import time

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import recombine as rc
from recombine import Listed, Product, Subsets, UserError, supports
from recombine.charts.map_layout import layout
from recombine.lab.study import SupportMap
from recombine.planning import Forbidden, fewest_to_connect, plan_space
from recombine.report.maps import page_data
from recombine.spaces import space_from_json
from recombine.supports import ActiveCount, Has
from recombine.supports.certificate import cooccurrence, element_usage, tuple_coverage
from recombine.testing import check_space, check_support

WORDS = ["walk", "jump", "twice", "left", "never said"]
COMMANDS = Listed([[0], [1], [0, 2], [1, 2], [0, 3, 3], [1, 3, 2], [3, 0], [0, 3], [3, 1, 2, 2]], WORDS)
small = settings(deadline=None, max_examples=40)


@st.composite
def lists(draw, elements: int = 5) -> tuple[list[list[int]], Listed]:
    rows = draw(
        st.lists(
            st.lists(st.integers(0, elements - 1), min_size=1, max_size=4), min_size=1, max_size=12, unique_by=tuple
        )
    )
    return rows, Listed(rows, [f"w{i}" for i in range(elements)])


# -- against plain Python -------------------------------------------------------------------------------------------


@small
@given(lists())
def test_a_list_is_what_was_listed(made):
    rows, space = made
    assert (space.size, space.width, type(space.size)) == (len(rows), 1, int)
    combinations = space.enumerate()
    assert combinations.tolist() == [[i] for i in range(len(rows))] and combinations.dtype == space.dtype
    assert [[i for i in row if i >= 0] for row in space.elements(combinations).tolist()] == rows
    assert [[i for i in row if i >= 0] for row in space.element_sets(combinations).tolist()] == [
        sorted(set(row)) for row in rows
    ]
    assert space.rank(combinations).tolist() == list(range(len(rows)))
    assert list(space.sizes) == sorted({len(row) for row in rows}) and space.fixed_size == (len(space.sizes) == 1)
    assert np.flatnonzero(space.occurs).tolist() == sorted({i for row in rows for i in row})
    assert space.classes == (tuple(range(5)),) and space.columns == {} and space.ordered and not space.free
    assert [space.describe(row) for row in combinations] == [f"[{', '.join(f'w{i}' for i in row)}]" for row in rows]


@small
@given(lists(), st.integers(0, 5))
def test_possible_tuples_are_the_sets_that_some_row_contains(made, strength):
    rows, space = made
    sets = {t for row in rows for t in itertools.combinations(sorted(set(row)), strength)}
    assert space.possible_tuples(strength) == space.possible_tuples(strength) == len(sets)


def test_possible_tuples_of_many_elements_are_counted_without_a_table():
    """10^24 sets of four of a million elements: beyond flags, and beyond 64 bits."""
    names = range(1_000_000)
    space = Listed([[5, 999_999, 7, 8], [8, 7, 5, 999_999, 3], [1, 2]], names)
    assert [space.possible_tuples(t) for t in (2, 3, 4, 5)] == [11, 10, 5, 1]


@settings(deadline=None, max_examples=10)  # every shape is compiled
@given(lists())
def test_every_list_passes_the_checks_of_a_space(made):
    check_space(made[1])


def test_sampling_covers_the_list_and_the_device_looks_it_up():
    check_space(COMMANDS, n=400)
    drawn = jax.jit(lambda key: COMMANDS.draw(key, 400))(jax.random.key(0))
    assert len(np.unique(drawn)) == COMMANDS.size
    looked_up = jax.jit(COMMANDS.elements)(drawn)
    assert (np.asarray(looked_up) == COMMANDS.table[np.asarray(drawn)[:, 0]]).all()
    assert isinstance(looked_up, jax.Array) and isinstance(COMMANDS.elements(np.asarray(drawn)), np.ndarray)
    nothing = np.array([[-1]], np.int16)
    for rows in (nothing, jnp.asarray(nothing)):
        assert (COMMANDS.elements(rows) == -1).all(), "-1 stands for no combination and has no elements"


def test_a_list_can_be_an_array_with_padding_to_spare():
    rows = np.array([[0, 2, -1, -1], [1, 2, 2, -1]], np.int8)
    again = [Listed(given, ["a", "b", "c"]) for given in (rows, rows.tolist(), [[0, 2], [1, 2, 2]])]
    assert again[0] == again[1] == again[2] and len({hash(space) for space in again}) == 1
    assert again[0].table.shape == (2, 3) and again[0].to_json()["rows"] == [[0, 2], [1, 2, 2]]


def test_lists_differ_by_rows_order_and_names():
    names = ["a", "b", "c"]
    space = Listed([[0, 1], [2]], names)
    others = [
        Listed([[1, 0], [2]], names),
        Listed([[2], [0, 1]], names),
        Listed([[0, 1], [2]], ["a", "b", "d"]),
        Listed([[0, 1], [2]], [*names, "e"]),
        Product(a=2),
        Subsets(3, 2),
    ]
    for other in others:
        assert space != other and hash(space) != hash(other)
    assert space_from_json(json.loads(json.dumps(space.to_json()))) == space


def test_hash_and_equality_do_not_look_at_the_rows():
    """A space is a static part of samplers: it is hashed and compared at every call of a compiled function."""
    large = [Listed(np.arange(30_000)[:, None] % [1000, 999, 998], range(1000)) for _ in range(2)]
    begun = time.perf_counter()
    for _ in range(100):
        assert large[0] == large[1] and hash(large[0]) == hash(large[1])
    assert time.perf_counter() - begun < 0.5  # by way of to_json it takes many seconds


# -- refused --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "rows, names, said",
    [
        ([[0, 5]], "abcde", r"row 0 has the element id 5, which has no name; ids are 0 to 4"),
        ([[0], [1, -2]], "abc", r"row 1 has the element id -2"),
        ([[0], [2**70]], "abc", rf"row 1 has the element id {2**70}"),
        ([[0], [1, 0.5]], "abc", r"row 1 has 0\.5, which is no element id; ids are 0 to 2"),
        ([[0, True]], "abc", r"row 0 has True"),
        ([["jump"]], "abc", r"row 0 has 'jump'"),
        (["jump"], "abc", r"row 0 is 'jump'; each row is a list of element ids"),
        ([0, 1], "abc", r"row 0 is 0; each row is a list"),
        (7, "abc", r"rows=7 is no list of rows"),
        (np.zeros((2, 2)), "abc", r"rows are float64 of \(2, 2\); give whole numbers"),
        (np.zeros(3, int), "abc", r"rows are int64 of \(3,\)"),
        ([[0, -1, 1]], "abc", r"row 0, \[0, -1, 1\], has -1 before an element; -1 is padding"),
        ([[0, 1], [2], [0, 1]], "abc", r"row 2, \[0, 1\], is row 0 again; list each combination once"),
        ([[2], [0, 1, -1], [0, 1]], "abc", r"row 2, \[0, 1\], is row 1 again"),
        ([], "abc", r"rows=\[\] lists no combination"),
        (np.zeros((0, 3), int), "abc", r"rows=\[\] lists no combination"),
        ([[0], []], "abc", r"row 1 has no elements"),
        ([[0], [-1, -1]], "abc", r"row 1 has no elements"),
        ([[0]], "aba", r"names lists 'a' twice"),
        ([[0]], [1, "1"], r"names lists '1' twice"),
        ([[0]], [], r"names=\[\] names no element"),
    ],
)
def test_what_is_no_list_is_refused_in_one_sentence(rows, names, said):
    with pytest.raises(UserError, match=said) as refused:
        Listed(rows, list(names))
    assert "\n" not in str(refused.value) and ". " not in str(refused.value)


def test_names_are_a_list_and_rows_are_in_range():
    with pytest.raises(UserError, match="names='abc' is no list"):
        Listed([[0]], "abc")
    with pytest.raises(UserError, match=r"\[9\] is not a combination of Listed\(9 combinations of 5 elements\)"):
        COMMANDS.rank([[9]])
    with pytest.raises(UserError, match="rank 9 is outside"):
        COMMANDS.unrank([9])
    assert not COMMANDS.contains(np.array([[9], [-1]])).any() and not COMMANDS.contains(np.array([[0, 1]])).any()


def test_elements_are_not_exchanged_in_a_list():
    with pytest.raises(UserError, match="'walk' cannot be exchanged for 'jump'"):
        COMMANDS.replace(COMMANDS.enumerate(), 0, 1)


REFUSED = {
    **{name: supports.registry[name] for name in ("balanced", "disconnected", "donut", "corner", "cross", "band")},
    **{name: supports.registry[name] for name in ("gap", "stair", "l-shape", "cross-arms", "diagonal", "orthotope")},
    "bumps-and-stripes": supports.registry["bumps-and-stripes"],
    "plan": rc.plan,
    "plan of a support": lambda space: rc.plan(supports.random(space)),
    "plan_space": plan_space,
    "fewest_to_connect": fewest_to_connect,
    "forbidden": lambda space: Forbidden(space, ["jump & twice"]),
    "seen": lambda space: rc.audit.seen.Seen(space, space.enumerate()),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_serve_a_list_refuses_it_at_the_door(name):
    with pytest.raises(UserError, match=r"Listed\(9 combinations of 5 elements\)"):
        REFUSED[name](COMMANDS)


# -- supports -------------------------------------------------------------------------------------------------------

SERVED = {
    "random": lambda space: supports.random(space, held_out=0.3),
    "implicit": lambda space: supports.implicit(space, held_out=0.3, connected=False),
    "from_combinations": lambda space: supports.from_combinations(space, [[0], [4], [7]]),
    "where": lambda space: supports.where(space, lambda rows: Has(space, (2,))(rows)),
    "missing": lambda space: supports.missing(space, elements=["left"]),
    "missing the last": supports.missing,
    "popular": lambda space: supports.popular(space, held_out=0.3),
    "unpopular": lambda space: supports.unpopular(space, held_out=0.5),
    "fewer-active": supports.registry["fewer-active"],
}


@pytest.mark.parametrize("name", SERVED)
def test_designs_that_need_no_more_than_elements_split_a_list(name):
    support = SERVED[name](COMMANDS)
    check_support(support)
    assert "never said" not in support.certificate().untrained


def test_a_rare_word_that_never_stands_with_the_core_alone_is_refused():
    space = Listed([[0], [1], [0, 1], [1, 0], [2, 3], [3, 2], [0, 2, 3], [1, 2, 3]], ["a", "b", "c", "d"])
    with pytest.raises(UserError, match="leaves 4 to train on, and no such split"):
        supports.unpopular(space, held_out=0.5)


def test_groups_of_a_list_are_by_number_of_elements_repeats_included():
    support = supports.from_combinations(COMMANDS, [[0], [2]])
    assert list(support.groups) == ["1 active", "2 active", "3 active", "4 active"]
    assert support.group("3 active").combinations().tolist() == [[4], [5]]
    rows = COMMANDS.enumerate()
    expected = [len(row) == 3 for row in COMMANDS.to_json()["rows"]]
    assert ActiveCount(COMMANDS, 3)(rows).tolist() == expected
    assert jax.jit(ActiveCount(COMMANDS, 3))(jnp.asarray(rows)).tolist() == expected
    assert not supports.from_combinations(Listed([[0, 1], [1, 0]], ["a", "b"]), [[0]]).groups


def test_fewer_active_is_a_split_by_length():
    support = supports.registry["fewer-active"](COMMANDS)
    assert support.settings["most"] == 3 and support.held_out.combinations().tolist() == [[8]]
    with pytest.raises(UserError, match="most=4 is too large"):
        supports.registry["fewer-active"](COMMANDS, most=4)
    with pytest.raises(UserError, match="different sizes"):
        supports.registry["fewer-active"](Listed([[0, 1], [1, 0]], ["a", "b"]))


def test_the_certificate_of_a_list_counts_sets():
    rows = np.array([[4], [6], [8]])  # walk left left; left walk; left jump twice twice
    assert element_usage(COMMANDS, rows).tolist() == [2, 1, 1, 3, 0], "an element counts once per combination"
    assert np.asarray(cooccurrence(COMMANDS, rows))[3].tolist() == [2, 1, 1, 3, 0]
    seen = [(c.strength, c.seen, c.possible) for c in tuple_coverage(COMMANDS, rows)]
    # pairs: {walk, left}, {left, jump}, {left, twice}, {jump, twice}; of all: {walk, twice}, too
    assert seen == [(1, 4, 4), (2, 4, 5), (3, 1, 1)]
    certificate = supports.from_combinations(COMMANDS, rows).certificate()
    assert certificate.compositional and certificate.connected and certificate.usage["left"] == 3
    assert "never said" not in certificate.usage and "1 to 3 training combinations" in str(certificate)
    apart = supports.from_combinations(COMMANDS, [[0], [3], [6]]).certificate()
    assert not apart.connected and apart.components == (("walk", "left"), ("jump", "twice"))


def test_a_rule_on_a_list_is_the_same_on_host_and_device():
    space = Listed([[i, j, i] for i in range(30) for j in range(30)], range(30))
    side = supports.implicit(space, held_out=0.4).train
    drawn = eqx.filter_jit(side.sampler())(jax.random.key(1), 500)
    assert side.contains(np.asarray(drawn)).all() and len(np.unique(drawn)) > 200


def test_a_split_of_a_list_is_drawn_line_by_line():
    places = layout(COMMANDS).places
    assert len(np.unique(places, axis=0)) == COMMANDS.size and len(np.unique(places[:, 0])) == 3
    support = supports.from_combinations(COMMANDS, [[0], [4]])
    shown, data = page_data([SupportMap("ours", support)])
    assert shown[0]["layout"].rows == "the list, line by line" and data is not None
    assert data["spaces"][0]["parts"][4] == [0, 3, 3]
