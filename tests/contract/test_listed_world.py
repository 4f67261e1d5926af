"""A world over a list of combinations, some of which a data set repeats: what corpora will be made of."""

from __future__ import annotations

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import recombine as rc
from recombine.tasks import ANSWERS, Batch, Task
from recombine.testing import check_net, check_space, check_support, check_task
from recombine.training import draw_combinations

WORDS = [list(word) for size in (2, 3, 4) for word in itertools.product(range(3), repeat=size)]


class Counting(Task):
    """How often the first letter of a word comes in it, less one."""

    id = "counting"
    metrics = ANSWERS

    def __init__(self):
        self.space = rc.Listed(WORDS, ("a", "b", "c"))
        self.constituent_names, self.samples = self.space.element_names, 1

    @property
    def words(self):
        return {"code": 4, "target": 4}

    @property
    def repeats(self):
        return True

    def sample(self, key, combinations, samples=None):
        letters = self.space.elements(combinations).astype(jnp.int32)  # (T, longest), -1 after the end
        target = (letters == letters[:, :1]).sum(1, keepdims=True) - 1
        constituents = self.space.multihot(combinations).astype(jnp.float32)
        return Batch(combinations, letters + 1, None, target, constituents)


def test_a_task_over_a_list_is_a_task_and_a_combination_is_a_row_number():
    task = Counting()
    check_space(task.space)
    check_task(task)
    check_support(rc.supports.random(task.space, seed=0))
    check_net(rc.nets.MLP(16, 1), task)
    batch = task.sample(jax.random.key(0), jnp.asarray([[0], [len(WORDS) - 1]]))
    assert batch.combinations.shape == (2, 1)
    assert batch.code.tolist() == [[1, 1, 0, 0], [3, 3, 3, 3]]
    assert batch.target.tolist() == [[1], [3]]


def test_it_is_learned_from_a_corpus_that_repeats_itself_and_asked_by_length():
    task = Counting()
    generator = np.random.default_rng(0)
    train = generator.permutation(len(WORDS))[:90, None]
    weights = generator.integers(1, 5, len(train))
    support = rc.supports.from_combinations(task.space, train, weights=weights)
    run = rc.train(task, support, rc.nets.MLP(64, 2), rc.Recipe(steps=1500, evaluations=1), progress=False)
    assert float(run.score("test")) > 0.95
    assert float(run.score("held_out")) > 0.5  # chance is about a third
    assert set(run.score("held_out").groups) >= {"3 active", "4 active"}


def test_the_stream_follows_the_weights():
    task = Counting()
    train = np.arange(40)[:, None]
    weights = np.where(np.arange(40) < 20, 9.0, 1.0)
    support = rc.supports.from_combinations(task.space, train, weights=weights)
    drawn = draw_combinations(support.train, jax.random.key(0), 4000)
    assert (drawn[:, 0] < 20).mean() == pytest.approx(0.9, abs=0.02)
