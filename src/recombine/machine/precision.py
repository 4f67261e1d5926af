"""Matmul precision: float32, or bfloat16 operands with float32 results and float32 master weights.

bfloat16 pays only where the processor multiplies it in hardware. On CPUs with matrix units XLA reaches them if a
bfloat16 x bfloat16 product asks for a float32 result, and loses them again in the weight gradient, whose operands
it converts back to float32 unless the transposed activation is pinned to row-major order. Hence the gradient rule
below is written out. `auto` looks at the hardware and then believes a short trial, not the data sheet; the trial is
made once per machine, so that no two cells of a study differ because the machine was busy when one of them began.
"""

from __future__ import annotations

import contextlib
import functools
import os
import platform
import time
from pathlib import Path
from typing import Literal

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental.layout import Layout, with_layout_constraint

from ..errors import unknown
from ..files import temporary
from .compilation import cache_folder

Precision = Literal["float32", "bfloat16", "auto"]
Products = Literal["matrix", "convolution"]
PRECISIONS: tuple[Precision, ...] = ("float32", "bfloat16", "auto")


def matmul(x: jax.Array, w: jax.Array, precision: str) -> jax.Array:
    """x @ w for x (rows, in) and w (in, out), both float32, at the given precision; float32 out."""
    if precision == "bfloat16":
        return _bfloat16_matmul(x, w)
    return x @ w


@jax.custom_vjp
def _bfloat16_matmul(x: jax.Array, w: jax.Array) -> jax.Array:
    return _dot(x.astype(jnp.bfloat16), w.astype(jnp.bfloat16))


def _forward(x: jax.Array, w: jax.Array):
    x, w = x.astype(jnp.bfloat16), w.astype(jnp.bfloat16)
    return _dot(x, w), (x, w)


def _backward(saved: tuple[jax.Array, jax.Array], g: jax.Array):
    x, w = saved
    g = g.astype(jnp.bfloat16)
    x_t = x.T
    if jax.default_backend() == "cpu":  # elsewhere it gains nothing, and would gather a batch that devices share
        x_t = with_layout_constraint(x_t, Layout(major_to_minor=(0, 1)))
    return _dot(g, w.T), _dot(x_t, g)


def _dot(a: jax.Array, b: jax.Array) -> jax.Array:
    return jnp.dot(a, b, preferred_element_type=jnp.float32)


_bfloat16_matmul.defvjp(_forward, _backward)


def resolve(precision: str, products: Products = "matrix") -> str:
    """The precision to compute in: `auto` becomes the faster one of this machine for the products of a net.

    On a CPU convolutions stay in float32: as bfloat16 they are products of patches, which take 1.3 times as long
    (docs/speed.md) where one matrix product takes half.
    """
    if precision not in PRECISIONS:
        raise unknown("precision", precision, PRECISIONS)
    if precision == "auto" and products == "convolution" and jax.default_backend() == "cpu":
        return "float32"
    return _auto() if precision == "auto" else precision


@functools.cache
def _auto() -> str:
    if not _multiplies_bfloat16():
        return "float32"
    folder = cache_folder()
    if folder is None:
        return _tried()
    kept = folder / f"precision-{jax.default_backend()}"
    return _read(kept) or _keep(kept, _tried())


def _keep(kept: Path, tried: str) -> str:
    """Keeps what was tried, whole; of several processes that begin together the first decides for all."""
    aside = temporary(kept.parent)
    try:
        kept.parent.mkdir(parents=True, exist_ok=True)
        aside.write_text(tried)
        try:
            os.link(aside, kept)
        except FileExistsError:
            if (known := _read(kept)) is not None:
                return known
            os.replace(aside, kept)  # it was damaged
    except OSError:
        pass  # nothing can be kept there: each process tries for itself
    finally:
        with contextlib.suppress(OSError):
            aside.unlink()
    return tried


def _tried() -> str:
    rates = matmul_rates(seconds=0.1)
    return "bfloat16" if rates["bfloat16"] > 1.2 * rates["float32"] else "float32"


def _read(kept: Path) -> str | None:
    try:
        text = kept.read_text()
    except OSError:
        return None
    return text if text in ("float32", "bfloat16") else None


def _multiplies_bfloat16() -> bool:
    """Whether the hardware claims to multiply bfloat16."""
    if jax.default_backend() != "cpu":
        return True  # GPUs and TPUs: the trial decides
    info = Path("/proc/cpuinfo")
    if platform.machine() in ("arm64", "aarch64"):
        return info.exists() and " bf16" in info.read_text()
    return info.exists() and any(flag in info.read_text() for flag in ("amx_bf16", "avx512_bf16"))


def matmul_rates(size: int = 512, seconds: float = 0.05, rounds: int = 15) -> dict[str, float]:
    """FLOP per second of a square product on one thread, at each precision; the best of many short rounds.

    The two take turns, so that other work on the machine slows both.
    """
    rng = np.random.default_rng(0)
    a, b = (jnp.asarray(rng.standard_normal((size, size), dtype=np.float32)) for _ in range(2))
    products = {
        "float32": jax.jit(lambda a, b: a @ b, compiler_options=one_thread()),
        "bfloat16": jax.jit(_dot, compiler_options=one_thread()),
    }
    operands = {"float32": (a, b), "bfloat16": (a.astype(jnp.bfloat16), b.astype(jnp.bfloat16))}
    for name, product in products.items():
        product(*operands[name]).block_until_ready()
    best = dict.fromkeys(products, float("inf"))
    until, done = time.perf_counter() + seconds, 0
    while done < rounds or time.perf_counter() < until:
        for name, product in products.items():
            start = time.perf_counter()
            product(*operands[name]).block_until_ready()
            best[name] = min(best[name], time.perf_counter() - start)
        done += 1
    return {name: 2 * size**3 / seconds for name, seconds in best.items()}


def one_thread() -> dict[str, bool | int]:
    """Compiler options for a program that uses one thread; empty off the CPU.

    A lower level of optimization compiles in half the time, and neither the speed nor the numbers differ: the time goes
    into matrix products, which are library calls (docs/speed.md).
    """
    if jax.default_backend() != "cpu":
        return {}
    return {"xla_cpu_multi_thread_eigen": False, "xla_backend_optimization_level": 1}
