"""Risk: for every unseen combination, how likely the model fails, how sure that is, and why.

Learned from the user's outcomes where there are enough of them; else taken from a prior; else not given. It says so
where failure has nothing to do with coverage, and abstains where a combination is unlike all it was learned on.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.special import betaincinv

from .data import Observed
from .features import FEATURES, STRUCTURAL, Features, describe
from .outcomes import Evaluated
from .rates import wilson
from .reasons import explain
from .risk_model import SIGNAL, RiskModel, fit_risk
from .seen import Seen

ENOUGH, ENOUGH_UNSEEN = 30, 10  # evaluated combinations, and unseen ones among them
LISTED_UP_TO = 2_000_000  # combinations of a space that is gone through as a whole
SAMPLED = 50_000  # combinations looked at in a larger one
EXPLAINED = 20_000  # combinations with reasons in words


@dataclass(frozen=True)
class RiskReport:
    """Section 4 of the audit: unseen combinations, the riskiest first."""

    basis: str  # "outcomes", "base rate", "no signal", "prior" or "none"
    said: str  # what the numbers rest on, in words
    combinations: np.ndarray  # (n, factors)
    probability: np.ndarray  # NaN where it abstains
    low: np.ndarray
    high: np.ndarray
    abstained: np.ndarray  # bool
    features: Features
    reasons: list[list[str]]  # of the first EXPLAINED
    whole: bool  # all unseen combinations are here
    model: RiskModel | None = None
    why_abstained: dict[str, int] = field(default_factory=dict)

    @property
    def calls(self) -> np.ndarray:
        """What can be said of each: "fails", "holds", "open" or "abstains".

        Where failure has nothing to do with coverage a rate is known, and which combinations fail is not: all are open.
        """
        if self.basis == "no signal":
            return np.where(self.abstained, "abstains", "open")
        called = np.where(self.low >= 0.5, "fails", np.where(self.high < 0.5, "holds", "open"))
        return np.where(self.abstained | np.isnan(self.probability), "abstains", called)

    def sentences(self) -> list[str]:
        said = [self.said]
        if self.model is not None and self.basis in ("outcomes", "prior"):
            q = self.model.quality
            others = {"families": "families of worlds", "records": "other worlds"}
            where = others.get(str(self.model.provenance.get("judged_on")), "combinations")
            own = self.basis == "outcomes" and not math.isnan(q.auroc_within)
            within = f" ({q.auroc_within:.2f} among unseen ones)" if own else ""
            said.append(
                f"On {where} it was not fitted on: AUROC {q.auroc:.2f}{within}, Brier {q.brier:.3f} "
                f"(the base rate alone: {q.brier_of_the_rate:.3f}), calibration error {q.calibration_error:.3f}."
            )
        counts = Counter(self.calls.tolist())
        if self.basis != "none" and len(self.combinations):
            said.append(
                f"Of {len(self.combinations):,} unseen combinations {'' if self.whole else 'looked at '}"
                f"{counts['fails']:,} likely fail, {counts['holds']:,} likely hold, {counts['open']:,} are open; "
                f"for {counts['abstains']:,} it abstains."
            )
        if self.why_abstained:
            worst = max(self.why_abstained, key=lambda name: self.why_abstained[name])
            said.append(f"It abstains outside what it was learned on, mostly because of: {FEATURES.get(worst, worst)}.")
        return said

    def to_json(self, observed: Observed, top: int) -> dict[str, Any]:
        calls = self.calls
        return {
            "basis": self.basis, "unseen": len(self.combinations), "whole": self.whole, "summary": self.sentences(),
            "calls": dict(Counter(calls.tolist())),
            "quality": self.model.quality.to_json() if self.model else None,
            "weights": self.model.weights if self.model else None,
            "provenance": self.model.provenance if self.model else None,
            "why_abstained": self.why_abstained,
            "top": [
                {"combination": observed.labels(self.combinations[i]), "probability": float(self.probability[i]),
                 "low": float(self.low[i]), "high": float(self.high[i]), "call": str(calls[i]),
                 "reasons": self.reasons[i] if i < len(self.reasons) else []}
                for i in range(min(top, len(self.combinations)))
            ],
        }  # fmt: skip


def assess(
    observed: Observed, seen: Seen, evaluated: Evaluated | None, readable: np.ndarray | None = None,
    prior: RiskModel | None = None, seed: int = 0,
) -> RiskReport:  # fmt: skip
    """The risk of unseen combinations."""
    combinations, whole = unseen_combinations(observed, seen, seed)
    features = describe(seen, combinations, readable)
    n = len(combinations)
    nothing = np.full(n, math.nan)
    model, basis = None, "none"
    probability, low, high = nothing, np.zeros(n), np.ones(n)
    beyond = np.zeros((n, len(features.names)), bool)
    if evaluated is not None and len(evaluated.at) >= ENOUGH and (~evaluated.seen).sum() >= ENOUGH_UNSEEN:
        learned = describe(seen, observed.rows[evaluated.at], readable)
        failed = evaluated.failed
        unseen = ~evaluated.seen
        number = int(unseen.sum())
        if 0 < failed.mean() < 1:
            model = fit_risk(learned, failed, seed=seed, within=unseen, provenance={"judged_on": "combinations"})
        if model is not None and model.quality.signal:
            basis = "outcomes"
            said = f"Learned from the outcomes of {len(failed):,} combinations, {number:,} of them unseen."
            probability, low, high = model.predict(features)
            beyond = model.outside(features)
        else:
            basis = "base rate" if model is None else "no signal"
            rate, bottom, top = _base_rate(failed[unseen], evaluated.answers[unseen], model is None)
            probability, low, high = np.full(n, rate), np.full(n, bottom), np.full(n, top)
            beyond = _outside(features, learned.at(unseen))
            said = _alike(failed, number) if model is None else _no_signal(failed, model)
    elif prior is not None:
        basis, model = "prior", prior
        said = (
            _why_not(evaluated)
            + f"The forecast is a prior, learned in a lab on {prior.combinations:,} combinations of other worlds: "
            "a first guess, which outcomes of your own model replace."
        )
        probability, low, high = prior.predict(features)
        beyond_prior = prior.outside(features)
        for i, name in enumerate(prior.names):
            beyond[:, features.names.index(name)] = beyond_prior[:, i]
    else:
        said = (
            _why_not(evaluated)
            + "No prior is shipped, so no probability is given; combinations are in the order of what they lack."
        )
    abstained = np.asarray(beyond.any(axis=1)) | np.full(n, basis == "none")
    probability = np.where(abstained, math.nan, probability)
    low, high = np.where(abstained, 0.0, low), np.where(abstained, 1.0, high)
    order = _order(probability, features)
    combinations, features = combinations[order], features.at(order)
    why = {name: int(count) for name, count in zip(features.names, beyond.sum(0), strict=True) if count}
    return RiskReport(
        basis, said, combinations, probability[order], low[order], high[order], abstained[order], features,
        explain(seen, combinations[: min(EXPLAINED, seen.at_once(2) // 8)]), whole, model, why,
    )  # fmt: skip


def unseen_combinations(observed: Observed, seen: Seen, seed: int = 0) -> tuple[np.ndarray, bool]:
    """All unseen combinations, or of a huge space those in the table, neighbors of trained ones and a sample."""
    space = observed.space
    if space.size <= LISTED_UP_TO:
        rest = np.ones(space.size, bool)
        rest[space.rank(seen.combinations)] = False
        return space.unrank(np.flatnonzero(rest)), True
    rng = np.random.default_rng(seed)
    size = min(SAMPLED, 3 * seen.at_once(2))
    near = seen.combinations[np.argsort(-seen.rows, kind="stable")[:size]].copy()
    column = rng.integers(0, space.width, len(near))
    near[np.arange(len(near)), column] = rng.integers(0, np.array(space.levels)[column])
    drawn = np.concatenate([observed.rows[~observed.seen], near, space.sample(rng, size)])
    drawn = np.unique(drawn, axis=0)
    return drawn[~seen.contains(drawn)], False


def _alike(failed: np.ndarray, unseen: int) -> str:
    came_out = "wrong" if failed[0] else "right"
    return (
        f"Every answer on the {len(failed):,} combinations with outcomes was {came_out}, {unseen:,} unseen ones among "
        "them; nothing else can be foretold."
    )


def _no_signal(failed: np.ndarray, model: RiskModel) -> str:
    q = model.quality
    if q.p_value <= SIGNAL:
        return (
            f"No signal to rely on: what was trained fits failure on {len(failed):,} combinations better than chance "
            f"(p = {q.p_value:.3f}), but foretells it hardly better than its rate does (Brier {q.brier:.3f} against "
            f"{q.brier_of_the_rate:.3f}); all there is to say is the rate of failure on unseen ones."
        )
    return (
        f"No signal: no sign that failure on {len(failed):,} combinations has to do with what was trained, as far as "
        f"these features tell (p = {q.p_value:.2f}); all there is to say is the rate of failure on unseen ones."
    )


def _why_not(evaluated: Evaluated | None) -> str:
    if evaluated is None:
        return "There are no outcomes (--outcome). "
    unseen = int((~evaluated.seen).sum())
    return (
        f"Outcomes of {len(evaluated.at):,} combinations, {unseen:,} of them unseen, are too few to learn from "
        f"({ENOUGH} and {ENOUGH_UNSEEN} are needed). "
    )


def _base_rate(failed: np.ndarray, answers: np.ndarray, alike: bool) -> tuple[float, float, float]:
    """The rate of failure, and what a single combination may have: 95 % of a beta distribution with the same spread."""
    n, mean = len(failed), float(failed.mean())
    low, high = wilson(mean * n, n)
    if alike:
        return (mean * n + 0.5) / (n + 1), low, high
    between = float(failed.var()) - float(np.mean(mean * (1 - mean) / answers))
    if between > 1e-6 and 0 < mean < 1:
        times = max(mean * (1 - mean) / between - 1, 1e-3)
        ends = betaincinv(mean * times, (1 - mean) * times, [0.025, 0.975])
        low, high = min(low, float(ends[0])), max(high, float(ends[1]))
    return mean, low, high


def _outside(features: Features, learned: Features) -> np.ndarray:
    """A base rate, too, holds only for combinations of the kind it was measured on."""
    low, high = learned.values.min(0), learned.values.max(0)
    beyond = (features.values < low - 1e-9) | (features.values > high + 1e-9)
    return beyond & np.isin(features.names, STRUCTURAL)


def _order(probability: np.ndarray, features: Features) -> np.ndarray:
    """The riskiest first; without a number, what lacks most.."""
    keys = [features[name] for name in ("rare_pairs", "unseen_triples", "unseen_pairs", "untrained")]
    return np.lexsort([*(-key for key in keys), -np.where(np.isnan(probability), -1.0, probability)])
