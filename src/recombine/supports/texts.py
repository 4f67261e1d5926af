"""What splits of lists of texts share: reading the texts, groups by row, and words that stay trained."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..errors import UserError
from ..files.released_rows import released_rows
from ..labels import quoted
from ..spaces import Space


class Among:
    """Combinations of a list that were chosen one by one. A predicate on rows.

    Args:
        chosen: (size,) true for those that belong.

    Example:
        >>> listed = rc.Listed([[0], [1], [0, 1]], names=["walk", "twice"])
        >>> rc.supports.Among(np.array([True, False, True]))(listed.enumerate()).tolist()
        [True, False, True]
    """

    def __init__(self, chosen: np.ndarray):
        self.chosen = np.asarray(chosen, bool)

    def __call__(self, rows: Any) -> Any:
        chosen = jnp.asarray(self.chosen) if isinstance(rows, jax.Array) else self.chosen
        return chosen[rows[..., 0]]


def read_texts(space: Space, needed: Sequence[str], what: str) -> list[tuple[str, ...]]:
    """The texts of a list, in order of rank; a space without the words that are needed is refused.

    Args:
        space: a list of texts by their words.
        needed: words that its vocabulary must have.
        what: the split needs, for the refusal.
    """
    names = space.element_names
    if space.columns or not space.ordered or not set(needed) <= set(names):
        raise UserError(f"{what}; got {space}")
    rows = space.elements(space.enumerate()).tolist()
    return [tuple(names[word] for word in row if word >= 0) for row in rows]


def keep_words_trained(space: Space, trained: np.ndarray, movable: np.ndarray) -> np.ndarray:
    """`trained`, with rows of `movable` moved into it until every word that movable rows have is trained.

    Args:
        space: a list of texts.
        trained: (size,) true for what is trained.
        movable: (size,) true for held-out rows that may be trained instead.
    """
    trained, table = trained.copy(), space.elements(space.enumerate())
    known = _words_of(space, table[trained])
    for row in np.flatnonzero(movable):
        words = table[row][table[row] >= 0]
        if not known[words].all():
            trained[row] = True
            known[words] = True
    return trained


def require_words_trained(space: Space, trained: np.ndarray, held_out: np.ndarray, what: str) -> None:
    """Refuses a split in which a held-out text has a word that no trained one has.

    Args:
        space: a list of texts.
        trained: ranks.
        held_out: likewise.
        what: it is, for the refusal.
    """
    table = space.elements(space.enumerate())
    missing = _words_of(space, table[held_out]) & ~_words_of(space, table[trained])
    if missing.any():
        name = space.element_names[int(np.argmax(missing))]
        raise UserError(f"{what} leaves {name!r} untrained, and is not about that; a list with more texts would do")


def _words_of(space: Space, table: np.ndarray) -> np.ndarray:
    found = np.zeros(len(space.element_names), bool)
    found[table[table >= 0]] = True
    return found


def released_places(
    path: str | os.PathLike,
    known: Mapping[str, str],
    what: str,
    text_of: Callable[[str], Sequence[str]],
    texts: Sequence[tuple[str, ...]],
    remedy: str,
) -> np.ndarray:
    """Where the texts of a released file stand in a list, as often as the file has them.

    Args:
        path: of the file, plain or packed.
        known: name -> digest of the rows, of every file that was released.
        what: of which data set.
        text_of: a row of the file -> the words of its text.
        texts: of the list.
        remedy: the list that has them, for the refusal.
    """
    places = {text: place for place, text in enumerate(texts)}
    found = []
    for row in released_rows(path, known, what):
        words = tuple(text_of(row))
        if words not in places:
            raise UserError(f"{quoted(path, 300)} has {quoted(' '.join(words))}, which the list has not; {remedy}")
        found.append(places[words])
    return np.array(found)
