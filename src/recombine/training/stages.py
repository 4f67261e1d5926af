"""Stage: what is trained next, on what. A training is one stage or several, each of which goes on from the last."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from ..nets import Blueprint, Net
from ..supports import Support
from ..tasks import Task
from .recipe import Recipe

if TYPE_CHECKING:
    from .trained import Member


@dataclass(frozen=True)
class Stage:
    """One stage of a training.

    Args:
        net: the blueprint that is built on the net of the stage before: the same net, or one that wraps it.
        recipe: how it is trained.
        task: the world, if not that of the whole training.
        support: the split, if not that of the whole training.

    Example:
        >>> stages = [rc.Stage(rc.nets.MLP(width=8, depth=2), rc.Recipe(steps=steps)) for steps in (500, 100)]
        >>> [stage.recipe.steps for stage in stages]  # rc.train(task, support, stages) trains one after the other
        [500, 100]
    """

    net: Blueprint
    recipe: Recipe = field(default_factory=Recipe)
    task: Task | None = None
    support: Support | None = None


class KeptStages(Protocol):
    """Where the members of each stage are kept, so that `train` does not train them again."""

    def lock(self, number: int, seed: int) -> AbstractContextManager[None]:
        """Held while stage `number` of a seed is looked up and trained."""
        ...

    def load(self, number: int, seed: int, fresh: Callable[[], Net]) -> Member | None:
        """The member after a stage, if it is there; `fresh` makes a net of its shapes, with what it freezes."""
        ...

    def save(self, number: int, member: Member) -> None: ...
