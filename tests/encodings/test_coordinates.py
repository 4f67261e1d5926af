"""Codes of coordinates: factorized, and linear and injective where they say so."""

from __future__ import annotations

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from recombine import Product, UserError, tasks
from recombine.encodings import encodings, showing
from recombine.encodings.coordinates import ABSENT
from recombine.tasks import BumpsAndStripes, space_with_stripes
from recombine.testing import check_task

LEVELS = (7, 10)  # of x and of y
CODES = showing("coordinates")
ROOM = ["margin", "ramp", "ramp-normalized"]  # codes that can show a place outside the frame
OPTIONS = {  # every code as it comes and with other options
    **{name: (name, {}) for name in CODES},
    "wide bump": ("bump", {"width": 11.0}),
    "narrow margin": ("margin", {"margin": 2, "width": 3.0}),
    "one frequency": ("sinusoidal", {"frequencies": 1}),
    "many frequencies": ("sinusoidal", {"frequencies": 8}),
}


@pytest.fixture(params=OPTIONS, scope="module")
def encoding(request):
    name, options = OPTIONS[request.param]
    return encodings[name](LEVELS, **options)


def grid(steps: int = 1) -> np.ndarray:
    """(x * steps, y * steps, 2): every place, or places between them."""
    axes = [np.arange(0, n - 1 + 1e-9, 1 / steps) for n in LEVELS]
    return np.stack(np.meshgrid(*axes, indexing="ij"), -1)


@jax.jit
def _encoded(encoding, coordinates, present):
    return encoding(coordinates, present)


def shown(encoding, coordinates, present=None) -> np.ndarray:
    return np.asarray(_encoded(encoding, jnp.asarray(coordinates, jnp.float32), present), np.float64)


def factorization(activations: np.ndarray) -> float:
    """F = 1 - mean |g01| / mean (|g00| + |g11|), with g from finite differences over the grid (x, y, units)."""
    by_x, by_y = np.gradient(activations, axis=(0, 1))
    return 1 - abs((by_x * by_y).sum(-1)).mean() / ((by_x**2).sum(-1) + (by_y**2).sum(-1)).mean()


# -- every registered code ----------------------------------------------------------------------------------------


def test_a_part_for_each_factor_stands_side_by_side(encoding):
    code = shown(encoding, grid())
    assert code.shape == (*LEVELS, encoding.size) and encoding.size == sum(encoding.segments)
    edge = encoding.segments[0]
    assert (code[:, :, :edge] == code[:, :1, :edge]).all(), "the part of x depends on y"
    assert (code[:, :, edge:] == code[:1, :, edge:]).all(), "the part of y depends on x"


def test_every_code_is_factorized_exactly(encoding):
    assert factorization(shown(encoding, grid())) == 1
    assert factorization(shown(encoding, grid(steps=3))) == 1 or isinstance(encoding, encodings["one-hot"])


def test_the_measure_of_factorization_can_fail():
    """One number x + y moves with either factor: F = 1/2, the least that there is."""
    assert factorization(grid().sum(-1, keepdims=True)) == pytest.approx(0.5)


def test_linear_ones_are_affine_and_others_are_not(encoding):
    at = grid().reshape(-1, 2)
    with_constant = np.hstack([at, np.ones((len(at), 1))])
    code = shown(encoding, grid()).reshape(len(at), -1)
    fitted = with_constant @ np.linalg.lstsq(with_constant, code, rcond=None)[0]
    assert np.allclose(fitted, code, atol=1e-4) == encoding.linear


def test_injective_ones_tell_all_places_apart(encoding):
    codes = shown(encoding, grid()).reshape(-1, encoding.size)
    pairs = itertools.combinations(range(len(codes)), 2)
    least = min(abs(codes[a] - codes[b]).max() for a, b in pairs)
    assert (least > 1e-3) == encoding.injective


@pytest.mark.parametrize("name", [name for name in CODES if name != "one-hot"])
def test_codes_are_differentiable(name):
    encoding = encodings[name](LEVELS)
    at = jnp.asarray([2.3, 4.6])
    slopes = np.asarray(jax.jit(jax.jacobian(encoding))(at))
    step = 1e-2
    after, before = (shown(encoding, at + sign * step * np.eye(2)) for sign in (1, -1))
    np.testing.assert_allclose(slopes, (after - before).T / (2 * step), atol=5e-3)


@pytest.mark.parametrize("name", ["one-hot", "ramp"])  # the others differ in `part` alone, which is tested above
def test_a_task_with_another_code_passes_the_public_check(name):
    check_task(tasks.Bumps(Product(x=7, y=10), encoding=name))


# -- each by its formula ------------------------------------------------------------------------------------------


def code_of(name: str, levels: int, at: float, **options) -> np.ndarray:
    return shown(encodings[name]((levels,), **options), [at])


@pytest.mark.parametrize("width", [1.0, 3.0, 11.0])
def test_the_width_of_a_bump_multiplies_the_variance(width):
    expected = [np.exp(-((i - 12.25) ** 2) / (2 * width)) for i in range(28)]
    np.testing.assert_allclose(code_of("bump", 28, 12.25, width=width), expected, atol=1e-6)


def test_published_lengths():
    """2N for one-hot and bump at N = 28, 80 with a margin of 6, two numbers for a ramp."""
    sizes = {name: encodings[name]((28, 28)).size for name in ("one-hot", "bump", "margin", "ramp", "cos-sin")}
    assert sizes == {"one-hot": 56, "bump": 56, "margin": 80, "ramp": 2, "cos-sin": 4}
    assert encodings["sinusoidal"]((28, 28), frequencies=3).size == 12


def test_one_hot_is_one_at_its_level():
    assert code_of("one-hot", 5, 3.0).tolist() == [0, 0, 0, 1, 0]


def test_ramps_are_raw_or_from_minus_one_to_one():
    assert code_of("ramp", 28, 13.5).tolist() == [13.5]
    normalized = [code_of("ramp-normalized", 28, at) for at in (0.0, 13.5, 27.0)]
    np.testing.assert_allclose(normalized, [[-1], [0], [1]], atol=1e-6)


def test_the_margin_is_the_bump_code_of_a_longer_axis():
    np.testing.assert_allclose(code_of("margin", 28, 5.0), code_of("bump", 40, 11.0), atol=1e-7)


def test_cos_sin_closes_the_circle():
    first, last, around = (code_of("cos-sin", 36, at) for at in (0.0, 35.0, 36.0))
    np.testing.assert_allclose(first, around, atol=1e-5)
    assert np.linalg.norm(first - last) == pytest.approx(2 * np.sin(np.pi / 36), rel=1e-4)
    np.testing.assert_allclose(code_of("cos-sin", 36, 9.0), [0, 1], atol=1e-6)


def test_sinusoidal_wavelengths_halve_from_twice_the_frame():
    code = code_of("sinusoidal", 28, 14.0, frequencies=3)  # a quarter, a half, and the whole of a wave
    np.testing.assert_allclose(code, [1, 0, 0, 0, -1, 1], atol=1e-5)


# -- absent factors -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", CODES)
@pytest.mark.parametrize("absent", ABSENT)
def test_an_absent_factor_shows_what_was_asked_whatever_its_coordinate(name, absent):
    if absent == "off-frame" and name not in ROOM:
        with pytest.raises(UserError, match="room outside the frame.*'zeros' and 'mean'"):
            encodings[name](LEVELS, absent=absent)
        return
    encoding = encodings[name](LEVELS, absent=absent)
    present = jnp.asarray([[True, True], [True, False], [False, True], [True, False]])
    codes = shown(encoding, [[2, 3], [2, 3], [2, 3], [2, 8]], present)
    edge = encoding.segments[0]
    assert (codes[0, :edge] == codes[1, :edge]).all() and (codes[0, edge:] == codes[2, edge:]).all()
    assert (codes[1] == codes[3]).all()
    levels = shown(encoding, np.stack([np.zeros(LEVELS[1]), np.arange(LEVELS[1])], -1))[:, edge:]
    expected = {
        "zeros": np.zeros(encoding.segments[1]),
        "mean": levels.mean(0),
        "off-frame": shown(encoding, [0, encoding.off_frame() or 0])[edge:],
    }[absent]
    np.testing.assert_allclose(codes[1, edge:], expected, atol=1e-6)


@pytest.mark.parametrize("name", ROOM)
def test_a_place_off_the_frame_is_outside_and_a_bump_there_is_not_seen_inside(name):
    encoding = encodings[name]((28,))
    place = encoding.off_frame()
    assert place == -4
    if name == "margin":
        code = shown(encoding, [place])
        assert code[:6].max() == 1 and code[6:].max() < 1e-3
        assert encoding.segments[0] - 28 == 12


COLLIDING = [("ramp", "zeros", 10), ("ramp", "mean", 9), ("ramp-normalized", "zeros", 9)]


@pytest.mark.parametrize("name, absent, levels", COLLIDING)
def test_a_task_refuses_a_code_that_shows_an_absent_factor_as_a_level(name, absent, levels):
    options = {"encoding": name, "encoding_options": {"absent": absent}}
    with pytest.raises(UserError, match=f"absent='{absent}'.*one of its levels.*'off-frame'"):
        BumpsAndStripes(space_with_stripes(levels), **options)


DISTINCT = [
    (name, absent)
    for name in CODES
    for absent in ABSENT
    if (name, absent, 10) not in COLLIDING and (absent != "off-frame" or name in ROOM)
]


@pytest.mark.parametrize("name, absent", DISTINCT)
def test_all_other_codes_tell_bumps_stripes_and_nothing_apart(name, absent):
    encoding = encodings[name]((10, 10), absent=absent)
    rows = space_with_stripes(10).enumerate()
    codes = shown(encoding, rows, jnp.asarray(rows < 10))
    assert len(np.unique(codes.round(3), axis=0)) == 11**2


# -- bad arguments ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name, levels, options, words",
    [
        ("bump", (4,), {"width": 0.0}, "width=0.0 is not a number above 0"),
        ("bump", (4,), {"width": float("nan")}, "width=nan"),
        ("margin", (4,), {"margin": 0}, "margin=0"),
        ("sinusoidal", (4,), {"frequencies": 0}, "frequencies=0"),
        ("one-hot", (4, 0), {}, "levels=0"),
        ("ramp", (4,), {"absent": "zeroes"}, "'zeroes'; did you mean 'zeros'"),
    ],
)
def test_impossible_codes_are_refused_by_name(name, levels, options, words):
    with pytest.raises(UserError, match=words):
        encodings[name](levels, **options)
