"""hyperteacher-v1: a teacher network whose weights are a sum of shared modules.

    f_z(x) = Omega relu( sum_m z_m (Theta_m x + b_m) / sqrt(K) )

z has between 1 and K non-zero entries: the combination says which, the weights are drawn afresh for every task.
Several hidden layers repeat the inner part with modules of their own and the same z. The facts are those of
"Scaling can lead to compositional generalization" (Redhardt, Akram, Schug 2025) and its public code; where the two
differ, the code is followed: the 1/sqrt(K) with the family's K, truncation at two standard deviations with the
deviation restored, and biases uniform on [0, 0.5].
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from ...distributions import truncated_normal
from ...encodings import ConstituentEncoding
from ...errors import UserError, require_int
from ...keys import key_for
from ...spaces import Space
from ..base import Batch, Task, tasks
from .module_weights import Weights, draw_weights, make_encoding, require_modules, require_weights


@tasks.register("hyperteacher-v1")
class Hyperteacher(Task):
    """A teacher network whose weights are a weighted sum of the active modules; regression, scored by R^2.

    Args:
        space: sets of modules.
        seed: of the teacher, and of the encoding.
        inputs: numbers in an input.
        hidden: units of the hidden layer, or of several.
        outputs: numbers in a target.
        samples: inputs per task.
        weights: of active modules: "discrete" (.5, .6, ..., 1), "khot" (1), "continuous", or the values they can take.
        encoding: how the weights are shown.
        encoding_options: of that encoding.

    Example:
        >>> teacher = rc.tasks.Hyperteacher(rc.Subsets(modules=16, at_most=3), outputs=2)
        >>> teacher.shapes().code.shape, teacher.shapes().target.shape
        ((1, 16), (1, 16, 2))
    """

    id = "hyperteacher-v1"
    controls = {"lookup": "lookup-v1", "indifferent": "indifferent-v1"}
    modules: tuple[jax.Array, ...]  # a hidden layer: (M, in, out)
    biases: tuple[jax.Array, ...]  # a hidden layer: (M, out)
    readout: jax.Array  # (hidden, outputs)
    encoding: ConstituentEncoding
    weights: Weights = eqx.field(static=True)
    inputs: int = eqx.field(static=True)  # numbers in an input
    outputs: int = eqx.field(static=True)

    def __init__(
        self,
        space: Space,
        seed: int = 0,
        *,
        inputs: int = 16,
        hidden: Sequence[int] | int = 16,
        outputs: int = 16,
        samples: int = 16,
        weights: Weights | Sequence[float] = "discrete",
        encoding: str = "identity",
        encoding_options: dict[str, Any] | None = None,
    ):
        hidden = tuple(hidden) if isinstance(hidden, Iterable) else (hidden,)
        self._shape(space, inputs, hidden, outputs, samples, weights, encoding, encoding_options, seed)
        key = key_for("teacher", seed)
        sizes = (inputs, *hidden)
        keys = jax.random.split(key, len(hidden) + 1)
        modules, biases = [], []
        for layer_key, fan_in, fan_out in zip(keys, sizes, sizes[1:], strict=False):
            weight_key, bias_key = jax.random.split(layer_key)
            m = len(space.element_names)
            modules.append(truncated_normal(weight_key, (m, fan_in, fan_out), (3**0.5 / fan_in) ** 0.5))
            biases.append(jax.random.uniform(bias_key, (m, fan_out), maxval=0.5))
        self.modules, self.biases = tuple(modules), tuple(biases)
        self.readout = truncated_normal(keys[-1], (hidden[-1], outputs), (3**0.5 / hidden[-1]) ** 0.5)

    def _shape(self, space, inputs, hidden, outputs, samples, weights, encoding, encoding_options, seed) -> None:
        """The fields that this teacher shares with its control worlds."""
        require_modules("hyperteacher", space)
        if not hidden:
            raise UserError("hidden=() leaves the teacher without a hidden layer; give at least one size")
        for name, value in (
            ("inputs", inputs),
            ("outputs", outputs),
            ("samples", samples),
            *(("hidden", h) for h in hidden),
        ):
            require_int(name, value, at_least=1)
        self.space, self.weights = space, require_weights(weights)
        self.inputs, self.outputs, self.samples = inputs, outputs, samples
        self.constituent_names = space.element_names
        self.encoding = make_encoding(encoding, encoding_options, space, seed, example_size=inputs + outputs)

    @property
    def words(self) -> dict[str, int]:
        return self.encoding.words

    @property
    def scale(self) -> float:
        """1/sqrt(K), with the K of the family and not the number of active modules."""
        return self.space.width**-0.5

    def teach(
        self, combinations: Int[Array, "t k"], z: Float[Array, "t m"], inputs: Float[Array, "t s i"]
    ) -> Float[Array, "t s o"]:
        """Targets of the inputs under constituents z."""
        z = z * self.scale
        h = inputs
        for modules, biases in zip(self.modules, self.biases, strict=True):
            composed = jnp.einsum("tm,mio->tio", z, modules)
            h = jax.nn.relu(jnp.einsum("tsi,tio->tso", h, composed) + (z @ biases)[:, None])
        return h @ self.readout

    def sample(self, key: jax.Array, combinations: jax.Array, samples: int | None = None) -> Batch:
        weight_key, input_key = jax.random.split(key)
        z = draw_weights(weight_key, self.space.multihot(combinations), self.weights)
        shape = (len(combinations), samples or self.samples, self.inputs)
        inputs = jax.random.uniform(input_key, shape, minval=-1.0)

        def examples(key: Array, n: int, shared: bool) -> tuple[Array, Array]:
            drawn = (1 if shared else len(combinations), n, self.inputs)
            x = jnp.broadcast_to(jax.random.uniform(key, drawn, minval=-1.0), (len(combinations), *drawn[1:]))
            return x, self.teach(combinations, z, x)

        code = self.encoding(z, jax.random.fold_in(key, 2), examples)
        return Batch(combinations, code, inputs, self.teach(combinations, z, inputs), z)


@tasks.register("lookup-v1")
class Lookup(Hyperteacher):
    """Control world: every combination has an independent random teacher, so no support can help.

    Args:
        hidden: units of the hidden layer; one layer.
        space, seed, inputs, outputs, samples, weights, encoding, encoding_options: as of `Hyperteacher`.

    Example:
        >>> rc.tasks.Lookup(space).shapes().target.shape
        (1, 16, 16)
    """

    id = "lookup-v1"
    controls = {}
    root: jax.Array
    hidden: int = eqx.field(static=True)

    def __init__(
        self,
        space: Space,
        seed: int = 0,
        *,
        inputs: int = 16,
        hidden: int = 16,
        outputs: int = 16,
        samples: int = 16,
        weights: Weights | Sequence[float] = "discrete",
        encoding: str = "identity",
        encoding_options: dict[str, Any] | None = None,
    ):
        self._shape(space, inputs, (hidden,), outputs, samples, weights, encoding, encoding_options, seed)
        self.hidden, self.root = hidden, key_for("lookup-teacher", seed)
        self.modules, self.biases, self.readout = (), (), jnp.zeros((0, 0))

    def teach(
        self, combinations: Int[Array, "t k"], z: Float[Array, "t m"], inputs: Float[Array, "t s i"]
    ) -> Float[Array, "t s o"]:
        # The process of the hyperteacher, except that the modules belong to the combination alone.
        active = jnp.take_along_axis(z, jnp.maximum(combinations, 0).astype(int), axis=1)
        active = jnp.where(combinations >= 0, active, 0.0) * self.scale  # (T, K)
        k, i, h, o = self.space.width, self.inputs, self.hidden, self.outputs

        def own(row: jax.Array, weights: jax.Array, x: jax.Array) -> jax.Array:
            key = self.root
            for column in range(k):  # padding is folded in as 0, modules as 1..M
                key = jax.random.fold_in(key, row[column] + 1)
            module_key, bias_key, readout_key = jax.random.split(key, 3)
            composed = jnp.einsum("k,kio->io", weights, truncated_normal(module_key, (k, i, h), (3**0.5 / i) ** 0.5))
            bias = weights @ jax.random.uniform(bias_key, (k, h), maxval=0.5)
            readout = truncated_normal(readout_key, (h, o), (3**0.5 / h) ** 0.5)
            return jax.nn.relu(x @ composed + bias) @ readout

        return jax.vmap(own)(combinations, active, inputs)


@tasks.register("indifferent-v1")
class Indifferent(Hyperteacher):
    """Control world: one teacher for all combinations, so no support can hurt.

    Args:
        space, seed, inputs, hidden, outputs, samples, weights, encoding, encoding_options: as of `Hyperteacher`.

    Example:
        >>> same = rc.tasks.Indifferent(space)
        >>> z, inputs = jnp.eye(4)[:2], jnp.ones((2, 1, 16))
        >>> first, second = same.teach(jnp.array([[0, -1], [1, -1]]), z, inputs)
        >>> bool((first == second).all())
        True
    """

    id = "indifferent-v1"
    controls = {}

    def teach(
        self, combinations: Int[Array, "t k"], z: Float[Array, "t m"], inputs: Float[Array, "t s i"]
    ) -> Float[Array, "t s o"]:
        first = jnp.zeros_like(z).at[:, : self.space.width].set(0.75)
        return super().teach(combinations, first, inputs)
