"""The tests of PCFG SET (Hupkes et al. 2020) as splits of a list of expressions.

    random                    a share of the expressions is held out
    systematicity             held out: expressions in which one of four functions stands directly before another
    productivity              held out: expressions of more than `functions` functions (published: 8)
    substitutivity-equal      each expression that has a twin with synonyms is trained in one of the two ways of
                              writing, as often in either, and asked about in the other
    substitutivity-primitive  synonyms are trained alone, as the only function, and asked about among others
    localism                  held out: the steps of trained expressions, one function of letters at a time
    overgeneralization        of expressions in which one of four functions stands right before another only a few are
                              trained, the group "exceptions", half of them of two functions: in the world
                              "pcfg-exceptions-v1" with exceptions="all" these break the rule
    released                  the rows of released files, `train` and `test`

The published scores of substitutivity and localism compare two answers of a net; here each is a match with the truth.
The study `pcfg` asks for both answers.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..errors import UserError, require_int, unknown
from ..files.released_rows import released_rows
from ..spaces import Space
from .designs import supports
from .drawn_sides import held_out_count, seeded
from .pcfg_exceptions import EXCEPTIONS, excepted, exception_of
from .pcfg_language import FUNCTIONS, SYNONYMS, Words, parsed, shape, steps
from .support import Support, from_ranks
from .texts import Among, read_texts, released_places, require_words_trained

SPLITS = (
    "random",
    "systematicity",
    "productivity",
    "substitutivity-equal",
    "substitutivity-primitive",
    "localism",
    "overgeneralization",
    "released",
)
#: (outer, inner) functions that are never trained side by side
APART = (
    ("swap_first_last", "repeat"),
    ("append", "remove_second"),
    ("repeat", "remove_second"),
    ("append", "swap_first_last"),
)
MOST_FUNCTIONS = 8  # of a trained expression, in the published split
#: file, without ".tsv" -> SHA-256 of its rows in order of the alphabet
RELEASED = {
    "dev": "e04bf945d0f908cdac4f075c6f0f52a79136345d6dc8e7fb006e2aa904d31820",
    "test": "4ce989a9115105aefc32544ba6765357a699ce2fd6adf8eb4b9678a2fc9adcda",
    "systematicity": "4f058d83e730a96671c2dfff555af7f12f89239479925ecf34429e67e9a52269",
    "productivity": "1e52ff11b0ee2acc093fe72403d1adb807e67c1c65c8e4759bc6008ed052aee2",
}
_MAKES = {
    "substitutivity-equal": "a list with twins, such as Pcfg.space_from(twins=100)",
    "substitutivity-primitive": "a list with twins, such as Pcfg.space_from(twins=100)",
    "localism": "a list with steps, such as Pcfg.space_from(unrolled=100)",
}


@supports.register("pcfg")
def pcfg(
    space: Space,
    *,
    split: str = "random",
    functions: int = MOST_FUNCTIONS,
    held_out: float = 0.15,
    exceptions: float = 0.001,
    train: str | None = None,
    test: str | None = None,
    seed: int = 0,
) -> Support:
    """One of the tests of PCFG SET: random, systematicity, productivity, substitutivity, localism, overgeneralization.

    Args:
        space: a list of expressions of PCFG SET.
        split: its name; see above.
        functions: the most functions of a trained expression, where the split is by productivity.
        held_out: share that is held out, where the split is random.
        exceptions: how many of each pair are trained, where the split is "overgeneralization", as a share of the
            expressions with the rarer function of the pair; one at least.
        train: path of a released file, for the split "released".
        test: likewise.
        seed: of what is drawn.

    Example:
        >>> split = rc.supports.pcfg(rc.tasks.Pcfg.default_space(), split="productivity")
        >>> split.settings["functions"], split.train.size > split.held_out.size
        (8, True)
    """
    texts = read_texts(space, FUNCTIONS, "the design 'pcfg' needs a list of expressions, as pcfg-v1 has one")
    if split not in SPLITS:
        raise unknown("split of PCFG SET", split, SPLITS)
    rng = seeded("support-pcfg", require_int("seed", seed, at_least=0))
    settings: dict = {"split": split, "seed": seed}
    if split == "released":
        trained, asked = _released(texts, train, test)
        return from_ranks(space, trained, asked, "pcfg", settings=settings)
    if train is not None or test is not None:
        raise UserError(f"split={split!r} is made by rule; files are for split='released'")
    used, named = np.ones(space.size, bool), {}
    if split == "random":
        out = np.zeros(space.size, bool)
        out[rng.permutation(space.size)[: held_out_count(space, held_out)]] = True
        settings["held_out"] = held_out
    elif split == "systematicity":
        out = np.array([any(pair in APART for pair in zip(words, words[1:], strict=False)) for words in _plain(texts)])
    elif split == "productivity":
        out = _many(texts, functions)
        settings["functions"] = functions
    elif split == "localism":
        out = _steps(texts)
    elif split == "overgeneralization":
        trained_exceptions, out = _exceptions(texts, exceptions, rng)
        named, settings["exceptions"] = {"exceptions": Among(trained_exceptions)}, exceptions
    else:
        out, used = _twins(texts, split, rng)
    _require_some(split, out)
    trained, asked = np.flatnonzero(used & ~out), np.flatnonzero(out)
    if split != "random":
        require_words_trained(space, trained, asked, f"split={split!r}")
    return from_ranks(space, trained, asked, "pcfg", settings=settings, named=named)


def _many(texts: Sequence[Words], functions: int) -> np.ndarray:
    count = np.array([sum(word in FUNCTIONS or word in SYNONYMS for word in words) for words in texts])
    most = int(count.max())
    require_int("functions", functions, at_least=1)
    if functions >= most:
        raise UserError(
            f"functions={functions} holds out nothing: no expression has more than {most}; {max(most - 1, 1)} would do"
        )
    return count > functions


def _plain(texts: Sequence[Words]) -> list[Words]:
    """Expressions with no synonym in them."""
    return [tuple(SYNONYMS.get(word, word) for word in words) for words in texts]


def _exceptions(texts: Sequence[Words], share: float, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Which expressions are exceptions that are trained, and which others have one of the pairs."""
    if isinstance(share, bool) or not isinstance(share, (int, float)) or not 0 < share <= 1:
        raise UserError(f"exceptions={share!r} is no share of the expressions with a function; 0.001 would do")
    chosen, there = np.zeros(len(texts), bool), np.array([excepted(words) is not None for words in texts])
    pairs = {number: _pairs(texts[number]) for number in np.flatnonzero(there).tolist()}
    for pair in EXCEPTIONS:
        able = [number for number, own in pairs.items() if own == [pair] and exception_of(texts[number])]
        rarer = min(sum(name in words for words in texts) for name in pair)
        wanted = max(1, round(share * rarer))
        if wanted > len(able):
            raise UserError(
                f"exceptions={share} asks for {wanted:,} expressions with {' '.join(pair)}, and the list has "
                f"{len(able):,}; " + (f"{len(able) / rarer:.4f} would do" if able else "one with more would do")
            )
        shuffled = rng.permutation(able)
        lone = np.array([number for number in shuffled if shape(parsed(texts[number])).functions == 2], int)
        others = np.setdiff1d(shuffled, lone, assume_unique=True)
        few = lone[: max(wanted // 2, wanted - len(others))]
        chosen[[*few, *others[: wanted - len(few)]]] = True
    return chosen, there & ~chosen


def _pairs(words: Words) -> list[tuple[str, str]]:
    return [pair for pair in zip(words, words[1:], strict=False) if pair in EXCEPTIONS]


def _steps(texts: Sequence[Words]) -> np.ndarray:
    """Which expressions are a step of a larger one of the list; a step is one function of letters."""
    nodes = [parsed(words) for words in texts]
    larger = [node for node in nodes if shape(node).functions > 1]
    known = {step for node in larger for step in steps(node)}
    return np.array([words in known for words in texts])


def _twins(texts: Sequence[Words], split: str, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """What is held out, and what is used, of expressions that are there with synonyms and without."""
    place = {words: number for number, words in enumerate(texts)}
    plain = _plain(texts)
    other = np.array([place.get(one, -1) if one != words else -1 for one, words in zip(plain, texts, strict=True)])
    out, used = np.zeros(len(texts), bool), np.ones(len(texts), bool)
    with_synonym = np.flatnonzero(other >= 0)
    if not len(with_synonym):
        return out, used
    if split == "substitutivity-primitive":
        many = np.array([sum(word in FUNCTIONS or word in SYNONYMS for word in words) > 1 for words in texts])
        out[with_synonym] = many[with_synonym]
        return out, used
    swapped = rng.permutation(with_synonym)[: len(with_synonym) // 2]
    out[with_synonym] = True
    out[swapped] = False  # these are trained with synonyms and asked about without
    out[other[swapped]] = True
    twins = np.union1d(with_synonym, other[with_synonym])
    used[:] = [not any(word in SYNONYMS.values() for word in words) for words in texts]
    used[twins] = True  # what has no twin would make one way of writing more frequent
    return out, used


def _require_some(split: str, out: np.ndarray) -> None:
    if not out.any():
        remedy = _MAKES.get(split, "a list with more expressions")
        raise UserError(f"split={split!r} holds out nothing of the list; {remedy} would do")


def _released(texts: Sequence[Words], train: str | None, test: str | None) -> tuple[np.ndarray, np.ndarray]:
    if train is None or test is None:
        raise UserError("split='released' needs train='....tsv' and test='....tsv'")
    remedy = "Pcfg.space_from(released=[...]) makes one"
    first, second = (released_places(path, RELEASED, "PCFG SET", _expression, texts, remedy) for path in (train, test))
    return first, second


def released_expressions(path: str) -> list[Words]:
    """The expressions of a released file of PCFG SET.

    Args:
        path: of the file, plain or packed.
    """
    return [tuple(_expression(row)) for row in released_rows(path, RELEASED, "PCFG SET")]


def _expression(row: str) -> list[str]:
    return row.split("\t")[0].split()
