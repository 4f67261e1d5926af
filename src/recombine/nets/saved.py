"""A net in one file, and back: `net.save(path)` and `load(path)`.

The file is safetensors. Arrays go by their path in the net; a note says as JSON what builds the net again: for each
stage the blueprint by its registered name, the precision, and the shapes and words of the task (`stand_in.py`). Loading
builds that by shape only, compares, and puts the arrays in. So no code runs but that of registered nets, and no array
is made that the file does not hold. Saving does the same before it writes: what could not be loaded is not saved.
"""

from __future__ import annotations

import hashlib
import json
import os
import weakref
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from .. import __version__
from ..errors import UserError, describe
from ..files import write_or_refuse
from ..files.arrays import Damaged, pack, read_notes, unpack
from ..files.foreign_json import parsed_json, require_fields
from ..tasks import Task
from .base import Blueprint, Net, nets
from .parts import Parts, cut, from_plain, join, to_plain
from .stand_in import NUMBERS, facts_of, stand_in

FORMAT = 1  # of the note
NOTE, SUM = "recombine net", "sum of the note"
LARGEST = (
    2**16
)  # whole numbers in a note are at most this, or as many as the file has numbers: layers take time to trace


@dataclass(frozen=True)
class Built:
    """What built a net, or went on from the one before it."""

    blueprint: Blueprint
    task: Task
    precision: str


#: what built which net, by the net itself: an attribute that is no field would change its structure as a pytree
_built: dict[int, tuple[weakref.ref[Net], tuple[Built, ...]]] = {}


def remember(net: Net, stages: Sequence[Built]) -> Net:
    """The same net, of which it is known now what built it, so that it can be saved."""
    number = id(net)
    _built[number] = (weakref.ref(net, lambda _: _built.pop(number, None)), tuple(stages))
    return net


def recall(net: Net) -> tuple[Built, ...] | None:
    """What built a net, if that was remembered; operations on its tree give other nets, which were not."""
    found, stages = _built.get(id(net), (None, None))
    return stages if found is not None and found() is net else None


def save(
    net: Net,
    path: str | os.PathLike,
    blueprint: Blueprint | Sequence[Blueprint] | None = None,
    task: Task | None = None,
) -> None:
    """Writes a net; see `Net.save`."""
    path, kind = Path(path), type(net).__name__
    parts = cut(net)
    arrays = {name: to_plain(leaf) for name, leaf in {**parts.trained, **parts.frozen}.items()}
    problem = UserError("nothing builds it")
    for stages in _candidates(net, blueprint, task):
        try:
            note = _note_of(stages)
            shapes = _shapes_of(note, arrays)
            if cut(shapes).static != parts.static:
                named = stages[-1].blueprint
                raise UserError(f"{named!r} builds one that differs in what is no array, such as its precision")
            break
        except UserError as why:
            problem = why
    else:
        raise UserError(f"this {kind} was not saved, as it could not be loaded: {problem}")
    _require_free(path)
    write_or_refuse(path, pack(arrays, {NOTE: note, SUM: _sum(note)}), ours=True)


def load(path: str | os.PathLike) -> Net:
    """The net that `net.save(path)` wrote: it answers exactly as the saved one. Its task is not needed.

    Args:
        path: of the file.

    Example:
        >>> trained.nets[0].save("mlp.safetensors")
        >>> again = rc.nets.load("mlp.safetensors")
        >>> bool((again.kernels[0] == trained.nets[0].kernels[0]).all())
        True
    """
    path = Path(path)
    arrays, note = _read(path)
    try:
        parts = cut(_shapes_of(note, arrays))
        filled = {name: from_plain(leaf, arrays[name]) for name, leaf in {**parts.trained, **parts.frozen}.items()}
        trained, frozen = ({name: filled[name] for name in some} for some in (parts.trained, parts.frozen))
        return remember(join(Parts(trained, frozen, parts.static)), _stages_from(note))
    except UserError as problem:
        raise UserError(f"{path} cannot be loaded: {problem}") from None


# -- what builds a net, as data ---------------------------------------------------------------------------------------


def _candidates(
    net: Net, blueprint: Blueprint | Sequence[Blueprint] | None, task: Task | None
) -> Iterator[tuple[Built, ...]]:
    """What may have built a net: what it remembers, or what was given, at either precision."""
    if blueprint is None and task is None:
        known = recall(net)
        if known is None:
            raise UserError(
                f"this {type(net).__name__} does not know what built it (only nets that were trained or loaded do); "
                "net.save(path, blueprint=MLP(width=64), task=task) says so"
            )
        yield known
        return
    blueprints = [blueprint] if isinstance(blueprint, Blueprint) else list(blueprint or ())
    if task is None or not blueprints:
        raise UserError("blueprint= and task= go together: what built the net, and for what")
    for precision in ("float32", "bfloat16"):
        yield tuple(Built(one, task, precision) for one in blueprints)


def _note_of(stages: Sequence[Built]) -> str:
    """The stages as JSON; refuses a net whose blueprint cannot be found again by name and fields."""
    found = []
    for stage in stages:
        blueprint = stage.blueprint
        _require_registered(blueprint)
        found.append({"net": blueprint.to_json(), "precision": stage.precision, "task": facts_of(stage.task)})
    try:
        return json.dumps({"format": FORMAT, "version": __version__, "stages": found}, allow_nan=False)
    except (TypeError, ValueError) as problem:
        raise UserError(f"what built it is no JSON: {problem}") from None


def _require_registered(blueprint: Blueprint) -> None:
    name = blueprint.name
    if name not in nets:
        raise UserError(
            f"net {name!r} is not registered; `@recombine.nets.registry.register({name!r})` above its blueprint does it"
        )
    again = _blueprint_from(blueprint.to_json())
    if type(again) is not type(blueprint) or again.to_json() != blueprint.to_json():
        raise UserError(f"net {name!r} is registered as something else: {again!r} instead of {blueprint!r}")


def _blueprint_from(plain: Any) -> Any:
    """A blueprint from its JSON, those within it too; lists become tuples, which can be hashed."""
    if isinstance(plain, list):
        return tuple(_blueprint_from(item) for item in plain)
    if not isinstance(plain, dict):
        return plain
    fields = {name: _blueprint_from(value) for name, value in plain.items()}
    return nets[fields.pop("net")](**fields) if "net" in fields else fields


def _stages_from(note: str) -> list[Built]:
    stages = parsed_json(note)["stages"]
    return [Built(_blueprint_from(one["net"]), stand_in(one["task"]), one["precision"]) for one in stages]


def _shapes_of(note: str, arrays: dict[str, np.ndarray]) -> Net:
    """The net that a note describes, by shape; a UserError if there is none, or none with these arrays."""
    try:
        about = require_fields(parsed_json(note), {"format": int, "stages": list})
        if about["format"] > FORMAT:
            raise UserError(f"its format is {about['format']}, of a newer version of recombine ({about['version']})")
        _require_modest(about["stages"], max(LARGEST, sum(array.size for array in arrays.values())))
        stages = _stages_from(note)
        for stage in stages:
            if not isinstance(stage.blueprint, Blueprint):
                raise UserError("a stage of it has no net")
    except UserError:
        raise
    except Exception as problem:  # whatever registered nets do with fields that they do not expect
        raise UserError(f"what it says describes no registered net ({describe(problem)[:200]})") from None
    net = _built_by_shape(stages)
    _require_arrays(net, arrays)
    return net


def _built_by_shape(stages: list[Built]) -> Net:
    try:
        net = eqx.filter_eval_shape(_build, stages)
    except UserError:
        raise
    except Exception as problem:  # whatever registered nets ask of a task
        names = " then ".join(repr(stage.blueprint.name) for stage in stages)
        raise UserError(
            f"net {names} needs more of its task than a file says of it, or other fields ({describe(problem)[:200]})"
        ) from None
    if not isinstance(net, Net):
        raise UserError("it has no stages")
    return net


def _build(stages: list[Built]) -> Net | None:
    net = None
    for stage in stages:
        net = stage.blueprint.build(stage.task, jax.random.key(0), stage.precision, net)
    return net


def _require_modest(plain: Any, largest: int) -> None:
    """Refuses numbers by which a small file would keep us busy for hours."""
    for item in plain.values() if isinstance(plain, dict) else plain if isinstance(plain, list) else ():
        if isinstance(item, int) and abs(item) > largest:
            raise UserError(f"it has the number {item}, and is too small for that")
        _require_modest(item, largest)


def _require_arrays(net: Net, arrays: dict[str, np.ndarray]) -> None:
    """Refuses arrays that are not those of the net, by name, kind and shape."""
    parts = cut(net)
    wanted = {name: _kind(leaf) for name, leaf in {**parts.trained, **parts.frozen}.items()}
    there = {name: f"{array.dtype}{list(array.shape)}" for name, array in arrays.items()}
    unlike = [name for name in sorted({*wanted, *there}) if wanted.get(name) != there.get(name)]
    if unlike:
        name, more = unlike[0], f", and {len(unlike) - 1} more differ" if len(unlike) > 1 else ""
        raise UserError(
            f"what it says builds {name} as {wanted.get(name, 'nothing')}, and it has {there.get(name, 'none')}{more}"
        )
    for name, array in arrays.items():
        if str(array.dtype) not in NUMBERS:
            raise UserError(f"{name} is {array.dtype}, which a file cannot hold")


def _kind(leaf: Any) -> str:
    """Kind and shape of an array as it is written."""
    if jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key):
        leaf = jax.eval_shape(jax.random.key_data, leaf)
    return f"{leaf.dtype}{list(leaf.shape)}"


# -- the file ---------------------------------------------------------------------------------------------------------


def _read(path: Path) -> tuple[dict[str, np.ndarray], str]:
    """The arrays and the note of a saved net, whole; a UserError that names the file and what is wrong with it."""
    if not path.is_file():
        raise UserError(f"{path} is no file; net.save(path) writes one")
    try:
        arrays, notes = unpack(path)
    except Damaged as problem:
        raise UserError(f"{path} is damaged or no saved net: {problem}") from None
    if NOTE not in notes:
        kept = "a net that a run kept; rc.load(run).net(cell) loads it" if "made_by" in notes else "no saved net"
        raise UserError(f"{path} is {kept}")
    if notes.get(SUM) != _sum(notes[NOTE]):
        raise UserError(f"{path} is damaged: what it says of its net does not match its checksum")
    return arrays, notes[NOTE]


def _require_free(path: Path) -> None:
    """Refuses to replace what is no saved net."""
    if not os.path.lexists(path):
        return
    try:
        ours = path.is_file() and NOTE in read_notes(path)
    except Damaged:
        ours = False
    if not ours:
        raise UserError(f"{path} is there already and is no saved net, so it is not replaced; give another path")


def _sum(note: str) -> str:
    return hashlib.sha256(note.encode()).hexdigest()
