"""Recipe: how a net is trained, as data. The defaults are what `docs/speed.md` found."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import optax

from .errors import UserError, require_int, unknown
from .precision import PRECISIONS

SCHEDULES = ("constant", "cosine", "linear")


@dataclass(frozen=True)
class Recipe:
    """Optimizer, schedule, batch and precision."""

    steps: int = 3000
    tasks: int = 96  # combinations a step, each with weights of its own
    samples: int | None = 1  # inputs a task; None: what the task says
    learning_rate: float = 5e-3
    schedule: str = "cosine"  # to zero at the last step
    warmup: float = 0.05  # share of the steps over which the rate rises to its peak
    weight_decay: float = 0.2  # on matrices only
    clip: float = 0.0  # global norm of the gradient; 0 is off
    b1: float = 0.9
    b2: float = 0.95
    nesterov: bool = True
    precision: str = "auto"
    evaluations: int = 10  # times the scores are taken on the way

    def __post_init__(self):
        require_int("steps", self.steps, at_least=1)
        require_int("tasks", self.tasks, at_least=1)
        require_int("evaluations", self.evaluations, at_least=0)
        if self.samples is not None:
            require_int("samples", self.samples, at_least=1)
        if self.schedule not in SCHEDULES:
            raise unknown("schedule", self.schedule, SCHEDULES)
        if self.precision not in PRECISIONS:
            raise unknown("precision", self.precision, PRECISIONS)
        ranges = {
            "learning_rate": (0, math.inf), "warmup": (0, 1), "weight_decay": (0, math.inf), "clip": (0, math.inf),
            "b1": (0, 1), "b2": (0, 1),
        }  # fmt: skip
        for name, (low, high) in ranges.items():
            value = getattr(self, name)
            known = isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
            if not known or not low <= value <= high:
                raise UserError(f"{name}={value!r} must be a number from {low:g} to {high:g}")

    @classmethod
    def published(cls, **changes: Any) -> Recipe:
        """The settings of Redhardt, Akram, Schug 2025 for the hyperteacher (Table 3 and the public sweeps)."""
        settings: dict[str, Any] = dict(
            steps=300_000, tasks=128, samples=16, learning_rate=3e-4, schedule="constant", warmup=0.0,
            weight_decay=0.003, b1=0.9, b2=0.999, nesterov=False, precision="float32",
        )  # fmt: skip
        return cls(**(settings | changes))

    def to_json(self) -> dict[str, Any]:
        return dataclasses.asdict(self)

    def rates(self) -> Rates:
        """The numbers that a compiled program takes as data."""
        warmup = round(self.warmup * self.steps)
        numbers = (self.learning_rate, self.weight_decay, self.clip, self.b1, self.b2, warmup, self.steps)
        return Rates(*(jnp.asarray(number, jnp.float32) for number in numbers))

    def shape(self) -> Recipe:
        """What the program depends on: recipes that differ only in rates and length share a program."""
        return dataclasses.replace(
            self, steps=1, learning_rate=0.0, warmup=0.0, weight_decay=0.0, clip=float(self.clip > 0), b1=0.0, b2=0.0,
            evaluations=0,
        )  # fmt: skip


class Rates(eqx.Module):
    """Numbers of a recipe as arrays, so that changing them compiles nothing."""

    learning_rate: jax.Array
    weight_decay: jax.Array
    clip: jax.Array
    b1: jax.Array
    b2: jax.Array
    warmup: jax.Array
    steps: jax.Array


def learning_rate_at(step: jax.Array, rates: Rates, schedule: str) -> jax.Array:
    """Linear warm-up to the peak, then the schedule down to zero at the last step."""
    rise = jnp.minimum(1.0, (step + 1) / jnp.maximum(rates.warmup, 1.0))
    t = jnp.clip((step - rates.warmup) / jnp.maximum(rates.steps - rates.warmup, 1.0), 0.0, 1.0)
    fall = {"constant": jnp.ones_like(t), "cosine": 0.5 * (1 + jnp.cos(jnp.pi * t)), "linear": 1 - t}[schedule]
    return rates.learning_rate * rise * fall


def optimizer(shape: Recipe, rates: Rates) -> optax.GradientTransformation:
    """AdamW with decay on matrices only. Made inside the compiled step: the rates are traced, the shape is not."""
    parts = [
        optax.scale_by_adam(rates.b1, rates.b2, nesterov=shape.nesterov),  # type: ignore[arg-type]
        optax.add_decayed_weights(rates.weight_decay, mask=lambda p: jax.tree.map(lambda leaf: leaf.ndim != 1, p)),  # type: ignore[arg-type]
        optax.scale_by_learning_rate(lambda step: learning_rate_at(jnp.asarray(step), rates, shape.schedule)),
    ]
    if shape.clip:
        parts.insert(0, optax.clip_by_global_norm(rates.clip))  # type: ignore[arg-type]
    return optax.chain(*parts)
