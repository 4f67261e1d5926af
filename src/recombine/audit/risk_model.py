"""A model of failure: features of a combination -> probability, interval, or nothing where it was never taught.

The interval is the widest of two: what the same fit gives on combinations drawn again (95 %), and Wilson's interval of
what happened at predictions of that size on combinations the fit had not seen. It is about the rate at which
combinations like this one fail. A model that is judged on families of worlds is asked about yet another one, so there
a family is one trial, however many combinations it has: with three families no interval is narrow.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from ..errors import UserError
from . import logistic
from .features import STRUCTURAL, Features
from .logistic import Bin, Logistic
from .rates import wilson

FORMAT = 2
KIND = "recombine-risk"
STRENGTHS = (0.03, 0.3, 3.0, 30.0)
FOLDS = 5
_MOST = 5_000  # combinations a model is fitted on
_DRAWS = 100
_AT_ONCE = 20_000  # combinations that all draws are asked about at once
_SHUFFLES = 199
_TEST_STRENGTH = 3.0
SIGNAL = 0.01  # p value below which failure is taken to have to do with the features
SKILL = 0.02  # by which share the Brier score of the base rate must be beaten, too
_MARGIN = 0.1  # of a structural feature's range: so far beyond it a prediction is still made
_MATERIAL = 0.25  # log odds that any other feature may add by lying beyond its range


@dataclass(frozen=True)
class Quality:
    """How good the probabilities are for combinations that the fit had not seen."""

    auroc: float
    brier: float
    brier_of_the_rate: float  # if the base rate were said everywhere
    calibration_error: float
    auroc_within: float  # among the combinations that are asked about: unseen ones
    p_value: float  # that outcomes shuffled among combinations would be fitted as well
    bins: list[Bin]

    @property
    def signal(self) -> bool:
        return self.p_value <= SIGNAL and self.brier < (1 - SKILL) * self.brier_of_the_rate

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class RiskModel:
    """A model of failure: weights, what they were learned on, and how good they are.

    Args:
        names: of the features.
        model: the logistic model.
        draws: the same fit to combinations drawn again, for the interval.
        low: the least value of each feature where it was learned.
        high: the largest one.
        strength: of the penalty.
        combinations: how many it was learned on.
        base_rate: share of these that failed.
        quality: how good its probabilities are for combinations that the fit had not seen.
        provenance: where they come from.

    Example:
        >>> prior = rc.audit.shipped_prior()
        >>> len(prior.weights) == len(prior.names), prior.quality.signal
        (True, True)
    """

    names: tuple[str, ...]
    model: Logistic
    draws: list[Logistic]
    low: np.ndarray  # of each feature, where it was learned
    high: np.ndarray
    strength: float
    combinations: int
    base_rate: float
    quality: Quality
    provenance: dict[str, Any] = field(default_factory=dict)

    def outside(self, features: Features) -> np.ndarray:
        """(combinations, names): which features lie beyond what was learned on, where that matters."""
        values = self._values(features)
        excess = np.maximum(np.maximum(self.low - values, values - self.high), 0)
        structural = np.isin(self.names, STRUCTURAL) & (excess > _MARGIN * (self.high - self.low) + 1e-9)
        scale = np.where(self.model.scale > 0, self.model.scale, np.inf)
        return structural | (excess / scale * self.model.weights > _MATERIAL)

    def predict(self, features: Features) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Probability of failure, and its interval."""
        values = self._values(features)
        p = self.model.probability(values)
        low, high = self._spread(values)
        bins = self.quality.bins
        ends = np.array([wilson(one.happened * one.groups, one.groups) for one in bins])
        # what is said to be riskier is taken to fail no less often: a bin of few borrows from its neighbors
        ends[:, 0] = np.maximum.accumulate(ends[:, 0])
        ends[:, 1] = np.minimum.accumulate(ends[::-1, 1])[::-1]
        # a prediction between two bins gets what both of them say
        above = np.minimum(np.searchsorted([one.high for one in bins], p, side="right"), len(bins) - 1)
        inside = p >= np.array([one.low for one in bins])[above]
        below = np.where(inside, above, np.maximum(above - 1, 0))
        low = np.minimum.reduce([low, ends[above, 0], ends[below, 0], p])
        return p, low, np.maximum.reduce([high, ends[above, 1], ends[below, 1], p])

    def _spread(self, values: np.ndarray) -> np.ndarray:
        """(2, n): between which ends the fits to combinations drawn again lie, some combinations at a time."""
        used = [np.where(draw.scale > 0, draw.scale, np.inf) for draw in self.draws]
        slopes = np.stack([draw.weights / scale for draw, scale in zip(self.draws, used, strict=True)])
        starts = np.array([draw.intercept for draw in self.draws])
        starts = starts - (slopes * np.stack([draw.mean for draw in self.draws])).sum(1)
        found = np.empty((2, len(values)))
        for at in range(0, len(values), _AT_ONCE):
            logits = starts[:, None] + slopes @ values[at : at + _AT_ONCE].T  # (draws, combinations)
            found[:, at : at + _AT_ONCE] = np.quantile(logistic.sigmoid(logits), [0.025, 0.975], axis=0)
        return found

    @property
    def weights(self) -> dict[str, float]:
        """Log odds for a standard deviation of each feature."""
        return dict(zip(self.names, self.model.weights.tolist(), strict=True))

    def _values(self, features: Features) -> np.ndarray:
        return np.stack([features[name] for name in self.names], axis=1)

    # -- as data --------------------------------------------------------------------------------------------------
    def to_json(self) -> dict[str, Any]:
        return {
            "kind": KIND,
            "format": FORMAT,
            "features": list(self.names),
            "mean": self.model.mean.tolist(),
            "scale": self.model.scale.tolist(),
            "weights": self.model.weights.tolist(),
            "intercept": self.model.intercept,
            "draws": [[d.intercept, d.mean.tolist(), d.scale.tolist(), d.weights.tolist()] for d in self.draws],
            "low": self.low.tolist(),
            "high": self.high.tolist(),
            "strength": self.strength,
            "combinations": self.combinations,
            "base_rate": self.base_rate,
            "quality": self.quality.to_json(),
            "provenance": self.provenance,
        }

    @classmethod
    def from_json(cls, data: Any, name: str, known: Sequence[str]) -> RiskModel:
        """The model that `to_json` wrote; refused if it is another thing, or names a feature that is not there."""
        try:
            if not isinstance(data, dict) or data["kind"] != KIND:
                raise UserError(f"{name} is not a risk model of recombine")
            if data["format"] != FORMAT:
                raise UserError(f"{name} is of format {data['format']!r} and this version reads {FORMAT}")
            if strange := [n for n in data["features"] if n not in known]:
                raise UserError(f"{name} needs the feature {strange[0]!r}, which this version does not have")
            quality = dict(data["quality"])
            bins = [_numbers(Bin, one) for one in quality.pop("bins")]
            n = len(data["features"])
            draws = [Logistic(float(b), _row(w, n), _row(m, n), _row(s, n)) for b, m, s, w in data["draws"]]
            weights, mean, scale = (_row(data[name], n) for name in ("weights", "mean", "scale"))
            shares = [share for one in bins for share in (one.low, one.high, one.said, one.happened)]
            whole = bins and draws and len(set(data["features"])) == n and math.isfinite(data["intercept"])
            if not whole or not all(0 <= share <= 1 for share in shares) or min(*weights, *scale) < 0:
                raise ValueError("not what a fit gives")
            return cls(
                tuple(data["features"]),
                Logistic(float(data["intercept"]), weights, mean, scale),
                draws,
                _row(data["low"], n),
                _row(data["high"], n),
                float(data["strength"]),
                int(data["combinations"]),
                float(data["base_rate"]),
                _numbers(Quality, quality, bins=bins),
                dict(data["provenance"]),
            )
        except (KeyError, TypeError, ValueError, IndexError, OverflowError, AttributeError) as problem:
            if isinstance(problem, UserError):
                raise
            raise UserError(
                f"{name} is damaged ({type(problem).__name__}); make it again with `recombine risk fit`"
            ) from None

    def to_bytes(self) -> bytes:
        return (json.dumps(self.to_json(), indent=1, sort_keys=True, allow_nan=False) + "\n").encode()


def _numbers(kind: Any, data: Any, **more: Any) -> Any:
    """A record of nothing but numbers."""
    if any(isinstance(value, bool) or not isinstance(value, (int, float)) for value in dict(data).values()):
        raise ValueError("not a number")
    return kind(**data, **more)


def _row(values: Any, n: int) -> np.ndarray:
    row = np.asarray(values, dtype=float)
    if row.shape != (n,) or not np.isfinite(row).all():
        raise ValueError("not a row of numbers")
    return row


def fit_risk(
    features: Features,
    failed: np.ndarray,
    *,
    groups: np.ndarray | None = None,
    seed: int = 0,
    within: np.ndarray | None = None,
    provenance: dict[str, Any] | None = None,
) -> RiskModel:
    """Fits and judges a model. `failed` holds the share of wrong answers; needs both failures and successes.

    Cross-validation is by combination or, where `groups` are given, by group. The strength of the penalty is chosen
    anew for each fold that judges, without it. `within` marks combinations whose ranking is judged by itself, too.
    """
    rng = np.random.default_rng(seed)
    if len(failed) > _MOST:
        chosen = np.sort(rng.choice(len(failed), _MOST, replace=False))
        features, failed = features.at(chosen), failed[chosen]
        groups = None if groups is None else groups[chosen]
        within = None if within is None else within[chosen]
    x, n = features.values, len(failed)
    units = np.arange(n) if groups is None else np.unique(groups, return_inverse=True)[1].ravel()
    several = int(units.max()) + 1
    judge = logistic.folds(several, FOLDS, seed + 2)[units]
    strength = choose_strength(x, failed, units, seed)
    said = np.empty(n)
    for part in np.unique(judge):
        held = judge == part
        own = choose_strength(x[~held], failed[~held], np.unique(units[~held], return_inverse=True)[1], seed)
        said[held] = logistic.fit(x[~held], failed[~held], own).probability(x[held])
    model = logistic.fit(x, failed, strength)
    bins = logistic.calibration(said, failed, units=units)
    rate = float(failed.mean())
    quality = Quality(
        auroc=logistic.auroc(said, failed),
        auroc_within=logistic.auroc(said[within], failed[within])
        if within is not None
        else logistic.auroc(said, failed),
        brier=logistic.brier(said, failed),
        brier_of_the_rate=logistic.brier(np.full(n, rate), failed),
        calibration_error=logistic.calibration_error(bins),
        p_value=_p_value(x, failed, rng),
        bins=bins,
    )
    draws = []
    for _ in range(_DRAWS):
        drawn = np.bincount(rng.integers(0, several, several), minlength=several)[units]
        if 0 < (drawn @ failed) < drawn.sum():
            draws.append(logistic.fit(x, failed, strength, drawn))
    return RiskModel(
        features.names, model, draws or [model], x.min(0), x.max(0), strength, n, float(rate), quality, provenance or {}
    )


def choose_strength(x: np.ndarray, failed: np.ndarray, units: np.ndarray, seed: int = 0) -> float:
    """The strength of the penalty that does best in cross-validation by unit: a number from 0 for each row."""
    if not units.any():  # one unit cannot be cut in two
        return _TEST_STRENGTH
    fold = logistic.folds(int(units.max()) + 1, FOLDS, seed + 1)[units]
    losses = [logistic.log_loss(logistic.cross_validated(x, failed, s, fold), failed) for s in STRENGTHS]
    return STRENGTHS[int(np.argmin(losses))]


def _p_value(x: np.ndarray, failed: np.ndarray, rng: np.random.Generator) -> float:
    """How often outcomes shuffled among combinations are fitted as well; stops when there clearly is no signal.

    The strength is fixed beforehand: chosen by the outcomes, it would favor them over their shuffles.
    """

    def misfit(target: np.ndarray) -> float:
        return logistic.log_loss(logistic.fit(x, target, _TEST_STRENGTH).probability(x), target)

    found = misfit(failed)
    as_good = 0
    for done in range(1, _SHUFFLES + 1):
        as_good += misfit(rng.permutation(failed)) <= found
        if as_good >= 10:
            return (1 + as_good) / (1 + done)
    return (1 + as_good) / (1 + _SHUFFLES)
