"""cnn-decoder: a picture grows out of the code by transposed convolutions.

    code (C) -> 7 x 7                       transposed convolution, kernel 7: one product
    so often as it is deep, while the map is smaller than the picture:
        m x m -> 2m x 2m                    kernel 4, stride 2, padding 1
    and then m x m -> m x m                 kernel 3, padding 1
    -> 1 channel                            kernel 3, padding 1, linear

ReLU after each but the last, no norms. The main net of Liang, Qian, Ziyin, Fiete 2025 and its public code (width 64,
depth 2 to 10, 28 x 28). Where the maps do not meet the side of the picture, they double until they are larger, and
the last map is resized by the nearest neighbor, as in its scaling runs; a `base` of 4 for sides of 8, 16 and 32 avoids
that. A net too shallow to reach the side is refused: ours, for the resizing would decide what it can draw.

Kernels and biases begin uniform within 1/sqrt(fan in), as torch draws them by default; for a transposed convolution
torch takes the *outgoing* channels times the area of the kernel for the fan in, so the last kernel begins within 1/3.

Trace: "layer1/pre", "layer1/post" (the first map), ..., "output"; maps are flat in the order row, column, channel.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import equinox as eqx
import jax
from jaxtyping import Array, Float

from ..errors import UserError, require_int
from ..machine.precision import Products, matmul
from ..tasks import Batch, Task
from .base import Blueprint, Net, Trace, nets
from .layers import convolution
from .layers.drawing import flat, require_pictures, uniform


@nets.register("cnn-decoder")
@dataclass(frozen=True)
class CNNDecoder(Blueprint):
    """Transposed convolutions from the code to a picture; the decoder of the published bump experiments.

    Args:
        width: channels.
        depth: hidden convolutions after the first map.
        base: pixels along a side of the first map.

    Example:
        >>> rc.nets.CNNDecoder(width=4, depth=1, base=7).layers()
        ('layer1/pre', 'layer1/post', 'layer2/pre', 'layer2/post', 'output')
    """

    name: ClassVar[str] = "cnn-decoder"
    width: int = 64  # channels
    depth: int = 4  # hidden convolutions after the first map
    base: int = 7  # pixels along a side of the first map

    def __post_init__(self):
        for name in ("width", "depth", "base"):
            require_int(name, getattr(self, name), at_least=1)

    @property
    def products(self) -> Products:
        return "convolution"

    def layers(self) -> tuple[str, ...]:
        hidden = (f"layer{i}/{when}" for i in range(1, self.depth + 2) for when in ("pre", "post"))
        return (*hidden, "output")

    def doublings(self, side: int) -> int:
        """How often a map is doubled until it is as large as the picture."""
        return next(k for k in range(side) if self.base * 2**k >= side)

    def require(self, task: Task) -> None:
        side = require_pictures(self, task).side
        if (needed := self.doublings(side)) > self.depth:
            raise UserError(
                f"depth={self.depth} doubles a map of {self.base} x {self.base} to {self.base * 2**self.depth} pixels "
                f"per side, and pictures have {side}; depth={needed} would do"
            )

    def fresh(self, task: Task, key: jax.Array, precision: str) -> CNNDecoderNet:
        task = require_pictures(self, task)
        side = task.side
        doubled = self.doublings(side)
        # (kernel size, incoming, outgoing channels) of each convolution
        shapes = [(self.base, task.encoding.size, self.width)]
        shapes += [(4 if i < doubled else 3, self.width, self.width) for i in range(self.depth)]
        shapes += [(3, self.width, 1)]
        kernels, biases = [], []
        for (k, c, d), layer_key in zip(shapes, jax.random.split(key, len(shapes)), strict=True):
            kernel_key, bias_key = jax.random.split(layer_key)
            kernels.append(uniform(kernel_key, (k, k, c, d), fan_in=k * k * d))
            biases.append(uniform(bias_key, (d,), fan_in=k * k * d))
        return CNNDecoderNet(tuple(kernels), tuple(biases), side, precision)


class CNNDecoderNet(Net):
    """The weights of a `CNNDecoder`."""

    kernels: tuple[Float[Array, "_k _k _c _d"], ...]
    biases: tuple[Float[Array, " _d"], ...]
    side: int = eqx.field(static=True)
    precision: str = eqx.field(static=True)

    def __call__(self, batch: Batch, key: jax.Array | None = None) -> tuple[Float[Array, "t 1 o"], Trace]:
        first, *hidden, last = zip(self.kernels, self.biases, strict=True)
        trace: Trace = {}
        h = self.first_map(batch.code, *first)
        for number, (kernel, bias) in enumerate(hidden, start=1):
            trace[f"layer{number}/pre"], h = h, jax.nn.relu(h)
            trace[f"layer{number}/post"] = h
            grow = convolution.double if kernel.shape[0] == 4 else convolution.transposed
            h = grow(h, kernel, self.precision) + bias
        trace[f"layer{len(hidden) + 1}/pre"], h = h, jax.nn.relu(h)
        trace[f"layer{len(hidden) + 1}/post"] = h
        kernel, bias = last
        h = convolution.transposed(h, kernel, self.precision) + bias
        trace["output"] = convolution.nearest(h, self.side)
        trace = flat(trace)
        return trace["output"], trace

    def first_map(self, code: jax.Array, kernel: jax.Array, bias: jax.Array) -> Float[Array, "t k k d"]:
        """A transposed convolution of one pixel: each place of the map has a matrix of its own."""
        k, _, c, d = kernel.shape
        flat = matmul(code, kernel.transpose(2, 0, 1, 3).reshape(c, k * k * d), self.precision)
        return flat.reshape(-1, k, k, d) + bias
