"""Claims about one value per seed, and tables of such values."""

from __future__ import annotations

from typing import Any

import pandas as pd

from recombine.lab.claims import Bound
from recombine.lab.study_table import StudyTable
from recombine.lab.verdicts import Claim


def claim(side: Any = "at least", threshold=0.5, reading: Any = lambda t: t.value.mean(), **more: Any) -> Claim:
    return Claim("c", reading, Bound(side, threshold), "text", "control", "reads", "source", **more)


def table(*values: float) -> StudyTable:
    return StudyTable(pd.DataFrame({"seed": range(len(values)), "value": values}), "r2")
