"""Parameters that are all names of a registry: a few of each kind are tested at once, the others by `make check`."""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterable
from typing import Any

import pytest

from recombine import tasks

#: one world of each folder of tasks, and a control
WORLDS = (
    "hyperteacher-v1",
    "lookup-v1",
    "goal-v2",
    "preference-v1",
    "bumps-v1",
    "bumps-read-v1",
    "scan-v1",
    "multiplication-v1",
)
#: a net that reads numbers, one that reads words, one that draws, one that writes
NETS = ("mlp", "transformer", "coordinate-mlp", "lstm")


def every(names: Iterable[Any], at_once: Collection[Any]) -> list[Any]:
    """All of them as parameters; those that are not tested `at_once` are marked as slow."""
    names = list(names)
    assert set(at_once) & set(names), "some of them are tested at once"
    return [name if name in at_once else _slow(name) for name in names]


def _slow(name: Any) -> Any:
    return pytest.param(*(name if isinstance(name, tuple) else (name,)), marks=pytest.mark.slow)


@functools.cache
def registered_world(name: str) -> tasks.Task:
    """A registered task on its default space; made once, as some take a second."""
    made = tasks.registry[name]
    return made(made.default_space(), seed=1)
