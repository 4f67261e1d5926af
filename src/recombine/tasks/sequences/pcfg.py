"""pcfg-v1: expressions of functions of strings become strings, as in PCFG SET (Hupkes et al. 2020).

    swap_first_last echo append A1 B2 , C3   ->   C3 B2 C3 A1

The interpreter (`supports/pcfg_language.py`) gives every released pair, the sampler (`pcfg_sampler.py`) expressions
with the histograms of the released ones. The design "pcfg" makes four of the published tests; the fifth,
overgeneralization, is the world "pcfg-exceptions-v1". In one control world the strings are shuffled, in the other all
expressions stand for the same one.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ...errors import UserError, require_int
from ...keys import generator, key_for
from ...spaces import Listed, Space
from ...supports.pcfg_exceptions import EXCEPTIONS, exception_of
from ...supports.pcfg_language import LETTERS, WORDS, Words, interpreted, parsed, shape
from ...supports.pcfg_splits import released_expressions
from ..base import tasks
from ..metrics import Metric, Statistics
from .interpreted_task import Interpreted
from .pcfg_sampler import MOST_FUNCTIONS, MOST_LETTERS, Sampler, renamed
from .sequence_task import padded_to, require_seed, require_words, texts_of
from .tokenizer import Tokenizer

ORDINARY = 4_000  # of the default list; PCFG SET has some 97,000
LONGEST = 251  # letters of a string in the released test
NO_LETTERS = len(WORDS) - len(LETTERS)  # words before the letters
FEWEST_LETTERS = 5


@tasks.register("pcfg-v1")
class Pcfg(Interpreted):
    """PCFG SET: expressions and the strings that they stand for.

    Args:
        space: a list of expressions; `Pcfg.space_from` makes one of any size.
        seed: of nothing: the strings are those of the language.

    Example:
        >>> world = rc.tasks.Pcfg(rc.tasks.Pcfg.space_from(ordinary=300))
        >>> world.words
        {'code': 535, 'target': 521}
    """

    id = "pcfg-v1"
    controls = {"lookup": "pcfg-lookup-v1", "indifferent": "pcfg-indifferent-v1"}
    vocabulary, answers = WORDS, LETTERS

    @classmethod
    def default_space(cls) -> Space:
        """A list of expressions with the released histograms, with some twins and steps."""
        return cls.space_from()

    @classmethod
    def space_from(
        cls,
        ordinary: int = ORDINARY,
        twins: int = 200,
        unrolled: int = 100,
        longest: int = LONGEST,
        seed: int = 0,
        released: Sequence[str] = (),
        letters: int = len(LETTERS),
        functions: int = MOST_FUNCTIONS,
        argument: int = MOST_LETTERS,
        alone: int = 0,
        synonyms: float = 0.0,
    ) -> Listed:
        """Expressions by chance, or those of released files.

        Args:
            ordinary: how many with the released histograms.
            twins: how many of them stand there with synonyms, too (for substitutivity).
            unrolled: of how many of them the steps stand there, too (for localism).
            longest: the most letters of the string that one stands for.
            seed: of what is drawn.
            released: paths of released files, whose expressions take the place of a draw.
            letters: how many there are.
            functions: the most of an expression.
            argument: the most letters of an argument.
            alone: expressions of one synonym and letters, of each synonym (for substitutivity).
            synonyms: share of the functions with a synonym that are written by it, in ordinary expressions.
        """
        if released:
            rows = dict.fromkeys(row for path in released for row in released_expressions(path))
            return Listed(np.ascontiguousarray(Tokenizer(WORDS).encode_tokens(rows)), WORDS)
        require_int("ordinary", ordinary, at_least=1)
        require_int("twins", twins, at_least=0, at_most=ordinary)
        require_int("unrolled", unrolled, at_least=0, at_most=ordinary)
        require_int("longest", longest, at_least=5)
        require_int("letters", letters, at_least=FEWEST_LETTERS, at_most=len(LETTERS))
        require_int("functions", functions, at_least=2, at_most=MOST_FUNCTIONS)
        require_int("argument", argument, at_least=2, at_most=MOST_LETTERS)
        require_int("alone", alone, at_least=0)
        if isinstance(synonyms, bool) or not isinstance(synonyms, (int, float)) or not 0 <= synonyms <= 1:
            raise UserError(f"synonyms={synonyms!r} is no share of the functions that have one; 0.5 would do")
        sampler = (seed, longest, letters, functions, argument)
        return _drawn(sampler, (ordinary, twins, unrolled, alone), synonyms)

    @classmethod
    def words_of(cls, space: Space) -> tuple[str, ...]:
        """All but letters, and as many of these as the list has."""
        return WORDS[: max(len(space.element_names), NO_LETTERS + FEWEST_LETTERS)]

    @classmethod
    def answers_in(cls, vocabulary: tuple[str, ...], true: Sequence[Words]) -> tuple[str, ...]:
        return vocabulary[NO_LETTERS:]

    def interpreted(self, space: Space) -> list[Words]:
        return _strings(space)

    def sizes(self, combinations: Any) -> dict[str, np.ndarray]:
        """Further: how many functions an expression has, and how deep they stand in one another."""
        shapes = np.array([shape(parsed(self.text(row).split())) for row in combinations])
        return super().sizes(combinations) | {"functions": shapes[:, 0], "depth": shapes[:, 1]}


@tasks.register("pcfg-lookup-v1")
class PcfgLookup(Pcfg):
    """PCFG SET with strings shuffled among the expressions: nothing composes, each has to be looked up.

    Args:
        space: a list of expressions.
        seed: of the shuffle.

    Example:
        >>> space = rc.tasks.PcfgLookup.space_from(ordinary=300)
        >>> rc.tasks.PcfgLookup(space).meaning([3]) == rc.tasks.Pcfg(space).meaning([3])
        False
    """

    id = "pcfg-lookup-v1"
    controls = {}
    shuffles = True


@tasks.register("pcfg-indifferent-v1")
class PcfgIndifferent(Pcfg):
    """PCFG SET with one string for all expressions: whoever gets one right gets all right, whatever was trained.

    Args:
        space: a list of expressions.
        seed: of nothing.

    Example:
        >>> world = rc.tasks.PcfgIndifferent(rc.tasks.PcfgIndifferent.space_from(ordinary=300))
        >>> len({world.meaning([row]) for row in range(world.space.size)})
        1
    """

    id = "pcfg-indifferent-v1"
    controls = {}
    one_for_all = True


def by_rule(statistics: Statistics) -> float:
    """Share of the exceptions that are answered by the rule, though something else was trained."""
    exceptional = statistics["exceptional"] > 0
    return float(statistics["by_rule"][exceptional].mean()) if exceptional.any() else float("nan")


def learned_exceptions(statistics: Statistics) -> float:
    """Share of the exceptions that are answered as they were trained."""
    exceptional = statistics["exceptional"] > 0
    right = statistics["right"] == statistics["counted"]
    return float(right[exceptional].mean()) if exceptional.any() else float("nan")


@tasks.register("pcfg-exceptions-v1")
class PcfgExceptions(Pcfg):
    """PCFG SET in which some expressions break the rule: does a net overgeneralize while it learns?

    Of expressions in which one of four functions stands directly before another, a share means what two other functions
    would. Two metrics say how many of them are answered by the rule, and how many as they are.

    Args:
        space: a list of expressions.
        seed: of which expressions are exceptions.
        exceptions: how many there are, as a share of all expressions; published: 0.0001 to 0.005. "all": every
            expression that can be one is (the split "overgeneralization" then says which are trained).

    Example:
        >>> world = rc.tasks.PcfgExceptions(rc.tasks.Pcfg.default_space(), exceptions=0.005)
        >>> int(world.exceptional.sum()), [metric.name for metric in world.metrics][-2:]
        (24, ['by_rule', 'as_exception'])
    """

    id = "pcfg-exceptions-v1"
    controls = {"lookup": "pcfg-lookup-v1", "no-rule": "pcfg-exceptions-lookup-v1"}
    metrics = (
        *Pcfg.metrics,
        Metric("by_rule", "exceptions answered by the rule", by_rule, higher_is_better=False),
        Metric("as_exception", "exceptions answered as trained", learned_exceptions),
    )
    rules: jax.Array  # (size, M) what each would mean by the rule
    exceptional: jax.Array  # (size,)

    def __init__(self, space: Space, seed: int = 0, exceptions: float | str = 0.005):
        require_seed(seed)
        vocabulary = self.words_of(space)
        require_words(space, type(self).id, vocabulary, "Pcfg.default_space()")
        true = _strings(space)
        other = {number: meaning for number, words in enumerate(_rows(space)) if (meaning := exception_of(words))}
        chosen = _chosen_exceptions(list(other), space.size, exceptions, seed)
        meanings, exceptional = list(true), np.zeros(space.size, bool)
        exceptional[chosen] = True
        for number in chosen:
            meanings[number] = other[number]
        meanings = self._meanings(meanings, seed)
        self._fill(space, Tokenizer(vocabulary), vocabulary[NO_LETTERS:], meanings)
        given, rules = map(self._encoded, (meanings, true))  # on the host: a task is built by its shapes alone, too
        width = max(given.shape[1], rules.shape[1])
        self.meanings, self.rules = (jnp.asarray(padded_to(width, words)) for words in (given, rules))
        self.exceptional = jnp.asarray(exceptional)

    def score(self, answer: Any, batch: Any) -> Statistics:
        rows = np.asarray(batch.combinations)[:, 0]
        found = super().score(answer, batch)
        rule = super().score(answer, batch._replace(target=np.asarray(self.rules)[rows].astype(np.int32)))
        return found | {
            "by_rule": (rule["right"] == rule["counted"]).astype(np.int32),
            "exceptional": np.asarray(self.exceptional)[rows].astype(np.int32),
        }


@tasks.register("pcfg-exceptions-lookup-v1")
class PcfgExceptionsLookup(PcfgExceptions):
    """Exceptions among expressions whose strings are shuffled: there is no rule that a net could learn, or overdo.

    Args:
        space: a list of expressions.
        seed: of which expressions are exceptions, and of the shuffle.
        exceptions: as in "pcfg-exceptions-v1".

    Example:
        >>> space = rc.tasks.Pcfg.space_from(ordinary=300)
        >>> rc.tasks.PcfgExceptionsLookup(space).meaning([3]) == rc.tasks.Pcfg(space).meaning([3])
        False
    """

    id = "pcfg-exceptions-lookup-v1"
    controls = {}
    shuffles = True


def _chosen_exceptions(able: list[int], size: int, share: float | str, seed: int) -> list[int]:
    """Numbers of the expressions that are exceptions."""
    if share == "all":
        return able
    if isinstance(share, bool) or not isinstance(share, (int, float)) or not 0 < share < 1:
        raise UserError(f"exceptions={share!r} is no share of the expressions; 0.005 would do")
    wanted = max(round(share * size), 1)
    if wanted > len(able):
        pairs = ", ".join(map(" ".join, EXCEPTIONS))
        raise UserError(
            f"exceptions={share} asks for {wanted:,} exceptions, and only {len(able):,} expressions have one "
            f"of the pairs {pairs}; {len(able) / size:.4f} would do"
        )
    return generator(key_for("teacher", seed)).permutation(able)[:wanted].tolist()


@functools.lru_cache(maxsize=4)
def _drawn(sampler: tuple[int, ...], numbers: tuple[int, ...], synonyms: float) -> Listed:
    seed, _, letters, *_ = sampler
    rows, ordinary = _corpus(sampler, numbers), numbers[0]
    rows, names = [*renamed(rows[:ordinary], synonyms, seed), *rows[ordinary:]], WORDS[: NO_LETTERS + letters]
    return Listed(np.ascontiguousarray(Tokenizer(names).encode_tokens(rows)), names)


@functools.lru_cache(maxsize=2)
def _corpus(sampler: tuple[int, ...], numbers: tuple[int, ...]) -> list[Words]:
    return Sampler(*sampler).corpus(*numbers)


def _rows(space: Space) -> list[Words]:
    names = space.element_names
    return [tuple(names[word] for word in row if word >= 0) for row in texts_of(space).tolist()]


@functools.lru_cache(maxsize=2)
def _strings(space: Space) -> list[Words]:
    """What every expression of a list stands for."""
    return [interpreted(words) for words in _rows(space)]
