"""A trial as nested data: what is trained on what, what is asked of it, what is probed and what is kept.

    {"seed": 0,
     "world":   {"name": "hyperteacher-v1", "space": {"modules": 16, "at_most": 3}, "encoding": "identity"},
     "support": {"name": "random", "held_out": 0.25},
     "stages":  [{"net": {"name": "mlp", "width": 384}, "recipe": {"steps": 3000}}],
     "asks":    [{"streams": ["test", "held_out"]}],
     "probes":  [{"name": "decodability"}],
     "keep":    ["panel"]}

Every part is `registry[name](**rest)`. A stage may have a world and a support of its own. One seed serves the teacher,
the split, the data and the net, each by a key of its own. Nothing here is code: a trial goes through JSON unchanged.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..errors import UserError, require_int, unknown
from ..machine.compilation import enable_cache
from ..nets import Blueprint
from ..nets import registry as nets
from ..probes import registry as probes
from ..spaces import Product, Space, Subsets
from ..supports import Support
from ..supports import registry as designs
from ..tasks import Task
from ..tasks import registry as tasks
from ..training import Recipe, Stage
from .keepers import keepers

Part = Mapping[str, Any]
STAGE_PARTS = ("net", "recipe", "world", "support")
ASK_PARTS = ("streams", "how", "every", "once", "by", "world")


@dataclass(frozen=True)
class Trial:
    """One trial. `Trial(**data)` checks it; `to_json` gives the data back.

    Args:
        world: the task by name, its space and its options.
        support: the design by name and its options.
        stages: what is trained, one after the other: {"net": {}, "recipe": {}, "world"?: {}, "support"?: {}}.
        asks: what is scored: {"streams": ["test", "held_out"], "how"?: {}, "every"?: True, "once"?: 2000, "by"?: [],
            "world"?: {}}; `every` asks about every combination once, instead of a sample; `once` about each
            combination of the streams, at most so many, groups and the sizes named in `by` among them; with a world,
            held-out combinations are asked about in that one, and the first of `streams` is what its scores are called.
        probes: what is read off the trained net, by name.
        keep: what the record keeps beside readings, by name of a keeper: "panel", "scores", "episode", "drawings".
        seed: of the task, the split and the net.

    Example:
        >>> from recombine.trials import Trial
        >>> trial = Trial(
        ...     world={"name": "hyperteacher-v1", "space": {"modules": 4, "at_most": 2}},
        ...     support={"name": "random", "held_out": 0.2},
        ...     stages=[{"net": {"name": "mlp", "width": 8, "depth": 1}, "recipe": {"steps": 2, "evaluations": 1}}],
        ... )
        >>> Trial(**trial.to_json()) == trial
        True
    """

    world: Part
    support: Part
    stages: Sequence[Part]
    asks: Sequence[Part] = field(default_factory=lambda: [{"streams": ["test", "held_out"]}])
    probes: Sequence[Part] = ()
    keep: Sequence[str] = ()
    seed: int = 0

    def __post_init__(self):
        require_int("seed", self.seed, at_least=0)
        for name, part in (("world", self.world), ("support", self.support)):
            _require_named(name, part)
        if not self.stages:
            raise UserError(
                "a trial without stages trains nothing; give at least one, such as {'net': {'name': 'mlp'}}"
            )
        for stage in self.stages:
            _require_parts("a stage", stage, STAGE_PARTS)
            _require_named("net", stage.get("net", {}))
        for ask in self.asks:
            _require_parts("an ask", ask, ASK_PARTS)
        _require_options(f"support {self.support['name']!r}", designs[self.support["name"]], self.support)
        for probe in self.probes:
            _require_named("probe", probe)
            _require_options(f"probe {probe['name']!r}", probes[probe["name"]], probe)
        for name in self.keep:
            keepers[name]  # known by name

    @classmethod
    def from_json(cls, data: Part) -> Trial:
        """The trial that `to_json` described; unknown parts are refused by name."""
        _require_parts("a trial", data, [part.name for part in dataclasses.fields(cls)])
        return cls(**data)

    def to_json(self) -> dict[str, Any]:
        return {part.name: getattr(self, part.name) for part in dataclasses.fields(self)}

    # -- from data to things ----------------------------------------------------------------------------------------
    def build_task(self) -> Task:
        return build_task(self.world, self.seed)

    def build_support(self) -> Support:
        return build_support(self.support, build_space(self.world), self.seed)

    def build_stages(self) -> list[Stage]:
        """The stages, with the worlds and splits that are their own."""
        found = []
        for stage in self.stages:
            world = stage.get("world")
            task = build_task(world, self.seed) if world else None
            split = stage.get("support")
            support = build_support(split, build_space(world or self.world), self.seed) if split else None
            found.append(Stage(build_net(stage["net"]), build_recipe(stage.get("recipe", {})), task, support))
        return found


def build_space(world: Part) -> Space:
    """The space of a world: the one that the task brings, with other numbers of modules or of levels by factor.

    Worlds of pictures take one number of levels along every factor ("size"), too.
    """
    made, space = tasks[world["name"]], world.get("space")
    if not space:
        return made.default_space()
    if hasattr(made, "space_from"):
        return _call(f"space of {world['name']!r}", made.space_from, dict(space))
    if "size" in space:
        if not hasattr(made, "space_of"):
            raise UserError(f"world {world['name']!r} has no size along a factor; one of pictures has, as 'bumps-v1'")
        return made.space_of(space["size"])
    if factors := made.default_space().columns:
        for name in space:
            if name not in factors:
                raise unknown(f"factor of {world['name']!r}", name, factors)
        return Product(**{**factors, **space})
    return _call("space of subsets", Subsets, dict(space))


def build_task(world: Part, seed: int) -> Task:
    options = {name: value for name, value in world.items() if name not in ("name", "space")}
    enable_cache()  # what draws the world is compiled, too
    return _call(
        f"world {world['name']!r}", tasks[world["name"]], {"space": build_space(world), "seed": seed} | options
    )


def build_support(support: Part, space: Space, seed: int) -> Support:
    options = {name: value for name, value in support.items() if name != "name"}
    return _call(f"support {support['name']!r}", designs[support["name"]], {"space": space, "seed": seed} | options)


def build_net(net: Part) -> Blueprint:
    options = {name: value for name, value in net.items() if name != "name"}
    return _call(f"net {net['name']!r}", nets[net["name"]], options)


def build_recipe(recipe: Part) -> Recipe:
    return _call("recipe", Recipe, dict(recipe))


def _call(what: str, made: Any, options: dict[str, Any]) -> Any:
    """`made(**options)`; an option that it does not take is refused by name, with the near one."""
    _require_options(what, made, options)
    return made(**options)


def _require_options(what: str, made: Any, options: Part) -> None:
    parameters = inspect.signature(made).parameters
    if not any(one.kind is inspect.Parameter.VAR_KEYWORD for one in parameters.values()):
        for name in options:
            if name not in parameters and name != "name":
                raise unknown(f"option of {what}", name, parameters)


def _require_named(what: str, part: Any) -> None:
    if not isinstance(part, Mapping) or not isinstance(part.get("name"), str):
        raise UserError(f"the {what} of a trial is {part!r}; it must have a name, as in {{'name': ...}}")


def _require_parts(what: str, part: Any, known: Sequence[str]) -> None:
    if not isinstance(part, Mapping):
        raise UserError(f"{part!r} is not {what}; it must be a dictionary with {', '.join(known)}")
    for name in part:
        if name not in known:
            raise unknown(f"part of {what}", name, known)
