"""A stand-in for a task: what nets ask of one while they are built, and no data.

Nets ask for shapes and words; those that draw also for the side of the picture and the parts of the code. So a net can
be built again where its world is not there.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp

from ..encodings import CoordinateEncoding
from ..errors import UserError, require_int
from ..tasks import Batch, Pictures, Sequences, Task

#: kinds of numbers that a file can hold
NUMBERS = (
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("bfloat16", "float16", "float32", "float64", "complex64"),
)
Facts = dict[str, Any]


class _Asked(Task):
    """Answers what nets ask of a task, from what was written down of it."""

    id: ClassVar[str] = "the world that it was built for"
    known_shapes: Batch = eqx.field(static=True)
    known_words: Mapping[str, int] = eqx.field(static=True)

    def shapes(self, samples: int | None = None) -> Batch:
        if samples not in (None, self.samples):
            raise UserError(f"shapes are known for {self.samples} samples only, and not for {samples}")
        return self.known_shapes

    @property
    def words(self) -> Mapping[str, int]:
        return self.known_words


class StandIn(_Asked):
    """In the place of any task."""

    def __init__(self, facts: Facts):
        _set_known(self, facts)


class StandInPictures(_Asked, Pictures):
    """In the place of a task of pictures."""

    def __init__(self, facts: Facts):
        _set_known(self, facts)
        self.side = require_int("side", facts["side"], at_least=1)
        self.polarity, self.centers, self.stored = "bright", "whole", None
        self.encoding = _KnownSizes(facts["levels"], facts["segments"])


class StandInSequences(_Asked, Sequences):
    """In the place of a task of sequences, whose texts it does not have."""

    def __init__(self, facts: Facts):
        _set_known(self, facts)
        nothing: Any = None
        self.texts = self.meanings = self.reads = self.writes = nothing


class _KnownSizes(CoordinateEncoding):
    """An encoding that says how large its code is, and shows nothing."""

    linear: ClassVar[bool] = False
    injective: ClassVar[bool] = False

    def __init__(self, levels: list[int], segments: list[int]):
        self.levels = tuple(require_int("levels", count, at_least=1) for count in levels)
        self.segments = tuple(require_int("segments", count, at_least=0) for count in segments)
        self.size, self.absent = sum(self.segments), "zeros"


def _set_known(task: Any, facts: Facts) -> None:
    """The fields that every stand-in has; inside `__init__`, where fields can be set."""
    task.space = None
    task.constituent_names = tuple(str(name) for name in facts["constituent_names"])
    task.samples = require_int("samples", facts["samples"], at_least=0)
    task.known_words = {str(name): require_int(name, count, at_least=0) for name, count in facts["words"].items()}
    task.known_shapes = Batch(**{name: _shapes_from(part) for name, part in facts["shapes"].items()})


def facts_of(task: Task) -> Facts:
    """What nets ask of a task, as data."""
    facts = {
        "shapes": {name: _plain_shapes(name, part) for name, part in task.shapes()._asdict().items()},
        "words": {name: int(count) for name, count in task.words.items()},
        "constituent_names": list(task.constituent_names),
        "samples": int(task.samples),
    }
    if isinstance(task, Pictures):
        encoding = task.encoding
        facts |= {"side": task.side, "levels": list(encoding.levels), "segments": list(encoding.segments)}
    if isinstance(task, Sequences):
        facts |= {"sequences": True}
    return facts


def stand_in(facts: Facts) -> Task:
    """The task that answers as `facts_of` found it."""
    if "sequences" in facts:
        return StandInSequences(facts)
    return StandInPictures(facts) if "side" in facts else StandIn(facts)


def _plain_shapes(name: str, part: Any) -> Any:
    """Shapes of a part of a batch: None, an array, or arrays in dictionaries, lists and tuples."""
    if part is None:
        return None
    if isinstance(part, Mapping):
        return {"parts": {str(key): _plain_shapes(name, item) for key, item in part.items()}}
    if isinstance(part, (list, tuple)):
        return {"items": [_plain_shapes(name, item) for item in part]}
    if str(part.dtype) not in NUMBERS:
        raise UserError(f"the {name} of its task is {part.dtype}, which a file cannot say")
    return {"shape": list(part.shape), "dtype": str(part.dtype)}


def _shapes_from(plain: Any) -> Any:
    if plain is None:
        return None
    if "parts" in plain:
        return {name: _shapes_from(part) for name, part in plain["parts"].items()}
    if "items" in plain:
        return tuple(_shapes_from(item) for item in plain["items"])
    if plain["dtype"] not in NUMBERS:
        raise UserError(f"{plain['dtype']!r} is no kind of numbers")
    shape = tuple(require_int("shape", size, at_least=0) for size in plain["shape"])
    return jax.ShapeDtypeStruct(shape, jnp.dtype(plain["dtype"]))
