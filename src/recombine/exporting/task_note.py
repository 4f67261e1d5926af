"""A task as data, so that predictions are scored where it was not made: a note for its fields, arrays by name.

Only what is registered by name is built again, and only if the copy equals the original; a task that cannot be written
down so is given to `rc.score(..., task=task)` instead.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import equinox as eqx
import jax
import numpy as np

from ..encodings import Encoding, encodings
from ..errors import UserError, describe
from ..spaces import Space, space_from_json
from ..tasks import Task, Tokenizer
from ..tasks import registry as tasks

Arrays = dict[str, np.ndarray]
_ARRAYS = {"numpy": np.asarray, "jax": jax.numpy.asarray, "key": jax.random.wrap_key_data}


def note_of(task: Task) -> tuple[dict[str, Any], Arrays] | None:
    """A task as plain data and arrays, or None if it cannot be made again from these."""
    arrays: Arrays = {}
    try:
        note = _plain(task, "task", arrays)
        again = task_from(note, arrays)
    except UserError:
        return None
    return (note, arrays) if bool(eqx.tree_equal(again, task)) else None


def task_from(note: Any, arrays: Mapping[str, np.ndarray]) -> Task:
    """The task that `note_of` wrote down."""
    try:
        found = _made(note, arrays)
    except UserError:
        raise
    except Exception as problem:  # whatever a note that nobody wrote makes of registered classes
        raise UserError(f"the card describes no registered task ({describe(problem)[:200]})") from None
    if not isinstance(found, Task):
        raise UserError("the card describes no task")
    return found


def _plain(value: Any, path: str, arrays: Arrays) -> Any:
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, Space):
        return {"space": value.to_json()}
    if isinstance(value, (tuple, list)):
        items = [_plain(item, f"{path}.{number}", arrays) for number, item in enumerate(value)]
        return {"tuple" if isinstance(value, tuple) else "list": items}
    if isinstance(value, (np.ndarray, jax.Array)):
        key = jax.numpy.issubdtype(value.dtype, jax.dtypes.prng_key)
        arrays[path] = np.asarray(jax.random.key_data(value) if key else value)
        return {"array": path, "of": "key" if key else "numpy" if isinstance(value, np.ndarray) else "jax"}
    if isinstance(value, Tokenizer):
        return {"tokenizer": list(value.vocabulary), "by": value.by}
    for kind, registry in (("task", tasks), ("encoding", encodings)):
        name = next((name for name, made in registry.items() if made is type(value)), None)
        if name is not None:
            names = [field.name for field in dataclasses.fields(value) if field.name in vars(value)]  # or a default
            return {kind: name, "fields": {n: _plain(getattr(value, n), f"{path}.{n}", arrays) for n in names}}
    raise UserError(f"{type(value).__name__} cannot be written down")


def _made(note: Any, arrays: Mapping[str, np.ndarray]) -> Any:
    match note:
        case {"space": plain}:
            return space_from_json(plain)
        case {"tokenizer": vocabulary, "by": by}:
            return Tokenizer(tuple(vocabulary), by)
        case {"tuple": items}:
            return tuple(_made(item, arrays) for item in items)
        case {"list": items}:
            return [_made(item, arrays) for item in items]
        case {"array": name, "of": kind}:
            return _ARRAYS[kind](arrays[name])
        case {"task": name, "fields": fields}:
            return _filled(tasks[name], Task, fields, arrays)
        case {"encoding": name, "fields": fields}:
            return _filled(encodings[name], Encoding, fields, arrays)
    return note


def _filled(made: Any, kind: type, fields: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> Any:
    """An object of a registered class with these fields; its constructor, which would draw them, does not run."""
    if not (isinstance(made, type) and issubclass(made, kind)):
        raise UserError(f"{made!r} is no class of {kind.__name__}")
    names = {field.name for field in dataclasses.fields(made)}  # type: ignore[arg-type]
    if not set(fields) <= names or not all(name in fields or hasattr(made, name) for name in names):
        raise UserError(f"the card was written for another version of {made.__name__}")
    found = object.__new__(made)
    for name, value in fields.items():
        object.__setattr__(found, name, _made(value, arrays))
    return found
