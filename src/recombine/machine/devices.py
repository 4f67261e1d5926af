"""Devices: one net is trained on all devices of a machine at once, each with its share of the batch.

Weights, optimizer, task and sampler are on every device; the batch is cut along its tasks. The compiler does the rest:
it makes each share of the data where it is used, and adds up what the shares say about loss and gradient. The
random numbers are the same to the last bit. A sum over the batch becomes a sum of partial sums, so losses
and gradients agree up to float32's rounding of sums, some 1e-7 of their size a step.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, TypeVar

import jax
import numpy as np
from jax.core import Tracer
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from ..errors import UserError

T = TypeVar("T")
_ONE_ONLY = ContextVar("one device only", default=False)


@dataclass(frozen=True)
class Layout:
    """The devices that share a batch; none named: the one that jax takes by itself, and nothing below does anything."""

    devices: tuple[Any, ...] = ()

    @property
    def several(self) -> bool:
        return len(self.devices) > 1

    @property
    def everywhere(self) -> NamedSharding | None:
        """How the state lies: a copy on each device."""
        return NamedSharding(self._mesh(), PartitionSpec()) if self.several else None

    def copied(self, tree: T) -> T:
        """The tree with its arrays on every device; inside a program they stay so, whatever the compiler prefers."""
        return self._put(tree, PartitionSpec())

    def shared_out(self, batch: T, axis: int = 0) -> T:
        """The tree with its arrays (T, ...) cut along their tasks, an equal share for each device."""
        return self._put(batch, PartitionSpec(*[None] * axis, "tasks"))

    def _put(self, tree: T, how: PartitionSpec) -> T:
        if not self.several:
            return tree
        where = NamedSharding(self._mesh(), how)
        traced = any(isinstance(leaf, Tracer) for leaf in jax.tree.leaves(tree))
        return (jax.lax.with_sharding_constraint if traced else jax.device_put)(tree, where)

    def on_one(self, tree: T) -> T:
        """The copy of the first device, for what one device does: scoring and keeping."""
        return jax.tree.map(lambda leaf: leaf.addressable_data(0), tree) if self.several else tree

    def _mesh(self) -> Mesh:
        return Mesh(np.array(self.devices), ("tasks",))


def choose(devices: int | str, tasks: int) -> Layout:
    """The layout for batches of `tasks` tasks.

    "auto" takes all devices of this machine, or as many as cut the batch into equal shares; one where `one_device`
    or `jax.default_device` says so. A number takes that many.
    """
    there = jax.local_devices()
    if devices == "auto":
        if _ONE_ONLY.get() or jax.config.jax_default_device is not None:  # type: ignore[attr-defined]
            return Layout()
        return _first(there, max(n for n in range(1, len(there) + 1) if tasks % n == 0))
    if isinstance(devices, bool) or not isinstance(devices, int) or not 1 <= devices <= len(there):
        raise UserError(f"devices={devices!r} must be 'auto' or a number from 1 to {len(there)}, which are here")
    if tasks % devices:
        fit = [n for n in range(1, len(there) + 1) if tasks % n == 0]
        raise UserError(
            f"devices={devices} cannot share a batch of {tasks} tasks equally; {' or '.join(map(str, fit))} would do"
        )
    return _first(there, devices)


def _first(there: list[Any], count: int) -> Layout:
    return Layout(tuple(there[:count])) if count > 1 else Layout()


@contextlib.contextmanager
def one_device() -> Iterator[None]:
    """Within it "auto" is one device. Cells of a study run so: they share a machine, and where a cell runs must not
    change its record."""
    token = _ONE_ONLY.set(True)
    try:
        yield
    finally:
        _ONE_ONLY.reset(token)
