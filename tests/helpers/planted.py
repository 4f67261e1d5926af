"""Nets whose layers over a grid are written down, as if they had been trained: what probes of a grid are tested on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from recombine import Product, Recipe, Trained, supports
from recombine.nets import Blueprint, Net
from recombine.tasks import Bumps
from recombine.training import Member

N = 8
FACTS = {"history": [], "diverged_at": None, "seconds": 1.0, "steps_per_second": 1.0, "compile_seconds": 1.0}


class TableNet(Net):
    """Looks its layer and its output up; linear in each part of the code, so that a mean code gives a mean."""

    layer: jax.Array  # (n0, n1, units)
    output: jax.Array  # (n0, n1, outputs)

    def __call__(self, batch, key=None):
        code = batch.code
        first, second = code[:, : self.layer.shape[0]], code[:, self.layer.shape[0] :]
        found = [jnp.einsum("ti,tj,iju->tu", first, second, table)[:, None] for table in (self.layer, self.output)]
        return found[1], {"layer1/pre": -found[0], "layer1/post": found[0], "output": found[1]}


@dataclass(frozen=True)
class Table(Blueprint):
    """The blueprint of tables; a fresh one is random."""

    name: ClassVar[str] = "table"
    units: int = 16

    def layers(self) -> tuple[str, ...]:
        return "layer1/pre", "layer1/post", "output"

    def fresh(self, task, key, precision):
        first, second = jax.random.split(key)
        levels, outputs = task.encoding.levels, task.shapes().target.shape[-1]
        return TableNet(jax.random.normal(first, (*levels, self.units)), jax.random.normal(second, (*levels, outputs)))


def pretend(task, support, blueprint, *nets: Net, recipe: Recipe | None = None) -> Trained:
    members = [Member(seed=seed, net=net, raw=net, **FACTS) for seed, net in enumerate(nets)]
    return Trained(task, support, blueprint, recipe or Recipe(steps=1), members)


def planted(layer: np.ndarray | None = None, output: np.ndarray | None = None, support=None, **options) -> Trained:
    """A run on N x N bumps with one-hot codes whose net has this layer (N, N, units) and draws this ink."""
    space = Product(x=N, y=N)
    task = Bumps(space, encoding="one-hot", **options)
    layer = np.zeros((N, N, 1)) if layer is None else layer
    output = np.zeros((N, N, N * N)) if output is None else output.reshape(N, N, -1)
    net = TableNet(jnp.asarray(layer, jnp.float32), task.with_background(jnp.asarray(output, jnp.float32)))
    return pretend(task, support or supports.donut(space, low=2, high=5), Table(layer.shape[-1]), net)


class WaveNet(Net):
    """Smooth in the code: sin(code W + phase)."""

    weights: jax.Array
    outputs: int = eqx.field(static=True)

    def __call__(self, batch, key=None):
        wave = jnp.sin(batch.code @ self.weights + jnp.arange(self.weights.shape[1]))[:, None]
        return jnp.zeros((len(batch.code), 1, self.outputs)), {"layer1/post": wave}


@dataclass(frozen=True)
class Wave(Blueprint):
    """The blueprint of waves."""

    name: ClassVar[str] = "wave"
    units: int = 24
    scale: float = 0.05

    def layers(self) -> tuple[str, ...]:
        return ("layer1/post",)

    def fresh(self, task, key, precision):
        shapes = task.shapes()
        weights = self.scale * jax.random.normal(key, (shapes.code.shape[-1], self.units))
        return WaveNet(weights, shapes.target.shape[-1])


def noise(*shape: int) -> np.ndarray:
    return np.random.default_rng(shape).normal(size=shape)


X, Y = noise(N, 1, 40), noise(1, N, 40)
SUMS, PRODUCTS, NOISE = X + Y, X * Y, noise(N, N, 40)


def only(found: dict) -> object:
    (value,) = found.values()
    return value
