"""What pages of studies of sequences say in words: published numbers beside ours, and wrong answers below the truth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ..lab.record import Record
from ..tasks.sequences.alignment import aligned, parting

APART = 0.1  # an accuracy of ours disagrees with a published one that is farther away


class Published(NamedTuple):
    """A published number: whose it is, the net of ours that is nearest, and what was asked."""

    source: str
    net: str
    what: str
    value: float


Ours = Mapping[tuple[str, str], Sequence[float]]  # (net, what was asked) -> a number per seed


def beside_published(published: Sequence[Published], ours: Ours, asked: str = "split") -> str:
    """A line for each published number: that, the mean of ours, and a mark where they disagree; then ours alone.

    Args:
        published: the numbers, in the order in which they are shown.
        ours: a number per seed, by net and by what was asked.
        asked: what the column of what was asked is called.
    """
    known = {(one.net, one.what) for one in published}
    alone = [key for key in ours if key not in known]
    names = [f"(ours: {net})" for net, _ in alone]
    first = max(26, *map(len, (*names, *(one.source for one in published))))
    second = max(18, *(len(one.what) for one in published), *(len(what) for _, what in alone))
    mark = f"(≠ where they are more than {APART} apart)"
    lines = [f"{'published':<{first}} {asked:<{second}} {'theirs':>7} {'ours':>7}   {mark}"]
    for one in published:
        found = ours.get((one.net, one.what))
        said = "     --" if found is None else f"{np.mean(found):7.3f} {'≠' if disagree(found, one.value) else ' '}"
        lines.append(f"{one.source:<{first}} {one.what:<{second}} {one.value:7.3f} {said}".rstrip())
    for name, (net, what) in zip(names, alone, strict=True):
        lines.append(f"{name:<{first}} {what:<{second}} {'--':>7} {np.mean(ours[net, what]):7.3f}")
    return "\n".join(lines)


def disagree(ours: Sequence[float], theirs: float) -> bool:
    return bool(abs(float(np.mean(ours)) - theirs) > APART)


def wrong_answers(mistakes: Sequence[Mapping[str, str]]) -> str:
    """What the keeper "mistakes" kept: the text, the answer word under word below the truth, and where they part."""
    parts = []
    for one in mistakes:
        truth, said = one["truth"].split(), one["said"].split()
        group = f"[{one['group']}] " if one.get("group") else ""
        parts.append(f"{group}{one['text']}\n{aligned(truth, said)}\n{parting(truth, said)}")
    return "\n\n".join(parts)


def first_mistakes(records: Sequence[Record], title: str) -> dict[str, str]:
    """Wrong answers of the first seed; the title has the names of axes in braces, as in "Wrong on {split}: {net}"."""
    found = {}
    for record in records:
        at, mistakes = record.cell.columns(), record.facts.get("mistakes")
        if not at["seed"] and mistakes:
            found[title.format(**at)] = wrong_answers(mistakes)
    return found
