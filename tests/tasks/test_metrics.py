"""Metrics: what an answer is made of, item by item, and groups of items against loops. R^2 by hand: test_r2.py."""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recombine.tasks import ANSWERS, REGRESSION, Batch, Metric, Task, decided
from recombine.tasks.metrics import NATS, answer_statistics, regression_statistics

SEEDS = st.integers(0, 2**32 - 1)


def reduced(metrics, statistics, which=slice(None)) -> dict[str, float]:
    return {metric.name: metric({name: values[which] for name, values in statistics.items()}) for metric in metrics}


def some(rng: np.random.Generator, items: int) -> np.ndarray:
    """A group: some of the items, in any order, none of them twice."""
    return rng.permutation(items)[: rng.integers(1, items + 1)]


# -- numbers ------------------------------------------------------------------------------------------------------


def plain_r2(prediction: np.ndarray, target: np.ndarray) -> dict[str, float]:
    """Both conventions by their definitions, of (T, S, O)."""
    ratios, undefined = [], 0
    for t in range(len(target)):
        for o in range(target.shape[2]):
            mine, wanted = prediction[t, :, o], target[t, :, o]
            if wanted.max() > wanted.min():
                ratios.append(1 - ((mine - wanted) ** 2).mean() / wanted.var())
            else:
                undefined += 1
    spread = sum(((target[..., o] - target[..., o].mean()) ** 2).sum() for o in range(target.shape[2]))
    varies = (target.max((0, 1)) > target.min((0, 1))).any()
    return {
        "r2": float(np.mean(ratios)) if ratios else math.nan,
        "r2_pooled": float(1 - ((prediction - target) ** 2).sum() / spread) if varies else math.nan,
        "undefined": float(undefined),
    }


@settings(deadline=None, max_examples=50)
@given(SEEDS, st.sampled_from([(1, 2, 1), (5, 1, 3), (6, 4, 2), (9, 3, 1)]), st.sampled_from([0.0, 3.0, -1e6]))
def test_both_conventions_of_r2_over_any_group_are_those_of_its_answers(seed, shape, offset):
    rng = np.random.default_rng(seed)
    target = rng.normal(size=shape) + 3 * rng.normal(size=(shape[0], 1, shape[2])) + offset
    target[rng.random(shape[0]) < 0.3] = offset  # some tasks have no variance
    prediction = target + 0.5 * rng.normal(size=shape)
    statistics, which = regression_statistics(prediction, target), some(rng, shape[0])
    found, wanted = reduced(REGRESSION, statistics, which), plain_r2(prediction[which], target[which])
    assert found == pytest.approx(wanted, rel=1e-6, abs=1e-9, nan_ok=True)


def test_statistics_of_numbers_are_one_row_per_item_and_one_column_per_output():
    rng = np.random.default_rng(0)
    for shape, outputs in (((5, 4, 3), 3), ((5, 4, 2, 3), 6), ((5, 7), 7)):
        target = rng.normal(size=shape).astype(np.float32)
        statistics = regression_statistics(target + 1, target)
        assert {values.shape for values in statistics.values()} == {(5, outputs)}
        samples = shape[1] if len(shape) > 2 else 1
        np.testing.assert_allclose(statistics["squared_error"], samples, rtol=1e-5)
        assert (statistics["samples"] == samples).all() and statistics["variance"].dtype == np.float64


def test_a_target_without_samples_has_no_r2_by_task_and_one_pooled():
    target = np.random.default_rng(0).normal(size=(20, 3))
    found = reduced(REGRESSION, regression_statistics(np.broadcast_to(target.mean(0), target.shape), target))
    assert math.isnan(found["r2"]) and found["undefined"] == 60 and found["r2_pooled"] == pytest.approx(0, abs=1e-12)


# -- whole numbers ------------------------------------------------------------------------------------------------


def planted(rng: np.random.Generator, shape: tuple[int, ...], words: int) -> tuple[np.ndarray, np.ndarray]:
    """Answers and targets: half of the places right, a third not counted (whatever is said), some items all right."""
    target = rng.integers(0, words, shape)
    target[rng.random(shape) < 0.3] = -1
    answer = np.where(rng.random(shape) < 0.5, rng.integers(0, words, shape), target)
    sure = rng.random(shape[0]) < 0.3
    answer[sure] = target[sure]
    return answer, target


@settings(deadline=None, max_examples=50)
@given(SEEDS, st.sampled_from([(1,), (8,), (7, 5), (6, 2, 3)]), st.integers(2, 6))
def test_exact_match_and_accuracy_over_any_group_are_those_of_its_answers(seed, shape, words):
    rng = np.random.default_rng(seed)
    answer, target = planted(rng, shape, words)
    which = some(rng, shape[0])
    found = reduced(ANSWERS, answer_statistics(answer, target), which)
    whole, right, counted, asked = 0, 0, 0, 0
    for said, wanted in zip(answer[which].reshape(len(which), -1), target[which].reshape(len(which), -1), strict=True):
        places = [(a, b) for a, b in zip(said, wanted, strict=True) if b >= 0]
        whole, asked = whole + (bool(places) and all(a == b for a, b in places)), asked + bool(places)
        right, counted = right + sum(a == b for a, b in places), counted + len(places)
    # an item in which nothing counts was not asked
    assert found["exact"] == pytest.approx(whole / asked if asked else math.nan, nan_ok=True)
    assert found["accuracy"] == pytest.approx(right / counted if counted else math.nan, nan_ok=True)


@settings(deadline=None, max_examples=25)
@given(SEEDS, st.sampled_from([(8,), (7, 5), (6, 2, 3)]), st.integers(2, 6))
def test_logits_are_scored_as_their_largest(seed, shape, words):
    rng = np.random.default_rng(seed)
    answer, target = planted(rng, shape, words)
    answer = np.maximum(answer, 0)
    logits = rng.normal(size=(*shape, words))
    np.put_along_axis(logits, answer[..., None], 9.0, axis=-1)
    assert (decided(logits, target) == answer).all() and decided(answer, target) is answer
    for name, values in answer_statistics(logits, target).items():
        np.testing.assert_array_equal(values, answer_statistics(answer, target)[name])


def test_items_of_different_length_weigh_alike_in_exact_match_and_by_length_in_accuracy():
    target = np.array([[1, -1, -1, -1], [1, 2, 3, 0]])
    right_short, right_long = np.array([[1, 0, 0, 0], [0, 0, 0, 1]]), np.array([[0, 0, 0, 0], [1, 2, 3, 0]])
    assert reduced(ANSWERS, answer_statistics(right_short, target)) == {"exact": 0.5, "accuracy": 1 / 5}
    assert reduced(ANSWERS, answer_statistics(right_long, target)) == {"exact": 0.5, "accuracy": 4 / 5}


def test_nats_are_averaged_over_items():
    assert NATS({"nats": np.array([-1.0, -2.0, -6.0])}) == -3


@pytest.mark.parametrize("metric", [*REGRESSION, *ANSWERS, NATS], ids=lambda metric: metric.name)
def test_a_group_without_items_has_no_score(metric):
    numbers, words = np.ones((4, 3, 2)), np.ones((4, 3), int)
    statistics = regression_statistics(numbers, numbers) | answer_statistics(words, words) | {"nats": np.ones(4)}
    assert math.isnan(metric({name: values[:0] for name, values in statistics.items()}))
    assert math.isnan(metric({})), "without a target there are no statistics"


def test_a_metric_gives_a_plain_float():
    value = Metric("one", "one", lambda statistics: statistics["a"].sum())({"a": np.ones(3, np.float32)})
    assert type(value) is float and value == 3


# -- what every task gets of it -----------------------------------------------------------------------------------


@settings(deadline=None, max_examples=25)
@given(SEEDS, st.sampled_from([(8,), (7, 5), (6, 2, 3)]))
def test_by_default_a_task_of_words_is_trained_by_cross_entropy_and_rewarded_by_exact_match(seed, shape):
    rng = np.random.default_rng(seed)
    answer, target = planted(rng, shape, 4)
    logits = rng.normal(size=(*shape, 4)).astype(np.float32)
    batch = Batch(None, target=jnp.asarray(target))
    p = np.exp(logits) / np.exp(logits).sum(-1, keepdims=True)
    places = [-math.log(p[at][target[at]]) for at in np.ndindex(shape) if target[at] >= 0]
    loss = jax.jit(lambda said: Task.loss(None, said, batch))(logits)
    assert float(loss) == pytest.approx(np.mean(places) if places else 0, rel=1e-4)
    reward = jax.jit(lambda said: Task.reward(None, said, batch))(answer)
    assert reward.shape == shape[:1] and set(np.unique(reward)) <= {0, 1}
    statistics = Task.score(None, answer, Batch(None, target=target))
    assert (np.asarray(reward) == (statistics["right"] == statistics["counted"])).all()
    asked = statistics["counted"] > 0
    wanted = float(np.asarray(reward)[asked].mean()) if asked.any() else math.nan
    assert reduced(ANSWERS, statistics)["exact"] == pytest.approx(wanted, nan_ok=True)


def test_a_reward_of_numbers_takes_none_of_them_for_one_that_does_not_count():
    batch = Batch(None, target=jnp.asarray([[-1.5], [2.0]]))
    assert Task.reward(None, jnp.asarray([[0.0], [2.0]]), batch).tolist() == [0.0, 1.0]


def test_by_default_a_task_of_numbers_is_trained_by_squared_error():
    rng = np.random.default_rng(0)
    target, prediction = rng.normal(size=(2, 5, 3, 2))
    loss = Task.loss(None, jnp.asarray(prediction), Batch(None, target=jnp.asarray(target)))
    assert float(loss) == pytest.approx(((prediction - target) ** 2).mean(), rel=1e-5)
    assert "squared_error" in Task.score(None, prediction, Batch(None, target=target))
