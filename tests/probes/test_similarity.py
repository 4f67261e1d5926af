"""similarity: SSIM against its formula, similarity matrices of known drawings, blocks and controls of a trained net."""

from __future__ import annotations

import numpy as np
import pytest

from recombine import probes
from recombine.nets import MLP
from recombine.probes.similarity import C1, similarity_matrices, ssim
from recombine.spaces import Product
from recombine.supports import registry as supports
from recombine.tasks import Bumps
from recombine.training import Recipe, Trained, train


@pytest.fixture(scope="module")
def drawn() -> Trained:
    space = Product(x=8, y=8)
    recipe = Recipe(steps=20, tasks=8, precision="float32")
    return train(Bumps(space), supports["donut"](space), MLP(8, 1), recipe, seeds=[0], progress=False, watch=())


def test_ssim_is_one_for_the_same_picture_symmetric_and_at_most_one():
    a, b = np.random.default_rng(0).random((2, 5, 9, 9))
    assert ssim(a, a) == pytest.approx(1.0)
    np.testing.assert_allclose(ssim(a, b), ssim(b, a))
    assert (ssim(a, b) < 0.5).all()


def test_ssim_of_even_pictures_is_that_of_their_means():
    """Without variance only the luminance is left: (2 a b + C1) / (a^2 + b^2 + C1)."""
    a, b = np.full((1, 8, 8), 0.2), np.full((1, 8, 8), 0.6)
    assert ssim(a, b)[0] == pytest.approx((2 * 0.2 * 0.6 + C1) / (0.2**2 + 0.6**2 + C1))


def test_ssim_of_one_window_by_hand():
    """A picture of one window: means, unbiased variances and the covariance of all its pixels."""
    a, b = np.random.default_rng(1).random((2, 1, 7, 7))
    x, y = a.ravel(), b.ravel()
    cov = np.cov(x, y)
    luminance = (2 * x.mean() * y.mean() + 1e-4) / (x.mean() ** 2 + y.mean() ** 2 + 1e-4)
    assert ssim(a, b)[0] == pytest.approx(luminance * (2 * cov[0, 1] + 9e-4) / (cov[0, 0] + cov[1, 1] + 9e-4))


def test_matrices_of_known_drawings():
    ink = np.array([[1.0, 0, 0, 0], [0, 1.0, 0, 0], [0.8, 0.8, 0, 0], [0, 0, 0, 0]])
    found = similarity_matrices(ink)
    np.testing.assert_allclose(found["cosine"][2, :2], 0.5**0.5)
    assert found["cosine"][0, 1] == 0 and (found["cosine"][3] == 0).all()
    assert found["distance"][0, 1] == pytest.approx(2**0.5) and found["distance"][3, 0] == pytest.approx(1.0)
    assert found["overlap"][0, 2] == 1 / 4 and found["overlap"][0, 1] == 0


def test_true_pictures_and_templates_are_told_apart(drawn):
    found = probes.similarity(drawn)
    assert found.value("ssim_error_held_out_truth").mean == 0.0
    assert found.value("ssim_error_held_out_template").mean > 0.05
    # a template holds ink of all trained drawings that share a factor; a true bump hardly overlaps with them
    assert found.value("cosine_sharing_template").mean > found.value("cosine_sharing_truth").mean + 0.1
    assert found.value("distance_trained_truth").mean > 0
    alone = probes.similarity(drawn, matrices=False)
    assert {row["metric"] for row in alone.rows if "cosine" in row["metric"]} == set()


def test_maps_have_trained_points_first(drawn):
    maps = probes.similarity_maps(drawn)
    assert {one.shape for one in maps.values()} == {(64, 64)}
    np.testing.assert_allclose(maps["cosine"], maps["cosine"].T, atol=1e-6)
