"""Answers of a net to texts that no list has: what it says about something that it wrote itself, for one.

Texts are padded to a multiple of 32 words, and asked in blocks of 256, so that few programs are compiled.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence

import jax
import jax.numpy as jnp
import numpy as np

from ..errors import UserError
from ..machine.precision import one_thread
from ..nets import Net, Parts, SequenceNet, cut, join
from ..tasks import Sequences
from .evaluation import BLOCK, evaluation_mode

WIDTHS = 32
Words = tuple[str, ...]


def answers_to(net: Net, task: Sequences, texts: Sequence[Sequence[str]]) -> list[Words]:
    """What a net writes about each text, in words.

    Args:
        net: one that reads and writes sequences.
        task: whose words these are.
        texts: each by its words.

    Example:
        >>> world = rc.tasks.Scan(rc.tasks.scan_commands(sentences=1))
        >>> net = rc.nets.LSTM(width=8, depth=1).build(world, jax.random.key(0))
        >>> from recombine.training.free_texts import answers_to
        >>> len(answers_to(net, world, [("jump", "jump", "jump", "twice", "twice", "twice")]))
        1
    """
    if not isinstance(net, SequenceNet):
        raise UserError(f"{type(net).__name__} writes no sequences; an lstm does")
    if not texts:
        return []
    longest = max(1, *map(len, texts))
    code = task.reads.encode_tokens(texts, -(-longest // WIDTHS) * WIDTHS)
    parts, found = cut(net), []
    for start in range(0, len(code), BLOCK):
        which = np.arange(start, start + BLOCK) % len(code)  # the last block begins again
        found.append(np.asarray(_program()(parts, jnp.asarray(code[which]))))
    said = np.concatenate(found)[: len(code)]
    return [tuple(task.writes.split(task.said(row))) for row in said]


@functools.cache
def _program() -> Callable[[Parts, jax.Array], jax.Array]:
    def run(parts: Parts, code: jax.Array) -> jax.Array:
        net = evaluation_mode(join(parts))
        assert isinstance(net, SequenceNet)
        return net.written(code).words

    return jax.jit(run, compiler_options=one_thread())
