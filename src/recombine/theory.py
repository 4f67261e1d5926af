"""Theory: nets whose weights are written down, not trained.

That a ReLU network of linear size computes the whole hyperteacher family is Theorem 3.1 of Redhardt, Akram, Schug 2025
(several hidden layers: Theorem A.5). The weights below are ours; the idea is the paper's. For identity-encoded z >= 0
and x in [-1, 1]:

    x_i w_ih(z) = B_i W_ih/4 * [ (x_i/B_i + w_ih/W_ih)^2 - (x_i/B_i - w_ih/W_ih)^2 ]       (polarization)

where w_ih(z) = sum_m z_m Theta_mih is linear in z, |w_ih| <= W_ih and |x_i| <= B_i, so that both squares are of
numbers in [-2, 2]. A square is a piecewise-linear interpolant s(v) with n equal pieces: 0 <= s(v) - v^2 <= 4/n^2. It
is made of n ReLU units side by side (`hyperteacher_network`), or of about log2 n layers of four (`sawtooth_network`). z
and biases are not negative, so a ReLU passes them on unchanged.

The converse, that no learner of any kind can succeed where training never connects two blocks of modules, is an
executable counterexample: `indistinguishable_teacher` agrees with a teacher on every task inside the blocks and differs
on those across (after an argument of Schug et al. 2024; the construction is ours).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from scipy import sparse

from .encodings import Identity
from .errors import UserError, require_int
from .nets import MLPNet
from .tasks import Hyperteacher


@dataclass(frozen=True)
class ExplicitNetwork:
    """A net with written-down weights, and what is proven of it."""

    net: MLPNet
    bound: np.ndarray  # (outputs,): the error is at most this, for every task and input of the family
    hidden_units: int


def hyperteacher_network(teacher: Hyperteacher, pieces: int) -> ExplicitNetwork:
    """A plain MLP that computes `teacher` for all of its tasks, with error of order 1/pieces^2."""
    n = require_int("pieces", pieces, at_least=2)
    d = 4 / n
    knots = -2 + d * np.arange(n)
    # s(v) = 4 + (t_0 + t_1) relu(v - t_0) + sum_{j>=1} 2d relu(v - t_j); the 4 cancels between the two squares
    slopes = np.concatenate([[2 * knots[0] + d], np.full(n - 1, 2 * d)])

    def square(layer: _Layer, v: _Forms) -> tuple[_Forms]:
        each, eye = sparse.csr_array(np.ones((n, 1))), sparse.eye_array(len(v))
        units = layer.relu(v.mixed(sparse.kron(eye, each)).shifted(-np.tile(knots, len(v))))
        return (units.mixed(sparse.kron(eye, slopes[None])),)

    return _explicit(teacher, [square], error=4 / n**2)


def sawtooth_network(teacher: Hyperteacher, depth: int) -> ExplicitNetwork:
    """The same by composing sawtooth functions: error of order 4^-depth with about 4 depth units a square."""
    m = require_int("depth", depth, at_least=1)

    def absolute(layer: _Layer, v: _Forms) -> tuple[_Forms, _Forms]:
        y = 0.5 * (layer.relu(v) + layer.relu(-1.0 * v))  # |v|/2 lies in [0, 1]
        return y, y

    def tooth(s: int) -> _Step:
        def step(layer: _Layer, y: _Forms, square: _Forms) -> tuple[_Forms, ...]:
            """y -> g(y), twice as many teeth; y_0^2 is y_0 - sum_s g_s / 4^s up to 4^-(m+1)."""
            g = 2.0 * layer.relu(y) + -4.0 * layer.relu(y.shifted(-0.5)) + 2.0 * layer.relu(y.shifted(-1.0))
            square = layer.relu(square) + -(4.0**-s) * g  # it interpolates a square from above: never negative
            return (g, square) if s < m else (4.0 * square,)  # v^2 = 4 (|v|/2)^2

        return step

    return _explicit(teacher, [absolute, *(tooth(s) for s in range(1, m + 1))], error=4.0**-m)


def indistinguishable_teacher(teacher: Hyperteacher, block_of: Sequence[int]) -> Hyperteacher:
    """A teacher that equals `teacher` on all tasks inside the blocks and differs on tasks across them.

    Each block gets hidden units of its own, with the same readout: relu(A) + relu(B) instead of relu(A + B).
    """
    if len(teacher.modules) != 1:
        raise UserError(f"the counterexample is for one hidden layer, this teacher has {len(teacher.modules)}")
    modules, biases = teacher.modules[0], teacher.biases[0]  # (M, I, H), (M, H)
    if len(block_of) != len(modules):
        raise UserError(f"block_of names {len(block_of)} modules, the teacher has {len(modules)}")
    if min(block_of) < 0:
        raise UserError(f"block_of={list(block_of)} must number the blocks from 0")
    blocks = range(max(block_of) + 1)
    mine = np.array(block_of)[:, None] == np.array(blocks)  # (M, blocks)
    own = jnp.asarray(mine, modules.dtype)
    wide = jnp.einsum("mio,mb->mibo", modules, own).reshape(*modules.shape[:2], -1)
    wide_biases = jnp.einsum("mo,mb->mbo", biases, own).reshape(len(biases), -1)
    readout = jnp.concatenate([teacher.readout for _ in blocks])
    return eqx.tree_at(lambda t: (t.modules, t.biases, t.readout), teacher, ((wide,), (wide_biases,), readout))


@dataclass(frozen=True)
class _Forms:
    """Affine functions of the units of one layer, a row each."""

    weights: sparse.csr_array  # (forms, units of the layer so far)
    constants: np.ndarray  # (forms,)

    def __len__(self) -> int:
        return len(self.constants)

    def mixed(self, matrix: Any) -> _Forms:
        """Linear combinations of the forms, a row of the matrix each."""
        return _Forms(sparse.csr_array(matrix @ self.weights), matrix @ self.constants)

    def shifted(self, by: Any) -> _Forms:
        return _Forms(self.weights, self.constants + by)

    def over(self, units: int) -> sparse.csr_array:
        """The weights with a zero for every unit that was added to the layer later."""
        missing = units - cast(tuple[int, int], self.weights.shape)[1]
        return sparse.csr_array(sparse.hstack([self.weights, sparse.csr_array((len(self), missing))]))

    def __add__(self, other: _Forms) -> _Forms:
        units = max(cast(tuple[int, int], forms.weights.shape)[1] for forms in (self, other))
        return _Forms(self.over(units) + other.over(units), self.constants + other.constants)

    def __rmul__(self, factor: float) -> _Forms:
        return _Forms(self.weights * factor, self.constants * factor)


class _Layer:
    """A hidden layer under construction, on top of `below` units."""

    def __init__(self, below: int):
        self.below, self.units, self.parts = below, 0, []

    def relu(self, forms: _Forms) -> _Forms:
        """Adds a unit for each form; its value as a form over this layer."""
        self.parts.append(forms)
        self.units += len(forms)
        return _identity(len(forms), self.units)

    def kernel(self) -> tuple[np.ndarray, np.ndarray]:
        weights = sparse.vstack([part.over(self.below) for part in self.parts])
        return weights.T.toarray(), np.concatenate([part.constants for part in self.parts])


#: adds units to a layer for the state it is given; the state as forms over that layer
_Step = Callable[..., tuple[_Forms, ...]]


def _identity(forms: int, units: int) -> _Forms:
    """The last `forms` of `units` units."""
    return _Forms(sparse.csr_array(sparse.eye_array(forms, units, k=units - forms)), np.zeros(forms))


def _explicit(teacher: Hyperteacher, steps: Sequence[_Step], error: float) -> ExplicitNetwork:
    """Writes the net down, layer by layer; `steps` compute squares on [-2, 2] with an error in [0, `error`]."""
    if type(teacher) is not Hyperteacher:  # its control worlds teach something else
        raise UserError(f"the explicit network is that of a Hyperteacher, not of {type(teacher).__name__}")
    if not isinstance(teacher.encoding, Identity):
        raise UserError("the explicit network reads z itself: it is for the encoding 'identity'")
    m, k = len(teacher.constituent_names), teacher.space.width
    layers: list[tuple[np.ndarray, np.ndarray]] = []

    def layer_of(
        step: _Step, state: Sequence[_Forms], carried: list[_Forms]
    ) -> tuple[tuple[_Forms, ...], list[_Forms]]:
        layer = _Layer(layers[-1][0].shape[1] if layers else m + teacher.inputs)
        state = step(layer, *state)
        carried = [layer.relu(forms) for forms in carried]  # z and biases: never negative, so unchanged
        layers.append(layer.kernel())
        return tuple(state), carried

    z = _Forms(sparse.csr_array(sparse.eye_array(m, m + teacher.inputs)), np.zeros(m))
    x = _identity(teacher.inputs, m + teacher.inputs)
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
        state: tuple[_Forms, ...] = (plus_minus,)
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
