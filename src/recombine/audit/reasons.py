"""Reasons in words: what about a combination was never seen, and what comes nearest."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..labels import listed, quoted, visible
from .seen import Seen

_NAMED = 3  # pairs or triples that are named; the rest is a number
_NEAREST_WORK = 100_000_000


def explain(seen: Seen, combinations: np.ndarray, nearest: int = 200) -> list[list[str]]:
    """Reasons for each combination; the nearest trained one is looked for in the first `nearest`."""
    step = seen.at_once(2)
    if len(combinations) > step:
        parts = [combinations[start : start + step] for start in range(0, len(combinations), step)]
        return [words for i, part in enumerate(parts) for words in explain(seen, part, max(0, nearest - i * step))]
    if not len(combinations):
        return []
    space = seen.space
    ids = space.elements(combinations).astype(np.int64)
    pairs = _unseen(seen, combinations, 2)
    triples = _unseen(seen, combinations, 3)
    rows = seen.tuple_counts(combinations, 2)[1] if space.width > 1 and seen.affordable(2) else None
    few = np.maximum(5.0, 0.1 * np.median(rows, axis=1)) if rows is not None else None
    nearest = min(nearest, _NEAREST_WORK // max(len(seen) * space.width, 1) + 1)
    name = _namer(seen)
    found = []
    for number, own in enumerate(ids):
        words = [f"{name(i)} was never trained" for i in own if i >= 0 and not seen.usage[i]]
        fresh = pairs[number]
        if words:  # pairs with a level that was never trained are said by that
            fresh = [pair for pair in fresh if all(seen.usage[own[c]] for c in pair)]
        words += [f"{name(own[a])} was never seen with {name(own[b])}" for a, b in fresh[:_NAMED]]
        words += _rest(fresh, "unseen pairs")
        parts = {int(seen.component_of[i]) for i in own if i >= 0 and seen.usage[i]}
        if len(parts) > 1:
            words.append(f"its levels come from {len(parts)} groups that were never combined")
        if not pairs[number] and triples is not None:
            for triple in triples[number][:_NAMED]:
                words.append(f"{listed([name(own[c]) for c in triple])} were never seen together")
            words += _rest(triples[number], "unseen triples")
        if not pairs[number] and rows is not None and few is not None:
            rarest = int(np.argmin(rows[number]))
            if rows[number, rarest] <= few[number]:
                a, b = seen.places(2)[rarest]
                n = int(rows[number, rarest])
                together = f"{name(own[a])} with {name(own[b])}"
                words.append(f"{together} has only {n:,} training row{'s' if n != 1 else ''}")
        if not words:
            words.append(
                "every pair and triple of its levels was seen"
                if triples is not None
                else "every pair of its levels was seen"
            )
        if number < nearest:
            words.append(_nearest(seen, combinations[number], name))
        found.append(words)
    return found


def _unseen(seen: Seen, combinations: np.ndarray, strength: int) -> Any:
    """For each combination the places of its unseen tuples; None where they are not counted."""
    if seen.space.width < strength or not seen.affordable(strength):
        return [[] for _ in combinations] if strength == 2 else None
    found: list[list[tuple[int, ...]]] = [[] for _ in combinations]
    for place in seen.places(strength):
        has, codes = seen.codes(combinations, place)
        absent = np.flatnonzero(has)[seen.table(place).look_up(codes)[0] == 0]
        for i in absent.tolist():
            found[i].append(place)
    return found


def _rest(tuples: list[tuple[int, ...]], kind: str) -> list[str]:
    rest = len(tuples) - _NAMED
    return [f"and {rest:,} more {kind}"] if rest > 0 else []


def _namer(seen: Seen) -> Callable[[Any], str]:
    """Spells a level with its factor, each only once."""
    spelled: dict[int, str] = {}

    def name(element: Any) -> str:
        element = int(element)
        if element not in spelled:
            factor, level = seen.labels[element]
            spelled[element] = f"{quoted(level, 40)} ({visible(factor, 40)})" if factor else quoted(level, 40)
        return spelled[element]

    return name


def _nearest(seen: Seen, combination: np.ndarray, name: Callable[[Any], str]) -> str:
    near = seen.nearest(combination)
    differs = np.flatnonzero(near != combination)
    own = seen.space.elements(near[None])[0]
    if len(differs) == seen.space.width:
        return "no trained combination shares a level with it"
    kept = [name(own[i]) for i in range(len(own)) if own[i] >= 0 and i in differs]
    return f"nearest seen: the same with {listed(kept)}" if kept else "it was seen itself"
