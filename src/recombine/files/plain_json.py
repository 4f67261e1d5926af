"""Plain data, as JSON takes it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any


def plain_json(data: Any) -> Any:
    """NumPy's numbers as Python's, what is undefined as null, and what JSON does not know in words.

    Args:
        data: mappings, lists and tuples of numbers, texts and truth values.
    """
    if isinstance(data, Mapping):
        return {str(key): plain_json(value) for key, value in data.items()}
    if isinstance(data, (list, tuple)):
        return [plain_json(value) for value in data]
    if hasattr(data, "item"):
        data = data.item()
    if isinstance(data, float) and not math.isfinite(data):
        return None
    return data if data is None or isinstance(data, (bool, int, float, str)) else str(data)
