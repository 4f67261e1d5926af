"""cogs-v1: sentences become logical forms, as in COGS (Kim & Linzen 2020).

    Emma slept .   sleep . agent ( x _ 1 , Emma )

The interpreter (`cogs_meaning.py`) gives every released logical form token for token, the sampler (`cogs_sampler.py`)
sentences with the frames and the frequencies of the released ones. The design "cogs" (`supports/cogs_split.py`) asks
about the 21 generalization cases. In the control world the forms are shuffled among the sentences: nothing composes.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence

import numpy as np

from ...errors import require_int, unknown
from ...spaces import Listed, Space
from ...supports.cogs_cases import CASES
from ...supports.cogs_split import released_sentences
from ...supports.cogs_words import WORDS
from ..base import tasks
from .cogs_meaning import TOKENS, Tokens, logical_form
from .cogs_sampler import Sampler
from .interpreted_task import Interpreted
from .sequence_task import texts_of
from .tokenizer import Tokenizer

ORDINARY, EACH = 3_000, 50  # of the default list; COGS has 27,000 for training and a test like it, and 1,000 per case


@tasks.register("cogs-v1")
class Cogs(Interpreted):
    """COGS: sentences and their logical forms.

    Args:
        space: a list of sentences; `Cogs.space_from` makes one of any size.
        seed: of nothing: the forms are those of the language.

    Example:
        >>> world = rc.tasks.Cogs(rc.tasks.Cogs.space_from(ordinary=500, each=2))
        >>> row = [world.text([n]) for n in range(world.space.size)].index("shark")
        >>> world.meaning([row])
        'LAMBDA a . shark ( a )'
    """

    id = "cogs-v1"
    controls = {"lookup": "cogs-lookup-v1"}
    vocabulary, answers = WORDS, TOKENS

    @classmethod
    def default_space(cls) -> Space:
        """A list with a ninth of the ordinary sentences of COGS, and some of each case."""
        return cls.space_from()

    @classmethod
    def space_from(
        cls,
        ordinary: int = ORDINARY,
        each: int = EACH,
        cases: Sequence[str] = CASES,
        seed: int = 0,
        released: Sequence[str] = (),
    ) -> Listed:
        """Sentences by chance, or those of released files.

        Args:
            ordinary: how many sentences as in training.
            each: how many of each case.
            cases: which cases.
            seed: of what is drawn.
            released: paths of released files, whose sentences take the place of a draw.
        """
        if released:
            return _released(tuple(released))
        require_int("ordinary", ordinary, at_least=1)
        require_int("each", each, at_least=1)
        for case in cases:
            if case not in CASES:
                raise unknown("case of COGS", case, CASES)
        return _drawn(ordinary, each, tuple(cases), seed)

    def interpreted(self, space: Space) -> list[Tokens]:
        return _forms(space)


@tasks.register("cogs-lookup-v1")
class CogsLookup(Cogs):
    """COGS with logical forms shuffled among the sentences: nothing composes, each has to be looked up.

    Args:
        space: a list of sentences.
        seed: of the shuffle.

    Example:
        >>> world = rc.tasks.CogsLookup(rc.tasks.CogsLookup.space_from(ordinary=500, each=2))
        >>> row = [world.text([n]) for n in range(world.space.size)].index("shark")
        >>> world.meaning([row]) == 'LAMBDA a . shark ( a )'
        False
    """

    id = "cogs-lookup-v1"
    controls = {}
    shuffles = True


@functools.lru_cache(maxsize=4)
def _drawn(ordinary: int, each: int, cases: tuple[str, ...], seed: int) -> Listed:
    sampler = Sampler(seed)
    rows = [*sampler.ordinary(ordinary), *sampler.primitives(), *sampler.exposures()]
    known = {word for row in rows for word in row}
    for case in cases:
        rows += sampler.of_case(case, each, known)
    return Listed(np.ascontiguousarray(Tokenizer(WORDS).encode_tokens(rows)), WORDS)


@functools.lru_cache(maxsize=4)
def _released(paths: tuple[str, ...]) -> Listed:
    rows = dict.fromkeys(row for path in paths for row in released_sentences(path))
    return Listed(np.ascontiguousarray(Tokenizer(WORDS).encode_tokens(rows)), WORDS)


@functools.lru_cache(maxsize=2)
def _forms(space: Space) -> list[Tokens]:
    """The logical form of every sentence of a list."""
    return [logical_form([WORDS[word] for word in row if word >= 0]) for row in texts_of(space).tolist()]
