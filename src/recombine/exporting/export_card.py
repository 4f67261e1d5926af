"""An exported folder: its card, and the arrays of its sets, each checked against the hash that the card has of it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import UserError, unknown
from ..files.arrays import Damaged, unpack
from ..files.foreign_json import parsed_json, require_fields
from ..files.owned_folder import hash_of
from ..labels import quoted, visible
from ..notebook import table_html
from ..spaces import Space, space_from_json
from ..tasks import Task
from .array_files import FORMATS, read_arrays
from .export_sets import SETS
from .task_note import task_from

FORMAT, KIND = 1, "recombine-export"
CARD, WORDS, TASK = "card.json", "README.md", "task.safetensors"
SHORT = 12  # characters of the hash that are shown


@dataclass(frozen=True)
class Export:
    """A task and a split as files: what `rc.export` wrote.

    Args:
        folder: where it lies.
        card: what `card.json` says: task, support, certificate, metrics, sets and their arrays, hash.

    Example:
        >>> exported = rc.export(task, support, "world", train=64, validation=16, test=16, held_out=16)
        >>> exported.sizes
        {'train': 64, 'validation': 16, 'test': 16, 'held_out': 16}
        >>> exported.arrays("held_out", ["target"])["target"].shape
        (16, 16, 16)
    """

    folder: Path
    card: dict[str, Any]

    @property
    def hash(self) -> str:
        """What it is, by content."""
        return self.card["hash"]

    @property
    def sizes(self) -> dict[str, int]:
        """Items of each set."""
        return {name: self.card["sets"][name]["items"] for name in SETS if name in self.card["sets"]}

    @cached_property
    def space(self) -> Space:
        return space_from_json(self.card["space"])

    def arrays(self, name: str, parts: list[str] | None = None) -> dict[str, np.ndarray]:
        """Arrays of a set, by name; all of them, or those that are asked for."""
        if name not in self.sizes:
            raise unknown("set", name, self.sizes)
        about = self.card["sets"][name]
        shapes = {part: one["shape"] for part, one in about["arrays"].items()}
        for part in parts or ():
            if part not in shapes:
                raise unknown(f"array of {name}", part, shapes)
        return read_arrays(self._whole(about["file"]), parts or list(shapes), shapes)

    def task(self) -> Task | None:
        """The world, built again; None where the card cannot say it."""
        note = self.card["task"]["note"]
        if note is None:
            return None
        try:
            return task_from(note, unpack(self._whole(TASK))[0])
        except Damaged as problem:
            raise UserError(f"{TASK} in {visible(self.folder)} is damaged: {problem}; export again") from None

    def _whole(self, name: str) -> Path:
        """The path of a file that is as it was written."""
        path = self.folder / name
        try:
            unchanged = hash_of(path) == self.card["files"].get(name)
        except OSError as problem:
            raise UserError(f"{visible(path)} cannot be read: {problem.strerror}; export again") from None
        if not unchanged:
            raise UserError(f"{visible(path)} is not as it was written; export again")
        return path

    def __repr__(self) -> str:
        sizes = ", ".join(f"{count:,} {name}" for name, count in self.sizes.items())
        return f"Export({self.card['task']['id']}, {self.card['support']['design']}: {sizes}; {self.hash[:SHORT]})"

    def _repr_html_(self) -> str:
        title = f"Export of {self.card['task']['id']}, {self.card['support']['design']}"
        return table_html(title, [(n, f"{count:,}") for n, count in self.sizes.items()], ("set", "items"))


def open_export(folder: str | os.PathLike) -> Export:
    """The export in a folder; a UserError where there is none, or one of a newer version.

    Args:
        folder: what `rc.export` or `recombine export` wrote.

    Example:
        >>> exported = rc.export(task, support, "world", train=64, validation=16, test=16, held_out=16)
        >>> rc.open_export("world").hash == exported.hash
        True
    """
    place = Path(folder)
    try:
        card = parsed_json((place / CARD).read_bytes())
    except (OSError, ValueError):
        raise UserError(
            f"{visible(place, 200)} is no export: it has no {CARD} that can be read; `recombine export` writes one"
        ) from None
    if not isinstance(card, dict) or card.get("kind") != KIND:
        raise UserError(f"{visible(place / CARD, 200)} is not the card of an export; `recombine export` writes one")
    if card.get("format") != FORMAT:
        raise UserError(
            f"{visible(place, 200)} is of format {quoted(card.get('format'))}, and {FORMAT} can be read; "
            "export it again"
        )
    try:
        _check(card)
    except (KeyError, TypeError, ValueError, AttributeError):
        raise UserError(f"{visible(place / CARD, 200)} is damaged; export it again") from None
    return Export(place, card)


def _check(card: dict[str, Any]) -> None:
    """Raises whatever it raises where the card lacks something that is read later."""
    require_fields(card, {"hash": str, "metrics": list, "sets": dict, "files": dict})
    require_fields(card["task"], {"id": str, "words": dict, "note": (dict, type(None))})
    require_fields(card["task"]["words"], dict.fromkeys(card["task"]["words"], int))
    require_fields(card["support"], {"design": str, "groups": list})
    for one in card["metrics"]:
        require_fields(one, {"name": str, "higher_is_better": bool})
    if not card["metrics"] or not all(isinstance(group, str) for group in card["support"]["groups"]):
        raise ValueError("metrics and groups have names")
    int(card["hash"], 16)
    space_from_json(card["space"])
    for name, about in card["sets"].items():
        if name not in SETS or about["file"] not in [f"{name}.{ending}" for ending in FORMATS]:
            raise ValueError(name)
        int(about["items"])
        for one in about["arrays"].values():
            [int(size) for size in one["shape"]]
