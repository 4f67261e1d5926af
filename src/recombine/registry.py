"""Registries: what `recombine list` shows and what tests are parametrized over.

An installed package adds to a registry by an entry point, of the group "recombine.tasks" say, without touching ours:

    [project.entry-points."recombine.tasks"]
    dishes-v1 = "my_package.dishes:Dishes"

Such plug-ins are imported when a name is looked for that is not ours, or when all are listed. One that cannot be
imported, that has a name of ours, or that is something else than its group says, is named in a warning, and the others
are there. What they print while they are imported goes to stderr.
"""

from __future__ import annotations

import contextlib
import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Generic, TypeVar

from .errors import describe, unknown

T = TypeVar("T")
Thing = TypeVar("Thing")


class Registry(Mapping[str, T], Generic[T]):
    """Named things of one kind. The first line of a thing's docstring is its description.

    plugins: the group of entry points by which installed packages add to it, if they can.
    """

    def __init__(self, kind: str, plugins: str | None = None):
        self.kind = kind
        self._things: dict[str, T] = {}
        self._plugins = plugins  # None once they are loaded
        self._theirs: set[str] = set()  # names of plug-ins
        self._loading = threading.RLock()
        self._unfit: Callable[[str, Any], str] = lambda name, thing: "" if callable(thing) else "it cannot be called"
        self._called: Callable[[str], dict[str, T]] = lambda name: {}
        self._all: Callable[[], dict[str, T]] | None = None  # None: all of ours are there

    def find_in(self, called: Callable[[str], dict[str, T]], all_of_them: Callable[[], dict[str, T]]) -> None:
        """Things that are imported when they are asked for: one by its name, or all of them when all are listed."""
        self._called, self._all = called, all_of_them

    def plugins_unfit(self, why: Callable[[str, Any], str]) -> None:
        """Why a plug-in of a name cannot be one of these things; "" where it can."""
        self._unfit = why

    def register(self, name: str) -> Callable[[Thing], Thing]:
        """Decorator: `@registry.register("name")`. A name can be taken once."""

        def keep(thing: Thing) -> Thing:
            if name in self._things:
                raise ValueError(f"{self.kind} {name!r} is registered already")
            self._things[name] = thing  # type: ignore[assignment]
            return thing

        return keep

    def __getitem__(self, name: str) -> T:
        if not self._has(name):
            raise unknown(self.kind, name, list(self))
        return self._things[name]

    def __contains__(self, name: object) -> bool:
        return self._has(name)

    def __iter__(self) -> Iterator[str]:
        self._load_plugins()
        return iter(self._things)

    def __len__(self) -> int:
        self._load_plugins()
        return len(self._things)

    def is_ours(self, name: str) -> bool:
        """Whether a name is taken by what is not of a plug-in; none is imported for this."""
        with self._loading:
            if name not in self._things and self._all is not None:
                self._things |= self._called(name)
        return name in self._things and name not in self._theirs

    def _has(self, name: object) -> bool:
        if not isinstance(name, str):
            return False
        if not self.is_ours(name) and name not in self._things:
            self._load_plugins()
        return name in self._things

    def _load_plugins(self) -> None:
        with self._loading:  # a second thread waits until they are there; the same one, importing, does not
            find, self._all = self._all, None
            if find is not None:
                self._things = find() | self._things  # in the order of the files
            self._load_all()

    def _load_all(self) -> None:
        group, self._plugins = self._plugins, None
        for point in entry_points(group) if group else ():
            what = f"the plug-in {point.value!r} ({self.kind} {point.name!r})"
            if point.name in self._things:
                warnings.warn(f"{what} is left out: {point.name!r} is a name of ours", stacklevel=4)
                continue
            try:
                with contextlib.redirect_stdout(sys.stderr):
                    thing = point.load()
            except (Exception, SystemExit) as problem:  # whatever somebody else's package does when it is imported
                warnings.warn(f"{what} cannot be imported: {describe(problem)}", stacklevel=4)
                continue
            if why := self._unfit(point.name, thing):
                warnings.warn(f"{what} is left out: {why}", stacklevel=4)
                continue
            self._things[point.name] = thing
            self._theirs.add(point.name)

    def describe(self, name: str) -> str:
        """One line on the thing called `name`: the title of what is data, the first line of what is documented."""
        thing = self[name]
        doc = getattr(thing, "title", None) if not isinstance(thing, type) else None
        return str(doc or getattr(thing, "__doc__", None) or "").strip().split("\n")[0]


def entry_points(group: str) -> list[Any]:
    """What installed packages offer to a group, by name."""
    from importlib.metadata import entry_points as found

    return sorted(found(group=group), key=lambda point: point.name)
