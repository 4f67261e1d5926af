"""Random keys that cannot collide: every stream of data has its own, derived from its name.

A study has four independent sources of chance (teacher, support, data, initialization), each with its own seed.
Within the data seed, the streams below are told apart by a hash of their name, so the items of a test can never be
the items of training, whatever the seeds are.
"""

from __future__ import annotations

import hashlib

import jax
import jax.numpy as jnp
import numpy as np

from .errors import require_int

# The streams of one run. A new use of data gets a new name, never a second use of an old one.
STREAMS = ("train", "validation", "test", "held_out", "probe_fit", "probe_score", "few_shot")


def name_to_int(name: str) -> int:
    """31 bits that depend on every character of `name`, the same on every machine."""
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:4], "little") >> 1


def key_for(name: str, seed: int) -> jax.Array:
    """The key of the thing called `name` (a stream, "init", "teacher", ...) under `seed`."""
    seed = require_int("seed", seed, at_least=0)
    with jax.ensure_compile_time_eval():  # a number, even where only shapes are asked for
        key = jax.random.key(name_to_int(name))
        while True:  # a seed of any size, 32 bits at a time
            key, seed = jax.random.fold_in(key, seed & 0xFFFFFFFF), seed >> 32
            if not seed:
                return key


def generator(key: int | jax.Array | np.random.Generator) -> np.random.Generator:
    """A numpy generator for work on the host, from a seed, a jax key, or itself."""
    if isinstance(key, np.random.Generator):
        return key
    if isinstance(key, jax.Array):
        with jax.ensure_compile_time_eval():
            words = jax.random.key_data(key) if jnp.issubdtype(key.dtype, jax.dtypes.prng_key) else key
        return np.random.default_rng(np.asarray(words).astype(np.uint32).tolist())
    return np.random.default_rng(key)
