"""Paths into nested settings, such as "net.width", and values that follow from other values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ..errors import UserError, unknown

Tree = dict[str, Any]


@dataclass(frozen=True)
class Same:
    """The value at another path of the same trial, as it is or after `then`.

    `{"support": {"name": "disconnected", "within": Same("support.held_out")}}` keeps the share that was asked for.

    Args:
        path: in the trial, such as "support.held_out".
        then: what becomes of the value; as it is if left out.

    Example:
        >>> from recombine.lab.paths import Same
        >>> Same("net.width", lambda width: width // 2).then(64)
        32
    """

    path: str
    then: Callable[[Any], Any] | None = None


def value_at(tree: Mapping[str, Any], path: str) -> Any:
    """What stands at a path; an unknown one is refused with the near one."""
    here: Any = tree
    for depth, name in enumerate(names := path.split(".")):
        if not isinstance(here, Mapping) or name not in here:
            known = [".".join([*names[:depth], there]) for there in here] if isinstance(here, Mapping) else []
            raise unknown("path", path, [*known, *leaves(tree)])
        here = here[name]
    return here


def changed(tree: Mapping[str, Any], path: str, value: Any) -> Tree:
    """The tree with another value at a path; what the path goes through must be there, its last name may be new."""
    first, _, rest = path.partition(".")
    if not rest:
        return {**tree, first: value}
    inner = tree.get(first)
    if inner is None and first in tree:
        inner = {}
    if not isinstance(inner, Mapping):
        raise unknown("path", path, [*tree, *leaves(tree)])
    return {**tree, first: changed(inner, rest, value)}


def resolved(value: Any, tree: Mapping[str, Any], asked: tuple[str, ...] = ()) -> Any:
    """A nested value with every `Same` in it replaced by what it stands for in a tree."""
    if isinstance(value, Same):
        if value.path in asked:
            raise UserError(f"{value.path!r} is the same as itself: {' -> '.join([*asked, value.path])}")
        found = resolved(value_at(tree, value.path), tree, (*asked, value.path))
        return value.then(found) if value.then else found
    if isinstance(value, Mapping):
        return {name: resolved(item, tree, asked) for name, item in value.items()}
    if isinstance(value, list):
        return [resolved(item, tree, asked) for item in value]
    return value


def leaves(tree: Mapping[str, Any], before: str = "") -> Tree:
    """Every value that is no mapping, by path. What follows from others (`Same`) cannot be set, and is left out."""
    found: Tree = {}
    for name, value in tree.items():
        path = f"{before}{name}"
        if isinstance(value, Mapping):
            found |= leaves(value, f"{path}.")
        elif not has_same(value):
            found[path] = value
    return found


def has_same(value: Any) -> bool:
    if isinstance(value, Mapping):
        return any(has_same(item) for item in value.values())
    if isinstance(value, (list, tuple)):
        return any(has_same(item) for item in value)
    return isinstance(value, Same)
