"""A small net that draws a turned digit, trained for a moment."""

from __future__ import annotations

from recombine.nets import MLP
from recombine.spaces import Product
from recombine.supports import registry as supports
from recombine.tasks import Rotation
from recombine.training import Recipe, Trained, train


def turned(task: type = Rotation, steps: int = 5, **support: int) -> Trained:
    space = Product(angle=36)
    recipe = Recipe(steps=steps, tasks=8, precision="float32", learning_rate=5e-3)
    split = supports["gap"](space, **support)
    return train(task(space, side=8), split, MLP(32, 1), recipe, seeds=[0], progress=False, watch=())
