"""bench of nets: a step of training of ours, by that of the same net in torch, in both precisions."""

from __future__ import annotations

import time

import jax
import jax.numpy as jnp
import numpy as np

from ..machine.precision import resolve
from ..nets import Blueprint, CNNDecoder, Transformer
from ..spaces import Product, Subsets
from ..supports import Support, donut, random
from ..tasks import Bumps, Hyperteacher, Task
from ..training import Recipe
from ..training.step import stepper
from .bench_row import Row, Say, Steps, race
from .other_sides import torch_package
from .throughput import begin, stepping
from .torch_nets import decoder, training, transformer

PRECISIONS = ("float32", "bfloat16")
UNIT = "ms per step"


def ours(net: Blueprint, task: Task, support: Support, recipe: Recipe, precision: str) -> Steps:
    """Steps of `train`."""
    state, *given = begin(net, task, support, recipe, precision)
    in_scan = net.steps_in_scan_on_cpu or jax.default_backend() != "cpu"
    return stepping(stepper(recipe.shape(), in_scan), state, tuple(given))


def measure_cnn(
    rounds: int, against: list[str], say: Say, seconds: float = 2.0, net: CNNDecoder | None = None, side: int = 28
) -> list[Row]:
    """The decoder of pictures, in batches of 16. What `auto` means is to be the faster of our precisions."""
    net = net or CNNDecoder()
    task, recipe = Bumps(Product(x=side, y=side)), Recipe(tasks=16, samples=1)
    sides = {f"ours {p}": ours(net, task, donut(task.space), recipe, p) for p in PRECISIONS}
    if "torch" in against:
        torch = torch_package()
        code = torch.rand(recipe.tasks, task.encoding.size, 1, 1)
        target = torch.rand(recipe.tasks, 1, side, side)
        for precision in PRECISIONS:
            module = decoder(torch, net, task.encoding.size, side)
            sides[f"torch {precision}"] = training(torch, module, (code,), target, precision)
    took = _milliseconds(race(sides, rounds, seconds, time.process_time))
    work = f"CNN decoder, {net.width} channels, {side} x {side}, batch {recipe.tasks}"
    auto = resolve("auto", net.products)
    other = next(p for p in PRECISIONS if p != auto)
    others = {f"ours {other}": took[f"ours {other}"]} | _theirs(took, *PRECISIONS)
    rows = [
        Row(f"{work}, float32", UNIT, took["ours float32"], _theirs(took, "float32")),
        Row(f"{work}, auto ({auto})", UNIT, took[f"ours {auto}"], others, times={f"ours {other}": 1.0}),
    ]
    return _said(rows, say)


def measure_transformer(
    rounds: int, against: list[str], say: Say, seconds: float = 2.0, net: Transformer | None = None, tasks: int = 128
) -> list[Row]:
    """The published transformer on sequences of a code and 16 rows."""
    net, samples = net or Transformer(), 16
    task = Hyperteacher(Subsets(modules=16, at_most=3))
    recipe = Recipe(tasks=tasks, samples=samples)
    sides = {f"ours {p}": ours(net, task, random(task.space), recipe, p) for p in PRECISIONS}
    if "torch" in against:
        torch = torch_package()
        drawn = task.sample(jax.random.key(0), jnp.asarray(task.space.enumerate()[:tasks]), samples)
        code, inputs, target = (torch.tensor(np.asarray(part)) for part in (drawn.code, drawn.inputs, drawn.target))
        for precision in PRECISIONS:
            module = transformer(torch, net, code.shape[-1], inputs.shape[-1], target.shape[-1], samples)
            sides[f"torch {precision}"] = training(torch, module, (code, inputs), target, precision)
    took = _milliseconds(race(sides, rounds, seconds, time.process_time))
    work = f"transformer {net.depth} x {net.width}, {tasks} x {samples}"
    rows = [
        Row(f"{work}, {p}", UNIT, took[f"ours {p}"], _theirs(took, p), times={f"torch {p}": 1.0}) for p in PRECISIONS
    ]
    return _said(rows, say)


def _milliseconds(took: dict[str, list[float]]) -> dict[str, list[float]]:
    return {name: [1e3 * each for each in times] for name, times in took.items()}


def _theirs(took: dict[str, list[float]], *precisions: str) -> dict[str, list[float]]:
    names = [f"torch {precision}" for precision in precisions]
    return {name: took[name] for name in names if name in took}


def _said(rows: list[Row], say: Say) -> list[Row]:
    for row in rows:
        say(f"  {row}")
    return rows
