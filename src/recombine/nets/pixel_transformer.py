"""pixel-transformer: one token per pixel, all told the same code, that look at each other.

    h = W_0 code + b_0 + position of the pixel
    h <- norm(h + attention(h)),  h <- norm(h + W_2 relu(W_1 h))        so often as it is deep; every token sees all
    value of the pixel: w_o h + b_o

As in the public code of Liang, Qian, Ziyin, Fiete 2025: 784 tokens, width 128, 2 to 5 encoder blocks of 4 heads, and
for the rest the defaults of torch, which are those here. Norms come after each part, with 1e-5 under the root; the
feed-forward part has 2,048 units, whatever the width; a tenth is dropped of the weights of the attention, of what it
adds to the stream, of the feed-forward units and of what these add. Queries, keys and values begin Xavier-uniform as
one kernel, their biases and that of the attention's output at zero, all else uniform within 1/sqrt(fan in).

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

from ..errors import UserError, require_int, require_number
from ..machine.precision import matmul
from ..tasks import Batch, Task
from .base import Blueprint, Net, Trace, nets
from .layers.attention import Drop, attention, layer_norm
from .layers.dense import xavier_uniform
from .layers.drawing import flat, require_pictures, uniform
from .layers.pixels import positions, require_quarters

EPSILON = 1e-5  # under the root of a layer norm, as in torch


@nets.register("pixel-transformer")
@dataclass(frozen=True)
class PixelTransformer(Blueprint):
    """Encoder blocks over one token per pixel; each token knows the code and its place.

    Args:
        width: numbers per token; a multiple of four and of `heads`.
        depth: blocks.
        heads: of attention.
        feedforward: hidden units of the feed-forward part.
        dropout: share of the numbers that is dropped in training.

    Example:
        >>> rc.nets.PixelTransformer(width=8, depth=1, heads=2).layers()
        ('layer1/pre', 'layer1/post', 'output')
    """

    name: ClassVar[str] = "pixel-transformer"
    width: int = 128
    depth: int = 2
    heads: int = 4
    feedforward: int = 2048
    dropout: float = 0.1

    def __post_init__(self):
        for name in ("width", "depth", "heads", "feedforward"):
            require_int(name, getattr(self, name), at_least=1)
        require_number("dropout", self.dropout, at_least=0, at_most=0.99)
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
            eqx.nn.Dropout(self.dropout) if self.dropout else None,
            task.side,
        )

    def block(self, key: jax.Array, precision: str) -> EncoderBlock:
        """The weights of one block."""
        d, f = self.width, self.feedforward
        keys = jax.random.split(key, 4)
        return EncoderBlock(
            Linear(xavier_uniform(keys[0], d, 3 * d), jnp.zeros(3 * d), precision),
            Linear(uniform(keys[1], (d, d), d), jnp.zeros(d), precision),
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

    def __call__(
        self, h: Float[Array, "t l d"], drop: Drop | None = None, key: jax.Array | None = None
    ) -> tuple[Float[Array, "t l d"], Float[Array, "t l d"]]:
        """The stream after the attention and after both parts. drop: (values, key) -> values, in training."""
        t, length, d = h.shape
        after_attention, after_both = self.norms
        keys = None if key is None else jax.random.split(key, t + 3)  # of each sequence, and of what is added

        def dropped(values: jax.Array, number: int) -> jax.Array:
            return values if drop is None or keys is None else drop(values, keys[t + number])

        three = self.query_key_value(h).reshape(t, length, 3, self.heads, d // self.heads)
        query, keyed, value = three[:, :, 0], three[:, :, 1], three[:, :, 2]
        seen = attention(query, keyed, value, drop=drop, drop_keys=None if keys is None else keys[:t])
        seen = self.mix(seen.reshape(t, length, d))
        middle = layer_norm(h + dropped(seen, 0), *after_attention, epsilon=EPSILON)
        wide = dropped(jax.nn.relu(self.widen(middle)), 1)
        return middle, layer_norm(middle + dropped(self.narrow(wide), 2), *after_both, epsilon=EPSILON)


class PixelTransformerNet(Net):
    """The weights of a `PixelTransformer`."""

    read: Linear
    blocks: tuple[EncoderBlock, ...]
    output: Linear
    dropout: eqx.nn.Dropout | None  # None: nothing is ever dropped
    side: int = eqx.field(static=True)

    def __call__(self, batch: Batch, key: jax.Array | None = None) -> tuple[Float[Array, "t 1 o"], Trace]:
        trace: Trace = {}
        told_all = self.read(batch.code)
        h = told_all[:, None] + positions(self.side, told_all.shape[-1])  # (T, pixels, width)
        drop = self.drop if self.dropout is not None and key is not None else None  # without a key nothing is drawn
        for number, block in enumerate(self.blocks, start=1):
            own = None if key is None or drop is None else jax.random.fold_in(key, number)
            trace[f"layer{number}/pre"], h = block(h, drop, own)
            trace[f"layer{number}/post"] = h
        trace["output"] = self.output(h)
        trace = flat(trace)
        return trace["output"], trace

    def drop(self, values: jax.Array, key: jax.Array) -> jax.Array:
        """The values with some of them at zero, in training."""
        return values if self.dropout is None else self.dropout(values, key=key)
