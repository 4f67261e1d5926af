"""Stores on disk: found in folders, opened, and those that cannot be read named with the reason."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..errors import UserError
from ..lab.run import Result, Run, conclude, reopen
from ..lab.store import Store


def find_stores(folder: Path) -> list[Path]:
    """The folder itself if it is a store, else the stores in it."""
    folder = Path(folder)
    if (folder / "store.json").is_file():
        return [folder]
    found = sorted(path.parent for path in folder.glob("*/store.json"))
    if not found:
        what = "has no store of recombine in it" if folder.is_dir() else "is not a folder"
        raise UserError(f"{folder} {what}; name a folder that `recombine run` wrote, or one that holds such folders")
    return found


def open_all(folders: Sequence[Path]) -> tuple[list[Result], list[tuple[Path, str]]]:
    """Results of all stores in the folders, and what could not be read, with the reason; each once, however named."""
    from ..studies import registry

    results, unread = [], []
    paths: dict[Path, Path] = {}
    for path in (path for folder in folders for path in find_stores(folder)):
        paths.setdefault(path.resolve(), path)
    for path in paths.values():
        try:
            results.append(reopen(path, registry))
        except UserError as problem:
            unread.append((path, str(problem)))
    return results, unread


def short_place(place: str) -> str:
    """The last two parts of where a store is: enough to tell stores apart, and no more of the machine than that."""
    return "/".join(place.rstrip("/").split("/")[-2:])


def open_any_version(place: Path | str) -> Result:
    """The result of a store, also if another version of its study made it: its records are read as they are."""
    from ..studies import registry

    store = Store.open(place)
    study = registry[str(store.about.get("study"))]
    if store.about.get("version") == study.version:
        return reopen(place, registry)
    try:
        scale, settings = str(store.about["scale"]), dict(store.about["settings"])
        records = store.records()
        cells = [record.cell for record in records]
        return conclude(Run(study, scale, settings, cells, store), records, [])
    except (KeyError, AttributeError, TypeError, ValueError) as problem:
        raise UserError(
            f"{place} was made by version {store.about.get('version')} of the study {study.id!r}, whose readings "
            f"version {study.version} does not understand ({type(problem).__name__}: {problem})"
        ) from None
