"""coordinate-mlp: one small network that is asked for each pixel in turn.

    h = W_0 code + b_0 + position of the pixel          the same for all pixels but for the position
    h <- prelu(W h + b)                                 so often as it is deep
    value of the pixel: w_o h + b_o

Weights are shared over pixels, so that what was learned at one place holds at another: the "spatially aware MLP" of the
public code of Liang, Qian, Ziyin, Fiete 2025 (width 256, depth 2 and 4, one-hot code), which generalizes there without
any regularizer. Initialized as there, by torch's defaults (nets/drawing.py).

The first layer is linear in code + position: their two products are taken apart, with T + N^2 rows instead of T N^2,
and added. That is one layer in `depth` for nothing.

Trace: "layer1/pre", "layer1/post", ..., "output"; a layer is flat, pixel by pixel.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import equinox as eqx
import jax
from jaxtyping import Array, Float

from ..errors import require_int
from ..machine.precision import matmul
from ..tasks import Batch, Task
from .base import Blueprint, Net, Trace, nets
from .layers.drawing import flat, prelu, require_pictures, slope, uniform
from .layers.pixels import positions, require_quarters


@nets.register("coordinate-mlp")
@dataclass(frozen=True)
class CoordinateMLP(Blueprint):
    """A network shared by all pixels reads the code and where the pixel is; no attention.

    Args:
        width: hidden units per layer; a multiple of four.
        depth: hidden layers.

    Example:
        >>> net = rc.nets.CoordinateMLP(width=8, depth=1).build(bumps, jax.random.key(0))
        >>> net(bumps.sample(jax.random.key(1), grid.sample(0, 2)))[0].shape == (2, 1, bumps.side**2)
        True
    """

    name: ClassVar[str] = "coordinate-mlp"
    width: int = 256
    depth: int = 2

    def __post_init__(self):
        require_int("width", self.width, at_least=4)
        require_int("depth", self.depth, at_least=1)
        require_quarters(self.width)

    def layers(self) -> tuple[str, ...]:
        hidden = (f"layer{i}/{when}" for i in range(1, self.depth + 1) for when in ("pre", "post"))
        return (*hidden, "output")

    def require(self, task: Task) -> None:
        require_pictures(self, task)

    def fresh(self, task: Task, key: jax.Array, precision: str) -> CoordinateMLPNet:
        task = require_pictures(self, task)
        sizes = [task.encoding.size, *[self.width] * (self.depth + 1), 1]
        kernels, biases = [], []
        for fan_in, fan_out, layer_key in zip(sizes, sizes[1:], jax.random.split(key, len(sizes) - 1), strict=False):
            kernel_key, bias_key = jax.random.split(layer_key)
            kernels.append(uniform(kernel_key, (fan_in, fan_out), fan_in))
            biases.append(uniform(bias_key, (fan_out,), fan_in))
        slopes = tuple(slope() for _ in range(self.depth))
        return CoordinateMLPNet(tuple(kernels), tuple(biases), slopes, task.side, precision)


class CoordinateMLPNet(Net):
    """The weights of a `CoordinateMLP`: of the code, the hidden layers and the output."""

    kernels: tuple[Float[Array, "_in _out"], ...]
    biases: tuple[Float[Array, " _out"], ...]
    slopes: tuple[Float[Array, " one"], ...]
    side: int = eqx.field(static=True)
    precision: str = eqx.field(static=True)

    def __call__(self, batch: Batch, key: jax.Array | None = None) -> tuple[Float[Array, "t 1 o"], Trace]:
        (read, first, *kernels), (read_bias, first_bias, *biases) = self.kernels, self.biases
        t, pixels = len(batch.code), self.side**2
        trace: Trace = {}
        by_code = matmul(matmul(batch.code, read, self.precision) + read_bias, first, self.precision) + first_bias
        by_place = matmul(jax.numpy.asarray(positions(self.side, len(first))), first, self.precision)
        h = (by_code[:, None] + by_place).reshape(t * pixels, -1)
        for number, (kernel, bias, slope_) in enumerate(zip(kernels, biases, self.slopes, strict=True), start=1):
            trace[f"layer{number}/pre"] = h.reshape(t, -1)
            h = prelu(h, slope_)
            trace[f"layer{number}/post"] = h.reshape(t, -1)
            h = matmul(h, kernel, self.precision) + bias
        trace["output"] = h.reshape(t, pixels)
        trace = flat(trace)
        return trace["output"], trace
