"""Tables whose failures are planted: by level and by pair, and what an audit would find of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas

import recombine as rc
from recombine.audit.findings import Finding, FindingsReport
from recombine.audit.result import Audit

LEVELS = {
    "place": ["home", "kiosk", "shop"],
    "language": ["de", "en", "pl"],
    "topic": ["bank", "insurance", "travel", "weather"],
}
KIOSK, PAIR = (("place", "kiosk"),), (("language", "pl"), ("topic", "insurance"))
Causes = Mapping[tuple[tuple[str, str], ...], float]


def failing(causes: Causes, n: int = 3000, seed: int = 0, base: float = 0.05) -> pandas.DataFrame:
    """n rows of every combination; a row fails with the largest of its causes' probabilities, else with that of `base`.

    The same seed draws the same rows, and the same lots: with other causes a row changes only where its cause did.
    """
    rng = np.random.default_rng(seed)
    frame = pandas.DataFrame({name: rng.choice(levels, n) for name, levels in LEVELS.items()})
    chance = np.full(n, base)
    for pattern, p in causes.items():
        inside = np.all([frame[name] == level for name, level in pattern], axis=0)
        chance = np.where(inside, np.maximum(chance, p), chance)
    frame["right"] = (rng.random(n) >= chance).astype(int)
    frame["id"] = [f"row {i}" for i in range(n)]
    return frame


def finding(pattern: Any, rule: str = "") -> Finding:
    """A finding as an audit would have it; only what it covers matters to those who take it."""
    return Finding(dict(pattern), rule, 0.5, 0.4, 0.6, 100, 2.0, 0.001, 4, 400)


def audited(frame: Any, *findings: Finding, **options: Any) -> Audit:
    """An audit with these findings."""
    made = rc.audit(frame, list(LEVELS), outcome="right", **options)
    return replace(made, found=FindingsReport(list(findings), 0.05))
