"""Worlds for other frameworks: `recombine export` writes one, `recombine score` scores predictions of it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from tyro.conf import Positional, UseAppendAction, arg

from ..errors import UserError
from ..labels import folder_name
from .changes import changes_of
from .printing import print_json, print_text

Changes = Annotated[UseAppendAction[tuple[tuple[str, ...], ...]], arg(metavar="NAME=VALUE")]


def export(
    task: Positional[str],
    design: str = "random",
    set: Changes = (),
    train: int | None = None,
    validation: int | None = None,
    test: int | None = None,
    held_out: int | None = None,
    per_combination: int | None = None,
    samples: int | None = None,
    seed: int = 0,
    format: Literal["npz", "parquet"] = "npz",
    out: Path | None = None,
    force: bool = False,
    json: bool = False,
) -> None:
    """Writes a world and a split as files for any framework: train, validation, test and held-out items, and a card.

    Args:
        task: such as hyperteacher-v1; `recombine list tasks` shows them
        design: what is held out, such as random or missing; `recombine list supports` shows them
        set: the space (modules=8 at_most=2, or x=12), options of the task (features=32) and of the design
            (held_out=.3, elements=m3)
        train: items to train on (default: 4096, or every combination where each has one item)
        validation: items of trained combinations to choose by (default: 512)
        test: items of trained combinations to compare with (default: 1024)
        held_out: items of held-out combinations (default: 1024, or every one where each has one item)
        per_combination: so many items of each combination, in place of numbers of items
        samples: inputs per item
        seed: of the world, the split and what is drawn
        format: of the files
        out: folder for the files and the card (default: runs/export-TASK)
        force: replace what an earlier export wrote there; other files are never replaced
        json: print the card on stdout and nothing else there
    """
    from ..exporting import export as write
    from .worlds import made_split, made_world, world_options

    sizes, options = world_options(task)
    changes = changes_of(pair for group in set for pair in group)
    of_world = {name: text for name, text in changes.items() if name in sizes or name in options}
    world = made_world(task, seed, of_world)
    split = made_split(design, world.space, seed, {n: text for n, text in changes.items() if n not in of_world})
    found = write(
        world,
        split,
        out or Path("runs") / f"export-{folder_name(task)}",
        train=train,
        validation=validation,
        test=test,
        held_out=held_out,
        per_combination=per_combination,
        samples=samples,
        seed=seed,
        format=format,
        force=force,
    )
    if json:
        print_json(found.card | {"folder": str(found.folder)})
        return
    print_text(f"{found!r}\n\n{split.certificate()}\n")
    print_text(f"folder: {found.folder}")


def score(
    folder: Positional[Path],
    predictions: Positional[Path],
    out: Path | None = None,
    force: bool = False,
    json: bool = False,
) -> None:
    """Scores predictions of an exported world, from any framework, and writes the table that `recombine audit` reads.

    Args:
        folder: what `recombine export` wrote
        predictions: a .npz with answers as "held_out" (or another set) and the items they are of as "held_out_item"
        out: the table, as .csv or .parquet (default: runs/scored-FOLDER.csv)
        force: replace the table if it is there
        json: print the scores as one JSON object on stdout and nothing else there
    """
    from ..exporting import score as score_predictions

    path = out or Path("runs") / f"scored-{folder_name(folder)}.csv"
    if path.exists() and not force:
        raise UserError(f"{path} is there already; --force replaces it, or name another file with --out")
    found = score_predictions(folder, predictions)
    found.write(path, force=force)
    if json:
        print_json(found.to_json() | {"table": str(path)})
        return
    split, outcome = found.names[-4], found.names[-1]
    print_text(f"{found}\n\ntable: {path}")
    print_text(f"next: recombine audit {path} --factors {','.join(found.factors)} --split {split} --outcome {outcome}")
