"""The published splits of SCAN, by rule: which commands are trained on, and how often, and which are asked.

    simple              a random fifth is held out
    length              trained: commands that ask for at most `cutoff` actions (published: 22)
    add-jump            trained: commands without "jump", and "jump" alone, a tenth of all rows
    add-turn-left       the same with "turn left"
    jump-around-right, around-right, opposite-right, right
                        held out: commands with that template; those with its "turn ..." are left out of both sides
    filler-0 ... 3      held out: "jump around right"; trained "around right" with that many other verbs
    released            the rows of two released files, `train` and `test`

Lake & Baroni 2018 made the first four, Loula, Baroni & Lake 2018 the others. Each has the rows that were released, but
for `simple`, which is a draw (the released one can be given by its files). With `examples`, that many commands, drawn
from those held out, are trained on instead: the few-shot arms.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..errors import UserError, require_int, unknown
from ..spaces import Space
from .designs import supports
from .drawn_sides import seeded
from .scan_released import Words, places_of
from .support import Support, from_ranks

PRIMITIVES = {"add-jump": ("jump",), "add-turn-left": ("turn", "left")}
TEMPLATES = {
    "jump-around-right": ("jump", "around", "right"),
    "around-right": ("", "around", "right"),  # "": any verb
    "opposite-right": ("", "opposite", "right"),
    "right": ("", "right"),
}
FILLERS = ("look", "walk", "run")  # in the order in which the released files add them
BY_RULE = ("simple", "length", *PRIMITIVES, *TEMPLATES, *(f"filler-{n}" for n in range(len(FILLERS) + 1)))
SPLITS = (*BY_RULE, "released")
NEEDED = ("turn", "left", "right", "opposite", "around", "twice", "thrice", "and", "after")
CUTOFF = 22  # actions, of the published split
TENTH = 9  # rows of the rest for one of the primitive alone
TEST_SHARE = 5  # one in so many, of the published "simple"


@supports.register("scan")
def scan(
    space: Space,
    *,
    split: str = "simple",
    cutoff: int = CUTOFF,
    examples: int = 0,
    trained: int | None = None,
    train: str | None = None,
    test: str | None = None,
    seed: int = 0,
) -> Support:
    """One of the published splits of SCAN commands: random, by length, by a primitive, by a template.

    Args:
        space: a list of commands of SCAN, in its words.
        split: its name; see above.
        cutoff: the most actions of a trained command, where the split is by length.
        examples: so many of the commands that would be held out are trained on.
        trained: so many of the commands are trained on, by lot, and the primitive alone; None: all that can be.
        train: path of a released file, for the split "released".
        test: likewise.
        seed: of what is drawn.

    Example:
        >>> rc.supports.scan(rc.tasks.Scan.default_space(), split="add-jump")
        Support(scan on Listed(20,910 combinations of 13 elements): 13,204 trained, 7,706 held out)
    """
    commands = _commands(space)
    if split not in SPLITS:
        raise unknown("split of SCAN", split, SPLITS)
    if split == "released":
        return _released(space, commands, train, test)
    if train is not None or test is not None:
        raise UserError(f"split={split!r} is made by rule; files are for split='released'")
    rng = seeded("support-scan", seed)
    held_out, used, weights = _by_rule(commands, split, cutoff, rng)
    held_out = _with_examples(held_out, examples, rng)
    rows = np.flatnonzero(used & ~held_out)
    settings = {"split": split, "examples": examples, "seed": seed} | ({"cutoff": cutoff} if split == "length" else {})
    if trained is not None:
        rows, weights = _fewer(rows, weights, trained, rng)
        settings["trained"] = trained
    _require_trained_words(space, rows, split, cutoff)
    return from_ranks(
        space,
        rows,
        np.flatnonzero(held_out),
        "scan",
        weights=weights[rows] if (weights != 1).any() else None,
        settings=settings,
    )


def _by_rule(
    commands: list[Words], split: str, cutoff: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of each command: whether it is held out, whether it is used at all, and how often it is trained on."""
    every, once = np.ones(len(commands), bool), np.ones(len(commands))
    if split == "simple":
        held_out = np.zeros(len(commands), bool)
        held_out[rng.permutation(len(commands))[: len(commands) // TEST_SHARE]] = True
        return held_out, every, once
    if split == "length":
        return _longer_than(np.array([asked_actions(words) for words in commands]), cutoff), every, once
    if split in PRIMITIVES:
        held_out, weights = _primitive(commands, PRIMITIVES[split])
        return held_out, every, weights
    return *_template(commands, split), once


def _released(space: Space, commands: list[Words], train: str | None, test: str | None) -> Support:
    if train is None or test is None:
        raise UserError("split='released' needs train='tasks_train_....txt' and test='tasks_test_....txt'")
    trained, asked = places_of(train, commands), places_of(test, commands)
    times = np.bincount(trained, minlength=len(commands))
    weights = np.ones(len(trained)) if (times > 1).any() else None  # those of a command that comes twice add up
    return from_ranks(space, trained, asked, "scan", weights=weights, settings={"split": "released"})


def _commands(space: Space) -> list[Words]:
    names = space.element_names
    if space.columns or not space.ordered or not set(NEEDED) <= set(names):
        raise UserError(f"the design 'scan' needs a list of SCAN commands, as scan-v1 has one; got {space}")
    return [[names[word] for word in row if word >= 0] for row in space.elements(space.enumerate()).tolist()]


def asked_actions(words: Sequence[str]) -> int:
    """How many actions a command asks for."""
    total, sentence = 0, []
    for word in (*words, "and"):
        if word not in ("and", "after"):
            sentence.append(word)
            continue
        length = int(sentence[0] != "turn")
        if "opposite" in sentence:
            length += 2
        elif "around" in sentence:
            length = 4 * (1 + length)
        elif len(sentence) > 1 and sentence[1] in ("left", "right"):
            length += 1
        total += length * {"twice": 2, "thrice": 3}.get(sentence[-1], 1)
        sentence = []
    return total


def _longer_than(lengths: np.ndarray, cutoff: int) -> np.ndarray:
    require_int("cutoff", cutoff)
    longest, shortest = int(lengths.max()), int(lengths.min())
    if cutoff >= longest:
        near = int(lengths[lengths < longest].max(initial=shortest))
        raise UserError(f"cutoff={cutoff} holds out nothing: no command asks for more than {longest}; {near} would do")
    if cutoff < shortest:
        raise UserError(f"cutoff={cutoff} trains nothing: every command asks for {shortest} actions at least")
    return lengths > cutoff


def _primitive(commands: list[Words], phrase: tuple[str, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Held out is every command with the phrase, but the phrase alone, which is a tenth of the training rows."""
    has, alone = _has(commands, phrase), np.array([tuple(words) == phrase for words in commands])
    _require_some(alone, " ".join(phrase))
    weights = np.where(alone, max(1, (~has).sum() // TENTH), 1).astype(float)
    return has & ~alone, weights


def _template(commands: list[Words], split: str) -> tuple[np.ndarray, np.ndarray]:
    """What is held out, and what stands on either side."""
    phrase = TEMPLATES["jump-around-right" if split.startswith("filler") else split]
    used = ~_has(commands, ("turn", *phrase[1:]))
    held_out = _has(commands, phrase) & used
    _require_some(held_out, " ".join(phrase))
    if split.startswith("filler"):
        shown = FILLERS[: int(split[-1])]
        others = [_has(commands, (verb, *phrase[1:])) for verb in _verbs(commands) if verb not in (*shown, phrase[0])]
        used &= held_out | ~np.logical_or.reduce(others)
    return held_out, used


def _has(commands: list[Words], phrase: tuple[str, ...]) -> np.ndarray:
    """Which commands have the phrase, words side by side; "" is any verb but "turn"."""
    size, verbs = len(phrase), set(_verbs(commands))

    def alike(words: Words) -> bool:
        return all(
            word in verbs if wanted == "" else word == wanted for word, wanted in zip(words, phrase, strict=True)
        )

    return np.array([any(alike(words[at : at + size]) for at in range(len(words) - size + 1)) for words in commands])


def _verbs(commands: list[Words]) -> list[str]:
    return sorted({word for words in commands for word in words} - set(NEEDED))


def _require_some(found: np.ndarray, phrase: str) -> None:
    if not found.any():
        raise UserError(f"no command of the list is {phrase.strip()!r}, which the split is about; scan-v1 has all")


def _with_examples(held_out: np.ndarray, examples: int, rng: np.random.Generator) -> np.ndarray:
    """`held_out` without so many of it."""
    there = np.flatnonzero(held_out)
    require_int("examples", examples, at_least=0, at_most=len(there) - 1)
    left = held_out.copy()
    left[rng.permutation(there)[:examples]] = False
    return left


def _fewer(
    rows: np.ndarray, weights: np.ndarray, wanted: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """So many of the rows by lot, and the primitive alone, which is a tenth of them again."""
    alone, others = rows[weights[rows] != 1], rows[weights[rows] == 1]
    require_int("trained", wanted, at_least=1, at_most=len(others))
    weights = np.where(weights != 1, max(1, wanted // TENTH), weights)
    return np.sort(np.concatenate([alone, rng.permutation(others)[:wanted]])), weights


def _require_trained_words(space: Space, train: np.ndarray, split: str, cutoff: int) -> None:
    """Every word of the list occurs in training; one that none of its commands has is no matter."""
    trained, there = (_occurs(space, ranks) for ranks in (train, np.arange(space.size)))
    missing = [space.element_names[word] for word in np.flatnonzero(there & ~trained)]
    if missing:
        asked = f"split='length' with cutoff={cutoff}" if split == "length" else f"split={split!r}"
        more = "a larger cutoff" if split == "length" else "a list with more commands"
        raise UserError(f"{asked} leaves {missing[0]!r} untrained, and is not about that; {more} would do")


def _occurs(space: Space, ranks: np.ndarray) -> np.ndarray:
    """Which words occur in some commands."""
    found = np.zeros(len(space.element_names) + 1, bool)
    found[space.elements(space.unrank(ranks)).ravel()] = True  # padding is the last
    return found[:-1]
