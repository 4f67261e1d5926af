"""scan-v1: commands become actions, as in SCAN (Lake & Baroni 2018): "jump twice" -> I_JUMP I_JUMP.

All 20,910 commands of the published grammar, and what each means, word for word as released. The design "scan"
(`supports/scan_splits.py`) makes the published splits. Its control world shuffles the meanings among the commands: each
has one of its own, and nothing about it follows from its words.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence

import numpy as np

from ...errors import UserError
from ...keys import generator, key_for
from ...spaces import Listed, Space
from ..base import tasks
from .scan_grammar import (
    LINKS,
    MOST_DRAWN,
    VERBS,
    Actions,
    action,
    actions,
    commands,
    meaning,
    some_commands,
    vocabulary,
)
from .sequence_task import Sequences, require_seed, require_words, texts_of
from .tokenizer import Tokenizer


@tasks.register("scan-v1")
class Scan(Sequences):
    """SCAN: commands of up to nine words, and the actions that they ask for.

    Args:
        space: a list of commands; `Scan.default_space()` has all 20,910, `scan_commands` those with more verbs.
        seed: of nothing: the meanings are those of the language.

    Example:
        >>> world = rc.tasks.Scan(rc.tasks.Scan.default_space())
        >>> world.space.size, world.text([33]), world.meaning([33])
        (20910, 'look opposite right', 'I_TURN_RIGHT I_TURN_RIGHT I_LOOK')
    """

    id = "scan-v1"
    controls = {"lookup": "scan-lookup-v1", "indifferent": "scan-indifferent-v1"}

    @classmethod
    def default_space(cls) -> Space:
        """All commands of SCAN."""
        return scan_commands()

    @classmethod
    def space_from(cls, verbs: int = 4, sentences: int = 2, number: int | None = None) -> Space:
        """The space of a trial: {"verbs": 50, "number": 20910} (`scan_commands`)."""
        return scan_commands(verbs, sentences, number)

    def __init__(self, space: Space, seed: int = 0):
        require_seed(seed)
        number = len(space.element_names) - len(LINKS)
        known = vocabulary(number) if 1 <= number <= MOST_DRAWN else vocabulary()
        require_words(space, type(self).id, known, "Scan.default_space()")
        reads = Tokenizer(known)
        said = [tuple(known[word] for word in row if word >= 0) for row in texts_of(space).tolist()]
        self._fill(space, reads, actions(number), self._meanings(list(map(meaning, said)), seed))

    def _meanings(self, true: Sequence[Actions], seed: int) -> Sequence[Actions]:
        return true


@tasks.register("scan-lookup-v1")
class ScanLookup(Scan):
    """SCAN with meanings shuffled among the commands: nothing composes, each has to be looked up.

    Args:
        space: a list of commands.
        seed: of the shuffle.

    Example:
        >>> world = rc.tasks.ScanLookup(rc.tasks.scan_commands(sentences=1))
        >>> world.text([64]), world.meaning([64])
        ('jump twice', 'I_TURN_LEFT I_RUN')
    """

    id = "scan-lookup-v1"
    controls = {}

    def _meanings(self, true: Sequence[Actions], seed: int) -> Sequence[Actions]:
        order = generator(key_for("teacher", seed)).permutation(len(true))
        return [true[number] for number in order]


@tasks.register("scan-indifferent-v1")
class ScanIndifferent(Scan):
    """SCAN with one meaning for all commands: whoever answers one answers all, however they are put together.

    Args:
        space: a list of commands.
        seed: of nothing.

    Example:
        >>> world = rc.tasks.ScanIndifferent(rc.tasks.scan_commands(sentences=1))
        >>> {world.meaning([row]) for row in range(world.space.size)}
        {'I_WALK'}
    """

    id = "scan-indifferent-v1"
    controls = {}

    def _meanings(self, true: Sequence[Actions], seed: int) -> Sequence[Actions]:
        return [(action(VERBS[0]),)] * len(true)


@functools.cache
def scan_commands(verbs: int = 4, sentences: int = 2, number: int | None = None) -> Listed:
    """The commands of SCAN as a space: a list of rows of words.

    Args:
        verbs: how many there are; SCAN has 4, and 8 is the most of a whole list.
        sentences: in a command at most: 1 leaves out those with "and" and "after".
        number: so many of the commands, each verb alone and others by lot; None: all of them.

    Example:
        >>> rc.tasks.scan_commands(sentences=1)
        Listed(102 combinations of 13 elements)
        >>> rc.tasks.scan_commands(verbs=50, number=20_910)
        Listed(20,910 combinations of 59 elements)
    """
    if sentences not in (1, 2):
        raise UserError(f"sentences={sentences} in a command; SCAN has 1 or 2")
    if number is not None:
        rows = some_commands(verbs, sentences, number)
    else:
        rows = [row for row in commands(verbs) if sentences == 2 or not {"and", "after"} & set(row)]
    return Listed(np.ascontiguousarray(Tokenizer(vocabulary(verbs)).encode_tokens(rows)), vocabulary(verbs))
