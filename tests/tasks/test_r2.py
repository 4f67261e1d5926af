"""R^2 in both conventions, against loops and by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recombine.tasks import REGRESSION
from recombine.tasks.metrics import regression_statistics


def scores(prediction, target) -> dict[str, float]:
    statistics = regression_statistics(np.asarray(prediction, np.float32), np.asarray(target, np.float32))
    return {metric.name: metric(statistics) for metric in REGRESSION}


def normal(seed: int, *shape: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape)


def test_a_perfect_prediction_scores_one():
    target = normal(0, 7, 5, 3)
    assert scores(target, target) == {"r2": 1, "r2_pooled": 1, "undefined": 0}


def test_the_mean_of_each_task_scores_zero_by_task_and_more_pooled():
    target = normal(0, 7, 5, 3) + 4 * normal(1, 7, 1, 3)
    found = scores(np.broadcast_to(target.mean(1, keepdims=True), target.shape), target)
    assert found["r2"] == pytest.approx(0, abs=1e-5)
    within, total = ((target - target.mean(axis, keepdims=True)) ** 2 for axis in (1, (0, 1)))
    assert found["r2_pooled"] == pytest.approx(1 - within.sum() / total.sum(), abs=1e-5) and found["r2_pooled"] > 0.8


def test_the_overall_mean_scores_zero_pooled():
    target = normal(0, 7, 5, 3) + 4 * normal(1, 7, 1, 3)
    found = scores(np.broadcast_to(target.mean((0, 1)), target.shape), target)
    assert found["r2_pooled"] == pytest.approx(0, abs=1e-5) and found["r2"] < -1


def test_a_small_example_by_hand():
    target = np.array([[[0.0], [2.0]], [[4.0], [8.0]]])  # variances 1 and 4; mean 3.5, squared deviations 35
    prediction = np.array([[[0.0], [1.0]], [[5.0], [8.0]]])  # mean squared errors .5 and .5; sum 2
    found = scores(prediction, target)
    assert found["r2"] == pytest.approx(((1 - 0.5 / 1) + (1 - 0.5 / 4)) / 2)
    assert found["r2_pooled"] == pytest.approx(1 - 2 / 35)
    assert found["undefined"] == 0


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 2**32 - 1), st.sampled_from([(1, 2, 1), (4, 3, 2), (3, 9, 5)]))
def test_both_conventions_against_loops(seed, shape):
    target = normal(seed, *shape)
    prediction = target + 0.5 * normal(seed + 1, *shape)
    by_task = [
        1 - np.mean((prediction[t, :, o] - target[t, :, o]) ** 2) / np.var(target[t, :, o])
        for t in range(shape[0])
        for o in range(shape[2])
    ]
    residual = ((prediction - target) ** 2).sum()
    spread = sum(((target[..., o] - target[..., o].mean()) ** 2).sum() for o in range(shape[2]))
    found = scores(prediction, target)
    assert found["r2"] == pytest.approx(np.mean(by_task), rel=1e-3, abs=1e-4)
    assert found["r2_pooled"] == pytest.approx(1 - residual / spread, rel=1e-3, abs=1e-4)


@pytest.mark.parametrize("scale", [1e-8, 1e-4, 1.0, 1e4])
def test_scores_do_not_depend_on_the_unit(scale):
    target = normal(0, 6, 8, 2)
    prediction = target + 0.3 * normal(1, 6, 8, 2)
    assert scores(scale * prediction, scale * target) == pytest.approx(scores(prediction, target), rel=1e-4)


@pytest.mark.parametrize("constant", [0.0, 0.1, -7.3, 1000.1])
@pytest.mark.parametrize("samples", [3, 5, 16])
def test_outputs_without_variance_are_undefined_and_left_out(constant, samples):
    target = normal(0, 4, samples, 3)
    prediction = target + 0.3 * normal(1, 4, samples, 3)
    kept = [
        scores(prediction[t : t + 1, :, o : o + 1], target[t : t + 1, :, o : o + 1])["r2"]
        for t in range(4)
        for o in range(3)
        if (t, o) != (2, 1)
    ]
    target[2, :, 1] = constant
    found = scores(prediction, target)
    assert found["undefined"] == 1
    assert found["r2"] == pytest.approx(np.mean(kept), rel=1e-3)


@pytest.mark.parametrize("constant", [0.0, 0.1, -7.3, 1000.1])
@pytest.mark.parametrize("samples", [3, 5, 16])
def test_where_everything_is_undefined_so_is_the_score(constant, samples):
    target = np.full((4, samples, 2), constant)
    found = scores(target + 1, target)
    assert found["undefined"] == 8
    assert math.isnan(found["r2"]) and math.isnan(found["r2_pooled"])


def test_constant_tasks_that_differ_are_undefined_by_task_and_defined_pooled():
    target = np.broadcast_to(np.array([[[0.0]], [[1.0]]]), (2, 4, 1))
    found = scores(target, target)
    assert math.isnan(found["r2"]) and found["undefined"] == 2 and found["r2_pooled"] == 1
