"""What subgraphs reads off its table: accuracy by size, labels by layer, frequencies, and information by place."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy.stats import spearmanr

from ...lab.study_table import Censored, Missing, PreconditionFailed, StudyTable
from .node_rows import NOT_WRITTEN
from .subgraphs_arms import ALL, OF_LISTS, PRODUCTS, STEPS, USUAL, WITH_STEPS

Row = dict[str, Any]


def of(t: StudyTable, arm: str, data: str = ALL, net_size: str = USUAL) -> StudyTable:
    """The readings of one arm."""
    return t.where(arm=arm, data=data, net_size=net_size)


def arms_of(t: StudyTable, among: Sequence[str] | None = None) -> list[str]:
    """The arms that were run, in order; Missing if there is none."""
    ran = dict.fromkeys(row["arm"] for row in t.where(data=ALL, net_size=USUAL).plain("score").rows)
    found = [arm for arm in ran if among is None or arm in among]
    if not found:
        raise Missing(f"none of {', '.join(among or ['the arms'])} was run")
    return found


def readings(t: StudyTable, reading: str, **at: Any) -> list[Row]:
    """The readings that are called so, at some places."""
    return t.plain(reading).where(at).rows


# -- accuracy by size -------------------------------------------------------------------------------------------------
def in_domain(t: StudyTable, arm: str = STEPS, **at: str) -> float:
    """Exact match on held-out texts of trained sizes."""
    return of(t, arm, **at).score("held_out", group="in-domain")


def beyond(t: StudyTable, number: int, arm: str = STEPS, **at: str) -> float:
    """Exact match so many sizes beyond training; of -1 at the largest size."""
    part = of(t, arm, **at)
    rows = readings(part, "score", stream="held_out", metric=t.metric)
    found = {int(row["beyond"]): row["value"] for row in rows if _known(row.get("beyond"))}
    number = max(found, default=0) if number < 0 else number
    if number not in found:
        raise Missing(f"{arm} was not asked {number} sizes beyond training")
    return float(found[number])


def learned_beyond(t: StudyTable, number: int, arm: str = STEPS, **at: str) -> float:
    """Exact match so many sizes beyond training, of nets that have learned."""
    of(t, arm, **at).learned()
    return beyond(t, number, arm, **at)


def drop(t: StudyTable, arm: str = STEPS) -> float:
    """Exact match on trained sizes minus that on the first larger size."""
    of(t, arm).learned()
    return in_domain(t, arm) - beyond(t, 1, arm)


def for_arms(t: StudyTable, arms: Sequence[str] | None, read: Callable[[str], Any]) -> dict[str, Any]:
    """A reading of each arm that was run; of one that has not learned, or cannot be read, why."""
    found: dict[str, Any] = {}
    for arm in arms_of(t, arms):
        try:
            of(t, arm).learned()
            found[arm] = read(arm)
        except Missing:
            raise
        except PreconditionFailed as problem:
            found[arm] = problem
    return found


def two_beyond(t: StudyTable) -> dict[str, Any]:
    """Exact match two sizes beyond training, for each arm of lists."""
    return for_arms(t, OF_LISTS, lambda arm: beyond(t, 2, arm))


def gain_of_data(t: StudyTable) -> float:
    """Exact match on held-out lists of trained sizes, with all data minus with a hundredth."""
    return in_domain(t) - in_domain(t, data="a hundredth")


def beyond_by_scale(t: StudyTable) -> dict[str, Any]:
    """Exact match on the first larger size, for each amount of data and size of net."""
    found: dict[str, Any] = {}
    for row in readings(t.where(arm=STEPS), "score", stream="held_out", group="in-domain", metric=t.metric):
        at = {"data": row["data"], "net_size": row["net_size"]}
        try:
            found[", ".join(at.values())] = learned_beyond(t, 1, **at)
        except Missing:
            raise
        except PreconditionFailed as problem:
            found[", ".join(at.values())] = problem
    if len(found) < 2:
        raise Missing("no other amount of data and size of net was run")
    return found


# -- labels -----------------------------------------------------------------------------------------------------------
def by_layer(t: StudyTable, arm: str, label: str, number: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """(layers, shares) of a label so many sizes beyond training."""
    rows = readings(of(t, arm), "labels", metric=label, beyond=number)
    if not rows:
        raise Missing(f"{arm} has no labels {number} sizes beyond training")
    rows.sort(key=lambda row: int(row["layer"]))
    return np.array([int(row["layer"]) for row in rows]), np.array([row["value"] for row in rows])


def propagation_above_local(t: StudyTable) -> dict[str, Any]:
    """Share of propagation minus that of local errors, beyond the median depth of the first larger size."""

    def of_arm(arm: str) -> float:
        layers, propagation = by_layer(t, arm, "propagation")
        local = by_layer(t, arm, "local error")[1]
        return float((propagation - local)[layers > np.median(layers)].mean())

    return for_arms(t, WITH_STEPS, of_arm)


def correct_against_layer(t: StudyTable) -> dict[str, Any]:
    """Rank correlation of the fully correct share with the layer; 0 if all layers are alike."""
    return for_arms(t, WITH_STEPS, lambda arm: _spearman(*by_layer(t, arm, "correct")))


# -- how often training showed it -------------------------------------------------------------------------------------
def right_to_wrong(t: StudyTable, same_size: bool = False) -> dict[str, Any]:
    """How often training showed full computations of right nodes, by that of wrong ones of their layer."""
    return for_arms(t, WITH_STEPS, lambda arm: _ratio(_strata(of(t, arm), same_size)))


def _strata(t: StudyTable, same_size: bool) -> list[dict[str, float]]:
    """Numbers and mean frequencies of right and wrong nodes, by layer, or by layer and size."""
    cells: dict[tuple, dict[str, Row]] = {}
    for row in readings(t, "frequency"):
        cells.setdefault((row["layer"], row["group"]), {})[row["metric"]] = row
    groups: dict[Any, list[dict[str, float]]] = {}
    for at, found in cells.items():
        values = {name: row["value"] for name, row in found.items()}
        groups.setdefault(at if same_size else at[0], []).append(values)
    return [_pooled(members) for members in groups.values()]


def _pooled(members: Sequence[dict[str, float]]) -> dict[str, float]:
    found = {}
    for name in ("right", "wrong"):
        number = sum(one[f"{name} nodes"] for one in members)
        total = sum(one[name] * one[f"{name} nodes"] for one in members if one[f"{name} nodes"])
        found |= {f"{name} nodes": number, name: total / number if number else math.nan}
    return found


def _ratio(strata: Sequence[dict[str, float]]) -> float | Censored:
    """Mean frequency of right by that of wrong nodes, each by the mean of its layer; a bound if no wrong one was shown.

    Layers count in which there are both, and of which training has shown anything.
    """
    right, wrong, least = [], [], []
    for one in strata:
        counts = one["right nodes"], one["wrong nodes"]
        if not all(counts):
            continue
        whole = (one["right"] * counts[0] + one["wrong"] * counts[1]) / sum(counts)
        if whole:
            right.append(one["right"] / whole)
            wrong.append(one["wrong"] / whole)
            least.append(1 / counts[1] / whole)
    if not right or not any(right):
        raise PreconditionFailed("no layer has right and wrong nodes of which training has shown any")
    if not any(wrong):  # as if one of them had been shown once
        return Censored(low=float(np.mean(right) / np.mean(least)))
    return float(np.mean(right) / np.mean(wrong))


def unseen(t: StudyTable) -> float:
    """Share of the steps of the first larger size whose full computation training never showed."""
    rows = readings(of(t, STEPS), "unseen", metric="share of steps", beyond=1)
    if not rows:
        raise Missing("no steps were read one size beyond training")
    return float(rows[0]["value"])


# -- information ------------------------------------------------------------------------------------------------------
def accuracy_against_gain(t: StudyTable) -> float:
    """Rank correlation, over places of products of trained sizes, of accuracy with relative information gain."""
    gains = {(row["size"], row["place"]): row["value"] for row in readings(of(t, PRODUCTS), "gain")}
    right = {
        (row["size"], row["place"]): row["value"]
        for row in readings(of(t, PRODUCTS), "score", metric="accuracy")
        if str(row["stream"]).startswith("place")
    }
    both = [(gains[at], right[at]) for at in gains if at in right]
    if len(both) < 3:
        raise Missing("it takes at least three places of products")
    return _spearman(*(np.array(values) for values in zip(*both, strict=True)))


def _spearman(x: np.ndarray, y: np.ndarray) -> float:
    return 0.0 if np.ptp(y) == 0 or np.ptp(x) == 0 else float(spearmanr(x, y)[0])  # type: ignore[arg-type]


def _known(value: Any) -> bool:
    return value is not None and value == value


def stops_early(t: StudyTable) -> float:
    """Share of answers of the first larger size that are no longer than the longest trained one."""
    rows = readings(of(t, STEPS), "length", metric="no longer than trained", beyond=1)
    if not rows:
        raise Missing("no lengths were read one size beyond training")
    return float(rows[0]["value"])


def not_written(t: StudyTable, arm: str = STEPS) -> float:
    """Share of the steps of the first larger size that are not written, mean over layers."""
    return float(by_layer(t, arm, NOT_WRITTEN)[1].mean())
