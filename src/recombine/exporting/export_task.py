"""`rc.export`: a task and a split as files that any framework can read, with a card that says what they are."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import UserError, require_int, unknown
from ..files.arrays import pack
from ..files.owned_folder import refuse_occupied, write_manifest, written_folder
from ..files.plain_json import plain_json
from ..supports import Support
from ..tasks import Task
from .array_files import FORMATS, write_arrays
from .export_card import CARD, FORMAT, KIND, SHORT, TASK, WORDS, Export, open_export
from .export_sets import SETS, Arrays, arrays_of, combinations_of, hash_of_sets, item_ids, require_size
from .task_note import note_of


def export(
    task: Task,
    support: Support,
    folder: str | os.PathLike,
    *,
    train: int | None = None,
    validation: int | None = None,
    test: int | None = None,
    held_out: int | None = None,
    per_combination: int | None = None,
    samples: int | None = None,
    seed: int = 0,
    format: str = "npz",
    force: bool = False,
) -> Export:
    """Writes a task and a split as files: train, validation, test and held-out items, and a card.

    A world that never runs out of items is drawn from: 4,096 items to train on, 512, 1,024 and 1,024 if nothing is
    said. One in which a combination has one item only is written in full, and has no validation and test sets: these
    would repeat training.

    Args:
        task: the world.
        support: what is trained and what is held out.
        folder: a new one, or an empty one.
        train: items to train on.
        validation: items of trained combinations, to choose by; 0 for none.
        test: items of trained combinations, to compare with; 0 for none.
        held_out: items of held-out combinations.
        per_combination: so many items of each combination, in place of numbers of items.
        samples: inputs per item, if not what the task says.
        seed: of what is drawn.
        format: "npz" or "parquet".
        force: replace what an earlier export wrote there, if it is unchanged.

    Example:
        >>> rc.export(task, support, "world", train=64, validation=16, test=16, held_out=16).hash[:6].isalnum()
        True
    """
    if format not in FORMATS:
        raise unknown("format", format, FORMATS)
    if support.space != task.space:
        raise UserError(f"the support splits {support.space} but the task combines {task.space}")
    require_int("seed", seed, at_least=0)
    if samples is not None:
        require_int("samples", samples, at_least=1)
    refuse_occupied(folder, CARD, KIND, force)  # before it takes long
    world = task.given(support)
    sizes = {"train": train, "validation": validation, "test": test, "held_out": held_out}
    for name, number in sizes.items():
        require_size(world, name, require_int(name, number or 0), samples)  # before so many are drawn
    rows = combinations_of(world, support, sizes, per_combination, seed)
    sets = {name: arrays_of(world, support, name, found, samples, seed) for name, found in rows.items()}
    card = _card(world, support, seed)
    card["hash"] = hash_of_sets({name: card[name] for name in ("task", "space", "support")}, sets)
    card["sets"] = {name: _about(name, arrays, format) for name, arrays in sets.items()}
    noted = note_of(world)
    card["task"]["note"] = None if noted is None else noted[0]
    with written_folder(folder, CARD, KIND, force) as aside:
        for name, arrays in sets.items():
            ids = {"item": item_ids(card["hash"], name, len(arrays["combination"]))}
            write_arrays(aside / card["sets"][name]["file"], ids | arrays)
        if noted is not None:
            (aside / TASK).write_bytes(pack(noted[1], {}))
        (aside / WORDS).write_text(_words(card), encoding="utf-8")
        write_manifest(aside, CARD, card)
    return open_export(Path(folder))


def _card(task: Task, support: Support, seed: int) -> dict[str, Any]:
    from .. import __version__

    return {
        "kind": KIND,
        "format": FORMAT,
        "recombine": __version__,
        "task": {
            "id": task.id,
            "words": {name: int(count) for name, count in task.words.items()},
            "one_item_per_combination": bool(task.repeats),
            "constituents": list(task.constituent_names),
        },
        "space": support.space.to_json(),
        "factors": {name: [str(level) for level in levels] for name, levels in support.space.columns.items()},
        "support": {
            "design": support.design,
            "settings": plain_json(support.settings),
            "asks": support.asks,
            "groups": list(support.groups),
            "content": support.certificate().content,
        },
        "certificate": support.certificate().to_json(),
        "metrics": [
            {"name": one.name, "words": one.words, "higher_is_better": one.higher_is_better} for one in task.metrics
        ],
        "seed": seed,
    }


def _about(name: str, arrays: Arrays, format: str) -> dict[str, Any]:
    """A set in the card: its file, and the shape of one row of each array."""
    item = {"item": {"shape": [], "dtype": "int64"}}
    shapes = {part: {"shape": list(values.shape[1:]), "dtype": str(values.dtype)} for part, values in arrays.items()}
    return {
        "file": f"{name}.{format}",
        "items": len(arrays["combination"]),
        "combinations": len(np.unique(arrays["combination"], axis=0)),
        "arrays": item | shapes,
    }


def _words(card: dict[str, Any]) -> str:
    """The card for people: what is in the files, and how predictions are scored."""
    task, metric, target = card["task"], card["metrics"][0], card["sets"]["held_out"]["arrays"]["target"]
    shape = ", ".join(map(str, ["items", *target["shape"]]))
    answers = f"an array ({shape}) like `target`"
    if (words := task["words"].get("target")) is not None:
        answers += f", or logits ({shape}, {words})"
    lines = [
        f"# {task['id']}, {card['support']['design']}",
        "",
        f"A world of Recombine {card['recombine']} and a split of its combinations. Train on `train`; what is asked is",
        "`held_out`, whose combinations are in no other set.",
        "",
        "| set | items | combinations | file |",
        "|---|---|---|---|",
    ]
    for name in SETS:
        if name in card["sets"]:
            one = card["sets"][name]
            lines.append(f"| {name} | {one['items']:,} | {one['combinations']:,} | {one['file']} |")
    if task["one_item_per_combination"]:
        lines += [
            "",
            "A combination has one item: a test on trained ones would repeat training, so there is none.",
        ]
    lines += ["", "| array | of one item | kind of numbers |", "|---|---|---|"]
    for part, one in card["sets"]["held_out"]["arrays"].items():
        lines.append(f"| {part} | {tuple(one['shape'])} | {one['dtype']} |")
    lines += [
        "",
        "Parquet holds each array as one list per item, in row-major order. `code` tells a net which combination is",
        "meant, `inputs` are what it is shown, and `constituents` (the answer in other words) are for probes. Of whole",
        "numbers in `target`, -1 does not count.",
        "",
        f"The metric is {metric['name']} ({metric['words']}). Predictions of a set are {answers}:",
        "",
        "    numpy.savez('predictions.npz', held_out=answers, held_out_item=item)    # item: as in held_out",
        "    recombine score FOLDER predictions.npz",
        "",
        f"Hash {card['hash'][:SHORT]}, split {card['support']['content'][:SHORT]}, seed {card['seed']}.",
        "",
    ]
    return "\n".join(lines)
