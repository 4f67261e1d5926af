"""cnn-encoder: a picture is read by convolutions; what a decoder does, backwards.

    picture (n x n) -> so often as it is deep: m x m -> m/2 x m/2 (rounded up), twice the channels each time
                                            kernel 3, stride 2, padding 1
    -> the last map and the code, flat      one product -> hidden units
    -> answer                               one product, linear

ReLU after each but the last, no norms. Of the public code of Liang, Qian, Ziyin, Fiete 2025 (32, 64 and 128 channels,
128 hidden units, 28 x 28), but for the code, which says nothing in its world. Kernels and biases begin uniform within
1/sqrt(fan in), as torch draws them by default.

Trace: "layer1/pre", "layer1/post", ..., "output"; maps are flat in the order row, column, channel.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from ..errors import UserError, require_int
from ..machine.precision import matmul
from ..tasks import Batch, Task
from .base import Blueprint, Net, Trace, nets
from .layers import convolution
from .layers.drawing import uniform
from .sizes import require_inputs, sizes_of


@nets.register("cnn-encoder")
@dataclass(frozen=True)
class CNNEncoder(Blueprint):
    """Convolutions of stride 2 from a picture to an answer; the encoder of the published bump experiments.

    Args:
        width: channels of the first convolution; each further one has twice as many.
        depth: convolutions, each of which halves the sides.
        hidden: units between the last map and the answer.

    Example:
        >>> rc.nets.CNNEncoder(width=4, depth=1, hidden=8).layers()
        ('layer1/pre', 'layer1/post', 'layer2/pre', 'layer2/post', 'output')
    """

    name: ClassVar[str] = "cnn-encoder"
    rows_apart: ClassVar[bool] = True
    width: int = 32  # channels of the first convolution
    depth: int = 3  # convolutions
    hidden: int = 128  # units between the last map and the answer

    def __post_init__(self):
        for name in ("width", "depth", "hidden"):
            require_int(name, getattr(self, name), at_least=1)

    def layers(self) -> tuple[str, ...]:
        hidden = (f"layer{i}/{when}" for i in range(1, self.depth + 2) for when in ("pre", "post"))
        return (*hidden, "output")

    def require(self, task: Task) -> None:
        require_inputs(self, task)
        needed = sizes_of(self, task)
        side = math.isqrt(needed.inputs)
        if side**2 != needed.inputs:
            raise UserError(
                f"net {self.name!r} reads square pictures, and a row of {task.id} has {needed.inputs} numbers; "
                f"{side**2} would do, and 'mlp' reads any"
            )
        if needed.words is not None:
            raise UserError(
                f"net {self.name!r} reads a code of numbers, and that of {task.id} is words; 'mlp' reads both"
            )

    def fresh(self, task: Task, key: jax.Array, precision: str) -> CNNEncoderNet:
        needed = sizes_of(self, task)
        side = math.isqrt(needed.inputs)
        channels = [1, *(self.width * 2**i for i in range(self.depth))]
        shapes = [(3, 3, c, d) for c, d in zip(channels, channels[1:], strict=False)]
        last = side
        for _ in range(self.depth):
            last = -(-last // 2)
        read = last**2 * channels[-1] + needed.code
        shapes += [(read, self.hidden), (self.hidden, needed.outputs)]
        kernels, biases = [], []
        for shape, layer_key in zip(shapes, jax.random.split(key, len(shapes)), strict=True):
            kernel_key, bias_key = jax.random.split(layer_key)
            fan_in = math.prod(shape[:-1])
            kernels.append(uniform(kernel_key, shape, fan_in))
            biases.append(uniform(bias_key, shape[-1:], fan_in))
        return CNNEncoderNet(tuple(kernels), tuple(biases), side, precision)


class CNNEncoderNet(Net):
    """The weights of a `CNNEncoder`."""

    kernels: tuple[Float[Array, "*_sizes"], ...]
    biases: tuple[Float[Array, " _d"], ...]
    side: int = eqx.field(static=True)
    precision: str = eqx.field(static=True)

    def __call__(self, batch: Batch, key: jax.Array | None = None) -> tuple[Float[Array, "t ... o"], Trace]:
        shape = batch.inputs.shape[:-1]  # (T, S, ...)
        h = batch.inputs.reshape(-1, self.side, self.side, 1)
        code = batch.code.reshape(len(batch.code), *[1] * (len(shape) - 1), -1)
        code = jnp.broadcast_to(code, (*shape, code.shape[-1])).reshape(len(h), -1)
        trace: Trace = {}
        *hidden, (kernel, bias) = zip(self.kernels, self.biases, strict=True)
        for layer, (each, added) in enumerate(hidden, start=1):
            if each.ndim == 4:
                h = convolution.halve(h, each, self.precision) + added
            else:
                h = jnp.concatenate([h.reshape(len(h), -1), code], axis=-1)
                h = matmul(h, each, self.precision) + added
            trace[f"layer{layer}/pre"], h = h.reshape(*shape, -1), jax.nn.relu(h)
            trace[f"layer{layer}/post"] = h.reshape(*shape, -1)
        trace["output"] = (matmul(h, kernel, self.precision) + bias).reshape(*shape, -1)
        return trace["output"], trace
