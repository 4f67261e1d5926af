"""Networks that are trained on a problem of symbols: the task, a net whose weights begin large or small, its kernel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from ...distributions import truncated_normal
from ...keys import key_for
from ...nets import MLP, MLPNet, cut, join
from ...nets.parts import Parts
from ...supports import from_combinations
from ...tasks import Batch, Task
from ...training import Recipe, evaluate, train
from .overlap_kernels import saliences
from .symbolic_problems import Problem

SALIENCE_TASKS = 100  # combinations that a net's own kernel is averaged over: every one of a problem of pairs


class Symbols(Task):
    """One-hot symbols and what is asked of them: a number, or a word for yes and no."""

    id = "symbols"
    table: jax.Array  # (combinations,)

    def __init__(self, problem: Problem):
        self.space, self.constituent_names, self.samples = problem.space, problem.space.element_names, 1
        target = np.where(problem.target > 0, 1, 0) if problem.whether else problem.target.astype(np.float32)
        self.table = jnp.asarray(target)

    @property
    def words(self):
        return {"target": 2} if jnp.issubdtype(self.table.dtype, jnp.integer) else {}

    @property
    def repeats(self) -> bool:
        return True

    def sample(self, key: jax.Array, combinations: jax.Array, samples: int | None = None) -> Batch:
        levels = self.space.levels  # type: ignore[attr-defined]
        columns = combinations.astype(jnp.int32)
        number = jnp.zeros(len(combinations), jnp.int32)
        for column, count in enumerate(levels):
            number = number * count + columns[:, column]
        code = jnp.concatenate([jax.nn.one_hot(columns[:, i], count) for i, count in enumerate(levels)], axis=1)
        wanted = self.table[number][:, None]
        return Batch(combinations, code, None, wanted if self.words else wanted[..., None], code)


@dataclass(frozen=True)
class ScaledMLP(MLP):
    """An MLP that says nothing at first, and whose hidden layers give `scale` times as large features as usual.

    Its readout begins at zero, so that what it says of what it was not trained on is not what it began with. Small
    scales make it learn features ("rich"), large ones make it hold on to those it has ("lazy").
    """

    name: ClassVar[str] = "scaled-mlp"
    scale: float = 1.0

    def layer(self, key: jax.Array, fan_in: int, fan_out: int) -> tuple[jax.Array, jax.Array]:
        share = self.scale ** (1 / max(self.depth, 1))
        return truncated_normal(key, (fan_in, fan_out), share * (2 / fan_in) ** 0.5), jnp.zeros(fan_out)

    def fresh(self, task: Task, key: jax.Array, precision: str) -> MLPNet:
        net = super().fresh(task, key, precision)
        return eqx.tree_at(lambda net: net.kernels[-1], net, jnp.zeros_like(net.kernels[-1]))


@dataclass(frozen=True)
class Learned:
    """What a trained net says of every combination, and what its kernel was before training."""

    said: np.ndarray  # (combinations,): a number, or the logit of yes minus that of no
    salience: float  # of one component out of all, in the tangent kernel of the net before training; NaN if not asked
    seconds: float


def learn(problem: Problem, net: ScaledMLP, recipe: Recipe, seed: int, *, kernel: bool) -> Learned:
    """Trains a net on the trained combinations of a problem, and asks it about all."""
    task = Symbols(problem)
    support = from_combinations(problem.space, problem.rows[problem.trained], problem.rows[problem.held_out])
    run = train(task, support, net, recipe, seeds=[seed], progress=False, watch=())
    (member,) = run.members
    if member.diverged_at is not None:
        return Learned(np.full(len(problem.rows), np.nan), np.nan, member.seconds)
    asked = evaluate(member.net, task, problem.space.enumerate(), draws=1, key=key_for("asked", seed), keep=("answer",))
    answer = np.asarray(asked.kept["answer"], float).reshape(len(problem.rows), -1)
    said = answer[:, 1] - answer[:, 0] if problem.whether else answer[:, 0]
    found = tangent_salience(problem, net, seed) if kernel else np.nan
    return Learned(said, found, member.seconds)


def tangent_salience(problem: Problem, net: ScaledMLP, seed: int) -> float:
    """Salience of one component in the tangent kernel at the beginning, of means over pairs that share as many."""
    task = Symbols(problem)
    parts = cut(net.build(task, key_for("init", seed)))
    some = np.random.default_rng(seed).permutation(len(problem.rows))[:SALIENCE_TASKS]
    batch = task.sample(key_for("asked", seed), jnp.asarray(problem.rows[some]))

    @eqx.filter_jit
    def gradients(trained):
        one = jax.jacrev(lambda trained: join(Parts(trained, parts.frozen, parts.static))(batch.blind())[0][:, 0, 0])
        flat = [leaf.reshape(len(some), -1) for leaf in jax.tree.leaves(one(trained))]
        return sum(part @ part.T for part in flat)

    kernel = np.asarray(gradients(parts.trained), float)
    shared = (problem.rows[some][:, None] == problem.rows[some]).sum(-1)
    kappa = np.array([kernel[shared == count].mean() for count in range(problem.rows.shape[1] + 1)])
    return float(saliences(kappa)[0])
