"""Texts of subgraphs: published numbers beside ours, with a mark where they disagree, and wrong answers."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from ...lab.store import Record
from ...tasks import Multiplication
from ...tasks.sequences.alignment import aligned, parting
from .digit_rows import gains_of
from .subgraphs_arms import ALL, PRODUCTS, STEPS, USUAL

APART = 0.1  # ours disagrees with a published number that is farther away
Rows = Iterable[dict[str, Any]]


def _mean(rows: Rows, **at: Any) -> float | None:
    """The mean of what is defined there, if anything is."""
    found = [row["value"] for row in rows if all(row.get(name) == value for name, value in at.items())]
    defined = [value for value in found if not math.isnan(value)]
    return float(np.mean(defined)) if defined else None


def _at_layer(rows: Sequence[dict[str, Any]], label: str, pick: Callable[..., int]) -> float | None:
    found = [row for row in rows if row["reading"] == "labels" and row["beyond"] == 1]
    if not found:
        return None
    layer = str(pick(int(row["layer"]) for row in found))
    return _mean(found, metric=label, layer=layer)


#: (what, arm of ours, published, the rows of one trial -> ours). "near 1" and "near 0" are the words of the source
PUBLISHED: list[tuple[str, str, float, Callable[[Sequence[dict[str, Any]]], float | None]]] = [
    (
        "lists with steps, trained sizes: near 1",
        STEPS,
        1.0,
        lambda rows: _mean(rows, reading="score", metric="exact", group="in-domain"),
    ),
    (
        "lists with steps, larger sizes: near 0",
        STEPS,
        0.0,
        lambda rows: _mean(rows, reading="score", metric="exact", group="larger"),
    ),
    (
        "products without steps, trained sizes: near 1",
        PRODUCTS,
        1.0,
        lambda rows: _mean(rows, reading="score", metric="exact", group="in-domain"),
    ),
    (
        "products without steps, larger sizes: near 0",
        PRODUCTS,
        0.0,
        lambda rows: _mean(rows, reading="score", metric="exact", group="larger"),
    ),
    ("fully correct at the first layer: near 1", STEPS, 1.0, lambda rows: _at_layer(rows, "correct", min)),
    ("fully correct at the last layer: near 0", STEPS, 0.0, lambda rows: _at_layer(rows, "correct", max)),
    (
        "right answers of 4x2 with a wrong step",
        "products, steps",
        0.823,
        lambda rows: _mean(rows, reading="rates", metric="wrong step in right answer", group="4x2"),
    ),
]
#: information gain in products of two digits each, as published: place from the end -> of the best pair of digits
GAINS = {0: 1.0, 3: 0.79}


def texts(records: Sequence[Record]) -> dict[str, str]:
    """The published numbers beside ours, and wrong answers of the first seed."""
    if not records:
        return {}
    return {"Published numbers, and ours": beside_published(records)} | wrong_answers(records)


def beside_published(records: Sequence[Record]) -> str:
    """A line for each published number: that, the mean of ours, and a mark where they disagree."""
    lines = [f"{'published':<50} {'theirs':>7} {'ours':>7}   (≠ where they are more than {APART} apart)"]
    for what, arm, theirs, read in PUBLISHED:
        found = [read(one.rows) for one in records if _is_at(one, arm)]
        ours = [value for value in found if value is not None and value == value]
        lines.append(_line(what, theirs, float(np.mean(ours)) if ours else None))
    for place, theirs in GAINS.items():
        gains = gains_of(Multiplication.id, (2, 2))
        what = f"information in the best pair of digits, place {place} of 2x2"
        lines.append(_line(what, theirs, gains[place] if gains else None))
    return "\n".join(lines)


def _is_at(record: Record, arm: str) -> bool:
    at = record.cell.columns()
    return (at.get("arm"), at.get("data"), at.get("net_size")) == (arm, ALL, USUAL)


def _line(what: str, theirs: float, ours: float | None) -> str:
    said = "     --" if ours is None else f"{ours:7.3f} {'≠' if abs(ours - theirs) > APART else ' '}"
    return f"{what:<50} {theirs:7.3f} {said}".rstrip()


def wrong_answers(records: Sequence[Record]) -> dict[str, str]:
    """Wrong answers below the truth, by arm and size."""
    found: dict[str, list[str]] = {}
    for record in records:
        at = record.cell.columns()
        if at["seed"] or at.get("data") != ALL or at.get("net_size") != USUAL:
            continue
        for one in record.facts.get("mistakes") or []:
            truth, said = one["truth"].split(), one["said"].split()
            where = "trained" if not one["beyond"] else f"{one['beyond']} beyond training"
            name = f"Wrong: {at['arm']}, size {one['size']} ({where})"
            words = f"{one['text']}\n{aligned(truth, said)}\n{parting(truth, said)}"
            found.setdefault(name, []).append(words)
    return {name: "\n\n".join(parts) for name, parts in found.items()}
