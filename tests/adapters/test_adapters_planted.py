"""Adapters and probes together: a module made by hand whose truth is known."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed; `make check-extras` runs these tests")

from torch import nn  # noqa: E402

import recombine as rc  # noqa: E402
from recombine.statistics import ridge  # noqa: E402

LEVELS = 6


def planted(apart: bool) -> nn.Module:
    """Two attributes as one-hots -> a hidden layer that holds each by itself, or only their combination.

    Apart: the levels themselves. Entangled: a unit for every combination, on if both its levels are, so that nothing
    about a combination can be read by weights learned on others. Either is then turned at random, so that no unit tells
    anything by itself.
    """
    first, turned = nn.Linear(2 * LEVELS, LEVELS**2), nn.Linear(LEVELS**2, LEVELS**2, bias=False)
    with torch.no_grad():
        first.weight.zero_()
        first.bias.zero_()
        if apart:
            first.weight[: 2 * LEVELS] = torch.eye(2 * LEVELS)
        else:
            for a in range(LEVELS):
                for b in range(LEVELS):
                    first.weight[a * LEVELS + b, [a, LEVELS + b]] = 1.0
            first.bias.fill_(-1.0)
        random = torch.randn(LEVELS**2, LEVELS**2, generator=torch.Generator().manual_seed(0))
        turned.weight.copy_(torch.linalg.qr(random)[0])
    return nn.Sequential(first, nn.ReLU(), turned)


def r2(hidden: np.ndarray, levels: np.ndarray, fitted: np.ndarray, scored: np.ndarray) -> float:
    targets = np.eye(LEVELS)[levels]
    weights, intercept = ridge.fit(hidden[fitted].astype(float), targets[fitted], 1e-3)
    return float(ridge.r2_by_target(hidden[scored] @ weights + intercept, targets[scored]).mean())


@pytest.mark.parametrize("apart", [True, False])
def test_only_attributes_held_apart_are_read_on_unseen_combinations(apart):
    a, b = (grid.ravel() for grid in np.meshgrid(range(LEVELS), range(LEVELS), indexing="ij"))
    inputs = torch.tensor(np.hstack([np.eye(LEVELS)[a], np.eye(LEVELS)[b]]), dtype=torch.float32)
    hidden = rc.adapters.torch.capture(planted(apart), inputs.split(7), "2")["2"]
    held_out = (a + b) % 3 == 0  # every level is seen, with four of the other's six
    for attribute in (a, b):
        assert r2(hidden, attribute, ~held_out, ~held_out) > 0.99  # in both it can be read where it was seen
        unseen = r2(hidden, attribute, ~held_out, held_out)
        assert unseen > 0.99 if apart else unseen < 0.05
