"""Features of a combination, from what was trained alone. All are ours, and all rise with risk.

They are shares and ratios, not counts, so that what was learned on one space can be asked about another.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .seen import Seen

#: name -> what it says
FEATURES = {
    "unseen": "the combination itself was never trained",
    "untrained": "share of its levels that were never trained",
    "any_unseen_pair": "some pair of its levels was never seen together",
    "unseen_pairs": "share of its pairs that were never seen together",
    "any_unseen_triple": "some triple of its levels was never seen together",
    "unseen_triples": "share of its triples that were never seen together",
    "apart": "its levels belong to groups that were never combined",
    "nearest": "share of its levels in which the nearest trained combination differs",
    "rare_pair": "how much rarer its rarest pair is than pairs on average, in doublings of combinations",
    "rare_pairs": "the same, on average over its pairs",
    "rare_pair_rows": "the same for its rarest pair, in doublings of rows",
    "rare_level": "how much rarer its rarest level is than levels on average, in doublings",
}
PROBE_FEATURE = "unreadable"  # 1 - the share of right readings of its least readable level, on other combinations
#: features whose unknown values say that the question is of another kind; they are checked even if they have no weight
STRUCTURAL = ("unseen", "untrained", "any_unseen_pair", "unseen_pairs", "apart")


@dataclass(frozen=True)
class Features:
    """One row per combination."""

    names: tuple[str, ...]
    values: np.ndarray  # (combinations, names)

    def __getitem__(self, name: str) -> np.ndarray:
        return self.values[:, self.names.index(name)]

    def at(self, chosen: np.ndarray) -> Features:
        return Features(self.names, self.values[chosen])


def describe(seen: Seen, combinations: np.ndarray, readable: np.ndarray | None = None) -> Features:
    """The features of combinations. `readable` gives the share of right readings of each element, if it was probed."""
    combinations = np.asarray(combinations)
    step = seen.at_once(2)
    if len(combinations) > step:
        parts = [describe(seen, combinations[i : i + step], readable) for i in range(0, len(combinations), step)]
        return Features(parts[0].names, np.concatenate([part.values for part in parts]))
    n = len(combinations)
    space = seen.space
    ids = space.elements(combinations).astype(np.int64)
    there = ids >= 0
    size = there.sum(1)
    usage = np.append(seen.usage, 0)[ids]  # -1 reads the last
    parts = np.append(seen.component_of, -1)[ids]
    found: dict[str, np.ndarray] = {"unseen": (~seen.contains(combinations)).astype(float)}
    found["untrained"] = ((usage == 0) & there).sum(1) / size
    found |= _pairs(seen, combinations)
    found |= _triples(seen, combinations)
    highest = np.where(there, parts, -1).max(1, initial=-1)
    lowest = np.where(there & (parts >= 0), parts, np.iinfo(np.int64).max).min(1, initial=np.iinfo(np.int64).max)
    found["apart"] = (highest > lowest).astype(float)
    found["nearest"] = seen.distance(combinations) / space.width if n else np.zeros(0)
    found["rare_level"] = _rarity(_even_use(seen)[ids], usage, there).max(1, initial=0)
    names = [*FEATURES]
    if readable is not None:
        read = np.where(there, np.append(readable, np.nan)[ids], np.nan)
        known = ~np.isnan(read)
        found[PROBE_FEATURE] = np.where(known.any(1), 1 - np.where(known, read, np.inf).min(1, initial=np.inf), 0.0)
        names.append(PROBE_FEATURE)
    return Features(tuple(names), np.stack([found[name] for name in names], axis=1) if n else np.zeros((0, len(names))))


def _pairs(seen: Seen, combinations: np.ndarray) -> dict[str, np.ndarray]:
    zero = np.zeros(len(combinations))
    if seen.space.width < 2 or not seen.affordable(2):
        return dict.fromkeys(("any_unseen_pair", "unseen_pairs", "rare_pair", "rare_pairs", "rare_pair_rows"), zero)
    counts, rows, there = seen.tuple_counts(combinations, 2)
    unseen = (counts == 0) & there
    number = np.maximum(there.sum(1), 1)
    cells = np.array([seen.table(place).cells for place in seen.places(2)], dtype=float)
    if not seen.space.columns:  # one table for all places: half of its cells are pairs
        cells[:] = max(seen.space.possible_tuples(2), 1)
    total = np.array([seen.table(place).combinations.sum() for place in seen.places(2)])
    total_rows = np.array([seen.table(place).rows.sum() for place in seen.places(2)])
    rarity = _rarity(total / cells, counts, there)
    return {
        "any_unseen_pair": unseen.any(1).astype(float),
        "unseen_pairs": unseen.sum(1) / number,
        "rare_pair": rarity.max(1, initial=0),
        "rare_pairs": np.maximum(rarity.sum(1) / number, 0),
        "rare_pair_rows": _rarity(total_rows / cells, rows, there).max(1, initial=0),
    }


def _triples(seen: Seen, combinations: np.ndarray) -> dict[str, np.ndarray]:
    zero = np.zeros(len(combinations))
    if seen.space.width < 3 or not seen.affordable(3):
        return {"any_unseen_triple": zero, "unseen_triples": zero}
    unseen, number = zero.copy(), zero.copy()
    for place in seen.places(3):
        has, codes = seen.codes(combinations, place)
        unseen[has] += seen.table(place).look_up(codes)[0] == 0
        number[has] += 1
    return {"any_unseen_triple": (unseen > 0).astype(float), "unseen_triples": unseen / np.maximum(number, 1)}


def _even_use(seen: Seen) -> np.ndarray:
    """What each element's usage would be if its class were used evenly; -1 reads a last zero."""
    even = np.zeros(len(seen.space.element_names) + 1)
    for members in seen.space.classes:
        even[list(members)] = seen.usage[list(members)].mean()
    return even


def _rarity(expected: np.ndarray, counts: np.ndarray, there: np.ndarray) -> np.ndarray:
    return np.where(there, np.log2((1 + expected) / (1 + counts)), 0.0)
