"""Recipe: how a net is trained, as data. The defaults are what `docs/speed.md` found."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

from ..errors import UserError, require_int, unknown
from ..machine.precision import PRECISIONS
from .optimizers import gradients, optimizers
from .schedules import schedules

KEPT = ("last", "best")
HANDED_OVER = ("scored", "raw")
HISTORIES = ("scores", "losses")
MOST_EXAMPLES = 2**24  # of a combination: numbers of a recipe are exact up to here on the device
#: fields that are real numbers: the lowest and the highest value
RANGES = {
    "learning_rate": (0, math.inf),
    "warmup": (0, 1),
    "floor": (0, 1),
    "half_life": (0, math.inf),
    "weight_decay": (0, math.inf),
    "norm": (0, math.inf),
    "b1": (0, 1),
    "b2": (0, 1),
    "ema": (0, 1),
}
#: what a parameter group can have of its own
OF_GROUPS = ("learning_rate", "weight_decay", "b1", "b2", "optimizer", "schedule")
#: those of them that are words, which a program depends on
WORDS = ("optimizer", "schedule")
#: numbers by which an optimizer finds directions: groups that have none of their own share one
OF_DIRECTIONS = ("b1", "b2")
#: groups that every recipe knows
DEFAULT_GROUPS: dict[str, dict[str, Any]] = {"decay": {}, "no_decay": {"weight_decay": 0.0}}


@dataclass(frozen=True)
class Recipe:
    """How a net is trained, as data: optimizer, schedule, batch and precision.

    Args:
        steps: of training.
        tasks: combinations per step, each with weights of its own.
        samples: inputs per task; None: what the task says.
        examples: of each combination that are stored, of which training draws; None: every step has new ones.
        optimizer: "adamw", "adam-atan2" or "sign-sgd".
        learning_rate: at its peak.
        schedule: "constant", "cosine", "linear", "noam" or "halving".
        warmup: share of the steps over which the rate rises to its peak.
        floor: share of the peak that "cosine" and "linear" end at.
        half_life: share of the steps after which "halving" has halved the rate.
        weight_decay: decoupled, on the group "decay": by default all matrices, and what a net declares.
        gradient: "plain", "clip" (to the global norm `norm`) or "normalize" (to it).
        norm: of the gradient, where it is clipped or normalized.
        b1: momentum of the optimizer.
        b2: decay of its second moment.
        nesterov: look-ahead momentum.
        groups: settings of single parameter groups by name, as in {"mask": {"learning_rate": 0.1}}.
        ema: decay of an average of the weights, which is then what is scored; 0 is off.
        keep: "last", or "best": the net of the evaluation with the best score on the validation stream.
        hand_over: what the next stage starts from: the net that is "scored", or the "raw" one of the last step.
        precision: of products: "float32", "bfloat16", or "auto": the faster one on this machine.
        evaluations: times that the history gets a row.
        history: "scores" and losses of the watched streams, or only "losses", where answering is dear.

    Example:
        >>> quick = rc.Recipe(steps=500, learning_rate=1e-3, schedule="constant")
        >>> quick.steps, quick.optimizer
        (500, 'adamw')
    """

    steps: int = 3000
    tasks: int = 96
    samples: int | None = 1
    examples: int | None = None
    optimizer: str = "adamw"
    learning_rate: float = 5e-3
    schedule: str = "cosine"
    warmup: float = 0.05
    floor: float = 0.0
    half_life: float = 0.2
    weight_decay: float = 0.2
    gradient: str = "plain"
    norm: float = 1.0
    b1: float = 0.9
    b2: float = 0.95
    nesterov: bool = True
    groups: Mapping[str, Mapping[str, Any]] = dataclasses.field(default_factory=dict)
    ema: float = 0.0
    keep: str = "last"
    hand_over: str = "scored"
    precision: str = "auto"
    evaluations: int = 10
    history: str = "scores"

    def __post_init__(self):
        require_int("steps", self.steps, at_least=1)
        require_int("tasks", self.tasks, at_least=1)
        require_int("evaluations", self.evaluations, at_least=0)
        if self.samples is not None:
            require_int("samples", self.samples, at_least=1)
        if self.examples is not None:
            require_int("examples", self.examples, at_least=1, at_most=MOST_EXAMPLES)
        choices = {
            "optimizer": optimizers,
            "schedule": schedules,
            "gradient": gradients,
            "precision": PRECISIONS,
            "keep": KEPT,
            "hand_over": HANDED_OVER,
            "history": HISTORIES,
        }
        for name, known in choices.items():
            if getattr(self, name) not in known:
                raise unknown(name, getattr(self, name), known)
        for name in RANGES:
            _require_in_range(name, getattr(self, name))
        for name, usual in (("ema", 0.999), ("b1", 0.9), ("b2", 0.999)):
            if getattr(self, name) == 1:
                raise UserError(f"{name}=1 would keep an average at its start; {usual} is a common decay")
        if self.gradient != "plain" and not self.norm:
            raise UserError(f"norm=0 with gradient={self.gradient!r} leaves nothing to train by; 1 is a common norm")
        if self.keep == "best" and not self.evaluations:
            raise UserError("keep='best' chooses among evaluations, and evaluations=0; 10 would do")
        object.__setattr__(self, "groups", _Groups(self.groups))

    @classmethod
    def published(cls, **changes: Any) -> Recipe:
        """The settings of Redhardt, Akram, Schug 2025 for the hyperteacher (Table 3 and the public sweeps)."""
        settings: dict[str, Any] = dict(
            steps=300_000,
            tasks=128,
            samples=16,
            learning_rate=3e-4,
            schedule="constant",
            warmup=0.0,
            weight_decay=0.003,
            b1=0.9,
            b2=0.999,
            nesterov=False,
            precision="float32",
        )
        return cls(**(settings | changes))

    def to_json(self) -> dict[str, Any]:
        fields = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        if self.examples is None:  # it came later: what was written before stays equal
            del fields["examples"]
        return fields | {"groups": {name: dict(own) for name, own in self.groups.items()}}

    def group(self, name: str) -> Recipe:
        """The recipe of one parameter group: this one, with what the group has of its own."""
        own = DEFAULT_GROUPS.get(name, {}) | dict(self.groups.get(name, {}))
        return dataclasses.replace(self, groups={}, **own)

    def direction_of(self, name: str) -> tuple[str, str]:
        """How the directions of a parameter group are found; groups that have it in common share an optimizer."""
        own = self.groups.get(name, {})
        return self.group(name).optimizer, name if any(number in own for number in OF_DIRECTIONS) else ""

    def require_groups(self, names: set[str], net: str) -> None:
        """Refuses a net with a parameter group that the recipe does not name."""
        known = {*DEFAULT_GROUPS, *self.groups}
        if missing := sorted(names - known):
            raise UserError(
                f"net {net!r} has the parameter group {missing[0]!r}, which the recipe does not name; "
                f"groups={{{missing[0]!r}: {{}}}} trains it like the others"
            )

    def rates(self) -> dict[str, Rates]:
        """The numbers that a compiled program takes as data: of each group, and "" for what concerns all."""
        return {name: self.group(name)._own_rates() for name in ("", *DEFAULT_GROUPS, *self.groups)}

    def _own_rates(self) -> Rates:
        numbers = {name: getattr(self, name) for name in ("learning_rate", "weight_decay", "b1", "b2", "floor")}
        numbers |= {"half_life": self.half_life, "norm": self.norm, "ema": self.ema}
        numbers |= {"warmup": round(self.warmup * self.steps), "steps": self.steps, "examples": self.examples or 0}
        return Rates(**{name: jnp.asarray(number, jnp.float32) for name, number in numbers.items()})

    def shape(self) -> Recipe:
        """What the program depends on: recipes that differ only in rates and length share a program."""
        shared = {"steps": 1, "evaluations": 0, "history": "scores", "keep": "last", "hand_over": "scored"}
        shared["precision"] = "float32"  # that of a net is its own
        shared["examples"] = None if self.examples is None else 1  # how many there are is data
        numbers = {name: 0.0 for name in RANGES} | {"ema": 0.5 * (self.ema > 0), "norm": 1.0}
        # of numbers by which directions are found the program knows that there are some, and not which
        kept = {
            name: {k: v for k, v in own.items() if k in WORDS} | {k: 0.0 for k in own if k in OF_DIRECTIONS}
            for name, own in self.groups.items()
        }
        groups = {name: own for name, own in kept.items() if own or name not in DEFAULT_GROUPS}
        return dataclasses.replace(self, **shared, **numbers, groups=groups)


class _Groups(dict):
    """Settings of parameter groups; checked, and hashable, since a recipe is."""

    def __init__(self, groups: Any):
        try:
            groups = dict(groups)  # dataclasses.asdict gives pairs
        except (TypeError, ValueError):
            example = "{'mask': {'learning_rate': 0.1}}"
            raise UserError(f"groups={groups!r} must be settings by group, as in {example}") from None
        for name, own in groups.items():
            if not isinstance(own, Mapping):
                raise UserError(f"group {name!r} has {own!r}; it takes settings, as in {{'learning_rate': 0.1}}")
            for setting, value in own.items():
                if setting not in OF_GROUPS:
                    raise unknown(f"setting of group {name!r}", setting, OF_GROUPS)
                if setting in RANGES:
                    _require_in_range(f"{setting} of group {name!r}", value, setting)
                elif value not in (known := optimizers if setting == "optimizer" else schedules):
                    raise unknown(setting, value, known)
        super().__init__({name: dict(own) for name, own in groups.items()})

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(tuple((name, tuple(sorted(own.items()))) for name, own in sorted(self.items())))


def _require_in_range(what: str, value: Any, field: str | None = None) -> None:
    low, high = RANGES[field or what]
    known = isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
    if not known or not low <= value <= high:
        raise UserError(f"{what}={value!r} must be a number from {low:g} to {high:g}")


class Rates(eqx.Module):
    """Numbers of a recipe as arrays, so that changing them compiles nothing."""

    learning_rate: jax.Array
    weight_decay: jax.Array
    b1: jax.Array
    b2: jax.Array
    floor: jax.Array
    half_life: jax.Array
    norm: jax.Array
    ema: jax.Array
    warmup: jax.Array
    steps: jax.Array
    examples: jax.Array
