"""Stores on disk: found in folders, opened, and those that cannot be read named with the reason."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from ..errors import UserError, describe
from ..labels import visible
from .reopening import reopen
from .study import Study
from .study_result import Result


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


def open_all(folders: Sequence[Path], studies: Mapping[str, Study]) -> tuple[list[Result], list[tuple[Path, str]]]:
    """Results of all stores in the folders, and what could not be read, with the reason; each once, however named."""
    results, unread = [], []
    paths: dict[Path, Path] = {}
    for path in (path for folder in folders for path in find_stores(folder)):
        paths.setdefault(path.resolve(), path)
    for path in paths.values():
        try:
            results.append(reopen(path, studies))
        except UserError as problem:
            unread.append((path, str(problem)))
        except Exception as problem:  # a store of strangers stops no gallery, whatever its readings do to a study
            unread.append((path, f"{path} holds what its study cannot read ({visible(describe(problem), 120)})"))
    return results, unread
