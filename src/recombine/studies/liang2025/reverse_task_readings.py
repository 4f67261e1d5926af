"""Readings of `reverse-task`: how many pictures are read right, by net and by what is asked for."""

from __future__ import annotations

from typing import Any

from ...charts import kinds
from ...lab.study_table import Missing, PreconditionFailed, StudyTable
from ...lab.verdicts import Reading
from . import drawn

ASKED = {"bump": "a bump code", "scalar": "two numbers"}
NETS = {"cnn-encoder": "a convolutional encoder", "mlp": "an MLP"}
LEARNED = 0.5  # share of trained pictures that must be read right


def read_unseen(net: str) -> Reading:
    def reading(t: StudyTable) -> dict[str, Any]:
        """Share of held-out pictures whose two coordinates are read right, each kind of answer."""
        parts = {ASKED[asked]: part for asked, part in t.where(net=net).by("asked_for")}
        if not parts:
            raise Missing(f"{NETS[net]} was not run")
        return drawn.each(parts, read_if_learned)

    return reading


def read_if_learned(part: StudyTable, name: str) -> float:
    if (known := part.score("test", group="", metric="right")) < LEARNED:
        raise PreconditionFailed(f"{name} was not learned: {known:.2f} of trained pictures, below {LEARNED:g}")
    return part.score("held_out", group="", metric="right")


def share_right(net: str, asked: str, stream: str) -> Reading:
    return lambda t: t.where(net=net, asked_for=asked).score(stream, group="", metric="right")


def in_words(net: str, asked: str) -> str:
    return f"{NETS[net]}, {ASKED[asked]}"


def shares(t: StudyTable) -> kinds.Rows:
    return [
        {"what": in_words(row.net, row.asked_for), "series": series, "seed": int(row.seed), "value": row.value}
        for stream, series in (("test", "trained"), ("held_out", "held out"))
        for row in t.scores(stream, "", "right").itertuples()
    ]
