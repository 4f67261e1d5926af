"""What `rc.score` gives: scores of each set and group, and a table of items that `recombine audit` reads."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import UserError, unknown
from ..files import write_table
from ..files.plain_json import plain_json
from ..labels import told_apart
from ..notebook import table_html
from ..training import Items
from .export_card import Export

SPLIT, OUTCOME = "split", "outcome"
ELEMENTS = 64  # a space without factors has one column per element, if these are not too many


@dataclass(frozen=True)
class ScoredPredictions:
    """Predictions, scored. `scored["held_out"]` are the metrics of a set, `scored.table()` has one row per item.

    Args:
        export: what was predicted.
        items: set -> its items.
        groups: "held_out/GROUP" -> the items of a group.
        rows: set -> ids and combinations of its items, those of sets that were not predicted too.

    Example:
        >>> exported = rc.export(task, support, "world", train=64, validation=16, test=16, held_out=16)
        >>> truth = exported.arrays("held_out", ["target", "item"])
        >>> scored = rc.score(exported, {"held_out": truth["target"], "held_out_item": truth["item"]})
        >>> table = scored.table()
        >>> float(table["outcome"][-1]), len(table["split"])
        (1.0, 112)
    """

    export: Export
    items: dict[str, Items]
    groups: dict[str, Items]
    rows: dict[str, dict[str, np.ndarray]]

    @cached_property
    def scores(self) -> dict[str, dict[str, float]]:
        """Set or "held_out/GROUP" -> metric -> number."""
        return {name: items.scores() for name, items in (self.items | self.groups).items() if len(items.finite)}

    def __getitem__(self, name: str) -> dict[str, float]:
        if name not in self.scores:
            raise unknown("scored set", name, self.scores)
        return self.scores[name]

    @property
    def metric(self) -> str:
        """The first metric, which decides."""
        return self.export.card["metrics"][0]["name"]

    @property
    def factors(self) -> list[str]:
        """The columns of the table that are combined."""
        return list(_columns(self.export, np.zeros((0, self.export.space.width), int)))

    @property
    def names(self) -> list[str]:
        """The columns of the table; the last four are split, item, metric and outcome, unless factors are called so."""
        return told_apart([*self.factors, SPLIT, "item", self.metric, OUTCOME])

    def table(self) -> dict[str, Any]:
        """Columns by name: factors, "split" (train for what was trained on), "item", the metric, and "outcome".

        The outcome is the metric of the item, cut to 0..1 (an item below 0 is as wrong as can be); it is empty where an
        item was not predicted or has no score, and in metrics of which less is better.
        """
        parts: dict[str, list] = {}
        for name, there in self.rows.items():
            found = self.items.get(name)
            value = np.full(len(there["item"]), np.nan) if found is None else found.by_combination(self.metric)
            rises = self.export.card["metrics"][0]["higher_is_better"]
            outcome = np.clip(value, 0, 1) if rises else np.full(len(value), np.nan)
            of_item = (np.full(len(value), name), there["item"], value, outcome)
            own = [*_columns(self.export, there["combination"]).values(), *of_item]
            for column, values in zip(self.names, own, strict=True):
                parts.setdefault(column, []).append(values)
        return {column: np.concatenate(values) for column, values in parts.items()}

    def write(self, path: str | os.PathLike, *, force: bool = False) -> Path:
        """The table as .csv or .parquet; says where it is.

        Args:
            path: of the file.
            force: replace what is there; without it, only a table that is known as ours is.
        """
        import pandas

        place = Path(path)
        if place.suffix.lower() not in (".csv", ".parquet"):
            raise UserError(f"{place} must end in .csv or .parquet")
        frame = pandas.DataFrame(self.table())
        for column in self.names[-2:]:  # not a number is an empty cell
            frame[column] = frame[column].astype(object).where(frame[column].notna(), None)
        write_table(place, frame.convert_dtypes(), force)
        return place

    def to_json(self) -> dict[str, Any]:
        """Scores as plain data; what does not exist is None."""
        plain = plain_json(self.scores)
        return {"export": self.export.hash, "task": self.export.card["task"]["id"], "scores": plain}

    def __str__(self) -> str:
        metrics = [one["name"] for one in self.export.card["metrics"]]
        wide = max(len(name) for name in (*self.scores, "set"))
        lines = [repr(self.export), "", f"{'set':{wide}}  " + "  ".join(f"{name:>10}" for name in metrics)]
        for name, found in self.scores.items():
            lines.append(f"{name:{wide}}  " + "  ".join(f"{found[metric]:>10.4g}" for metric in metrics))
        return "\n".join(lines)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        metrics = [one["name"] for one in self.export.card["metrics"]]
        shown = [(name, *(f"{found[metric]:.4g}" for metric in metrics)) for name, found in self.scores.items()]
        return table_html(f"Scores of {self.export!r}", shown, ("set", *metrics))


def _columns(export: Export, rows: np.ndarray) -> dict[str, np.ndarray]:
    """What is combined, as columns: factors, or whether each element is there, or the combination in words."""
    space = export.space
    if space.columns:
        levels = {name: np.array([str(level) for level in levels]) for name, levels in space.columns.items()}
        return {name: own[rows[:, place]] for place, (name, own) in enumerate(levels.items())}
    if len(space.element_names) <= ELEMENTS:
        there = space.multihot(rows).astype(int)
        return {name: there[:, place] for place, name in enumerate(space.element_names)}
    return {"combination": np.array([space.describe(row) for row in rows])}
