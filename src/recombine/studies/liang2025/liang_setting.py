"""What the studies of this paper share: its source, its worlds, decoders, recipes and thresholds, in one place."""

from __future__ import annotations

from typing import Any

from ...errors import require_int
from ...lab.paths import Same
from ...lab.scales import Scale

SOURCE = "Liang, Qian, Ziyin, Fiete 2025 (arXiv 2501.18797)"
OURS = f"ours, after {SOURCE}"
POSTER = f"{SOURCE}, poster"

COMPOSES = 0.1  # error at or below which held-out pictures count as drawn (ours)
LOCALIZED = 0.6  # share of bumps in the right place that counts as success (the 2024 paper of the same authors)
OFTEN = 0.75  # of seeds: what is asked of training that may fail
SMALLEST = 5  # places along a factor: fewer leave no hole with something around it

#: as published for the CNN sweep: AdamW at 1e-3, decay .01 (there on biases too), batches of 32, no schedule;
#: 2,000 pictures for 50 epochs are 3,125 steps; MLPs and transformers have 20 epochs, 1,250 steps
PUBLISHED: dict[str, Any] = {
    "steps": 3125,
    "tasks": 32,
    "samples": 1,
    "learning_rate": 1e-3,
    "schedule": "constant",
    "warmup": 0.0,
    "weight_decay": 0.01,
    "b2": 0.999,
    "nesterov": False,
    "precision": "float32",
    "evaluations": 4,
}

#: every combination is drawn and scored, once
EVERY = [{"every": True}]
#: a few drawings and the map of errors, once
FIRST_SEED = {"keep": ["panel", "drawings"]}


def ours(steps: int, rate: float = 3e-3, tasks: int = 32, **more: Any) -> dict[str, Any]:
    """Our recipe for pictures."""
    return {"steps": steps, "tasks": tasks, "learning_rate": rate, "weight_decay": 0.01, "evaluations": 1, **more}


def recipe(smoke: int, laptop: int, night: int) -> Scale:
    """Our recipe for so many steps, and the published one at paper scale."""
    return Scale(ours(smoke, 5e-3), ours(laptop), ours(night), PUBLISHED)


def pictures(name: str, size: Any, encoding: Any = "one-hot", **options: Any) -> dict[str, Any]:
    """A world of pictures with as many places along a factor as pixels along a side."""
    return {"name": name, "space": {"size": size}, "encoding": encoding, **options}


def dark_on_paper(world: dict[str, Any]) -> Scale:
    """The world with dark pictures on white at paper scale, as published for MLPs, CNNs and transformers."""
    return Scale(world, world, world, {**world, "polarity": "dark"})


def bright(world: dict[str, Any]) -> dict[str, Any]:
    """The world with bright pictures at every scale, as published for coordinate nets and for rendering."""
    return {name: value for name, value in world.items() if name != "polarity"}


def at_paper(**values: Any) -> dict[str, Any]:
    """Changes of an arm by path ("recipe__steps") at paper scale; at others what is there stays."""
    paths = {name.replace("__", "."): value for name, value in values.items()}
    return {path: Scale(Same(path), Same(path), Same(path), value) for path, value in paths.items()}


def decoder(name: str, **sizes: Any) -> dict[str, Any] | Scale:
    """A net that draws; a CNN begins so that it doubles twice, as published for 28 pixels.

    Where that does not come out, or for larger pictures, it begins at 7 pixels, as in the published scaling runs. An
    MLP begins as torch draws it at paper scale.
    """
    if name == "mlp":
        plain = {"name": name, **sizes}
        return Scale(plain, plain, plain, {**plain, "initial": "uniform"})
    if name != "cnn-decoder":
        return {"name": name, **sizes}
    return {"name": name, "base": Same("world.space.size", cnn_base), **sizes}


def cnn_base(size: int) -> int:
    return size // 4 if size % 4 == 0 and size <= 28 else 7


def require_room(settings: dict[str, Any]) -> None:
    """Refuses pictures that leave no hole with something around it."""
    require_int("size", settings["world.space.size"], at_least=SMALLEST)
