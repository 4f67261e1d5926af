"""The net contract: a blueprint (data) that builds a net (an Equinox module).

blueprint = MLP(width=256, depth=2)            hyperparameters only; JSON-able
net = blueprint.build(task, key)               weights
prediction, trace = net(batch, key)            one pass, which may read the target; trace: every named activation
step = net.losses(task, batch, moment, memory) what a training step minimizes, in named parts
answer, trace = net.answer(batch, key, how)    what is scored and probed: no target, no constituents

Only `__call__` must be written. A net that decodes, samples, adapts itself, carries a state from step to step or trains
only some of its weights overrides what it needs of the rest.
"""

from __future__ import annotations

import dataclasses
import functools
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import equinox as eqx
import jax

from ..errors import UserError, unknown
from ..machine.precision import Products, one_thread
from ..registry import Registry
from ..tasks import Batch, Task
from .parts import graft

Trace = dict[str, jax.Array]


class Moment(NamedTuple):
    """What a step knows besides its data.

    Args:
        key: for dropout, noise, samples; its own in every step.
        done: share of the recipe that is behind, from 0 to 1: for schedules of masks, noise, ...

    Example:
        >>> moment = rc.nets.Moment(jax.random.key(0), jnp.asarray(0.25))
        >>> float(1 - moment.done)
        0.75
    """

    key: jax.Array  # for dropout, noise, samples; its own in every step
    done: jax.Array  # share of the recipe that is behind, from 0 to 1: for schedules of masks, noise, ...


class Step(NamedTuple):
    """What a net says of one step: the loss in named parts.

    Args:
        parts: scalars; their sum is the loss, and each is logged.
        notes: scalars that are only logged; names differ from those of parts.
        memory: carried to the next step.

    Example:
        >>> net, batch = trained.nets[0], task.sample(jax.random.key(0), space.sample(0, 2))
        >>> step = net.losses(task, batch, rc.nets.Moment(jax.random.key(1), jnp.asarray(0.0)), None)
        >>> list(step.parts), step.notes, step.memory
        (['loss'], {}, None)
    """

    parts: dict[str, jax.Array]  # scalars; their sum is the loss, and each is logged
    notes: dict[str, jax.Array] = {}  # scalars that are only logged; names differ from those of parts
    memory: Any = None  # carried to the next step


@dataclass(frozen=True)
class Plainly:
    """How a net is asked that can be asked in one way only."""


class Net(eqx.Module):
    """The base of all nets: weights, and what is done with them. Write `__call__`; override what else is different.

    Example:
        >>> answer, trace = trained.nets[0].answer(task.sample(jax.random.key(0), space.sample(0, 2)).blind())
        >>> list(trace)
        ['layer1/pre', 'layer1/post', 'layer2/pre', 'layer2/post', 'output']
    """

    #: a frozen dataclass: the ways in which `answer` can be asked (beam, temperature, sampler steps)
    How: ClassVar[type] = Plainly
    #: what `likelihood` gives: "exact", a lower "bound", or None where there is none
    likelihood_is: ClassVar[str | None] = None
    #: it writes word by word: its answer is right where all the most probable words of a pass with the target are
    forced_tells_exact: ClassVar[bool] = False

    def __call__(self, batch: Batch, key: jax.Array | None = None) -> tuple[Any, Trace]:
        """One pass: prediction and trace. May read `batch.target` (teacher forcing)."""
        raise TypeError(f"{type(self).__name__} must define __call__")

    def losses(self, task: Task, batch: Batch, moment: Moment, memory: Any) -> Step:
        """What a training step minimizes, in named parts."""
        return Step({"loss": task.loss(self(batch, moment.key)[0], batch)}, {}, memory)

    def answer(self, batch: Batch, key: jax.Array | None = None, how: Any = None) -> tuple[Any, Trace]:
        """What is scored and probed; the batch has no target. Whole numbers like it, or logits with one axis more."""
        return self(batch, key)

    def likelihood(self, task: Task, batch: Batch, key: jax.Array, how: Any = None) -> jax.Array:
        """(T,): nats of `batch.target`, exact or a lower bound."""
        raise TypeError(f"{type(self).__name__} has no likelihood")

    def memory(self, task: Task, batch: Batch) -> Any:
        """What is carried from step to step, before the first: leaves (T, ...), or scalars. None: nothing."""
        return None

    def group(self, path: str, leaf: Any) -> str:
        """The parameter group of an array: "decay", "no_decay", "frozen" (not trained), or one of the recipe's."""
        return "decay" if leaf.ndim >= 2 else "no_decay"

    def save(
        self,
        path: str | os.PathLike,
        *,
        blueprint: Blueprint | Sequence[Blueprint] | None = None,
        task: Task | None = None,
    ) -> None:
        """Writes all its arrays, and what builds it, to one safetensors file; `rc.nets.load(path)` gives it back.

        A net that was trained or loaded knows what built it. One that was changed since (by `eqx.tree_at`, say) does
        not, and is told. A saved net that is there already is replaced, any other file is not.

        Args:
            path: of the file.
            blueprint: what built it, registered by name; of a net trained in stages those of all stages, in order.
            task: what it was built for; only its shapes and words are written.
        """
        from .saved import save

        save(self, path, blueprint, task)


@dataclass(frozen=True)
class Blueprint:
    """Hyperparameters of a net. Subclasses write `fresh` and `layers`; a net that wraps another overrides `build`.

    Example:
        >>> blueprint = rc.nets.MLP(width=8, depth=1)
        >>> isinstance(blueprint, rc.nets.Blueprint), blueprint.to_json()
        (True, {'net': 'mlp', 'width': 8, 'depth': 1})
    """

    name: ClassVar[str]
    #: each row of the inputs is answered by itself, whatever the others are
    rows_apart: ClassVar[bool] = False
    #: convolutions train some 70 times slower inside a scan on a CPU: such nets ask for one call per step there
    steps_in_scan_on_cpu: ClassVar[bool] = True

    @property
    def products(self) -> Products:
        """What its time goes into; the precision `auto` is decided by it."""
        return "matrix"

    def require(self, task: Task) -> None:
        """Refuses, with a UserError, a task that the net cannot serve; before anything is compiled."""

    def fresh(self, task: Task, key: jax.Array, precision: str) -> Net:
        """A new net for the task."""
        raise TypeError(f"{type(self).__name__} must define fresh")

    def build(self, task: Task, key: jax.Array, precision: str = "float32", start: Net | None = None) -> Net:
        """A net for the task: a new one, or, if `start` is given, the net of the stage before with its arrays.

        It is compiled: shapes may not depend on the values of `start`.
        """
        self.require(task)
        require_precision(precision)
        net = self.fresh(task, key, precision)
        return net if start is None else graft(net, start, self.name)

    def layers(self) -> tuple[str, ...]:
        """Names of the activations in the trace, in order."""
        raise TypeError(f"{type(self).__name__} must define layers")

    def to_json(self) -> dict[str, Any]:
        """What makes it, as data; a blueprint within says which one it is."""
        fields = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        if "net" in fields:
            raise TypeError(
                f"{type(self).__name__} has a field 'net', which is the name of the blueprint in JSON; rename it"
            )
        plain = {name: one.to_json() if isinstance(one, Blueprint) else one for name, one in fields.items()}
        return {"net": self.name, **plain}


def require_precision(precision: str) -> None:
    """Refuses what is no precision of products; `auto` is resolved before a net is built."""
    if precision not in ("float32", "bfloat16"):
        raise unknown("precision of a net", precision, ("float32", "bfloat16"))


def how_to_ask(net: Net, how: Any) -> Any:
    """`how` as the net's own dataclass.

    Args:
        net: whose `How` it is.
        how: None for its default, a dictionary of its fields, or the dataclass itself.

    Example:
        >>> rc.nets.how_to_ask(trained.nets[0], None)
        Plainly()
    """
    fields = [field.name for field in dataclasses.fields(net.How)]
    if how is None or isinstance(how, dict):
        for name in how or {}:
            if name not in fields:
                raise unknown(f"way to ask {type(net).__name__}", name, fields)
        fixed = {name: tuple(value) if isinstance(value, list) else value for name, value in (how or {}).items()}
        return net.How(**fixed)  # JSON has lists, and what is hashed has tuples
    if not isinstance(how, net.How):
        raise UserError(
            f"how={how!r} is not for {type(net).__name__}, which takes {net.How.__name__}({', '.join(fields)})"
        )
    return how


def initialize(blueprint: Blueprint, task: Task, key: jax.Array, precision: str, start: Net | None = None) -> Net:
    """A net with fresh weights, made by one program: compiling its random numbers array by array would take seconds.

    Args:
        blueprint: of the net.
        task: what it is for.
        key: of the weights.
        precision: of its products, "float32" or "bfloat16".
        start: the net of the stage before, if it goes on from one.

    Example:
        >>> net = rc.nets.initialize(rc.nets.MLP(width=8, depth=1), task, jax.random.key(0), "float32")
        >>> [kernel.shape for kernel in net.kernels]
        [(20, 8), (8, 16)]
    """
    return init_program()(blueprint, task, key, precision, start)


@functools.cache
def init_program() -> Callable[..., Net]:
    def run(blueprint: Blueprint, task: Task, key: jax.Array, precision: str, start: Net | None) -> Net:
        return blueprint.build(task, key, precision, start)

    return eqx.filter_jit(run, compiler_options=one_thread())  # type: ignore[call-overload]


nets: Registry[Callable[..., Blueprint]] = Registry("net", plugins="recombine.nets")
