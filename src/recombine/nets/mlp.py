"""mlp: the plain network. ReLU layers on concat(code, inputs); no residual, no norm, no dropout.

A code of words is embedded and flattened first; the output is linear. Kernels begin LeCun-normal (truncated, deviation
1/sqrt(fan in) after the cut) and biases at zero, as Flax draws them by default; or, with initial="uniform", both
uniform within 1/sqrt(fan in), as torch does: kernels then begin smaller by sqrt(3).
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
from ..errors import require_int, unknown
from ..machine.precision import matmul
from ..tasks import Batch, Task
from .base import Blueprint, Net, Trace, nets
from .layers import embedding
from .layers.drawing import uniform
from .sizes import sizes_of

INITIAL = ("lecun", "uniform")


@nets.register("mlp")
@dataclass(frozen=True)
class MLP(Blueprint):
    """Plain ReLU network of any width and depth on the code and the inputs side by side.

    Args:
        width: hidden units per layer.
        depth: hidden layers.
        embedding: numbers per word, for codes of words.
        initial: how weights begin: "lecun", as Flax draws them, or "uniform", as torch does.

    Example:
        >>> net = rc.nets.MLP(width=8, depth=2).build(task, jax.random.key(0))
        >>> rc.nets.count_parameters(net) == (20 * 8 + 8) + (8 * 8 + 8) + (8 * 16 + 16)
        True
    """

    name: ClassVar[str] = "mlp"
    rows_apart: ClassVar[bool] = True
    width: int = 384
    depth: int = 3
    embedding: int = 16  # numbers per word, for codes of words
    initial: str = "lecun"  # how weights begin: as Flax or ("uniform") as torch draws them

    def __post_init__(self):
        require_int("width", self.width, at_least=1)
        require_int("depth", self.depth, at_least=0)
        require_int("embedding", self.embedding, at_least=1)
        if self.initial not in INITIAL:
            raise unknown("initialization of an mlp", self.initial, INITIAL)

    def layers(self) -> tuple[str, ...]:
        hidden = (f"layer{i}/{when}" for i in range(1, self.depth + 1) for when in ("pre", "post"))
        return (*hidden, "output")

    def fresh(self, task: Task, key: jax.Array, precision: str) -> MLPNet:
        needed = sizes_of(self, task)
        read = embedding.features(needed, self.embedding) + needed.inputs
        sizes = [read, *[self.width] * self.depth, needed.outputs]
        keys = jax.random.split(key, len(sizes) - 1)
        layers = [self.layer(*layer) for layer in zip(keys, sizes, sizes[1:], strict=False)]
        kernels, biases = (tuple(part) for part in zip(*layers, strict=True))
        # a key beside those of the layers: a net for numbers is drawn as it would be without any words
        words = embedding.word_table(needed, jax.random.fold_in(key, len(sizes)), self.embedding)
        return MLPNet(kernels, biases, precision, words)

    def layer(self, key: jax.Array, fan_in: int, fan_out: int) -> tuple[jax.Array, jax.Array]:
        """The kernel and the bias of one layer."""
        if self.initial == "lecun":
            return truncated_normal(key, (fan_in, fan_out), fan_in**-0.5), jnp.zeros(fan_out)
        kernel_key, bias_key = jax.random.split(key)
        return uniform(kernel_key, (fan_in, fan_out), fan_in), uniform(bias_key, (fan_out,), fan_in)

    def to_json(self) -> dict[str, Any]:
        """Without what came later where it is the default: what was written before stays equal."""
        spec = super().to_json()
        for name in ("embedding", "initial"):
            if spec[name] == getattr(MLP, name):
                del spec[name]
        return spec


class MLPNet(Net):
    """The weights of an `MLP`.

    Args:
        kernels: one matrix (in, out) per layer.
        biases: one vector per layer.
        precision: of products, "float32" or "bfloat16".
        words: the table (words, numbers), if the code is words.

    Example:
        >>> net = rc.nets.MLPNet((2 * jnp.eye(3),), (jnp.ones(3),))
        >>> net(rc.tasks.Batch(None, code=jnp.array([[0.0, 1.0, 2.0]])))[0].tolist()
        [[[1.0, 3.0, 5.0]]]
    """

    kernels: tuple[Float[Array, "_in _out"], ...]
    biases: tuple[Float[Array, " _out"], ...]
    precision: str = eqx.field(static=True, default="float32")
    words: Float[Array, "_v _e"] | None = None  # the table, if the code is words

    def __call__(self, batch: Batch, key: jax.Array | None = None) -> tuple[Float[Array, "t ... o"], Trace]:
        code = embedding.read(self.words, batch.code)
        h, shape = code[:, None], (len(code), 1)  # without inputs: one row per task
        if batch.inputs is not None:
            shape = batch.inputs.shape[:-1]  # (T, S, ...)
            spread = code.reshape(len(code), *[1] * (len(shape) - 1), -1)
            h = jnp.concatenate([jnp.broadcast_to(spread, (*shape, code.shape[-1])), batch.inputs], axis=-1)
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
