"""Logistic regression on standardized numbers: the weight of each, and how sure the items make it.

    P(y = 1 | x) = 1 / (1 + exp(-b - w z)),   z = (x - mean) / sd
    minimize  - sum log P(y | x)  +  STRENGTH / 2 |w|^2

by Newton steps. The penalty is that of one item or so: it keeps weights finite where items are told apart without
error, or where all are right. The interval of a weight is w +- 1.96 se, se from the curvature at the minimum: that of
the items of one net, and nothing about another net.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

STRENGTH = 1.0
MOST_STEPS = 100
DONE = 1e-10  # of the squared step
WIDTH = 1.96  # standard errors on either side


@dataclass(frozen=True)
class Weights:
    """Standardized weights with the ends of their 95 % intervals over items.

    Args:
        value: (K,) the weights.
        low: the lower ends.
        high: the upper ends.
    """

    value: np.ndarray
    low: np.ndarray
    high: np.ndarray


def logit_weights(numbers: np.ndarray, right: np.ndarray) -> Weights:
    """The weights by which numbers of each item say whether it is right; 0 of a number that does not vary.

    Args:
        numbers: (N, K).
        right: (N,) whether each item is.
    """
    spread = numbers.std(0)
    z = np.where(spread > 0, (numbers - numbers.mean(0)) / np.where(spread > 0, spread, 1.0), 0.0)
    design = np.column_stack([np.ones(len(z)), z])
    y, w = right.astype(float), np.zeros(design.shape[1])
    price = np.array([1e-6, *[STRENGTH] * z.shape[1]])
    for _ in range(MOST_STEPS):
        gradient, curve = _slopes(design, y, w, price)
        step = np.linalg.solve(curve, gradient)
        size = 1.0
        while size > 1e-8 and _loss(design, y, w - size * step, price) > _loss(design, y, w, price):
            size /= 2
        w = w - size * step
        if float((size * step) @ (size * step)) < DONE:
            break
    error = np.sqrt(np.diag(np.linalg.inv(_slopes(design, y, w, price)[1])))[1:]
    return Weights(w[1:], w[1:] - WIDTH * error, w[1:] + WIDTH * error)


def _slopes(design: np.ndarray, y: np.ndarray, w: np.ndarray, price: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    p = 0.5 * (1 + np.tanh(0.5 * (design @ w)))
    return design.T @ (p - y) + price * w, design.T @ (design * (p * (1 - p))[:, None]) + np.diag(price)


def _loss(design: np.ndarray, y: np.ndarray, w: np.ndarray, price: np.ndarray) -> float:
    z = design @ w
    return float((np.logaddexp(0, z) - y * z).sum() + 0.5 * (price * w * w).sum())
