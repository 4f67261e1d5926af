"""A world whose target is a multiple of its inputs, and a net with one weight, of which every number is known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp

from recombine.nets import Blueprint, Net, Step
from recombine.supports import Support
from recombine.tasks import Batch, Task


class Multiple(Task):
    """target = by * inputs, whatever the combination."""

    id = "multiple-v1"
    by: jax.Array
    trained_on: int = eqx.field(static=True)  # combinations of the split that it was given for

    def __init__(self, space, by: float = 1.0, trained_on: int = 0):
        self.space, self.constituent_names, self.samples = space, space.element_names, 8
        self.by, self.trained_on = jnp.asarray(by), trained_on

    def given(self, support: Support) -> Task:
        return Multiple(self.space, float(self.by), support.train.size)

    def sample(self, key, combinations, samples=None):
        hot = self.space.multihot(combinations).astype(jnp.float32)
        inputs = jax.random.normal(key, (len(hot), samples or self.samples, 1))
        return Batch(combinations, hot, inputs, self.by * inputs, hot)


class OneWeightNet(Net):
    """Answers weight * inputs. Its loss, which does not look at the data, pulls the weight upward to 2."""

    weight: jax.Array
    undefined_below: float = eqx.field(static=True, default=-jnp.inf)

    def __call__(self, batch, key=None):
        answer = jnp.where(self.weight < self.undefined_below, jnp.nan, self.weight * batch.inputs)
        return answer, {"output": answer}

    def losses(self, task, batch, moment, memory):
        return Step({"pull": jnp.abs(self.weight - 2.0)}, {"active": batch.code.sum(-1).mean()}, memory)


@dataclass(frozen=True)
class OneWeight(Blueprint):
    """Begins at a tenth, or at some tenths that the seed decides."""

    name: ClassVar[str] = "one-weight"
    undefined_below: float = -float("inf")
    by_seed: bool = False

    def layers(self):
        return ("output",)

    def fresh(self, task, key, precision):
        tenths = jax.random.randint(key, (), 1, 6) if self.by_seed else 1
        return OneWeightNet(jnp.asarray(0.1 * tenths, jnp.float32), self.undefined_below)
