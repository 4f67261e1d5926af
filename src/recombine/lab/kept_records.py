"""What a store keeps in memory of records that it has read: readings as tuples, and large facts not at all.

A study may have tens of thousands of records. As Python objects a record of 20 KB takes ten times that, nearly all of
it in a few facts (a panel, pictures) that most who look at a store never ask for; these are read from the file again.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

LARGE = 8  # numbers and words of a fact, above which it is left in its file


class KeptRows(Sequence[dict[str, Any]]):
    """Readings: each is made again when it is looked at. Names and words are shared between records."""

    __slots__ = ("_rows",)
    _names: dict[tuple[str, ...], tuple[str, ...]] = {}

    def __init__(self, rows: Sequence[dict[str, Any]]):
        self._rows = tuple((_shared_names(row), tuple(map(_shared, row.values()))) for row in rows)

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, at: Any) -> Any:
        if isinstance(at, slice):
            return [dict(zip(*row, strict=True)) for row in self._rows[at]]
        return dict(zip(*self._rows[at], strict=True))

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return (dict(zip(names, values, strict=True)) for names, values in self._rows)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    def __hash__(self) -> int:
        return hash(self._rows)

    def __repr__(self) -> str:
        return repr(list(self))


class KeptFacts(Mapping[str, Any]):
    """Facts, of which the large ones are read again when they are asked for."""

    __slots__ = ("_facts", "_left", "_read")

    def __init__(self, facts: Mapping[str, Any], read: Callable[[], Mapping[str, Any]]):
        self._left = frozenset(name for name, value in facts.items() if _is_large(value))
        self._facts = {_shared(name): None if name in self._left else _shared(value) for name, value in facts.items()}
        self._read = read

    def __getitem__(self, name: str) -> Any:
        return self._read()[name] if name in self._left else self._facts[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._facts)

    def __len__(self) -> int:
        return len(self._facts)

    def __contains__(self, name: object) -> bool:
        return name in self._facts  # what is large is not read to know that it is there

    def __repr__(self) -> str:
        return repr({name: ... if name in self._left else value for name, value in self._facts.items()})


def _is_large(value: Any) -> bool:
    """Whether a fact is more than a few numbers or words, two levels deep: looking closer would take as long."""
    if not isinstance(value, (dict, list)):
        return False
    inside = value.values() if isinstance(value, dict) else value
    return len(value) > LARGE or any(isinstance(item, (dict, list)) and len(item) > LARGE for item in inside)


def _shared(value: Any) -> Any:
    return sys.intern(value) if type(value) is str else value


def _shared_names(row: dict[str, Any]) -> tuple[str, ...]:
    names = tuple(row)
    return KeptRows._names.setdefault(names, names)
