"""Words of the form name=value."""

from __future__ import annotations

from collections.abc import Iterable

from ..errors import UserError


def changes_of(pairs: Iterable[str]) -> dict[str, str]:
    changes = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name:
            raise UserError(f"--set takes name=value, got {pair!r}")
        if name in changes:
            raise UserError(f"--set names {name!r} twice")
        changes[name] = value
    return changes
