"""A scorecard: what an audit says of a planted world, against the truth.

A combination *fails* here if its true rate of failure is more than the tolerance above that of seen combinations, which
is what a call says. A cause counts as found if a finding covers the same answered combinations, for no table tells two
such patterns apart. In an additive world a finding is right if it is a level that is harder than its factor on average.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..tables import Observed
from . import logistic
from .findings import Finding
from .found import find
from .outcomes import evaluate
from .planted_worlds import World
from .risk import TOLERANCE, assess
from .seen import Seen

_ALPHA = 0.1  # an interval leaves out one truth in ten
FEW = 5  # answers
_LEAST = 10  # combinations from which a ranking is judged
_FIRST = 0.05  # share of what is met in use that is looked at first


@dataclass(frozen=True)
class Said:
    """What was said of each combination of a world, and what was found.

    Args:
        risk: (N,) how often each fails.
        low: (N,) of its 90 % interval.
        high: (N,) of it, too.
        calls: (N,) "fails", "holds" or "open".
        findings: causes.
    """

    risk: np.ndarray
    low: np.ndarray
    high: np.ndarray
    calls: np.ndarray
    findings: list[Finding]


def observed_of(world: World) -> Observed:
    """The table of a world, as the audit has it after reading."""
    at = np.flatnonzero((world.trained > 0) | (world.answers > 0))
    none = np.zeros(len(at))
    return Observed(
        space=world.space,
        rows=world.rows[at].astype(world.space.dtype),
        trained=world.trained[at].astype(float),
        tested=world.answers[at].astype(float),
        answers=np.stack([none, world.answers[at]], axis=1),
        right=np.stack([none, (world.answers - world.wrong)[at]], axis=1).astype(float),
        total=int(world.trained.sum() + world.answers.sum()),
        left_out=0,
        missing={},
        split={},
        outcome="right",
    )


def examine(world: World) -> Said:
    """What the audit says of a world: everything but reading its table and writing its page."""
    observed = observed_of(world)
    seen = Seen(observed.space, observed.rows[observed.seen], observed.trained[observed.seen])
    risk = assess(observed, seen, evaluate(observed))
    findings = find(observed, risk).findings
    assert risk.forecast is not None and risk.asking is not None
    p, low, high = risk.forecast.risk(risk.asking.about(world.rows))
    return Said(p, low, high, risk.called(low, high), findings)


def score(world: World, said: Said) -> dict[str, float]:
    """Readings of one world; what cannot be read there is left out."""
    truth, seen_rate = world.truth, world.seen_rate
    fails = truth > seen_rate + TOLERANCE
    overall = world.wrong.sum() / world.answers.sum()
    error = math.sqrt(float(np.mean((said.risk - truth) ** 2)))
    found = {
        "rmse": error,
        "covered": float(np.mean((said.low <= truth) & (truth <= said.high))),
        "interval_score": _interval_score(truth, said),
        "called": float(np.mean(said.calls != "open")),
        "holds": float((said.calls == "holds").sum()),
        "wrong_holds": float(((said.calls == "holds") & fails).sum()),
        **_causes(world, said.findings),
    }
    if np.ptp(truth) > 0:
        found["rmse_ratio"] = error / math.sqrt(float(np.mean((overall - truth) ** 2)))
    if world.kind != "lottery":  # of what has a rate of its own and no answer nothing can be known
        found |= _ranked("auroc_unanswered", world.answers == 0, said.risk, fails)
    few = (world.answers > 0) & (world.answers <= FEW)
    found |= _ranked("auroc_few", few, said.risk, fails)
    if fails.any():
        found["caught"] = _caught(world, said.risk)
    return found


def _ranked(name: str, chosen: np.ndarray, risk: np.ndarray, fails: np.ndarray) -> dict[str, float]:
    value = logistic.auroc(risk[chosen], fails[chosen].astype(float)) if chosen.sum() >= _LEAST else math.nan
    return {} if math.isnan(value) else {name: value}


def _interval_score(truth: np.ndarray, said: Said) -> float:
    """Width, and 2 / alpha for what the truth lies outside (Gneiting & Raftery 2007), mean over combinations."""
    outside = np.maximum(said.low - truth, 0) + np.maximum(truth - said.high, 0)
    return float(np.mean(said.high - said.low + 2 / _ALPHA * outside))


def _caught(world: World, risk: np.ndarray) -> float:
    """Of the failures that the first 5 % of what is met could hold, the share that risk x frequency puts there."""
    first = max(1, math.ceil(_FIRST * len(risk)))
    met = world.truth * world.frequency
    chosen = np.argsort(-risk * world.frequency, kind="stable")[:first]
    return float(met[chosen].sum() / np.sort(met)[-first:].sum())


def _causes(world: World, findings: list[Finding]) -> dict[str, float]:
    """How many causes were planted and found, and how many findings there are and are right."""
    at = np.flatnonzero(world.answers)
    rules = {name: one[at] for name, one in world.rules.items()}
    planted = [one.covers(world.rows[at], rules) for one in world.causes]
    right, innocent, hit = 0, 0, set()
    for one in findings:
        levels = _levels(world, one)
        covers = rules[one.rule] if one.rule else np.logical_and.reduce([world.rows[at, i] == j for i, j in levels])
        same = [number for number, mask in enumerate(planted) if (mask == covers).all()]
        hit.update(same)
        if world.effects:
            right += len(levels) == 1 and world.effects[levels[0][0]][levels[0][1]] > 0
        else:
            right += bool(same)
            innocent += not same and bool(levels) and any(set(levels) < set(own.pattern) for own in world.causes)
    return {
        "planted": float(len(planted)),
        "hit": float(len(hit)),
        "found": float(len(findings)),
        "right": float(right),
        "innocent": float(innocent),
        "any_found": float(bool(findings)),
    }


def _levels(world: World, finding: Finding) -> list[tuple[int, int]]:
    """(factor, level) of a pattern."""
    factors = list(world.space.factors)
    places = [(factors.index(name), world.space.factors[name]) for name in finding.pattern]
    names = [[str(level) for level in levels] for _, levels in places]
    given = finding.pattern.values()
    return [(i, own.index(level)) for (i, _), own, level in zip(places, names, given, strict=True)]
