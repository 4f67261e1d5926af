"""Worlds in which the audit is right, its prior transfers and a plan saves data, and in which they do not."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from recombine.audit.features import FEATURES

At = dict[str, Any]
Rows = list[dict[str, Any]]
FAMILIES = ("hyperteacher", "preference", "bumps")


# -- audit-truth ------------------------------------------------------------------------------------------------------
RIGHT = {"auroc": 0.99, "called_fails": 0.01, "called": 0.02, "abstained": 0.0, "beyond_rate": 0.05, "failed": 0.3}


def audited(**other: float) -> Callable[[At], Rows]:
    """What an audit that is right says of each model, but for some readings; `happened` is how many of ten failed."""

    def rows(at: At) -> Rows:
        said = RIGHT | {name: value for name, value in other.items() if name != "happened"}
        found = [{"reading": "world", "metric": name, "group": "", "value": value} for name, value in said.items()]
        sums = {"combinations": 10, "said": 3.0, "failed": int(other.get("happened", 3))}
        return [*found, {"reading": "bin", "metric": "bin", "group": "3", "value": 0.3, **sums}]

    return rows


# -- audit-transfer ---------------------------------------------------------------------------------------------------
def scored(indifferent: str = "") -> Callable[[At], Rows]:
    """Combinations whose score falls with the share of unseen pairs; in one family it has nothing to do with it."""

    def rows(at: At) -> Rows:
        rng = np.random.default_rng(list(hashlib.sha256(repr(sorted(at.items())).encode()).digest()))
        found = []
        for _ in range(60):
            pairs = rng.integers(0, 4) / 3
            cause = rng.integers(0, 4) / 3 if at["family"] == indifferent else pairs
            seen = {"unseen": 1.0, "unseen_pairs": pairs, "any_unseen_pair": float(pairs > 0)}
            score = 0.9 - 0.3 * cause + 0.02 * rng.standard_normal()
            shared = {"reading": "combination", "metric": "score", "trained_low": 0.75, "trained_median": 0.9}
            found.append(shared | dict.fromkeys(FEATURES, 0.0) | seen | {"value": float(score)})
        return found

    return rows


# -- plan-saves-data --------------------------------------------------------------------------------------------------
def worth(mean: float = 1.0, worst: float = 1.0) -> Callable[[At], Rows]:
    """One planned combination is worth so many of any other way, for the mean and for the worst 5 %."""

    def rows(at: At) -> Rows:
        times = {"mean": mean, "worst": worst} if at["method"] == "plan" else {"mean": 1.0, "worst": 1.0}
        return [{"metric": name, "value": 0.2 + 0.1 * math.log2(at["n"] * by)} for name, by in times.items()]

    return rows


PLANTED: dict[str, dict[str, tuple]] = {
    "audit-truth": {
        "ranks-failures": (audited(), audited(auroc=0.6)),
        "no-false-alarms": (audited(), audited(called_fails=0.5)),
        "nothing-sure-by-lot": (audited(), audited(called=0.5)),
        "calibrated": (audited(), audited(happened=9)),
    },
    "audit-transfer": {
        f"{claim}-{family}": (scored(), scored(indifferent=family))
        for family in FAMILIES
        for claim in ("ranks", "tells")
    },
    "plan-saves-data": {
        "plan-for-the-mean": (worth(mean=3.0), worth(worst=3.0)),
        "plan-for-the-worst": (worth(worst=3.0), worth(mean=3.0)),
    },
}
