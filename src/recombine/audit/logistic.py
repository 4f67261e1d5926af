"""Logistic regression whose weights cannot be negative, and how good a probability is.

    minimize  - sum_i y_i log p_i + (1 - y_i) log(1 - p_i)  +  strength / 2 |w|^2      with w >= 0

Every feature is made so that it rises with risk; a weight below zero would say that the better covered fails more,
and is more often chance than truth. Solved by Newton steps, each a small non-negative least-squares problem.
Targets may be shares: a combination on which 3 of 10 answers are wrong has y = .3 and counts once.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

_STEPS = 60
_FLOOR = 1e-6


@dataclass(frozen=True)
class Logistic:
    """A fitted model on standardized features."""

    intercept: float
    weights: np.ndarray
    mean: np.ndarray
    scale: np.ndarray  # 0 where a feature did not vary; it has no weight then

    def probability(self, values: np.ndarray) -> np.ndarray:
        return sigmoid(self.intercept + _standardized(values, self.mean, self.scale) @ self.weights)


def fit(values: np.ndarray, target: np.ndarray, strength: float, times: np.ndarray | None = None) -> Logistic:
    """The model; `times` says how often each row counts."""
    from scipy.optimize import nnls  # here, since importing it takes a third of a second

    times = np.ones(len(target)) if times is None else times.astype(float)
    total = times.sum()
    mean = times @ values / total
    scale = np.sqrt(np.maximum(times @ (values - mean) ** 2 / total, 0))
    scale = np.where(scale > 1e-9, scale, 0.0)
    x = _standardized(values, mean, scale)
    share = float(np.clip(times @ target / total, 0.5 / (total + 1), 1 - 0.5 / (total + 1)))
    used = np.flatnonzero(scale)
    x = x[:, used]
    b, w = math.log(share / (1 - share)), np.zeros(len(used))
    loss = _loss(x, target, times, b, w, strength)
    for _ in range(_STEPS):
        p = sigmoid(b + x @ w)
        curve = np.maximum(times * p * (1 - p), 1e-9)
        # unknowns: the intercept's positive and negative part, then the weights, all at least zero
        design = np.column_stack([np.ones(len(x)), x])
        hessian = design.T @ (design * curve[:, None])
        hessian[np.arange(1, len(hessian)), np.arange(1, len(hessian))] += strength
        hessian[0, 0] += 1e-6
        right = hessian @ np.append(b, w) + design.T @ (times * (target - p)) - np.append(1e-6 * b, strength * w)
        root = np.linalg.cholesky(hessian + 1e-10 * np.eye(len(hessian)) * hessian.trace())
        target_ = np.linalg.solve(root, right)
        doubled = np.column_stack([root.T[:, :1], -root.T[:, :1], root.T[:, 1:]])
        solution = nnls(doubled, target_)[0]
        step_b, step_w = solution[0] - solution[1] - b, solution[2:] - w
        size = 1.0
        while size > 1e-4:  # halve until the loss falls
            tried = _loss(x, target, times, b + size * step_b, w + size * step_w, strength)
            if tried <= loss:
                break
            size /= 2
        else:
            break
        b, w = b + size * step_b, w + size * step_w
        done = loss - tried < 1e-9 * (1 + abs(loss))
        loss = tried
        if done:
            break
    weights = np.zeros(values.shape[1])
    weights[used] = w
    return Logistic(float(b), weights, mean, scale)


def folds(n: int, parts: int, seed: int) -> np.ndarray:
    """A fold for each of n combinations, of sizes as equal as can be."""
    return np.random.default_rng(seed).permutation(np.arange(n) % min(parts, n))


def cross_validated(values: np.ndarray, target: np.ndarray, strength: float, fold: np.ndarray) -> np.ndarray:
    """Probabilities for each combination by models that did not see it."""
    found = np.empty(len(target))
    for part in np.unique(fold):
        held = fold == part
        found[held] = fit(values[~held], target[~held], strength).probability(values[held])
    return found


def log_loss(probability: np.ndarray, target: np.ndarray) -> float:
    p = np.clip(probability, _FLOOR, 1 - _FLOOR)
    return float(-np.mean(target * np.log(p) + (1 - target) * np.log(1 - p)))


def brier(probability: np.ndarray, target: np.ndarray) -> float:
    """Mean squared error against single answers: a target of .3 is three ones and seven zeros."""
    return float(np.mean(target * (1 - probability) ** 2 + (1 - target) * probability**2))


def auroc(probability: np.ndarray, target: np.ndarray) -> float:
    """Chance that a failure has a higher probability than a success, ties half; NaN if one of them is lacking."""
    order = np.argsort(probability, kind="stable")
    p, failed = probability[order], target[order]
    right = 1 - failed
    starts = np.append(True, p[1:] != p[:-1]).cumsum() - 1  # ties share a group
    failed, right = np.bincount(starts, failed), np.bincount(starts, right)
    below = np.cumsum(right) - right
    total = failed.sum() * right.sum()
    return float((failed * (below + right / 2)).sum() / total) if total > 0 else math.nan


@dataclass(frozen=True)
class Bin:
    """Predictions of like size: what was said and what happened."""

    low: float
    high: float
    said: float
    happened: float
    combinations: int
    groups: int  # combinations that were judged together (a family of worlds) are one


def calibration(
    probability: np.ndarray, target: np.ndarray, bins: int = 10, units: np.ndarray | None = None
) -> list[Bin]:
    """Bins of equal width; those without a prediction are left out. `units` numbers the group of each combination."""
    place = np.minimum((probability * bins).astype(int), bins - 1)
    found = []
    for number in np.unique(place).tolist():
        chosen = place == number
        said, happened = float(probability[chosen].mean()), float(target[chosen].mean())
        n = int(chosen.sum())
        groups = n if units is None else len(np.unique(units[chosen]))
        found.append(Bin(number / bins, (number + 1) / bins, said, happened, n, groups))
    return found


def calibration_error(bins: list[Bin]) -> float:
    """Expected calibration error: the mean gap between what was said and what happened."""
    total = sum(one.combinations for one in bins)
    return sum(one.combinations * abs(one.said - one.happened) for one in bins) / total if total else math.nan


def _standardized(values: np.ndarray, mean: np.ndarray, scale: np.ndarray) -> np.ndarray:
    return np.where(scale > 0, (values - mean) / np.where(scale > 0, scale, 1.0), 0.0)


def sigmoid(x: Any) -> Any:
    return 0.5 * (1 + np.tanh(0.5 * x))


def _loss(x: np.ndarray, y: np.ndarray, times: np.ndarray, b: float, w: np.ndarray, strength: float) -> float:
    z = b + x @ w
    return float(times @ (np.logaddexp(0, z) - y * z) + 0.5 * strength * (w @ w) + 0.5e-6 * b * b)
