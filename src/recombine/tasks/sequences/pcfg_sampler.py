"""Expressions of PCFG SET by chance, with the histograms of the released ones.

Functions per expression, depths and lengths of strings are those of the 14,581 released expressions of the test on
all tasks. The published generator is not known in full: half of the outermost functions take two strings, and all ten
functions are as frequent.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...keys import generator, key_for
from ...supports.pcfg_language import (
    BINARY,
    LETTERS,
    SYNONYMS,
    UNARY,
    Node,
    Words,
    parsed,
    shape,
    steps,
    value,
    written,
)
from .chance import Chance, Weighted, distinct

#: functions per expression: thousandths
FUNCTION_COUNTS = {
    **dict(enumerate((15, 128, 194, 188, 132, 103, 66, 51, 34, 25, 19, 15, 8, 7, 4), start=1)),
    **{number: 10 * 0.75 ** (number - 16) / 4 for number in range(16, 31)},  # ten of a thousand together
}
MOST_FUNCTIONS = max(FUNCTION_COUNTS)
STRING_LENGTHS = {2: 159, 3: 297, 4: 277, 5: 267}
MOST_LETTERS = max(STRING_LENGTHS)
ALONE = 20  # one twin in so many is of one function alone, for each that has a synonym
MOST_WORDS = 71  # of an expression
#: share of functions of two strings: of the outermost, and of others
OUTER_BINARY, INNER_BINARY = 0.5, 0.37
#: functions to share out -> how often both arguments of a function of two get some; more than 5: the last
BOTH = {2: 0.04, 3: 0.3, 4: 0.6, 5: 0.68}
_SYNONYM_OF = {name: synonym for synonym, name in SYNONYMS.items()}


def with_synonyms(words: Sequence[str]) -> Words:
    """An expression with each function that has a synonym replaced by it."""
    return tuple(_SYNONYM_OF.get(word, word) for word in words)


def renamed(expressions: Sequence[Words], share: float | int, seed: int) -> list[Words]:
    """Expressions in which a share of the functions that have a synonym are written by it.

    Args:
        expressions: without synonyms.
        share: of these functions.
        seed: of which they are.
    """
    chance = Chance(generator(key_for("corpus-pcfg/synonyms", seed)))
    if not share:
        return list(expressions)
    return [
        tuple(_SYNONYM_OF[word] if word in _SYNONYM_OF and chance.happens(share) else word for word in words)
        for words in expressions
    ]


class Sampler:
    """Draws expressions.

    Args:
        seed: of what is drawn.
        longest: the most letters of the string that one stands for.
        letters: how many there are.
        functions: the most of an expression.
        argument: the most letters of an argument.

    Example:
        >>> from recombine.tasks.sequences.pcfg_sampler import Sampler
        >>> len(Sampler(seed=0).corpus(ordinary=50, twins=5, unrolled=0))
        55
    """

    def __init__(
        self,
        seed: int,
        longest: int = 251,
        letters: int = len(LETTERS),
        functions: int = MOST_FUNCTIONS,
        argument: int = MOST_LETTERS,
    ):
        self.chance = Chance(generator(key_for("corpus-pcfg", seed)))
        self.longest, self.alphabet = longest, LETTERS[:letters]
        counts = {number: often for number, often in FUNCTION_COUNTS.items() if number <= functions}
        self.counts = Weighted(tuple(counts), tuple(counts.values()))
        lengths = {number: often for number, often in STRING_LENGTHS.items() if number <= argument}
        self.lengths = Weighted(tuple(lengths), tuple(lengths.values()))
        self.unary, self.binary = tuple(UNARY), tuple(BINARY)

    def corpus(self, ordinary: int, twins: int, unrolled: int, alone: int = 0) -> list[Words]:
        """Expressions, then those with synonyms, then steps of some; no two alike.

        Args:
            ordinary: how many expressions.
            twins: how many of them stand there with synonyms, too.
            unrolled: of how many of them the steps stand there, too.
            alone: expressions of one synonym and letters, of each.
        """
        seen: set[Words] = set()
        plain = distinct(self._expression, ordinary, "expressions of PCFG SET", known=seen)
        found = list(plain)
        if twins:
            for name in SYNONYMS.values():
                found += distinct(lambda name=name: self._of(name), max(1, twins // ALONE), f"{name} alone", known=seen)
        able = [words for words in found[::-1] if with_synonyms(words) != words]  # those of one function come first
        found += map(with_synonyms, able[:twins])
        many = [node for node in map(parsed, plain) if shape(node).functions > 1][:unrolled]
        wanted = dict.fromkeys(step for node in many for step in steps(node))
        found += [step for step in wanted if step not in seen]
        if alone:
            for name in SYNONYMS.values():
                lone = distinct(lambda name=name: self._of(name), alone, f"{name} alone", known=seen)
                found += [one for words in lone if (one := with_synonyms(words)) not in set(found)]
        return found

    # -- one expression -------------------------------------------------------------------------------------------
    def _expression(self) -> Words:
        """An expression that is neither too long nor stands for too long a string."""
        while True:
            node = self._tree(self.chance.one_of(self.counts), OUTER_BINARY)
            words = written(node)
            if len(words) <= MOST_WORDS and len(value(node)) <= self.longest:
                return words

    def _of(self, name: str) -> Words:
        """One function of letters."""
        return written(Node(name, tuple(self._letters() for _ in range(1 if name in UNARY else 2))))

    def _tree(self, functions: int, binary: float) -> Node:
        if not functions:
            return self._letters()
        chance, left = self.chance, functions - 1
        if not chance.happens(binary):
            return Node(self.unary[chance.below(len(self.unary))], (self._tree(left, INNER_BINARY),))
        first = left if chance.happens(0.5) else 0
        if left > 1 and chance.happens(BOTH[min(left, max(BOTH))]):
            first = 1 + chance.below(left - 1)
        inside = self._tree(first, INNER_BINARY), self._tree(left - first, INNER_BINARY)
        return Node(self.binary[chance.below(len(self.binary))], inside)

    def _letters(self) -> Node:
        chance = self.chance
        alphabet = self.alphabet
        return Node("", tuple(alphabet[chance.below(len(alphabet))] for _ in range(chance.one_of(self.lengths))))
