"""Pictures against their formulas in plain numpy, and against the reference errors of the notes."""

from __future__ import annotations

import math

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from drawn_pictures import KEY, PUBLISHED, STRIPES, gaussian, offsets, pictures, sampled, score

from recombine import Product, UserError, supports, tasks
from recombine.keys import STREAMS, key_for
from recombine.tasks import (
    Bumps,
    BumpsAndStripes,
    BumpsIndifferent,
    BumpsLookup,
    Ellipse,
    Pictures,
    Ring,
    Rotation,
    SizedBumps,
)
from recombine.testing import check_task

PICTURES = {name: made for name, made in tasks.registry.items() if issubclass(made, Pictures)}


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
        ("blank", 0.00401, 5),
        ("misplaced", 0.0080, 4),
        ("mean", 0.00406, 5),
        ("shared", 0.00435, 5),
        ("union", 0.112, 3),
        ("mean of stripes", 0.028, 3),
        ("both stripes", 0.00019, 5),
        ("product", 0.0, 12),
    ],
)
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
    assert batch.inputs is None and batch.target.shape == (2, 1, 25) and batch.constituents.tolist() == [[3, 1], [0, 2]]
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
