"""The task contract: combinations -> data, as pure functions of a key."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from ..precision import one_thread
from ..registry import Registry
from ..spaces import Space, Subsets
from ..supports import Side

BLOCK = 256  # tasks drawn at once for scoring and probing


class Batch(NamedTuple):
    """T tasks of S rows each: samples, or the steps of episodes."""

    inputs: jax.Array  # (T, S, input size)
    code: jax.Array  # (T, code size): what the net is told about the combination
    target: jax.Array  # (T, S, output size) for numbers, (T, S) for actions
    constituents: jax.Array  # (T, M): what a decoding probe should find


class Task(eqx.Module):
    """A family of tasks over a space. A pytree: two tasks that differ in their teacher share a compiled program.

    Subclass it, set the fields, write `sample` and, if mean squared error and R^2 do not fit, `loss` and `score`.
    """

    id: ClassVar[str]
    #: the scores of `score`, the first of which thresholds refer to
    metrics: ClassVar[tuple[str, ...]] = ("r2", "r2_pooled")
    space: Space = eqx.field(static=True)
    input_size: int = eqx.field(static=True)
    code_size: int = eqx.field(static=True)
    output_size: int = eqx.field(static=True)
    constituent_names: tuple[str, ...] = eqx.field(static=True)
    samples: int = eqx.field(static=True)  # a task, where nothing else is said
    length: int = eqx.field(static=True, default=1, kw_only=True)  # rows a sample: the steps of an episode
    #: if the code is a sequence of word numbers, how many words there are; nets embed such a code
    vocabulary: int | None = eqx.field(static=True, default=None, kw_only=True)

    @classmethod
    def default_space(cls) -> Space:
        """A space that suits the task, for a first look and for tests."""
        return Subsets(modules=16, at_most=3)

    @property
    def repeats(self) -> bool:
        """Whether a combination always has the same item: a test on trained combinations then repeats training."""
        return False

    def sample(self, key: jax.Array, combinations: jax.Array, samples: int | None = None) -> Batch:
        """Fresh data for each combination."""
        raise TypeError(f"{type(self).__name__} must define sample")

    def loss(self, prediction: jax.Array, target: jax.Array) -> jax.Array:
        """What training minimizes: mean squared error."""
        return jnp.mean((prediction - target) ** 2)

    def score(self, prediction: jax.Array, target: jax.Array) -> dict[str, jax.Array]:
        """Both conventions of R^2 and how many ratios were undefined; see `r2_scores`."""
        return r2_scores(prediction, target)

    def perfect(self, target: jax.Array) -> jax.Array:
        """The prediction that scores 1."""
        return target


def draw_batch(task: Task, sampler: Any, key: jax.Array, tasks: int, samples: int | None) -> Batch:
    """Combinations from the sampler, then their data; pure, so it runs inside a compiled step."""
    which, what = jax.random.split(key)
    return task.sample(what, sampler(which, tasks), samples)


def draw_stream(task: Task, side: Side, key: jax.Array, tasks: int) -> Batch:
    """`tasks` tasks of one side of a split, for scoring and probing.

    Drawn in blocks by one program, whatever their number: random numbers are what takes long to compile.
    """
    sampler = side.sampler()
    blocks = [_block_program()(task, sampler, jax.random.fold_in(key, i)) for i in range(-(-tasks // BLOCK))]
    return Batch(*(jnp.concatenate(parts)[:tasks] for parts in zip(*blocks, strict=True)))


@functools.cache
def _block_program() -> Callable[[Task, Any, jax.Array], Batch]:
    return jax.jit(
        lambda task, sampler, key: draw_batch(task, sampler, key, BLOCK, None), compiler_options=one_thread()
    )


def r2_scores(prediction: Float[Array, "t s o"], target: Float[Array, "t s o"]) -> dict[str, Array]:
    """R^2 in both conventions for predictions of T tasks x S samples x O outputs.

    r2:        mean over tasks and outputs of 1 - MSE / variance over the task's own samples (the published one).
    r2_pooled: 1 - summed squared error / summed squared deviation from each output's mean over everything.
    undefined: task-output pairs without variance, where the ratio does not exist; they are left out of r2.
    """
    error = (prediction - target) ** 2
    variance = target.var(1)  # (T, O), biased
    defined = target.max(1) > target.min(1)  # not variance > 0: rounding gives a constant a tiny variance
    ratios = 1 - error.mean(1) / jnp.where(defined, variance, 1.0)
    count = defined.sum()
    per_task = jnp.where(count > 0, jnp.where(defined, ratios, 0.0).sum() / jnp.maximum(count, 1), jnp.nan)
    spread = ((target - target.mean((0, 1))) ** 2).sum()
    varies = (target.max((0, 1)) > target.min((0, 1))).any()
    pooled = jnp.where(varies, 1 - error.sum() / jnp.where(varies, spread, 1.0), jnp.nan)
    return {"r2": per_task, "r2_pooled": pooled, "undefined": (~defined).sum()}


#: id -> class; every class can be made as `cls(space, seed=0)`
tasks: Registry[Any] = Registry("task")
