"""Ridge regression: the solution of its normal equations, from rows, from features and from sums."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from recombine.statistics import ridge


def drawn(rows: int, features: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(rows + features)
    return rng.standard_normal((rows, features)) + 3.0, rng.standard_normal((rows, 2)) - 5.0


@pytest.mark.parametrize("rows, features", [(40, 7), (7, 40), (9, 9)])
def test_it_is_the_ridge_of_scikit_learn_also_with_more_features_than_rows(rows, features):
    x, y = drawn(rows, features)
    weights, intercept = ridge.fit(x, y, 0.7)
    peer = Ridge(alpha=0.7).fit(x, y)
    assert np.allclose(weights, peer.coef_.T) and np.allclose(intercept, peer.intercept_)


def test_sums_of_blocks_give_what_all_rows_give_and_rows_can_be_left_out_again():
    x, y = drawn(30, 4)
    blocks = [ridge.Sums.of(x[part], y[part]) for part in (slice(0, 11), slice(11, 30))]
    for found, part in ((blocks[0] + blocks[1], slice(None)), (ridge.Sums.of(x, y) - blocks[1], slice(0, 11))):
        weights, intercept = found.solve(1.0)
        expected = ridge.fit(x[part], y[part], 1.0)
        assert np.allclose(weights, expected[0]) and np.allclose(intercept, expected[1])


def test_the_score_of_a_target_that_does_not_vary_is_undefined():
    targets = np.array([[1.0, 2.0], [3.0, 2.0]])
    perfect, undefined = ridge.r2_by_target(targets, targets)
    assert perfect == 1.0 and np.isnan(undefined)
    assert ridge.r2_by_target(np.full((2, 2), 2.0), targets)[0] == 0.0
