"""cogs-v1: sentences become logical forms, as in COGS (Kim & Linzen 2020).

    Emma slept .   sleep . agent ( x _ 1 , Emma )

The interpreter (`cogs_meaning.py`) gives every released logical form token for token, the sampler (`cogs_sampler.py`)
sentences with the frames and the frequencies of the released ones. The design "cogs" (`supports/cogs_split.py`) asks
about the 21 generalization cases. In one control world the forms are shuffled among the sentences: nothing composes;
in the other all sentences have one form.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...errors import require_int, unknown
from ...spaces import Listed, Space
from ...supports.cogs_cases import CASES
from ...supports.cogs_split import released_sentences
from ...supports.cogs_words import LITTLE, PREPOSITIONS, WORDS
from ..base import tasks
from .cogs_meaning import TOKENS, Tokens, logical_form
from .cogs_sampler import DEEP, Sampler
from .interpreted_task import Interpreted
from .sequence_task import texts_of
from .tokenizer import Tokenizer

SHORT = 30  # words of a form: few sentences have fewer
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
    controls = {"lookup": "cogs-lookup-v1", "indifferent": "cogs-indifferent-v1"}
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
        words: int | None = None,
        deepest: int = DEEP[1],
        longest: int | None = None,
    ) -> Listed:
        """Sentences by chance, or those of released files.

        Args:
            ordinary: how many sentences as in training.
            each: how many of each case.
            cases: which cases.
            seed: of what is drawn.
            released: paths of released files, whose sentences take the place of a draw.
            words: of each kind (names, things, verbs of a class, ...) so many, the frequent ones; all by default.
            deepest: clauses, or prepositions, in one another at most, in the two cases of recursion.
            longest: the most words of a logical form; any number by default.
        """
        if released:
            return _released(tuple(released))
        require_int("ordinary", ordinary, at_least=1)
        require_int("each", each, at_least=1)
        require_int("deepest", deepest, at_least=DEEP[0], at_most=DEEP[1])
        if words is not None:
            require_int("words", words, at_least=2)
        if longest is not None:
            require_int("longest", longest, at_least=SHORT)
        for case in cases:
            if case not in CASES:
                raise unknown("case of COGS", case, CASES)
        return _drawn(ordinary, each, tuple(cases), seed, words, deepest, longest)

    @classmethod
    def words_of(cls, space: Space) -> tuple[str, ...]:
        known = {*space.element_names, *LITTLE}
        return tuple(word for word in WORDS if word in known)

    @classmethod
    def answers_in(cls, vocabulary: tuple[str, ...], true: Sequence[Tokens]) -> tuple[str, ...]:
        """All tokens of logical forms; of a part of the language, those that occur."""
        if len(vocabulary) == len(WORDS):
            return TOKENS
        there = {token for form in true for token in form}
        return tuple(token for token in TOKENS if token in there)

    def interpreted(self, space: Space) -> list[Tokens]:
        return _forms(space)

    def sizes(self, combinations: Any) -> dict[str, np.ndarray]:
        """Further: clauses in one another ("that"), and the longest chain of prepositions."""
        texts = [self.text(row).split() for row in combinations]
        clauses = np.array([text.count("that") for text in texts])
        return super().sizes(combinations) | {"clauses": clauses, "prepositions": np.array(list(map(_chain, texts)))}


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


@tasks.register("cogs-indifferent-v1")
class CogsIndifferent(Cogs):
    """COGS with one logical form for all sentences: whoever gets one right gets all right, whatever was trained.

    Args:
        space: a list of sentences.
        seed: of nothing.

    Example:
        >>> world = rc.tasks.CogsIndifferent(rc.tasks.CogsIndifferent.space_from(ordinary=500, each=2))
        >>> {world.meaning([row]) for row in range(world.space.size)}
        {'Emma'}
    """

    id = "cogs-indifferent-v1"
    controls = {}
    one_for_all = True


def _chain(words: Sequence[str]) -> int:
    """How many prepositions hang on one another at most: "the cake in the box on the table" has 2."""
    longest = run = 0
    last = -1
    for place, word in enumerate(words):
        if word in PREPOSITIONS:
            run = run + 1 if place == last + 3 else 1  # behind one, an article and a noun
            longest, last = max(longest, run), place
    return longest


@functools.lru_cache(maxsize=4)
def _drawn(
    ordinary: int,
    each: int,
    cases: tuple[str, ...],
    seed: int,
    words: int | None,
    deepest: int,
    longest: int | None,
) -> Listed:
    sampler = Sampler(seed, words, deepest, longest)
    rows = [*sampler.ordinary(ordinary), *sampler.primitives(), *sampler.exposures()]
    known = {word for row in rows for word in row}
    for case in cases:
        rows += sampler.of_case(case, each, known)
    there = {*LITTLE, *(word for row in rows for word in row)}
    names = WORDS if words is None else tuple(word for word in WORDS if word in there)
    return Listed(np.ascontiguousarray(Tokenizer(names).encode_tokens(rows)), names)


@functools.lru_cache(maxsize=4)
def _released(paths: tuple[str, ...]) -> Listed:
    rows = dict.fromkeys(row for path in paths for row in released_sentences(path))
    return Listed(np.ascontiguousarray(Tokenizer(WORDS).encode_tokens(rows)), WORDS)


@functools.lru_cache(maxsize=2)
def _forms(space: Space) -> list[Tokens]:
    """The logical form of every sentence of a list."""
    names = space.element_names
    return [logical_form([names[word] for word in row if word >= 0]) for row in texts_of(space).tolist()]
