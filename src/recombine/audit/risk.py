"""Risk: how often the model fails on every combination, seen or not, how sure that is, and why.

Learned from the user's outcomes (audit/risk_forecast.py). Without outcomes nothing is forecast: a prior gives an
order, and no probability, and only where it was asked for.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..machine.processes import one_blas_thread
from ..planning.forbidden import Forbidden
from ..tables import Observed
from . import logistic
from .asking import Asking
from .features import Features, describe
from .outcomes import Evaluated
from .patterns import Answered
from .reasons import explain
from .risk_forecast import Forecast, foretell
from .risk_model import RiskModel
from .seen import Seen
from .unseen import candidates

TOLERANCE = 0.05  # by how much a combination may fail more often than seen ones do, and is still said to hold
MOST = 100_000  # unseen combinations that are listed
ENOUGH = 5  # combinations with answers
FITTED = 20_000  # of more combinations with answers, so many are what causes and effects are learned from
EXPLAINED = 20_000  # combinations with reasons in words


@dataclass(frozen=True)
class RiskReport:
    """Section 4 of the audit: the risk of unseen combinations, the riskiest first, and of seen ones.

    Called with rows it gives the risk of these: `audit.risk([{"weather": "snow", "light": "night"}])`.

    Args:
        basis: what it rests on: "outcomes"; "prior", which is an order and no probability; "none".
        said: the same in words.
        combinations: (n, factors) unseen ones, the riskiest first.
        probability: (n,) how often each fails; NaN without outcomes.
        low: (n,) of its 90 % interval.
        high: (n,) of it, too.
        features: what of each was never trained: `unseen_pairs`, the share of its pairs.
        whole: whether all unseen combinations are here.
        reference: share of wrong answers on seen combinations, which calls are relative to.
        tolerance: by how much a combination may fail more often and still holds.
        seen_probability: of seen combinations, in the order of the table.
        seen_low: likewise.
        seen_high: likewise.
        model: the prior, where it gives the order.
        forecast: what the numbers come from.
        quality: how good they are on combinations whose own answers were left out.
        asking: what is looked up of combinations.
    """

    basis: str
    said: str
    combinations: np.ndarray
    probability: np.ndarray
    low: np.ndarray
    high: np.ndarray
    features: Features
    whole: bool
    reference: float
    tolerance: float
    seen_probability: np.ndarray
    seen_low: np.ndarray
    seen_high: np.ndarray
    model: RiskModel | None = None
    forecast: Forecast | None = None
    quality: dict[str, float] | None = None
    asking: Asking | None = None

    def __call__(self, rows: Any) -> Any:
        """The risk of any combinations, as a pandas table: the factors, risk, risk_low, risk_high, call.

        Args:
            rows: a table with a column per factor, a list of mappings from factors to levels, or one such mapping.
        """
        import pandas

        assert self.asking is not None
        asked, names = self.asking.read(rows)
        found = _nothing(len(asked)) if self.forecast is None else self.forecast.risk(self.asking.about(asked))
        p, low, high = found
        table = pandas.DataFrame(names)
        return table.assign(risk=p, risk_low=low, risk_high=high, call=self.called(low, high))

    def called(self, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        """What can be said of intervals: "fails", "holds" or "open", by `rule`."""
        mark = self.reference + self.tolerance
        if self.basis != "outcomes":
            return np.full(len(low), "open")
        return np.where(low > mark, "fails", np.where(high <= mark, "holds", "open"))

    @property
    def calls(self) -> np.ndarray:
        """What can be said of each unseen combination."""
        return self.called(self.low, self.high)

    @property
    def seen_calls(self) -> np.ndarray:
        """What can be said of each seen one."""
        return self.called(self.seen_low, self.seen_high)

    @cached_property
    def reasons(self) -> list[list[str]]:
        """Why each may fail, in words, of the first `EXPLAINED`."""
        assert self.asking is not None
        seen = self.asking.seen
        return explain(seen, self.combinations[: min(EXPLAINED, seen.at_once(2) // 8)])

    @property
    def rule(self) -> str:
        """How calls are made, in words; "" without outcomes."""
        if self.basis != "outcomes":
            return ""
        return (
            f"Seen combinations fail in {self.reference:.1%} of the answers. A combination fails if the low end of its "
            f"90 % interval is more than {100 * self.tolerance:g} points above that (--tolerance), and holds if the "
            "high end is not; all others are open."
        )

    def sentences(self) -> list[str]:
        said = [self.said]
        if self.quality is not None:
            q = self.quality
            said.append(
                f"On combinations whose own answers were left out: AUROC {q['auroc']:.2f}, Brier {q['brier']:.3f} (the "
                f"overall rate alone: {q['brier_of_the_rate']:.3f}), calibration error {q['calibration_error']:.3f}."
            )
        if self.basis == "outcomes":
            counts = Counter(self.calls.tolist())
            said.append(
                f"Of {len(self.combinations):,} unseen combinations {'' if self.whole else 'looked at '}"
                f"{counts['fails']:,} fail, {counts['holds']:,} hold, {counts['open']:,} are open."
            )
            said.append(self.rule)
        return said

    def of_combination(self, i: int) -> dict[str, Any]:
        """What is said of an unseen combination, by its place among them."""
        return {
            "probability": float(self.probability[i]),
            "low": float(self.low[i]),
            "high": float(self.high[i]),
            "call": str(self.called(self.low[i : i + 1], self.high[i : i + 1])[0]),
            "reasons": self.reasons[i] if i < len(self.reasons) else [],
        }

    def to_json(self, observed: Observed, top: int) -> dict[str, Any]:
        calls = self.calls
        return {
            "basis": self.basis,
            "unseen": len(self.combinations),
            "whole": self.whole,
            "summary": self.sentences(),
            "reference": self.reference,
            "tolerance": self.tolerance,
            "calls": dict(Counter(calls.tolist())),
            "seen_calls": dict(Counter(self.seen_calls.tolist())),
            "quality": self.quality,
            "models": self._models(),
            "provenance": self.model.provenance if self.model else None,
            "top": [
                {"combination": observed.labels(self.combinations[i])} | self.of_combination(i)
                for i in range(min(top, len(self.combinations)))
            ],
        }

    def _models(self) -> dict[str, float] | None:
        """What is mixed, and the share of each."""
        if self.forecast is None:
            return None
        names = [one.name for one in self.forecast.models]
        return dict(zip(names, self.forecast.shares.tolist(), strict=True))


def answered_of(observed: Observed, evaluated: Evaluated, asking: Asking) -> Answered:
    """The combinations with answers, as the forecast wants them."""
    rows = observed.rows[evaluated.at].astype(np.int64)
    rules, _ = asking.trained.rules(rows)
    wrong = np.clip(evaluated.answers - evaluated.right, 0, evaluated.answers)
    return Answered(rows, observed.space.levels, evaluated.answers, wrong, evaluated.seen, rules)


def reference_of(evaluated: Evaluated | None) -> float:
    """Share of wrong answers on seen combinations; on all where no seen one has answers; NaN without answers."""
    if evaluated is None or not len(evaluated.at):
        return math.nan
    used = evaluated.seen if evaluated.seen.any() else ~evaluated.seen
    return float(1 - evaluated.right[used].sum() / evaluated.answers[used].sum())


@one_blas_thread()
def assess(
    observed: Observed,
    seen: Seen,
    evaluated: Evaluated | None,
    more: Callable[[np.ndarray], np.ndarray] | None = None,
    prior: RiskModel | None = None,
    *,
    forbidden: Forbidden | None = None,
    tolerance: float = TOLERANCE,
    most: int = MOST,
    seed: int = 0,
) -> RiskReport:
    """The risk of combinations, seen and unseen.

    Args:
        observed: the table.
        seen: its training combinations.
        evaluated: its answers.
        more: rows -> further features of them, such as how confident the model is.
        prior: gives an order where there are no outcomes; None for no order.
        forbidden: what cannot be had, and is not listed.
        tolerance: by how much a combination may fail more often than seen ones and still holds.
        most: unseen combinations that are listed.
        seed: of what is drawn.
    """
    asking = Asking(observed, seen, more)
    forecast = None
    if evaluated is not None and len(evaluated.at) >= ENOUGH:
        table = answered_of(observed, evaluated, asking)
        used = _used(table, seed)
        asking.answered(table, used)
        table = table.at(used)
        forecast = foretell(table, asking.trained, asking.trained.rules(table.codes)[1], asking.more(table.codes))
    rows, whole = candidates(observed, seen, forecast, asking, most, seed, forbidden)
    shares = asking.trained.rules(rows)[1]
    trained = observed.rows[observed.seen]
    if forecast is not None:
        p, low, high = forecast.risk(asking.about(rows))
        own = forecast.risk(asking.about(trained))
    else:
        p, low, high = _nothing(len(rows))
        own = _nothing(len(trained))
    order = _order(p, shares, seen, rows, None if forecast is not None else prior)
    rows, p, low, high = rows[order], p[order], low[order], high[order]
    return RiskReport(
        basis="outcomes" if forecast is not None else "none" if prior is None else "prior",
        said=_said(evaluated, forecast, prior, asking),
        combinations=rows,
        probability=p,
        low=low,
        high=high,
        features=Features(("unseen_pairs",), shares[order][:, None]),
        whole=whole,
        reference=reference_of(evaluated),
        tolerance=tolerance,
        seen_probability=own[0],
        seen_low=own[1],
        seen_high=own[2],
        model=None if forecast is not None else prior,
        forecast=forecast,
        quality=None if forecast is None else _quality(forecast),
        asking=asking,
    )


def _used(table: Answered, seed: int) -> np.ndarray:
    """The combinations that a forecast is made from: all, or of very many those with most answers."""
    if len(table) <= FITTED:
        return np.arange(len(table))
    lot = np.random.default_rng(seed).random(len(table))
    return np.sort(np.lexsort([lot, -table.answers])[:FITTED])


def _nothing(n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return np.full(n, math.nan), np.zeros(n), np.ones(n)


def _order(p: np.ndarray, shares: np.ndarray, seen: Seen, rows: np.ndarray, prior: RiskModel | None) -> np.ndarray:
    """The riskiest first; without a probability by the prior, or else by how many pairs were never seen."""
    if prior is not None and len(rows):
        said = prior.predict(describe(seen, rows))[0]
        return np.lexsort([-shares, -said])
    return np.lexsort([-shares, -np.where(np.isnan(p), -1.0, p)])


def _quality(forecast: Forecast) -> dict[str, float]:
    """How good the forecast of each combination is without its own answers."""
    failed = forecast.table.wrong / forecast.table.answers
    said = forecast.mean
    bins = logistic.calibration(said, failed)
    return {
        "auroc": logistic.auroc(said, failed),
        "brier": logistic.brier(said, failed),
        "brier_of_the_rate": logistic.brier(np.full(len(failed), failed.mean()), failed),
        "calibration_error": logistic.calibration_error(bins),
    }


def _said(evaluated: Evaluated | None, forecast: Forecast | None, prior: RiskModel | None, asking: Asking) -> str:
    if forecast is not None and asking.table is not None:
        unseen, number = int((~forecast.table.seen).sum()), len(forecast.table)
        more = len(asking.table) - number
        rest = f" The answers on {more:,} others count for these combinations only." if more else ""
        return f"Learned from the outcomes of {number:,} combinations, {unseen:,} of them unseen.{rest}"
    if evaluated is None:
        why = "There are no outcomes (--outcome)"
    else:
        number = len(evaluated.at)
        why = f"Outcomes of {number:,} combination{'s' if number != 1 else ''} are too few to learn from"
    if prior is None:
        return f"{why}, so no risk is said; combinations are listed by how many of their pairs were never seen."
    within = prior.provenance.get("auroc_within_nets") or {}
    figures = ", ".join(f"{value:.2f} on {family}" for family, value in within.items())
    advertised = f" (AUROC within one net: {figures})" if within else ""
    return (
        f"{why}. The order is that of a prior, learned in a lab on {prior.combinations:,} combinations of other "
        f"worlds{advertised}: a first guess, and no probability."
    )
