"""An item of a world of sequences: `recombine show-item`."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from tyro.conf import Positional

from ..errors import UserError, require_int
from ..labels import quoted
from .printing import print_text


def show_item(
    task: Positional[str], seed: int = 0, text: str | None = None, net: Path | None = None, beam: int = 1
) -> None:
    """Prints an item of a world of sequences: what is read, what is right, what a net answers, and where they part.

    Args:
        task: its name, such as scan-v1; `recombine list tasks` shows them
        seed: which item is drawn
        text: the item with this text, such as "jump twice", instead of one that is drawn
        net: a saved net that is asked (net.save(path) writes one)
        beam: how many answers the net follows at once
    """
    require_int("beam", beam, at_least=1)
    if beam > 1 and net is None:
        raise UserError(f"--beam {beam} is for the answer of a net; name one with --net")
    world = _world(task)
    row = world.space.sample(require_int("seed", seed, at_least=0), 1)[0] if text is None else _called(world, text)
    said = None if net is None else world.writes.split(_answer(world, row, net, beam))
    print_text(f"text    {world.text(row)}")
    if said is None:
        print_text(f"truth   {world.meaning(row)}")
        print_text("answer  (none: --net FILE asks a saved net, which net.save(path) writes)")
        return
    from ..tasks.sequences.alignment import aligned, parting

    truth = world.writes.split(world.meaning(row))
    print_text(aligned(truth, said, shutil.get_terminal_size().columns))
    print_text(parting(truth, said))


def _world(task: str) -> Any:
    from ..tasks import Sequences, registry

    made: Any = registry[task]
    if not issubclass(made, Sequences):
        worlds = [name for name in registry if issubclass(registry[name], Sequences)]  # type: ignore[arg-type]
        raise UserError(f"{task} has no texts; those that have are {', '.join(worlds)}")
    return made(made.default_space())


def _called(world: Any, text: str) -> Any:
    """The item with this text."""
    wanted = world.reads.encode([text])[0]
    longest = world.texts.shape[1]
    if len(wanted) <= longest:
        import numpy as np

        texts = np.asarray(world.texts)
        found = np.flatnonzero((texts[:, : len(wanted)] == wanted).all(1) & (texts[:, len(wanted) :] < 0).all(1))
        if len(found):
            return world.space.unrank(found[:1])[0]
    near = world.text(world.space.sample(0, 1)[0])
    raise UserError(f"{quoted(text)} is no text of {world.id}; {quoted(near)} is one")


def _answer(world: Any, row: Any, path: Path, beam: int) -> str:
    import jax

    from ..nets import SequenceNet, load
    from ..training import evaluate

    net = load(path)
    if not isinstance(net, SequenceNet):
        raise UserError(f"{path} is a {type(net).__name__}, which writes no sequences; an lstm does")
    known, wanted = net.vocabulary, (world.words["code"], world.words["target"])
    if known != wanted:
        raise UserError(
            f"{path} reads {known[0]} words and writes {known[1]}, and {world.id} has {wanted[0]} and {wanted[1]}; "
            f"a net that was trained on {world.id} would do"
        )
    items = evaluate(net, world, row[None], key=jax.random.key(0), how={"beam": beam}, keep=["answer"])
    return world.said(items.kept["answer"][0])
