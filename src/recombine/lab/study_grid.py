"""The whole grid of a study. Seeds of a study differ in their number only, so a large grid is made from two of them."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from ..errors import require_int
from .boundaries import MOST_SEEDS
from .cells import Cell, Spec, canonical

if TYPE_CHECKING:
    from .study import Study

_MARKS = ("\x00seed", "\x00own")  # stand for the two seeds of a cell: no name holds such a character


def grid_cells(study: Study, settings: dict[str, Any], seeds: int, checked: bool = True) -> list[Cell]:
    """All cells. Seeds come first, so that the first verdicts stand early.

    The first seed may keep and read more than the others, which are alike: what cannot be is refused in these two.

    checked: whether trials that cannot be are refused; what was run already need not be asked again.
    """
    require_int("seeds", seeds, at_least=1, at_most=MOST_SEEDS)
    alike = study.cells_of is None
    made = [study.grid(settings, seed, checked) for seed in range(min(seeds, 2) if alike else seeds)]
    found = [Cell(study.id, study.version, spec) for specs in made for spec in specs]
    if not alike or seeds <= 2:
        return found
    patterns = [_Pattern(Cell(study.id, study.version, spec)) for spec in made[1]]
    return found + [pattern.cell(seed) for seed in range(2, seeds) for pattern in patterns]


class _Pattern:
    """A cell of seed 1, from which those of other seeds follow; their ids without spelling them out again."""

    def __init__(self, cell: Cell):
        self.first = cell
        trial = cell.spec.get("trial")
        self.ahead = trial["seed"] - 1 if trial else 0  # of a control, whose arms have seeds of their own
        text = canonical(Cell(cell.study, cell.version, self._spec(*_MARKS)).to_json())
        self.before, self.between, self.after = self._cut(text) if trial else (*self._halves(text), None)

    def _spec(self, seed: Any, own: Any) -> Spec:
        spec = self.first.spec | {"seed": seed}
        return spec | {"trial": spec["trial"] | {"seed": own}} if "trial" in spec else spec

    def _cut(self, text: str) -> tuple[str, str, str]:
        before, _, rest = text.partition(canonical(_MARKS[0]))
        between, _, after = rest.partition(canonical(_MARKS[1]))
        return before, between, after

    def _halves(self, text: str) -> tuple[str, str]:
        before, _, after = text.partition(canonical(_MARKS[0]))
        return before, after

    def cell(self, seed: int) -> Cell:
        own = seed + self.ahead
        text = f"{self.before}{seed}{self.between}"
        text += f"{own}{self.after}" if self.after is not None else ""
        cell = Cell(self.first.study, self.first.version, self._spec(seed, own))
        cell.__dict__["id"] = hashlib.sha256(text.encode()).hexdigest()[:24]
        return cell
