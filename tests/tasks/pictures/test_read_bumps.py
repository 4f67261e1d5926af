"""bumps-read-v1: what is shown and asked for, what counts as right, and its control."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from recombine import UserError
from recombine.spaces import Product
from recombine.tasks import BumpsRead, BumpsReadLookup

SPACE = Product(x=6, y=6)
ROWS = jnp.array([[4, 1], [0, 5]])


@pytest.mark.parametrize("asked", ["bump", "scalar"])
def test_the_truth_is_right_and_a_neighbor_is_not(asked):
    task = BumpsRead(SPACE, asked=asked)
    batch = task.sample(jax.random.key(0), ROWS)
    assert [divmod(int(i), 6) for i in batch.inputs.reshape(2, -1).argmax(1)] == [(1, 4), (5, 0)]  # row = y
    assert task.score(np.asarray(batch.target), batch)["right"].all()
    beside = task.sample(jax.random.key(0), ROWS.at[:, 0].set(jnp.array([3, 1]))).target
    assert not task.score(np.asarray(beside), batch)["right"].any()


def test_two_numbers_are_right_within_half_a_level():
    task = BumpsRead(SPACE, asked="scalar")
    batch = task.sample(jax.random.key(0), ROWS)
    level = 2 / 5
    for off, right in ((0.49, True), (0.51, False)):
        moved = np.asarray(batch.target) + np.array([off * level, 0.0])
        assert task.score(moved, batch)["right"].tolist() == [right, right]


def test_in_lookup_the_place_shown_says_nothing_of_the_coordinates():
    task = BumpsReadLookup(SPACE, 3)
    rows = jnp.asarray(SPACE.enumerate())
    shown = task.sample(jax.random.key(0), rows).inputs.reshape(36, -1).argmax(1)
    assert sorted(shown.tolist()) == list(range(36))  # every place once, and hardly one its own
    assert (np.asarray(shown) == np.asarray(rows[:, 1] * 6 + rows[:, 0])).mean() < 0.3


def test_what_cannot_be_asked_for_is_refused():
    with pytest.raises(UserError, match="did you mean 'scalar'"):
        BumpsRead(SPACE, asked="scalars")
