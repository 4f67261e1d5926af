"""(i) A grader in NumPy with a pooled metric: the F1 of sets, over any group of items."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import recombine as rc
from recombine.tasks import Batch, Metric, Task
from recombine.training import evaluate


def f1(found):
    right, said, wanted = (found[name].sum() for name in ("right", "said", "wanted"))
    return 2 * right / (said + wanted) if said + wanted else float("nan")


class Sets(Task):
    """Which modules are active, from a rotated code; graded by how many are named."""

    id = "sets"
    metrics = (Metric("f1", "F1 (pooled)", f1), Metric("whole", "sets right", lambda found: found["whole"].mean()))
    turn: jax.Array

    def __init__(self, space):
        self.space, self.constituent_names, self.samples = space, space.element_names, 1
        self.turn = jax.random.orthogonal(jax.random.key(0), len(space.element_names))

    @property
    def repeats(self):
        return True

    def sample(self, key, combinations, samples=None):
        hot = self.space.multihot(combinations).astype(jnp.float32)
        return Batch(combinations, hot @ self.turn, None, hot[:, None], hot)

    def score(self, answer, batch):
        said, wanted = (np.asarray(one)[:, 0] > 0.5 for one in (answer, batch.target))
        names = {"right": said & wanted, "said": said, "wanted": wanted}
        return {name: marked.sum(1) for name, marked in names.items()} | {"whole": (said == wanted).all(1)}


@pytest.fixture(scope="module")
def trained():
    task = Sets(rc.Subsets(6, 3))
    support = rc.supports.random(task.space, seed=0)
    return rc.train(task, support, rc.nets.MLP(64, 1), rc.Recipe(steps=400, evaluations=1), progress=False)


def test_the_pooled_metric_of_any_group_is_that_of_its_items(trained):
    task, rows = trained.task, trained.task.space.enumerate()
    items = evaluate(trained.nets[0], task, rows, key=jax.random.key(0), keep=["answer", "target"])
    said, wanted = (items.kept[name][:, 0] > 0.5 for name in ("answer", "target"))
    for size in (1, 2, 3):
        group = (rows >= 0).sum(1) == size
        pooled = 2 * (said & wanted)[group].sum() / (said[group].sum() + wanted[group].sum())
        assert items.where(group).scores()["f1"] == pytest.approx(pooled)
    by_one = items.by_combination("f1")
    assert by_one[7] == pytest.approx(2 * (said & wanted)[7].sum() / (said[7].sum() + wanted[7].sum()))
    assert float(trained.score("test")) > 0.9
    assert set(trained.score("held_out").groups) >= {"2 active", "3 active"}


@settings(deadline=None, max_examples=50)
@given(st.lists(st.tuples(*[st.integers(0, 5)] * 3), min_size=1, max_size=8), st.integers(1, 7))
def test_pooling_two_groups_is_pooling_their_items(rows, cut):
    found = {
        name: np.array(column)
        for name, column in zip(("right", "said", "wanted"), zip(*rows, strict=True), strict=True)
    }
    whole = f1(found)
    halves = [
        {name: values[part].sum(keepdims=True) for name, values in found.items()}
        for part in (slice(cut), slice(cut, None))
    ]
    again = f1({name: np.concatenate([half[name] for half in halves]) for name in found})
    assert again == pytest.approx(whole, nan_ok=True)
