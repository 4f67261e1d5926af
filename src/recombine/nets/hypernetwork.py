"""hypernetwork: the code makes the weights of a net that reads the inputs.

    n = norm(code)                                      layer norm with a scale and a bias
    W_1, b_1, W_2, b_2 = linear maps of n               weights of a task, (I, H), (H), (H, O), (O)
    prediction = relu(x W_1 c / sqrt(I) + b_1) W_2 c sqrt(2 / H) + b_2              c = 1 / .8796 = 1.137

After the hypernetwork of the public code of Redhardt, Akram, Schug 2025: one hidden layer, layer norm, linear
generators with a bias, and a scale by fan-in in the forward pass and not in the initialization. That scale makes up
for the cut of a truncated normal (c is one over its deviation), although kernels that are generated have none. The
generators are LeCun-normal with zero biases, so W_1 and W_2 begin with variance 1. Ours: the 2 in the second scale,
since relu halves the second moment (inputs of variance 1 give hidden sums of variance c^2 and predictions of c^4), and
generators of b_1 and b_2 that begin at zero, as biases elsewhere do; theirs begin with variance 1.

The layer norm takes the overall size out of the code: constituents (.5, 0, 0) and (1, 0, 0) look the same to this net.

Trace: "layer1/pre", "layer1/post" (the hidden layer of the made net), "output".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from ..distributions import TRUNCATED_SD, truncated_normal
from ..errors import require_int
from ..machine.precision import matmul
from ..tasks import Batch, Task
from .base import Blueprint, Net, Trace, nets
from .layers import embedding
from .layers.attention import layer_norm
from .sizes import require_inputs, sizes_of


@nets.register("hypernetwork")
@dataclass(frozen=True)
class Hypernetwork(Blueprint):
    """A linear map of the normed code makes the weights of a net with one ReLU layer, which reads the inputs.

    Args:
        width: hidden units of the net that is made.
        embedding: numbers per word, for codes of words.

    Example:
        >>> net = rc.nets.Hypernetwork(width=8).build(task, jax.random.key(0))
        >>> net(task.sample(jax.random.key(1), space.sample(0, 2)))[0].shape
        (2, 16, 16)
    """

    name: ClassVar[str] = "hypernetwork"
    rows_apart: ClassVar[bool] = True
    width: int = 1024  # of the net that is made
    embedding: int = 16  # numbers per word, for codes of words

    def __post_init__(self):
        require_int("width", self.width, at_least=1)
        require_int("embedding", self.embedding, at_least=1)

    def layers(self) -> tuple[str, ...]:
        return ("layer1/pre", "layer1/post", "output")

    def require(self, task: Task) -> None:
        require_inputs(self, task)

    def fresh(self, task: Task, key: jax.Array, precision: str) -> HypernetworkNet:
        sizes = sizes_of(self, task)
        word_key, hidden_key, output_key = jax.random.split(key, 3)
        c, i, h, o = embedding.features(sizes, self.embedding), sizes.inputs, self.width, sizes.outputs
        return HypernetworkNet(
            jnp.ones(c),
            jnp.zeros(c),
            Generator(truncated_normal(hidden_key, (c, i * h), c**-0.5), jnp.zeros(i * h), precision),
            Generator(jnp.zeros((c, h)), jnp.zeros(h), precision),
            Generator(truncated_normal(output_key, (c, h * o), c**-0.5), jnp.zeros(h * o), precision),
            Generator(jnp.zeros((c, o)), jnp.zeros(o), precision),
            embedding.word_table(sizes, word_key, self.embedding),
        )


class Generator(eqx.Module):
    """A linear map from the normed code to the N numbers of one weight."""

    kernel: Float[Array, "c n"]
    bias: Float[Array, " n"]
    precision: str = eqx.field(static=True)

    def __call__(self, code: Float[Array, "t c"]) -> Float[Array, "t n"]:
        return matmul(code, self.kernel, self.precision) + self.bias

    def times(self, x: Float[Array, "t s a"], code: Float[Array, "t c"]) -> Float[Array, "t s b"]:
        """x @ W for the W (A, B) that the code of its task makes; N is A x B."""
        (t, s, a), c = x.shape, code.shape[1]
        if s > 1:
            return jnp.einsum("tsa,tab->tsb", x, self(code).reshape(t, a, -1))
        # One row per task: making W to use it once costs more than a sum in another order, sum_ca n_c x_a G_cab, which
        # is one product of matrices and takes .3 to .7 of the time. The smaller of the two sides goes in first.
        x = x[:, 0]
        b = self.kernel.shape[1] // a
        if a <= b:
            both = (code[:, :, None] * x[:, None]).reshape(t, c * a)
            out = matmul(both, self.kernel.reshape(c * a, b), self.precision)
        else:
            by_code = self.kernel.reshape(c, a, b).swapaxes(0, 1).reshape(a, c * b)
            out = (matmul(x, by_code, self.precision).reshape(t, c, b) * code[:, :, None]).sum(1)
        return (out + matmul(x, self.bias.reshape(a, b), self.precision))[:, None]


class HypernetworkNet(Net):
    """The weights of a `Hypernetwork`."""

    code_scale: Float[Array, " c"]
    code_bias: Float[Array, " c"]
    hidden_kernel: Generator  # makes I x H numbers
    hidden_bias: Generator  # H
    output_kernel: Generator  # H x O
    output_bias: Generator  # O
    words: Float[Array, "_v _e"] | None  # the table, if the code is words

    def __call__(self, batch: Batch, key: jax.Array | None = None) -> tuple[Float[Array, "t ... o"], Trace]:
        n = layer_norm(embedding.read(self.words, batch.code), self.code_scale, self.code_bias)
        *shape, i = batch.inputs.shape
        inputs = batch.inputs.reshape(shape[0], -1, i)  # (T, rows, I)
        h = len(self.hidden_bias.bias)
        by_inputs, by_width = i**-0.5 / TRUNCATED_SD, (2 / h) ** 0.5 / TRUNCATED_SD
        before = self.hidden_kernel.times(inputs * by_inputs, n) + self.hidden_bias(n)[:, None]
        after = jax.nn.relu(before)
        output = self.output_kernel.times(after * by_width, n) + self.output_bias(n)[:, None]
        trace = {"layer1/pre": before, "layer1/post": after, "output": output}
        trace = {name: value.reshape(*shape, -1) for name, value in trace.items()}
        return trace["output"], trace
