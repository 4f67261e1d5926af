"""The split of COGS: ordinary sentences are trained on, each generalization case is asked about by itself.

Trained are ordinary sentences, words alone, and one sentence for each word that training shows in one construction
only. Held out are the generalization cases, each a group, and a share of the ordinary sentences ("in-distribution").
The groups "lexical", "structural" and "generalization" put cases together. What a case is, the words
say (`cogs_cases.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..errors import UserError, require_int, unknown
from ..files.released_rows import released_rows
from ..spaces import Space
from .cogs_cases import CASES, EXPOSURE, LEXICAL, ORDINARY, PRIMITIVE, STRUCTURAL, case_of
from .cogs_words import LITTLE
from .designs import supports
from .drawn_sides import seeded
from .support import Support, from_ranks
from .texts import Among, keep_words_trained, read_texts, released_places, require_words_trained

#: file, without ".tsv" -> SHA-256 of its rows in order of the alphabet
RELEASED = {
    "train": "28fb4f40a1022bbf6bf0566be6140248db45a4ecf105f1fc48a18e3b05d842df",
    "dev": "32878c810d740cf0d27a78010afbe066316412a825c91f4f343e0fdbba1de40b",
    "test": "ac40af4c7f41bd6e33bfb6db66a75c6d4935a511bc8418aa1f612cd0da91f461",
    "gen_lexical": "91fa692b25f3e381f7078b0a0bd5cc0a36195cdb53ff8f92bf4ee53fb2660570",
    "gen_structural": "919b837a3286088d039220b27cb693ddb9cdb841cdf585169a98541daaba8bdc",
}
NEEDED = (*LITTLE, "hedgehog")
IN_DISTRIBUTION = "in-distribution"


@supports.register("cogs")
def cogs(
    space: Space,
    *,
    cases: Sequence[str] = (),
    in_distribution: float = 0.1,
    train: str | None = None,
    test: Sequence[str] | None = None,
    seed: int = 0,
) -> Support:
    """COGS: what is trained on, and each generalization case as a group of what is held out.

    Args:
        space: a list of sentences of COGS.
        cases: those that are asked about; all that the list has by default. Others are left out of both sides.
        in_distribution: share of the ordinary sentences that is held out.
        train: path of a released file, whose rows are trained on; it takes the place of a draw.
        test: paths of released files that are held out; needed beside `train`.
        seed: of which ordinary sentences are held out.

    Example:
        >>> rc.supports.cogs(rc.tasks.Cogs.default_space()).group("prim_to_subj_common").size
        50
    """
    texts = read_texts(space, NEEDED, "the design 'cogs' needs a list of COGS sentences, as cogs-v1 has one")
    for case in cases:
        if case not in CASES:
            raise unknown("case of COGS", case, CASES)
    case = np.array([case_of(words) for words in texts])
    if train is not None or test is not None:
        trained, held_out = _released(texts, train, test)
        settings = {"released": True}
    else:
        trained, held_out = _by_rule(space, case, cases, in_distribution, seed)
        settings = {"cases": list(cases), "in_distribution": in_distribution, "seed": seed}
        require_words_trained(space, trained, held_out, "the design 'cogs'")
    support = from_ranks(space, trained, held_out, "cogs", settings=settings, named=_groups(case))
    there = "generalization" in support.groups
    return replace(support, asks="held_out/generalization") if there else support


def _by_rule(
    space: Space, case: np.ndarray, cases: Sequence[str], share: float, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    if isinstance(share, bool) or not isinstance(share, (int, float)) or not 0 <= share < 1:
        raise UserError(f"in_distribution={share!r} is no share of the ordinary sentences; 0.1 would do")
    asked = np.isin(case, cases or CASES)
    ordinary = np.flatnonzero(case == ORDINARY)
    drawn = seeded("support-cogs", require_int("seed", seed, at_least=0)).permutation(ordinary)
    moved = np.zeros(space.size, bool)
    moved[drawn[: int(len(ordinary) * share)]] = True
    trained = np.isin(case, (ORDINARY, PRIMITIVE, EXPOSURE)) & ~moved
    trained = keep_words_trained(space, trained, moved)
    return np.flatnonzero(trained), np.flatnonzero((moved & ~trained) | asked)


def _groups(case: np.ndarray) -> dict[str, Among]:
    kinds = {
        IN_DISTRIBUTION: (ORDINARY,),
        "generalization": CASES,
        "lexical": LEXICAL,
        "structural": STRUCTURAL,
        **{name: (name,) for name in CASES},
    }
    return {name: Among(np.isin(case, members)) for name, members in kinds.items()}


def _released(texts: Sequence[tuple], train: str | None, test: Sequence[str] | None) -> tuple[np.ndarray, np.ndarray]:
    if train is None or not test or isinstance(test, str):
        raise UserError(
            "released files of COGS are given as train='train.tsv' and test=['test.tsv', ...]; one is missing"
        )

    def places(path: str) -> np.ndarray:
        return released_places(path, RELEASED, "COGS", _sentence, texts, "Cogs.space_from(released=[...]) makes one")

    return places(train), np.concatenate([places(path) for path in test])


def released_sentences(path: str) -> list[tuple[str, ...]]:
    """The sentences of a released file of COGS.

    Args:
        path: of the file, plain or packed.
    """
    return [tuple(_sentence(row)) for row in released_rows(path, RELEASED, "COGS")]


def _sentence(row: str) -> list[str]:
    return row.split("\t")[0].split()
