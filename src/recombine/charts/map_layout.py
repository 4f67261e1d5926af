"""Where the combinations of a space lie on a map, which side of a split each is on, and the split in words.

A combination lies in the row of its first part and the column of its second (a set of one on the diagonal); what there
is beyond two parts chooses the panel. Combinations of a list lie in its order, line by line.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

import numpy as np

from ..labels import visible
from ..spaces import Space
from ..supports import Support
from .split_map import SupportMap
from .words import number

MOST = 2_000  # combinations that are drawn one by one
WIDE = 928  # pixels for panels side by side: what a page has
GAP, HEAD = 14, 18  # between panels; above each, for its name
TRAINED, HELD_OUT = 1, 2
CELLS, TALL = (16, 14, 11, 9), 440  # sides of a cell: the largest whose map is not taller than this
LABEL = 40  # letters of a name above a panel
INSET = 0.33  # of a cell that a trained combination leaves free on each side


@dataclass(frozen=True)
class Layout:
    """Where the combinations of a space lie, in order of rank."""

    places: np.ndarray  # (combinations, 2) left and top, in pixels
    cell: int
    panels: tuple[tuple[str, int, int], ...]  # name, left, top
    width: int
    height: int
    rows: str  # what a row and a column are
    columns: str


def words(one: SupportMap) -> str:
    """The split in a sentence, and the scores of its two sides."""
    support = one.support
    if support is None:
        return one.missing
    text = f"{support.train.size:,} combinations trained, {support.held_out.size:,} held out"
    if support.space.size > MOST:
        return f"{text}: too many to draw one by one (more than {MOST:,})"
    if one.scores is None:
        return f"{text}; their scores were not kept one by one"
    side = sides(support)
    means = [_mean(one.scores[side == which]) for which in (TRAINED, HELD_OUT)]
    return f"{text}; mean {one.score_name} {number(means[0])} on trained and {number(means[1])} on held-out ones"


def _mean(scores: np.ndarray) -> float:
    known = scores[np.isfinite(scores)]
    return float(known.mean()) if len(known) else math.nan


def sides(support: Support) -> np.ndarray:
    """(combinations,) 1 where trained, 2 where held out, 0 where neither, in order of rank."""
    rows = support.space.enumerate(MOST)
    return np.where(support.train.contains(rows), TRAINED, np.where(support.held_out.contains(rows), HELD_OUT, 0))


# -- where combinations lie -------------------------------------------------------------------------------------------
@functools.lru_cache(maxsize=16)
def layout(space: Space) -> Layout:
    """Panels of cells, from left to right and then below; a panel is as large as what lies in it."""
    for cell in CELLS[:-1]:
        if (made := _with_cells(space, cell)).height <= TALL:
            return made
    return _with_cells(space, CELLS[-1])


def _with_cells(space: Space, cell: int) -> Layout:
    rows = space.enumerate(MOST).astype(int)
    if not space.free:  # a row is a number: lines as long as there are
        rows = np.concatenate(np.divmod(rows, math.ceil(math.sqrt(space.size))), axis=1)
    product = bool(space.columns)
    down = rows[:, 0]
    across = rows[:, 1] if rows.shape[1] > 1 else np.zeros_like(down) if product else down
    across = np.where(across < 0, down, across)  # a set of one lies on the diagonal
    members: dict[tuple[int, ...], list[int]] = {}
    for rank, rest in enumerate(map(tuple, rows[:, 2:].tolist())):
        members.setdefault(rest, []).append(rank)
    places = np.zeros((len(rows), 2), int)
    panels, left, top, line, width = [], 0, 0, 0, 0
    for rest, ranks in members.items():
        x, y = across[ranks], down[ranks]
        if not product and space.free:  # columns of sets of three and more begin at the first that is used
            x, y = x - x.min(), y - y.min()
        name = _panel_name(space, rest)
        wide = max(cell * (x.max() + 1), math.ceil(5.6 * len(name)))
        if left and left + wide > WIDE:
            left, top, line = 0, top + line + GAP, 0
        panels.append((name, left, top))
        places[ranks] = np.stack([left + cell * x, top + HEAD + cell * y], 1)
        line = max(line, HEAD + cell * (int(y.max()) + 1))
        width = max(width, left + wide)
        left += int(wide) + GAP
    factors = list(space.columns) or (["first module", "second module"] if space.free else ["the list, line by line"])
    columns = factors[1] if len(factors) > 1 else ""
    return Layout(places, cell, tuple(panels), int(width), int(top + line), factors[0], columns)


def _panel_name(space: Space, rest: tuple[int, ...]) -> str:
    if space.columns:
        named = list(space.columns.items())[2:]
        return ", ".join(visible(f"{name} {levels[at]}", LABEL) for (name, levels), at in zip(named, rest, strict=True))
    more = [visible(space.element_names[i], LABEL) for i in rest if i >= 0]
    return f"with {', '.join(more)}" if more else "one or two" if space.width > 1 else ""
