"""transformer: a causal transformer that reads the code first and then the rows of the task.

    [ W_z z,  W_x x_1 + b, ...,  W_x x_S + b ]        the words of a code of words take the place of W_z z
    h <- h + attention(norm(h)),  h <- h + W_2 gelu(W_1 norm(h))        so often as it is deep
    prediction at x_i: W_o norm(h_i) + c

As in Redhardt, Akram, Schug 2025 and its public code: layer norms with a scale and no bias, before each part and at the
end; queries and keys normed in each head (one scale for all heads) and turned by rotary positions; no biases in the
blocks, whose kernels are Xavier-uniform. The three projections outside are LeCun-normal, as Flax draws them by default.

The samples of a task are one sequence, as published: each sees those before it, which carry no labels. A net trained
like this must be trained on as many samples as it is scored on (`Recipe(samples=None)`): positions after those of
training are new to it, and after one sample per task it scores about zero. With `together=False` each sample is a
sequence of its own, [code, x], and any number will do. Episodes are always sequences of their own.

Trace, at the rows of the inputs: "layer1/pre" is the residual stream after the attention of the first block and before
its feed-forward part, "layer1/post" after both; "output" is the prediction.
"""

from __future__ import annotations

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
from .layers.attention import causal_attention, layer_norm, rotary_angles, rotate
from .layers.dense import lecun_normal, rows_matmul, xavier_uniform
from .layers.embedding import look_up, word_table
from .sizes import require_inputs, sizes_of


@nets.register("transformer")
@dataclass(frozen=True)
class Transformer(Blueprint):
    """Causal transformer on the code and the rows of a task as one sequence.

    Args:
        width: numbers per token; a multiple of twice the heads.
        depth: blocks.
        heads: of attention.
        feedforward: hidden units of the feed-forward part.
        together: the samples of a task are one sequence (as published), or each its own.

    Example:
        >>> rc.nets.Transformer(width=16, depth=2, heads=2, feedforward=32).layers()
        ('layer1/pre', 'layer1/post', 'layer2/pre', 'layer2/post', 'output')
    """

    name: ClassVar[str] = "transformer"
    width: int = 256
    depth: int = 4
    heads: int = 4
    feedforward: int = 1024
    together: bool = True  # the samples of a task are one sequence (as published), or each its own

    def __post_init__(self):
        for name in ("width", "depth", "heads", "feedforward"):
            require_int(name, getattr(self, name), at_least=1)
        if not isinstance(self.together, bool):
            raise UserError(f"together={self.together!r} must be True or False")
        if self.width % (2 * self.heads):
            near = max(1, round(self.width / (2 * self.heads))) * 2 * self.heads
            raise UserError(
                f"width={self.width} does not give {self.heads} heads an even number of features each; {near} would do"
            )

    def layers(self) -> tuple[str, ...]:
        hidden = (f"layer{i}/{when}" for i in range(1, self.depth + 1) for when in ("pre", "post"))
        return (*hidden, "output")

    def require(self, task: Task) -> None:
        require_inputs(self, task)

    def fresh(self, task: Task, key: jax.Array, precision: str) -> TransformerNet:
        sizes = sizes_of(self, task)
        code_key, input_key, output_key, *block_keys = jax.random.split(key, 3 + self.depth)
        words = word_table(sizes, code_key, self.width)
        return TransformerNet(
            lecun_normal(code_key, sizes.code, self.width) if words is None else words,
            lecun_normal(input_key, sizes.inputs, self.width),
            jnp.zeros(self.width),
            tuple(self.block(k, precision) for k in block_keys),
            jnp.ones(self.width),
            lecun_normal(output_key, self.width, sizes.outputs),
            jnp.zeros(sizes.outputs),
            words is not None,
            self.together,
            precision,
        )

    def block(self, key: jax.Array, precision: str) -> Block:
        """The weights of one block."""
        d, f, size = self.width, self.feedforward, self.width // self.heads
        keys = jax.random.split(key, 6)
        return Block(
            jnp.ones(d),
            xavier_uniform(keys[0], d, d),
            jnp.concatenate([xavier_uniform(keys[1], d, d), xavier_uniform(keys[2], d, d)], axis=1),
            jnp.ones(size),
            jnp.ones(size),
            xavier_uniform(keys[3], d, d),
            jnp.ones(d),
            xavier_uniform(keys[4], d, f),
            xavier_uniform(keys[5], f, d),
            precision,
        )


class Block(eqx.Module):
    """Attention and feed-forward of width d, f; each reads the normed stream and adds to it."""

    attention_norm: Float[Array, " d"]
    query: Float[Array, "d d"]
    key_and_value: Float[Array, "d two_d"]  # side by side: one product for both
    query_norm: Float[Array, " size"]  # shared by the heads
    key_norm: Float[Array, " size"]
    mix: Float[Array, "d d"]
    feedforward_norm: Float[Array, " d"]
    widen: Float[Array, "d f"]
    narrow: Float[Array, "f d"]
    precision: str = eqx.field(static=True)

    def __call__(self, h: Float[Array, "t l d"], last: int) -> tuple[Float[Array, "t q d"], Float[Array, "t q d"]]:
        """The stream at the last Q positions, after the attention and after both parts; the others only give keys."""
        h, normed = h[:, -last:], layer_norm(h, self.attention_norm)
        h = h + self.attend(normed, last)
        wide = jax.nn.gelu(self.product(layer_norm(h, self.feedforward_norm), self.widen))
        return h, h + self.product(wide, self.narrow)

    def attend(self, normed: Float[Array, "t l d"], last: int) -> Float[Array, "t q d"]:
        t, length, d = normed.shape
        size = len(self.query_norm)
        query = self.product(normed[:, -last:], self.query).reshape(t, last, -1, size)
        key, value = jnp.split(self.product(normed, self.key_and_value).reshape(t, length, -1, size), 2, axis=2)
        angles = rotary_angles(length, size)
        query = rotate(layer_norm(query, self.query_norm), angles[-last:])
        key = rotate(layer_norm(key, self.key_norm), angles)
        return self.product(causal_attention(query, key, value).reshape(t, last, d), self.mix)

    def product(self, x: Float[Array, "t l _in"], kernel: Float[Array, "_in _out"]) -> Float[Array, "t l _out"]:
        return rows_matmul(x, kernel, self.precision)


class TransformerNet(Net):
    """The weights of a `Transformer`."""

    code_kernel: Float[Array, "_c d"]  # the table of words (V, d) if the code is words
    input_kernel: Float[Array, "_i d"]
    input_bias: Float[Array, " d"]
    blocks: tuple[Block, ...]
    output_norm: Float[Array, " d"]
    output_kernel: Float[Array, "d _o"]
    output_bias: Float[Array, " _o"]
    code_is_words: bool = eqx.field(static=True)
    together: bool = eqx.field(static=True)  # the samples of a task are one sequence, if each is one row
    precision: str = eqx.field(static=True)

    def __call__(self, batch: Batch, key: jax.Array | None = None) -> tuple[Float[Array, "t ... o"], Trace]:
        inputs, code, shape = batch.inputs, batch.code, batch.inputs.shape[:-1]  # (T, S) or, of episodes, (T, S, L)
        if len(shape) > 2 or not self.together:  # several sequences per task: each is told the code
            rows = shape[2] if len(shape) > 2 else 1
            inputs = inputs.reshape(-1, rows, inputs.shape[-1])
            code = jnp.repeat(code, shape[1], axis=0)
        trace: Trace = {}
        rows = inputs.shape[1]
        if self.code_is_words:
            code_words = look_up(self.code_kernel, code)
        else:
            code_words = matmul(code, self.code_kernel, self.precision)[:, None]
        read = rows_matmul(inputs, self.input_kernel, self.precision) + self.input_bias
        h = jnp.concatenate([code_words, read], axis=1)  # (sequences, code + rows, d)
        for number, block in enumerate(self.blocks, start=1):
            # nothing reads the stream at the code after the last block
            middle, h = block(h, rows if number == len(self.blocks) else h.shape[1])
            trace[f"layer{number}/pre"] = middle[:, -rows:].reshape(*shape, -1)
            trace[f"layer{number}/post"] = h[:, -rows:].reshape(*shape, -1)
        h = layer_norm(h, self.output_norm)
        trace["output"] = (rows_matmul(h, self.output_kernel, self.precision) + self.output_bias).reshape(*shape, -1)
        return trace["output"], trace
