"""Impossibility: where training never connects two blocks of modules, no learner of any kind can succeed.

The proof is an executable counterexample: a teacher that agrees with another on every task inside the blocks and
differs on those across (after an argument of Schug et al. 2024; the construction is ours).
"""

from __future__ import annotations

from collections.abc import Sequence

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from ..errors import UserError
from ..tasks import Hyperteacher


def indistinguishable_teacher(teacher: Hyperteacher, block_of: Sequence[int]) -> Hyperteacher:
    """A teacher that equals `teacher` on all tasks inside the blocks and differs on tasks across them.

    Each block gets hidden units of its own, with the same readout: relu(A) + relu(B) instead of relu(A + B).

    Args:
        teacher: with one hidden layer.
        block_of: the block of each module, numbered from 0.

    Example:
        >>> twin = rc.theory.indistinguishable_teacher(task, block_of=(0, 0, 1, 1))
        >>> rows = jnp.array([[0, 1], [1, 2]])  # inside a block, across blocks
        >>> first, second = (one.sample(jax.random.key(0), rows).target for one in (task, twin))
        >>> [bool(jnp.allclose(a, b, atol=1e-5)) for a, b in zip(first, second)]
        [True, False]
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
