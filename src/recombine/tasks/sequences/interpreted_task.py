"""What worlds have in common whose texts an interpreter reads: meanings, and shuffled ones in a control world."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from ...spaces import Space
from .sequence_task import Sequences, require_seed, require_words, shuffled
from .tokenizer import Tokenizer


class Interpreted(Sequences):
    """A world whose texts an interpreter gives a meaning; subclasses say which.

    Args:
        space: a list of texts.
        seed: of the shuffle in a control world, and of nothing else.

    Example:
        >>> issubclass(rc.tasks.Cogs, rc.tasks.Interpreted), rc.tasks.CogsLookup.shuffles
        (True, True)
    """

    vocabulary: ClassVar[tuple[str, ...]]  # of texts
    answers: ClassVar[tuple[str, ...]]  # words of meanings
    shuffles: ClassVar[bool] = False  # whether meanings are those of other texts

    def __init__(self, space: Space, seed: int = 0):
        require_seed(seed)
        require_words(space, type(self).id, self.vocabulary, f"{type(self).__name__}.default_space()")
        self._fill(space, Tokenizer(self.vocabulary), self.answers, self._meanings(self.interpreted(space), seed))

    def interpreted(self, space: Space) -> Sequence[Sequence[str]]:
        """What each text of a list means."""
        raise TypeError(f"{type(self).__name__} must define interpreted")

    def _meanings(self, true: Sequence[Sequence[str]], seed: int) -> Sequence[Sequence[str]]:
        return shuffled(true, seed) if self.shuffles else true
