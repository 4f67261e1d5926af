"""Kernels that know of two combinations only how many components they share, and exact fits with them.

Such a kernel is C + 1 numbers kappa_0 <= ... <= kappa_C. Its salience at order c is what sharing c components adds over
all that fewer of them give, as a share of kappa_C - kappa_0: sal_0 = kappa_0, sal_c = kappa_c - sum_(j<c) C(c, j) sal_j
(Lippl, Stachenfeld 2025; in this form in its public code, analysis/fig-3.Rmd).
"""

from __future__ import annotations

import itertools
from math import comb

import numpy as np
from scipy.optimize import nnls

from .symbolic_problems import Problem

RIDGE = 1e-10  # of an exact fit
FREE = 100.0  # added to a kernel, so that its intercept costs next to nothing


def random_relu_kernel(components: int, depth: int) -> np.ndarray:
    """(components + 1,): the kernel of a wide random ReLU net on one-hot codes, by components that are shared."""
    kappa = np.arange(components + 1) / components
    for _ in range(depth):
        kappa = np.clip(kappa / kappa[-1], -1, 1)
        kappa = kappa + (np.sqrt(1 - kappa**2) - np.arccos(kappa) * kappa) / np.pi
    return kappa / kappa[-1]


def saliences(kappa: np.ndarray) -> np.ndarray:
    """(components,): of orders 1 to C; with the numbers of conjunctions of each order they sum to 1."""
    found: list[float] = []
    for order, value in enumerate(kappa):
        found.append(value - sum(comb(order, j) * found[j] for j in range(order)))
    return np.array(found[1:]) / (kappa[-1] - kappa[0])


def leak_slope(salience: float, known: int) -> float:
    """Proposition 5.1: what sums of unseen pairs are multiplied by, for the salience of one component out of two."""
    return known * salience / (1 + (known - 2) * salience)


def by_overlap(problem: Problem, kappa: np.ndarray) -> np.ndarray:
    """(combinations, combinations): the kernel matrix."""
    return kappa[(problem.rows[:, None] == problem.rows).sum(-1)]


def by_distance(problem: Problem) -> np.ndarray:
    """A kernel that knows how far symbols lie apart, too: it is not of this kind."""
    apart = ((problem.rows[:, None] - problem.rows) ** 2).sum(-1)
    return np.exp(-apart / 4.0)


def least_squares(problem: Problem, kernel: np.ndarray) -> np.ndarray:
    """(combinations,): what the kernel model of least norm that fits all trained combinations says."""
    inside = problem.trained
    gram = kernel[np.ix_(inside, inside)] + RIDGE * np.eye(inside.sum())
    return kernel[:, inside] @ np.linalg.solve(gram, problem.target[inside])


def largest_margin(problem: Problem, kernel: np.ndarray) -> np.ndarray:
    """(combinations,): what the kernel model of the largest margin says, as in a support vector machine.

    Least distance programming: the shortest w with y_i w.phi_i >= 1 follows from the residual of a fit with weights
    that are not negative (Lawson & Hanson 1974, chapter 23).
    """
    phi = np.linalg.cholesky(kernel + FREE + RIDGE * np.eye(len(kernel)))
    inside = problem.trained
    system = np.vstack([(problem.target[inside, None] * phi[inside]).T, np.ones(inside.sum())])
    wanted = np.zeros(len(system))
    wanted[-1] = 1.0
    weights, _ = nnls(system, wanted, maxiter=100 * len(system))
    left = system @ weights - wanted
    return phi @ (-left[:-1] / left[-1])


def additivity(problem: Problem, said: np.ndarray) -> float:
    """How much of what is said of held-out combinations is a sum over conjunctions seen in training: R2.

    As in the public code: fitted to all combinations, and read on those held out. 1 where nothing varies.
    """
    features = conjunctions(problem)
    off = (said - features @ np.linalg.lstsq(features, said, rcond=None)[0])[problem.held_out]
    there = said[problem.held_out]
    varies = float(((there - there.mean()) ** 2).sum())
    return 1.0 if varies < 1e-12 else 1.0 - float((off**2).sum()) / varies


def conjunctions(problem: Problem) -> np.ndarray:
    """(combinations, conjunctions): whether a combination has it, for every conjunction that training has."""
    rows, columns = problem.rows, [np.ones(len(problem.rows))]
    for order in range(1, rows.shape[1] + 1):
        for which in itertools.combinations(range(rows.shape[1]), order):
            part = rows[:, which]
            columns += [(part == one).all(1) for one in np.unique(part[problem.trained], axis=0)]
    return np.array(columns, float).T


def accuracy(problem: Problem, said: np.ndarray) -> float:
    """Share of held-out combinations with the right sign; one half of those with next to none."""
    right = np.where(np.abs(said) < 1e-6, 0.5, (np.sign(said) == problem.target).astype(float))
    return float(right[problem.held_out].mean())


def slope(problem: Problem, said: np.ndarray) -> float:
    """Of what is said of held-out combinations against what is right."""
    return float(np.polyfit(problem.target[problem.held_out], said[problem.held_out], 1)[0])
