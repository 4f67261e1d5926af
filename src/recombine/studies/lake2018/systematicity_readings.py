"""What systematicity reads off its table: exact match by split and net, with coverage, and against divergence."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.stats import spearmanr

from ...charts.tidy_rows import Rows
from ...lab.record import Record
from ...lab.study_table import Missing, StudyTable
from ...trials.asked_once import BY_SIZE
from .. import sequence_texts
from ..sequence_texts import Published, first_mistakes
from .systematicity_arms import COVERAGE, DIVERGENCES, FEW_SHOT, SHARES, SPLITS, VERBS

MANY = [verbs for verbs in VERBS if verbs >= 50]
LAKE, LOULA = "Lake & Baroni 2018, LSTM", "Loula et al. 2018, LSTM"
PUBLISHED = [  # exact match
    Published(LAKE, "lstm", "simple", 0.997),
    Published(LAKE, "lstm", "add-jump", 0.0008),
    Published(LAKE, "lstm", "length", 0.138),
    Published(LAKE, "lstm", "add-turn-left", 0.900),
    Published(LOULA, "lstm", "jump-around-right", 0.984),
    Published(LOULA, "lstm", "right", 0.235),
    Published(LOULA, "lstm", "opposite-right", 0.476),
    Published(LOULA, "lstm", "around-right", 0.025),
]


# -- readings: the trials of one seed -> numbers ----------------------------------------------------------------------
def of_every_net(t: StudyTable, split: str, learned: bool = False) -> dict[str, float]:
    """Exact match on the held-out commands of a split, for each net; of nets that have learned what was trained."""
    part = t.where(split=split, data="published")
    nets = list(dict.fromkeys(row["net"] for row in part.plain("score").rows))
    if not nets:
        raise Missing(f"{split} was not run")
    if learned:
        for net in nets:
            part.learned(net=net)
    return {net: part.held_out(net=net) for net in nets}


def lstm_on_jump(t: StudyTable) -> float:
    """Exact match of the LSTM without attention on commands with jump."""
    part = t.where(split="add-jump", data="published", net="lstm")
    part.learned()
    return part.held_out()


def gain_of_coverage(t: StudyTable) -> dict[str, float]:
    """Exact match on commands with jump, with so many verbs minus with four, at as many trained commands."""
    part = t.where(split="add-jump")
    few = part.held_out(data=f"{VERBS[0]} verbs")
    ran = {row["data"] for row in part.plain("score").rows}
    found = {f"{v} verbs": part.held_out(data=f"{v} verbs") for v in MANY if f"{v} verbs" in ran}
    if not found:
        raise Missing("no arm with 50 verbs or more was run")
    return {name: value - few for name, value in found.items()}


def gain_of_examples(t: StudyTable) -> float:
    """Exact match on commands with jump, with 32 of them trained minus with one."""
    part = t.where(split="add-jump")
    return part.held_out(data="32 of jump") - part.held_out(data="1 of jump")


def against_divergence(t: StudyTable) -> float:
    """Spearman correlation of exact match with the order of divergence; 0 where all are equally right."""
    ran = {row["split"] for row in t.plain("score").rows}
    at = [(share, t.held_out(split=name)) for share, name in zip(SHARES, DIVERGENCES, strict=True) if name in ran]
    if len(at) < 3:
        raise Missing("it takes at least three splits that differ in divergence")
    shares, scores = (np.array(values) for values in zip(*at, strict=True))
    return 0.0 if np.ptp(scores) == 0 else float(spearmanr(shares, scores)[0])  # type: ignore[arg-type]


# -- rows of charts ---------------------------------------------------------------------------------------------------
def _rows(t: StudyTable, names: Sequence[str], axis: str) -> Rows:
    part = t.scores()
    if not len(part) or axis not in part:
        return []
    part = part[part[axis].isin(list(names))]
    return [{"name": row[axis], "value": row.value, "series": row.net, "seed": row.seed} for _, row in part.iterrows()]


def split_rows(t: StudyTable) -> Rows:
    published = t.where(data="published")
    return _rows(published, list(SPLITS), "split")


def length_rows(t: StudyTable) -> Rows:
    """Held-out exact match by the length of the answer: one line per split, and per net where there are several."""
    frame = t.frame
    if not len(frame) or "reading" not in frame:
        return []
    found = frame[(frame.reading == BY_SIZE) & (frame.stream == "held_out") & (frame["data"] == "published")]
    found = found[found["split"].isin(list(SPLITS))]
    several = found.net.nunique() > 1
    return [
        {"length": int(row.group.partition("=")[2]), "series": f"{row.split}, {row.net}" if several else row.split}
        | {"value": row.value, "seed": row.seed}
        for row in found.itertuples()
    ]


def data_rows(t: StudyTable) -> Rows:
    return _rows(t.where(split="add-jump"), [*COVERAGE, *FEW_SHOT], "data")


def divergence_rows(t: StudyTable) -> Rows:
    places = {name: share for share, name in zip(SHARES, DIVERGENCES, strict=True)}
    return [row | {"x": places[row["name"]]} for row in _rows(t, list(DIVERGENCES), "split")]


# -- texts ------------------------------------------------------------------------------------------------------------
def texts(records: Sequence[Record]) -> dict[str, str]:
    """The published accuracies beside ours, and wrong answers of the first seed."""
    return {"Published accuracies, and ours": beside_published(records)} | wrong_answers(records)


def beside_published(records: Sequence[Record]) -> str:
    """The published accuracies, and the means of ours."""
    ours: dict[tuple[str, str], list[float]] = {}
    for record in of_published_data(records):
        at = record.cell.columns()
        if (score := record.facts.get("held_out")) is not None:
            ours.setdefault((str(at["net"]), str(at["split"])), []).append(float(score))
    return sequence_texts.beside_published(PUBLISHED, ours)


def wrong_answers(records: Sequence[Record]) -> dict[str, str]:
    """Wrong answers below the truth, by split and net."""
    return first_mistakes(of_published_data(records), "Wrong on {split}: {net}")


def of_published_data(records: Sequence[Record]) -> list[Record]:
    return [record for record in records if record.cell.columns().get("data") == "published"]
