"""The items of each set of an export: which combinations, how many, and their arrays."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

import jax
import numpy as np

from ..errors import UserError, require_int
from ..keys import generator, key_for
from ..spaces import LISTED_UP_TO
from ..supports import Side, Support
from ..tasks import Task
from ..training import draw_combinations, item_blocks

SETS = ("train", "validation", "test", "held_out")
SIZES = {"train": 4096, "validation": 512, "test": 1024, "held_out": 1024}
#: what a net may be shown, and what it is asked for; `item` says which one a row is
PARTS = ("code", "inputs", "target", "constituents")
MOST_BYTES = 4 << 30  # of a set in memory
MOST_ITEMS = 1 << 26  # of a set: its number is part of each item's id
Arrays = dict[str, np.ndarray]


def combinations_of(
    task: Task, support: Support, sizes: Mapping[str, int | None], per_combination: int | None, seed: int
) -> dict[str, np.ndarray]:
    """Set -> (items, K): which combinations its items are of. Sets of no items are not there.

    Where numbers of items are asked for, the same ones are drawn that `Trained.score` asks about, except that a test
    on known combinations has none that the exported training set lacks.
    """
    if per_combination is None and task.repeats:
        per_combination = 1
    asked = _numbers(task, sizes, per_combination)
    found: dict[str, np.ndarray] = {}
    for name, number in asked.items():
        if number == 0:
            continue
        side = support.side(name)
        if per_combination is not None:
            found[name] = np.repeat(_all_of(side, name, per_combination), per_combination, axis=0)
        else:
            found[name] = draw_combinations(side, key_for(name, seed), require_int(name, number))
        if name in ("validation", "test"):
            found[name] = _known(support, found[name], found["train"], seed)
    return found


def _numbers(task: Task, sizes: Mapping[str, int | None], per_combination: int | None) -> dict[str, int | None]:
    """Items of each set; None: all of its combinations."""
    asked: dict[str, int | None] = {}
    for name in SETS:
        number = sizes.get(name)
        if number is not None:
            require_int(name, number, at_least=1 if name in ("train", "held_out") else 0, at_most=MOST_ITEMS)
        if per_combination is None:
            asked[name] = SIZES[name] if number is None else number
            continue
        if number:
            raise UserError(
                f"{name}={number} and {per_combination} items per combination contradict each other; "
                f"give one of them ({name}=0 leaves the set out)"
            )
        again = task.repeats and name in ("validation", "test")  # the items of training once more
        asked[name] = 0 if again else number
    return asked


def _all_of(side: Side, name: str, per_combination: int) -> np.ndarray:
    require_int("per_combination", per_combination, at_least=1)
    if not (side.listed or side.space.size <= LISTED_UP_TO):
        raise UserError(
            f"{name} has {side.size:,} combinations, too many to have each; give numbers of items, as train=100000"
        )
    rows = side.combinations()
    if len(rows) * per_combination > MOST_ITEMS:
        raise UserError(
            f"per_combination={per_combination} makes {len(rows) * per_combination:,} items of {name}; "
            f"at most {MOST_ITEMS // len(rows)} can be made"
        )
    return rows


def _known(support: Support, rows: np.ndarray, train: np.ndarray, seed: int) -> np.ndarray:
    """The rows, with training rows in the place of those that the training set happens to lack."""
    there = set(support.space.rank(train).tolist())
    lacks = np.array([rank not in there for rank in support.space.rank(rows).tolist()], bool)
    chosen = generator(key_for("export-known", seed)).integers(len(train), size=int(lacks.sum()))
    rows = rows.copy()
    rows[lacks] = train[chosen]
    return rows


def arrays_of(task: Task, support: Support, name: str, rows: np.ndarray, samples: int | None, seed: int) -> Arrays:
    """The arrays of a set, one row per item: combinations, what a net is shown, its target, and groups if held out."""
    require_size(task, name, len(rows), samples)
    blocks: list[Arrays] = []
    for _, batch in item_blocks(task, rows, 1, key_for(name, seed), samples):
        parts = {part: getattr(batch, part) for part in PARTS}
        flat = jax.tree_util.tree_flatten_with_path(parts)[0]
        blocks.append({_name_of(path): np.asarray(leaf) for path, leaf in flat})
    found = {part: np.concatenate([block[part] for block in blocks])[: len(rows)] for part in blocks[0]}
    if "target" not in found:
        raise UserError(f"{task.id} has no target of one array, so predictions of it cannot be scored from files")
    found = {"combination": np.asarray(rows)} | found
    if name == "held_out" and support.groups:
        found["groups"] = np.stack([np.asarray(predicate(rows), bool) for predicate in support.groups.values()], 1)
    return found


def require_size(task: Task, name: str, items: int, samples: int | None) -> None:
    """Refuses a set that would fill the memory, by its shapes."""
    parts = task.shapes(samples)._replace(combinations=None)
    each = sum(leaf.dtype.itemsize * int(np.prod(leaf.shape)) for leaf in jax.tree.leaves(parts))
    if each * items > MOST_BYTES:
        raise UserError(
            f"{name} of {items:,} items takes {each * items / 2**30:,.1f} GB, more than {MOST_BYTES >> 30} GB; "
            f"{name}={max(MOST_BYTES // each, 1)} fits"
        )


def _name_of(path: Any) -> str:
    """ "inputs", or "inputs.left" of a part that has parts."""
    return ".".join(str(getattr(entry, "key", getattr(entry, "idx", entry))) for entry in path)


def hash_of_sets(about: Mapping[str, Any], sets: Mapping[str, Arrays]) -> str:
    """What an export is, by content: another world, split, size or seed gives another one."""
    digest = hashlib.sha256(json.dumps(about, sort_keys=True).encode())
    for name, arrays in sets.items():
        for part, values in arrays.items():
            digest.update(f"{name} {part} {values.dtype} {values.shape}".encode())
            digest.update(np.ascontiguousarray(values).tobytes())
    return digest.hexdigest()


def item_ids(content: str, name: str, items: int) -> np.ndarray:
    """(items,) whole numbers below 2^53 that say which export, which set and which item."""
    return (int(content[:6], 16) << 28) + (SETS.index(name) << 26) + np.arange(items, dtype=np.int64)


def export_of(item: int) -> str:
    """The first six characters of the hash of the export that an item is of."""
    return f"{int(item) >> 28:06x}"
