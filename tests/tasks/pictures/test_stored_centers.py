"""Stored centers: a finite set of real centers of each combination, the same at every draw."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from recombine import UserError
from recombine.spaces import Product
from recombine.tasks import Bumps


def centers(stored: int | None, draws: int = 200) -> np.ndarray:
    task = Bumps(Product(x=6, y=6), encoding="bump", centers="real", stored=stored)
    rows = jnp.tile(jnp.array([[2, 3], [4, 1]]), (draws, 1))
    return np.asarray(task.sample(jax.random.key(0), rows).constituents).reshape(draws, 2, 2)


@pytest.mark.parametrize("stored", [1, 3])
def test_a_combination_has_as_many_centers_as_are_stored_around_its_level(stored):
    drawn = centers(stored)
    for which, level in enumerate(([2, 3], [4, 1])):
        found = np.unique(drawn[:, which], axis=0)
        assert len(found) == stored and (np.abs(found - level) <= 0.5).all()


def test_combinations_have_centers_of_their_own_and_without_a_number_there_is_no_end_to_them():
    one = centers(1)[0]
    assert not np.allclose(one[0] - [2, 3], one[1] - [4, 1])
    assert len(np.unique(centers(None)[:, 0], axis=0)) == 200


def test_whole_centers_are_not_counted_and_none_is_refused():
    with pytest.raises(UserError, match="stored=2"):
        Bumps(Product(x=6, y=6), stored=2)
    with pytest.raises(UserError, match="stored=0"):
        Bumps(Product(x=6, y=6), centers="real", encoding="bump", stored=0)
