"""Regions and stripes: who is held out, counted again; what is drawn; what is refused."""

from __future__ import annotations

import json
import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from recombine import Product, Subsets, UserError, supports
from recombine.cli import main
from recombine.tasks import space_with_stripes
from recombine.testing import check_support

GRID = Product(x=28, y=28)
SIZED = Product(x=10, y=10, size=3)
TWO = Product(x1=8, y1=8, x2=8, y2=8)
STRIPES = space_with_stripes(28)
NONE = 28
REGIONS = ("donut", "corner", "cross", "band")

# (x, y) is held out, by the settings that a support reports
RULES = {
    "donut": lambda x, y, low, high: low <= x <= high and low <= y <= high,
    "corner": lambda x, y, low: x >= low and y >= low,
    "cross": lambda x, y, low, high: low <= x <= high or low <= y <= high,
    "band": lambda x, y, width: abs(x - y) <= width,
}


def sets(side) -> set[tuple[int, ...]]:
    return set(map(tuple, side.combinations().tolist()))


# -- where ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "design, settings, trained, held_out",
    [
        ("donut", {"low": 6, "high": 22}, 495, 289),
        ("corner", {"low": 10}, 460, 324),
        ("cross", {"low": 11, "high": 16}, 484, 300),
        ("band", {"width": 5}, 506, 278),
    ],
)
def test_default_regions_of_28_levels(design, settings, trained, held_out):
    support = supports.registry[design](GRID)
    assert support.settings == settings
    assert (support.train.size, support.held_out.size) == (trained, held_out)
    certificate = support.certificate()
    assert certificate.connected and certificate.compositional is (design != "cross")
    assert len(certificate.untrained) == (12 if design == "cross" else 0)


def test_published_corners():
    assert supports.corner(Product(x=32, y=32)).settings == {"low": 12}
    assert supports.corner(GRID, low=14).held_out.size == 14**2


@pytest.mark.parametrize("design", REGIONS)
@pytest.mark.parametrize("options", [{}, {"trained": 20, "seed": 4}], ids=["all", "some"])
def test_a_region_holds_out_what_its_rule_says(design, options):
    space = Product(x=11, y=9)
    support = supports.registry[design](space, **options)
    rule = {name: value for name, value in support.settings.items() if name not in ("trained", "seed")}
    inside = {(x, y) for x in range(11) for y in range(9) if RULES[design](x, y, **rule)}
    assert sets(support.held_out) == inside
    assert sets(support.train) <= set(map(tuple, space.enumerate().tolist())) - inside
    assert support.train.size == options.get("trained", 99 - len(inside))
    check_support(support)


@pytest.mark.parametrize("design", REGIONS)
def test_other_factors_do_not_matter(design):
    flat, sized = supports.registry[design](Product(x=10, y=10)), supports.registry[design](SIZED)
    assert sets(sized.held_out) == {(x, y, size) for x, y in sets(flat.held_out) for size in range(3)}
    assert sized.groups == {}


@pytest.mark.parametrize("design", REGIONS)
def test_a_combination_with_two_places_is_held_out_if_either_is_inside(design):
    flat, two = supports.registry[design](Product(x=8, y=8)), supports.registry[design](TWO)
    inside = sets(flat.held_out)
    rows = TWO.enumerate()
    number = np.array([((a, b) in inside) + ((c, d) in inside) for a, b, c, d in rows.tolist()])
    assert (two.held_out.contains(rows) == (number > 0)).all()
    assert (two.group("1 inside").contains(rows) == (number == 1)).all()
    assert (two.group("2 inside").contains(rows) == (number == 2)).all()
    on_device = jax.jit(two.groups["1 inside"])(jnp.asarray(rows))
    assert (np.asarray(on_device) == (number == 1)).all()
    check_support(two)


def test_pairs_are_found_by_name_wherever_they_stand():
    named = supports.donut(Product(y=8, color=2, x=8), low=2, high=3)
    assert sets(named.held_out) == {(y, c, x) for y in (2, 3) for x in (2, 3) for c in (0, 1)}
    first = supports.donut(Product(color=8, shape=8, size=8), low=2, high=3)
    assert sets(first.held_out) == {(a, b, c) for a in (2, 3) for b in (2, 3) for c in range(8)}


@pytest.mark.parametrize("design", REGIONS)
def test_a_place_that_lacks_a_factor_lies_in_no_region(design):
    flat, lacking = supports.registry[design](GRID), supports.registry[design](STRIPES)
    assert sets(flat.held_out) == sets(lacking.held_out) and flat.settings == lacking.settings


def test_a_gap_holds_out_levels_of_one_factor():
    assert sets(supports.gap(Product(angle=36)).held_out) == {(a,) for a in range(16, 21)}  # 160 to 200 degrees
    assert supports.gap(Product(angle=36), low=0, high=3).certificate().untrained == tuple(
        f"angle={a}" for a in range(4)
    )
    second = supports.gap(SIZED, factor="size", low=1, high=1)
    assert (second.held_out.combinations()[:, 2] == 1).all() and second.held_out.size == 100
    check_support(supports.gap(Product(angle=36)))
    check_support(supports.gap(Product(angle=36), trained=7))


@pytest.mark.parametrize("levels", [2, 3, 5, 8, 13])
@pytest.mark.parametrize("design", [*REGIONS, "gap"])
def test_defaults_leave_both_sides_something_at_any_size(design, levels):
    support = supports.registry[design](Product(x=levels, y=levels))
    assert support.train.size and support.held_out.size


def test_any_predicate_makes_a_split():
    support = supports.where(GRID, lambda rows: rows.sum(1) % 2 == 1, trained=50, seed=1)
    assert (support.held_out.combinations().sum(1) % 2 == 1).all() and support.held_out.size == 392
    assert support.train.size == 50 and (support.train.combinations().sum(1) % 2 == 0).all()
    check_support(support)


def test_the_seed_draws_what_is_trained_and_more_contains_less():
    few, same, other, more = (
        sets(supports.donut(GRID, trained=n, seed=seed).train) for n, seed in ((60, 0), (60, 0), (60, 1), (200, 0))
    )
    assert few == same and few != other and few < more
    assert sets(supports.donut(GRID, trained=60).held_out) == sets(supports.donut(GRID).held_out)
    counts = np.zeros((28, 28))
    for seed in range(150):
        counts[*supports.donut(GRID, trained=165, seed=seed).train.combinations().T] += 1  # a third of 495
    outside = counts[counts > 0]
    assert len(outside) == 495 and abs(outside - 50).max() < 5 * np.sqrt(150 * 2 / 9)


# -- bumps and stripes ------------------------------------------------------------------------------------------------


def parts(support) -> tuple[set, set, set, set]:
    """Trained bumps, vertical stripes, horizontal stripes, and empty pictures."""
    rows = sets(support.train)
    return (
        {(x, y) for x, y in rows if x < NONE and y < NONE},
        {x for x, y in rows if x < NONE and y == NONE},
        {y for x, y in rows if x == NONE and y < NONE},
        {(x, y) for x, y in rows if x == y == NONE},
    )


def test_all_bumps_around_the_hole_and_all_stripes_are_trained():
    support = supports.bumps_and_stripes(STRIPES)
    bumps, vertical, horizontal, empty = parts(support)
    donut = supports.donut(GRID)
    assert bumps == sets(donut.train) and sets(support.held_out) == sets(donut.held_out)
    assert vertical == horizontal == set(range(28)) and not empty
    assert support.settings["bumps"] == 495 and support.settings["stripes"] == 56
    check_support(support)


@pytest.mark.parametrize("stripes", [0, 1, 6, 7, 55, 56])
def test_stripes_come_from_both_axes_in_turn(stripes):
    support = supports.bumps_and_stripes(STRIPES, bumps=10, stripes=stripes, seed=2)
    bumps, vertical, horizontal, _ = parts(support)
    assert len(bumps) == 10 and len(vertical) == (stripes + 1) // 2 and len(horizontal) == stripes // 2
    less = parts(supports.bumps_and_stripes(STRIPES, bumps=5, stripes=stripes // 2, seed=2))
    assert less[0] < bumps and less[1] <= vertical and less[2] <= horizontal
    check_support(support)


def test_the_seed_draws_bumps_and_stripes():
    first, second = (parts(supports.bumps_and_stripes(STRIPES, bumps=50, stripes=20, seed=seed)) for seed in (0, 1))
    assert all(a != b for a, b in zip(first[:3], second[:3], strict=True))


def test_stripes_alone_bumps_alone_and_the_empty_picture():
    assert supports.bumps_and_stripes(STRIPES, bumps=0).train.size == 56
    assert supports.bumps_and_stripes(STRIPES, stripes=0).train.size == 495
    with_empty = supports.bumps_and_stripes(STRIPES, bumps=0, stripes=3, empty=True)
    assert parts(with_empty)[3] == {(NONE, NONE)} and with_empty.train.size == 4


def test_a_hole_of_ones_own():
    support = supports.bumps_and_stripes(STRIPES, low=10, high=18)
    assert support.held_out.size == 81 and len(parts(support)[0]) == 784 - 81


def test_axes_of_unlike_length():
    space = Product(x=[*range(4), "none"], y=[*range(9), "none"])
    support = supports.bumps_and_stripes(space, low=1, high=2)
    assert support.held_out.size == 4 and support.train.size == 36 - 4 + 13


# -- impossible requests ----------------------------------------------------------------------------------------------

REFUSED = {
    "modules": (lambda: supports.donut(Subsets(8, 3)), r"Product\(x=28, y=28\).*Subsets"),
    "one factor": (lambda: supports.cross(Product(x=8)), "two or more ordered factors"),
    "a region turned around": (lambda: supports.donut(GRID, low=9, high=3), "low=9 and high=3.*0 to 27"),
    "a region outside": (lambda: supports.cross(GRID, low=9, high=28), "high=28"),
    "a negative level": (lambda: supports.donut(GRID, low=-1), "low=-1"),
    "a corner outside": (lambda: supports.corner(GRID, low=28), "low=28 is too large; it must be at most 27"),
    "all is corner": (lambda: supports.corner(GRID, low=0), "nothing to train on"),
    "all is band": (lambda: supports.band(GRID, width=27), "width=27 is too large; it must be at most 26"),
    "all is hole": (lambda: supports.donut(GRID, low=0, high=27), "nothing to train on"),
    "all is gap": (lambda: supports.gap(Product(angle=4), low=0, high=3), "nothing to train on"),
    "too many": (lambda: supports.donut(GRID, trained=496), "trained=496 is more than the 495.*outside 'donut'"),
    "none": (lambda: supports.donut(GRID, trained=0), "trained=0"),
    "a negative seed": (lambda: supports.donut(GRID, seed=-1), "seed=-1"),
    "an unknown factor": (lambda: supports.gap(SIZED, factor="sise"), "'sise'; did you mean 'size'"),
    "modules in a gap": (lambda: supports.gap(Subsets(8, 3)), r"Product\(angle=36\)"),
    "nothing held out": (lambda: supports.where(GRID, lambda rows: rows[:, 0] > 99), "nothing to hold out"),
    "a predicate of columns": (lambda: supports.where(GRID, lambda rows: rows > 3), r"\(784, 2\) for 784 rows"),
    "no absent level": (lambda: supports.bumps_and_stripes(GRID), "last level is 'none'.*got Product"),
    "too many bumps": (lambda: supports.bumps_and_stripes(STRIPES, bumps=496), "bumps=496 is more than the 495"),
    "too many stripes": (lambda: supports.bumps_and_stripes(STRIPES, stripes=57), "stripes=57 is more than the 56"),
    "negative stripes": (lambda: supports.bumps_and_stripes(STRIPES, stripes=-1), "stripes=-1"),
    "no data": (lambda: supports.bumps_and_stripes(STRIPES, bumps=0, stripes=0), "bumps=0 and stripes=0"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_impossible_requests_are_refused_by_name(name):
    make, words = REFUSED[name]
    with pytest.raises(UserError, match=words):
        make()


# -- the command line -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments, trained, held_out",
    [
        (("donut", "--factors", "x=28", "y=28"), 495, 289),
        (("donut", "--factors", "x=28", "y=28", "--low", "10", "--high", "18", "--trained", "100"), 100, 81),
        (("corner", "--factors", "x=32", "y=32"), 624, 400),
        (("band", "--factors", "x=28", "y=28", "--width", "0"), 756, 28),
        (("gap", "--factors", "x=28", "y=10", "--factor", "y", "--low", "2", "--high", "3"), 224, 56),
        (("bumps-and-stripes", "--factors", "x=28,none", "y=28,none", "--bumps", "9", "--stripes", "4"), 13, 289),
        (
            ("bumps-and-stripes", "--factors", "x=0,1,2,none", "y=0,1,2,none", "--low", "1", "--high", "1", "--empty"),
            15,
            1,
        ),
    ],
)
def test_certify_takes_the_options_of_regions(capsys, arguments, trained, held_out):
    with pytest.raises(SystemExit) as ended:
        main(["certify", *arguments, "--json"])
    found = json.loads(capsys.readouterr().out)
    assert not ended.value.code and (found["train"], found["held_out"]) == (trained, held_out)


@pytest.mark.parametrize(
    "arguments, words",
    [
        (("donut", "--factors", "x=28", "y=28", "--width", "3"), "--width does not apply.*--low, --high, --trained"),
        (("donut", "--factors", "x=28", "y=28", "--trained", "999"), "trained=999"),
        (("gap", "--factors", "angle=36", "--factor", "angel"), "'angel'; did you mean 'angle'"),
        (("random", "--factors", "x=8", "y=8", "--low", "3"), "--low does not apply"),
    ],
)
def test_certify_refuses_in_one_sentence(capsys, arguments, words):
    with pytest.raises(SystemExit) as ended:
        main(["certify", *arguments])
    out, err = capsys.readouterr()
    assert ended.value.code == 2 and out == "" and err.count("\n") == 1
    assert re.search(words, err), err
