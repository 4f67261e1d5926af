"""A torch layer that runs several times in one pass, or has two names."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed; `make check-extras` runs these tests")

from torch import nn  # noqa: E402

import recombine as rc  # noqa: E402

capture = rc.adapters.torch.capture
X = torch.linspace(-1, 1, 15).reshape(5, 3)


class Twice(nn.Module):
    def forward(self, x):
        return 2 * x


class Thrice(nn.Module):
    def __init__(self):
        super().__init__()
        self.twice = Twice()

    def forward(self, x):
        return self.twice(self.twice(self.twice(x)))


def test_a_layer_that_runs_several_times():
    x = X.numpy()
    np.testing.assert_array_equal(capture(Thrice(), [X], "twice")["twice"], 8 * x)
    np.testing.assert_array_equal(capture(Thrice(), [X], "twice", calls="first")["twice"], 2 * x)
    found = capture(Thrice(), [X, X], ["twice", "(output)"], calls="all")
    assert list(found) == ["(output)", "twice#0", "twice#1", "twice#2"]
    np.testing.assert_array_equal(found["twice#1"], np.concatenate([4 * x, 4 * x]))


def test_a_layer_of_two_names():
    net = nn.Module()
    net.a = net.b = nn.Linear(3, 2)
    net.forward = lambda x: net.a(x)
    found = capture(net, [X], ["a", "b"])
    np.testing.assert_array_equal(found["a"], found["b"])
