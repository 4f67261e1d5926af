"""The geometry of layers over a grid, against closed forms."""

from __future__ import annotations

import jax
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from planted import NOISE, SUMS, N, Wave, X, Y, noise, only, planted, pretend

from recombine import Product, Recipe, UserError, supports
from recombine.nets import MLP
from recombine.probes import geometry
from recombine.probes.geometry import (
    Metric,
    differentiable,
    metric_by_differences,
    metric_maps,
)
from recombine.probes.grid import make_grid
from recombine.tasks import Bumps


@settings(deadline=None, max_examples=30)
@given(arrays.arrays(np.float32, (5, 4, 3), elements=st.floats(-100, 100, width=32)))
def test_differences_are_those_of_numpy_and_factorization_lies_between_a_half_and_one(values):
    first, second = np.gradient(values.astype(float), axis=0), np.gradient(values.astype(float), axis=1)
    expected = np.stack([(first**2).sum(-1), (second**2).sum(-1), (first * second).sum(-1)], axis=-1)
    found = metric_by_differences(values)
    np.testing.assert_allclose(found.g, expected, rtol=1e-4, atol=1e-5 * max(1.0, expected.max()))
    f = found.factorization()
    assert 0.5 - 1e-6 <= f <= 1 or (np.isnan(f) and np.ptp(values, axis=(0, 1)).max() == 0)


@pytest.mark.parametrize("size", [1.5e-42, 1e-30, 1e-3, 1e3, 1e30])
def test_factorization_does_not_depend_on_the_size_of_activations(size):
    """Also where squares leave the range of float32; 1.5e-42 is a subnormal number."""
    values = np.random.default_rng(0).integers(-3, 4, (5, 4, 3)).astype(np.float32)
    scaled = (values * np.float32(size)).astype(np.float32)  # whole multiples of a subnormal number are exact, too
    assert metric_by_differences(scaled).factorization() == pytest.approx(metric_by_differences(values).factorization())


def test_factorization_of_known_manifolds():
    at = np.arange(28)
    stripe = np.exp(-((at - at[:, None]) ** 2) / 2)  # (place, pixel)
    across, down = stripe[:, None, None, :], stripe[None, :, :, None]
    bumps, crosses = (down * across).reshape(28, 28, -1), (down + across).reshape(28, 28, -1)
    assert metric_by_differences(bumps).factorization() == pytest.approx(0.99995, abs=1e-5)
    assert metric_by_differences(crosses).factorization() == pytest.approx(0.99982, abs=1e-5)
    diagonal = np.add.outer(at[:N], at[:N])[..., None] * np.arange(1, 4)  # both factors move it alike
    assert metric_by_differences(diagonal).factorization() == pytest.approx(0.5, abs=1e-6)
    apart = np.concatenate([np.broadcast_to(X, SUMS.shape), np.broadcast_to(Y, SUMS.shape)], axis=-1)
    assert metric_by_differences(apart).factorization() == 1


def test_a_linear_net_on_a_ramp_has_one_metric_everywhere_by_either_way():
    space = Product(x=6, y=7)
    task = Bumps(space, encoding="ramp")
    net = MLP(4, 0).build(task, jax.random.key(1))
    run = pretend(task, supports.donut(space), MLP(4, 0), net)
    kernel = np.asarray(net.kernels[0], float)  # (2, outputs)
    g = kernel @ kernel.T
    for by in ("differences", "derivative"):
        metric = only(metric_maps(run, by=by))
        np.testing.assert_allclose(metric.g, np.broadcast_to([g[0, 0], g[1, 1], g[0, 1]], (6, 7, 3)), rtol=1e-4)
        np.testing.assert_allclose(metric.log_volume, np.log10(np.sqrt(np.linalg.det(g))), atol=1e-4)
        assert metric.factorization() == pytest.approx(1 - abs(g[0, 1]) / np.trace(g), abs=1e-5)


def test_on_a_fine_grid_differences_become_derivatives():
    """The error of central differences falls with the square of the step: a scale of half has a fourth of it."""
    space = Product(x=12, y=12)
    task = Bumps(space, encoding="ramp")
    off = []
    for scale in (0.1, 0.05):
        net = Wave(scale=scale).build(task, jax.random.key(2))
        run = pretend(task, supports.donut(space), Wave(scale=scale), net)
        difference, exact = (only(metric_maps(run, by=by)) for by in ("differences", "derivative"))
        inside = (slice(1, -1), slice(1, -1))
        off.append(np.abs(difference.g[inside] / exact.g[inside] - 1)[..., :2].max())
        assert abs(difference.factorization() - exact.factorization()) < 0.02
    assert off[1] < 0.3 * off[0] < 0.01


def test_codes_are_factorized_and_a_one_hot_code_has_no_derivative():
    space = Product(x=N, y=N)
    for code in ("one-hot", "bump", "ramp"):
        grid = make_grid(Bumps(space, encoding=code), supports.donut(space))
        assert metric_by_differences(grid.codes.reshape(N, N, -1)).factorization() == 1
        assert differentiable(grid) == (code != "one-hot")
    readings = geometry(planted(layer=NOISE), layers="layer1/post")
    assert readings.value("factorization_encoding").mean == 1
    assert not any("derivative" in row["metric"] for row in readings.rows)
    with pytest.raises(UserError, match="no derivative"):
        metric_maps(planted(), by="derivative")


def test_sides_are_read_apart_and_a_layer_that_does_not_move_is_undefined():
    bent = np.zeros((N, N, 2))
    bent[..., 0], bent[..., 1] = np.arange(N)[:, None], np.arange(N)  # orthogonal, but in the hole
    bent[2:6, 2:6] = np.add.outer(np.arange(4), np.arange(4))[..., None]
    readings = geometry(planted(layer=bent), layers="layer1/post", controls=False)
    metric = metric_by_differences(bent)
    hole = np.zeros((N, N), bool)
    hole[2:6, 2:6] = True
    assert readings.value("factorization_held_out").mean == pytest.approx(metric.factorization(hole)) != 1
    assert readings.value("factorization_trained").mean == pytest.approx(metric.factorization(~hole)) != 1
    still = geometry(planted(layer=np.full((N, N, 2), 0.3)), layers="layer1/post", controls=False)
    assert str(still.value()) == "undefined" and still.value("log_volume").mean == -12


def test_the_exact_derivative_is_taken_of_nets_trained_in_bfloat16():
    space = Product(x=N, y=N)
    task = Bumps(space)
    nets = {p: MLP(16, 1).build(task, jax.random.key(0), p) for p in ("bfloat16", "float32")}
    found = {
        p: metric_maps(
            pretend(task, supports.donut(space), MLP(16, 1), net, recipe=Recipe(steps=1, precision=p)), by="derivative"
        )
        for p, net in nets.items()
    }
    np.testing.assert_array_equal(found["bfloat16"]["output"].g, found["float32"]["output"].g)


def test_a_metric_is_summed_over_blocks():
    wide = noise(N, N, 1500)
    assert only(metric_maps(planted(layer=wide), layers="layer1/post")).g == pytest.approx(
        metric_by_differences(wide).g, rel=1e-5
    )
    with pytest.raises(UserError, match="'diferences'.*'differences'"):
        metric_maps(planted(), by="diferences")
    assert Metric(np.ones((2, 2, 3))).log_volume == pytest.approx(-12)  # two equal directions span no volume
