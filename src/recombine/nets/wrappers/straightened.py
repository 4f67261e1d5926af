"""straightened: any net that draws, trained to keep the two directions of its factors at right angles.

With a layer's activation a(x, y), its tangents a_0 = da/dx and a_1 = da/dy, and the metric g_ij = <a_i, a_j>,

    obliqueness = mean over layers of   mean |g_01| / mean (g_00 + g_11)

is a part of the loss, times a weight; means are over the pictures of the batch. It is 1 - F, F the factorization metric
of Liang, Qian, Ziyin, Fiete 2025. They find that F falls as a decoder entangles its factors; whether it is a cause of
the failure is open, and this net asks. It is ours, not theirs. The forward pass, the trace and the layers are those of
the net within.

Layers are those that the trace calls ".../post". Tangents are exact where the code can be differentiated; a one-hot
code cannot, and its tangents are differences between the neighboring levels (one-sided at the border), as in the
published metric. With `everywhere=True` the penalty is taken at random levels of the whole frame, held-out ones too: it
needs coordinates and no targets.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from ...encodings.coordinates import OneHot
from ...errors import UserError
from ...machine.precision import Products
from ...tasks import Batch, Pictures, Task
from ..base import Blueprint, Moment, Net, Step, nets, require_precision
from ..layers.drawing import require_pictures
from ..mlp import MLP
from .wrapper import Wrapper

Tangents = tuple[jax.Array, jax.Array]  # of one layer along the first and the second factor, (T, ...) each


@nets.register("straightened")
@dataclass(frozen=True)
class Straightened(Blueprint):
    """Another net, plus a part of the loss for the angle between the tangents of its two factors at hidden layers.

    Args:
        of: the blueprint of the net within, or its JSON: {"net": "mlp", "width": 64}.
        weight: of that part of the loss.
        everywhere: take it at random levels of the whole frame, held-out ones too, and not at those of the batch.

    Example:
        >>> rc.nets.Straightened(of={"net": "mlp", "width": 64, "depth": 1}, weight=0.5).inner.to_json()
        {'net': 'mlp', 'width': 64, 'depth': 1}
    """

    name: ClassVar[str] = "straightened"
    of: Blueprint | dict[str, Any] = MLP(width=256, depth=3)  # a blueprint, or its JSON: {"net": "mlp", "width": 64}
    weight: float = 0.1
    everywhere: bool = False

    @property
    def products(self) -> Products:
        return self.inner.products

    def __post_init__(self):
        if not isinstance(self.of, Blueprint):
            if not isinstance(self.of, dict) or "net" not in self.of:
                raise UserError(f"of={self.of!r} must say which net, as in {{'net': 'mlp', 'width': 64}}")
            spec = dict(self.of)
            object.__setattr__(self, "of", nets[spec.pop("net")](**spec))
        known = isinstance(self.weight, (int, float)) and not isinstance(self.weight, bool)
        if not known or not math.isfinite(self.weight) or self.weight < 0:
            raise UserError(f"weight={self.weight!r} must be a number of at least 0")
        if not isinstance(self.everywhere, bool):
            raise UserError(f"everywhere={self.everywhere!r} must be True or False")

    @property
    def inner(self) -> Blueprint:
        assert isinstance(self.of, Blueprint)
        return self.of

    def layers(self) -> tuple[str, ...]:
        return self.inner.layers()

    def to_json(self) -> dict[str, Any]:
        return {"net": self.name, "of": self.inner.to_json(), "weight": self.weight, "everywhere": self.everywhere}

    def require(self, task: Task) -> None:
        task = require_pictures(self, task)
        if len(task.constituent_names) < 2:
            raise UserError(f"net 'straightened' needs two factors and {task.id} has {list(task.constituent_names)}")
        self.inner.require(task)

    def build(
        self, task: Task, key: jax.Array, precision: str = "float32", start: Net | None = None
    ) -> StraightenedNet:
        """Around a new net, around the net of the stage before, or in place of one that was straightened before."""
        self.require(task)
        require_precision(precision)
        within = start.net if isinstance(start, StraightenedNet) else start
        # the penalty pushes tangents forward, and bfloat16 products have no forward derivative
        return StraightenedNet(self.inner.build(task, key, "float32", within), self)


class StraightenedNet(Wrapper):
    """The weights of the net within."""

    blueprint: Straightened = eqx.field(static=True)

    def losses(self, task: Task, batch: Batch, moment: Moment, memory: Any) -> Step:
        """Those of the net within, and the weighted obliqueness."""
        step = self.net.losses(task, batch, moment, memory)
        if not self.blueprint.weight:
            return step
        task = require_pictures(self.blueprint, task)
        at = batch.constituents
        if self.blueprint.everywhere:
            levels = jnp.asarray(task.encoding.levels)
            at = jnp.floor(jax.random.uniform(moment.key, at.shape) * levels)
        bent = self.blueprint.weight * obliqueness(tangents(self.net, task, at))
        return step._replace(parts={**step.parts, "obliqueness": bent})


def obliqueness(layers: list[Tangents]) -> Float[Array, ""]:
    """Mean over layers of mean |g_01| / mean (g_00 + g_11): 0 for right angles, 1/2 at most."""

    def of(first: jax.Array, second: jax.Array) -> jax.Array:
        first, second = first.reshape(len(first), -1), second.reshape(len(second), -1)
        across, along = (first * second).sum(-1), (first**2 + second**2).sum(-1)
        return jnp.abs(across).mean() / (along.mean() + 1e-9)

    return jnp.stack([of(*pair) for pair in layers]).mean()


def tangents(net: Net, task: Pictures, at: Float[Array, "t f"]) -> list[Tangents]:
    """How each hidden layer moves with the first and with the second factor, at these coordinates."""

    def hidden(coordinates: jax.Array) -> dict[str, jax.Array]:
        _, trace = net.answer(Batch(None, task.code_of(coordinates)))
        return {name: value for name, value in trace.items() if name.endswith("/post")}

    along = _differences if isinstance(task.encoding, OneHot) else _derivatives
    first, second = (along(hidden, task, at, factor) for factor in (0, 1))
    return [(first[name], second[name]) for name in first]


def _derivatives(hidden: Callable, task: Pictures, at: jax.Array, factor: int) -> dict[str, jax.Array]:
    direction = jnp.zeros_like(at).at[:, factor].set(1.0)
    return jax.jvp(hidden, (at,), (direction,))[1]


def _differences(hidden: Callable, task: Pictures, at: jax.Array, factor: int) -> dict[str, jax.Array]:
    last = task.encoding.levels[factor] - 1
    above, below = (at.at[:, factor].set(jnp.clip(at[:, factor] + step, 0, last)) for step in (1, -1))
    apart = jnp.maximum((above - below)[:, factor], 1.0)  # 2 levels; 1 at the border
    up, down = hidden(above), hidden(below)
    return {name: (up[name] - down[name]) / apart.reshape(-1, *[1] * (up[name].ndim - 1)) for name in up}
