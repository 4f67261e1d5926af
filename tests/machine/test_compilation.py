"""Compiled programs: let go of before a process runs out of memory maps."""

from __future__ import annotations

import subprocess
import sys

import jax
import jax.numpy as jnp
import pytest

from recombine.machine import compilation


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


PROGRAM = """
import sys, warnings
warnings.simplefilter("error")
import jax, jax.numpy as jnp
from recombine.machine.compilation import enable_cache
enable_cache()
print(float(jax.jit(lambda x: x * 3 + 1)(jnp.ones(3)).sum()))
"""


def test_a_damaged_entry_is_compiled_and_written_again(tmp_path, monkeypatch):
    monkeypatch.setenv("RECOMBINE_CACHE", str(tmp_path))

    def run() -> str:
        done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False)
        assert done.returncode == 0 and not done.stderr, done.stderr
        return done.stdout

    first = run()
    entries = sorted(tmp_path.rglob("*-cache"))
    whole = {path: path.read_bytes() for path in entries}
    assert first == "12.0\n" and entries
    for number, path in enumerate(entries):  # cut off, empty, other bytes
        path.write_bytes([whole[path][:-9], b"", b"x" * 200][number % 3])
    assert run() == first
    assert all(len(path.read_bytes()) > 200 for path in entries)
