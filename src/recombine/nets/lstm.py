"""lstm: one LSTM reads the code, another writes the target, beginning with the state that the first one ends in.

    i, f, g, o = W_x x + W_h h + b        c <- sigmoid(f) c + sigmoid(i) tanh(g)        h <- sigmoid(o) tanh(c)

Layer upon layer; as in Lake & Baroni 2018, whose best net overall has two layers of 200 units and no attention. With
`attention` (Luong et al. 2015) the top layer of the decoder looks at that of the encoder before each word:

    h <- tanh(W_c [h, sum_l softmax_l(h . W_a e_l) e_l])

Weights and biases begin uniform within 1/sqrt(units), as torch draws them. No dropout.

Trace: "encoder/layer1" ... is h of each layer at every word of the code (T, L, units), "decoder/layer1" ... at every
word of the answer, "output" the logits; zero where there is no word.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp

from ..errors import require_int
from ..tasks import Task
from .base import Blueprint, Trace, nets
from .layers.dense import rows_matmul
from .layers.drawing import uniform
from .layers.embedding import look_up
from .sequence_net import SequenceNet, require_longest, require_sequences, require_truth, room_for, sentence_starts

HIDDEN = -1e9  # score of padding


@nets.register("lstm")
@dataclass(frozen=True)
class LSTM(Blueprint):
    """LSTM encoder and decoder, with or without attention.

    Args:
        width: units of each layer, and numbers per word.
        depth: layers of the encoder, and of the decoder.
        attention: the decoder looks at all that the encoder has read, and not only at its last state.
        longest: words of an answer at most; None: those of the longest target.

    Example:
        >>> rc.nets.LSTM(width=16, depth=1).layers()
        ('encoder/layer1', 'decoder/layer1', 'output')
    """

    name: ClassVar[str] = "lstm"
    width: int = 200
    depth: int = 2
    attention: bool = False
    longest: int | None = None

    def __post_init__(self):
        require_int("width", self.width, at_least=1)
        require_int("depth", self.depth, at_least=1)
        require_longest(self.longest)
        require_truth("attention", self.attention)

    def layers(self) -> tuple[str, ...]:
        blocks = (f"{part}/layer{i}" for part in ("encoder", "decoder") for i in range(1, self.depth + 1))
        return (*blocks, "output")

    def require(self, task: Task) -> None:
        room_for(self, require_sequences(self, task))

    def fresh(self, task: Task, key: jax.Array, precision: str) -> LSTMNet:
        longest, words = room_for(self, require_sequences(self, task)), task.words
        keys, d = jax.random.split(key, 6 + 2 * self.depth), self.width
        layers = [RecurrentLayer.fresh(k, d, precision) for k in keys[6:]]
        return LSTMNet(
            longest,
            precision,
            uniform(keys[0], (words["code"], d), 1),
            tuple(layers[: self.depth]),
            uniform(keys[1], (words["target"] + 1, d), 1),  # and the start
            tuple(layers[self.depth :]),
            uniform(keys[2], (d, d), d) if self.attention else None,
            uniform(keys[3], (2 * d, d), 2 * d) if self.attention else None,
            uniform(keys[4], (d, words["target"]), d),
            uniform(keys[5], (words["target"],), d),
        )


class Cell(NamedTuple):
    """What a layer carries from word to word: h and c, (T, units) each."""

    h: jax.Array
    c: jax.Array


class RecurrentLayer(eqx.Module):
    """One LSTM layer."""

    read: jax.Array  # (units, 4 units)
    recur: jax.Array  # (units, 4 units)
    bias: jax.Array  # (4 units,)
    precision: str = eqx.field(static=True)

    @classmethod
    def fresh(cls, key: jax.Array, width: int, precision: str) -> RecurrentLayer:
        keys = jax.random.split(key, 3)
        read, recur = (uniform(key, (width, 4 * width), width) for key in keys[:2])
        return cls(read, recur, uniform(keys[2], (4 * width,), width), precision)

    def gates(self, x: jax.Array) -> jax.Array:
        """What the words that are read add to the gates: for all of them in one product."""
        return rows_matmul(x, self.read, self.precision) + self.bias

    def step(self, cell: Cell, gates: jax.Array) -> Cell:
        i, f, g, o = jnp.split(gates + rows_matmul(cell.h, self.recur, self.precision), 4, axis=-1)
        c = jax.nn.sigmoid(f) * cell.c + jax.nn.sigmoid(i) * jnp.tanh(g)
        return Cell(jax.nn.sigmoid(o) * jnp.tanh(c), c)

    def over(self, x: jax.Array, there: jax.Array, cell: Cell) -> tuple[Cell, jax.Array]:
        """The state after the last word that is there, and h (T, L, units) at every word."""

        def one(cell: Cell, word: tuple[jax.Array, jax.Array]) -> tuple[Cell, jax.Array]:
            gates, there = word
            after = self.step(cell, gates)
            cell = Cell(*(jnp.where(there[:, None], new, old) for new, old in zip(after, cell, strict=True)))
            return cell, cell.h

        by_word = (jnp.moveaxis(self.gates(x), 1, 0), there.T)
        cell, found = jax.lax.scan(one, cell, by_word)
        return cell, jnp.moveaxis(found, 0, 1)


class Recurring(NamedTuple):
    """What the decoder knows on the way."""

    cells: tuple[Cell, ...]
    read: jax.Array  # (T, L, units) the top layer of the encoder
    there: jax.Array  # (T, L)


class LSTMNet(SequenceNet):
    """The weights of an `LSTM`."""

    group_rows: ClassVar[int] = 32  # of fewer rows, the kernels would be fetched more often than used
    code_table: jax.Array
    encoder: tuple[RecurrentLayer, ...]
    target_table: jax.Array
    decoder: tuple[RecurrentLayer, ...]
    attend: jax.Array | None
    combine: jax.Array | None
    output_kernel: jax.Array
    output_bias: jax.Array

    @property
    def vocabulary(self) -> tuple[int, int]:
        return len(self.code_table), len(self.output_bias)

    def encode(self, code: jax.Array) -> tuple[Recurring, Trace]:
        x, there, cells, trace = look_up(self.code_table, jnp.maximum(code, 0)), code >= 0, [], {}
        nothing = jnp.zeros((len(code), x.shape[-1]))
        for number, layer in enumerate(self.encoder, start=1):
            cell, x = layer.over(x, there, Cell(nothing, nothing))
            cells.append(cell)
            trace[f"encoder/layer{number}"] = x * there[..., None]
        return Recurring(tuple(cells), x, there), trace

    def forced(self, code: jax.Array, target: jax.Array) -> tuple[jax.Array, Trace]:
        state, trace = self.encode(code)
        there = target >= 0
        x = look_up(self.target_table, sentence_starts(target, len(self.target_table) - 1))
        for number, (layer, cell) in enumerate(zip(self.decoder, state.cells, strict=True), start=1):
            _, x = layer.over(x, jnp.ones_like(there), cell)
            trace[f"decoder/layer{number}"] = x * there[..., None]
        logits = self._logits(x, state)
        return logits, trace | {"output": logits * there[..., None]}

    def begin(self, code: jax.Array) -> Recurring:
        return self.encode(code)[0]

    def step(self, state: Recurring, previous: jax.Array, place: jax.Array) -> tuple[Recurring, jax.Array]:
        x, cells = (
            look_up(self.target_table, jnp.where(previous < 0, len(self.target_table) - 1, previous)[:, None]),
            [],
        )
        for layer, cell in zip(self.decoder, state.cells, strict=True):
            cell = layer.step(cell, layer.gates(x)[:, 0])
            x = cell.h[:, None]
            cells.append(cell)
        return Recurring(tuple(cells), *state[1:]), self._logits(x, state)[:, 0]

    def _logits(self, h: jax.Array, state: Recurring) -> jax.Array:
        """(T, M, V) of the top layer (T, M, units)."""
        if self.attend is not None and self.combine is not None:
            scores = jnp.einsum("tmd,tld->tml", h, rows_matmul(state.read, self.attend, self.precision))
            weights = jax.nn.softmax(jnp.where(state.there[:, None], scores, HIDDEN))
            seen = jnp.einsum("tml,tld->tmd", weights, state.read)
            h = jnp.tanh(rows_matmul(jnp.concatenate([h, seen], axis=-1), self.combine, self.precision))
        return rows_matmul(h, self.output_kernel, self.precision) + self.output_bias
