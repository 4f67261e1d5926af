"""The task contract: combinations -> data, as pure functions of a key."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from ..errors import UserError
from ..registry import Registry
from ..spaces import Space, Subsets
from ..supports import Support
from .metrics import REGRESSION, Metric, Statistics, answer_statistics, decided, regression_statistics


class Batch(NamedTuple):
    """T tasks: what they combine, what a net is told and shown, and what is wanted. What is not there is None.

    Args:
        combinations: (T, K): whose data this is.
        code: (T, C) numbers or (T, L) int32 words: what tells the net which combination.
        inputs: (T, S, ...) samples of each task, of any shape and dtype; a negative word is padding.
        target: (T, ...); of whole numbers -1 does not count; None when a net is asked blind.
        constituents: (T, M): what a decoding probe should find.

    Example:
        >>> batch = task.sample(jax.random.key(0), space.sample(0, 3))
        >>> batch.code.shape, batch.inputs.shape, batch.blind().target
        ((3, 4), (3, 16, 16), None)
    """

    combinations: Any  # (T, K): whose data this is
    code: Any = None  # (T, C) numbers or (T, L) int32 words: what tells the net which combination
    inputs: Any = None  # (T, S, ...) samples of each task, of any shape and dtype; a negative word is padding
    target: Any = None  # (T, ...); of whole numbers -1 does not count; None when a net is asked blind
    constituents: Any = None  # (T, M): what a decoding probe should find

    def blind(self) -> Batch:
        """What a net may see when it is asked: neither the target nor the constituents, which would give it away."""
        return self._replace(target=None, constituents=None)


class Task(eqx.Module):
    """A family of tasks over a space. A pytree: two tasks that differ in their teacher share a compiled program.

    Subclass it, set the fields and write `sample`. Shapes follow from it (`shapes`). With numbers as target the loss is
    the mean squared error and the metrics are R^2; with whole numbers the loss is the cross-entropy, and
    `metrics = ANSWERS`. For anything else override `loss` and `score`.

    Args:
        space: what can be combined.
        constituent_names: one per number that a decoding probe should find.
        samples: of each task, where nothing else is said.

    Example:
        >>> class Doubled(rc.tasks.Task):
        ...     id = "doubled-v1"
        ...     def sample(self, key, combinations, samples=None):
        ...         code = self.space.multihot(combinations).astype(float)
        ...         return rc.tasks.Batch(combinations, code, None, 2 * code, code)
        >>> Doubled(space, space.element_names, samples=1).shapes().target.shape
        (1, 4)
    """

    id: ClassVar[str]
    #: what `score` is reduced to; the first one decides
    metrics: ClassVar[tuple[Metric, ...]] = REGRESSION
    #: name -> id of the worlds in which claims about this one are false by construction
    controls: ClassVar[Mapping[str, str]] = {}
    space: Space = eqx.field(static=True)
    constituent_names: tuple[str, ...] = eqx.field(static=True)
    samples: int = eqx.field(static=True)  # of each task, where nothing else is said

    @classmethod
    def default_space(cls) -> Space:
        """A space that suits the task, for a first look and for tests."""
        return Subsets(modules=16, at_most=3)

    @property
    def words(self) -> Mapping[str, int]:
        """How many values whole numbers can take: {"code": 13, "target": 6}. Empty if there are none."""
        return {}

    @property
    def repeats(self) -> bool:
        """Whether a combination always has the same item: a test on trained combinations then repeats training."""
        return False

    def asked_about(self, combinations: np.ndarray) -> np.ndarray:
        """(n,): which combinations a score on all of them is about; some may be there to be trained on only."""
        return np.ones(len(combinations), bool)

    def given(self, support: Support) -> Task:
        """The task as it is for one split; for items that need its training side, such as study examples."""
        return self

    def sample(self, key: jax.Array, combinations: jax.Array, samples: int | None = None) -> Batch:
        """Fresh data for each combination."""
        raise TypeError(f"{type(self).__name__} must define sample")

    def loss(self, prediction: Any, batch: Batch) -> jax.Array:
        """What training minimizes: mean squared error for numbers, mean cross-entropy for whole numbers."""
        if jnp.issubdtype(batch.target.dtype, jnp.integer):
            return cross_entropy(prediction, batch.target)
        return jnp.mean((prediction - batch.target) ** 2)

    def reward(self, answer: Any, batch: Batch) -> jax.Array:
        """(T,): how good each answer is, inside a compiled step. 1 where everything that counts is right, else 0."""
        right = decided(answer, batch.target) == batch.target
        if jnp.issubdtype(batch.target.dtype, jnp.integer):
            right = right | (batch.target < 0)
        return right.reshape(len(right), -1).all(1).astype(jnp.float32)

    def score(self, answer: Any, batch: Batch) -> Statistics:
        """Statistics of each item (T, ...), on the host and in NumPy: what the metrics reduce."""
        if np.issubdtype(batch.target.dtype, np.integer):
            return answer_statistics(answer, batch.target)
        return regression_statistics(answer, batch.target)

    # -- what follows -----------------------------------------------------------------------------------------------
    def shapes(self, samples: int | None = None) -> Batch:
        """The batch of one combination as shapes and dtypes; nothing is computed."""
        leaves, structure = jax.tree.flatten(self)
        for leaf in leaves:
            if not hasattr(leaf, "shape"):
                what = f"{type(self).__name__} has a field with {leaf!r}, which is no array"
                raise UserError(f"{what}; declare it as eqx.field(static=True)")
        return _shapes(structure, tuple(jax.ShapeDtypeStruct(leaf.shape, leaf.dtype) for leaf in leaves), samples)

    def metric(self, name: str) -> Metric:
        """One of the task's metrics by its name."""
        return next(metric for metric in self.metrics if metric.name == name)


@functools.cache  # nets ask for them several times, and tracing an episode takes a while
def _shapes(structure: Any, leaves: tuple[jax.ShapeDtypeStruct, ...], samples: int | None) -> Batch:
    def run(leaves: tuple, seed: jax.Array, rows: jax.Array) -> Batch:
        return jax.tree.unflatten(structure, leaves).sample(jax.random.key(seed), rows, samples)

    space = jax.tree.unflatten(structure, leaves).space
    row = jax.ShapeDtypeStruct((1, space.width), space.dtype)
    return jax.eval_shape(run, leaves, jax.ShapeDtypeStruct((), "int32"), row)


def cross_entropy(logits: jax.Array, target: jax.Array) -> jax.Array:
    """Mean cross-entropy over the places that count (target >= 0): -log p(target).

    Args:
        logits: one axis more than the target, over the words.
        target: whole numbers; -1 does not count.

    Example:
        >>> loss = rc.tasks.cross_entropy(jnp.zeros((2, 4)), jnp.array([3, -1]))
        >>> bool(jnp.isclose(loss, jnp.log(4)))
        True
    """
    right = jax.nn.one_hot(target, logits.shape[-1])  # all zeros where a place does not count
    counted = jnp.maximum((target >= 0).sum(), 1)
    return -(right * jax.nn.log_softmax(logits)).sum() / counted


def draw_batch(task: Task, sampler: Callable[..., jax.Array], key: jax.Array, tasks: int, samples: int | None) -> Batch:
    """Combinations from the sampler, then their data; pure, so it runs inside a compiled step.

    Args:
        task: what makes the data.
        sampler: (key, n) -> n combinations, such as `support.train.sampler()`.
        key: of both.
        tasks: how many combinations.
        samples: inputs per combination; None: what the task says.

    Example:
        >>> rc.tasks.draw_batch(task, support.train.sampler(), jax.random.key(0), tasks=5, samples=2).target.shape
        (5, 2, 16)
    """
    which, what = jax.random.split(key)
    return task.sample(what, sampler(which, tasks), samples)


#: id -> class; every class can be made as `cls(space, seed=0)`
tasks: Registry[Any] = Registry("task", plugins="recombine.tasks")
