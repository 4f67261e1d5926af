"""pixel-transformer: a token a pixel, all told the same code, that look at each other.

    h = W_0 code + b_0 + position of the pixel
    h <- norm(h + attention(h)),  h <- norm(h + W_2 relu(W_1 h))        so often as it is deep; every token sees all
    value of the pixel: w_o h + b_o

After the public code of Liang, Qian, Ziyin, Fiete 2025 (784 tokens, width 128, 2 to 5 standard encoder blocks of 4
heads). Norms come after each part, as in the original transformer; layers have biases. Ours where nothing is known: a
feed-forward part four times as wide as the stream, no dropout, all kernels and biases uniform within 1/sqrt(fan in).

Trace: "layer1/pre" is the stream after the attention of the first block, "layer1/post" after its feed-forward part,
"output" the prediction; a layer is flat, pixel by pixel.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from ..errors import UserError, require_int
from ..precision import matmul
from ..tasks import Batch, Task
from .attention import attention, layer_norm
from .base import Blueprint, Net, Trace, nets
from .drawing import flat, require_pictures, uniform
from .pixels import positions, require_quarters


@nets.register("pixel-transformer")
@dataclass(frozen=True)
class PixelTransformer(Blueprint):
    """Encoder blocks over a token a pixel; each token knows the code and its place."""

    name: ClassVar[str] = "pixel-transformer"
    width: int = 128
    depth: int = 2
    heads: int = 4
    feedforward: int | None = None  # None: four times the width

    def __post_init__(self):
        for name in ("width", "depth", "heads"):
            require_int(name, getattr(self, name), at_least=1)
        if self.feedforward is not None:
            require_int("feedforward", self.feedforward, at_least=1)
        require_quarters(self.width)
        if self.width % self.heads:
            raise UserError(f"width={self.width} does not give {self.heads} heads the same number of features each")

    def layers(self) -> tuple[str, ...]:
        hidden = (f"layer{i}/{when}" for i in range(1, self.depth + 1) for when in ("pre", "post"))
        return (*hidden, "output")

    def require(self, task: Task) -> None:
        require_pictures(self, task)

    def fresh(self, task: Task, key: jax.Array, precision: str) -> PixelTransformerNet:
        task = require_pictures(self, task)
        read_key, output_key, *block_keys = jax.random.split(key, 2 + self.depth)
        return PixelTransformerNet(
            Linear.fresh(read_key, task.encoding.size, self.width, precision),
            tuple(self.block(k, precision) for k in block_keys),
            Linear.fresh(output_key, self.width, 1, precision),
            task.side,
        )

    def block(self, key: jax.Array, precision: str) -> EncoderBlock:
        """The weights of one block."""
        d = self.width
        f = 4 * d if self.feedforward is None else self.feedforward
        keys = jax.random.split(key, 4)
        return EncoderBlock(
            Linear.fresh(keys[0], d, 3 * d, precision),
            Linear.fresh(keys[1], d, d, precision),
            Linear.fresh(keys[2], d, f, precision),
            Linear.fresh(keys[3], f, d, precision),
            tuple((jnp.ones(d), jnp.zeros(d)) for _ in range(2)),
            self.heads,
        )


class Linear(eqx.Module):
    """A kernel and a bias, for rows of any number of axes."""

    kernel: Float[Array, "a b"]
    bias: Float[Array, " b"]
    precision: str = eqx.field(static=True)

    @classmethod
    def fresh(cls, key: jax.Array, fan_in: int, fan_out: int, precision: str) -> Linear:
        kernel_key, bias_key = jax.random.split(key)
        return cls(uniform(kernel_key, (fan_in, fan_out), fan_in), uniform(bias_key, (fan_out,), fan_in), precision)

    def __call__(self, x: Float[Array, "*n a"]) -> Float[Array, "*n b"]:
        rows = matmul(x.reshape(-1, x.shape[-1]), self.kernel, self.precision)  # one product of matrices
        return rows.reshape(*x.shape[:-1], -1) + self.bias


class EncoderBlock(eqx.Module):
    """Attention among all tokens, then a feed-forward part; each adds to the stream, which is normed after it."""

    query_key_value: Linear  # side by side: one product
    mix: Linear
    widen: Linear
    narrow: Linear
    norms: tuple[tuple[Float[Array, " d"], Float[Array, " d"]], ...]  # scale and bias, after each part
    heads: int = eqx.field(static=True)

    def __call__(self, h: Float[Array, "t l d"]) -> tuple[Float[Array, "t l d"], Float[Array, "t l d"]]:
        """The stream after the attention and after both parts."""
        t, length, d = h.shape
        after_attention, after_both = self.norms
        three = self.query_key_value(h).reshape(t, length, 3, self.heads, d // self.heads)
        seen = attention(three[:, :, 0], three[:, :, 1], three[:, :, 2]).reshape(t, length, d)
        middle = layer_norm(h + self.mix(seen), *after_attention)
        return middle, layer_norm(middle + self.narrow(jax.nn.relu(self.widen(middle))), *after_both)


class PixelTransformerNet(Net):
    """The weights of a `PixelTransformer`."""

    read: Linear
    blocks: tuple[EncoderBlock, ...]
    output: Linear
    side: int = eqx.field(static=True)

    def __call__(self, batch: Batch, key: jax.Array | None = None) -> tuple[Float[Array, "t 1 o"], Trace]:
        trace: Trace = {}
        told_all = self.read(batch.code)
        h = told_all[:, None] + positions(self.side, told_all.shape[-1])  # (T, pixels, width)
        for number, block in enumerate(self.blocks, start=1):
            trace[f"layer{number}/pre"], h = block(h)
            trace[f"layer{number}/post"] = h
        trace["output"] = self.output(h)
        trace = flat(trace)
        return trace["output"], trace
