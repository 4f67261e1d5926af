"""Convolutions of pictures (T, H, W, C), as functions, written so that they train fast on a CPU, in a loop or not.

XLA's CPU backend has a fast kernel for convolutions whose operands are ordered NHWC and HWIO, and two ways to miss it:

- Other orders are brought into that one in the entry of a program only, not in the body of a loop
  (xla/service/cpu/conv_canonicalization.cc; known as jax-ml/jax#12868). The gradients that jax derives have another
  order, so that a step inside a loop falls to a kernel 10 to 70 times slower.
- The gradient of the kernel, as a convolution with windows as large as the picture, is slow in any order: .7 to 9 GFLOP
  per second at 64 channels, where the forward pass does 70.

So `_product` knows its own derivatives: that of the picture is a convolution in the same order, that of the kernel a
matrix product for each picture, whose patches stay in the cache. It can be differentiated forward and backward as often
as one likes, which a `custom_vjp` could not. Few channels make poor convolutions too and become products of matrices
(`transposed`). docs/speed.md has the figures. Off the CPU all is left to the compiler.

A transposed convolution of stride 2 is never a convolution of a picture with zeros in between, three quarters of which
would be products with zero: each of the four phases of the result is a convolution of the small picture (`double`).
"""

from __future__ import annotations

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import ShapedArray
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir
from jaxtyping import Array, Float

from ...machine.precision import matmul

FEW = 4  # channels


def transposed(
    x: Float[Array, "t h w c"], kernel: Float[Array, "k k c d"], precision: str = "float32"
) -> Float[Array, "t h w d"]:
    """Transposed convolution of stride 1 that keeps the size: out[a + i - k // 2] += x[a] @ kernel[i], for odd k."""
    c, d = kernel.shape[2:]
    if d > FEW:
        return convolve(x, kernel[::-1, ::-1], kernel.shape[0] // 2, precision)
    return (_by_rows if c <= FEW else _by_taps)(x, kernel, precision)


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


def halve(
    x: Float[Array, "t h w c"], kernel: Float[Array, "3 3 c d"], precision: str = "float32"
) -> Float[Array, "t _h _w d"]:
    """Convolution with kernel 3, stride 2, padding 1: out[a] = sum_i x[2 a + i - 1] @ kernel[i], zeros outside."""
    c, d = kernel.shape[2:]
    patches = jnp.concatenate([seen[:, ::2, ::2] for seen in _windows(x, 3, 1)], axis=-1)
    out = matmul(patches.reshape(-1, 9 * c), kernel.reshape(9 * c, d), precision)
    return out.reshape(*patches.shape[:3], d)


def nearest(x: Float[Array, "t h w c"], size: int) -> Float[Array, "t n n c"]:
    """The picture at size x size pixels, each a copy of the one at its place (rounded down)."""
    _, h, w, _ = x.shape
    if (h, w) == (size, size):
        return x
    return x[:, np.arange(size) * h // size][:, :, np.arange(size) * w // size]


def convolve(
    x: Float[Array, "t h w c"], kernel: Float[Array, "k k c d"], padding: int, precision: str = "float32"
) -> Float[Array, "t _h _w d"]:
    """out[a] = sum_i x[a + i - padding] @ kernel[i], zeros outside."""
    if precision == "bfloat16":  # matrix units are reached by products of matrices
        return _by_patches(x, kernel, padding, precision)
    if jax.default_backend() != "cpu":
        return _canonical(x, kernel, padding=padding)
    return _product(x, kernel, padding)


# -- as products of matrices ------------------------------------------------------------------------------------------


def _windows(x: jax.Array, k: int, padding: int) -> list[jax.Array]:
    """What each of k x k taps sees, (T, rows, columns, C) each."""
    _, h, w, _ = x.shape
    rows, columns = h + 2 * padding - k + 1, w + 2 * padding - k + 1
    x = jnp.pad(x, ((0, 0), (padding, padding), (padding, padding), (0, 0)))
    return [x[:, i : i + rows, j : j + columns] for i in range(k) for j in range(k)]


def _by_patches(x: jax.Array, kernel: jax.Array, padding: int, precision: str) -> jax.Array:
    """`convolve` as one product, of all that a place sees with the kernel."""
    k, _, c, d = kernel.shape
    patches = jnp.concatenate(_windows(x, k, padding), axis=-1)
    out = matmul(patches.reshape(-1, k * k * c), kernel.reshape(k * k * c, d), precision)
    return out.reshape(*patches.shape[:3], d)


def _by_taps(x: jax.Array, kernel: jax.Array, precision: str) -> jax.Array:
    """`transposed` for few outgoing channels: a product gives what each pixel adds to its k x k neighbors."""
    (t, h, w, c), (k, _, _, d) = x.shape, kernel.shape
    added = matmul(x.reshape(-1, c), kernel.transpose(2, 0, 1, 3).reshape(c, k * k * d), precision)
    border = (k // 2, k // 2)
    added = jnp.pad(added.reshape(t, h, w, k, k, d), ((0, 0), border, border, (0, 0), (0, 0), (0, 0)))
    return sum(
        (added[:, k - 1 - i : k - 1 - i + h, k - 1 - j : k - 1 - j + w, i, j] for i in range(k) for j in range(k)),
        start=jnp.zeros((t, h, w, d)),
    )


def _by_rows(x: jax.Array, kernel: jax.Array, precision: str) -> jax.Array:
    """`transposed` for few channels on both sides: k rows of a picture times a banded matrix are one of the result."""
    (t, h, w, c), (k, _, _, d) = x.shape, kernel.shape
    shifts = np.stack([np.eye(w, k=j - k // 2, dtype=np.float32) for j in range(k)])  # tap j: column u adds to v
    band = jnp.einsum("juv,ijcd->iucvd", shifts, kernel[::-1]).reshape(k * w * c, w * d)
    x = jnp.pad(x.reshape(t, h, w * c), ((0, 0), (k // 2, k // 2), (0, 0)))
    rows = jnp.concatenate([x[:, i : i + h] for i in range(k)], axis=-1)
    return matmul(rows.reshape(t * h, -1), band, precision).reshape(t, h, w, d)


# -- the product of pictures and a kernel that knows its derivatives --------------------------------------------------


def _canonical(x: jax.Array, kernel: jax.Array, *, padding: int) -> jax.Array:
    border = ((padding, padding), (padding, padding))
    return jax.lax.conv_general_dilated(x, kernel, (1, 1), border, dimension_numbers=("NHWC", "HWIO", "NHWC"))


def _shape(x: ShapedArray, kernel: ShapedArray, *, padding: int) -> ShapedArray:
    rows, columns = (n + 2 * padding - kernel.shape[0] + 1 for n in x.shape[1:3])
    return ShapedArray((x.shape[0], rows, columns, kernel.shape[-1]), x.dtype)


def _transposed_in_x(g: jax.Array, x: Any, kernel: jax.Array, *, padding: int) -> jax.Array:
    return _product(g, kernel[::-1, ::-1].swapaxes(2, 3), kernel.shape[0] - 1 - padding)


def _transposed_in_kernel(g: jax.Array, x: jax.Array, kernel: Any, *, padding: int) -> jax.Array:
    c, d = x.shape[-1], g.shape[-1]
    k = x.shape[1] + 2 * padding - g.shape[1] + 1

    def add(total: jax.Array, of_one: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, None]:
        picture, its_g = of_one
        by_channel = _windows(picture[None].transpose(3, 1, 2, 0), k, padding)
        patches = jnp.stack(by_channel).reshape(k * k * c, -1)  # (tap and channel, place)
        return total + patches @ its_g.reshape(-1, d), None

    return jax.lax.scan(add, jnp.zeros((k * k * c, d), x.dtype), (x, g))[0].reshape(k, k, c, d)


def _batched(values: Any, axes: Any, *, padding: int) -> tuple[jax.Array, int]:
    """Under vmap, for members of an ensemble say, it is jax's own convolution."""
    return jax.vmap(functools.partial(_canonical, padding=padding), axes)(*values), 0


_primitive = Primitive("canonical_convolution")
_primitive.def_impl(jax.jit(_canonical, static_argnames="padding"))
_primitive.def_abstract_eval(_shape)
ad.defbilinear(_primitive, _transposed_in_x, _transposed_in_kernel)
batching.primitive_batchers[_primitive] = _batched
mlir.register_lowering(_primitive, mlir.lower_fun(_canonical, multiple_results=False))


def _product(x: jax.Array, kernel: jax.Array, padding: int) -> jax.Array:
    return _primitive.bind(x, kernel, padding=padding)
