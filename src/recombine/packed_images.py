"""Small pictures as text: a 2D array in 255 even steps between two ends, one byte per cell, as JSON.

A record can hold the pictures that a report shows: 28 x 28 values take about 1 kB. What comes back is within half a
step of what went in.
"""

from __future__ import annotations

import base64
import binascii
import math
import sys
from typing import Any

import numpy as np

from .errors import UserError, require_int

UNDEFINED = 255
STEPS = 254  # gray levels 0 to 254: `low` to `high`
LONGEST = 1024  # rows or columns: a picture in a report, and not a data set
FIELDS = ("rows", "columns", "low", "high", "shades")


def pack(array: Any, low: Any = None, high: Any = None) -> dict[str, Any]:
    """The array as JSON. Ends (numbers) are by default those of its values; what lies beyond given ends becomes them.

    Values that are not finite are undefined. Pictures to be compared need the same ends.
    """
    values = np.asarray(array)
    if values.ndim != 2 or not values.size or values.dtype.kind not in "biuf":
        raise UserError(f"a picture is a 2D array of numbers, got shape {values.shape} of {values.dtype}")
    rows, columns = values.shape
    for what, length in (("rows", rows), ("columns", columns)):
        require_int(what, length, at_most=LONGEST)
    values = values.astype(np.float64)
    defined = np.isfinite(values)
    known = values[defined] if defined.any() else np.zeros(1)
    if low is None:
        low = known.min() if high is None else min(known.min(), high)
    if high is None:
        high = max(known.max(), low)
    low, high = _ends(low, high)
    share = (np.clip(np.where(defined, values, low), low, high) - low) / ((high - low) or 1.0)
    levels = np.where(defined, np.rint(share * STEPS), UNDEFINED).astype(np.uint8)
    text = base64.b64encode(levels.tobytes()).decode()
    return {"rows": rows, "columns": columns, "low": low, "high": high, "shades": text}


def unpack(packed: Any) -> np.ndarray:
    """The array that was packed, to half a step; NaN where it was undefined."""
    levels = gray_levels(packed)
    low, high = float(packed["low"]), float(packed["high"])
    return np.where(levels == UNDEFINED, np.nan, low + levels / STEPS * (high - low))


def gray_levels(packed: Any) -> np.ndarray:
    """The gray levels, 0 to 254 and 255 where undefined, as uint8 [rows, columns]; refused unless well-formed."""
    if not isinstance(packed, dict) or set(packed) != set(FIELDS):
        found = ", ".join(sorted(map(str, packed))) if isinstance(packed, dict) else type(packed).__name__
        raise UserError(f"a packed picture has the fields {', '.join(FIELDS)}; got {found[:200]}")
    rows, columns = (require_int(what, packed[what], at_least=1, at_most=LONGEST) for what in ("rows", "columns"))
    _ends(packed["low"], packed["high"])
    text = packed["shades"]
    length = 4 * -(-rows * columns // 3)
    if not isinstance(text, str) or len(text) != length:
        size = f"{len(text):,} characters" if isinstance(text, str) else type(text).__name__
        raise UserError(f"shades of {rows} x {columns} cells are {length:,} characters of base64; got {size}")
    try:
        data = base64.b64decode(text, validate=True)
    except (ValueError, binascii.Error):
        raise UserError(f"shades {text[:20]!r}... are not base64") from None
    if len(data) != rows * columns:
        raise UserError(f"shades hold {len(data):,} cells; {rows} x {columns} are {rows * columns:,}")
    return np.frombuffer(data, np.uint8).reshape(rows, columns)


def _ends(low: Any, high: Any) -> tuple[float, float]:
    """Two finite numbers in order, as floats."""
    low, high = (value.item() if hasattr(value, "item") else value for value in (low, high))
    for what, value in (("low", low), ("high", high)):
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if not number or not abs(value) <= sys.float_info.max:
            raise UserError(f"{what}={value!r:.40} is not a finite number")
    if low > high:
        raise UserError(f"low={low!r:.40} is above high={high!r:.40}")
    low, high = float(low), float(high)
    if not math.isfinite(high - low):
        raise UserError(f"from low={low!r} to high={high!r} is too far for a float")
    return low, high
