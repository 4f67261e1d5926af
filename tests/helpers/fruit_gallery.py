"""Stores of the study of fruit, and galleries of them."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from fruit_study import Fruit, fruit_record, fruit_store

from recombine.cli.store_commands import gallery_place
from recombine.lab.found_stores import open_all
from recombine.registry import Registry
from recombine.report import write_gallery

STUDIES = {"fruit": Fruit()}


@pytest.fixture(autouse=True)
def only_fruit(monkeypatch):
    registry: Registry = Registry("study")
    registry.register("fruit")(Fruit())
    monkeypatch.setattr("recombine.studies.registry", registry)


def filled(folder: Path, shift: float = 0.0, **provenance: str) -> Path:
    """A store of the study of fruit, with all values moved."""
    store = fruit_store(folder)
    for seed in range(3):
        for kind in ("apple", "pear"):
            record = fruit_record(seed, kind, **provenance)
            rows = [row | {"value": row["value"] + shift} for row in record.rows]
            store.put(dataclasses.replace(record, rows=rows))
    return folder


def gallery_of(folders: list[Path], path: Path | None = None) -> Path:
    results, unread = open_all(folders, STUDIES)
    return write_gallery(results, path or gallery_place(folders), unread)
