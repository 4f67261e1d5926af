"""Pictures against their formulas in plain numpy, reference errors of the notes, worlds against what they promise."""

from __future__ import annotations

import math

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from recombine import Product, UserError, supports, tasks
from recombine.keys import STREAMS, key_for
from recombine.tasks import (
    Bumps,
    BumpsAndStripes,
    BumpsAndStripesLookup,
    BumpsIndifferent,
    BumpsLookup,
    Ellipse,
    Pictures,
    Ring,
    Rotation,
    SizedBumps,
    StripeSum,
    TwoBumps,
    space_with_stripes,
)
from recombine.testing import check_task

PICTURES = {name: made for name, made in tasks.registry.items() if issubclass(made, Pictures)}
PUBLISHED = Product(x=28, y=28)
KEY = jax.random.key(0)


@jax.jit
def drawn(task, coordinates, present=None):
    return task.picture(coordinates, present)


@jax.jit
def sampled(task, key, rows):
    return task.sample(key, rows)


@jax.jit
def scored(task, prediction, target):
    return task.score(prediction, target)


def pictures(task: Pictures, at) -> np.ndarray:
    return np.asarray(drawn(task, jnp.asarray(at, jnp.float32)), np.float64)


def gaussian(away: np.ndarray, sigma: float = 1.0) -> np.ndarray:
    return np.exp(-(away**2) / (2 * sigma**2))


def offsets(side: int, x: float, y: float) -> tuple[np.ndarray, np.ndarray]:
    """How far each pixel lies to the right of x and below y: (rows, columns)."""
    down, right = np.mgrid[:side, :side]
    return right - x, down - y


# -- the reference errors of notes 1 ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def references() -> dict[str, float]:
    """Mean squared error over the 289 held-out positions of what could be drawn there instead of the truth."""
    support, task = supports.donut(PUBLISHED), Bumps(PUBLISHED)
    truth = np.zeros((28, 28, 28, 28))
    truth[*PUBLISHED.enumerate().T] = pictures(task, PUBLISHED.enumerate())
    trained = np.zeros((28, 28), bool)
    trained[*support.train.combinations().T] = True
    hole = support.held_out.combinations()
    mean = truth[trained].mean(0)
    stripe = gaussian(np.arange(28)[:, None] - np.arange(28))
    vertical, horizontal = stripe[:, None, :] + np.zeros((1, 28, 1)), stripe[:, :, None] + np.zeros((1, 1, 28))
    answers = {
        "blank": lambda x, y: np.zeros((28, 28)),
        "misplaced": lambda x, y: truth[6 + (x + 2) % 17, y],  # elsewhere in the hole, 8 or 9 pixels away
        "mean": lambda x, y: mean,
        "shared": lambda x, y: np.concatenate([truth[x, trained[x]], truth[trained[:, y], y]]).mean(0),
        "union": lambda x, y: np.maximum(vertical[x], horizontal[y]),
        "mean of stripes": lambda x, y: (vertical[x] + horizontal[y]) / 2,
        "both stripes": lambda x, y: np.maximum(vertical[x] + horizontal[y] - 1, 0),
        "product": lambda x, y: vertical[x] * horizontal[y],
    }
    assert {len(truth[x, trained[x]]) + len(truth[trained[:, y], y]) for x, y in hole} == {22}
    return {
        name: float(np.mean([(answer(x, y) - truth[x, y]) ** 2 for x, y in hole])) for name, answer in answers.items()
    }


@pytest.mark.parametrize(
    "name, error, digits",
    [
        ("blank", 0.00401, 5), ("misplaced", 0.0080, 4), ("mean", 0.00406, 5), ("shared", 0.00435, 5),
        ("union", 0.112, 3), ("mean of stripes", 0.028, 3), ("both stripes", 0.00019, 5), ("product", 0.0, 12),
    ],
)  # fmt: skip
def test_reference_errors_over_the_hole(references, name, error, digits):
    assert round(references[name], digits) == error


def test_a_blank_picture_errs_by_the_area_of_a_bump(references):
    assert references["blank"] == pytest.approx(math.pi / 28**2, rel=1e-3)


def test_background_errors_of_the_corner_split():
    """N = 32, sigma = 1.5, both from 12 held out: .0065 on the trained side and .0066 held out."""
    space = Product(x=32, y=32)
    task, support = Bumps(space, sigma=1.5), supports.corner(space)
    assert support.train.size == 624 and support.held_out.size == 400
    errors = [(pictures(task, side.combinations()) ** 2).mean() for side in (support.train, support.held_out)]
    assert [round(error, 4) for error in errors] == [0.0065, 0.0066]


def test_2000_draws_cover_almost_all_trained_positions():
    support = supports.donut(PUBLISHED)
    assert (support.train.size, support.held_out.size) == (495, 289)
    seen = [len(np.unique(support.train.sample(seed, 2000), axis=0)) / 495 for seed in range(5)]
    assert np.mean(seen) == pytest.approx(1 - (1 - 1 / 495) ** 2000, abs=0.01)  # .982


# -- bumps --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("polarity", ["bright", "dark"])
@pytest.mark.parametrize("sigma", [1.0, 1.5])
def test_bumps_follow_the_formula_with_x_as_the_column(sigma, polarity):
    task = Bumps(Product(x=9, y=12), sigma=sigma, polarity=polarity)
    x, y = 2.25, 7.0
    right, down = offsets(12, x, y)
    ink = gaussian(np.hypot(right, down), sigma)
    (found,) = pictures(task, [[x, y]])
    np.testing.assert_allclose(found, 1 - ink if polarity == "dark" else ink, atol=1e-6)
    np.testing.assert_allclose(task.ink_of(jnp.asarray(found)), ink, atol=1e-6)
    assert task.background == (polarity == "dark")


def test_a_batch_is_the_picture_its_code_and_its_place():
    task = Bumps(Product(x=5, y=4), encoding="one-hot")
    batch = sampled(task, KEY, jnp.asarray([[3, 1], [0, 2]]))
    assert batch.inputs.shape == (2, 1, 0) and batch.constituents.tolist() == [[3, 1], [0, 2]]
    assert batch.code.tolist() == [[0, 0, 0, 1, 0, 0, 1, 0, 0], [1, 0, 0, 0, 0, 0, 0, 1, 0]]
    np.testing.assert_allclose(batch.target[:, 0].reshape(2, 5, 5), pictures(task, [[3, 1], [0, 2]]), atol=1e-6)


def test_real_centers_are_uniform_around_their_level():
    task = Bumps(PUBLISHED, centers="real")
    rows = jnp.asarray(np.tile([[3, 27]], (4000, 1)))
    at = np.asarray(jax.jit(task.coordinates)(KEY, rows)) - np.asarray(rows)
    assert (np.floor(at + 0.5) == 0).all(), "a center left its level"
    assert abs(at.mean(0)).max() < 5 / math.sqrt(12 * 4000) and at.std(0) == pytest.approx(1 / math.sqrt(12), rel=0.05)
    assert abs(np.corrcoef(at.T)[0, 1]) < 0.08


def test_ink_is_differentiable_in_the_coordinates():
    """Slopes by automatic differentiation and by a small step."""
    for made in (Ring, Rotation):
        task = made(made.default_space())
        at = jnp.asarray([[5.3, 7.1]])[:, : len(task.factors)]
        weights = jax.random.normal(KEY, (task.side, task.side))
        total = jax.jit(lambda c, task=task, weights=weights: (task.ink(c)[0] * weights).sum())
        slope = np.asarray(jax.jit(jax.grad(total))(at))[0]
        for factor in range(len(task.factors)):
            step = np.zeros(at.shape, np.float32)
            step[0, factor] = 2e-3
            assert slope[factor] == pytest.approx(float(total(at + step) - total(at - step)) / 4e-3, rel=0.05, abs=0.05)


# -- scores -------------------------------------------------------------------------------------------------------


def score(task: Pictures, prediction: np.ndarray, target: np.ndarray) -> dict[str, float]:
    flat = (jnp.asarray(image, jnp.float32).reshape(len(image), 1, -1) for image in (prediction, target))
    return {name: float(value) for name, value in scored(task, *flat).items()}


@pytest.mark.parametrize("polarity", ["bright", "dark"])
def test_scores_of_empty_shifted_and_misplaced_pictures(polarity):
    task = Bumps(PUBLISHED, polarity=polarity)
    at = np.array([[8, 8], [14, 20], [20, 9]])
    target = pictures(task, at)
    empty = score(task, np.full_like(target, task.background), target)
    assert empty["error"] == pytest.approx(1) and empty["skill"] == pytest.approx(0, abs=1e-6)
    assert empty["mse"] == pytest.approx(math.pi / 28**2, rel=1e-3)
    far = score(task, pictures(task, at + [[5, 0]]), target)
    assert far["error"] == pytest.approx(2, rel=0.01) and far["localized"] == 0
    for step, near in (([1, 0], 1), ([1, -1], 1), ([2, 0], 0), ([0, 2], 0)):
        assert score(task, pictures(task, at + [step]), target)["localized"] == near
    # correct axes: a transposed picture is elsewhere
    assert score(task, target.transpose(0, 2, 1), target)["localized"] == pytest.approx(1 / 3)


# -- control worlds -----------------------------------------------------------------------------------------------


def places(task: Pictures, at: np.ndarray) -> np.ndarray:
    """Column and row of the strongest pixel of each picture."""
    flat = pictures(task, at).reshape(len(at), -1).argmax(1)
    return np.stack([flat % task.side, flat // task.side], 1)


def test_a_lookup_world_shows_every_place_once_and_in_no_order():
    space = Product(x=9, y=7)
    rows = space.enumerate()
    found = [places(BumpsLookup(space, seed=seed), rows) for seed in (0, 0, 1)]
    assert (found[0] == found[1]).all() and (found[0] != found[2]).any()
    assert sorted(map(tuple, found[0].tolist())) == sorted(map(tuple, rows.tolist()))
    # of a factor nothing is left: knowing x tells nothing of where
    correlation = np.corrcoef(np.concatenate([rows, found[0]], 1).T)[:2, 2:]
    assert abs(correlation).max() < 4 / math.sqrt(len(rows))


def test_a_lookup_world_keeps_the_offset_of_real_centers():
    task = BumpsLookup(Product(x=9, y=7), seed=3, centers="real")
    whole, moved = pictures(task, [[4, 2]]), pictures(task, [[4.25, 1.6]])
    (x, y), *_ = places(task, np.array([[4.0, 2.0]]))
    np.testing.assert_allclose(moved[0], gaussian(np.hypot(*offsets(9, x + 0.25, y - 0.4))), atol=1e-5)
    np.testing.assert_allclose(whole[0], gaussian(np.hypot(*offsets(9, x, y))), atol=1e-5)


def test_the_indifferent_world_shows_one_picture():
    task = BumpsIndifferent(PUBLISHED)
    found = pictures(task, PUBLISHED.enumerate()[::50])
    assert (found == found[:1]).all() and found[0].argmax() == 14 * 28 + 14


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
        ([3, 4, 12, 10], 1), ([12, 10, 3, 4], 1), ([4, 5, 11, 9], 1),
        ([3, 4, 3, 4], 0), ([3, 4, 12, 12], 0), ([3, 10, 12, 4], 0),
    ],
    ids=["right", "exchanged", "a pixel off", "one missing", "one two pixels off", "x and y exchanged"],
)  # fmt: skip
def test_both_bumps_must_be_found(drawn_at, localized):
    task = TwoBumps(TWO)
    noise = 0.02 * np.random.default_rng(0).normal(size=(1, 16, 16))
    assert score(task, pictures(task, [drawn_at]) + noise, pictures(task, [[3, 4, 12, 10]]))["localized"] == localized


@pytest.mark.parametrize("at", [[7, 7, 7, 7], [7, 7, 8, 7], [7, 7, 9, 8], [0, 0, 15, 15]], ids=str)
def test_bumps_on_or_beside_each_other_are_found_by_the_truth(at):
    target = pictures(TwoBumps(TWO), [at])
    assert score(TwoBumps(TWO), target, target)["localized"] == 1


# -- bumps and stripes --------------------------------------------------------------------------------------------

NONE = 12  # the level of an absent factor
STRIPES = space_with_stripes(NONE)
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
    assert task.side == NONE and task.code_size == 2 * NONE
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


# -- streams ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", PICTURES)
def test_with_real_centers_no_two_streams_share_an_item(name):
    made = PICTURES[name]
    task = made(made.default_space(), seed=1, centers="real")
    assert not task.repeats
    rows = task.space.sample(3, 100)
    rows = rows[~(rows == np.array(task.space.levels) - 1).all(1)]  # (none, none) has one picture
    codes = jax.jit(lambda key: task.sample(key, jnp.asarray(rows)).code)
    items = np.concatenate([np.asarray(codes(key_for(stream, 0))) for stream in STREAMS])
    assert len(np.unique(items, axis=0)) == len(items)


@pytest.mark.parametrize("name", PICTURES)
def test_a_world_can_be_built_by_shape_alone(name):
    """As studies do before anything is compiled."""
    made = PICTURES[name]
    shape, real = eqx.filter_eval_shape(lambda: made(made.default_space(), seed=3)), made(made.default_space())
    assert jax.tree.map(jnp.shape, eqx.filter(real, eqx.is_array)) == jax.tree.map(lambda leaf: leaf.shape, shape)


def test_real_centers_pass_the_public_check():
    check_task(BumpsLookup(Product(x=9, y=7), centers="real", polarity="dark"))


# -- bad arguments ------------------------------------------------------------------------------------------------

BAD_ARGUMENTS = {
    "no width": (lambda: Bumps(PUBLISHED, sigma=0.0), "sigma=0.0 is not a number above 0"),
    "an endless width": (lambda: Bumps(PUBLISHED, sigma=math.inf), "sigma=inf"),
    "a small picture": (lambda: Bumps(PUBLISHED, side=20), "side=20 is too small; it must be at least 28"),
    "one factor": (lambda: Bumps(Product(x=28)), r"Product\(x=16, y=16\), got Product\(x=28\)"),
    "factors in another order": (lambda: Bumps(Product(y=8, x=8)), r"such as Product\(x=16, y=16\)"),
    "unknown centers": (lambda: Bumps(PUBLISHED, centers="reel"), "'reel'; did you mean 'real'"),
    "one-hot between levels": (lambda: Bumps(PUBLISHED, centers="real", encoding="one-hot"), "whole coordinates only"),
    "an encoding of modules": (lambda: Bumps(PUBLISHED, encoding="identity"), "encoding of coordinates 'identity'"),
    "an ellipse along the axes": (lambda: Ellipse(PUBLISHED, angle=90.0), "angle=90.0.*separable"),
    "a round ellipse": (lambda: Ellipse(PUBLISHED, ratio=1.0), "ratio=1.0"),
    "a ring without a hole": (lambda: Ring(PUBLISHED, radius=0.5), "radius=0.5"),
    "sizes that shrink": (lambda: SizedBumps(SizedBumps.default_space(), largest=0.5), "largest=0.5"),
    "no such digit": (lambda: Rotation(Product(angle=8), digit=10), "digit=10"),
    "no such example": (lambda: Rotation(Product(angle=8), example=999), "example=999 of the digit 4.*there are"),
    "a factor that is never absent": (lambda: BumpsAndStripes(PUBLISHED), "levels of 'x'.*must be 'none', not 27"),
    "a mask outside": (lambda: BumpsAndStripes(STRIPES, mask=(2, 12)), "mask=12"),
    "a mask turned around": (lambda: BumpsAndStripes(STRIPES, mask=(8, 2)), r"mask=\(8, 2\).*lower level first"),
    "half a mask": (lambda: BumpsAndStripes(STRIPES, mask=(8,)), r"mask=\(8,\) must be the first and last"),
}


@pytest.mark.parametrize("name", BAD_ARGUMENTS)
def test_bad_arguments_are_refused_by_name(name):
    make, words = BAD_ARGUMENTS[name]
    with pytest.raises(UserError, match=words):
        make()
