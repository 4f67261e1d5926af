"""A world that takes several passes, and a net that carries its answer in progress from step to step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import jax
import jax.numpy as jnp

import recombine as rc
from recombine.nets import Blueprint, Net, Step
from recombine.tasks import ANSWERS, Batch, Task, cross_entropy

CELLS, CHANNELS = 8, 12


class Corridor(Task):
    """Which cells of a corridor can be reached from the left: all before the first wall."""

    id = "corridor"
    metrics = ANSWERS

    def __init__(self):
        self.space = rc.Product(**{f"cell{i}": ["free", "wall"] for i in range(CELLS)})
        self.constituent_names, self.samples = self.space.element_names, 1

    @property
    def words(self):
        return {"target": 2}

    @property
    def repeats(self):
        return True

    def sample(self, key, combinations, samples=None):
        free = 1 - combinations.astype(jnp.int32)
        constituents = self.space.multihot(combinations).astype(jnp.float32)
        return Batch(combinations, free.astype(jnp.float32), None, jnp.cumprod(free, axis=1), constituents)


@dataclass(frozen=True)
class Passes:
    """How many passes an answer takes."""

    count: int = CELLS


class RecursiveNet(Net):
    """One pass looks one cell to either side; its state is carried. It halts where it believes to be right."""

    How = Passes
    kernel: jax.Array  # (3, 1 + CHANNELS, CHANNELS)
    bias: jax.Array  # (CHANNELS,)
    output: jax.Array  # (CHANNELS, 2)
    halt: jax.Array  # (CHANNELS,)

    def once(self, code, z):
        """(T, cells, channels): the state after one more pass."""
        seen = jnp.concatenate([code[..., None], z], axis=-1)
        padded = jnp.pad(seen, ((0, 0), (1, 1), (0, 0)))
        around = jnp.stack([padded[:, i : i + CELLS] for i in range(3)])
        return jnp.tanh(jnp.einsum("ktci,kio->tco", around, self.kernel) + self.bias)

    def start(self, tasks):
        """The first cell is marked: the agent stands before it."""
        return jnp.zeros((tasks, CELLS, CHANNELS)).at[:, 0, 0].set(1.0)

    def __call__(self, batch, key=None):
        z = self.once(batch.code, self.start(len(batch.code)))
        return z @ self.output, {"state": z}

    def answer(self, batch, key=None, how=None):
        z = self.start(len(batch.code))
        z = jax.lax.fori_loop(0, how.count, lambda _, z: self.once(batch.code, z), z)
        return z @ self.output, {"state": z}

    def memory(self, task, batch):
        """Each slot holds an item in progress, and how many passes it has had; all are to be refilled at first."""
        tasks = len(batch.code)
        return {
            "code": jnp.zeros_like(batch.code),
            "target": jnp.zeros_like(batch.target),
            "z": self.start(tasks),
            "passes": jnp.full(tasks, CELLS),
            "refills": jnp.zeros((), jnp.int32),
        }

    def losses(self, task, batch, moment, memory):
        full = memory["passes"] < CELLS

        def kept(old, new):
            return jnp.where(full.reshape(-1, *[1] * (new.ndim - 1)), old, new)

        code, target = kept(memory["code"], batch.code), kept(memory["target"], batch.target)
        before = kept(memory["z"], self.start(len(code)))
        z = self.once(code, jax.lax.stop_gradient(before))
        logits = z @ self.output
        right = (logits.argmax(-1) == target).all(-1)
        belief = z.mean(1) @ self.halt
        halted = belief > 2.0
        passes = jnp.where(full, memory["passes"], 0) + 1
        after = {
            "code": code,
            "target": target,
            "z": jax.lax.stop_gradient(z),
            "passes": jnp.where(halted, CELLS, passes),
            "refills": memory["refills"] + (~full).sum(),
        }
        parts = {
            "answer": cross_entropy(logits, target),
            "halt": 0.1 * jnp.mean(jax.nn.softplus(belief) - right * belief),
        }
        return Step(parts, {"halted": halted.mean(), "solved": right.mean(), "refilled": (~full).mean()}, after)


class ForgetfulNet(RecursiveNet):
    """Its memory does not begin with the tasks."""

    def memory(self, task, batch):
        return {"table": jnp.zeros((3, len(batch.code)))}


@dataclass(frozen=True)
class Recursive(Blueprint):
    name: ClassVar[str] = "recursive"
    forgets: bool = False

    def layers(self):
        return ("state",)

    def fresh(self, task, key, precision):
        keys = jax.random.split(key, 3)
        made = ForgetfulNet if self.forgets else RecursiveNet
        return made(
            jax.random.normal(keys[0], (3, 1 + CHANNELS, CHANNELS)) * (3 * (1 + CHANNELS)) ** -0.5,
            jnp.zeros(CHANNELS),
            jax.random.normal(keys[1], (CHANNELS, 2)) * CHANNELS**-0.5,
            jax.random.normal(keys[2], (CHANNELS,)) * CHANNELS**-0.5,
        )
