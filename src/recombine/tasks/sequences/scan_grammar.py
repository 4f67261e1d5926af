"""The grammar of SCAN (Lake & Baroni 2018) and what each command means.

    C -> S | S and S | S after S        S -> V | V twice | V thrice        V -> U | D | X opposite T | X around T
    D -> X T        U: a verb        X: a verb or "turn"        T -> left | right

A verb is one action and "turn" none. X T turns and then does X; X opposite T turns twice and then does X; X around T
turns and does X, four times. "A and B" is A, then B; "A after B" is B, then A. With four verbs there are 34 phrases V,
102 sentences S and 102 + 2 * 102^2 = 20,910 commands. More verbs, which SCAN does not have, are called verb-5, ...
"""

from __future__ import annotations

import functools
from collections.abc import Iterator

import numpy as np

from ...errors import UserError, require_int, unknown
from ...labels import quoted

VERBS = ("walk", "look", "run", "jump")
SIDES = ("left", "right")
TIMES = {"twice": 2, "thrice": 3}
JOINTS = ("and", "after")
LINKS = ("turn", *SIDES, "opposite", "around", *TIMES, *JOINTS)
MOST_VERBS = 8  # 114,582 commands; a list of more takes long to make
MOST_DRAWN = 1_000  # where some of the commands are drawn by lot

Command = tuple[str, ...]
Actions = tuple[str, ...]


def verbs(number: int = len(VERBS)) -> tuple[str, ...]:
    """The first verbs of the language."""
    require_int("verbs", number, at_least=1, at_most=MOST_DRAWN)
    return (*VERBS, *(f"verb-{n}" for n in range(len(VERBS) + 1, number + 1)))[:number]


def vocabulary(number: int = len(VERBS)) -> tuple[str, ...]:
    """All words of commands."""
    return (*verbs(number), *LINKS)


def action(verb: str) -> str:
    return f"I_{verb.upper()}"


def actions(number: int = len(VERBS)) -> tuple[str, ...]:
    """All words of meanings."""
    return (*map(action, verbs(number)), *(f"I_TURN_{side.upper()}" for side in SIDES))


def commands(number: int = len(VERBS)) -> Iterator[Command]:
    """Every command, those of one sentence first."""
    require_int("verbs", number, at_least=1, at_most=MOST_VERBS)
    sentences = list(sentences_of(number))
    yield from sentences
    for joint in JOINTS:
        yield from ((*one, joint, *other) for one in sentences for other in sentences)


def sentences_of(number: int = len(VERBS)) -> Iterator[Command]:
    """Every S."""
    yield from ((*phrase, *times) for phrase in phrases(number) for times in ((), ("twice",), ("thrice",)))


def some_commands(number: int, sentences: int, wanted: int) -> list[Command]:
    """Each verb alone, and then others by lot, always the same: `wanted` commands of one sentence, or of up to two."""
    alone = [(verb,) for verb in verbs(number)]
    single = [sentence for sentence in sentences_of(number) if len(sentence) > 1]
    most = len(alone) + len(single) + (len(JOINTS) * (len(alone) + len(single)) ** 2 if sentences == 2 else 0)
    require_int("number of commands", wanted, at_least=len(alone) + 1, at_most=most)
    if sentences == 1:
        lot = np.random.default_rng(0).permutation(len(single))[: wanted - len(alone)]
        return alone + [single[place] for place in sorted(lot)]
    # of all commands but the verbs alone by their number: single sentences, then pairs by joint, first and second
    every = alone + single
    lot = np.random.default_rng(0).choice(most - len(alone), wanted - len(alone), replace=False)
    return alone + [_numbered(int(place), single, every) for place in np.sort(lot)]


def _numbered(place: int, single: list[Command], every: list[Command]) -> Command:
    if place < len(single):
        return single[place]
    place, second = divmod(place - len(single), len(every))
    joint, first = divmod(place, len(every))
    return (*every[first], JOINTS[joint], *every[second])


def phrases(number: int = len(VERBS)) -> Iterator[Command]:
    """Every V: the verbs, then what is done to a side."""
    for verb in verbs(number):
        yield (verb,)
        yield from ((verb, *way, side) for way in ((), ("opposite",), ("around",)) for side in SIDES)
    yield from (("turn", *way, side) for way in ((), ("opposite",), ("around",)) for side in SIDES)


@functools.cache
def meaning(command: Command) -> Actions:
    """The actions of a command; one that the grammar does not make is refused."""
    for joint in JOINTS:
        if joint in command:
            at = command.index(joint)
            first, second = meaning(command[:at]), meaning(command[at + 1 :])
            return first + second if joint == "and" else second + first
    if command[-1:] and command[-1] in TIMES:
        return TIMES[command[-1]] * _of_phrase(command[:-1], command)
    return _of_phrase(command, command)


def _of_phrase(phrase: Command, whole: Command) -> Actions:
    match phrase:
        case (verb,) if verb not in LINKS:
            return (action(verb),)
        case (verb, *way, side) if (verb == "turn" or verb not in LINKS) and side in SIDES:
            turn: Actions = (f"I_TURN_{side.upper()}",)
            does: Actions = () if verb == "turn" else (action(verb),)
            match way:
                case []:
                    return turn + does
                case ["opposite"]:
                    return turn + turn + does
                case ["around"]:
                    return 4 * (turn + does)
    raise UserError(f"{quoted(' '.join(whole))} is no command of SCAN; 'jump around left twice and walk' is one")


def interpreted(text: str, number: int = len(VERBS)) -> Actions:
    """The actions of a command as it is written; a word that the language does not have is refused by name."""
    words = tuple(text.split())
    for word in words:
        if word not in vocabulary(number):
            raise unknown(f"word in {quoted(text)}:", word, vocabulary(number))
    if sum(words.count(joint) for joint in JOINTS) > 1:
        raise UserError(f"{quoted(text)} joins more than two sentences; a command of SCAN joins two at most")
    return meaning(words)
