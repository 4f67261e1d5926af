"""Studies: one folder per paper, one file per study. A file is imported when a study in it is asked for by name.

What a file calls a Study is registered by its id; to list all studies, all files are imported.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

from ..lab.study import Study
from ..lab.study import studies as registry


def _files() -> Iterator[tuple[str, Path]]:
    """Modules of studies, and where they are, in the order in which studies are listed."""
    for folder in sorted(found.name for found in pkgutil.iter_modules(__path__) if found.ispkg):
        for file in pkgutil.iter_modules([f"{__path__[0]}/{folder}"]):
            yield f".{folder}.{file.name}", Path(__path__[0], folder, f"{file.name}.py")


def _studies_in(module: str) -> dict[str, Study]:
    return {thing.id: thing for thing in vars(import_module(module, __name__)).values() if isinstance(thing, Study)}


def _called(name: str) -> dict[str, Study]:
    """The study of this name, from the file that says so: `id="name"`."""
    for module, path in _files():
        if f'id="{name}"' in path.read_text(encoding="utf-8") and name in (found := _studies_in(module)):
            return {name: found[name]}
    return {}


def _all() -> dict[str, Study]:
    found: dict[str, Study] = {}
    for module, _ in _files():
        found = _studies_in(module) | found  # of two of one name the first counts
    order = [name for module, _ in _files() for name in _studies_in(module)]
    return {name: found[name] for name in dict.fromkeys(order)}


def _unfit(name: str, thing: object) -> str:
    """Why a plug-in cannot be the study of a name: a store knows a study by its id alone."""
    if not isinstance(thing, Study):
        return f"it is a {type(thing).__name__} and no study"
    return "" if thing.id == name else f"its id is {thing.id!r}; an entry point of a study is called as the study is"


registry.find_in(_called, _all)
registry.plugins_unfit(_unfit)
