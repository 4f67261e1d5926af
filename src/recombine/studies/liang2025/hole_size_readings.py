"""What the study of hole sizes reads: the largest against the smallest."""

from __future__ import annotations

from typing import Any

from ...lab.study_table import StudyTable
from .compared_arms import ratios


def largest_by_smallest(t: StudyTable) -> dict[str, Any]:
    """Held-out error in the largest hole by that in the smallest, each size of pictures."""
    shares = sorted(set(t.hole))
    return ratios(t, "hole", shares[-1], shares[0], of="size")


def larger_pictures(t: StudyTable) -> dict[str, Any]:
    """Held-out error in the largest pictures by that in the smallest, each share that is held out."""
    sizes = sorted(set(t["size"]))
    return ratios(t, "size", sizes[-1], sizes[0], of="hole")
