"""Stage: what is trained next, on what. A training is one stage or several, each of which goes on from the last."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..nets import Blueprint
from ..supports import Support
from ..tasks import Task
from .recipe import Recipe


@dataclass(frozen=True)
class Stage:
    """One stage of a training.

    Args:
        net: the blueprint that is built on the net of the stage before: the same net, or one that wraps it.
        recipe: how it is trained.
        task: the world, if not that of the whole training.
        support: the split, if not that of the whole training.
    """

    net: Blueprint
    recipe: Recipe = field(default_factory=Recipe)
    task: Task | None = None
    support: Support | None = None
