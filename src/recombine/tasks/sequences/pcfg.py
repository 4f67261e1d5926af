"""pcfg-v1: expressions of functions of strings become strings, as in PCFG SET (Hupkes et al. 2020).

    swap_first_last echo append A1 B2 , C3   ->   C3 B2 C3 A1

The interpreter (`supports/pcfg_language.py`) gives every released pair, the sampler (`pcfg_sampler.py`) expressions
with the histograms of the released ones. The design "pcfg" makes four of the published tests; the fifth,
overgeneralization, is the world "pcfg-exceptions-v1". In the control world the strings are shuffled.
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
from ...supports.pcfg_language import LETTERS, WORDS, Words, interpreted
from ...supports.pcfg_splits import released_expressions
from ..base import tasks
from ..metrics import Metric, Statistics
from .interpreted_task import Interpreted
from .pcfg_sampler import EXCEPTIONS, Sampler, excepted
from .sequence_task import padded_to, require_seed, require_words, texts_of
from .tokenizer import Tokenizer

ORDINARY = 4_000  # of the default list; PCFG SET has some 97,000
LONGEST = 251  # letters of a string in the released test


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
    controls = {"lookup": "pcfg-lookup-v1"}
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
    ) -> Listed:
        """Expressions by chance, or those of released files.

        Args:
            ordinary: how many with the released histograms.
            twins: how many of them stand there with synonyms, too (for substitutivity).
            unrolled: of how many of them the steps stand there, too (for localism).
            longest: the most letters of the string that one stands for.
            seed: of what is drawn.
            released: paths of released files, whose expressions take the place of a draw.
        """
        if released:
            rows = dict.fromkeys(row for path in released for row in released_expressions(path))
            return Listed(np.ascontiguousarray(Tokenizer(WORDS).encode_tokens(rows)), WORDS)
        require_int("ordinary", ordinary, at_least=1)
        require_int("twins", twins, at_least=0, at_most=ordinary)
        require_int("unrolled", unrolled, at_least=0, at_most=ordinary)
        require_int("longest", longest, at_least=5)
        return _drawn(ordinary, twins, unrolled, longest, seed)

    def interpreted(self, space: Space) -> list[Words]:
        return _strings(space)


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
        exceptions: how many there are, as a share of all expressions; published: 0.0001 to 0.005.

    Example:
        >>> world = rc.tasks.PcfgExceptions(rc.tasks.Pcfg.default_space(), exceptions=0.005)
        >>> int(world.exceptional.sum()), [metric.name for metric in world.metrics][-2:]
        (24, ['by_rule', 'as_exception'])
    """

    id = "pcfg-exceptions-v1"
    controls = {"lookup": "pcfg-lookup-v1"}
    metrics = (
        *Pcfg.metrics,
        Metric("by_rule", "exceptions answered by the rule", by_rule, higher_is_better=False),
        Metric("as_exception", "exceptions answered as trained", learned_exceptions),
    )
    rules: jax.Array  # (size, M) what each would mean by the rule
    exceptional: jax.Array  # (size,)

    def __init__(self, space: Space, seed: int = 0, exceptions: float = 0.005):
        require_seed(seed)
        require_words(space, type(self).id, WORDS, "Pcfg.default_space()")
        if isinstance(exceptions, bool) or not isinstance(exceptions, (int, float)) or not 0 < exceptions < 1:
            raise UserError(f"exceptions={exceptions!r} is no share of the expressions; 0.005 would do")
        true, rows = _strings(space), _rows(space)
        other = {number: interpreted(read) for number, words in enumerate(rows) if (read := excepted(words))}
        able = [number for number, meaning in other.items() if meaning != true[number]]
        wanted = max(round(exceptions * space.size), 1)
        if wanted > len(able):
            pairs = ", ".join(map(" ".join, EXCEPTIONS))
            raise UserError(
                f"exceptions={exceptions} asks for {wanted:,} exceptions, and only {len(able):,} expressions have one "
                f"of the pairs {pairs}; {len(able) / space.size:.4f} would do"
            )
        chosen = generator(key_for("teacher", seed)).permutation(able)[:wanted]
        meanings = list(true)
        for number in chosen.tolist():
            meanings[number] = other[number]
        reads, exceptional = Tokenizer(WORDS), np.zeros(space.size, bool)
        exceptional[chosen] = True
        self._fill(space, reads, LETTERS, meanings)
        meanings_given, rules = np.asarray(self.meanings), self._encoded(true)
        width = max(meanings_given.shape[1], rules.shape[1])
        self.meanings, self.rules = (jnp.asarray(padded_to(width, words)) for words in (meanings_given, rules))
        self.exceptional = jnp.asarray(exceptional)

    def score(self, answer: Any, batch: Any) -> Statistics:
        rows = np.asarray(batch.combinations)[:, 0]
        found = super().score(answer, batch)
        rule = super().score(answer, batch._replace(target=np.asarray(self.rules)[rows].astype(np.int32)))
        return found | {
            "by_rule": (rule["right"] == rule["counted"]).astype(np.int32),
            "exceptional": np.asarray(self.exceptional)[rows].astype(np.int32),
        }


@functools.lru_cache(maxsize=4)
def _drawn(ordinary: int, twins: int, unrolled: int, longest: int, seed: int) -> Listed:
    rows = Sampler(seed, longest).corpus(ordinary, twins, unrolled)
    return Listed(np.ascontiguousarray(Tokenizer(WORDS).encode_tokens(rows)), WORDS)


def _rows(space: Space) -> list[Words]:
    return [tuple(WORDS[word] for word in row if word >= 0) for row in texts_of(space).tolist()]


@functools.lru_cache(maxsize=2)
def _strings(space: Space) -> list[Words]:
    """What every expression of a list stands for."""
    return [interpreted(words) for words in _rows(space)]
