"""Forbidden combinations: they stay out of a plan, and possible parts are found as by listing them."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recombine.errors import UserError
from recombine.planning import Forbidden, plan_space
from recombine.planning.forbidden_expressions import clauses_of
from recombine.spaces import Product, Subsets

WEATHER = Product(weather=["sun", "rain", "snow"], time=["noon", "night", "dawn"], road=["city", "rural"])


def test_forbidden_combinations_stay_out_and_what_cannot_be_covered_is_named():
    found = plan_space(WEATHER, forbid=["weather=snow & time=noon", "road=rural & !(weather=sun)"])
    rows = {tuple(row) for row in found.rows.tolist()}
    assert not any(weather == 2 and time == 0 for weather, time, _ in rows)
    assert not any(road == 1 and weather != 0 for weather, _, road in rows)
    assert found.after["unseen"] == 0
    impossible = {frozenset(one["elements"]) for one in found.impossible}
    assert impossible == {
        frozenset({"weather=snow", "time=noon"}),
        frozenset({"weather=rain", "road=rural"}),
        frozenset({"weather=snow", "road=rural"}),
    }
    assert "'weather=snow & time=noon'" in found.impossible[0]["why"] + found.impossible[1]["why"]


def test_pairs_that_only_several_expressions_together_rule_out_are_found():
    space = Product(a=["0", "1"], b=["0", "1"], c=["0", "1"])
    found = plan_space(space, forbid=["a=0 & c=0", "b=0 & c=1"])  # so a=0 with b=0 has no c
    assert [one["elements"] for one in found.impossible] == [["a=0", "b=0"], ["a=0", "c=0"], ["b=0", "c=1"]]
    assert "one expression or another" in found.impossible[0]["why"]


@settings(max_examples=30, deadline=None)
@given(st.data())
def test_possible_parts_and_coverage_agree_with_listing(data):
    levels = data.draw(st.lists(st.integers(2, 3), min_size=2, max_size=4))
    space = Product(**{f"f{i}": n for i, n in enumerate(levels)})
    one = st.builds(
        lambda f, v, sign: f"f{f}{sign}{v % levels[f]}",
        st.integers(0, len(levels) - 1),
        st.integers(0, 2),
        st.sampled_from(["=", "!="]),
    )
    forbid = data.draw(st.lists(st.lists(one, min_size=1, max_size=3).map(" & ".join), max_size=4))
    rows = space.enumerate()
    fine = np.ones(len(rows), bool)
    for text in forbid:  # an independent reading of the expression
        inside = np.ones(len(rows), bool)
        for part in text.split(" & "):
            name, value = part.replace("!", "").split("=")
            inside &= (rows[:, int(name[1:])] == int(value)) != ("!" in part)
        fine &= ~inside
    if not fine.any():
        with pytest.raises(UserError, match="leave nothing"):
            Forbidden(space, forbid)
        return
    forbidden = Forbidden(space, forbid)
    assert (forbidden.allowed(rows) == fine).all()
    ids = space.elements(rows[fine])
    there = {frozenset(p) for row in ids.tolist() for p in itertools.combinations(row, 2)}
    n = len(space.element_names)
    for pair in itertools.combinations(range(n), 2):
        if any(set(pair) <= set(members) for members in space.classes):
            continue
        assert forbidden.possible(pair) == (frozenset(pair) in there)
    found = plan_space(space, forbid=forbid)
    assert forbidden.allowed(found.rows).all()
    covered = {frozenset(p) for row in space.elements(found.rows).tolist() for p in itertools.combinations(row, 2)}
    assert covered == there


def test_modules_that_need_or_exclude_each_other():
    space = Subsets(6, 3)
    found = plan_space(space, forbid=["m0 & m1", "m2 & !m3"])
    sets = [{e for e in row if e >= 0} for row in found.rows.tolist()]
    assert not any({0, 1} <= one for one in sets)
    assert all(3 in one for one in sets if 2 in one)
    together = {frozenset(p) for one in sets for p in itertools.combinations(one, 2)}
    assert together == {frozenset(p) for p in itertools.combinations(range(6), 2)} - {frozenset({0, 1})}


def test_groups_that_cannot_be_joined_are_reported():
    space = Product(a=["x", "y"], b=["x", "y"])
    found = plan_space(space, forbid=["a=x & b=y", "a=y & b=x"])
    assert {tuple(row) for row in found.rows.tolist()} == {(0, 0), (1, 1)}
    assert found.apart == 2
    assert any("cannot be joined" in note for note in found.notes)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "nothing in it"),
        ("weather", "after 'weather'"),
        ("weather=snow &", "the end where a factor"),
        ("wether=snow", "did you mean 'weather'"),
        ("weather=snwo", "did you mean 'snow'"),
        ("(weather=snow", "without its ')'"),
        ("weather=snow weather=sun", "where '&', '|' or the end"),
        ("weather in {snow", "without its '}'"),
        ("weather < 3", "not a number"),
        ("weather='snow", "quote that does not end"),
        ("__import__('os')", "unknown factor"),
        ("!" * 60 + "weather=snow", "inside each other"),
        (3, "is not text"),
    ],
)
def test_expressions_that_are_refused(text, says):
    with pytest.raises(UserError) as problem:
        clauses_of(text, WEATHER)
    assert says in str(problem.value)


def test_expressions():
    numbers = Product(**{"time of day": [6, 12, 18.5], "who's": ["a&b", "c"]})

    def inside(text):
        return (~Forbidden(numbers, [text]).allowed(numbers.enumerate())).reshape(3, 2).tolist()

    assert inside("'time of day' >= 12 & \"who's\" = 'a&b'") == [[False, False], [True, False], [True, False]]
    assert inside("'time of day' in {6, 12} & 'who\\'s' != c") == [[True, False], [True, False], [False, False]]
    assert inside("!('time of day' < 18.5 | 'who\\'s' = c)") == [[False, False], [False, False], [True, False]]
    same = Forbidden(numbers, {"time of day": [12, 18.5], "who's": "a&b"})
    assert (~same.allowed(numbers.enumerate())).reshape(3, 2).tolist()[1] == [True, False]
