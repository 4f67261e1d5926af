"""product-v1: modules that interact by product and not by sum.

    f_z(x) = Omega relu( prod_m (1 + z_m (Theta_m x + b_m) / sqrt(K)) - 1 )

Ours: the hyperteacher of Redhardt, Akram, Schug 2025 is linear in z before its one ReLU, and a family whose composition
is not a sum is missing there. Inactive modules are factors of one; with one active module this is the hyperteacher, and
every further module scales what the others do.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from ...errors import UserError
from ...spaces import Space
from ..base import tasks
from .hyperteacher import Hyperteacher


@tasks.register("product-v1")
class ProductTeacher(Hyperteacher):
    """A teacher network whose active modules multiply each other's hidden units; regression, scored by R^2.

    Args:
        space: sets of modules.
        seed: of the teacher, and of the encoding.
        options: those of `Hyperteacher`, with one hidden layer: inputs, hidden, outputs, samples, weights, encoding,
            encoding_options.

    Example:
        >>> rc.tasks.ProductTeacher(space, inputs=3).shapes().inputs.shape
        (1, 16, 3)
    """

    id = "product-v1"
    controls = {}

    def __init__(self, space: Space, seed: int = 0, **options: Any):
        super().__init__(space, seed, **options)
        if len(self.modules) != 1:
            raise UserError(f"product-v1 has one hidden layer, and hidden={options.get('hidden')} asks for more")

    def teach(
        self, combinations: Int[Array, "t k"], z: Float[Array, "t m"], inputs: Float[Array, "t s i"]
    ) -> Float[Array, "t s o"]:
        own = jnp.einsum("tsi,mih->tsmh", inputs, self.modules[0]) + self.biases[0]  # what each module does alone
        together = jnp.prod(1 + self.scale * z[:, None, :, None] * own, axis=2) - 1
        return jax.nn.relu(together) @ self.readout
