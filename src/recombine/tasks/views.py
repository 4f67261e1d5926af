"""Views: a task seen otherwise. The same items, with something changed about how a net is shown them."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from ..supports import Support
from .base import Batch, Task
from .metrics import Statistics


class View(Task):
    """Another task, whose batches are changed by `seen`. Loss, score and metrics are those of the task within."""

    of: Task

    def __init__(self, of: Task):
        self.of = of
        self.space, self.constituent_names, self.samples = of.space, of.constituent_names, of.samples

    def seen(self, batch: Batch) -> Batch:
        raise TypeError(f"{type(self).__name__} must define seen")

    def sample(self, key: jax.Array, combinations: jax.Array, samples: int | None = None) -> Batch:
        return self.seen(self.of.sample(key, combinations, samples))

    @property
    def id(self):  # type: ignore[override]
        return self.of.id

    @property
    def metrics(self):  # type: ignore[override]
        return self.of.metrics

    @property
    def words(self):
        return self.of.words

    @property
    def repeats(self) -> bool:
        return self.of.repeats

    def given(self, support: Support) -> Task:
        return type(self)(self.of.given(support))

    def loss(self, prediction: Any, batch: Batch) -> jax.Array:
        return self.of.loss(prediction, batch)

    def reward(self, answer: Any, batch: Batch) -> jax.Array:
        return self.of.reward(answer, batch)

    def score(self, answer: Any, batch: Batch) -> Statistics:
        return self.of.score(answer, batch)


class WrongCode(View):
    """Every item is shown with the code of the next one: what is right here is right without knowing the combination.

    The score of a net on it is the wrong-code baseline. Imitation has such a floor (moves that are right whatever is
    wanted); an R^2 has not.
    """

    __init__ = View.__init__

    def seen(self, batch: Batch) -> Batch:
        return batch._replace(code=jax.tree.map(lambda code: jnp.roll(code, 1, axis=0), batch.code))


class FirstRow(View):
    """Of each task the first row of its first sample: what a decoding probe reads, so that rows are independent."""

    __init__ = View.__init__

    def seen(self, batch: Batch) -> Batch:
        def first(values: jax.Array) -> jax.Array:  # (T, S, ..., I) -> (T, 1, ..., I): one row in every axis between
            return values[(slice(None), *(slice(1) for _ in values.shape[1:-1]))]

        return batch._replace(inputs=jax.tree.map(first, batch.inputs), target=None)
