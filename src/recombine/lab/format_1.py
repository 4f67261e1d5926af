"""Stores of the first format, where cells were flat: read as those of today."""

from __future__ import annotations

from typing import Any

from .cells import Cell


def cell_of_format_1(cell: Cell) -> Cell:
    """A cell of the first format, where all settings lay side by side, as a place on axes; it keeps its id."""
    at = {name: value for name, value in cell.spec.items() if name != "seed"}
    nested = Cell(cell.study, cell.version, {"seed": cell.spec.get("seed"), "at": at})
    nested.__dict__["id"] = cell.id
    return nested


def rows_of_format_1(rows: list[dict[str, Any]], spec: dict[str, Any]) -> list[dict[str, Any]]:
    """Readings of the first format did not say which held-out score a trial is about; its split does."""
    group = "cross-block" if spec.get("support") == "disconnected" else ""
    return [
        {**row, "asked": (row.get("stream"), row.get("group")) == ("held_out", group)}
        if row.get("reading") == "score"
        else row
        for row in rows
    ]
