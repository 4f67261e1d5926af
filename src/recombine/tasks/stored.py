"""Stored examples: a finite data set, of which training draws, where a world would make new examples for ever.

An example is a function of a named key, its combination and its number. So nothing has to be kept: the same number of
the same combination is the same example in every step, and a world of 10^12 combinations has a finite data set, too.
Tests draw from the world itself: a net that knows its examples by heart is not rewarded for it.
"""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp

from .base import Batch, Task


def draw_stored(
    task: Task,
    sampler: Callable[..., jax.Array],
    key: jax.Array,
    store: jax.Array,
    *,
    tasks: int,
    samples: int | None,
    examples: jax.Array | int,
) -> Batch:
    """Combinations from the sampler, and of each one of its stored examples; pure, like `draw_batch`.

    Args:
        task: what makes the examples.
        sampler: (key, n) -> n combinations, such as `support.train.sampler()`.
        key: of what is drawn.
        store: of the examples that there are; the same in every step.
        tasks: how many combinations.
        samples: inputs per example; None: what the task says.
        examples: how many there are of each combination.

    Example:
        >>> few = {"tasks": 50, "samples": 1, "examples": 2}
        >>> draws = rc.tasks.draw_stored(task, lambda key, n: jnp.tile(space.sample(0, 1), (n, 1)),
        ...                              jax.random.key(0), jax.random.key(1), **few)
        >>> len(set(draws.target[:, 0, 0].tolist()))
        2
    """
    which, what = jax.random.split(key)
    rows = sampler(which, tasks)
    numbers = jax.random.randint(what, (tasks,), 0, examples)

    def stored(row: jax.Array, number: jax.Array) -> Batch:
        own = store
        for column in row.astype(jnp.int32) + 1:  # padding is folded in as 0
            own = jax.random.fold_in(own, column)
        return task.sample(jax.random.fold_in(own, number), row[None], samples)

    return jax.tree.map(lambda leaf: leaf[:, 0], jax.vmap(stored)(rows, numbers))
