"""How errors of single steps compound over depth and width, as bounds on accuracy (Dziri et al. 2023).

    eps     chance that a step whose inputs are right goes wrong
    c       chance that a step whose inputs are wrong comes out right

Over depth, accuracy follows s_1 = 1 - eps, s_n <= (1 - eps - c) s_{n-1} + c, and so tends to c / (c + eps). Over width,
with n independent parts and an answer that is right by collision with chance c_n, the chance to be wrong is at least
(1 - c_n) (1 - (1 - eps)^n).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..errors import UserError


class StepRates(NamedTuple):
    """Estimates from labels of nodes; NaN where no step was of the kind."""

    eps: float
    c: float
    steps_right: int  # with right inputs
    steps_wrong: int  # with a wrong one


def step_rates(right: np.ndarray, parents_right: np.ndarray) -> StepRates:
    """eps and c from steps: how often one is wrong after right inputs, and right after a wrong one.

    Args:
        right: (steps,) whether the value of each is right.
        parents_right: (steps,) whether all that it was computed from is.

    Example:
        >>> from recombine.statistics.compounding import step_rates
        >>> step_rates(np.array([True, False, True, False]), np.array([True, True, False, False]))[:2]
        (0.5, 0.5)
    """
    right, after_right = np.ravel(right).astype(bool), np.ravel(parents_right).astype(bool)
    eps = float((~right[after_right]).mean()) if after_right.any() else float("nan")
    c = float(right[~after_right].mean()) if (~after_right).any() else float("nan")
    return StepRates(eps, c, int(after_right.sum()), int((~after_right).sum()))


def accuracy_over_depth(depth: np.ndarray | int, eps: float, c: float) -> np.ndarray:
    """The bound on accuracy after that many steps in a chain.

    Args:
        depth: numbers of steps, 1 at least.
        eps: chance that a step after right ones is wrong.
        c: chance that a step after a wrong one is right.

    Example:
        >>> from recombine.statistics.compounding import accuracy_over_depth
        >>> accuracy_over_depth(np.array([1, 2]), eps=0.1, c=0.0).round(3).tolist()
        [0.9, 0.81]
    """
    eps, c = _chance("eps", eps), _chance("c", c)
    depth = np.asarray(depth)
    if eps + c == 0:
        return np.ones(depth.shape)
    limit = c / (c + eps)
    return limit + (1 - eps - c) ** (depth - 1.0) * (1 - eps - limit)


def accuracy_over_width(width: np.ndarray | int, eps: float, collision: float = 0.0) -> np.ndarray:
    """The bound on accuracy where that many independent parts have to be right.

    Args:
        width: numbers of parts.
        eps: chance that a part is wrong.
        collision: chance that the answer is right though a part is wrong.

    Example:
        >>> from recombine.statistics.compounding import accuracy_over_width
        >>> accuracy_over_width(np.array([1, 2]), eps=0.1).round(3).tolist()
        [0.9, 0.81]
    """
    eps, collision = _chance("eps", eps), _chance("collision", collision)
    return collision + (1 - eps) ** np.asarray(width, float) * (1 - collision)


def _chance(name: str, value: float) -> float:
    if not 0 <= value <= 1:
        raise UserError(f"{name}={value} is no chance; it lies between 0 and 1, such as 0.1")
    return float(value)
