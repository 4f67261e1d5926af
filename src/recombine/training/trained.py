"""Trained: the members of an ensemble, their scores and their history."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import jax

from ..errors import UserError, require_int
from ..keys import key_for
from ..machine.precision import resolve
from ..nets import Blueprint, Net
from ..nets.saved import Built, remember
from ..notebook import table_html
from ..statistics.intervals import Interval, over_seeds
from ..supports import Side, Support
from ..tasks import Task
from .evaluation import draw_combinations, evaluate
from .recipe import Recipe
from .stages import Stage

if TYPE_CHECKING:
    import pandas

SCORED_TASKS = 1024  # as published


@dataclass(frozen=True)
class Member:
    """One trained net.

    Args:
        seed: of the member.
        net: what is scored: the last one, the average of its weights, or the best on the validation stream.
        raw: the net as the last step left it.
        history: rows of losses and scores on the way.
        diverged_at: first step with a loss, a part of it, a note or a gradient that was not finite; None if all were.
        seconds: of training, compilation apart.
        steps_per_second: while it trained.
        compile_seconds: of its programs.

    Example:
        >>> member = trained.members[0]
        >>> member.seed, member.diverged_at, member.net is trained.nets[0]
        (0, None, True)
    """

    seed: int
    net: Net
    raw: Net
    history: list[dict[str, Any]]
    diverged_at: int | None
    seconds: float
    steps_per_second: float
    compile_seconds: float


@dataclass(frozen=True)
class Score:
    """A score over seeds: of one stream, in the task's first metric; all metrics and groups are in `values`.

    Args:
        stream: "train", "test", "held_out" or another one of the task.
        metric: the first one of the task.
        values: "metric" or "group/metric" -> one value per seed.
        seeds: that are in the mean.
        diverged: seeds that are in no mean.

    Example:
        >>> score = trained.score("held_out", tasks=16)
        >>> score.stream, score.metric, score.seeds, len(score.values["r2"])
        ('held_out', 'r2', [0], 1)
    """

    stream: str
    metric: str
    values: dict[str, list[float]]
    seeds: list[int]
    diverged: list[int]

    @property
    def interval(self) -> Interval:
        return _interval(self.values[self.metric])

    @property
    def groups(self) -> dict[str, Interval]:
        """The first metric by group of held-out combinations."""
        end = f"/{self.metric}"
        return {name.removesuffix(end): _interval(v) for name, v in self.values.items() if name.endswith(end)}

    def __float__(self) -> float:
        return self.interval.mean

    def __str__(self) -> str:
        text = f"{self.stream} {self.metric} {self.interval}"
        if self.diverged:
            text += f" (diverged, left out: seeds {self.diverged})"
        return text

    __repr__ = __str__

    def _repr_html_(self) -> str:
        rows = [("all", self.interval), *self.groups.items()]
        shown = [(name, f"{found.mean:.3f}", _ends(found), found.seeds) for name, found in rows if found.seeds]
        title = f"Score: {self.stream}, {self.metric}"
        left_out = f"; diverged, left out: seeds {self.diverged}" if self.diverged else ""
        return table_html(title + left_out, shown, ("group", "mean", "95 % over seeds", "seeds"))


def _ends(interval: Interval) -> str:
    return f"{interval.low:.3f} to {interval.high:.3f}" if interval.seeds > 1 else ""


def _interval(values: list[float]) -> Interval:
    """Over seeds; undefined where the score of a seed is."""
    return over_seeds([] if any(value != value for value in values) else values)


@dataclass(frozen=True)
class Trained:
    """What `train` returns: one net per seed, and what they were trained on.

    Args:
        task: the world.
        support: what was trained on and what was held out.
        blueprint: of the nets.
        recipe: how they were trained.
        members: one per seed: the net, its history and whether it diverged.
        stages: all stages, the last of which is what the fields above say.

    Example:
        >>> len(trained.nets), trained.history.step.tolist()
        (1, [2])
        >>> trained.score("held_out", tasks=16).metric
        'r2'
    """

    task: Task
    support: Support
    blueprint: Blueprint
    recipe: Recipe
    members: list[Member]
    #: all stages, the last of which is what the fields above say
    stages: tuple[Stage, ...] = ()

    def __post_init__(self):
        """Nets that went through all stages learn what built them, so that `net.save(path)` needs nothing else."""
        stages = self.stages or (Stage(self.blueprint, self.recipe),)
        built = [
            Built(stage.net, stage.task or self.task, resolve(stage.recipe.precision, stage.net.products))
            for stage in stages
        ]
        for member in self.members:
            if member.diverged_at is None or len(built) == 1:
                remember(member.net, built)
                remember(member.raw, built)

    @property
    def nets(self) -> list[Net]:
        return [member.net for member in self.members]

    @property
    def healthy(self) -> list[Member]:
        """Members that did not diverge; an error if there is none."""
        members = [member for member in self.members if member.diverged_at is None]
        if not members:
            steps = {member.seed: member.diverged_at for member in self.members}
            raise UserError(f"every member diverged (seed: step {steps}); a lower learning rate or clipping may help")
        return members

    def score(
        self, stream: str = "held_out", *, tasks: int = SCORED_TASKS, groups: bool = True, how: Any = None
    ) -> Score:
        """Scores on fresh data.

        Args:
            stream: "test" (training combinations), "held_out", or "held_out/GROUP".
            tasks: how many items.
            groups: of the held-out side, also each of its groups.
            how: how the nets are asked; see `evaluate`.
        """
        require_int("tasks", tasks, at_least=1)
        sides = {"": self.support.side(stream)}
        if groups and stream == "held_out":
            sides |= {f"{name}/": self.support.group(name) for name in self.support.groups}
        values: dict[str, list[float]] = {}
        for prefix, side in sides.items():
            # a group has items of its own, so that rare groups are scored as well as common ones
            name = stream if not prefix else f"{stream}/{prefix.removesuffix('/')}"
            for member in self.healthy:
                found = stream_scores(self.task, side, member.net, key_for(name, member.seed), tasks, how)
                for metric, value in found.items():
                    values.setdefault(f"{prefix}{metric}", []).append(value)
        healthy = [member.seed for member in self.healthy]
        diverged = [member.seed for member in self.members if member.seed not in healthy]
        return Score(stream, self.task.metrics[0].name, values, healthy, diverged)

    @property
    def history(self) -> pandas.DataFrame:
        """Loss and scores on the way, one row per seed and evaluation."""
        import pandas  # only here: it takes half a second to import

        return pandas.DataFrame([{"seed": member.seed, **row} for member in self.members for row in member.history])

    def __repr__(self) -> str:
        diverged = sum(member.diverged_at is not None for member in self.members)
        tail = f", {diverged} diverged" if diverged else ""
        return f"Trained({self.blueprint}, {len(self.members)} seeds, {self.recipe.steps} steps{tail})"

    def _repr_html_(self) -> str:
        rows = []
        for member in self.members:
            last = member.history[-1] if member.history else {}
            loss = f"{last['loss']:.4g}" if isinstance(last.get("loss"), float) else ""
            state = "trained" if member.diverged_at is None else f"diverged at step {member.diverged_at}"
            rows.append((member.seed, state, loss))
        title = f"Trained: {self.blueprint}, {self.recipe.steps} steps on {self.support!r}"
        return table_html(title, rows, ("seed", "state", "last loss"))


def stream_scores(
    task: Task, side: Side, net: Net, key: jax.Array, tasks: int = SCORED_TASKS, how: Any = None
) -> dict[str, float]:
    """Scores of one net on fresh tasks of a side, by metric.

    Args:
        task: that makes them.
        side: `support.train` or `support.held_out`.
        net: that is asked.
        key: what is drawn follows from it.
        tasks: how many are asked.
        how: settings of the answer; the net's own default if None.

    Example:
        >>> scores = rc.training.stream_scores(task, support.held_out, trained.nets[0], jax.random.key(0), tasks=8)
        >>> "r2" in scores
        True
    """
    return evaluate(net, task, draw_combinations(side, key, tasks), key=key, how=how).scores()
