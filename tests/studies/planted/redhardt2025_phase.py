"""Maps in which each claim of `phase` holds, and in which it fails."""

from __future__ import annotations

import math

MOSTLY_HELD_OUT = 0.8


PLANTED: dict[str, dict[str, tuple]] = {
    "phase": {
        "no-width-helps": (
            lambda at: {"held_out": 0.3 if at["held_out"] > MOSTLY_HELD_OUT else 0.9},
            lambda at: {"held_out": 0.9 if at["width"] > 100 else 0.2},  # a wide net composes everywhere
        ),
        "width-decides": (
            lambda at: {"held_out": math.log2(at["width"]) / 8},
            lambda at: {"held_out": 0.8 - at["held_out"] / 2},  # coverage decides
        ),
    }
}
