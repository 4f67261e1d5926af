"""Cells: the unit of work of a study. Data, never code."""

from __future__ import annotations

import functools
import hashlib
import json
from dataclasses import dataclass
from typing import Any

from ..files.foreign_json import require_fields

Spec = dict[str, Any]


def canonical(data: Any) -> str:
    """JSON with one spelling for equal data: what is hashed."""
    return json.dumps(data, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


@dataclass(frozen=True)
class Cell:
    """One experiment of a study: its settings, and the version of what computes it."""

    study: str
    version: int
    spec: Spec

    @functools.cached_property  # a driver asks for it some twenty times per cell
    def id(self) -> str:
        """Identity: a hash of the spec and of the version of what computes it."""
        return hashlib.sha256(canonical(self.to_json()).encode()).hexdigest()[:24]

    def columns(self) -> dict[str, Any]:
        """What stands beside its readings in a table: its seed, and its place on each axis of the study."""
        return {"seed": self.spec["seed"], **self.spec["at"]} if "at" in self.spec else dict(self.spec)

    def to_json(self) -> dict[str, Any]:
        return {"study": self.study, "version": self.version, "spec": self.spec}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Cell:
        """A ValueError if it is no cell."""
        require_fields(data, {"study": str, "version": int, "spec": dict})
        return cls(data["study"], data["version"], data["spec"])
