"""Distributions that teachers and nets are drawn from."""

from __future__ import annotations

import jax

# A standard normal cut at +-2 has this standard deviation.
TRUNCATED_SD = 0.87962566103423978


def truncated_normal(key: jax.Array, shape: tuple[int, ...], sd: float) -> jax.Array:
    """Normal, cut at two standard deviations and rescaled so that `sd` is what is left after the cut."""
    return jax.random.truncated_normal(key, -2.0, 2.0, shape) * (sd / TRUNCATED_SD)
