"""Worlds of pictures beyond a bump: other shapes, more factors, stripes, a digit that turns."""

from __future__ import annotations

import math
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from drawn_pictures import KEY, NONE, PUBLISHED, STRIPES, gaussian, offsets, pictures, sampled, score

from recombine import Product, UserError, supports
from recombine.tasks import (
    Bumps,
    BumpsAndStripes,
    BumpsAndStripesLookup,
    Ellipse,
    Pictures,
    Ring,
    Rotation,
    SizedBumps,
    StripeSum,
    TwoBumps,
)
from recombine.tasks.pictures.digits import DIGITS

# -- pictures that are not the product of stripes -----------------------------------------------------------------


def leading_share(task: Pictures) -> float:
    """Largest share of the squared ink that a picture of rank one can have, over some places."""
    values = np.linalg.svd(pictures(task, [[5, 5], [8, 5], [11, 9]]), compute_uv=False) ** 2
    return float((values[:, 0] / values.sum(1)).max())


@pytest.mark.parametrize("made", [StripeSum, Ellipse, Ring])
def test_no_product_of_stripes_is_near(made):
    assert leading_share(made(Product(x=16, y=16))) < 0.95
    assert leading_share(Bumps(Product(x=16, y=16))) > 1 - 1e-10


def test_stripes_add():
    (found,) = pictures(StripeSum(PUBLISHED), [[6, 20]])
    right, down = offsets(28, 6, 20)
    np.testing.assert_allclose(found, (gaussian(right) + gaussian(down)) / 2, atol=1e-6)


def test_an_ellipse_rises_to_the_right():
    (found,) = pictures(Ellipse(PUBLISHED, ratio=2.0, angle=30.0), [[14, 12]])
    right, down = offsets(28, 14, 12)
    c, s = math.cos(math.pi / 6), math.sin(math.pi / 6)
    np.testing.assert_allclose(found, gaussian((c * right - s * down) / 2) * gaussian(s * right + c * down), atol=1e-5)
    assert found[10, 17] > found[14, 17], "rows count downward: up is to a smaller row"


def test_a_ring_is_where_its_center_is():
    task = Ring(PUBLISHED, radius=4.0)
    (found,) = pictures(task, [[14, 12]])
    np.testing.assert_allclose(found, gaussian(np.hypot(*offsets(28, 14, 12)) - 4), atol=1e-4)
    at = np.array([[14, 12], [3, 25], [27, 0]])
    target = pictures(task, at)
    assert score(task, target + 0.05 * np.random.default_rng(0).normal(size=target.shape), target)["localized"] == 1
    assert score(task, pictures(task, at - [[2, 0]]), target)["localized"] == 0


# -- more factors -------------------------------------------------------------------------------------------------


def test_sizes_are_spread_from_sigma_to_the_largest():
    task = SizedBumps(Product(x=28, y=20, size=4), sigma=1.0, largest=2.5)
    assert task.side == 28
    found = pictures(task, [[14, 12, size] for size in range(4)])
    for image, sigma in zip(found, (1, 1.5, 2, 2.5), strict=True):
        np.testing.assert_allclose(image, gaussian(np.hypot(*offsets(28, 14, 12)), sigma), atol=1e-5)


TWO = Product(x1=16, y1=16, x2=16, y2=16)


def test_two_bumps_cover_and_do_not_add():
    task = TwoBumps(TWO)
    apart, together, swapped = pictures(task, [[3, 4, 12, 10], [3, 4, 3, 4], [12, 10, 3, 4]])
    one, other = (gaussian(np.hypot(*offsets(16, x, y))) for x, y in ((3, 4), (12, 10)))
    np.testing.assert_allclose(apart, one + other - one * other, atol=1e-6)
    np.testing.assert_allclose(apart, swapped, atol=1e-6)
    assert together.max() == 1 and np.unravel_index(together.argmax(), together.shape) == (4, 3)


@pytest.mark.parametrize(
    "drawn_at, localized",
    [
        ([3, 4, 12, 10], 1),
        ([12, 10, 3, 4], 1),
        ([4, 5, 11, 9], 1),
        ([3, 4, 3, 4], 0),
        ([3, 4, 12, 12], 0),
        ([3, 10, 12, 4], 0),
    ],
    ids=["right", "exchanged", "a pixel off", "one missing", "one two pixels off", "x and y exchanged"],
)
def test_both_bumps_must_be_found(drawn_at, localized):
    task = TwoBumps(TWO)
    noise = 0.02 * np.random.default_rng(0).normal(size=(1, 16, 16))
    assert score(task, pictures(task, [drawn_at]) + noise, pictures(task, [[3, 4, 12, 10]]))["localized"] == localized


@pytest.mark.parametrize("at", [[7, 7, 7, 7], [7, 7, 8, 7], [7, 7, 9, 8], [0, 0, 15, 15]], ids=str)
def test_bumps_on_or_beside_each_other_are_found_by_the_truth(at):
    target = pictures(TwoBumps(TWO), [at])
    assert score(TwoBumps(TWO), target, target)["localized"] == 1


# -- bumps and stripes --------------------------------------------------------------------------------------------

KINDS = jnp.asarray([[3, 7], [3, NONE], [NONE, 7], [NONE, NONE]])


def kinds_of(task: Pictures) -> np.ndarray:
    """A bump, a vertical and a horizontal stripe, and nothing."""
    return np.asarray(sampled(task, KEY, KINDS).target).reshape(4, task.side, task.side)


@pytest.mark.parametrize("polarity", ["bright", "dark"])
def test_a_missing_factor_leaves_the_stripe_of_the_other(polarity):
    task = BumpsAndStripes(STRIPES, polarity=polarity)
    right, down = (gaussian(away) for away in offsets(NONE, 3, 7))
    expected = np.stack([right * down, right, down, 0 * right])
    np.testing.assert_allclose(task.ink_of(jnp.asarray(kinds_of(task))), expected, atol=1e-6)
    assert task.present(KINDS).tolist() == [[True, True], [True, False], [False, True], [False, False]]
    assert task.side == NONE and task.encoding.size == task.shapes().code.shape[1] == 2 * NONE
    bump, vertical, horizontal, _ = np.asarray(task.ink_of(jnp.asarray(kinds_of(task))))
    np.testing.assert_allclose(bump, vertical * horizontal, atol=1e-6)


def test_a_mask_takes_the_ink_of_stripes_in_the_hole_and_nothing_else():
    plain, masked = (kinds_of(BumpsAndStripes(STRIPES, mask=mask)) for mask in (None, (2, 8)))
    hole = np.zeros((NONE, NONE), bool)
    hole[2:9, 2:9] = True
    assert (masked[0] == plain[0]).all(), "bumps are not masked"
    assert (masked[1:3, hole] == 0).all() and (masked[1:, ~hole] == plain[1:, ~hole]).all()
    assert plain[1:3, hole].max() == 1


@pytest.mark.parametrize("absent", ["zeros", "mean"])
def test_the_code_of_an_absent_factor_is_an_option_of_the_encoding(absent):
    task = BumpsAndStripes(STRIPES, encoding="one-hot", encoding_options={"absent": absent})
    codes = np.asarray(sampled(task, KEY, KINDS).code)
    expected = {"zeros": 0.0, "mean": 1 / NONE}[absent]
    np.testing.assert_allclose(codes[1, NONE:], expected, atol=1e-6)
    np.testing.assert_allclose(codes[2, :NONE], expected, atol=1e-6)
    assert (codes[1, :NONE] == codes[0, :NONE]).all() and (codes[2, NONE:] == codes[0, NONE:]).all()


def test_a_stripe_is_localized_along_its_whole_length():
    task = BumpsAndStripes(STRIPES)
    target = kinds_of(task)[1:2]  # vertical, at x = 3
    for column, localized in ((2, 1), (3, 1), (4, 1), (5, 0)):
        for row in (0, 6, 11):
            prediction = np.zeros_like(target)
            prediction[0, row, column] = 1
            assert score(task, prediction, target)["localized"] == localized
    bump = kinds_of(task)[:1]
    assert score(task, target, bump)["localized"] == 0, "a stripe starts at the border and not at the bump"
    assert score(task, bump, bump)["localized"] == 1


def test_real_stripes_and_bumps_are_drawn_between_pixels_and_absent_factors_stay_absent():
    task = BumpsAndStripes(STRIPES, centers="real")
    first, second = (sampled(task, jax.random.key(seed), KINDS) for seed in (0, 1))
    assert (first.constituents != second.constituents).tolist() == np.asarray(task.present(KINDS)).tolist()
    x = float(first.constituents[1, 0])
    right, _ = offsets(NONE, x, 0)
    np.testing.assert_allclose(first.target[1, 0].reshape(NONE, NONE), gaussian(right), atol=1e-5)


def test_in_the_lookup_world_with_stripes_the_stripes_tell_nothing_of_bumps():
    task, plain = BumpsAndStripesLookup(STRIPES, seed=1), BumpsAndStripes(STRIPES)
    np.testing.assert_allclose(kinds_of(task)[1:], kinds_of(plain)[1:], atol=1e-6)
    bumps = Product(x=NONE, y=NONE).enumerate()
    targets = np.asarray(sampled(task, KEY, jnp.asarray(bumps)).target)[:, 0]
    at = targets.argmax(1)
    assert len(np.unique(at)) == NONE**2 and (at % NONE == bumps[:, 0]).mean() < 0.25


# -- rotation -----------------------------------------------------------------------------------------------------


def test_quarter_turns_are_exact_and_to_the_left():
    task = Rotation(Product(angle=4))
    found = pictures(task, [[0], [1], [2], [3], [4]])
    for quarter in range(5):
        np.testing.assert_allclose(found[quarter], np.rot90(found[0], quarter), atol=1e-4)
    assert abs(found[1] - found[0]).max() > 0.5


def test_turns_are_bilinear():
    """Against scipy's rotation by linear interpolation."""
    from scipy.ndimage import rotate

    task = Rotation(Product(angle=36), digit=7)
    upright, turned = pictures(task, [[0], [5]])
    np.testing.assert_allclose(turned, rotate(upright, 50, reshape=False, order=1), atol=1e-3)


def test_the_digit_is_one_of_scikit_learn_and_stays_in_the_picture():
    from sklearn.datasets import load_digits

    data = load_digits()
    for digit, example in ((4, 0), (0, 2)):
        task = Rotation(Product(angle=12), digit=digit, example=example)
        small = data.images[data.target == digit][example] / 16
        found = pictures(task, np.arange(12)[:, None])
        assert found.shape == (12, 28, 28) and found.min() >= 0 and found.max() <= 1
        # a cell of 8 x 8 is 2.5 pixels: coarse sums agree
        np.testing.assert_allclose(found.sum((1, 2)) / 2.5**2, small.sum(), rtol=0.06)
        border = np.ones((28, 28), bool)
        border[2:-2, 2:-2] = False
        assert found[:, border].max() < 0.25, "a corner of the digit was cut off"


def test_the_digits_that_come_along_are_the_first_of_scikit_learn():
    from sklearn.datasets import load_digits

    data = load_digits()
    first = np.stack([data.images[data.target == digit][0] for digit in range(10)])
    assert DIGITS.shape == (10, 8, 8) and DIGITS.min() == 0 and DIGITS.max() == 16
    assert (first == DIGITS).all()


def test_only_further_examples_need_scikit_learn(monkeypatch):
    monkeypatch.setitem(sys.modules, "sklearn.datasets", None)  # as if it were not installed
    for digit in range(10):
        Rotation(Product(angle=6), digit=digit, side=30)
    with pytest.raises(UserError, match="example=3 is one of scikit-learn's.*pip install scikit-learn") as refused:
        Rotation(Product(angle=6), example=3, side=30)
    assert "\n" not in str(refused.value)


def test_an_angle_is_localized_around_the_circle():
    task = Rotation(Product(angle=36))
    for true, said, localized in ((0, 35, 1), (0, 1, 1), (0, 34, 0), (17, 20, 0)):
        assert score(task, 0.5 * pictures(task, [[said]]), pictures(task, [[true]]))["localized"] == localized


def test_a_cross_fade_of_the_borders_of_a_gap_is_not_localized_in_it():
    """What published nets draw there."""
    task = Rotation(Product(angle=36))
    support = supports.gap(task.space)
    gap = support.held_out.combinations()
    assert gap.ravel().tolist() == [16, 17, 18, 19, 20]  # 160 to 200 degrees
    fade = pictures(task, [[15], [21]]).mean(0, keepdims=True)
    assert score(task, np.repeat(fade, 5, 0), pictures(task, gap))["localized"] < 1
