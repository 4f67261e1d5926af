"""One outcome per factor ("color right, shape wrong"): how often each is right, and which of them fails."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..labels import listed, quoted
from ..tables import Observed
from .outcomes import OutcomeReport, compare, evaluate, weak_levels
from .rates import Rate, rate
from .seen import Seen


@dataclass(frozen=True)
class FactorOutcome:
    """How a model does on one factor.

    Args:
        factor: its name.
        outcome: the column or expression that says whether the model was right about it.
        rate: how often it was, over all answers that count.
        alone: share of the wrong answers that are wrong about this factor only.
        report: seen against unseen combinations, and its levels, as for an outcome of the whole.
    """

    factor: str
    outcome: str
    rate: Rate
    alone: float
    report: OutcomeReport

    def to_json(self) -> dict[str, Any]:
        return {
            "factor": self.factor,
            "outcome": self.outcome,
            "rate": self.rate.to_json(),
            "alone": self.alone,
            "report": self.report.to_json(),
        }


@dataclass(frozen=True)
class FactorOutcomes:
    """All factors that have an outcome of their own, the one that fails most first."""

    factors: list[FactorOutcome]

    def __getitem__(self, factor: str) -> FactorOutcome:
        return next(one for one in self.factors if one.factor == factor)

    @property
    def failing(self) -> list[FactorOutcome]:
        """Those that are right less often than the best one, beyond both intervals."""
        best = max(one.rate.low for one in self.factors)
        return [one for one in self.factors if one.rate.high < best]

    def sentences(self) -> list[str]:
        said = []
        for one in self.factors:
            alone = "" if math.isnan(one.alone) else f"; {one.alone:.0%} of what is wrong is wrong about it alone"
            interval = f"[{one.rate.low:.1%}, {one.rate.high:.1%}]"
            said.append(f"Right about {quoted(one.factor)} in {one.rate.mean:.1%} of the answers {interval}{alone}.")
        if self.failing:
            said.append(f"What fails is {listed([quoted(one.factor) for one in self.failing])}.")
        elif len(self.factors) > 1:
            said.append("No factor is shown to fail more than another.")
        for one in self.factors:
            own = {weak: None for weak in weak_levels(one.report)}
            if own:
                said.append(f"About {quoted(one.factor)} it is weaker than on the other levels at {listed(list(own))}.")
            low = one.report.gap[1]
            if not math.isnan(low) and low > 0:
                said.append(
                    f"About {quoted(one.factor)} unseen combinations are harder: {one.report.unseen.mean:.1%} against "
                    f"{one.report.seen.mean:.1%}."
                )
        return said

    def to_json(self) -> dict[str, Any]:
        return {
            "factors": [one.to_json() for one in self.factors],
            "failing": [one.factor for one in self.failing],
            "summary": self.sentences(),
        }


def by_factor(observed: Observed, seen: Seen) -> FactorOutcomes | None:
    """What each factor's own outcome says; None where no factor has one."""
    if not observed.parts:
        return None
    found = [_about(observed, seen, factor) for factor in observed.parts]
    found = [one for one in found if one.rate.answers]
    return FactorOutcomes(sorted(found, key=lambda one: (one.rate.mean, one.factor))) if found else None


def _about(observed: Observed, seen: Seen, factor: str) -> FactorOutcome:
    about = observed.about(factor)
    evaluated = evaluate(about)
    wrong = _wrong(observed.parts)
    alone = float(observed.parts[factor].alone.sum()) / wrong if wrong else math.nan
    overall = rate(factor, evaluated.right, evaluated.answers)
    return FactorOutcome(factor, str(about.outcome), overall, alone, compare(about, seen, evaluated))


def _wrong(parts: Mapping[str, Any]) -> float:
    """Answers that are wrong about something."""
    return float(next(iter(parts.values())).wrong.sum())
