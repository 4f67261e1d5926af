"""Are the factors linearly decodable? A probe for each layer and factor, judged on combinations it was not fitted on.

The probe is ridge regression (exact, on standardized activations, strength 1 % of the rows) from the activations to a
one-hot code of the factor; the level with the highest output wins, outputs being scaled so that each level's own rows
average 1 and all rows 0 (ours: otherwise frequent levels would win by being frequent). Every combination counts
once. A score is the mean over levels of the share read right, so chance is one over the number of levels.

    by combination   no combination is in both the fitted and the judged part: this is the one that counts
    by row           rows are split, combinations are not: what memorizing combinations can reach
    control          levels shuffled among combinations, judged by combination: what fitting noise gives
    selectivity      by combination less control (after Hewitt and Liang 2019, whose control tasks shuffle by type)

A factor that is read by row and not by combination is *readable on seen combinations only*.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ..labels import listed, quoted
from ..statistics.ridge import solve_positive
from ..tables import Observed
from .activations import Layer, finite

FOLDS = 5
MOST_ROWS = 20_000
MOST_FEATURES = 1_024  # wider layers are projected at random
_UNITS = 2_048  # of such a layer, projected at once
CONTROLS = 5
STRENGTH = 0.01
READABLE = 0.5  # share of the way from chance to perfect from which a factor is called readable


@dataclass(frozen=True)
class Reading:
    """One factor in one layer."""

    layer: str
    factor: str
    levels: int
    by_combination: float
    by_row: float
    control: float
    control_by_row: float
    chance: float
    recall: dict[str, float]  # level -> share read right, by combination
    combinations: int
    rows: int

    @property
    def selectivity(self) -> float:
        return self.by_combination - self.control

    def skill(self, score: float) -> float:
        """The way from chance to perfect."""
        return (score - self.chance) / (1 - self.chance)

    @property
    def verdict(self) -> str:
        """ "held apart", "seen only", "partly" or "not readable"."""
        together, alone = self.skill(self.by_row), self.skill(self.by_combination)
        if alone >= READABLE and self.skill(self.selectivity + self.chance) >= READABLE / 2:
            return "held apart"
        if together >= READABLE and alone < together / 2:
            return "seen only"
        return "partly" if alone >= READABLE / 2 or together >= READABLE else "not readable"

    def to_json(self) -> dict[str, Any]:
        return asdict(self) | {"selectivity": self.selectivity, "verdict": self.verdict}


@dataclass(frozen=True)
class ApartReport:
    """Section 2 of the audit."""

    readings: list[Reading]
    notes: list[str]

    def best(self) -> dict[str, Reading]:
        """For each factor the layer from which it is read best."""
        found: dict[str, Reading] = {}
        for one in self.readings:
            if one.factor not in found or one.by_combination > found[one.factor].by_combination:
                found[one.factor] = one
        return found

    def readable(self, observed: Observed) -> np.ndarray:
        """Share of right readings of each element in the best layer of its factor; NaN where it was not probed."""
        shares = np.full(len(observed.space.element_names), math.nan)
        for factor, one in self.best().items():
            i = observed.factors.index(factor)
            for level, element in zip(observed.space.factors[factor], observed.space.classes[i], strict=True):
                shares[element] = one.recall.get(str(level), math.nan)
        return shares

    def sentences(self) -> list[str]:
        groups: dict[str, list[str]] = {}
        for factor, one in self.best().items():
            groups.setdefault(one.verdict, []).append(quoted(factor))
        words = {
            "held apart": "Held apart (read on combinations the probe was not fitted on)",
            "partly": "Partly held apart",
            "seen only": "Readable on seen combinations only",
            "not readable": "Not linearly readable",
        }
        said = [f"{words[verdict]}: {listed(groups[verdict])}." for verdict in words if verdict in groups]
        if not said:
            return ["No factor could be probed; the notes say why."]
        flagged: dict[str, list[str]] = {}
        for one in self.readings:
            if one.verdict == "seen only" and one is not self.best()[one.factor]:
                flagged.setdefault(one.layer, []).append(quoted(one.factor))
        said += [
            f"In {quoted(layer)}, readable on seen combinations only: {listed(names)}."
            for layer, names in flagged.items()
        ]
        return said

    def to_json(self) -> dict[str, Any]:
        return {"readings": [one.to_json() for one in self.readings], "notes": self.notes, "summary": self.sentences()}


def probe_layers(
    layers: list[tuple[Layer, np.ndarray, np.ndarray]], row_combination: np.ndarray, observed: Observed, seed: int = 0
) -> ApartReport:
    """Probes all factors in all layers. Each layer comes with the table's rows it knows and its own rows for them."""
    readings: list[Reading] = []
    notes: list[str] = []
    for layer, table_rows, layer_rows in layers:
        here = row_combination[table_rows] >= 0
        table_rows, layer_rows = table_rows[here], layer_rows[here]
        if len(table_rows) < len(row_combination):
            notes.append(
                f"{quoted(layer.name)} has activations for {len(table_rows):,} of {len(row_combination):,} rows"
            )
        rng = np.random.default_rng(seed)
        if len(table_rows) > MOST_ROWS:
            chosen = np.sort(rng.choice(len(table_rows), MOST_ROWS, replace=False))
            table_rows, layer_rows = table_rows[chosen], layer_rows[chosen]
            notes.append(f"{quoted(layer.name)} is probed on {MOST_ROWS:,} rows drawn at random")
        if layer.values.shape[1] > MOST_FEATURES:
            notes.append(
                f"{quoted(layer.name)} has {layer.values.shape[1]:,} units, projected at random to {MOST_FEATURES:,}"
            )
            values = _projected(layer, layer_rows, rng)
        else:
            values = finite(layer, layer_rows)
        values = values / (np.abs(values).max(initial=0.0) or 1.0)  # squares of very large numbers would overflow
        units, combination = np.unique(row_combination[table_rows], return_inverse=True)
        if len(units) < 4 or not np.ptp(values, axis=0).any():
            why = "has rows of fewer than 4 combinations" if len(units) < 4 else "is the same for every row"
            notes.append(f"{quoted(layer.name)} was not probed: it {why}")
            continue
        readings += _probe(layer.name, values, combination, observed.rows[units], observed, notes, seed)
    return ApartReport(readings, list(dict.fromkeys(notes)))


def _projected(layer: Layer, rows: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The rows on MOST_FEATURES random directions, some units at a time: of a million units not all fit at once."""
    found = np.zeros((len(rows), MOST_FEATURES))
    for start in range(0, layer.values.shape[1], _UNITS):
        part = finite(layer, rows, slice(start, start + _UNITS))
        found += part @ (rng.standard_normal((part.shape[1], MOST_FEATURES)) / math.sqrt(MOST_FEATURES))
    return found


def _probe(
    name: str,
    values: np.ndarray,
    combination: np.ndarray,
    units: np.ndarray,
    observed: Observed,
    notes: list[str],
    seed: int,
) -> list[Reading]:
    """All factors at once: their codes, and those of the controls, are columns of one regression."""
    rng = np.random.default_rng([seed, 1])
    factors, blocks, levels_of = [], [], []
    for i, factor in enumerate(observed.factors):
        levels, column = np.unique(units[:, i], return_inverse=True)
        common = np.bincount(column) > 1  # a level of one combination cannot be read without that combination
        if common.sum() < 2:
            notes.append(
                f"{quoted(factor)} was not probed in {quoted(name)}: fewer than two levels have two combinations"
            )
            continue
        factors.append(i)
        levels_of.append((levels, common))
        blocks += [column, *(rng.permutation(column) for _ in range(CONTROLS))]
    if not factors:
        return []
    labels = np.stack(blocks)[:, combination]  # (factors * (1 + controls), rows)
    weight = 1 / np.bincount(combination)[combination]  # every combination counts once
    by_unit = (rng.permutation(len(units)) % min(FOLDS, len(units)))[combination]
    by_row = rng.permutation(len(values)) % min(FOLDS, len(values))
    apart = _read(values, labels, weight, by_unit)
    mixed = _read(values, labels, weight, by_row)
    readings = []
    for place, (i, (levels, common)) in enumerate(zip(factors, levels_of, strict=True)):
        at = place * (1 + CONTROLS)
        recalls = [
            [_recall(read[at + c] == labels[at + c], labels[at + c], weight, len(levels)) for c in range(1 + CONTROLS)]
            for read in (apart, mixed)
        ]
        scores = [[float(r[common].mean()) for r in kind] for kind in recalls]
        factor = observed.factors[i]
        named = {
            str(observed.space.factors[factor][int(level)]): float(r)
            for level, r, ok in zip(levels, recalls[0][0], common, strict=True)
            if ok
        }
        readings.append(
            Reading(
                name,
                factor,
                int(common.sum()),
                scores[0][0],
                scores[1][0],
                float(np.mean(scores[0][1:])),
                float(np.mean(scores[1][1:])),
                1 / len(levels),
                named,
                len(units),
                len(values),
            )
        )
    return readings


def _read(values: np.ndarray, labels: np.ndarray, weight: np.ndarray, fold: np.ndarray) -> np.ndarray:
    """The level that each row is read as, by probes that were not fitted on its fold. (labels, rows)"""
    read = np.empty_like(labels)
    sizes = labels.max(1) + 1
    starts = np.concatenate([[0], np.cumsum(sizes)])
    targets = np.zeros((len(values), starts[-1]), dtype=np.float32)
    for column, start in zip(labels, starts[:-1], strict=True):
        targets[np.arange(len(values)), start + column] = 1
    mean = np.average(values, axis=0, weights=weight)
    spread = np.sqrt(np.average((values - mean) ** 2, axis=0, weights=weight))
    x = ((values - mean) / np.where(spread > 1e-12 * (1 + np.abs(mean)), spread, np.inf)).astype(np.float32)
    x = np.column_stack([x, np.ones(len(x), np.float32)])
    sums = [_sums(x[fold == part], targets[fold == part], weight[fold == part]) for part in range(fold.max() + 1)]
    gram, cross, mass = (sum(parts) for parts in zip(*sums, strict=True))
    for part, (own_gram, own_cross, own_mass) in enumerate(sums):
        held = fold == part
        fitted, total, count = gram - own_gram, cross - own_cross, mass - own_mass
        n = fitted[-1, -1]
        ridge = np.full(len(fitted), STRENGTH * n)
        ridge[-1] = 1e-9 * n  # the intercept is free
        weights = solve_positive(fitted + np.diag(ridge), total.copy())
        # the output of each column on all rows, and on the rows of its own level
        overall = (fitted[-1] @ weights) / n
        own = np.einsum("dc,dc->c", weights, total) / np.maximum(count, 1e-12)
        scaled = (x[held] @ weights - overall) / np.where(np.abs(own - overall) > 1e-9, own - overall, np.inf)
        # a level that is not in the fitted part cannot be read; sums that were taken away leave a trace of rounding
        scaled[:, count < 1e-9] = -np.inf
        for number, (a, b) in enumerate(zip(starts[:-1], starts[1:], strict=True)):
            read[number, held] = np.argmax(scaled[:, a:b], axis=1)
    return read


def _sums(x: np.ndarray, targets: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Gram matrix, cross products and weight of each level, of which folds are added and taken away."""
    weighted = (x * weight[:, None]).astype(np.float32)
    return (weighted.T @ x).astype(float), (weighted.T @ targets).astype(float), weight @ targets


def _recall(right: np.ndarray, labels: np.ndarray, weight: np.ndarray, levels: int) -> np.ndarray:
    """Share read right of each level."""
    return np.bincount(labels, right * weight, levels) / np.maximum(np.bincount(labels, weight, levels), 1e-12)
