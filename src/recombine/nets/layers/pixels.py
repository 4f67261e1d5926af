"""One token per pixel: fixed positions of pixels, which nets with weights shared over pixels add to what they are told.

As in the public code of Liang, Qian, Ziyin, Fiete 2025: four interleaved parts, the sine and cosine of the column and
those of the row, at frequencies 10000^(-k/width) for k = 0, 4, 8, ... The public code has the row before the column,
which to a net is another order of its channels and nothing more. Pixels lie at 0, 1, 2, ... exactly (in one released
script the spacing is 28/27 by mistake).
"""

from __future__ import annotations

import numpy as np

from ...errors import UserError

BASE = 10_000.0


def require_quarters(width: int) -> None:
    """Positions have four parts of equal size."""
    if width % 4:
        near = max(4, round(width / 4) * 4)
        raise UserError(f"width={width} is not a multiple of 4, which positions of pixels need; {near} would do")


def positions(side: int, width: int) -> np.ndarray:
    """(side^2, width), pixels row by row. In numpy: a constant of the program."""
    frequencies = BASE ** (-np.arange(0, width, 4) / width)
    row, column = (at.reshape(-1, 1) * frequencies for at in np.mgrid[:side, :side])  # (side^2, width / 4)
    parts = np.stack([np.sin(column), np.cos(column), np.sin(row), np.cos(row)], axis=-1)
    return parts.reshape(side**2, width).astype(np.float32)
