"""What can be said of a trial before it is run: whether it can be, which program it needs, how large its net is.

Everything here goes by shapes (`jax.eval_shape`): nothing is compiled, and no array is made.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from typing import Any

import equinox as eqx
import jax

from ..errors import UserError
from ..supports import registry as designs
from .trial import Trial, build_net, build_recipe, build_task

Data = Mapping[str, Any]


def require_possible(trial: Trial) -> None:
    """Raises a UserError for a trial that cannot be. Whether its split exists, the trial itself finds out."""
    for stage in trial.stages:
        build_recipe(stage.get("recipe", {}))
        for split in (stage.get("support"), trial.support):
            if split:
                designs[split["name"]]  # known by name
                share = split.get("held_out")
                if isinstance(share, (int, float)) and not 0 < share < 1:
                    raise UserError(f"held_out={share} must lie between 0 and 1, such as .25")
    first = trial.stages[0]  # later ones take over what was trained, and have no shapes of their own
    _shapes(_text(first.get("world") or trial.world), _text(first["net"]))


def program(trial: Data) -> str:
    """Trials with the same text share compiled programs: supports and rates are data."""
    stages = [
        {
            "net": stage["net"],
            "recipe": build_recipe(stage.get("recipe", {})).shape().to_json(),
            "world": stage.get("world"),
        }
        for stage in trial["stages"]
    ]
    return _text({"world": trial["world"], "stages": stages})


def net_bytes(trial: Data) -> int:
    """Bytes of the nets that a trial keeps, one for each stage, about."""
    first = trial["stages"][0]
    return len(trial["stages"]) * _shapes(_text(first.get("world") or trial["world"]), _text(first["net"]))


@functools.cache
def _shapes(world: str, net: str) -> int:
    """Builds a net by shape, once for all seeds and shares; its bytes."""
    task = _task_by_shape(world)
    made = eqx.filter_eval_shape(lambda: build_net(json.loads(net)).build(task, jax.random.key(0)))
    return sum(4 * leaf.size for leaf in jax.tree.leaves(made) if hasattr(leaf, "size"))


@functools.cache
def _task_by_shape(world: str) -> Any:
    """Once for all nets: a list of a hundred thousand texts takes seconds to make."""
    return eqx.filter_eval_shape(lambda: build_task(json.loads(world), 0))


def _text(data: Any) -> str:
    return json.dumps(data, sort_keys=True)
