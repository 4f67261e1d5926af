"""Registries: what `recombine list` shows and what tests are parametrized over."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Generic, TypeVar

from .errors import unknown

T = TypeVar("T")
Thing = TypeVar("Thing")


class Registry(Mapping[str, T], Generic[T]):
    """Named things of one kind. The first line of a thing's docstring is its description."""

    def __init__(self, kind: str):
        self.kind = kind
        self._things: dict[str, T] = {}

    def register(self, name: str) -> Callable[[Thing], Thing]:
        """Decorator: `@registry.register("name")`. A name can be taken once."""

        def keep(thing: Thing) -> Thing:
            if name in self._things:
                raise ValueError(f"{self.kind} {name!r} is registered already")
            self._things[name] = thing  # type: ignore[assignment]
            return thing

        return keep

    def __getitem__(self, name: str) -> T:
        try:
            return self._things[name]
        except (KeyError, TypeError):
            raise unknown(self.kind, name, self._things) from None

    def __contains__(self, name: object) -> bool:
        return name in self._things

    def __iter__(self) -> Iterator[str]:
        return iter(self._things)

    def __len__(self) -> int:
        return len(self._things)

    def describe(self, name: str) -> str:
        """One line on the thing called `name`."""
        doc = getattr(self[name], "__doc__", None) or ""
        return doc.strip().split("\n")[0]
