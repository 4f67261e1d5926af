"""`recombine run --dry-run`: what a run would be, without running it."""

from __future__ import annotations

from typing import Any

from ..errors import UserError
from ..labels import duration
from .printing import print_json


def print_dry_runs(runs: list[tuple[Any, str, int, dict[str, Any], str]], json: bool) -> None:
    """Says of each (study, scale, seeds, changes, place) how many cells it has, how long it takes, what it keeps."""
    found = [_dry_run(*run) for run in runs]
    if json:
        print_json(found[0] if len(found) == 1 else {"studies": found})
        return
    for one in found:
        done = f", {one['done']} of them done" if one["done"] else ""
        print(
            f"{one['study']} at {one['scale']} scale: {one['cells']} cells{done}; {one['time']} for all of them; "
            f"about {one['megabytes']:.1f} MB in {one['out']}"
        )


def _dry_run(study: Any, scale: str, seeds: int, changes: dict[str, Any], place: str) -> dict[str, Any]:
    from ..lab.store import Store
    from ..lab.wanted import whole_look

    cells = study.cells(study.settings(scale, changes), whole_look(seeds))
    try:
        done = Store.open(place).done()
    except UserError:  # nothing is there yet
        done = set()
    hours = _hours(study, scale, cells)
    return {
        "study": study.id,
        "scale": scale,
        "cells": len(cells),
        "done": sum(cell.id in done for cell in cells),
        "time": study.running_time(scale) if hours is None else f"about {duration(3600 * hours)} on two cores",
        "hours": hours,
        "megabytes": sum(study.disk(cell.spec) for cell in cells) / 1e6,
        "out": place,
    }


def _hours(study: Any, scale: str, cells: list[Any]) -> float | None:
    """What the study says of its usual grid, times what these cells cost more; None where it says it in words."""
    from ..lab.study import DEFAULT_SEEDS

    minutes = getattr(study.minutes, scale)
    if not isinstance(minutes, (int, float)):
        return None
    usual = study.cells(study.settings(scale), DEFAULT_SEEDS)
    cost, usually = (sum(study.cost(cell.spec) for cell in some) for some in (cells, usual))
    return minutes / 60 * cost / max(usually, 1e-9)
