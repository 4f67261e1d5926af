"""Views: a task seen otherwise. The same items, with something changed about how a net is shown them."""

from __future__ import annotations

from typing import Any, ClassVar

import jax
import jax.numpy as jnp

from ..supports import Support
from .base import Batch, Task
from .metrics import Statistics


class View(Task):
    """Another task, whose batches are changed by `seen`. Loss, score and metrics are those of the task within.

    Args:
        of: the task within.

    Example:
        >>> class Doubled(rc.tasks.View):
        ...     def seen(self, batch):
        ...         return batch._replace(target=2 * batch.target)
        >>> Doubled(task).metrics == task.metrics
        True
    """

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
    """The task of the wrong-code baseline: every item is shown the code of another combination.

    What is right here is right without knowing the combination. The code is that of the nearest item before it (the
    last comes before the first) that combines something else, so that several draws of a combination do not tell each
    other's. In a batch of one combination there is no wrong code.

    The score of a net on it is the wrong-code baseline. Imitation has such a floor (moves that are right whatever is
    wanted); an R^2 has not.

    Args:
        of: the task within.

    Example:
        >>> rows, key = jnp.array([[0, 1], [2, 3]]), jax.random.key(0)
        >>> right, wrong = (one.sample(key, rows) for one in (task, rc.tasks.WrongCode(task)))
        >>> bool((wrong.code == right.code[::-1]).all())
        True
    """

    __init__ = View.__init__

    def seen(self, batch: Batch) -> Batch:
        rows, item = batch.combinations, jnp.arange(len(batch.combinations))
        before = (item[:, None] - 1 - item) % len(item)  # (T, T): of each item those before it, the nearest first
        unlike = (rows[:, None] != rows[before]).any(-1)
        other = before[item, unlike.argmax(1)]
        return batch._replace(code=jax.tree.map(lambda code: code[other], batch.code))


class Unscored(View):
    """The task without its targets: what is only read off a net needs no score.

    Args:
        of: the task within.

    Example:
        >>> rc.tasks.Unscored(task).sample(jax.random.key(0), space.sample(0, 3)).target is None
        True
    """

    __init__ = View.__init__

    def seen(self, batch: Batch) -> Batch:
        return batch._replace(target=None)


class FirstRow(Unscored):
    """Of each task the first row of its first sample: what a decoding probe reads, so that rows are independent.

    Args:
        of: the task within.

    Example:
        >>> rc.tasks.FirstRow(task).sample(jax.random.key(0), space.sample(0, 3)).inputs.shape
        (3, 1, 16)
    """

    __init__ = View.__init__
    row: ClassVar[slice] = slice(1)

    def seen(self, batch: Batch) -> Batch:
        def one(values: jax.Array) -> jax.Array:  # (T, S, ..., I) -> (T, 1, ..., I): one row in every axis between
            return values[(slice(None), *(self.row for _ in values.shape[1:-1]))]

        return super().seen(batch)._replace(inputs=jax.tree.map(one, batch.inputs))


class LastRow(FirstRow):
    """Of each task the last row of its last sample, by itself: nets that look back at other rows do not see them.

    Args:
        of: the task within.

    Example:
        >>> rc.tasks.LastRow(task).sample(jax.random.key(0), space.sample(0, 3)).inputs.shape
        (3, 1, 16)
    """

    __init__ = View.__init__
    row = slice(-1, None)
