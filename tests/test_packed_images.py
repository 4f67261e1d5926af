"""Small pictures as text: half a step is all that is lost, and nothing malformed is taken for a picture."""

from __future__ import annotations

import base64
import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from recombine.errors import UserError
from recombine.packed_images import LONGEST, gray_levels, pack, unpack

VALUES = st.floats(-1e12, 1e12, allow_subnormal=False) | st.sampled_from([np.nan, np.inf, -np.inf])
ARRAYS = hnp.arrays(np.float64, hnp.array_shapes(min_dims=2, max_dims=2, max_side=9), elements=VALUES)


@given(ARRAYS)
def test_half_a_step_is_all_that_is_lost(array: np.ndarray):
    packed = json.loads(json.dumps(pack(array), allow_nan=False))
    again = unpack(packed)
    defined = np.isfinite(array)
    assert again.shape == array.shape and (np.isnan(again) == ~defined).all()
    step = (packed["high"] - packed["low"]) / 254
    rounding = 1e-12 * max(abs(packed["low"]), abs(packed["high"]))
    assert np.abs(again - array)[defined].max(initial=0) <= step / 2 + rounding
    if defined.any():  # both ends are exact
        ends = [array[defined].min(), array[defined].max()]
        assert [np.nanmin(again), np.nanmax(again)] == pytest.approx(ends, rel=0, abs=rounding)


@given(ARRAYS, st.floats(-10, 10), st.floats(0, 10))
def test_what_lies_beyond_given_ends_becomes_them(array: np.ndarray, low: float, span: float):
    again = unpack(pack(array, low, low + span))
    defined = np.isfinite(array)
    expected = np.clip(array, low, low + span)
    assert np.abs(again - expected)[defined].max(initial=0) <= span / 508 + 1e-12


def test_known_bytes():
    packed = pack([[0, 1, 2], [4, np.nan, 4]])
    assert packed | {"shades": ""} == {"rows": 2, "columns": 3, "low": 0.0, "high": 4.0, "shades": ""}
    assert base64.b64decode(packed["shades"]) == bytes([0, 64, 127, 254, 255, 254])
    assert gray_levels(packed).dtype == np.uint8
    assert len(json.dumps(pack(np.random.default_rng(0).normal(size=(28, 28))))) < 1200


def test_one_value_or_none():
    assert (unpack(pack(np.full((2, 3), -7.5))) == -7.5).all()
    assert np.isnan(unpack(pack(np.full((2, 3), np.nan)))).all()
    assert unpack(pack([[3.0]], low=5))[0, 0] == 5 and unpack(pack([[3.0]], high=2))[0, 0] == 2
    assert (unpack(pack(np.eye(2, dtype=bool))) == np.eye(2)).all()


def test_arrays_of_jax():
    import jax.numpy as jnp

    values = jnp.linspace(0, 1, 6).reshape(2, 3)
    assert np.allclose(unpack(pack(values, jnp.min(values), values.max())), values, atol=1 / 508)


@pytest.mark.parametrize(
    ("array", "ends", "said"),
    [
        (np.zeros(3), {}, "2D array of numbers"),
        (np.zeros((0, 3)), {}, "2D array"),
        ([["a"]], {}, "2D array of numbers"),
        (np.zeros((1, 1), complex), {}, "2D array of numbers"),
        (np.zeros((1, LONGEST + 1)), {}, "columns=1025 is too large"),
        (np.zeros((1, 1)), {"low": 2, "high": 1}, "low=2 is above high=1"),
        (np.zeros((1, 1)), {"low": float("nan")}, "low=nan is not a finite number"),
        ([[-1e308, 1e308]], {}, "too far"),
    ],
)
def test_what_is_no_picture_is_not_packed(array: Any, ends: dict[str, float], said: str):
    with pytest.raises(UserError, match=said):
        pack(array, **ends)


GOOD = pack(np.arange(6.0).reshape(2, 3))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"rows": 3}, "3 x 3 cells are 12 characters of base64; got 8"),
        ({"rows": 1}, "1 x 3 cells are 4 characters"),
        ({"rows": 5, "columns": 1}, "shades hold 6 cells; 5 x 1 are 5"),
        ({"rows": 10**9, "columns": 10**9}, "rows=1000000000 is too large"),
        ({"rows": -2, "columns": -3}, "rows=-2 is too small"),
        ({"rows": 0}, "rows=0 is too small"),
        ({"rows": True}, "not a whole number"),
        ({"columns": 3.0}, "not a whole number"),
        ({"low": "0"}, "low='0' is not a finite number"),
        ({"high": float("inf")}, "high=inf is not a finite number"),
        ({"high": 10**400}, "is not a finite number"),
        ({"high": None}, "is not a finite number"),
        ({"high": -1}, "low=0.0 is above high=-1"),
        ({"low": -1e308, "high": 1e308}, "too far"),
        ({"shades": "AAAA AAA"}, "not base64"),
        ({"shades": "ÄÄÄÄÄÄÄÄ"}, "not base64"),
        ({"shades": "=======A"}, "not base64|hold"),
        ({"shades": b"AAAAAAAA"}, "got bytes"),
        ({"shades": None}, "got NoneType"),
        ({"more": 1}, "has the fields"),
    ],
)
def test_malformed_pictures_are_refused(change: dict[str, Any], said: str):
    for read in (unpack, gray_levels):
        with pytest.raises(UserError, match=said):
            read(GOOD | change)


@pytest.mark.parametrize("thing", [None, [], "rows", {}, {"rows": 1}])
def test_what_is_not_packed_is_refused(thing: Any):
    with pytest.raises(UserError, match="has the fields"):
        unpack(thing)
