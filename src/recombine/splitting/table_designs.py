"""The designs of `supports` on the combinations that a table has: what is held out, and how a share decides it.

A design that draws (random, pairs, popular, unpopular, divergence) takes the share that is asked. One that is a shape
(missing, orthotope, the regions) has settings instead: those whose share is nearest to what is asked are taken, and
what came of it is said. A design that is always the same (disconnected, the grids) takes no share.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..errors import UserError, require_number, unknown
from ..labels import visible
from ..spaces import Partial
from ..supports import Support
from ..supports import registry as designs
from ..supports.certificate import element_usage
from ..supports.divergence_search import ATOM_BOUND, most_divergent
from ..supports.drawn_sides import held_out_count
from ..supports.regions import least_places
from ..supports.support import from_ranks
from .draw_units import draw_units

DRAWN = ("random", "pairs", "popular", "unpopular", "divergence")
SHAPES = ("missing", "orthotope", "donut", "corner", "cross", "band", "gap")
FIXED = ("disconnected", "stair", "l-shape", "cross-arms", "diagonal")
DESIGNS = (*DRAWN, *SHAPES, *FIXED)
WHOLE_GROUPS = ("random", "divergence")  # these keep groups together by themselves
SHARE = 0.2  # of the combinations, where nothing else is said
_NOT_FOR_TABLES = ("seed", "space", "trained", "weights", "compositional", "connected")
_MOST_TRIED = 200  # settings of a shape that are compared


def hold_out(
    space: Partial,
    design: str,
    held_out: float | None,
    options: Mapping[str, Any],
    *,
    seed: int,
    weights: np.ndarray,
    units: np.ndarray,
    notes: list[str],
) -> Support:
    """The split of a table's combinations.

    Args:
        space: the combinations that have rows.
        design: its name.
        held_out: the share of the combinations that is asked; None where nothing was said.
        options: settings of the design.
        seed: of what is drawn.
        weights: (combinations,) rows of each.
        units: (combinations,) those of one number stay together, for designs that can.
        notes: what a user should know is added to them.
    """
    options = _checked(design, options)
    if held_out is not None:
        held_out = require_number("held_out", held_out)
        held_out_count(space, held_out)  # refuses none and all, with a share that would do
    if space.size < 2:
        only = visible(space.describe(space.table[0]), 200)
        raise UserError(f"the table has one combination ({only}); a split needs at least two")
    if design in DRAWN and "pairs" not in options:
        return _drawn(space, design, SHARE if held_out is None else held_out, options, seed, weights, units)
    if options or design in FIXED:
        if held_out is not None:
            said = ", ".join(f"{name}={value}" for name, value in options.items()) or f"the design {design!r}"
            raise UserError(f"{said} says what is held out; held_out={held_out:g} decides nothing: leave it out")
        return designs[design](space, seed=seed, **options)
    return _nearest(space, design, SHARE if held_out is None else held_out, seed, notes)


def option_names(design: str) -> list[str]:
    """Settings of a design that a table can have."""
    if design not in DESIGNS:
        raise unknown("design of splits of a table", design, DESIGNS)
    names = [name for name in inspect.signature(designs[design]).parameters if name not in _NOT_FOR_TABLES]
    return [name for name in names if name != "held_out"]


def _checked(design: str, options: Mapping[str, Any]) -> dict[str, Any]:
    known = option_names(design)
    for name in options:
        if name not in known:
            takes = ", ".join(known) or "none"
            raise UserError(f"{name}= does not apply to the design {design!r}, whose settings are: {takes}")
    return {name: value for name, value in options.items() if value is not None}


def _drawn(
    space: Partial,
    design: str,
    held_out: float,
    options: dict[str, Any],
    seed: int,
    weights: np.ndarray,
    units: np.ndarray,
) -> Support:
    if design not in WHOLE_GROUPS:
        return designs[design](space, held_out=held_out, seed=seed, **options)
    wanted = held_out_count(space, held_out)
    if design == "random":
        held = draw_units(space, units, wanted, seed)
    else:
        atoms = options.setdefault("atoms", ATOM_BOUND)
        held = most_divergent(space, space.enumerate(), wanted, atoms=atoms, seed=seed, weights=weights, units=units)
    settings = {"held_out": held_out, "seed": seed, **options}
    return from_ranks(space, np.flatnonzero(~held), np.flatnonzero(held), design, settings=settings)


# -- shapes -----------------------------------------------------------------------------------------------------------
def _nearest(space: Partial, design: str, held_out: float, seed: int, notes: list[str]) -> Support:
    """The shape whose share is nearest to the one that is asked."""
    best: Support | None = None
    refusal: UserError | None = None
    for options in _CANDIDATES[design](space, held_out):
        try:
            tried = designs[design](space, seed=seed, **options)
        except UserError as why:  # this one leaves nothing to train on, or to hold out
            refusal = why
            continue
        if best is None or _off(tried, held_out) < _off(best, held_out) - 1e-12:
            best = tried
    if best is None:
        raise refusal or UserError(f"the design {design!r} cannot split {space}")
    share = best.held_out.size / space.size
    if abs(share - held_out) > 0.5 / space.size:
        said = ", ".join(f"{name}={value}" for name, value in best.settings.items() if name != "seed")
        notes.append(
            f"of the shapes of {design!r} the nearest to a share of {held_out:g} holds out {share:.3g} of the "
            f"combinations ({said})"
        )
    return best


def _off(support: Support, held_out: float) -> float:
    return abs(support.held_out.size / support.space.size - held_out)


def _missing(space: Partial, held_out: float) -> list[dict[str, Any]]:
    """One level each, those whose share is nearest first; never the only one of its factor."""
    shares = element_usage(space, space.table) / space.size
    several = [i for members in space.classes for i in members if space.occurs[list(members)].sum() > 1]
    order = sorted(several, key=lambda i: abs(shares[i] - held_out))
    if not order:
        raise UserError(f"every factor of {space} has one level only, so each would lose all its levels; name others")
    return [{"elements": [space.element_names[i]]} for i in order[:1]]


def _orthotope(space: Partial, held_out: float) -> list[dict[str, Any]]:
    most = max(space.levels)
    shares = sorted({level / most for level in range(1, most)})[: _MOST_TRIED // space.width]
    return [{"extreme": share, "at_most": n} for n in range(space.width) for share in shares]


def _middle(space: Partial, held_out: float) -> list[dict[str, Any]]:
    """Ranges of levels around the middle."""
    levels = least_places(space)
    widths = range(1, min(levels, _MOST_TRIED) + 1)
    return [{"low": (levels - width) // 2, "high": (levels - width) // 2 + width - 1} for width in widths]


def _gap(space: Partial, held_out: float) -> list[dict[str, Any]]:
    levels = space.levels[0]
    widths = range(1, min(levels, _MOST_TRIED))
    return [{"low": (levels - width) // 2, "high": (levels - width) // 2 + width - 1} for width in widths]


def _corner(space: Partial, held_out: float) -> list[dict[str, Any]]:
    return [{"low": low} for low in range(min(least_places(space), _MOST_TRIED))]


def _band(space: Partial, held_out: float) -> list[dict[str, Any]]:
    return [{"width": width} for width in range(max(min(least_places(space) - 1, _MOST_TRIED), 0))]


_CANDIDATES: dict[str, Callable[[Partial, float], list[dict[str, Any]]]] = {
    "missing": _missing,
    "orthotope": _orthotope,
    "donut": _middle,
    "cross": _middle,
    "corner": _corner,
    "band": _band,
    "gap": _gap,
}
