"""Axes: what varies in a study, and the points of its grid.

    {"net.width": Scale([8, 96], ...), "support.held_out": [0.25, 0.5]}     a product over two paths
    {"variant": Arms({"reference": {}, "product": {"world.name": "product-v1"}})}     named changes
    [{...}, {...}]                                                           a sum of products

An axis is called by the last name of its path ("width"), or by the one before if that is "name" ("net.name" -> "net").
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import UserError, unknown
from .paths import Tree, changed, leaves, resolved
from .scales import at_scale


@dataclass(frozen=True)
class Arms:
    """An axis of named changes: of each arm, what stands at which path.

    Args:
        changes: by name of the arm; a path to a whole part ("net") replaces it, one into a part ("net.width") a value.
        chosen: the names that are run, maybe by scale; all if it is None.

    Example:
        >>> from recombine.lab.axes import Arms
        >>> arms = Arms({"narrow": {"net.width": 16}, "wide": {"net.width": 256}})
        >>> arms.changes["wide"]
        {'net.width': 256}
    """

    changes: Mapping[str, Mapping[str, Any]]
    chosen: Any = None


@dataclass(frozen=True)
class Axis:
    """One axis of one block at one scale."""

    name: str
    values: list[Any]
    path: str = ""  # of an axis over values
    arms: Mapping[str, Mapping[str, Any]] | None = None  # of an axis of named changes


Block = list[Axis]


def blocks_of(vary: Mapping[str, Any] | Sequence[Mapping[str, Any]], scale: str) -> list[Block]:
    """What varies at a scale: a sum of products of axes."""
    blocks = [vary] if isinstance(vary, Mapping) else vary
    return [[_axis(name, at_scale(values, scale), scale) for name, values in block.items()] for block in blocks]


def _axis(name: str, values: Any, scale: str) -> Axis:
    if isinstance(values, Arms):
        arms = at_scale(values.changes, scale)
        chosen = at_scale(values.chosen, scale)
        return Axis(name, list(arms) if chosen is None else chosen, arms=arms)
    if not isinstance(values, list) or "." not in name:
        raise UserError(
            f"axis {name!r} varies over {values!r}; it takes a path and a list, as in {{'net.width': [64, 256]}}, "
            "or a name and Arms"
        )
    *before, last = name.split(".")
    return Axis(before[-1] if last == "name" and before else last, values, path=name)


def values_of(blocks: Sequence[Block]) -> dict[str, list[Any]]:
    """The values of each axis, over all blocks, in order."""
    found: dict[str, list[Any]] = {}
    for axis in itertools.chain(*blocks):
        there = found.setdefault(axis.name, [])
        there += [value for value in axis.values if value not in there]
    return found


def arm_leaves(blocks: Sequence[Block]) -> Tree:
    """Every value that an arm sets, as "ARM:PATH"; which part it takes by name is what makes it that arm."""
    found: Tree = {}
    for axis in itertools.chain(*blocks):
        for arm, changes in (axis.arms or {}).items():
            found |= {f"{arm}:{path}": value for path, value in leaves(changes).items() if not path.endswith(".name")}
    return found


def points(blocks: Sequence[Block], base: Tree, settings: Mapping[str, Any]) -> Iterator[tuple[Tree, Tree]]:
    """(the name of a value on each axis, the settings there), for every point of the grid.

    settings: values of axes that differ from their own, and of "ARM:PATH".
    """
    usual = values_of(blocks)
    chosen = {name: settings.get(name, values) for name, values in usual.items()}
    for name, values in chosen.items():
        _require_values(name, values)
    _require_known_arms(blocks, chosen)
    for block in blocks:
        asked = [_asked(axis, chosen[axis.name], usual[axis.name]) for axis in block]
        for place in itertools.product(*asked):
            at = {axis.name: value for axis, value in zip(block, place, strict=True)}
            yield at, _tree_at(block, at, base, settings)


def _asked(axis: Axis, chosen: list[Any], usual: list[Any]) -> list[Any]:
    """The values of an axis in its block: its own, unless others were chosen; of arms those that it has."""
    if axis.arms is not None:
        return [name for name in (axis.values if chosen == usual else chosen) if name in axis.arms]
    return axis.values if chosen == usual else chosen


def _tree_at(block: Block, at: Tree, base: Tree, settings: Mapping[str, Any]) -> Tree:
    """Values first, then what follows from them, then the arms, each on top of what was there before it."""
    tree = base
    for axis in block:
        if axis.arms is None:
            tree = changed(tree, axis.path, at[axis.name])
    tree = resolved(tree, tree)
    for axis in block:
        if axis.arms is not None:
            arm = at[axis.name]
            changes = {path: resolved(_as_set(arm, path, v, settings), tree) for path, v in axis.arms[arm].items()}
            for path, value in changes.items():
                tree = changed(tree, path, value)
    return tree


def _as_set(arm: str, path: str, value: Any, settings: Mapping[str, Any]) -> Any:
    """The value of an arm at a path, with what settings say of it or of parts of it."""
    key = f"{arm}:{path}"
    if key in settings:
        return settings[key]
    if isinstance(value, Mapping):
        return {name: _as_set(arm, f"{path}.{name}", item, settings) for name, item in value.items()}
    return value


def _require_values(name: str, values: Any) -> None:
    if not isinstance(values, list) or not values:
        raise UserError(f"{name}={values!r} is empty; give at least one value, as in {name}=1,2")
    for value in values:
        if values.count(value) > 1:
            raise UserError(f"{name} names {value!r} twice")


def _require_known_arms(blocks: Sequence[Block], chosen: Mapping[str, list[Any]]) -> None:
    arms: dict[str, list[str]] = {}
    for axis in itertools.chain(*blocks):
        if axis.arms is not None:
            arms.setdefault(axis.name, []).extend(axis.arms)
    for name, known in arms.items():
        for value in chosen[name]:
            if value not in known:
                raise unknown(f"name in {name}", value, known)
