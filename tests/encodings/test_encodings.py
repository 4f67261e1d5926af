"""Every registered encoding of constituents is what it says it is. Those of coordinates: test_coordinates.py."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recombine import Subsets, UserError
from recombine.encodings import encodings, showing
from recombine.encodings.constituents import BENT
from recombine.statistics import ridge
from recombine.tasks import Hyperteacher
from recombine.testing import check_task

M = 8


CONSTITUENTS = showing("constituents")
# few-shot shows examples, and has tests of its own
DESCRIPTIONS = [name for name in CONSTITUENTS if name != "few-shot"]


@pytest.fixture(params=DESCRIPTIONS, ids=str)
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


def test_linear_ones_are_affine_on_drawn_weights_and_others_are_not(encoding):
    z = np.asarray(constituents(1, 400), np.float64)
    with_constant = np.hstack([z, np.ones((len(z), 1))])
    codes = np.asarray(encoding(jnp.asarray(z, jnp.float32)), np.float64)
    fitted = with_constant @ np.linalg.lstsq(with_constant, codes, rcond=None)[0]
    assert np.allclose(fitted, codes, atol=1e-4) == encoding.linear


def test_injective_ones_lose_nothing(encoding):
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


@pytest.mark.parametrize("name", DESCRIPTIONS)
def test_the_seed_of_a_task_fixes_its_encoding(name):
    first, same, other = (Hyperteacher(Subsets(M, 2), seed=s, encoding=name).encoding for s in (0, 0, 1))
    z = constituents(0)
    assert (first(z) == same(z)).all()
    if name not in ("identity", "language", "tokens"):  # nothing in these is drawn
        assert (first(z) != other(z)).any()


def test_an_unknown_encoding_is_refused_with_the_near_one():
    with pytest.raises(UserError, match="'ortogonal'; did you mean 'orthogonal'"):
        encodings["ortogonal"]


def test_language_is_the_published_sequence():
    z = jnp.asarray([[0.0, 0.5, 0.7, 1.0]])
    assert encodings["language"](4, jax.random.key(0))(z).tolist() == [[1, 5, 2, 10, 3, 12, 4, 15]]


def test_tokens_are_the_words_of_language_and_all_in_the_vocabulary():
    """0 is no word; M modules; 0 to 10 tenths."""
    language, tokens = (encodings[name](M, jax.random.key(0)) for name in ("language", "tokens"))
    assert language.vocabulary is None and tokens.vocabulary == 1 + M + 11
    assert language.words == {} and tokens.words == {"code": 1 + M + 11}
    z = jnp.tile(jnp.linspace(0.0, 1.0, 11)[:, None], (1, M))
    words = tokens(z)
    assert words.dtype == jnp.int32 and (words == language(z)).all()
    assert set(np.asarray(words).ravel().tolist()) == set(range(1, tokens.vocabulary))


@settings(deadline=None, max_examples=10)
@given(st.integers(0, 1000), st.integers(1, 7))
def test_invertible_inverts(seed, layers):
    encoding = encodings["invertible"](M, jax.random.key(seed), layers=layers)
    z = constituents(seed)
    np.testing.assert_allclose(encoding.inverse(encoding(z)), z, atol=1e-5)


def coupled(z: np.ndarray, layers: list[list[np.ndarray]]) -> np.ndarray:
    """The published coupling layers, one row and one layer at a time, in float64."""
    code = z.astype(float)
    half = z.shape[1] // 2
    for number, weights in enumerate(layers):
        turned = code[:, ::-1] if number % 2 else code
        kept, h = turned[:, :half], turned[:, :half]
        for w in weights[:-1]:
            h = 1 / (1 + np.exp(-(h @ w)))
        a, t = np.split(h @ weights[-1], 2, axis=1)
        moved = np.hstack([kept, turned[:, half:] * (1 + 0.5 * np.tanh(a)) + t])
        code = moved[:, ::-1] if number % 2 else moved
    return code


@pytest.mark.parametrize("options", [{"layers": 3, "scale": 0.1}, {}, BENT], ids=["public code", "paper", "bent"])
def test_invertible_is_the_published_stack_of_coupling_layers(options):
    encoding = encodings["invertible"](M, jax.random.key(2), **options)
    layers = [[np.asarray(w, float) for w in weights] for weights in encoding.layers]
    assert len(layers) == options.get("layers", 5)
    assert [w.shape for w in layers[0]] == [(M // 2, 2 * M), (2 * M, 2 * M), (2 * M, M)]
    deviation = np.concatenate([w.ravel() for weights in layers for w in weights]).std()
    assert deviation == pytest.approx(options.get("scale", 0.1), rel=0.05)
    z = constituents(0)
    np.testing.assert_allclose(encoding(z), coupled(np.asarray(z), layers), atol=1e-5)


def test_invertible_is_almost_affine_with_the_published_weights_and_not_when_bent():
    """A linear probe of the code, on combinations that it was not fitted on; of 16 modules, three at a time."""

    def read(options: dict, seed: int) -> float:
        space, rng = Subsets(16, 3), np.random.default_rng(seed)
        rows = rng.permutation(space.enumerate())[:696]
        z = space.multihot(np.repeat(rows, 4, axis=0)) * rng.integers(5, 11, (4 * len(rows), 16)) / 10
        code = np.asarray(encodings["invertible"](16, jax.random.key(seed), **options)(jnp.asarray(z, jnp.float32)))
        cut = 4 * 522  # a quarter of the combinations is held out
        weights, intercept = ridge.fit(code[:cut].astype(float), z[:cut])
        return float(ridge.r2_by_target(code[cut:] @ weights + intercept, z[cut:]).mean())

    for options in ({"layers": 3, "scale": 0.1}, {"layers": 5, "scale": 0.1}):
        assert min(read(options, seed) for seed in range(3)) > 0.99
    bent = [read(BENT, seed) for seed in range(8)]
    assert max(bent) < 0.8 and 0.45 < np.mean(bent) < 0.7, "Table 1 has .56, by a probe that is not exact"


def test_invertible_changes_every_coordinate_with_two_layers_and_half_of_them_with_one():
    z = constituents(0)
    moved = [np.asarray((encodings["invertible"](M, jax.random.key(0), layers=n)(z) != z).any(0)) for n in (1, 2)]
    assert moved[0].tolist() == [False] * (M // 2) + [True] * (M // 2) and moved[1].all()


def test_interval_shuffle_moves_intervals_and_keeps_what_is_inside():
    encoding = encodings["interval-shuffle"](1, jax.random.key(1))
    z = jnp.arange(0, 1, 0.05)[:, None] + 0.01
    code = np.asarray(encoding(z))
    np.testing.assert_allclose(10 * code % 1, 10 * np.asarray(z) % 1, atol=1e-4)
    assert sorted(np.floor(10 * code[::2, 0] + 1e-4).astype(int).tolist()) == list(range(10))
    assert float(encoding(jnp.ones(1))[0]) == 1.0


def published_intervals(z: np.ndarray, order: np.ndarray) -> np.ndarray:
    """i = floor(10 z), the rest stays, interval i goes to place order[i], 1 stays 1; in plain float64."""
    interval = np.minimum(np.floor(10 * z + 1e-9), 9).astype(int)
    return np.where(z == 1, 1, (order[interval] + 10 * z - interval) / 10)


@pytest.mark.parametrize("seed", range(3))
def test_interval_shuffle_is_the_published_map_up_to_the_ends_of_intervals(seed):
    encoding = encodings["interval-shuffle"](1, jax.random.key(seed))
    tenths = np.arange(11) / 10
    just_below, inside = tenths[1:] - 1e-5, np.random.default_rng(seed).uniform(0, 1, 200)
    z = np.concatenate([tenths, just_below, tenths[:-1] + 1e-5, inside])
    found = np.asarray(encoding(jnp.asarray(z, jnp.float32)[:, None]))[:, 0]
    np.testing.assert_allclose(found, published_intervals(z, np.asarray(encoding.order)), atol=1e-6)


def test_language_shows_the_tenth_that_a_weight_has_reached():
    z = np.concatenate([np.arange(11) / 10, np.arange(1, 11) / 10 - 1e-5])
    language = encodings["language"](1, jax.random.key(0))(jnp.asarray(z, jnp.float32)[:, None])
    assert (language[:, 1] - 2).tolist() == [*range(11), *range(10)]


@pytest.mark.parametrize("redraw", [True, False])
def test_few_shot_shows_examples_of_the_task(redraw):
    options = {"pairs": 5, "redraw": redraw}
    task = Hyperteacher(Subsets(M, 2), inputs=3, outputs=2, encoding="few-shot", encoding_options=options)
    rows = jnp.asarray(task.space.sample(0, 20))
    batch = task.sample(jax.random.key(0), rows)
    x, y = batch.code[:, :15].reshape(20, 5, 3), batch.code[:, 15:].reshape(20, 5, 2)
    np.testing.assert_allclose(task.teach(rows, batch.constituents, x), y, atol=1e-5)
    assert bool((x == x[:1]).all()) != redraw
    later = task.sample(jax.random.key(1), rows).code[:, :15]
    assert bool((later == batch.code[:, :15]).all()) != redraw
    assert not np.isin(np.asarray(x), np.asarray(batch.inputs)).any(), "the net is shown its own test inputs"


def test_every_encoding_shows_constituents_or_coordinates():
    assert sorted(encodings) == sorted(CONSTITUENTS + showing("coordinates"))


@pytest.mark.parametrize("name", showing("coordinates"))
def test_a_task_of_modules_refuses_a_code_of_coordinates(name):
    with pytest.raises(UserError, match=f"unknown encoding of constituents '{name}'"):
        Hyperteacher(Subsets(M, 3), encoding=name)


@pytest.mark.parametrize("name", CONSTITUENTS)
def test_a_task_with_any_encoding_passes_the_public_check(name):
    check_task(Hyperteacher(Subsets(M, 3), encoding=name))


@pytest.mark.parametrize(
    ("make", "named"),
    [
        (lambda: encodings["invertible"](7, jax.random.key(0)), "7 must be even"),
        (lambda: encodings["few-shot"](M, jax.random.key(0)), "makes none"),
        (lambda: encodings["few-shot"](M, jax.random.key(0), example_size=4, pairs=0), "pairs=0"),
        (lambda: encodings["few-shot"](M, jax.random.key(0), example_size=4)(constituents(0)), "makes examples"),
        (lambda: encodings["invertible"](M, jax.random.key(0), layers=0), "layers=0"),
    ],
)
def test_impossible_encodings_are_refused(make, named):
    with pytest.raises(UserError, match=named):
        make()
