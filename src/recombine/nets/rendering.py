"""rendering: each factor is first drawn on a page of its own, in pixels; a tiny net puts the pages together.

    E_k = sum_j lambda_kj l_kj r_kj^T           an N x N matrix for each level k of a factor, all N components
    page of a factor = sum_k code_k E_k         a one-hot code takes the page of its level, other codes mix them
    2 x [PReLU, 3 x 3 transposed convolution F -> F], PReLU, 3 x 3 transposed convolution F -> 1        F factors

Forced rendering by architecture, after the public code of Liang, Qian, Ziyin, Fiete 2025 (one-hot code, N = 32: 133,218
parameters, 98 of them in the convolutions). l (along rows) and r (along columns) are divided by their length in the
forward pass; lambda begins normal with variance 1/N, the vectors random of length 1.

Two regularizers, of all levels in every step, are what makes it generalize there:
    entropy     weight times the sum over levels of the entropy of p_j = lambda_j^2 / sum lambda^2: toward rank 1
    variance    weight times the sum over levels and components of the variance of l and of r along their pixels
                (unbiased): toward vectors that do not change along an axis, so that a page of rank 1 is a stripe
As published the variance is that of the vectors before they are divided by their length, which shrinking them lowers
too: `variance_of="raw"`. Ours, and the default, is that of the vectors that are used.

Trace: "x/rendered", "y/rendered" (the page of each factor, row by row), "layer1/pre" (all pages, stacked as channels),
"layer1/post", ..., "output".
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from ..errors import UserError, unknown
from ..machine.precision import Products, matmul
from ..tasks import Batch, Task
from .base import Blueprint, Moment, Net, Step, Trace, nets
from .layers import convolution
from .layers.drawing import flat, prelu, require_pictures, slope, uniform

CONVOLUTIONS = 3
LEAST_SHARE = 1e-8  # under the logarithm of the entropy, as published
VECTORS = ("normalized", "raw")


@nets.register("rendering")
@dataclass(frozen=True)
class Rendering(Blueprint):
    """Every level of a factor owns a matrix of pixels; a tiny CNN combines one page per factor. Two regularizers.

    Args:
        entropy: weight of the regularizer toward pages of rank 1; 0 switches it off.
        variance: weight of the regularizer toward vectors that do not change along an axis; 0 switches it off.
        variance_of: the vectors whose variance it is: "normalized", as they are used, or "raw", as published.
        factors: of the task, in order: they name the pages in the trace.

    Example:
        >>> rc.nets.Rendering(factors=["x", "y"]).layers()[:3]
        ('x/rendered', 'y/rendered', 'layer1/pre')
    """

    name: ClassVar[str] = "rendering"
    entropy: float = 0.1
    variance: float = 0.01
    variance_of: str = "normalized"  # or "raw", as published
    factors: Sequence[str] = ("x", "y")  # of the task, in order: they name the pages in the trace

    def __post_init__(self):
        for name in ("entropy", "variance"):
            value = getattr(self, name)
            known = isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
            if not known or value < 0:
                raise UserError(f"{name}={value!r} must be a number of at least 0; 0 switches it off")
        if self.variance_of not in VECTORS:
            raise unknown("kind of vectors", self.variance_of, VECTORS)
        if isinstance(self.factors, str) or not self.factors or len(set(self.factors)) != len(self.factors):
            raise UserError(f"factors={self.factors!r} must be the names of one or more factors, such as ['x', 'y']")
        object.__setattr__(self, "factors", tuple(self.factors))  # JSON has lists

    def layers(self) -> tuple[str, ...]:
        pages = (f"{factor}/rendered" for factor in self.factors)
        hidden = (f"layer{i}/{when}" for i in range(1, CONVOLUTIONS + 1) for when in ("pre", "post"))
        return (*pages, *hidden, "output")

    def to_json(self) -> dict[str, Any]:
        return super().to_json() | {"factors": list(self.factors)}

    def require(self, task: Task) -> None:
        task = require_pictures(self, task)
        if task.constituent_names != self.factors:
            names = list(task.constituent_names)
            raise UserError(f"factors={list(self.factors)} are not those of {task.id}; factors={names} would do")
        if task.encoding.segments != task.encoding.levels:
            raise UserError(
                f"net 'rendering' needs a code with one unit per level, such as 'one-hot' or 'bump': this one has "
                f"{task.encoding.segments} numbers for {task.encoding.levels} levels"
            )

    @property
    def products(self) -> Products:
        return "convolution"

    def fresh(self, task: Task, key: jax.Array, precision: str) -> RenderingNet:
        task = require_pictures(self, task)
        n, f = task.side, len(self.factors)
        page_key, convolution_key = jax.random.split(key)
        pages = []
        for levels, factor_key in zip(task.encoding.levels, jax.random.split(page_key, f), strict=True):
            keys = jax.random.split(factor_key, 3)
            left, right = (normalized(jax.random.normal(k, (levels, n, n))) for k in keys[1:])
            pages.append(Pages(jax.random.normal(keys[0], (levels, n)) * n**-0.5, left, right))
        kernels, biases = [], []
        for number, layer_key in enumerate(jax.random.split(convolution_key, CONVOLUTIONS), start=1):
            kernel_key, bias_key = jax.random.split(layer_key)
            out = 1 if number == CONVOLUTIONS else f
            # torch takes the outgoing channels for the fan in of a transposed convolution
            kernels.append(uniform(kernel_key, (3, 3, f, out), fan_in=9 * out))
            biases.append(uniform(bias_key, (out,), fan_in=9 * out))
        slopes = tuple(slope() for _ in range(CONVOLUTIONS))
        return RenderingNet(tuple(pages), tuple(kernels), tuple(biases), slopes, self, n, precision)


class Pages(eqx.Module):
    """The matrices of one factor: K levels, N components per level, N pixels along each axis."""

    eigenvalues: Float[Array, "k n"]
    left: Float[Array, "k n n"]  # (level, component, row)
    right: Float[Array, "k n n"]  # (level, component, column)

    def matrices(self) -> Float[Array, "k n n"]:
        """The page of each level, (row, column)."""
        scaled = self.eigenvalues[..., None] * normalized(self.left)
        return jnp.einsum("kja,kjb->kab", scaled, normalized(self.right))

    def entropy(self) -> Float[Array, ""]:
        """Summed over levels, in nats."""
        share = self.eigenvalues**2
        share = share / share.sum(-1, keepdims=True)
        share = jnp.maximum(share, LEAST_SHARE)
        return -(share * jnp.log(share)).sum()

    def variance(self, of: str) -> Float[Array, ""]:
        """Along the pixels, summed over levels, components and both sides."""
        vectors = [self.left, self.right] if of == "raw" else [normalized(self.left), normalized(self.right)]
        return sum((v.var(-1, ddof=1).sum() for v in vectors), start=jnp.zeros(()))


class RenderingNet(Net):
    """The weights of a `Rendering`."""

    pages: tuple[Pages, ...]
    kernels: tuple[Float[Array, "3 3 f _out"], ...]
    biases: tuple[Float[Array, " _out"], ...]
    slopes: tuple[Float[Array, " one"], ...]
    blueprint: Rendering = eqx.field(static=True)
    side: int = eqx.field(static=True)
    precision: str = eqx.field(static=True)

    def __call__(self, batch: Batch, key: jax.Array | None = None) -> tuple[Float[Array, "t 1 o"], Trace]:
        code, n, trace, begin = batch.code, self.side, {}, 0
        for factor, pages in zip(self.blueprint.factors, self.pages, strict=True):
            levels = len(pages.eigenvalues)
            part = code[:, begin : begin + levels]
            trace[f"{factor}/rendered"] = matmul(part, pages.matrices().reshape(levels, n * n), self.precision)
            begin += levels
        h = jnp.stack(list(trace.values()), axis=-1).reshape(len(code), n, n, -1)
        layers = zip(self.kernels, self.biases, self.slopes, strict=True)
        for number, (kernel, bias, slope_) in enumerate(layers, start=1):
            trace[f"layer{number}/pre"], h = h, prelu(h, slope_)
            trace[f"layer{number}/post"] = h
            h = convolution.transposed(h, kernel, self.precision) + bias
        trace["output"] = h
        trace = flat(trace)
        return trace["output"], trace

    def losses(self, task: Task, batch: Batch, moment: Moment, memory: Any) -> Step:
        """The task's loss, and the weighted regularizers that are not switched off."""
        step, parts = super().losses(task, batch, moment, memory), {}
        if self.blueprint.entropy:
            parts["entropy"] = self.blueprint.entropy * sum(pages.entropy() for pages in self.pages)
        if self.blueprint.variance:
            of = self.blueprint.variance_of
            parts["variance"] = self.blueprint.variance * sum(pages.variance(of) for pages in self.pages)
        return step._replace(parts={**step.parts, **parts})


def normalized(vectors: Float[Array, "*n d"]) -> Float[Array, "*n d"]:
    """Each at length 1."""
    return vectors / jnp.linalg.norm(vectors, axis=-1, keepdims=True)
