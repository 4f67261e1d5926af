"""Worlds and splits from words: a task by name, a design by name, and what is changed of them as name=value."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from ..errors import unknown
from ..lab.settings import require_modest

_NOT_SET = ("self", "space", "seed", "samples", "encoding_options")


def world_options(task: str) -> tuple[dict[str, Any], list[str]]:
    """Sizes of a task's space as they are, and the names of the options that the task takes."""
    from ..tasks import registry

    made = registry[task]
    options = [name for name in inspect.signature(made.__init__).parameters if name not in _NOT_SET]
    return dict(made.default_space().dimensions), options


def made_world(task: str, seed: int, changes: Mapping[str, str]) -> Any:
    """A registered task, its space and its options changed as asked.

    Args:
        task: its name.
        seed: of the world.
        changes: sizes of the space (modules=8) and options of the task (features=32), as they were typed.
    """
    from ..tasks import registry

    made = registry[task]
    sizes, options = world_options(task)
    values = {name: _value(text) for name, text in changes.items()}
    for name, value in values.items():
        if name not in (*sizes, *options):
            raise unknown("option", name, (*sizes, *options))
        require_modest(name, value)
    space: Any = made.default_space()
    changed = {name: value for name, value in values.items() if name in sizes}
    if changed:
        space = type(space)(**sizes | changed)
    return made(space, seed=seed, **{name: value for name, value in values.items() if name not in sizes})


def made_split(design: str, space: Any, seed: int, changes: Mapping[str, str]) -> Any:
    """A registered design on a space, with its options as they were typed."""
    from ..supports import registry

    make = registry[design]
    accepted = inspect.signature(make).parameters
    for name in changes:
        if name not in accepted or name in _NOT_SET:
            raise unknown(f"option of {design}", name, [one for one in accepted if one not in _NOT_SET])
    given = {name: _value(text, str(accepted[name].annotation)) for name, text in changes.items()}
    return make(space, seed=seed, **given)


def _value(text: str, wanted: str = "") -> Any:
    """A word as a number, yes or no, or itself; a list where one is wanted, or where there are commas."""
    if "," in text or "Sequence" in wanted or "tuple" in wanted or "list" in wanted:
        return tuple(_value(part) for part in text.split(",") if part)
    if text in ("true", "false"):
        return text == "true"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
