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
RIGHT = {"auroc_unanswered": 0.99, "auroc_few": 0.99, "rmse_ratio": 0.1, "interval_score": 0.15, "covered": 0.92}
RIGHT |= {
    "rmse": 0.01,
    "called": 0.85,
    "holds": 1000.0,
    "wrong_holds": 1.0,
    "planted": 20.0,
    "hit": 19.0,
    "found": 20.0,
}
RIGHT |= {"found": 20.0, "right": 19.0, "innocent": 0.01, "any_found": 0.01, "caught": 0.95}


def audited(kind: str = "", **other: float) -> Callable[[At], Rows]:
    """What an audit that is right says of each kind of world, but for some readings, of one kind or of all."""

    def rows(at: At) -> Rows:
        said = RIGHT | ({"found": 0.1, "right": 0.05} if at["kind"] == "additive" else {})
        said |= other if at["kind"] == kind or not kind else {}
        return [{"reading": "table", "metric": name, "group": "0", "value": value} for name, value in said.items()]

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


def by_family(family: str, **worth_of: float) -> tuple:
    """In this family a plan is worth more by one metric only; or by the other one and in every other family."""
    other = {"mean": 3.0, "worst": 3.0} | dict.fromkeys(worth_of, 1.0)
    holds = lambda at: worth(**worth_of if at["family"] == family else {})(at)  # noqa: E731
    fails = lambda at: worth(**other if at["family"] == family else {"mean": 3.0, "worst": 3.0})(at)  # noqa: E731
    return holds, fails


PLANTED: dict[str, dict[str, tuple]] = {
    "audit-truth": {
        "ranks-unanswered": (audited(), audited(auroc_unanswered=0.6)),
        "ranks-few-answers": (audited(), audited(auroc_few=0.6)),
        "ranks-lottery": (audited(), audited("lottery", auroc_few=0.6)),
        "numbers-are-right": (audited(), audited(rmse_ratio=0.5)),
        "intervals-are-narrow": (audited(), audited(interval_score=0.6)),
        "intervals-cover": (audited(), audited(covered=0.6)),
        "intervals-are-no-wider-than-said": (audited(), audited(covered=0.995)),
        "intervals-cover-every-kind": (audited(), audited("xor", covered=0.6)),
        "finds-causes": (audited(), audited(hit=10.0)),
        "findings-are-right": (audited(), audited(right=10.0)),
        "innocents-are-spared": (audited(), audited(innocent=0.8)),
        "nothing-in-nothing": (audited(), audited(any_found=0.5)),
        "holds-is-right": (audited(), audited(wrong_holds=100.0)),
        "calls-most": (audited(), audited(called=0.4)),
        "coverage-is-exact": (audited(), audited("binder", rmse=0.2)),
        "additive-is-no-cause": (audited(), audited("additive", found=3.0)),
    },
    "audit-transfer": {
        f"{claim}-{family}": (scored(), scored(indifferent=family))
        for family in FAMILIES
        for claim in ("ranks", "tells")
    },
    "plan-saves-data": {
        f"{claim}-{family}": (*by_family(family, **{metric: 3.0}), *(["night"] if family == "preference" else []))
        for family in FAMILIES
        for claim, metric in (
            ("plan-for-the-mean", "mean"),
            ("plan-for-the-worst", "worst"),
            ("plan-against-variance", "mean"),
        )
    },
}
