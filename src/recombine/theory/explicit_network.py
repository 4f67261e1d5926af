"""Explicit networks: weights that are written down, not trained.

That a ReLU network of linear size computes the whole hyperteacher family is Theorem 3.1 of Redhardt, Akram, Schug 2025
(several hidden layers: Theorem A.5). The weights below are ours; the idea is the paper's. For identity-encoded z >= 0
and x in [-1, 1]:

    x_i w_ih(z) = B_i W_ih/4 * [ (x_i/B_i + w_ih/W_ih)^2 - (x_i/B_i - w_ih/W_ih)^2 ]       (polarization)

where w_ih(z) = sum_m z_m Theta_mih is linear in z, |w_ih| <= W_ih and |x_i| <= B_i, so that both squares are of
numbers in [-2, 2]. A square is a piecewise-linear interpolant s(v) with n equal pieces: 0 <= s(v) - v^2 <= 4/n^2. It
is made of n ReLU units side by side (`hyperteacher_network`), or of about log2 n layers of four (`sawtooth_network`). z
and biases are not negative, so a ReLU passes them on unchanged.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import jax.numpy as jnp
import numpy as np
from scipy import sparse

from ..encodings import Identity
from ..errors import UserError, require_int
from ..nets import MLPNet
from ..tasks import Hyperteacher
from .forms import Forms, Layer, last_units

#: adds units to a layer for the state it is given; the state as forms over that layer
_Step = Callable[..., tuple[Forms, ...]]


@dataclass(frozen=True)
class ExplicitNetwork:
    """A net with written-down weights, and what is proven of it.

    Args:
        net: a plain MLP.
        bound: (outputs,): the error is at most this, for every task and input of the family.
        hidden_units: how many it has.

    Example:
        >>> explicit = rc.theory.hyperteacher_network(rc.tasks.Hyperteacher(space, inputs=2, hidden=2), pieces=4)
        >>> explicit.bound.shape, explicit.hidden_units
        ((16,), 36)
    """

    net: MLPNet
    bound: np.ndarray  # (outputs,): the error is at most this, for every task and input of the family
    hidden_units: int


def hyperteacher_network(teacher: Hyperteacher, pieces: int) -> ExplicitNetwork:
    """A plain MLP that computes `teacher` for all of its tasks, with error of order 1/pieces^2.

    Args:
        teacher: with the encoding "identity".
        pieces: of each square, which is piecewise linear.

    Example:
        >>> teacher = rc.tasks.Hyperteacher(space, inputs=2, hidden=2)
        >>> coarse, fine = (rc.theory.hyperteacher_network(teacher, pieces) for pieces in (4, 8))
        >>> bool((fine.bound < coarse.bound).all())
        True
    """
    n = require_int("pieces", pieces, at_least=2)
    d = 4 / n
    knots = -2 + d * np.arange(n)
    # s(v) = 4 + (t_0 + t_1) relu(v - t_0) + sum_{j>=1} 2d relu(v - t_j); the 4 cancels between the two squares
    slopes = np.concatenate([[2 * knots[0] + d], np.full(n - 1, 2 * d)])

    def square(layer: Layer, v: Forms) -> tuple[Forms]:
        each, eye = sparse.csr_array(np.ones((n, 1))), sparse.eye_array(len(v))
        units = layer.relu(v.mixed(sparse.kron(eye, each)).shifted(-np.tile(knots, len(v))))
        return (units.mixed(sparse.kron(eye, slopes[None])),)

    return _explicit(teacher, [square], error=4 / n**2)


def sawtooth_network(teacher: Hyperteacher, depth: int) -> ExplicitNetwork:
    """The same by composing sawtooth functions: error of order 4^-depth with about 4 depth units per square.

    Args:
        teacher: with the encoding "identity".
        depth: how many sawtooth functions are composed.

    Example:
        >>> teacher = rc.tasks.Hyperteacher(space, inputs=2, hidden=2)
        >>> deep, flat = rc.theory.sawtooth_network(teacher, 6), rc.theory.hyperteacher_network(teacher, 64)
        >>> deep.hidden_units < flat.hidden_units
        True
    """
    m = require_int("depth", depth, at_least=1)

    def absolute(layer: Layer, v: Forms) -> tuple[Forms, Forms]:
        y = 0.5 * (layer.relu(v) + layer.relu(-1.0 * v))  # |v|/2 lies in [0, 1]
        return y, y

    def tooth(s: int) -> _Step:
        def step(layer: Layer, y: Forms, square: Forms) -> tuple[Forms, ...]:
            """y -> g(y), twice as many teeth; y_0^2 is y_0 - sum_s g_s / 4^s up to 4^-(m+1)."""
            g = 2.0 * layer.relu(y) + -4.0 * layer.relu(y.shifted(-0.5)) + 2.0 * layer.relu(y.shifted(-1.0))
            square = layer.relu(square) + -(4.0**-s) * g  # it interpolates a square from above: never negative
            return (g, square) if s < m else (4.0 * square,)  # v^2 = 4 (|v|/2)^2

        return step

    return _explicit(teacher, [absolute, *(tooth(s) for s in range(1, m + 1))], error=4.0**-m)


def _explicit(teacher: Hyperteacher, steps: Sequence[_Step], error: float) -> ExplicitNetwork:
    """Writes the net down, layer by layer; `steps` compute squares on [-2, 2] with an error in [0, `error`]."""
    if type(teacher) is not Hyperteacher:  # its control worlds teach something else
        raise UserError(f"the explicit network is that of a Hyperteacher, not of {type(teacher).__name__}")
    if not isinstance(teacher.encoding, Identity):
        raise UserError("the explicit network reads z itself: it is for the encoding 'identity'")
    m, k = len(teacher.constituent_names), teacher.space.width
    layers: list[tuple[np.ndarray, np.ndarray]] = []

    def layer_of(step: _Step, state: Sequence[Forms], carried: list[Forms]) -> tuple[tuple[Forms, ...], list[Forms]]:
        layer = Layer(layers[-1][0].shape[1] if layers else m + teacher.inputs)
        state = step(layer, *state)
        carried = [layer.relu(forms) for forms in carried]  # z and biases: never negative, so unchanged
        layers.append(layer.kernel())
        return tuple(state), carried

    z = Forms(sparse.csr_array(sparse.eye_array(m, m + teacher.inputs)), np.zeros(m))
    x = last_units(teacher.inputs, m + teacher.inputs)
    largest, off = np.ones(teacher.inputs), np.zeros(teacher.inputs)  # |x_i| <= largest, error <= off
    for depth, (modules, biases) in enumerate(zip(teacher.modules, teacher.biases, strict=True), start=1):
        theta = np.asarray(modules, np.float64) * teacher.scale  # (M, I, H)
        b = np.asarray(biases, np.float64) * teacher.scale
        _, i, h = theta.shape
        top = np.maximum(np.sort(np.abs(theta), axis=0)[-k:].sum(0), 1e-30)  # W_ih: z has K entries of at most 1
        w = z.mixed(sparse.csr_array((theta / top).reshape(m, i * h).T))
        inputs = x.mixed(sparse.kron(sparse.diags_array(1 / largest), np.ones((h, 1))))  # x_i / B_i, for each h
        carried = [z.mixed(sparse.csr_array(b.T)), z][: 2 if depth < len(teacher.modules) else 1]  # z for later layers
        plus_minus = (inputs + w).mixed(_first(i * h)) + (inputs + -1.0 * w).mixed(_second(i * h))
        state: tuple[Forms, ...] = (plus_minus,)
        for step in steps:
            state, carried = layer_of(step, state, carried)
        # a_h = sum_i B_i W_ih / 4 (s(+) - s(-)) + b_h(z)
        factors = (largest[:, None] * top / 4).ravel()
        gather = sparse.kron(np.ones((1, i)), sparse.eye_array(h)) @ sparse.diags_array(factors)
        products = state[0].mixed(sparse.hstack([gather, -gather])) + carried[0]
        (x,), later = layer_of(lambda layer, a: (layer.relu(a),), (products,), carried[1:])
        z = later[0] if later else z
        off = (top * (off[:, None] + largest[:, None] * error / 4)).sum(0)
        largest = (largest[:, None] * top).sum(0) * (1 + error / 4) + np.sort(b, axis=0)[-k:].sum(0)
    readout = np.asarray(teacher.readout, np.float64)
    layers.append((np.asarray(x.over(layers[-1][0].shape[1]).T @ readout), np.zeros(readout.shape[1])))
    kernels, constants = zip(*layers, strict=True)
    net = MLPNet(
        tuple(jnp.asarray(w, jnp.float32) for w in kernels), tuple(jnp.asarray(c, jnp.float32) for c in constants)
    )
    return ExplicitNetwork(net, np.abs(readout).T @ off, sum(len(c) for c in constants[:-1]))


def _first(n: int) -> Any:
    return sparse.csr_array(sparse.eye_array(2 * n, n))


def _second(n: int) -> Any:
    return sparse.csr_array(sparse.eye_array(2 * n, n, k=-n))
