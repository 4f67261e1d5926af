"""Data as a bad disk, or somebody, leaves them."""

from __future__ import annotations

import numpy as np


def damaged(data: bytes, rng: np.random.Generator) -> bytes:
    """A byte flipped, a part cut off, left out, doubled or overwritten by what is large."""
    changed, at = bytearray(data), int(rng.integers(len(data)))
    match rng.integers(5):
        case 0:
            changed[at] = int(rng.integers(256))
        case 1:
            del changed[at:]
        case 2:
            del changed[at : at + int(rng.integers(1, 9))]
        case 3:
            changed[at:at] = changed[at : at + 40]
        case 4:
            changed[at : at + 4] = b"\xff" * 4
    return bytes(changed)
