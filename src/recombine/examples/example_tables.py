"""Small tables with a planted truth: one row per example, factors as columns, a split and an outcome.

`drives` is made up: 2,000 drives of a perception model. Snow at night, and bikes in tunnels, were never trained; there
the model is right in one of ten drives, elsewhere in 97 of 100. `made` makes it again, byte for byte.
"""

from __future__ import annotations

import csv
import io
from pathlib import Path

import numpy as np

from ..errors import unknown

TABLES = ("drives",)
LEVELS = {
    "weather": ("sun", "rain", "snow", "fog"),
    "light": ("day", "dusk", "night"),
    "road": ("city", "farm", "tunnel", "bridge"),
    "vehicle": ("car", "bike", "truck"),
}
ROWS, FAILS, HOLDS = 2_000, 0.10, 0.97


def example(name: str = "drives") -> Path:
    """The path of an example table that the package ships.

    Args:
        name: which table; "drives" is the only one so far.

    Example:
        >>> import recombine as rc
        >>> rc.example("drives").name
        'drives.csv'
    """
    if name not in TABLES:
        raise unknown("example table", name, TABLES)
    return Path(__file__).with_name(f"{name}.csv")


def made() -> str:
    """The table `drives` as text."""
    rng = np.random.default_rng(0)
    numbers = {factor: rng.integers(len(levels), size=ROWS) for factor, levels in LEVELS.items()}
    columns = {factor: np.take(LEVELS[factor], found) for factor, found in numbers.items()}
    hard = (columns["weather"] == "snow") & (columns["light"] == "night")
    hard |= (columns["vehicle"] == "bike") & (columns["road"] == "tunnel")
    known = rng.random([len(levels) for levels in LEVELS.values()]) < 0.6  # these combinations are trained
    trained = known[tuple(numbers.values())] & ~hard & (rng.random(ROWS) < 0.8)
    right = rng.random(ROWS) < np.where(hard, FAILS, HOLDS)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*LEVELS, "split", "right"])
    split, outcome = np.where(trained, "train", "test"), right.astype(int)
    writer.writerows(zip(*columns.values(), split, outcome, strict=True))
    return text.getvalue()
