"""What worlds have in common whose texts an interpreter reads: meanings, and those of control worlds.

In a control world the meanings are shuffled among the texts, so that nothing composes, or all texts mean the same, so
that whoever can say it is right about all of them.
"""

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
    one_for_all: ClassVar[bool] = False  # whether all texts mean the same

    def __init__(self, space: Space, seed: int = 0):
        require_seed(seed)
        vocabulary = self.words_of(space)
        require_words(space, type(self).id, vocabulary, f"{type(self).__name__}.default_space()")
        true = self.interpreted(space)
        answers = self.answers_in(vocabulary, true)
        self._fill(space, Tokenizer(vocabulary), answers, self._meanings(true, seed))

    @classmethod
    def words_of(cls, space: Space) -> tuple[str, ...]:
        """The words that a list has to have: those of the language, or of a part of it that the list is in."""
        return cls.vocabulary

    @classmethod
    def answers_in(cls, vocabulary: tuple[str, ...], true: Sequence[Sequence[str]]) -> tuple[str, ...]:
        """The words of meanings, where texts have these words and mean that."""
        return cls.answers

    def interpreted(self, space: Space) -> Sequence[Sequence[str]]:
        """What each text of a list means."""
        raise TypeError(f"{type(self).__name__} must define interpreted")

    def _meanings(self, true: Sequence[Sequence[str]], seed: int) -> Sequence[Sequence[str]]:
        if self.one_for_all:
            return [min(true, key=len)] * len(true)
        return shuffled(true, seed) if self.shuffles else true
