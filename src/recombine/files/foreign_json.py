"""JSON of strangers: the one place where it is read. Bounded, no key comes twice, and of the types asked for."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ..errors import UserError
from ..labels import quoted, visible

MOST_BYTES = 256 << 20
#: whole numbers beyond are no counts, versions or seeds, and arithmetic with them does not end
LARGEST = 2**63


class NotJson(ValueError):
    """Text that is not the JSON that was asked for; says why in a few words."""


def parsed_json(data: bytes | str, once: bool = True, nan: bool = False) -> Any:
    """What a text of JSON says, or `NotJson`, whatever the text is.

    Args:
        data: the text.
        once: refuse objects that name a key twice; what bears a checksum need not be looked at.
        nan: take NaN and Infinity, which are no JSON.
    """
    if len(data) > MOST_BYTES:
        raise NotJson(f"it is larger than {MOST_BYTES >> 20} MB")
    try:
        return json.loads(
            data, object_pairs_hook=_once if once else None, parse_constant=None if nan else _refuse_constant
        )
    except NotJson:
        raise
    except RecursionError:
        raise NotJson("it is nested too deep") from None
    except (ValueError, OverflowError, MemoryError) as problem:
        raise NotJson(visible(str(problem).split("\n")[0], 100)) from None


def json_object(data: bytes | str, name: object, remedy: str = "") -> dict[str, Any]:
    """An object of JSON from a file, or one sentence that names the file and what would do."""
    try:
        found = parsed_json(data)
        if not isinstance(found, dict):
            raise NotJson(f"it is no object but {_kind(found)}")
    except NotJson as problem:
        after = f"; {remedy}" if remedy else ""
        raise UserError(f"{visible(name, 200)} is damaged, or not JSON: {problem}{after}") from None
    return found


def require_fields(data: Any, kinds: Mapping[str, type | tuple[type, ...]], optional: bool = False) -> dict[str, Any]:
    """The object itself, if its fields are there and of these types, else `NotJson`. A bool is no number here.

    Args:
        data: what was read.
        kinds: the type of each field that is looked at; others may be there.
        optional: fields may be missing.
    """
    if not isinstance(data, dict):
        raise NotJson(f"it is no object but {_kind(data)}")
    for name, kind in kinds.items():
        if name not in data:
            if optional:
                continue
            raise NotJson(f"it has no {name!r}")
        value, allowed = data[name], kind if isinstance(kind, tuple) else (kind,)
        if not isinstance(value, allowed) or (isinstance(value, bool) and bool not in allowed):
            raise NotJson(f"its {name!r} is {quoted(value, 40)}")
        if isinstance(value, int) and abs(value) >= LARGEST:
            raise NotJson(f"its {name!r} is beyond all counts")
    return data


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        raise NotJson(f"it names the key {quoted(next(n for n in names if names.count(n) > 1))} twice")
    return found


def _refuse_constant(name: str) -> Any:
    raise NotJson(f"it has {name}, which is no JSON")


def _kind(value: Any) -> str:
    return {list: "a list", str: "a text", bool: "true or false", type(None): "null"}.get(type(value), "a number")
