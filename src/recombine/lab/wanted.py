"""Which seeds of which cells a run wants. It follows from its store: `seeds` of every cell, and for each claim that
was fed more, `fed[claim]` seeds of the cells that it reads. A look counts only when all its trials are there."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .boundaries import LOOKS
from .cells import Cell, Spec
from .claims import Claim

if TYPE_CHECKING:
    from .study import Settings, Study

Fed = dict[str, int]  # seeds by claim


def whole_look(seeds: int) -> int:
    """The look that so many seeds run to; below the first and beyond the last they stay as they are."""
    return next((n for n in LOOKS if n >= seeds), seeds) if seeds >= LOOKS[0] else seeds


def read_by(claim: Claim, cells: Sequence[Cell]) -> list[Cell]:
    """The cells that a claim reads, by their place on the axes."""
    return [cell for cell in cells if claim.reads(cell.spec.get("at", cell.spec))]


def fed_of(about: Mapping[str, Any], study: Study) -> Fed:
    """What a store says of claims that were fed; what is no number of seeds is left out."""
    said, known = about.get("fed"), {claim.id for claim in study.claims}
    if not isinstance(said, dict):
        return {}
    return {name: n for name, n in said.items() if name in known and type(n) is int and 0 < n <= LOOKS[-1]}


def wanted_cells(
    study: Study, settings: Settings, seeds: int, fed: Mapping[str, int], checked: bool = True
) -> tuple[list[Cell], list[Cell]]:
    """All cells of some seeds and, of further ones, those that fed claims read; and the whole grid of these seeds."""
    cells = study.cells(settings, seeds, checked)
    grid = list(cells)
    for seed in range(seeds, max(fed.values(), default=0)):
        hungry = [claim for claim in study.claims if fed.get(claim.id, 0) > seed]
        further = [Cell(study.id, study.version, spec) for spec in study.grid(settings, seed, checked)]
        chosen = {cell.id for claim in hungry for cell in read_by(claim, further)}
        cells += [cell for cell in further if cell.id in chosen]
        grid += further
    return cells, grid


def blocked_seeds(
    claims: Sequence[Claim],
    grid: Sequence[Cell],
    wanted: Collection[str],
    there: Collection[str],
    label: Callable[[Spec], str],
) -> dict[str, dict[int, str]]:
    """By claim: seeds that lack a trial which it reads, and the first such trial; "" where nobody wanted it.

    Args:
        claims: of the study.
        grid: the cells of all seeds.
        wanted: ids of those that are to be run.
        there: ids of those that have a record.
        label: of a cell in a few words.
    """
    absent = [cell for cell in grid if cell.id not in there and isinstance(cell.spec.get("seed"), int)]
    found: dict[str, dict[int, str]] = {claim.id: {} for claim in claims}
    for claim in claims:
        for cell in read_by(claim, absent):
            why = f"{label(cell.spec)} has no record (not run, or failed)" if cell.id in wanted else ""
            found[claim.id].setdefault(cell.spec["seed"], why)
    return found
