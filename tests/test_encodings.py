"""Every registered encoding is what it says it is."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recombine import Subsets, UserError
from recombine.encodings import encodings
from recombine.tasks import Hyperteacher

M = 8


@pytest.fixture(params=encodings, ids=str)
def encoding(request):
    return encodings[request.param](M, jax.random.key(3))


def constituents(seed: int, n: int = 20) -> jax.Array:
    """Weights as tasks draw them: .5, .6, ..., 1 on some coordinates and zero on the others."""
    rng = np.random.default_rng(seed)
    return jnp.asarray(rng.integers(5, 11, (n, M)) / 10 * (rng.random((n, M)) < 0.4), jnp.float32)


def matrix_of(encoding) -> np.ndarray:
    """Columns: the codes of the unit vectors."""
    return np.asarray(encoding(jnp.eye(M))).T


def test_the_code_has_the_announced_size(encoding):
    assert encoding(constituents(0)).shape == (20, encoding.size)
    assert encoding(constituents(0).reshape(4, 5, M)).shape == (4, 5, encoding.size)


def test_rows_are_encoded_one_by_one(encoding):
    z = constituents(0)
    np.testing.assert_allclose(encoding(z), jnp.stack([encoding(row) for row in z]), atol=1e-6)


def test_linear_ones_are_linear_and_others_are_not(encoding):
    a, b = constituents(1), constituents(2)
    additive = np.allclose(encoding(0.3 * a - 2.0 * b), 0.3 * encoding(a) - 2.0 * encoding(b), atol=1e-5)
    assert additive == encoding.linear
    if encoding.linear:
        np.testing.assert_allclose(encoding(a), np.asarray(a) @ matrix_of(encoding).T, atol=1e-5)
        assert (encoding(jnp.zeros(M)) == 0).all()


def test_injective_ones_lose_nothing(encoding):
    if encoding.linear:
        full = np.linalg.matrix_rank(matrix_of(encoding)) == M
        assert full == encoding.injective
    z = np.unique(constituents(4, 2000), axis=0)
    codes = np.asarray(encoding(jnp.asarray(z)))
    apart = len(np.unique(codes.round(4), axis=0)) == len(z)
    assert apart or not encoding.injective


def test_the_key_decides_and_nothing_else(encoding):
    again = type(encoding)(M, jax.random.key(3))
    assert (again(constituents(0)) == encoding(constituents(0))).all()


def test_identity_shows_the_constituents():
    z = constituents(0)
    assert (encodings["identity"](M, jax.random.key(0))(z) == z).all()


@settings(deadline=None, max_examples=10)
@given(st.integers(0, 2**31 - 1))
def test_orthogonal_is_orthogonal(seed):
    encoding = encodings["orthogonal"](M, jax.random.key(seed))
    matrix = matrix_of(encoding)
    np.testing.assert_allclose(matrix @ matrix.T, np.eye(M), atol=1e-5)
    z = np.asarray(constituents(seed))
    codes = np.asarray(encoding(jnp.asarray(z)))
    np.testing.assert_allclose(codes @ codes.T, z @ z.T, atol=1e-4)
    assert abs(matrix).max() < 1 - 1e-6, "a permutation would hide nothing"


def test_orthogonal_matrices_are_spread_over_all_directions():
    """Uniform ones have entries of mean 0 and variance 1/M, and turn and mirror equally often."""
    keys = jax.random.split(jax.random.key(0), 400)
    matrices = np.asarray(jax.vmap(lambda key: encodings["orthogonal"](M, key).matrix)(keys))
    assert abs(matrices.mean(0)).max() < 5 * M**-0.5 / 20
    assert abs((matrices**2).mean(0) - 1 / M).max() < 5 * 2**0.5 / M / 20
    assert 150 < (np.linalg.det(matrices) > 0).sum() < 250


def test_another_key_is_another_rotation():
    first, second = (encodings["orthogonal"](M, jax.random.key(seed)) for seed in (0, 1))
    assert abs(matrix_of(first) - matrix_of(second)).max() > 0.1


@pytest.mark.parametrize("name", encodings)
def test_the_seed_of_a_task_fixes_its_encoding(name):
    first, same, other = (Hyperteacher(Subsets(M, 2), seed=s, encoding=name).encoding for s in (0, 0, 1))
    z = constituents(0)
    assert (first(z) == same(z)).all()
    if name == "orthogonal":
        assert (first(z) != other(z)).any()


def test_an_unknown_encoding_is_refused_with_the_near_one():
    with pytest.raises(UserError, match="'ortogonal'; did you mean 'orthogonal'"):
        encodings["ortogonal"]
