"""einstein-v1: puzzles of who lives where, and their one solution (Einstein's riddle, as in Dziri et al. 2023).

    houses 2 3 : a4 a1 : c2 c6 : a4 with c2 ; a1 at 3   ->                           a4 c2 ; a1 c6
                                           with steps   ->   a4 2 a1 3 ; c2 2 c6 3 = a4 c2 ; a1 c6

First the houses, then the values of each attribute, then clues. The answer goes from house to house. Houses, attributes
and values come from pools that are larger than a puzzle, so that a larger puzzle has no new word.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence

import equinox as eqx
import numpy as np

from ...errors import UserError, require_int
from ...keys import generator, key_for
from ...spaces import Listed, Space
from ..base import tasks
from .chance import Chance
from .interpreted_task import Interpreted
from .puzzle_solver import KINDS, Clue, drawn_puzzle, shuffled_range, solutions
from .puzzle_steps import reasoning_path
from .sequence_task import texts_of
from .tokenizer import Tokenizer

MOST = 6  # houses, attributes, and values of an attribute
HOUSES = tuple(str(number) for number in range(1, MOST + 1))
VALUES = tuple(f"{letter}{number}" for letter in "abcdef" for number in range(1, MOST + 1))
START, COLON, STOP = "houses", ":", ";"
WORDS = (START, COLON, STOP, *KINDS, *HOUSES, *VALUES)
EQUALS = "="
OUT = (STOP, EQUALS, *HOUSES, *VALUES)
SIZES = ("2x2", "3x2", "2x3", "3x3")
Words = tuple[str, ...]


@tasks.register("einstein-v1")
class Einstein(Interpreted):
    """Who lives where: clues, and the one arrangement that they allow.

    Args:
        space: a list of puzzles; `Einstein.space_from` makes one.
        seed: of nothing: the solutions are what they are.
        steps: whether the target shows a way to the solution: the values that each step places, and their houses.

    Example:
        >>> world = rc.tasks.Einstein(rc.tasks.Einstein.default_space())
        >>> world.text([0]), world.meaning([0])
        ('houses 2 3 : a2 a6 : c1 c2 : a2 beside c2 ; a2 at 3', 'a6 c2 ; a2 c1')
    """

    id = "einstein-v1"
    controls = {"lookup": "einstein-lookup-v1"}
    vocabulary, answers = WORDS, OUT
    steps: bool = eqx.field(static=True)

    @classmethod
    def default_space(cls) -> Space:
        """Puzzles of two and three houses."""
        return cls.space_from()

    @classmethod
    def space_from(cls, sizes: Sequence[str] = SIZES, each: int = 60, seed: int = 0) -> Listed:
        """Puzzles by chance, each with one solution and without a clue to spare.

        Args:
            sizes: houses and attributes, such as "3x2".
            each: how many of each size.
            seed: of what is drawn.
        """
        require_int("each", each, at_least=1)
        return _drawn(tuple(dict.fromkeys(map(_size, sizes))), each, seed)

    def __init__(self, space: Space, seed: int = 0, steps: bool = False):
        self.steps = bool(steps)
        super().__init__(space, seed)

    def interpreted(self, space: Space) -> list[Words]:
        answers = _solved(space)
        if not self.steps:
            return answers
        return [(*ways, EQUALS, *answer) for ways, answer in zip(map(way, _texts(space)), answers, strict=True)]


@tasks.register("einstein-lookup-v1")
class EinsteinLookup(Einstein):
    """Solutions shuffled among the puzzles: clues do not matter, each answer has to be looked up.

    Args:
        space: a list of puzzles.
        seed: of the shuffle.
        steps: whether the target shows a way to the solution.

    Example:
        >>> space = rc.tasks.Einstein.default_space()
        >>> rc.tasks.EinsteinLookup(space).meaning([0]) == rc.tasks.Einstein(space).meaning([0])
        False
    """

    id = "einstein-lookup-v1"
    controls = {}
    shuffles = True


# -- words and puzzles ----------------------------------------------------------------------------------------------


def solved(words: Sequence[str]) -> Words:
    """The solution of a puzzle in words; one that has none, or several, is refused.

    Args:
        words: of the puzzle.

    Example:
        >>> from recombine.tasks.sequences.einstein import solved
        >>> " ".join(solved("houses 2 3 : a4 a1 : c2 c6 : a4 left c6".split()))
        'a4 c2 ; a1 c6'
    """
    houses, attributes, clues = read(words)
    found = solutions(len(houses), len(attributes), clues)
    if len(found) != 1:
        what = "several solutions; a further clue" if found else "no solution; fewer clues"
        raise UserError(f"the puzzle {' '.join(words)!r} has {what} would do")
    values = [value for attribute in attributes for value in attribute]
    said: list[str] = []
    for house in range(len(houses)):
        said += [STOP] if house else []
        said += [value for value, there in zip(values, found[0], strict=True) if there == house]
    return tuple(said)


def way(words: Sequence[str]) -> Words:
    """The steps to the solution of a puzzle in words: each value that a step places, and its house.

    Args:
        words: of the puzzle.

    Example:
        >>> from recombine.tasks.sequences.einstein import way
        >>> " ".join(way("houses 2 3 : a4 a1 : c2 c6 : a4 with c6 ; a1 at 2".split()))
        'a4 3 a1 2 ; c2 2 c6 3'
    """
    houses, attributes, clues = read(words)
    values = [value for attribute in attributes for value in attribute]
    said: list[str] = []
    for number, step in enumerate(reasoning_path(len(houses), len(attributes), clues)):
        said += [STOP] if number else []
        for value, house in step:
            said += [values[value], houses[house]]
    return tuple(said)


def read(words: Sequence[str]) -> tuple[Words, list[Words], list[Clue]]:
    """The houses, the values of each attribute, and the clues of a puzzle in words.

    Args:
        words: of the puzzle.
    """
    parts = _split(words, COLON)
    houses, attributes = parts[0][1:], parts[1:-1]
    values = [value for attribute in attributes for value in attribute]
    known = parts[0][:1] == (START,) and attributes and all(len(one) == len(houses) for one in attributes)
    if not known or len(set(values)) < len(values) or not set(houses) <= set(HOUSES) or not set(values) <= set(VALUES):
        raise _refusal(words)
    clues = []
    for clue in _split(parts[-1], STOP):
        at = len(clue) == 3 and clue[1] == "at"
        if len(clue) != 3 or clue[1] not in KINDS or clue[0] not in values or clue[2] not in (houses if at else values):
            raise _refusal(words)
        clues.append(Clue(clue[1], values.index(clue[0]), (houses if at else tuple(values)).index(clue[2])))
    return houses, attributes, clues


def _refusal(words: Sequence[str]) -> UserError:
    return UserError(f"{' '.join(words)!r} is no puzzle; 'houses 1 2 : a1 a2 : b1 b2 : a1 at 1 ; a1 with b2' is one")


def _split(words: Sequence[str], sign: str) -> list[Words]:
    parts: list[list[str]] = [[]]
    for word in words:
        if word == sign:
            parts.append([])
        else:
            parts[-1].append(word)
    return [tuple(part) for part in parts]


def _size(text: str) -> tuple[int, int]:
    parts = text.split("x") if isinstance(text, str) else []
    if len(parts) != 2 or not all(part.isdecimal() and 2 <= int(part) <= MOST for part in parts):
        raise UserError(f"size {text!r} is none of a puzzle; '3x2' has three houses and two attributes, of 2 to {MOST}")
    return int(parts[0]), int(parts[1])


@functools.lru_cache(maxsize=4)
def _drawn(sizes: tuple[tuple[int, int], ...], each: int, seed: int) -> Listed:
    rows: list[Words] = []
    for houses, attributes in sizes:
        chance = Chance(generator(key_for(f"corpus-einstein-{houses}x{attributes}", seed)))
        found: dict[Words, None] = {}
        while len(found) < each:
            found[_puzzle(houses, attributes, chance)] = None
        rows += found
    return Listed(np.ascontiguousarray(Tokenizer(WORDS).encode_tokens(rows)), WORDS)


def _puzzle(houses: int, attributes: int, chance: Chance) -> Words:
    """A puzzle in words: which houses, attributes and values it has is drawn, too."""
    first = chance.below(MOST - houses + 1)
    numbers = HOUSES[first : first + houses]
    values: list[str] = []
    words = [START, *numbers]
    for letter in sorted(shuffled_range(MOST, chance)[:attributes]):
        own = [VALUES[MOST * letter + number] for number in shuffled_range(MOST, chance)[:houses]]
        values += own
        words += [COLON, *own]
    for place, (kind, one, other) in enumerate(drawn_puzzle(houses, attributes, chance)):
        second = numbers[other] if kind == "at" else values[other]
        words += [STOP if place else COLON, values[one], kind, second]
    return tuple(words)


@functools.lru_cache(maxsize=2)
def _solved(space: Space) -> list[Words]:
    """The solution of every puzzle of a list."""
    return [solved(words) for words in _texts(space)]


def _texts(space: Space) -> list[Words]:
    return [tuple(WORDS[word] for word in row if word >= 0) for row in texts_of(space).tolist()]
