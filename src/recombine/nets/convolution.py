"""Convolutions of pictures (T, H, W, C), as functions, written so that they train fast on a CPU, in a loop or not.

XLA's CPU backend has a fast kernel for convolutions whose operands are ordered NHWC and HWIO. It brings others into
that order in the entry of a program only, not in the body of a loop (xla/service/cpu/conv_canonicalization.cc; known as
jax-ml/jax#12868). The gradients that jax derives have another order, so that a training step inside a loop falls to a
kernel some 30 to 100 times slower. Hence `_product` below: a convolution that knows its own derivatives, which are
convolutions of the same order with operands transposed beforehand. It is as fast in a loop as outside of it, and can be
differentiated forward and backward as often as one likes, which a `custom_vjp` could not.

A transposed convolution of stride 2 is never a convolution of a picture with zeros in between, three quarters of which
would be products with zero: each of the four phases of the result is a convolution of the small picture
(see `double`).
"""

from __future__ import annotations

import functools
from typing import Any

import jax
import jax.numpy as jnp
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir
from jaxtyping import Array, Float

from ..precision import matmul


def transposed(
    x: Float[Array, "t h w c"], kernel: Float[Array, "k k c d"], precision: str = "float32"
) -> Float[Array, "t h w d"]:
    """Transposed convolution of stride 1 that keeps the size: out[a + i - k // 2] += x[a] @ kernel[i], for odd k."""
    return convolve(x, kernel[::-1, ::-1], kernel.shape[0] // 2, precision)


def double(
    x: Float[Array, "t h w c"], kernel: Float[Array, "4 4 c d"], precision: str = "float32"
) -> Float[Array, "t 2*h 2*w d"]:
    """Transposed convolution with kernel 4, stride 2, padding 1: out[2 a + i - 1] += x[a] @ kernel[i].

    The outputs 2 b - 1 and 2 b see x at b - 1 and b alone, by taps i = 2 or 0 and i = 3 or 1. So one convolution of
    2 x 2 with 4 D channels gives them all, one block of 2 x 2 outputs at each of (H + 1)(W + 1) places; the outermost
    outputs lie outside.
    """
    (t, h, w, c), d = x.shape, kernel.shape[-1]
    taps = kernel.reshape(2, 2, 2, 2, c, d)[::-1, :, ::-1]  # (which of the two inputs, phase) by row, by column
    taps = taps.transpose(0, 2, 4, 1, 3, 5).reshape(2, 2, c, 4 * d)
    blocks = convolve(x, taps, 1, precision).reshape(t, h + 1, w + 1, 2, 2, d)
    return blocks.transpose(0, 1, 3, 2, 4, 5).reshape(t, 2 * h + 2, 2 * w + 2, d)[:, 1:-1, 1:-1]


def nearest(x: Float[Array, "t h w c"], size: int) -> Float[Array, "t n n c"]:
    """The picture at size x size pixels, each a copy of the one at its place (rounded down)."""
    t, h, w, c = x.shape
    if (h, w) == (size, size):
        return x
    return x[:, jnp.arange(size) * h // size][:, :, jnp.arange(size) * w // size]


def convolve(
    x: Float[Array, "t h w c"], kernel: Float[Array, "k k c d"], padding: int, precision: str = "float32"
) -> Float[Array, "t _h _w d"]:
    """out[a] = sum_i x[a + i - padding] @ kernel[i], zeros outside. In bfloat16 it is a product of patches."""
    if precision == "bfloat16":  # matrix units are reached by products only
        return matmul_of_patches(x, kernel, padding, precision)
    return _product(x, kernel, padding)


def matmul_of_patches(x: jax.Array, kernel: jax.Array, padding: int, precision: str) -> jax.Array:
    """The same sum as one product of matrices."""
    t, h, w, c = x.shape
    k, d = kernel.shape[0], kernel.shape[-1]
    rows, columns = h + 2 * padding - k + 1, w + 2 * padding - k + 1
    x = jnp.pad(x, ((0, 0), (padding, padding), (padding, padding), (0, 0)))
    patches = [x[:, i : i + rows, j : j + columns] for i in range(k) for j in range(k)]
    patches = jnp.concatenate(patches, axis=-1).reshape(t * rows * columns, k * k * c)
    return matmul(patches, kernel.reshape(k * k * c, d), precision).reshape(t, rows, columns, d)


# -- the product of a picture and a kernel, whose derivatives of any order are products of the same kind --------------


def _canonical(x: jax.Array, kernel: jax.Array, *, padding: int) -> jax.Array:
    border = ((padding, padding), (padding, padding))
    return jax.lax.conv_general_dilated(x, kernel, (1, 1), border, dimension_numbers=("NHWC", "HWIO", "NHWC"))


def _transposed_in_x(g: jax.Array, x: Any, kernel: jax.Array, *, padding: int) -> jax.Array:
    return _product(g, kernel[::-1, ::-1].swapaxes(2, 3), kernel.shape[0] - 1 - padding)


def _transposed_in_kernel(g: jax.Array, x: jax.Array, kernel: Any, *, padding: int) -> jax.Array:
    # channels take the place of tasks and tasks that of channels: the sum is over tasks and places
    by_channel = _product(x.transpose(3, 1, 2, 0), g.transpose(1, 2, 0, 3), padding)  # (C, k, k, D)
    return by_channel.transpose(1, 2, 0, 3)


def _batched(values: Any, axes: Any, *, padding: int):
    """Under vmap, members of an ensemble say, it is jax's own convolution."""
    return jax.vmap(functools.partial(_canonical, padding=padding), axes)(*values), 0


_primitive = Primitive("canonical_convolution")
_primitive.def_impl(jax.jit(_canonical, static_argnames="padding"))
_primitive.def_abstract_eval(
    lambda x, kernel, *, padding: jax.core.ShapedArray(
        (x.shape[0], *(n + 2 * padding - kernel.shape[0] + 1 for n in x.shape[1:3]), kernel.shape[-1]), x.dtype
    )
)
ad.defbilinear(_primitive, _transposed_in_x, _transposed_in_kernel)
batching.primitive_batchers[_primitive] = _batched
mlir.register_lowering(_primitive, mlir.lower_fun(_canonical, multiple_results=False))


def _product(x: jax.Array, kernel: jax.Array, padding: int) -> jax.Array:
    return _primitive.bind(x, kernel, padding=padding)
