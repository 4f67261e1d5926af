"""The split of ciphers-v1: reserved sentences are asked about, each task and each level of probability by itself.

What is reserved follows from the letters alone (`cipher_language.reserved`), so a sentence that is asked about stands
in no training item, neither as it is nor in any cipher. The same holds for the texts of the smaller tasks.
"""

from __future__ import annotations

import numpy as np

from ..errors import UserError, require_int
from ..spaces import Space
from .cipher_language import LEVELS, TASKS, WORDS, level_of, reserved, sentence_of
from .designs import supports
from .support import Support, from_ranks
from .texts import Among


@supports.register("ciphers")
def ciphers(space: Space, *, seed: int = 0) -> Support:
    """Reserved sentences are held out; groups are tasks ("decode-13"), levels ("low") and both ("decode-13 low").

    Args:
        space: a list of texts of ciphers-v1.
        seed: without effect; every design takes one.

    Example:
        >>> split = rc.supports.ciphers(rc.tasks.Ciphers.default_space())
        >>> split.group("decode-13 low").size
        20
    """
    require_int("seed", seed, at_least=0)
    if space.columns or not space.ordered or tuple(space.element_names) != WORDS:
        raise UserError(f"the design 'ciphers' needs a list of texts of ciphers-v1, as it has one; got {space}")
    rows = space.elements(space.enumerate())
    sentences = sentence_of(rows)
    held_out = reserved(sentences)
    level = np.where(rows[:, 0] <= TASKS.index("encode-25"), level_of(sentences), -1)
    named = {name: Among(rows[:, 0] == place) for place, name in enumerate(TASKS)}
    for place, name in enumerate(LEVELS):
        there = level == place
        named[name] = Among(there)
        for task in np.unique(rows[there, 0]).tolist():
            named[f"{TASKS[task]} {name}"] = Among(there & (rows[:, 0] == task))
    trained, asked = np.flatnonzero(~held_out), np.flatnonzero(held_out)
    return from_ranks(space, trained, asked, "ciphers", settings={"seed": seed}, named=named)
