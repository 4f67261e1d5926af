"""The net contract: a blueprint (data) that builds a net (an Equinox module).

blueprint = MLP(width=256, depth=2)         hyperparameters only; JSON-able
net = blueprint.build(task, key)            weights
prediction, trace = net(inputs, code)       trace: every named activation; free under jit if unused
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import equinox as eqx
import jax

from ..errors import UserError, unknown
from ..precision import one_thread
from ..registry import Registry
from ..tasks import Batch, Task

Trace = dict[str, jax.Array]


class Net(eqx.Module):
    """Weights and a forward pass. inputs (T, S, I), code (T, C) -> prediction (T, S, O) and the trace."""

    def __call__(self, inputs: jax.Array, code: jax.Array) -> tuple[jax.Array, Trace]:
        raise TypeError("use a registered net")

    def penalty(self, task: Task, batch: Batch, key: jax.Array) -> jax.Array | None:
        """What is added to the loss of a training step: a regularizer of the net's own, if it has one."""
        return None


@dataclass(frozen=True)
class Blueprint:
    """Hyperparameters of a net."""

    name: ClassVar[str]
    #: convolutions train some 70 times slower inside a scan on a CPU: such nets ask for one call a step there
    steps_in_scan_on_cpu: ClassVar[bool] = True

    def require(self, task: Task) -> None:
        """Refuses, with a UserError, a task that the net cannot serve; before anything is compiled."""

    def build(self, task: Task, key: jax.Array, precision: str = "float32") -> Net:
        """A fresh net for the task."""
        raise TypeError("use a registered net")

    def layers(self) -> tuple[str, ...]:
        """Names of the activations in the trace, in order."""
        raise TypeError("use a registered net")

    def to_json(self) -> dict[str, Any]:
        return {"net": self.name, **dataclasses.asdict(self)}


def require_precision(precision: str) -> None:
    """Refuses what is no precision of products; `auto` is resolved before a net is built."""
    if precision not in ("float32", "bfloat16"):
        raise unknown("precision of a net", precision, ("float32", "bfloat16"))


def require_inputs(blueprint: Blueprint, task: Task) -> None:
    """Refuses a task that shows nothing but a code."""
    if not task.input_size:
        raise UserError(f"net {blueprint.name!r} reads inputs beside the code and {task.id} has none; 'mlp' needs none")


def initialize(blueprint: Blueprint, task: Task, key: jax.Array, precision: str) -> Net:
    """A fresh net, made by one program: compiling its random numbers one array at a time would take seconds."""
    return _init_program()(blueprint, task, key, precision)


@functools.cache
def _init_program() -> Callable[[Blueprint, Task, jax.Array, str], Net]:
    def run(blueprint: Blueprint, task: Task, key: jax.Array, precision: str) -> Net:
        return blueprint.build(task, key, precision)

    return jax.jit(run, static_argnums=(0, 3), compiler_options=one_thread())


def count_parameters(net: Any) -> int:
    """Number of trained values."""
    return sum(leaf.size for leaf in jax.tree.leaves(eqx.filter(net, eqx.is_inexact_array)))


nets: Registry[Callable[..., Blueprint]] = Registry("net")
