"""load_kept: a kept net, with the world and the split it was trained in, as `train` would have returned it.

A file of a kept net says what made it, as data: names of registered worlds, designs and nets, and numbers. Nothing else
is looked up, and no code runs but ours.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..errors import UserError
from ..files.arrays import Damaged, unpack
from ..files.foreign_json import parsed_json
from ..nets import Net
from ..training import Member, Trained
from ..training.loop import handed_over, joined, prepared
from ..training.members import StageRun
from .kept import KeptNets, key_of, member_of, shared_folder
from .trial import Trial


def load_kept(path: Path) -> Trained:
    """A trained net from the file that a run kept it in: its task, its split, its scores and its history.

    Args:
        path: RUN/nets/HASH.safetensors; `rc.load(run).trained(cell)` finds it by its cell.

    Example:
        >>> from pathlib import Path
        >>> from recombine.trials import load_kept
        >>> load_kept(Path("run/nets/gone.safetensors"))
        Traceback (most recent call last):
        recombine.errors.UserError: ...
    """
    arrays, notes = _read(path)
    try:
        made_by = parsed_json(notes["made_by"])
        stages = [_named(one) for one in made_by["stages"]]
        trial = Trial(made_by["world"], made_by["support"], stages, seed=made_by["seed"])
        whole = prepared(trial.build_task(), trial.build_support(), trial.build_stages())
    except UserError as problem:
        raise UserError(f"{path} was made by something that is not here: {problem}") from None
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as problem:
        why = type(problem).__name__
        raise UserError(f"{path} does not say what made it ({why}); only nets that a run kept can be loaded") from None
    member: Member | None = None
    for number, stage in enumerate(whole):
        last = number == len(whole) - 1
        found = (arrays, notes) if last else _read(_beside(path, key_of(made_by, number + 1)))
        begun = {trial.seed: handed_over(whole[number - 1], member)} if member is not None else {}
        assert stage.task is not None and stage.support is not None
        run = StageRun(stage.task, stage.support, stage.net, stage.recipe, None, (), number, begun)
        member = joined(member, _member(path, *found, run.fresh(trial.seed)))
    assert member is not None
    final = whole[-1]
    assert final.task is not None and final.support is not None
    return Trained(final.task, final.support, final.net, final.recipe, [member], whole)


def _beside(path: Path, key: str) -> Path:
    found = KeptNets(path.parent, shared_folder()).find(key)
    if found is None:
        raise UserError(
            f"{path} goes on from the net {key}, which is not kept any more; `recombine run` trains it again"
        )
    return found


def _read(path: Path) -> tuple[dict[str, Any], dict[str, str]]:
    try:
        return unpack(path)
    except Damaged as problem:
        raise UserError(f"{path} is damaged or no kept net: {problem}") from None


def _member(path: Path, arrays: dict[str, Any], notes: dict[str, str], fresh: Net) -> Member:
    try:
        return member_of(notes, arrays, fresh)
    except (KeyError, TypeError, ValueError, RecursionError) as problem:
        raise UserError(f"{path} does not hold the net that it says it holds: {problem}") from None


def _named(stage: dict[str, Any]) -> dict[str, Any]:
    net = dict(stage["net"])
    kept = {part: value for part, value in stage.items() if part != "code"}
    return {**kept, "net": {"name": net.pop("net"), **net}}
