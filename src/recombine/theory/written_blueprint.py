"""The blueprint of a net whose weights were written down: layers of its sizes, with weights drawn as an MLP's are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import jax

from ..nets import MLP, Blueprint, MLPNet
from ..nets.sizes import sizes_of
from ..tasks import Task


@dataclass(frozen=True)
class LayersOf(Blueprint):
    """An MLP with hidden layers of given sizes, such as those of an explicit network.

    Args:
        hidden: units of each hidden layer.

    Example:
        >>> explicit = rc.theory.hyperteacher_network(rc.tasks.Hyperteacher(space, inputs=2, hidden=2), pieces=4)
        >>> rc.theory.LayersOf.those_of(explicit.net).hidden
        (34, 2)
    """

    name: ClassVar[str] = "layers-of"
    rows_apart: ClassVar[bool] = True
    hidden: tuple[int, ...] = (16,)

    @classmethod
    def those_of(cls, net: MLPNet) -> LayersOf:
        """The blueprint of a net that is there."""
        return cls(tuple(kernel.shape[1] for kernel in net.kernels[:-1]))

    def layers(self) -> tuple[str, ...]:
        return MLP(depth=len(self.hidden)).layers()

    def fresh(self, task: Task, key: jax.Array, precision: str) -> MLPNet:
        needed = sizes_of(self, task)
        sizes = [needed.code + needed.inputs, *self.hidden, needed.outputs]
        keys = jax.random.split(key, len(sizes) - 1)
        made = [MLP().layer(*layer) for layer in zip(keys, sizes, sizes[1:], strict=False)]
        kernels, biases = (tuple(part) for part in zip(*made, strict=True))
        return MLPNet(kernels, biases, precision)
