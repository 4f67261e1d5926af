"""What embers shows as text: the published numbers beside ours, fitted weights, and wrong answers below the truth."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...lab.record import Record
from ...supports.cipher_language import LEVELS
from ...tasks.sequences.alignment import aligned, parting
from ...tasks.sequences.cipher_sampler import PAIRS
from .embers_measure import DIRECTIONS, NUMBERS

APART = 0.1  # an accuracy of ours disagrees with a published one that is farther away
#: exact match of language models on rot-13, the commonest shift, by level: recomputed from the released tables
ROT_13 = {
    ("GPT-4", "decode"): (0.51, 0.22, 0.13),
    ("GPT-4", "encode"): (0.21, 0.10, 0.11),
    ("GPT-3.5", "decode"): (0.21, 0.07, 0.04),
    ("GPT-3.5", "encode"): (0.02, 0.03, 0.05),
}
#: of GPT-4 on a common task and a rare one
COMMON_AND_RARE = {"sort": (0.82, 0.32), "first-letters": (0.762, 0.026)}
#: mean log-probability of the answers of rot-13 decoding by level, in other words than ours and of other lengths
NATS = (-58.0, -86.0, -145.0)

Mean = dict[tuple[str, str, str], float]


def texts(records: Sequence[Record]) -> dict[str, str]:
    """The published numbers beside ours, weights of each net, and wrong answers of the first seed."""
    found = {}
    for name, means in _means(records).items():
        found[f"Published numbers, and ours: {name}"] = beside_published(means)
    return found | {"Weights of each net, with 95 % intervals over tests": weights(records)} | wrong_answers(records)


def beside_published(ours: Mean) -> str:
    """A line for each published number: that, the mean of ours over seeds, and a mark where they disagree."""
    lines = [f"{'asked':<34} {'theirs':>8} {'ours':>8}   (≠ where they are more than {APART} apart)"]
    for (model, direction), theirs in ROT_13.items():
        for level, value in zip(LEVELS, theirs, strict=True):
            lines.append(_line(f"{model} {direction}, {level}", value, ours.get(("commonest", direction, level))))
    for common, rare in PAIRS:
        for task, value in zip((common, rare), COMMON_AND_RARE.get(common, (None, None)), strict=True):
            lines.append(_line(f"{'GPT-4 ' if value is not None else ''}{task}", value, ours.get(("task", task, ""))))
    lines += ["", f"{'log-probability of the answer':<34} {'theirs':>8} {'ours':>8}"]
    for level, value in zip(LEVELS, NATS, strict=True):
        mine = ours.get(("nats", "decode", level))
        lines.append(f"{'decode, ' + level:<34} {value:8.0f} {'--' if mine is None else f'{mine:.0f}':>8}")
    return "\n".join(lines)


def _line(asked: str, theirs: float | None, ours: float | None) -> str:
    said = "--" if ours is None else f"{ours:.3f}"
    mark = " ≠" if theirs is not None and ours is not None and abs(ours - theirs) > APART else ""
    return f"{asked:<34} {'--' if theirs is None else f'{theirs:.3f}':>8} {said:>8}{mark}"


def _means(records: Sequence[Record]) -> dict[str, Mean]:
    """Means over seeds of what stands beside the published numbers, by trial."""
    found: dict[str, dict[tuple[str, str, str], list[float]]] = {}
    for record in records:
        at = record.cell.columns()
        into = found.setdefault(f"{at['frequency']}, {at['size']}", {})
        for key, value in _read(record).items():
            into.setdefault(key, []).append(value)
    return {name: {key: float(np.mean(values)) for key, values in some.items()} for name, some in found.items()}


def _read(record: Record) -> Mean:
    groups = {one["group"]: one["value"] for one in record.rows if one["reading"] == "score" and one["group"]}
    law = {int(r["group"]): r["value"] for r in record.rows if r["reading"] == "law" and r["metric"] == _law(record)}
    nats = {tuple(r["group"].split()): r["value"] for r in record.rows if r["reading"] == "nats"}
    if not groups or not law:
        return {}
    commonest = max(law, key=law.__getitem__)
    found: Mean = {("nats", direction, level): value for (direction, level), value in nats.items()}
    for direction in DIRECTIONS:
        for level in LEVELS:
            found["commonest", direction, level] = groups[f"{direction}-{commonest} {level}"]
    return found | {("task", task, ""): groups[task] for pair in PAIRS for task in pair}


def _law(record: Record) -> str:
    frequency = str(record.cell.columns()["frequency"])
    return "zipf" if frequency == "uniform" else frequency


def weights(records: Sequence[Record]) -> str:
    """The fitted weights of each net: a statement about its answers, and not about another net."""
    lines = []
    for record in records:
        fit = {(one["metric"], one["group"]): one["value"] for one in record.rows if one["reading"] == "fit"}
        if fit:
            at = record.cell.columns()
            said = [f"{name} {_interval(fit, name)}" for name in NUMBERS]
            lines.append(f"{at['frequency']}, {at['size']}, seed {at['seed']}: {'; '.join(said)}")
    return "\n".join(lines)


def _interval(fit: dict[tuple[str, str], float], name: str) -> str:
    value, low, high = (fit[name, end] for end in ("value", "low", "high"))
    return f"{value:+.2f} [{low:+.2f}, {high:+.2f}]"


def wrong_answers(records: Sequence[Record]) -> dict[str, str]:
    """Wrong answers on the commonest shifts below the truth, of the first seed."""
    found = {}
    for record in records:
        at: dict[str, Any] = record.cell.columns()
        mistakes = record.facts.get("mistakes")
        if at["seed"] or not mistakes:
            continue
        parts = []
        for one in mistakes:
            truth, said = one["truth"].split(), one["said"].split()
            parts.append(f"{one['text']}\n{aligned(truth, said)}\n{parting(truth, said)}")
        found[f"Wrong on the commonest shifts: {at['frequency']}, {at['size']}"] = "\n\n".join(parts)
    return found
