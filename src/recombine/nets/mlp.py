"""mlp: the plain network. ReLU layers on concat(code, inputs); no residual, no norm, no dropout.

A code of words is embedded and flattened first. Kernels are LeCun-normal (truncated, deviation 1/sqrt(fan in) after
the cut), biases zero, the output linear.
Trace: "layer1/pre", "layer1/post", ..., "output".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from ..distributions import truncated_normal
from ..errors import require_int
from ..precision import matmul
from ..tasks import Batch, Task
from . import embedding
from .base import Blueprint, Net, Trace, nets
from .sizes import sizes_of


@nets.register("mlp")
@dataclass(frozen=True)
class MLP(Blueprint):
    """Plain ReLU network of any width and depth on the code and the inputs side by side."""

    name: ClassVar[str] = "mlp"
    width: int = 384
    depth: int = 3
    embedding: int = 16  # numbers a word, for codes of words

    def __post_init__(self):
        require_int("width", self.width, at_least=1)
        require_int("depth", self.depth, at_least=0)
        require_int("embedding", self.embedding, at_least=1)

    def layers(self) -> tuple[str, ...]:
        hidden = (f"layer{i}/{when}" for i in range(1, self.depth + 1) for when in ("pre", "post"))
        return (*hidden, "output")

    def fresh(self, task: Task, key: jax.Array, precision: str) -> MLPNet:
        needed = sizes_of(self, task)
        read = embedding.features(needed, self.embedding) + needed.inputs
        sizes = [read, *[self.width] * self.depth, needed.outputs]
        keys = jax.random.split(key, len(sizes) - 1)
        kernels = tuple(
            truncated_normal(k, (fan_in, fan_out), fan_in**-0.5)
            for k, fan_in, fan_out in zip(keys, sizes, sizes[1:], strict=False)
        )
        biases = tuple(jnp.zeros(fan_out) for fan_out in sizes[1:])
        # a key beside those of the layers: a net for numbers is drawn as it would be without any words
        words = embedding.word_table(needed, jax.random.fold_in(key, len(sizes)), self.embedding)
        return MLPNet(kernels, biases, precision, words)

    def to_json(self) -> dict[str, Any]:
        """Without the embedding where it is the default: what was written before there were words stays equal."""
        spec = super().to_json()
        if self.embedding == MLP.embedding:
            del spec["embedding"]
        return spec


class MLPNet(Net):
    """The weights of an `MLP`."""

    kernels: tuple[Float[Array, "_in _out"], ...]
    biases: tuple[Float[Array, " _out"], ...]
    precision: str = eqx.field(static=True, default="float32")
    words: Float[Array, "_v _e"] | None = None  # the table, if the code is words

    def __call__(self, batch: Batch, key: jax.Array | None = None) -> tuple[Float[Array, "t ... o"], Trace]:
        code = embedding.read(self.words, batch.code)
        h, shape = code[:, None], (len(code), 1)  # without inputs: one row per task
        if batch.inputs is not None:
            shape = batch.inputs.shape[:-1]  # (T, S, ...)
            told = code.reshape(len(code), *[1] * (len(shape) - 1), -1)
            h = jnp.concatenate([jnp.broadcast_to(told, (*shape, code.shape[-1])), batch.inputs], axis=-1)
        h = h.reshape(-1, h.shape[-1])  # rows: one matrix product per layer
        trace: Trace = {}
        for layer, (kernel, bias) in enumerate(zip(self.kernels, self.biases, strict=True), start=1):
            h = matmul(h, kernel, self.precision) + bias
            last = layer == len(self.kernels)
            trace["output" if last else f"layer{layer}/pre"] = h.reshape(*shape, -1)
            if not last:
                h = jax.nn.relu(h)
                trace[f"layer{layer}/post"] = h.reshape(*shape, -1)
        return trace["output"], trace
