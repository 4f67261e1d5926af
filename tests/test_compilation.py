"""Compiled programs: let go of before a process runs out of memory maps."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import pytest

from recombine import compilation


def test_programs_are_let_go_of_where_there_are_too_many(monkeypatch):
    traced = []

    @jax.jit
    def program(x):
        traced.append(1)
        return x + 1

    program(jnp.ones(3))
    assert not compilation.let_go_of_programs()
    program(jnp.ones(3))
    assert len(traced) == 1
    monkeypatch.setattr(compilation, "MOST_MAPS", 0)
    if not compilation.let_go_of_programs():
        pytest.skip("this system does not tell its memory maps")
    program(jnp.ones(3))
    assert len(traced) == 2
